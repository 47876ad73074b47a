"""The door for agents over HTTP, behind the guard, asked by the official client."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import asynccontextmanager

import httpx2
import pytest
from api_client import PORT, make_library
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from starlette.applications import Starlette
from support import answer_threads, run_async

from ragkit.paths import LibraryPaths
from ragkit.surfaces.http.api_token import ApiToken
from ragkit.surfaces.http.guard import Guard
from ragkit.surfaces.http.place import Place
from ragkit.surfaces.http.shared import SharedLibrary
from ragkit.surfaces.mcp.http import McpDoor

CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "status"}}
ACCEPTS = {"accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    return make_library(tmp_path_factory.mktemp("mcp_http"))


@pytest.fixture
def token(settings):
    return ApiToken(LibraryPaths(settings.library).token)


@pytest.fixture
def served(settings, token):
    """Do something with a client of the door, whose Host and Authorization may be others."""

    def run(work, *, host=f"127.0.0.1:{PORT}", bearer=None):
        library = SharedLibrary(settings)

        async def within():
            door = McpDoor(library)
            app = Guard(Starlette(routes=door.routes()), place=Place(PORT), token=token)
            headers = {"Authorization": f"Bearer {bearer or token.ensure()}"}
            transport = httpx2.ASGITransport(app)
            async with (
                door.serving(),
                httpx2.AsyncClient(
                    transport=transport, headers=headers, base_url=f"http://{host}"
                ) as http,
            ):
                return await work(http)

        try:
            return run_async(within())
        finally:
            library.get().close()

    return run


@asynccontextmanager
async def client(http, mode="auto"):
    transport = streamable_http_client(f"{http.base_url}/mcp", http_client=http)
    async with Client(transport, mode=mode) as opened:
        yield opened


@pytest.mark.parametrize(
    ("mode", "version", "host"),
    [("legacy", "2025-11-25", f"localhost:{PORT}"), ("auto", "2026-07-28", f"[::1]:{PORT}")],
)
def test_a_client_with_the_token_searches_eight_times_at_once(served, mode, version, host):
    async def work(http):
        async with client(http, mode) as asked:
            assert asked.protocol_version == version
            assert len((await asked.list_tools()).tools) == 8
            found = await asyncio.gather(
                *(
                    asked.call_tool("rag_search", {"query": f"token {number}", "limit": 1})
                    for number in range(8)
                )
            )
            assert [one.is_error for one in found] == [False] * 8
            [result] = found[0].structured_content["results"]
            assert result["document"]["path"] == "handbook/login.md"
            wrong = await asked.call_tool("rag_search", {"query": "x", "lmit": 1})
            assert "no parameter 'lmit'" in wrong.content[0].text
            [first, *_] = (await asked.list_resources()).resources
            assert (await asked.read_resource(first.uri)).contents[0].text
            with pytest.raises(MCPError):
                await asked.read_resource("ragkit://documents/999")

    served(work, host=host)


def test_nobody_else_is_answered(served, token):
    async def work(http):
        good = {"Authorization": f"Bearer {token.ensure()}", **ACCEPTS}
        post = [
            {**ACCEPTS, "Authorization": "Bearer wrong"},
            {**good, "Origin": "http://evil.example"},
            {**good, "Host": "evil.example"},
            {**good, "Content-Type": "text/plain"},
            good,
        ]
        statuses = [(await http.post("/mcp", json=CALL, headers=one)).status_code for one in post]
        assert statuses == [401, 403, 421, 400, 200]
        assert (await http.get("/mcp", headers=good)).status_code == 405
        assert (await http.delete("/mcp", headers=good)).status_code == 405
        assert (await http.post("/mcp/other", headers=good)).status_code == 404
        large = await http.post("/mcp", content=b" " * 5_000_000, headers=good)
        assert large.status_code == 413

    served(work)


def test_a_client_that_goes_away_stops_the_model(settings, server):
    server.reply = lambda messages: "The token expires. " * 400
    server.pause = 0.02
    models = settings.models.model_copy(update={"ollama_url": server.url})
    library = SharedLibrary(settings.model_copy(update={"models": models}))
    arguments = {"question": "When does the token expire?", "write": True, "seconds": 600}
    call = {**CALL, "params": {"name": "ask", "arguments": arguments}}
    scope = {
        "type": "http", "method": "POST", "path": "/mcp", "query_string": b"",
        "headers": [(b"content-type", b"application/json"), (b"accept", b"application/json")],
    }  # fmt: skip
    sent = []

    async def send(message):
        sent.append(message)

    async def work():
        door, messages = McpDoor(library), asyncio.Queue()
        messages.put_nowait({"type": "http.request", "body": json.dumps(call).encode()})
        async with door.serving():
            answering = asyncio.create_task(door(scope, messages.get, send))
            await until(answer_threads)
            messages.put_nowait({"type": "http.disconnect"})
            await asyncio.wait_for(answering, 10)
            await until(lambda: not answer_threads())

    try:
        run_async(work())
    finally:
        library.close()
    assert sent == []


async def until(true):
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        await asyncio.sleep(0.05)
