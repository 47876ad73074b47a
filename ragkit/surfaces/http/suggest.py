"""``/_ragkit/suggest``: suggestions for the search box, without running a page."""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import TYPE_CHECKING

from ragkit.errors import RagkitError
from ragkit.surfaces.http.shared import NO_STORE, query_number

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from ragkit.surfaces.http.shared import SharedLibrary

PATH = "/_ragkit/suggest"
"""The path: ``?q=TEXT&cursor=NUMBER``, and ``collection=NAME`` for each that is searched."""

logger = logging.getLogger(__name__)


def routes(library: SharedLibrary) -> list[Route]:
    """Return the route; it answers with an empty list if the library cannot be read."""
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    def answer(request: Request) -> Response:
        query, cursor = request.query_params, query_number(request, "cursor")
        try:
            suggestions = library.get().suggestions.suggest(
                query.get("q", ""), query.getlist("collection"), cursor
            )
        except RagkitError as error:
            logger.info("no suggestions: %s", error.message)
            suggestions = ()
        values = [asdict(suggestion) for suggestion in suggestions]
        return JSONResponse(values, headers=NO_STORE)

    return [Route(PATH, answer)]
