"""``/status``: what the library holds and what is running."""

from __future__ import annotations

from fastapi import APIRouter, Request

from ragkit.surfaces.http.api.answers import Json, described
from ragkit.surfaces.http.api.requests import AnyCollection, library_of
from ragkit.surfaces.http.api.routing import Route
from ragkit.surfaces.http.api.shapes import STATUS
from ragkit.surfaces.render_status import status_as_json

router = APIRouter(route_class=Route, tags=["status"])


@router.get(
    "/status",
    **described(
        "The state, as `ragkit status --json` prints it.",
        STATUS,
    ),
)
def status(request: Request, collection: AnyCollection = None) -> Json:
    """Return what the library, or a collection, holds and what is running."""
    return Json(status_as_json(library_of(request), collection))
