"""How requests are handled: limits on bodies and parameters, and errors as problems."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import starlette.routing
from fastapi import FastAPI, params
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic.fields import FieldInfo
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Message, Receive

from ragkit.errors import RagkitError
from ragkit.formatting import byte_size
from ragkit.setting_faults import RULES
from ragkit.surfaces.http.problems import problem

MOST_BYTES = 8_000_000
"""The most bytes of a request without files: more than the longest text to search with."""

MOST_FILES = 1_000
"""The most files of an upload: Starlette's limit, which its message names."""

_TOO_MANY_FILES = "Too many files"
_JSON, _FORM = "application/json", "multipart/form-data"
_MULTIPART_OVERHEAD = 1_000_000
_RULES = {
    **RULES,
    "missing": "is missing",
    "extra_forbidden": "there is no such field here",
    "model_attributes_type": "must be an object",
    "model_type": "must be an object",
    "list_type": "must be a list",
    "string_unicode": "has a lone surrogate, which is no valid text",
    "string_pattern_mismatch": "must not be blank, or have a NUL character",
    "too_short": "must not be empty",
    "too_long": "must have at most {max_length} parts",
    "string_too_long": "must have at most {max_length} characters",
}
_CHANGE = "Change it; /api/openapi.json describes what is valid."
_MOST_TOLD = 20
logger = logging.getLogger(__name__)

Answered = Callable[[Request], Coroutine[Any, Any, Response]]


class Refused(HTTPException):
    """A request that is refused: why, and what to do about it."""

    def __init__(self, status: int, detail: str, cure: str) -> None:
        super().__init__(status, detail)
        self.cure = cure


class Route(APIRoute):
    """A route that limits bodies, refuses unknown parameters, and never shows a traceback."""

    def get_route_handler(self) -> Answered:
        """Return the handler for requests of this route."""
        answer = super().get_route_handler()
        body = self.body_field
        kind = "" if body is None else _FORM if isinstance(body.field_info, params.Form) else _JSON

        parameters = {field.alias for field in self.dependant.query_params}

        async def answered(request: Request) -> Response:
            if unknown := sorted(set(request.query_params) - parameters):
                raise Refused(422, f"{unknown[0]}: there is no such parameter here.", _CHANGE)
            if kind:
                _check_kind(request, kind)
                request = Request(request.scope, _bounded(request, upload=kind == _FORM))
            try:
                return await answer(request)
            except (RagkitError, HTTPException, RequestValidationError):
                raise
            except Exception:
                logger.exception("a request failed")
                what = "Something unexpected went wrong."
                return problem(500, what, "The server's log says what happened.")

        return answered


def _check_kind(request: Request, media_type: str) -> None:
    """Refuse a body of another media type; a missing body is reported elsewhere."""
    length = request.headers.get("content-length", "0")
    if length == "0" and "transfer-encoding" not in request.headers:
        return
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != media_type:
        raise Refused(415, f"The body is not {media_type}.", f"Send Content-Type: {media_type}.")


def _bounded(request: Request, *, upload: bool) -> Receive:
    """Return a ``receive`` that refuses a body that is too large."""
    most, cure = MOST_BYTES, "Send less at once; a file is added by an upload."
    if upload:
        megabytes_of_file = request.app.state.library.settings.reading.max_file_mb
        most = int(megabytes_of_file * 1_000_000) + _MULTIPART_OVERHEAD
        cure = "Send fewer files at once, or raise reading.max_file_mb in the settings."
    refusal = Refused(413, f"The body has more than {byte_size(most)}.", cure)
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise refusal
    taken = 0

    async def receive() -> Message:
        nonlocal taken
        message = await request.receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise refusal
        return message

    return receive


def handle_errors(app: FastAPI) -> None:
    """Make an app respond to every error with a problem."""
    app.add_exception_handler(RagkitError, _of_ragkit)
    app.add_exception_handler(RequestValidationError, _of_values)
    # Starlette's class, of which FastAPI's is a subclass: unknown addresses raise it.
    app.add_exception_handler(HTTPException, _of_http)


async def _of_ragkit(_request: Request, error: Any) -> Response:
    return problem(error.http_status, error.message, error.cure)


async def _of_values(request: Request, error: Any) -> Response:
    faults = error.errors()
    if faults[0]["type"] == "json_invalid":
        place = f"The body is not valid JSON, at character {faults[0]['loc'][-1]}."
        return problem(400, place, "Send a JSON object.")
    known_fields = _fields_of(request)
    fields = [
        {"field": _name(fault["loc"]), "problem": _rule(fault, known_fields)}
        for fault in faults[:_MOST_TOLD]
    ]
    detail = "; ".join(f"{field['field']}: {field['problem']}" for field in fields)
    return problem(422, f"{detail}.", _CHANGE, fields=fields)


def _name(place: Sequence[int | str]) -> str:
    """Return the path of a field in a request: ``options.limit``."""
    return ".".join(map(str, place[1:])) or str(place[0])


def _fields_of(request: Request) -> Mapping[str, FieldInfo]:
    """Return the fields that a request's body may have."""
    body = getattr(request.scope.get("route"), "body_field", None)
    return getattr(body and body.field_info.annotation, "model_fields", {})


def _rule(fault: dict[str, Any], fields: Mapping[str, FieldInfo]) -> str:
    if fault["type"] == "extra_forbidden" and len(fault["loc"]) == 2:
        # A common mistake is to put options beside the question.
        groups = [
            name
            for name, field in fields.items()
            if fault["loc"][1] in getattr(field.annotation, "model_fields", {})
        ]
        if groups:
            return f"belongs in {' or '.join(groups)}"
    if fault["type"] == "value_error" and "UploadFile" in fault["msg"]:
        return "must be a file, with a filename"
    return _RULES.get(fault["type"], "has an invalid value").format_map(fault.get("ctx", {}))


async def _of_http(request: Request, error: Any) -> Response:
    cures = {
        400: "Send a JSON object, or files as multipart/form-data, in UTF-8.",
        404: "The addresses are in /api/openapi.json.",
        405: "The methods of each address are in /api/openapi.json.",
    }
    headers = dict(error.headers or {})
    if error.status_code == 404:
        detail = "There is no such address."
    elif error.status_code == 405:
        detail = f"{request.method} is not possible here."
        headers["Allow"] = ", ".join(_methods(request))
    elif error.status_code == 400 and str(error.detail).startswith(_TOO_MANY_FILES):
        what = f"The body has more than {MOST_FILES:,} files."
        return problem(413, what, "Send fewer at once, or a zip of them.", headers)
    elif error.status_code == 400:
        detail = "The body cannot be read."
    else:
        detail = str(error.detail)
    cure = error.cure if isinstance(error, Refused) else cures.get(error.status_code, "")
    return problem(error.status_code, detail, cure, headers)


def _methods(request: Request) -> Sequence[str]:
    """Return the methods of all routes at an address."""
    routes: Sequence[starlette.routing.Route] = request.app.state.routes
    here = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return sorted({method for route in here for method in route.methods or ()})
