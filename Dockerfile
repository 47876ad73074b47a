# ragkit in a container: see docs/running.md, and compose.yaml for it together with Ollama.

FROM python:3.13-slim AS build
WORKDIR /build
RUN python -m venv /opt/ragkit
# Before the source, so that a change of it installs nothing again.
COPY requirements/run.txt requirements/run.txt
RUN /opt/ragkit/bin/python -m pip install --no-cache-dir --disable-pip-version-check \
    --only-binary :all: --require-hashes -r requirements/run.txt
COPY . .
RUN /opt/ragkit/bin/python -m pip install --no-cache-dir --disable-pip-version-check \
    --no-index --no-deps --no-build-isolation .

FROM python:3.13-slim
ARG UID=10001
RUN useradd --uid "$UID" --user-group --create-home --shell /usr/sbin/nologin ragkit \
    && install -d -m 0700 -o ragkit -g ragkit /library
COPY --from=build /opt/ragkit /opt/ragkit
ENV PATH=/opt/ragkit/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    RAGKIT_LIBRARY=/library
USER $UID
# Documents are looked for here.
WORKDIR /home/ragkit
VOLUME /library
EXPOSE 8501
# Who has not signed in is refused, which is an answer all the same.
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s CMD ["python", "-c", "from http.client import HTTPConnection; ask = HTTPConnection('127.0.0.1', 8501, timeout=5); ask.request('GET', '/_stcore/health'); raise SystemExit(ask.getresponse().status >= 500)"]
ENTRYPOINT ["ragkit"]
CMD ["serve", "--host", "0.0.0.0", "--no-browser"]
