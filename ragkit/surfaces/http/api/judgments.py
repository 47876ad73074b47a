"""``/judgments``: how well passages answer questions, in question sets."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from fastapi import APIRouter, Query, Request
from pydantic import Field

from ragkit.catalog.judgments import Origin
from ragkit.errors import NotFoundError
from ragkit.retrieval.query.parser import LONGEST_QUERY
from ragkit.surfaces import render_evaluation
from ragkit.surfaces.http.api.answers import Json, described
from ragkit.surfaces.http.api.options import Strict, whole
from ragkit.surfaces.http.api.requests import (
    Number,
    Offset,
    OneCollection,
    Said,
    collection_of,
    library_of,
)
from ragkit.surfaces.http.api.routing import Route
from ragkit.surfaces.http.api.shapes import JUDGMENT
from ragkit.types import Span

router = APIRouter(route_class=Route, tags=["judgments"])


Grade: TypeAlias = whole(0, 2)  # type: ignore[valid-type]


class Place(Strict):
    """A slice of a document's stored text, from ``start`` to before ``end``."""

    start: Offset
    end: Number


class Judgment(Strict):
    """How well a passage, or a whole document without ``span``, answers a question."""

    question: Annotated[Said, Field(max_length=LONGEST_QUERY)]
    document: Number
    grade: Grade = Field(description="2 right, 1 partly, 0 not.")
    span: Place | None = None
    collection: Said | None = None


@router.get(
    "/judgments",
    **described(
        "The `questions` of a set, each with its `judgments`, and `notices`.",
        {"set": "string", "questions": "array", "notices": "array"},
    ),
)
def list_judgments(
    request: Request,
    collection: OneCollection = None,
    set_: Annotated[
        str, Query(alias="set", description="A question set; by default, the judged questions.")
    ] = "",
) -> Json:
    """List the judgments of a question set, at their current places."""
    library = library_of(request)
    name = collection_of(library, collection)
    if set_ and set_ not in library.judgments.sets(name):
        raise NotFoundError(
            f'There is no question set "{set_}".', "GET /api/judgments/sets lists them."
        )
    judged = library.judgments.collect(name, set_)
    return Json(render_evaluation.judged_as_json(judged))


@router.post("/judgments", **described("The judgment, as it is kept.", JUDGMENT, 201))
def add_judgment(judgment: Judgment, request: Request) -> Json:
    """Judge how well a passage, or a whole document, answers a question."""
    library = library_of(request)
    kept = library.judgments.add(
        collection_of(library, judgment.collection),
        judgment.question,
        judgment.document,
        judgment.grade,
        span=Span(judgment.span.start, judgment.span.end) if judgment.span else None,
        origin=Origin.SEARCH,
    )
    return Json(render_evaluation.judgment_as_json(kept), 201)


@router.get(
    "/judgments/sets",
    **described("`sets`, each as `ragkit judgments list --json` prints it.", {"sets": "array"}),
)
def list_sets(request: Request, collection: OneCollection = None) -> Json:
    """List the question sets of a collection."""
    library = library_of(request)
    name = collection_of(library, collection)
    writers = library.judgments.writers(name)
    sets = library.judgments.sets(name)
    return Json({"sets": render_evaluation.sets_as_json(sets, writers)})
