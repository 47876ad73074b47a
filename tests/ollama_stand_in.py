"""A stand-in for a local Ollama server: deterministic, with every way of failing.

In tests: ``with OllamaStandIn() as server`` and ``ModelSettings(ollama_url=server.url)``. To try
the app by hand: ``python tests/ollama_stand_in.py --port 11434 --delay 1``.
"""

from __future__ import annotations

import argparse
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grading import graded
from ollama_answers import answered, judged, rewritten, sources_of, summarised, thoughts
from ollama_failures import (
    FAILURES,
    asked_about,
    described,
    failed_response,
    passage_of,
    replaying,
    spoilt,
    spoilt_vectors,
    vector,
)
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

CREATED = "2026-11-20T12:00:00.000000Z"
DIMENSIONS = 32
WRITER = "llama3.2:3b"
EMBEDDER = "nomic-embed-text:latest"

_CUT = ("cut-answer", "thinks-too-long")
_DETAILS = {
    "parent_model": "",
    "format": "gguf",
    "family": "llama",
    "families": ["llama"],
    "parameter_size": "3B",
    "quantization_level": "Q4_K_M",
}


@dataclass
class Model:
    """A model that the stand-in pretends to have."""

    capabilities: tuple[str, ...]
    context_length: int
    size: int = 2_019_393_189
    digest: str = "a" * 64
    remote: bool = False


def usual_models() -> dict[str, Model]:
    """One model that writes and one that embeds."""
    return {
        WRITER: Model(("completion", "tools"), 8192),
        EMBEDDER: Model(("embedding",), 2048, 274_302_450, "b" * 64),
    }


@dataclass(frozen=True)
class Asked:
    """One request that came in."""

    method: str
    path: str
    body: dict[str, Any]
    headers: dict[str, str]


