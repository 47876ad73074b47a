"""Answers that a model is writing, each read in a thread of its own, and the pages' view of them.

A page that waited for a model could take no other question, so it only starts an answer and polls
it: ``/_ragkit/answers/TOKEN?after=3`` waits until the answer has changed since version 3 and
returns it, and a POST to ``/_ragkit/answers/TOKEN/cancel`` stops it.
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
from ragkit.surfaces.http.shared import NO_STORE, query_number

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

PATH = "/_ragkit/answers"
_WAIT_SECONDS = 5.0
_FORSAKEN_SECONDS = 60.0
_MOST = 100

Begin = Callable[[], Generator[WrittenAnswer, None, None]]
Draw = Callable[[WrittenAnswer], dict[str, Any]]
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Writing:
    """An answer that is being written. Safe to share between threads.

    ``begin`` starts it, ``draw`` turns a state of it into JSON values, and ``keep`` gets the last
    one; ``not_kept`` says why that failed. An answer that nobody polls for a minute is stopped.
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
        """Whether the answer has ended."""
        return self.answer.state.is_over

    def told(self, after: int = -1, seconds: float = 0.0) -> dict[str, Any]:
        """Return the drawn state with its ``version``; wait ``seconds`` at most for a newer one."""
        with self._changed:
            self._seen_at = time.monotonic()
            self._changed.wait_for(lambda: self._version > after or self.is_over, seconds)
            self._seen_at = time.monotonic()
            version, answer = self._version, self.answer
        return {"version": version, "over": answer.state.is_over, **self.draw(answer)}

    def cancel(self) -> None:
        """Stop the answer and keep what was written, unless it has ended already."""
        self._become(replace(self.answer, state=AnswerState.CANCELLED))

    def run(self) -> None:
        """Read the answer until it ends or is stopped, then close its generator and keep it.

        It is kept before it is said to be over: a page that is loaded again then still shows it.
        """
        last = self._read()
        if not self.is_over:
            self._store(last)
            self._become(last)
        if self.answer != last:  # stopped meanwhile
            self._store(self.answer)

    def _read(self) -> WrittenAnswer:
        """Take each state but the last, which is returned."""
        try:
            with closing(self.begin()) as states:
                for answer in states:
                    if answer.state.is_over or not self._become(answer):
                        return answer
                    if time.monotonic() - self._seen_at > _FORSAKEN_SECONDS:
                        self.cancel()
        except RagkitError as error:
            return self._failed(error.message, error.cure)
        except Exception:
            logger.exception("an answer failed")
            return self._failed(
                "Something unexpected went wrong.", "The server's log says what happened."
            )
        return self._failed("The answer broke off.", "Ask for it again.")

    def _store(self, answer: WrittenAnswer) -> None:
        try:
            self.keep(answer)
        except RagkitError as error:
            logger.warning("an answer is not kept: %s", error)
            self.not_kept = str(error)

    def _failed(self, failure: str, cure: str) -> WrittenAnswer:
        return replace(self.answer, state=AnswerState.FAILED, failure=failure, cure=cure)

    def _become(self, answer: WrittenAnswer) -> bool:
        """Take a new state, unless the answer has ended; return whether it continues."""
        with self._changed:
            if not self.is_over and answer != self.answer:
                self.answer = answer
                self._version += 1
                self._changed.notify_all()
            return not self.is_over


class Writings:
    """The answers of this server, by unguessable tokens."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: dict[str, Writing] = {}

    def start(self, writing: Writing) -> Writing:
        """Start reading an answer, and forget the oldest ended ones beyond a hundred."""
        with self._lock:
            ended = [token for token, answer in self._all.items() if answer.is_over]
            for token in ended[: max(0, len(self._all) - _MOST)]:
                del self._all[token]
            self._all[writing.token] = writing
        threading.Thread(target=writing.run, name="ragkit-writing", daemon=True).start()
        return writing

    def find(self, token: str) -> Writing | None:
        """Return the answer with that token, or ``None``."""
        with self._lock:
            return self._all.get(token)


@cache
def writings() -> Writings:
    """Return the answers of this process, shared by its pages and routes."""
    return Writings()


def routes() -> list[Route]:
    """Return the routes that poll and stop answers."""
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
        return JSONResponse({"over": True}, 404, headers=NO_STORE)
    after = query_number(request, "after")
    state = writing.told(-1 if after is None else after, seconds)
    return JSONResponse(state, headers=NO_STORE)
