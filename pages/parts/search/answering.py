"""The answer above the results: what a model writes on request, and the turn that it belongs to.

An answer is written beside the page (``ragkit.surfaces.http.writing``): the page shows the element
that follows it, and runs on.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from pages.parts.common import browser, state
from pages.parts.search import answer_html, follow_ups, turns, web
from pages.parts.search.follow_ups import Asked
from ragkit.answers import AnswerState, Turn, WrittenAnswer
from ragkit.library import Library
from ragkit.settings import WriteWhen
from ragkit.surfaces.http.writing import Begin, Writing, writings

_WANTED, _JUDGE, _WRITINGS = "answer_wanted", "answer_judge", "answer_writings"
_WAITING = "answer_waiting"
_MOST_WRITINGS = 30


@dataclass(frozen=True, slots=True)
class Stand:
    """The state of the answer to a question: its turn in a thread, if any, and what is written.

    ``before`` are the earlier turns; ``offered`` says whether a model can write an answer,
    ``None`` while Ollama is being looked for.
    """

    before: tuple[Turn, ...] = ()
    turn: Turn | None = None
    writing: Writing | None = None
    offered: bool | None = None

    @property
    def written(self) -> WrittenAnswer | None:
        """The written answer as it is now."""
        if self.writing is not None:
            return self.writing.answer
        return self.turn.written if self.turn else None


def stand(library: Library, asked: Asked) -> Stand:
    """Return the state of an answer, and start writing it if requested."""
    look = library.ollama.look()
    offered = bool(look.writers) if look else None
    before, turn, followed = follow_ups.turn_of(library, asked)
    writings_by_turn = _writings()
    if asked.is_new:
        for turn_id, other in writings_by_turn.items():
            if turn is None or turn_id != turn.id:
                other.cancel()
    writing = writings_by_turn.get(turn.id) if turn else None
    if writing is not None and writing.answer.question != asked.question:
        writing = None  # of the turn as it was asked before
    current = Stand(before, turn, writing, offered)
    if current.turn and current.writing and current.writing.is_over and current.turn.id < 0:
        turns.put_or_say(library, replace(current.turn, written=current.writing.answer))
    judged = st.session_state.pop(_JUDGE, "") == asked.question
    if judged and turn is not None and current.written is not None:
        writing = _judge(library, turn, current.written, writings_by_turn)
        return replace(current, writing=writing)
    goes_on = followed is not None and any(earlier.written for earlier in before)
    if not asked.answer.results or not _is_wanted(
        current, asked, goes_on or writes_always(library)
    ):
        st.session_state.pop(_WANTED, None)
        return current
    # The wish outlives a run that is broken off, until the answer is being written.
    st.session_state[_WANTED] = asked.question
    if turn is None:
        whole = Turn(asked.question, asked.question, asked.quick)
        _, turn = turns.add(library, None, whole, asked.collections)
    carried = followed.carried if followed else ()
    from_the_web = web.sources_for(asked.question)

    def begin() -> Generator[WrittenAnswer, None, None]:
        return library.answers.write(
            asked.question, asked.answer, carried=carried, history=before, extra=from_the_web
        )

    empty = WrittenAnswer(asked.question)
    st.session_state.pop(_WANTED, None)
    writing = _start(library, turn, begin, empty, writings_by_turn)
    return replace(current, turn=turn, writing=writing)


def _is_wanted(now: Stand, asked: Asked, of_itself: bool) -> bool:
    """Return whether to start writing: on request, or ``of_itself`` for a new question.

    A question asked before Ollama was looked for stays new until then.
    """
    by_hand = st.session_state.get(_WANTED) == asked.question
    is_new = asked.is_new or st.session_state.pop(_WAITING, "") == asked.question
    if is_new and now.offered is None:
        st.session_state[_WAITING] = asked.question
    return by_hand or (of_itself and is_new and bool(now.offered) and now.written is None)


def _judge(
    library: Library, turn: Turn, written: WrittenAnswer, writings_by_turn: dict[int, Writing]
) -> Writing:
    """Start to have a model judge each sentence; if it is stopped, the answer stays unchanged."""

    def begin() -> Generator[WrittenAnswer, None, None]:
        yield replace(written, state=AnswerState.CHECKING)
        yield library.answers.judge(written)

    first = replace(written, state=AnswerState.CHECKING)
    return _start(library, turn, begin, first, writings_by_turn)


def writes_always(library: Library) -> bool:
    """Return whether every search gets a written answer, as chosen here or in the settings."""
    usual = library.settings.answers.write is WriteWhen.ALWAYS
    return bool(st.session_state.get(state.WRITE_ALWAYS, usual))


def draw_choice(library: Library) -> None:
    """Draw the switch for an answer to every search, if a model can write one."""
    look = library.ollama.look()
    if look and look.writers:
        state.start(**{state.WRITE_ALWAYS: writes_always(library)})
        st.toggle(
            "Write an answer to every question", key=state.WRITE_ALWAYS, persist_state="session",
            help="A model on this machine writes it from the passages that are found.",
        )  # fmt: skip


def draw(stand: Stand) -> None:
    """Draw the written answer, which grows by itself while it is being written."""
    written, turn, writing = stand.written, stand.turn, stand.writing
    if written is None or turn is None:
        return
    first = writing.told() if writing else {"version": 0, "over": True, **drawn(written)}
    token = writing.token if writing else f"turn-{turn.id}"
    js = browser.script(__file__, "answer.js")
    follower = st.components.v2.component("ragkit_answer", js=js, isolate_styles=False)
    with st.container(key="answer"):
        follower(key="answer-follower", data={"token": token, "first": first})


def drawn(answer: WrittenAnswer) -> dict[str, Any]:
    """Return an answer as the page shows it: its HTML, and its state in words."""
    return {"html": answer_html.written(answer), "state": answer_html.state_of(answer)}


def act(library: Library, values: Mapping[str, str]) -> bool:
    """Handle a click that asks for an answer or its checks; returns whether it was one."""
    verb, question = values.get("rk", ""), st.session_state.get(state.QUESTION) or ""
    if verb == "write":
        st.session_state[_WANTED] = question
    elif verb == "judge-answer":
        st.session_state[_JUDGE] = question
    else:
        return follow_ups.act(library, values)
    return True


def _writings() -> dict[int, Writing]:
    """Return the answers started in this tab, by turn id."""
    kept: dict[int, Writing] = st.session_state.setdefault(_WRITINGS, {})
    return kept


def _start(
    library: Library,
    turn: Turn,
    begin: Begin,
    first: WrittenAnswer,
    writings_by_turn: dict[int, Writing],
) -> Writing:
    """Start to write the answer to a turn, cancelling one that is being written.

    It does not use the session, where a run can be broken off.
    """
    for old in [turn.id, *writings_by_turn][: 1 + max(0, len(writings_by_turn) - _MOST_WRITINGS)]:
        if old in writings_by_turn:
            writings_by_turn.pop(old).cancel()
    writings_by_turn[turn.id] = Writing(
        begin, drawn, lambda written: turns.keep_written(library, turn, written), first
    )
    return writings().start(writings_by_turn[turn.id])
