"""``/ask``: events with the quick answer at once, then with the states of a written answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Request
from pydantic import Field
from starlette.responses import StreamingResponse

from ragkit.answers import AnswerState, Source, WrittenAnswer
from ragkit.library import Library
from ragkit.library.search_log import Door
from ragkit.results import Answer
from ragkit.surfaces import render_answers
from ragkit.surfaces.http.api.answers import PROBLEMS, as_json
from ragkit.surfaces.http.api.requests import Said, Text, Where, library_of
from ragkit.surfaces.http.api.routing import Route
from ragkit.surfaces.http.problems import as_problem
from ragkit.surfaces.http.shared import NO_STORE
from ragkit.surfaces.http.writing import Writing, writings

if TYPE_CHECKING:
    from ragkit.answering.excerpts import Excerpt

router = APIRouter(route_class=Route, tags=["ask"])

_LOOK_SECONDS = 5.0
_MOST_AT_ONCE = 40
_STREAM = "text/event-stream"
_EVENT = {
    "type": "object",
    "properties": {
        "event": {"type": "string", "enum": ["quick", "answer", "failed", "done"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["event", "data"],
}


class Ask(Where):
    """A question that is to be answered."""

    question: Said
    model: Text = Field(
        "", description="The Ollama model that writes; empty: that of the settings."
    )
    no_model: bool = Field(default=False, description="Only quote the documents.")
    check: bool = Field(default=False, description="Have the model judge each sentence it wrote.")


@dataclass(frozen=True, slots=True)
class _Found:
    """The results for a question, and the sentences that answer it."""

    answer: Answer
    quick: Sequence[Source]
    excerpts: Sequence[Excerpt | None]

    def as_json(self, written: WrittenAnswer | None) -> dict[str, Any]:
        return render_answers.asked_as_json(self.quick, written, self.answer, self.excerpts)


@router.post(
    "/ask",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": (
                "Events. `quick`: sentences of the documents that answer, and the results. "
                "`answer`, each time it has grown: what the model has written so far. `failed`: "
                "why the model wrote no more, as a problem. `done`, the last: everything, as "
                "`ragkit ask --json` prints it."
            ),
            "content": {_STREAM: {"schema": _EVENT}},
        },
        **PROBLEMS,
    },
)
def ask(asked: Ask, request: Request) -> StreamingResponse:
    """Answer a question with sentences of the documents, then in a local model's words."""
    library = library_of(request)
    # Answers need texts, even if the collection's own options leave them out.
    options = replace(asked.search_options(library), show_content=True)
    answer = library.search(asked.question, options)
    library.contexts.note_hits(answer)
    library.searches.note(asked.question, answer, options, door=Door.API)
    excerpts = library.answers.excerpts(answer.corrected or answer.query, answer.results)
    response = _Found(answer, library.answers.quick(answer), excerpts)
    headers = {**NO_STORE, "X-Accel-Buffering": "no"}
    events = _events(library, asked, response)
    return StreamingResponse(events, media_type=_STREAM, headers=headers)


async def _events(library: Library, asked: Ask, response: _Found) -> AsyncIterator[bytes]:
    """Yield the events of an answer; if the client stops listening, the model is stopped."""
    yield _event("quick", response.as_json(None))
    written: WrittenAnswer | None = None
    if not asked.no_model:
        writing = writings().start(_writing(library, asked, response.answer))
        version, over = -1, False
        try:
            while not over:
                state = await run_sync(
                    writing.told, version, _LOOK_SECONDS, limiter=_waiting(), abandon_on_cancel=True
                )
                if state["version"] == version and not state["over"]:
                    yield b": still at it\n\n"
                    continue
                version, over, written = state["version"], state["over"], state["written"]
                yield _state(written)
        finally:
            writing.cancel()
    yield _event("done", response.as_json(written))


def _writing(library: Library, asked: Ask, answer: Answer) -> Writing:
    """Return the written answer, not yet started."""

    def states() -> Generator[WrittenAnswer, None, None]:
        model = asked.model
        for written in library.answers.write(asked.question, answer, model=model):
            if asked.check and written.state is AnswerState.DONE and written.is_grounded:
                # The answer has not ended before it has been judged.
                yield replace(written, state=AnswerState.WRITING)
                yield library.answers.judge(written, model=model)
            else:
                yield written

    first = WrittenAnswer(asked.question)
    return Writing(states, lambda written: {"written": written}, lambda _written: None, first)


def _state(written: WrittenAnswer) -> bytes:
    if written.state is AnswerState.FAILED:
        return _event("failed", as_problem(503, written.failure, written.cure))
    value = render_answers.written_as_json(written)
    return _event("answer", {**value, "unfinished": written.unfinished})


def _event(name: str, value: Any) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (name.encode(), as_json(value))


@cache
def _waiting() -> CapacityLimiter:
    """Return a separate limit for waiting threads, so that they do not block other requests."""
    return CapacityLimiter(_MOST_AT_ONCE)
