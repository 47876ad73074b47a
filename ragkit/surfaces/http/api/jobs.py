"""``/sync`` and ``/jobs``: queue a sync, list jobs, wait for and cancel them."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.concurrency import run_in_threadpool

from ragkit.catalog.records import JobRecord
from ragkit.errors import NotFoundError
from ragkit.library import Library
from ragkit.surfaces.http.api.answers import Json, described
from ragkit.surfaces.http.api.options import Strict
from ragkit.surfaces.http.api.requests import LimitInQuery, NumberInPath, Said, library_of
from ragkit.surfaces.http.api.routing import Route
from ragkit.surfaces.http.api.shapes import JOB

router = APIRouter(route_class=Route, tags=["jobs"])

_LOOK_SECONDS = 0.2
_LONGEST_WAIT = 60


class Sync(Strict):
    """What to compare with its files: a collection, or all."""

    collection: Said | None = None
    reread: bool = Field(default=False, description="Read files again that look unchanged.")
    accept_removals: bool = Field(
        False, description="Remove documents that are held because their files may come back."
    )


def queued(library: Library, job_id: int) -> Json:
    """Return the response for a queued job."""
    return Json(job_as_json(library, job_id), 202)


def job_as_json(library: Library, job_id: int) -> dict[str, Any]:
    """Return a job as ``ragkit jobs --json`` prints it.

    Raises:
        NotFoundError: there is no such job.
    """
    return asdict(_job(library, job_id))


def _job(library: Library, job_id: int) -> JobRecord:
    job = library.jobs.get(job_id)
    if job is None:
        raise NotFoundError(f"There is no job {job_id}.", "GET /api/jobs lists the last ones.")
    return job


@router.post("/sync", **described("The job, which reads what has changed.", JOB, 202))
def sync(body: Sync, request: Request) -> Json:
    """Bring the library up to date with its folders."""
    library = library_of(request)
    arguments: dict[str, Any] = {name: value for name, value in body.model_dump().items() if value}
    if body.collection is not None:
        library.collections.get(body.collection)
    return queued(library, library.jobs.add("sync", **arguments))


@router.get(
    "/jobs",
    **described("`jobs`, each as `ragkit jobs --json` prints it, newest first.", {"jobs": "array"}),
)
def list_jobs(request: Request, limit: LimitInQuery = 20) -> Json:
    """List the last jobs and how they ended."""
    return Json({"jobs": [asdict(job) for job in library_of(request).jobs.recent(limit)]})


@router.get("/jobs/{job}", **described("The job, as `ragkit jobs --json` prints it.", JOB))
async def get_job(
    job: NumberInPath,
    request: Request,
    wait: Annotated[
        int, Query(ge=0, le=_LONGEST_WAIT, description="Maximum seconds to wait for its end.")
    ] = 0,
) -> Json:
    """Return a job, at once or when it has ended."""
    # Waiting must not block a thread: there are few, and pages need them.
    library = await run_in_threadpool(library_of, request)
    until = time.monotonic() + wait
    record = await run_in_threadpool(_job, library, job)
    while record.finished_at is None and time.monotonic() < until:
        if await request.is_disconnected():
            break
        await asyncio.sleep(_LOOK_SECONDS)
        record = await run_in_threadpool(_job, library, job)
    return Json(asdict(record))


@router.post("/jobs/{job}/cancel", **described("The job; a running one ends a bit later.", JOB))
def cancel_job(job: NumberInPath, request: Request) -> Json:
    """Cancel a job; a running one stops after the current document."""
    library = library_of(request)
    _job(library, job)
    library.jobs.cancel(job)
    return Json(job_as_json(library, job))
