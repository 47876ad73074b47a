"""Answers that are being written, for the pages: each is read in a thread of its own.

A page that waited for a model would take no other question meanwhile, so it only starts an answer
and looks at it over a route: ``/_ragkit/answers/TOKEN?after=3`` has the answer as it is once it
has changed since its third state, and a POST to ``/_ragkit/answers/TOKEN/cancel`` stops it.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from ragkit.answers import AnswerState, WrittenAnswer
from ragkit.errors import RagkitError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

PATH = "/_ragkit/answers"
_WAIT_SECONDS = 5.0
_FORSAKEN_SECONDS = 60.0
_MOST = 100
_NEVER_KEPT = {"Cache-Control": "no-store"}
_OVER = frozenset((AnswerState.DONE, AnswerState.CANCELLED, AnswerState.FAILED))

Begin = Callable[[], Generator[WrittenAnswer, None, None]]
Draw = Callable[[WrittenAnswer], dict[str, Any]]
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Writing:
    """An answer on its way. ``draw`` makes what the page is told of it, ``keep`` is told its end.

    ``not_kept`` says why it could not be kept, or is empty.

    Safe to share between threads. One that nobody looks at for a minute is stopped.
    """

    begin: Begin
    draw: Draw
    keep: Callable[[WrittenAnswer], None]
    answer: WrittenAnswer
    not_kept: str = ""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    _version: int = 0
    _seen_at: float = field(default_factory=time.monotonic)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self.answer.state in _OVER

    def told(self, after: int = -1, seconds: float = 0.0) -> dict[str, Any]:
        """Return the page's message with its ``version``; wait until that is past ``after``."""
        with self._changed:
            self._seen_at = time.monotonic()
            self._changed.wait_for(lambda: self._version > after or self.is_over, seconds)
            self._seen_at = time.monotonic()
            version, answer = self._version, self.answer
        return {"version": version, "over": answer.state in _OVER, **self.draw(answer)}

    def cancel(self) -> None:
        """Stop at once, and keep what is there; nothing happens to an answer that has ended."""
        self._become(replace(self.answer, state=AnswerState.CANCELLED))

    def run(self) -> None:
        """Read the answer to its end, or until it is stopped; what is behind it is closed then."""
        try:
            with closing(self.begin()) as states:
                for answer in states:
                    if not self._become(answer):
                        break
                    if time.monotonic() - self._seen_at > _FORSAKEN_SECONDS:
                        self.cancel()
        except RagkitError as error:
            self._fail(error.message, error.cure)
        except Exception:
            logger.exception("an answer failed")
            self._fail("Something unexpected went wrong.", "The server's log says what happened.")
        if not self.is_over:
            self._fail("The answer broke off.", "Ask for it again.")
        try:
            self.keep(self.answer)
        except RagkitError as error:
            logger.warning("an answer is not kept: %s", error)
            self.not_kept = str(error)

    def _fail(self, failure: str, cure: str) -> None:
        self._become(replace(self.answer, state=AnswerState.FAILED, failure=failure, cure=cure))

    def _become(self, answer: WrittenAnswer) -> bool:
        """Take a new state, unless the answer has ended; return whether it goes on."""
        with self._changed:
            if not self.is_over and answer != self.answer:
                self.answer = answer
                self._version += 1
                self._changed.notify_all()
            return not self.is_over


class Writings:
    """The answers of all pages of this server, by tokens that nobody guesses."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: dict[str, Writing] = {}

    def start(self, writing: Writing) -> Writing:
        """Begin to read an answer; the oldest that have ended are forgotten."""
        with self._lock:
            ended = [token for token, one in self._all.items() if one.is_over]
            for token in ended[: max(0, len(self._all) - _MOST)]:
                del self._all[token]
            self._all[writing.token] = writing
        threading.Thread(target=writing.run, name="ragkit-writing", daemon=True).start()
        return writing

    def find(self, token: str) -> Writing | None:
        """Return the answer with a token; ``None`` where there is none any more."""
        with self._lock:
            return self._all.get(token)


@cache
def writings() -> Writings:
    """Return the answers of this process, which its pages and its routes share."""
    return Writings()


def routes() -> list[Route]:
    """Return the routes on which pages look at answers and stop them."""
    from starlette.routing import Route

    return [
        Route(f"{PATH}/{{token}}", _look),
        Route(f"{PATH}/{{token}}/cancel", _cancel, methods=["POST"]),
    ]


def _look(request: Request) -> Response:
    return _told(request, _WAIT_SECONDS)


def _cancel(request: Request) -> Response:
    if (writing := writings().find(request.path_params["token"])) is not None:
        writing.cancel()
    return _told(request, 0.0)


def _told(request: Request, seconds: float) -> Response:
    from starlette.responses import JSONResponse

    writing = writings().find(request.path_params["token"])
    if writing is None:
        return JSONResponse({"over": True}, 404, headers=_NEVER_KEPT)
    after = request.query_params.get("after", "")
    known = int(after) if after.isascii() and after.isdecimal() and len(after) < 10 else -1
    return JSONResponse(writing.told(known, seconds), headers=_NEVER_KEPT)
