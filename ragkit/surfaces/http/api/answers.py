"""Responses of the API: JSON values as commands print them, and their OpenAPI descriptions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticSerializationError, to_json
from starlette.responses import Response

from ragkit.surfaces.http.problems import MEDIA_TYPE
from ragkit.surfaces.http.shared import NO_STORE

_FAILURES = {
    400: "The request is malformed.",
    401: "The token is missing or wrong.",
    403: "The request came from another page.",
    404: "What the request names is not there.",
    405: "The address does not take this method.",
    413: "The body is too large.",
    415: "The body has another media type than is accepted here.",
    421: "The Host is not this server's.",
    422: "A value in the request is not valid; the field is named.",
    500: "Something unexpected went wrong.",
    503: "The library cannot be used now, or a model does not answer.",
}
PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "What went wrong (RFC 9457).",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What happened, in a sentence."},
        "cure": {"type": "string", "description": "What to do about it, or empty."},
        "fields": {
            "type": "array",
            "description": "The invalid fields of the request, each with what is wrong.",
            "items": {
                "type": "object",
                "properties": {"field": {"type": "string"}, "problem": {"type": "string"}},
                "required": ["field", "problem"],
            },
        },
    },
    "required": ["type", "title", "status", "detail", "cure"],
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": meaning,
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status, meaning in _FAILURES.items()
}
"""The error responses of every operation, for its description."""


class Json(Response):
    """A JSON value, serialised as it is."""

    media_type = "application/json"

    def __init__(self, content: Any, status_code: int = 200) -> None:
        super().__init__(content, status_code, NO_STORE)

    def render(self, content: Any) -> bytes:
        """Return the value as UTF-8."""
        return as_json(content)


def as_json(value: Any) -> bytes:
    """Return a value as JSON in UTF-8; lone surrogates, as in file names, become "?"."""
    try:
        return to_json(value, inf_nan_mode="null")
    except PydanticSerializationError:
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")


def described(sentence: str, members: Mapping[str, str], status: int = 200) -> dict[str, Any]:
    """Return the description of an operation that responds with a JSON object.

    ``members`` are those that it always has, each with its type (``shapes.py``).
    """
    types = {name: _type_of(kind) for name, kind in members.items()}
    schema = {"type": "object", "properties": types, "required": list(types)}
    content = {"application/json": {"schema": schema}}
    return {
        "status_code": status,
        "responses": {status: {"description": sentence, "content": content}, **PROBLEMS},
        "response_class": Json,
    }


def _type_of(kind: str) -> dict[str, Any]:
    return {"type": [kind[:-1], "null"] if kind.endswith("?") else kind}
