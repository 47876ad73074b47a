"""A real server: the lines of docs/api.md, agents, chat front ends, and what is no page's."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile

import httpx2
import openai
import pytest
from api_client import make_library
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from page_server import ROOT, Server
from support import run_async

from ragkit.library import Library
from ragkit.surfaces.http.api_token import ApiToken

_OVER_HTTP = (ROOT / "docs" / "api.md").read_text("utf-8").split("## Over HTTP")[1]
DOCUMENTED = re.findall(r"```sh\n(.*?)```", _OVER_HTTP, re.DOTALL)[0].splitlines()


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server with the handbook, and a folder in which its documentation can be tried."""
    folder = tmp_path_factory.mktemp("served")
    with Library.open(make_library(folder)) as library:
        server = Server(folder, RAGKIT_MODELS__EMBEDDER="hash")
        server.opened, server.folder = library, folder
        (folder / "ferries.md").write_text("# Ferries\n\nThe ferry leaves at nine.\n", "utf-8")
        with zipfile.ZipFile(folder / "notes.zip", "w") as archive:
            archive.writestr("harbour.md", "# Harbour\n\nThe harbour opens at eight.\n")
        command = folder / "ragkit"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ragkit "$@"\n', "utf-8")
        command.chmod(0o700)
        yield server
        server.stop()


def _run(server, line):
    """What a line of the documentation prints."""
    line = line.replace("localhost:8501", f"localhost:{server.port}").replace(
        "/jobs/1?", "/jobs/2?"
    )
    environment = {**server.environment, "PATH": f"{server.folder}:{os.environ['PATH']}"}
    run = subprocess.run(
        ["sh", "-c", line], cwd=server.folder, env=environment, capture_output=True, timeout=60
    )
    assert run.returncode == 0, run.stderr.decode()
    return run.stdout.decode("utf-8")


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_lines_of_the_documentation_do_what_they_say(served):
    assert all(len(line) < 250 and "\\" not in line for line in DOCUMENTED)
    token, state, simple, search, listed, text, sent, job, ask, described = DOCUMENTED
    assert _run(served, token) == ""
    header = served.folder / "header"
    assert header.stat().st_mode & 0o777 == 0o600
    assert json.loads(_run(served, state))["indexed"] == 5
    for line in (simple, search):
        found = json.loads(_run(served, line))
        assert found["results"][0]["document"]["path"] == "handbook/refunds.md"
    assert [one["path"] for one in json.loads(_run(served, listed))["documents"]] == [
        "handbook/refunds.md"
    ]
    assert json.loads(_run(served, text))["start"] == 0
    files = json.loads(_run(served, sent))["files"]
    assert [one["path"] for one in files] == ["ferries.md", "notes/harbour.md"]
    # No worker runs beside this server.
    served.opened.jobs.wait(2)
    assert json.loads(_run(served, job))["message"] == "2 indexed."
    events = re.findall(r"^event: (\w+)$", _run(served, ask), re.M)
    assert (events[0], events[-1]) == ("quick", "done")
    file = json.loads((ROOT / "docs" / "openapi.json").read_text("utf-8"))
    assert json.loads(_run(served, described)) == file


def test_no_address_below_the_api_is_a_page(served):
    admitted = {"Authorization": f"Bearer {ApiToken(served.library.token).ensure()}"}
    for path in ("/api", "/api/", "/api/nothing", "/api/a%0Ab", "/api/documents/"):
        status, answer = served.ask(path, **admitted)
        assert (status, "application/problem+json" in answer) == (404, True), path
        assert "<html" not in answer
        assert served.ask(path)[0] == 401


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_an_agent_asks_the_same_server(served, mode):
    address = f"http://localhost:{served.port}/mcp"
    headers = {"Authorization": f"Bearer {ApiToken(served.library.token).ensure()}"}

    async def run():
        async with (
            # The first call loads the protocol, which takes long on a busy machine.
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(address, http_client=http), mode=mode) as client,
        ):
            return await client.call_tool("rag_search", {"query": "OAuth token", "limit": 1})

    [result] = run_async(run()).structured_content["results"]
    assert result["document"]["path"] == "handbook/login.md"


def test_openai_own_client_asks_it_as_a_model(served):
    token = ApiToken(served.library.token).ensure()
    address = f"http://localhost:{served.port}/v1"
    with openai.OpenAI(base_url=address, api_key=token, max_retries=0) as client:
        question = {"role": "user", "content": "When does the OAuth token expire?"}
        model = client.models.list().data[0].id
        chunks = list(client.chat.completions.create(model=model, messages=[question], stream=True))
    deltas = [chunk.choices[0].delta for chunk in chunks]
    assert "The OAuth token expires after an hour" in "".join(one.content or "" for one in deltas)
    cited = next(one.annotations[0] for one in deltas if getattr(one, "annotations", None))
    place = cited["url_citation"]["url"]
    assert place.startswith(f"http://localhost:{served.port}/document?id=")
    # The page itself is what a browser gets there.
    assert served.ask(place.removeprefix(f"http://localhost:{served.port}"))[0] == 200
    with (
        openai.OpenAI(base_url=address, api_key="wrong", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError) as refused,
    ):
        client.models.list()
    assert refused.value.code == "invalid_api_key"
