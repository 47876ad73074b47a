"""Threads as Markdown files, for the pages to offer: ``/_ragkit/threads/12.md``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.errors import NotFoundError, RagkitError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from ragkit.surfaces.http.shared import SharedLibrary

_PATH = "_ragkit/threads"


def address_of(thread_id: int) -> str:
    """Return where a thread is to be had as a file."""
    return f"/{_PATH}/{thread_id}.md"


def routes(library: SharedLibrary) -> list[Route]:
    """Return the route."""
    from starlette.responses import PlainTextResponse
    from starlette.routing import Route

    def answer(request: Request) -> Response:
        number = request.path_params["number"]
        try:
            text = library.get().threads.as_markdown(number)
        except RagkitError as error:
            status = 404 if isinstance(error, NotFoundError) else 500
            return PlainTextResponse(str(error), status)
        headers = {
            "Cache-Control": "no-store",
            "Content-Disposition": f'attachment; filename="thread-{number}.md"',
        }
        return PlainTextResponse(text, headers=headers, media_type="text/markdown")

    return [Route(f"/{_PATH}/{{number:int}}.md", answer)]