@dataclass
class OllamaStandIn:
    """Speaks Ollama's API.

    ``delay`` is the time in seconds before each answer, ``pause`` that before each part of a
    stream but the first; making one shorter ends what waits for it. One that ``refuses`` says so of
    a prompt longer than the window where it is not to be cut; an older server reads a part of it.
    ``window`` is the server's own, where it is not the one asked for.
    ``reply`` makes the answer of a chat from its messages; ``failure`` is one of
    ``ollama_failures.FAILURES`` and goes on until ``failures_left`` requests have failed (for
    ever when it is ``None``).
    """

    port: int = 0
    delay: float = 0.0
    pause: float = 0.0
    refuses: bool = True
    window: int = 0
    reply: Callable[[Sequence[dict[str, str]]], str] | None = None
    failure: str = ""
    failures_left: int | None = None
    version: str = "0.12.0"
    dimensions: int = DIMENSIONS
    longest_input: int = 8000
    models: dict[str, Model] = field(default_factory=usual_models)
    requests: list[Asked] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._server: HTTPServer | None = None
        self._lock = threading.Lock()
        self._request = threading.local()
        self._reset = threading.Event()

    def __enter__(self) -> OllamaStandIn:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def reset(self) -> None:
        """Forget all requests and work well again, as a new one does; starting takes longer."""
        self._reset.set()
        self._reset = threading.Event()
        if self._server is None:
            self.start()
        self.delay, self.failure, self.failures_left, self.reply = 0.0, "", None, None
        self.pause, self.refuses, self.window = 0.0, True, 0
        self.version, self.dimensions, self.longest_input = "0.12.0", DIMENSIONS, 8000
        self.models = usual_models()
        self.requests.clear()

    @property
    def url(self) -> str:
        """Where it answers, or answered."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Begin to answer; again on the same port after a stop."""
        server = HTTPServer(host="127.0.0.1", port=self.port, threaded=True)
        routes = {
            ("/api/chat", "POST"): self._chat,
            ("/api/generate", "POST"): self._generate,
            ("/api/embed", "POST"): self._embed,
            ("/api/show", "POST"): self._show,
            ("/api/pull", "POST"): self._pull,
            ("/api/tags", "GET"): self._tags,
            ("/api/ps", "GET"): self._loaded,
            ("/api/version", "GET"): self._version,
            ("/", "GET"): lambda asked: Response("Ollama is running"),
        }
        for (path, method), answer in routes.items():
            handler = self._handled(answer)
            server.expect_request(path, method=method).respond_with_handler(handler)
        server.start()
        self._server, self.port = server, server.port

    def stop(self) -> None:
        """Refuse connections from now on."""
        if self._server is not None:
            self._server.stop()
            self._server = None

    def asked(self, path: str) -> list[Asked]:
        """All requests for a path."""
        return [one for one in self.requests if one.path == path]

    def _handled(self, answer: Callable[[Asked], Response]) -> Callable[[Request], Response]:
        def handle(request: Request) -> Response:
            body = request.get_json(force=True) if request.data else {}
            asked = Asked(request.method, request.path, body, dict(request.headers))
            self.requests.append(asked)
            works = request.path in ("/api/chat", "/api/generate", "/api/embed")
            # What an earlier test no longer waits for must not reach the reply of this one.
            if works and self._waited("delay"):
                return _json({"error": "the stand-in was reset"}, 503)
            failure = self._next_failure() if works or request.path == "/api/pull" else ""
            if self.failure in ("html", "not-an-object") and not works:
                failure = self.failure
            failed = failed_response(failure, request)
            return failed if failed is not None else answer(asked)

        return handle

    def _next_failure(self) -> str:
        with self._lock:
            if not self.failure or self.failures_left == 0:
                self._request.failure = ""
            else:
                if self.failures_left is not None:
                    self.failures_left -= 1
                self._request.failure = self.failure
            return self.current

    @property
    def current(self) -> str:
        """How the request of this thread fails."""
        return getattr(self._request, "failure", "")

    def _missing(self, asked: Asked) -> Response | None:
        name = asked.body.get("model", "")
        if _full(name) in self.models:
            return None
        return _json({"error": f'model "{name}" not found, try pulling it first'}, 404)

    def _chat(self, asked: Asked) -> Response:
        missing = self._missing(asked)
        if missing is not None:
            return missing
        model, messages = asked.body["model"], asked.body.get("messages") or []
        if "completion" not in self.models[_full(model)].capabilities:
            return _json({"error": f'"{model}" does not support chat'}, 400)
        head = {"model": model, "created_at": CREATED}
        if not messages:
            done = {"message": _said(""), "done": True, "done_reason": "load"}
            return _json({**head, **done})
        prompt = "".join(message["content"] for message in messages)
        too_long = len(prompt) // 4 > self._window(asked.body)
        if self.refuses and asked.body.get("truncate") is False and too_long:
            return _json({"error": "the input length exceeds the context length"}, 400)
        text = self._answer(messages, asked.body.get("format"))
        counts = self._counts(prompt, text, asked.body)
        if not asked.body.get("stream", True):
            return _json({**head, "message": _said(text), "done": True, **counts})
        pieces = re.findall(r"\S+\s*|\s+", text)
        told = [{**_said(""), "thinking": piece} for piece in thoughts(self.current)]
        told += [_said(piece) for piece in pieces]
        parts = [{**head, "message": message, "done": False} for message in told]
        last = {**head, "message": _said(""), "done": True, **counts}
        return _stream(self._streamed(parts, last))

    def _generate(self, asked: Asked) -> Response:
        missing = self._missing(asked)
        if missing is not None:
            return missing
        prompt = asked.body.get("prompt", "")
        text = self._answer([{"role": "user", "content": prompt}], asked.body.get("format"))
        head = {"model": asked.body["model"], "created_at": CREATED, "response": text}
        return _json({**head, "done": True, **self._counts(prompt, text, asked.body)})

    def _waited(self, name: str) -> bool:
        """Wait as long as ``delay`` or ``pause`` says by then; tell whether a reset ended it."""
        started, reset = time.monotonic(), self._reset
        while (rest := started + getattr(self, name) - time.monotonic()) > 0:
            if reset.wait(min(rest, 0.05)):
                break
        return reset.is_set()

    def _streamed(self, parts: list[Any], last: Any) -> Iterator[dict[str, Any]]:
        for number, part in enumerate(parts):
            if number == max(1, len(parts) // 2):
                if self.current == "stream-error":
                    yield {"error": "an error was encountered while running the model"}
                    return
                if self.current == "close-midway":
                    raise ConnectionAbortedError
                if self.current == "silent":
                    time.sleep(3)
            if number and self._waited("pause"):
                return
            yield part
        if self.current != "silent-end":
            yield last

    def _answer(self, messages: Sequence[dict[str, str]], form: Any) -> str:
        if self.reply is not None:
            text = self.reply(messages)
        elif form:
            wanted = form.get("required", []) if isinstance(form, dict) else []
            write = asked_about if wanted == ["questions"] else described
            text = json.dumps(write(passage_of(messages)), ensure_ascii=False)
            text = judged(messages) if wanted == ["judgments"] else text
            text = rewritten(messages) if wanted == ["question"] else text
            text = summarised(messages) if wanted == ["summary"] else text
            text = graded(messages) if wanted == ["grades"] else text
        elif sources_of(messages):
            text = answered(messages)
        else:
            text = "This is about the quarterly report."
        return spoilt(self.current, text, passage_of(messages))

    def _window(self, body: dict[str, Any]) -> int:
        return int(self.window or body.get("options", {}).get("num_ctx", 4096))

    def _counts(self, prompt: str, text: str, body: dict[str, Any]) -> dict[str, Any]:
        read = min(len(prompt) // 4, self._window(body))
        return {
            "done_reason": "length" if self.current in _CUT else "stop",
            "total_duration": 1_000_000,
            "load_duration": 1000,
            "prompt_eval_count": max(1, read // 4 if self.current == "prompt-cut" else read),
            "prompt_eval_duration": 1000,
            "eval_count": max(1, len(text) // 4),
            "eval_duration": 1000,
        }

    def _embed(self, asked: Asked) -> Response:
        missing = self._missing(asked)
        if missing is not None:
            return missing
        model = asked.body["model"]
        if "embedding" not in self.models[_full(model)].capabilities:
            return _json({"error": f'"{model}" does not support embeddings'}, 400)
        given = asked.body["input"]
        texts = [given] if isinstance(given, str) else given
        too_long = any(len(text) > self.longest_input for text in texts)
        if asked.body.get("truncate") is False and too_long:
            return _json({"error": "input length exceeds maximum context length"}, 400)
        width = asked.body.get("dimensions") or self.dimensions
        vectors = [vector(text, width) for text in texts]
        return _json(
            {
                "model": model,
                "embeddings": spoilt_vectors(self.current, vectors),
                "total_duration": 1,
                "load_duration": 1,
                "prompt_eval_count": len(texts),
            }
        )

    def _tags(self, asked: Asked) -> Response:
        return _json({"models": [self._entry(name) for name in self.models]})

    def _loaded(self, asked: Asked) -> Response:
        entries = [{**self._entry(name), "expires_at": CREATED} for name in self.models]
        return _json({"models": entries[:1]})

    def _entry(self, name: str) -> dict[str, Any]:
        model = self.models[name]
        entry = {
            "name": name,
            "model": name,
            "modified_at": CREATED,
            "size": model.size,
            "digest": model.digest,
            "details": _DETAILS,
        }
        elsewhere = {"remote_host": "https://example.org:443", "remote_model": name}
        return {**entry, **elsewhere} if model.remote else entry

    def _show(self, asked: Asked) -> Response:
        missing = self._missing(asked)
        if missing is not None:
            return missing
        model = self.models[_full(asked.body["model"])]
        return _json(
            {
                "license": "",
                "modelfile": "FROM x",
                "parameters": "",
                "template": "{{ .Prompt }}",
                "details": _DETAILS,
                "model_info": {
                    "general.architecture": "llama",
                    "llama.context_length": model.context_length,
                    "llama.embedding_length": self.dimensions,
                },
                "capabilities": list(model.capabilities),
                "modified_at": CREATED,
            }
        )

    def _pull(self, asked: Asked) -> Response:
        name = asked.body["model"]
        if name.startswith("nope"):
            problem = "pull model manifest: file does not exist"
            return _stream(iter([{"status": "pulling manifest"}, {"error": problem}]))
        digest = "sha256:" + "c" * 64
        parts: list[dict[str, Any]] = [{"status": "pulling manifest"}]
        parts += [
            {"status": "pulling " + "c" * 12, "digest": digest, "total": 100, "completed": done}
            for done in (0, 50, 100)
        ]
        parts += [{"status": "verifying sha256 digest"}, {"status": "writing manifest"}]
        self.models[_full(name)] = Model(("completion",), 8192, 100, "c" * 64)
        return _stream(self._streamed(parts, {"status": "success"}))

    def _version(self, asked: Asked) -> Response:
        return _json({"version": self.version})


def _full(name: str) -> str:
    return name if ":" in name else f"{name}:latest"


def _said(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def _json(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(value), status, content_type="application/json; charset=utf-8")


def _stream(parts: Iterator[dict[str, Any]]) -> Response:
    lines = (json.dumps(part) + "\n" for part in parts)
    return Response(lines, content_type="application/x-ndjson")


def main() -> None:
    """Answer until it is interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=11434)
    parser.add_argument("--delay", type=float, default=0.0, help="seconds for each answer")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds for each part")
    parser.add_argument("--failure", choices=FAILURES, default="", help="how to fail")
    parser.add_argument("--contexts", type=Path, help="recorded contexts, a JSON object a line")
    parser.add_argument("--corpus", type=Path, help="texts of their ids; beside them by default")
    given = parser.parse_args()
    reply = None
    if given.contexts:
        corpus = given.corpus or given.contexts.with_name("corpus.jsonl")
        reply = replaying(given.contexts, corpus)
    server = OllamaStandIn(port=given.port, delay=given.delay, reply=reply, failure=given.failure)
    server.pause = given.pause
    with server:
        print(f"Answering at {server.url}", flush=True)  # noqa: T201
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
