"""Errors as JSON for programs (RFC 9457), each with a ``cure``: what to do about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.responses import Response

MEDIA_TYPE = "application/problem+json"


def as_problem(status: int, detail: str, cure: str = "", **more: Any) -> dict[str, Any]:
    """Return a problem object: ``detail`` says what happened, ``cure`` what to do about it."""
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
    """Return a problem as a response; ``more`` are further members of the object."""
    from starlette.responses import Response

    body = json.dumps(as_problem(int(status), detail, cure, **more))
    return Response(body, int(status), {"Cache-Control": "no-store", **(headers or {})}, MEDIA_TYPE)
