"""``/collections``: list, make, rename and delete them."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import Field

from ragkit.catalog.records import CollectionRecord
from ragkit.library import Library
from ragkit.surfaces.http.api.answers import Json, described
from ragkit.surfaces.http.api.jobs import queued
from ragkit.surfaces.http.api.options import Strict
from ragkit.surfaces.http.api.requests import NameInPath, Said, library_of
from ragkit.surfaces.http.api.routing import Route
from ragkit.surfaces.http.api.shapes import COLLECTION, JOB
from ragkit.surfaces.render_documents import collection_as_json, collections_as_json

router = APIRouter(route_class=Route, tags=["collections"])


class Named(Strict):
    """The name of a collection."""

    name: Said = Field(description="Up to 80 characters on one line.")


@router.get(
    "/collections",
    **described(
        "`collections`, each as `ragkit collections list --json` prints it.",
        {"collections": "array"},
    ),
)
def list_collections(request: Request) -> Json:
    """List the collections with what they hold."""
    library = library_of(request)
    return Json({"collections": collections_as_json(library)})


@router.post("/collections", **described("The new collection.", COLLECTION, 201))
def add_collection(named: Named, request: Request) -> Json:
    """Make an empty collection."""
    library = library_of(request)
    return Json(_as_json(library, library.collections.add(named.name)), 201)


@router.get("/collections/{name:path}", **described("The collection.", COLLECTION))
def get_collection(name: NameInPath, request: Request) -> Json:
    """Return a collection with what it holds."""
    library = library_of(request)
    return Json(_as_json(library, library.collections.get(name)))


@router.patch(
    "/collections/{name:path}", **described("The collection under its new name.", COLLECTION)
)
def rename_collection(name: NameInPath, named: Named, request: Request) -> Json:
    """Rename a collection; everything in it stays."""
    library = library_of(request)
    return Json(_as_json(library, library.collections.rename(name, named.name)))


@router.delete("/collections/{name:path}", **described("The job that deletes it.", JOB, 202))
def delete_collection(name: NameInPath, request: Request) -> Json:
    """Delete a collection with all it holds. Files of its folders stay on disk."""
    library = library_of(request)
    return queued(library, library.collections.delete(name))


def _as_json(library: Library, record: CollectionRecord) -> dict[str, Any]:
    return collection_as_json(record, library.documents.counts(record.name))
