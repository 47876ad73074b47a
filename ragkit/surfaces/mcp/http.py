"""MCP over HTTP: a route of the page server, behind its guard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import anyio

from ragkit.surfaces.http.doors import below
from ragkit.surfaces.http.problems import problem

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import Message, Receive, Scope, Send

    from ragkit.surfaces.http.shared import SharedLibrary

PATH = "/mcp"


class McpDoor:
    """Answers each request independently. It is set up at the first request, which takes a second.

    The guard has checked Host, Origin and token.
    """

    def __init__(self, library: SharedLibrary) -> None:
        self._library = library
        self._manager: StreamableHTTPSessionManager | None = None
        self._serving: asyncio.Task[None] | None = None
        self._begun, self._over = asyncio.Lock(), asyncio.Event()

    def routes(self) -> list[BaseRoute]:
        """Return its routes, which also cover everything below its path."""
        return below(PATH, self)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, which must be a POST: the server sends nothing by itself."""
        if refusal := _refusal(scope):
            await refusal(scope, receive, send)
            return
        async with self._begun:
            manager = self._manager or await self._begin()
        await _answer(manager, scope, receive, send)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Answer requests as long as this lasts."""
        try:
            yield
        finally:
            self._over.set()
            if self._serving is not None:
                await self._serving

    async def _begin(self) -> StreamableHTTPSessionManager:
        manager = await asyncio.to_thread(_manager, self._library)
        ready = asyncio.Event()
        self._serving = asyncio.create_task(self._serve(manager, ready))
        await ready.wait()
        self._manager = manager
        return manager

    async def _serve(self, manager: StreamableHTTPSessionManager, ready: asyncio.Event) -> None:
        # The context must be entered and left in the same task.
        async with manager.run():
            ready.set()
            await self._over.wait()


async def _answer(
    manager: StreamableHTTPSessionManager, scope: Scope, receive: Receive, send: Send
) -> None:
    """Answer a request, and end the work on it if its client leaves before."""
    read = asyncio.Event()

    async def received() -> Message:
        message = await receive()
        if not message.get("more_body"):
            read.set()
        return message

    async def leave() -> None:
        await read.wait()
        while (await receive())["type"] != "http.disconnect":
            pass
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(leave)
        await manager.handle_request(scope, received, send)
        tasks.cancel_scope.cancel()


def _refusal(scope: Scope) -> Response | None:
    if scope["path"].rstrip("/") != PATH:
        return problem(404, "There is nothing here.", f"The address for agents is {PATH}.")
    if scope["method"] != "POST":
        return problem(405, "Only POST is supported.", "Send requests by POST.", {"Allow": "POST"})
    return None


def _manager(library: SharedLibrary) -> StreamableHTTPSessionManager:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from ragkit.surfaces.mcp.server import mcp_server

    server = mcp_server(library.settings, library.get)
    return StreamableHTTPSessionManager(server, json_response=True, stateless=True)
