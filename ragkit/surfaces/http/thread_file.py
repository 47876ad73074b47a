"""Threads as Markdown files to download: ``/_ragkit/threads/12.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.errors import RagkitError
from ragkit.surfaces.http.shared import NO_STORE, whole_number

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from ragkit.surfaces.http.shared import SharedLibrary

_PATH = "_ragkit/threads"


def address_of(thread_id: int) -> str:
    """Return the address of a thread's file."""
    return f"/{_PATH}/{thread_id}.md"


def routes(library: SharedLibrary) -> list[Route]:
    """Return the route."""
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    def answer(request: Request) -> Response:
        number = whole_number(request.path_params["number"])
        if number is None:
            return PlainTextResponse("There is no such thread.", 404)
        try:
            text = library.get().threads.as_markdown(number)
        except RagkitError as error:
            return PlainTextResponse(str(error), error.http_status)
        headers = {
            **NO_STORE,
            "Content-Disposition": f'attachment; filename="thread-{number}.md"',
        }
        return PlainTextResponse(text, headers=headers, media_type="text/markdown")

    return [Route(f"/{_PATH}/{{number}}.md", answer)]
