"""What programs ask, mounted beside the pages; the guard in front of both wants the token first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from ragkit.surfaces.http.shared import SharedLibrary


def routes(library: SharedLibrary) -> list[BaseRoute]:
    """Return the routes of all doors."""
    from starlette.routing import Mount, Route

    from ragkit.surfaces.http import openai

    return [
        Mount("/v1", openai.application(library)),
        # Clients look there for a way to sign in, and would take a page for one.
        Route("/.well-known/{rest:path}", _nothing),
    ]


def _nothing(_request: Request) -> Response:
    from starlette.responses import JSONResponse

    return JSONResponse({"detail": "There is nothing here."}, 404)
