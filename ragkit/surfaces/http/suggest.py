"""Suggestions as JSON, for the box of the pages: a route of its own, so that no page is run."""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import TYPE_CHECKING

from ragkit.errors import RagkitError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from ragkit.surfaces.http.shared import SharedLibrary

PATH = "/_ragkit/suggest"
"""The route: ``?q=TEXT&cursor=NUMBER`` and ``collection=NAME`` for each that is searched."""

logger = logging.getLogger(__name__)


class SuggestRoute:
    """Answers with a list of suggestions; an empty one when the library cannot be read."""

    def __init__(self, library: SharedLibrary) -> None:
        self._library = library

    def answer(self, request: Request) -> Response:
        """Return what may be meant by ``q``; runs in a thread of the server's."""
        from starlette.responses import JSONResponse

        query = request.query_params
        cursor = query.get("cursor", "")
        try:
            suggestions = self._library.get().suggestions.suggest(
                query.get("q", ""),
                query.getlist("collection"),
                int(cursor) if cursor.isdecimal() else None,
            )
        except RagkitError as error:
            logger.info("no suggestions: %s", error.message)
            suggestions = ()
        return JSONResponse(
            [asdict(suggestion) for suggestion in suggestions],
            headers={"cache-control": "no-store"},
        )
