"""What programs ask, mounted beside the pages; the guard in front of both wants the token first."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ragkit.surfaces.http.shared import SharedLibrary


def routes(library: SharedLibrary) -> list[BaseRoute]:
    """Return the routes of all doors."""
    from starlette.routing import Route

    from ragkit.surfaces.http import api, openai

    return [
        *below("/api", Late(partial(api.application, library))),
        *below("/v1", Late(partial(openai.application, library))),
        # Clients look there for a way to sign in, and would take a page for one.
        Route("/.well-known/{rest:path}", _nothing),
    ]


class Late:
    """An app that is made when somebody first asks it: what it imports would delay the pages."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand over to the app."""
        app = await asyncio.to_thread(self.made) if self._made is None else self._made
        await app(scope, receive, send)

    def made(self) -> ASGIApp:
        """Return the app, the same each time."""
        with self._lock:
            app = self._made = self._made or self._make()
        return app


def below(path: str, app: ASGIApp) -> list[BaseRoute]:
    """Return routes to an app that answers at a path and wherever below it."""
    from starlette.routing import Mount, Route

    mount = Mount(path, app)
    # Else a line break in an address would lead to the pages.
    mount.path_regex = re.compile(mount.path_regex.pattern, re.DOTALL)
    return [Route(path, app), mount]


def _nothing(_request: Request) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse({"detail": "There is nothing here."}, 404)
