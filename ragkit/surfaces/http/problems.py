"""Errors as programs are told them: one format (RFC 9457), each with what to do about it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from ragkit.errors import (
    ContextsFileError,
    EvaluationError,
    LibraryBusyError,
    LibraryError,
    ModelError,
    NotFoundError,
    QueryError,
    RagkitError,
    ReadingError,
    SettingsError,
    SourceError,
    ThreadError,
    UnstorableError,
    WebError,
)

if TYPE_CHECKING:
    from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"

_STATUS: Sequence[tuple[type[RagkitError], HTTPStatus]] = (
    (NotFoundError, HTTPStatus.NOT_FOUND),
    (QueryError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (SettingsError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (EvaluationError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (SourceError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (ReadingError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (ContextsFileError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (UnstorableError, HTTPStatus.UNPROCESSABLE_ENTITY),
    (ThreadError, HTTPStatus.CONFLICT),
    (LibraryBusyError, HTTPStatus.SERVICE_UNAVAILABLE),
    (LibraryError, HTTPStatus.SERVICE_UNAVAILABLE),
    (ModelError, HTTPStatus.SERVICE_UNAVAILABLE),
    (WebError, HTTPStatus.SERVICE_UNAVAILABLE),
)
"""The status that stands for an error; of several the first."""


def status_of(error: RagkitError) -> HTTPStatus:
    """Return the HTTP status that stands for an error."""
    statuses = (status for kind, status in _STATUS if isinstance(error, kind))
    return next(statuses, HTTPStatus.INTERNAL_SERVER_ERROR)


def as_problem(status: int, detail: str, cure: str = "", **more: Any) -> dict[str, Any]:
    """Return a problem: ``detail`` says what happened, ``cure`` what to do about it."""
    title = HTTPStatus(status).phrase
    return {
        "type": "about:blank", "title": title, "status": status, "detail": detail, "cure": cure,
        **more,
    }  # fmt: skip


def problem(
    status: int,
    detail: str,
    cure: str = "",
    headers: Mapping[str, str] | None = None,
    **more: Any,
) -> Response:
    """Return the answer that tells a program of a problem; ``more`` are further members."""
    from starlette.responses import Response

    body = json.dumps(as_problem(int(status), detail, cure, **more))
    return Response(body, int(status), {"Cache-Control": "no-store", **(headers or {})}, MEDIA_TYPE)
