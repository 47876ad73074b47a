"""Follow-up questions: rewritten to stand alone, shown, changed and undone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st

from pages.parts.common import browser, state
from pages.parts.common import question as question_box
from pages.parts.search import turns
from ragkit.answers import Source, Turn
from ragkit.library import Library
from ragkit.results import Answer

_LAST, _OPEN, _CHANGE = "answer_last", "follow_up_open", "follow_up_change"
_BOX, _TYPED, _REASK, _FOLLOWED = "follow_up", "follow_up_typed", "asked_again", "followed"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its results; ``is_new`` says that the page did not show them before."""

    question: str
    answer: Answer
    quick: tuple[Source, ...]
    collections: tuple[str, ...]
    is_new: bool


@dataclass(frozen=True, slots=True)
class Followed:
    """A follow-up: ``question`` as it was typed, ``asked`` as it is searched for.

    ``carried`` are the sentences that the answer before rests on; ``replaces`` is the id of the
    turn that it takes the place of.
    """

    question: str
    asked: str
    carried: tuple[Source, ...] = ()
    replaces: int = 0


def take(library: Library) -> None:
    """Take the follow-up that was typed, before the box is drawn: it shows the rewritten question.

    A model may take seconds to rewrite it; whoever goes back meanwhile no longer asks it. A thread
    without a question is opened at its last one; whoever empties the box leaves it.
    """
    if not _question() and (opened := turns.current(library)):
        if st.session_state.get(state.TYPED):
            turns.leave()
        elif opened.turns:
            question_box.put(opened.turns[-1].asked)
    last: Asked | None = st.session_state.get(_LAST)
    typed = str(st.session_state.pop(_TYPED, "")).strip()
    followed: Followed | None = st.session_state.pop(_REASK, None)
    if browser.went_back():
        return
    if followed is None and typed and last is not None:
        thread = turns.current(library)
        before, turn = turns.upto(thread, last.question) if thread else ((), None)
        if thread is None or turn is None:
            first = Turn(last.question, last.question, last.quick)
            thread, turn = turns.add(library, None, first, last.collections)
            before = ()
        with st.spinner("Reading the question …"):
            look = library.ollama.look()
            follow_up = library.answers.follow_up(
                replace(thread, turns=(*before, turn)), typed,
                model="" if look and look.writers else None,
            )  # fmt: skip
        followed = Followed(typed, follow_up.rewritten, follow_up.carried)
    if followed is not None:
        st.session_state[_FOLLOWED] = followed
        question_box.put(followed.asked)


def turn_of(
    library: Library, asked: Asked
) -> tuple[tuple[Turn, ...], Turn | None, Followed | None]:
    """Return the turns before a question, its own turn, and the follow-up that it came from.

    A question that neither was asked in the thread nor follows it leaves the thread.
    """
    st.session_state[_LAST] = asked
    thread = turns.current(library)
    if thread is None:
        return (), None, None
    before, turn = turns.upto(thread, asked.question)
    followed: Followed | None = st.session_state.get(_FOLLOWED)
    if followed is not None and followed.asked != asked.question:
        followed = st.session_state[_FOLLOWED] = None
    if turn is not None:
        return before, turn, followed
    if followed is None:
        turns.leave()
        return (), None, None
    turn = Turn(followed.question, asked.question, asked.quick, id=followed.replaces)
    places = [
        place for place, earlier in enumerate(thread.turns) if earlier.id == followed.replaces
    ]
    if places:
        turns.put_or_say(library, turn)
        return thread.turns[: places[0]], turn, followed
    _, turn = turns.add(library, thread, turn, asked.collections)
    return thread.turns, turn, followed


def is_open() -> bool:
    """Return whether the follow-up box was opened for this question."""
    return bool(st.session_state.get(_OPEN)) and _question() == st.session_state[_OPEN]


def draw_change(turn: Turn | None) -> None:
    """Draw the box for editing the rewritten question, if it was opened."""
    if turn is None or st.session_state.get(_CHANGE) != turn.id:
        return
    key = f"asked_as_{turn.id}"
    state.start(**{key: turn.asked})
    st.text_input(
        "Search instead for", key=key,
        on_change=lambda: _ask_again(turn, str(st.session_state.get(key) or "")),
    )  # fmt: skip


def draw() -> None:
    """Draw the box for a follow-up."""
    st.text_input(
        "Ask a follow-up", key=_BOX, placeholder="Ask a follow-up …",
        label_visibility="collapsed", on_change=_typed,
    )  # fmt: skip


def act(library: Library, values: Mapping[str, str]) -> bool:
    """Handle a click on the buttons of a follow-up; return whether it was one."""
    verb = values.get("rk", "")
    if verb == "follow-up":
        st.session_state[_OPEN] = _question()
        return True
    if verb not in ("as-typed", "change-asked"):
        return False
    thread = turns.current(library)
    turn = turns.upto(thread, _question())[1] if thread else None
    if turn is not None and verb == "as-typed":
        _ask_again(turn, turn.question)
    elif turn is not None:
        st.session_state[_CHANGE] = turn.id
    return True


def _question() -> str:
    return str(st.session_state.get(state.QUESTION) or "")


def _typed() -> None:
    typed = str(st.session_state.get(_BOX) or "")
    st.session_state[_BOX] = ""
    followed: Followed | None = st.session_state.get(_FOLLOWED)
    if followed is not None and followed.question == typed and question_box.is_behind():
        return  # It has been asked: the browser has not emptied the box yet.
    st.session_state[_TYPED] = typed
    st.session_state[_OPEN] = None


def _ask_again(turn: Turn, asked: str) -> None:
    """Ask a turn in other words, in its place."""
    st.session_state[_CHANGE] = None
    if asked.strip() and asked != turn.asked:
        before: Followed | None = st.session_state.get(_FOLLOWED)
        carried = before.carried if before else ()
        st.session_state[_REASK] = Followed(turn.question, asked.strip(), carried, turn.id)
