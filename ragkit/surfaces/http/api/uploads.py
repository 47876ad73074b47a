"""``/uploads``: upload files, and see what became of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, File, Request, UploadFile

from ragkit.surfaces.http.api.answers import Json, described
from ragkit.surfaces.http.api.jobs import job_as_json
from ragkit.surfaces.http.api.requests import OneCollection, collection_of, library_of
from ragkit.surfaces.http.api.routing import Route

router = APIRouter(route_class=Route, tags=["uploads"])


@router.post(
    "/uploads",
    **described(
        "`files`, what became of each, and the `job` that indexes them.",
        {"files": "array", "job": "object"},
        202,
    ),
)
def upload(
    files: Annotated[
        list[UploadFile], File(min_length=1, description="Documents; a zip is opened.")
    ],
    request: Request,
    collection: OneCollection = None,
) -> Json:
    """Store files in the library and index them; existing files are never overwritten."""
    library = library_of(request)
    name = collection_of(library, collection)
    records = [
        record
        for file in files
        for record in library.uploads.add(file.filename or "", file.file, name)
    ]
    job = library.sources.sync(library.sources.uploads(name))
    files_ = [asdict(record) for record in records]
    return Json({"files": files_, "job": job_as_json(library, job)}, 202)


@router.get(
    "/uploads",
    **described("`files` since the last dismissal, in their current state.", {"files": "array"}),
)
def list_uploads(request: Request, collection: OneCollection = None) -> Json:
    """List uploaded files with what became of them."""
    library = library_of(request)
    lines = library.uploads.lines(collection_of(library, collection))
    return Json({"files": [asdict(line) for line in lines]})
