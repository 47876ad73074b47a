"""Errors in OpenAI's form, with a sentence and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from ragkit.errors import InputTooLongError, NotFoundError, OllamaError, RagkitError
from ragkit.surfaces.failures import noted
from ragkit.surfaces.http.openai.requests import RequestError


@dataclass(frozen=True, slots=True)
class Problem:
    """An error in OpenAI's form."""

    status: int
    message: str
    param: str = ""
    code: str = ""

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object that OpenAI's clients read."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {
            "error": {
                "message": self.message,
                "type": kind,
                "param": self.param or None,
                "code": self.code or None,
            }
        }


def problem_of(error: Exception) -> Problem:
    """Return an error as a problem for the client; an unexpected one is logged."""
    if not isinstance(error, RagkitError):
        return Problem(500, noted(error))
    if isinstance(error, RequestError):
        return Problem(error.status, str(error), error.param, error.code)
    if isinstance(error, NotFoundError):
        return Problem(404, str(error), "model", "model_not_found")
    if isinstance(error, InputTooLongError):
        return Problem(400, str(error), "messages", "context_length_exceeded")
    if error.http_status == HTTPStatus.UNPROCESSABLE_ENTITY:
        # OpenAI's own servers answer 400 to whatever is wrong with a request.
        return Problem(400, str(error), "messages", "invalid_question")
    code = "no_model" if isinstance(error, OllamaError) else ""
    return Problem(error.http_status, str(error), "", code)
