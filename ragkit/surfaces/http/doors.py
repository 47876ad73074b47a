"""The routes for programs, mounted beside the pages; the guard asks each request for the token."""

from __future__ import annotations

import asyncio
import re
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ragkit.surfaces.http.shared import SharedLibrary


def routes(library: SharedLibrary) -> list[BaseRoute]:
    """Return the routes of the HTTP API and of OpenAI's API."""
    from starlette.routing import Route

    def api() -> ASGIApp:
        from ragkit.surfaces.http.api.app import application

        return application(library)

    def openai() -> ASGIApp:
        from ragkit.surfaces.http.openai.app import application

        return application(library)

    return [
        *below("/api", LazyApp(api)),
        *below("/v1", LazyApp(openai)),
        # Clients look there for a way to sign in, and would mistake a page for one.
        Route("/.well-known/{rest:path}", _nothing),
    ]


class LazyApp:
    """An app that is made at the first request: what it imports would delay the pages."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request to the app."""
        app = await asyncio.to_thread(self.load) if self._app is None else self._app
        await app(scope, receive, send)

    def load(self) -> ASGIApp:
        """Return the app, the same each time."""
        with self._lock:
            if self._app is None:
                self._app = self._make()
            return self._app


def below(path: str, app: ASGIApp) -> list[BaseRoute]:
    """Return routes to an app that answers at a path and everywhere below it."""
    from starlette.routing import Mount, Route

    mount = Mount(path, app)
    # Otherwise an address with a line break would lead to the pages.
    mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)
    return [Route(path, app), mount]


def _nothing(_request: Request) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse({"detail": "There is nothing here."}, 404)
