"""``/search``: search for a question or a long text."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field

from ragkit.library import Library
from ragkit.library.search_log import Door
from ragkit.options import SEARCH_OPTIONS
from ragkit.surfaces import render
from ragkit.surfaces.http.api.answers import Json, described
from ragkit.surfaces.http.api.options import LongSearchChanges, SearchChanges, given
from ragkit.surfaces.http.api.requests import MOST_NAMES, Number, Said, Where, library_of
from ragkit.surfaces.http.api.routing import Route
from ragkit.surfaces.http.api.shapes import ANSWER, LONG_ANSWER

router = APIRouter(route_class=Route, tags=["search"])

_LIMITS = SEARCH_OPTIONS["limit"].bounds or (None, None)
_ANSWER = "The answer, as `ragkit search --json` prints it; some of it only with `marks`."


class Search(Where):
    """A question, and how and where it is searched for."""

    query: Said = Field(
        description="The question, with filters and operators of the query language."
    )
    marks: bool = Field(
        default=False,
        description="Return what is needed to display results: the places of the question's words "
        "(`highlights`, `terms`, `missing_terms`) and the best `excerpt` of each. "
        "Takes some milliseconds.",
    )


class LongSearch(Where):
    """A long text, such as a conversation, that is searched for topic by topic."""

    text: Said
    chunked: LongSearchChanges = Field(default_factory=LongSearchChanges)
    exclude: list[Number] = Field(
        default=[], max_length=10_000, description="Ids of documents to leave out."
    )


@router.post("/search", **described(_ANSWER, ANSWER))
def search(asked: Search, request: Request) -> Json:
    """Search for a question."""
    return Json(_found(library_of(request), asked))


@router.get("/search", **described(_ANSWER, ANSWER))
def search_simply(
    q: Annotated[Said, Query(description="The question, with filters of the query language.")],
    request: Request,
    collection: Annotated[list[Said] | None, Query(min_length=1, max_length=MOST_NAMES)] = None,
    limit: Annotated[int | None, Query(ge=_LIMITS[0], le=_LIMITS[1])] = None,
) -> Json:
    """Search for a question; use POST for more options."""
    options = SearchChanges() if limit is None else SearchChanges(limit=limit)
    asked = Search(query=q, collections=collection, options=options)
    return Json(_found(library_of(request), asked))


def _found(library: Library, asked: Search) -> dict[str, Any]:
    options = asked.search_options(library)
    answer = library.search(asked.query, options)
    library.contexts.note_hits(answer)
    library.searches.note(asked.query, answer, options, door=Door.API)
    quoted = None
    if asked.marks:
        quoted = library.answers.excerpts(answer.corrected or answer.query, answer.results)
    return render.answer_as_json(answer, quoted, marks=asked.marks)


@router.post(
    "/search/long",
    **described("The answer, as `ragkit search --chunked --json` prints it.", LONG_ANSWER),
)
def search_long(asked: LongSearch, request: Request) -> Json:
    """Search with a long text: search for each of its topics, and merge the results."""
    library = library_of(request)
    chunked = replace(
        library.chunked_options(exclude=frozenset(asked.exclude)), **given(asked.chunked)
    )
    options = asked.search_options(library)
    answer = library.search_chunked(asked.text, options, chunked)
    library.searches.note(asked.text, answer, options, door=Door.API, chunked=chunked)
    return Json(render.chunked_answer_as_json(answer))
