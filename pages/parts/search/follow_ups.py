"""Questions that follow an answer: rewritten to stand alone, shown, changed and taken back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st

from pages.parts.common import state
from pages.parts.search import turns
from ragkit.answers import Source, Turn
from ragkit.library import Library
from ragkit.results import Answer

_LAST, _OPEN = "answer_last", "follow_up_open"
_BOX, _TYPED, _REASK, _FOLLOWED = "follow_up", "follow_up_typed", "asked_again", "followed"


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked on the page and found; ``is_new`` says that it was not there before."""

    question: str
    answer: Answer
    quick: tuple[Source, ...]
    collections: tuple[str, ...]
    is_new: bool


@dataclass(frozen=True, slots=True)
class Followed:
    """A follow-up: as it was typed, and as it is asked.

    ``carried`` are the sentences that the answer before rests on; ``replaces`` is the id of the
    turn that it takes the place of.
    """

    question: str
    asked: str
    carried: tuple[Source, ...] = ()
    replaces: int = 0


def take(library: Library) -> None:
    """Take what was asked under the answer, before the box is drawn: it shows what is asked now.

    A model may take seconds to rewrite it.
    """
    last: Asked | None = st.session_state.get(_LAST)
    typed = str(st.session_state.pop(_TYPED, "")).strip()
    followed: Followed | None = st.session_state.pop(_REASK, None)
    if followed is None and typed and last is not None:
        thread = turns.current(library)
        before, turn = turns.upto(thread, last.question) if thread else ((), None)
        if thread is None or turn is None:
            whole = Turn(last.question, last.question, last.quick)
            thread, turn = turns.add(library, None, whole, last.collections)
            before = ()
        with st.spinner("Reading the question …"):
            made = library.answers.follow_up(replace(thread, turns=(*before, turn)), typed)
        followed = Followed(typed, made.rewritten, made.carried)
    if followed is not None:
        st.session_state[_FOLLOWED] = followed
        st.session_state[state.QUESTION] = followed.asked


def turn_of(
    library: Library, asked: Asked
) -> tuple[tuple[Turn, ...], Turn | None, Followed | None]:
    """Return the turn that a question is, the turns before it, and how it followed them.

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
    places = [place for place, one in enumerate(thread.turns) if one.id == followed.replaces]
    if places:
        turns.put(library, turn)
        return thread.turns[: places[0]], turn, followed
    _, turn = turns.add(library, thread, turn, asked.collections)
    return thread.turns, turn, followed


def draw_asked(turn: Turn | None) -> None:
    """Draw how a follow-up is asked, where that is not as it was typed: to change or take back."""
    if turn is None or turn.question == turn.asked:
        return
    with st.container(key="asked-as", horizontal=True, vertical_alignment="bottom"):
        key = f"asked_as_{turn.id}"
        st.text_input(
            "Searched as", value=turn.asked, key=key,
            on_change=lambda: _ask_again(turn, str(st.session_state.get(key) or "")),
        )  # fmt: skip
        st.button(
            "Search as typed", key="as-typed", type="tertiary", help=f"“{turn.question}”",
            on_click=_ask_again, args=(turn, turn.question),
        )  # fmt: skip


def draw_box(is_open: bool) -> None:
    """Draw the box for a question that follows, under an answer or where it was asked for."""
    if not is_open and not st.session_state.get(_OPEN):
        return
    st.text_input(
        "Ask a follow-up", key=_BOX, placeholder="Ask a follow-up …",
        label_visibility="collapsed", on_change=_typed,
    )  # fmt: skip


def act(values: Mapping[str, str]) -> bool:
    """Handle a click that asks for the box; returns whether it was one."""
    if values.get("rk") != "follow-up":
        return False
    st.session_state[_OPEN] = True
    return True


def _typed() -> None:
    st.session_state[_TYPED] = st.session_state.get(_BOX) or ""
    st.session_state[_BOX] = ""
    st.session_state[_OPEN] = False


def _ask_again(turn: Turn, asked: str) -> None:
    """Ask a turn in other words, in its place."""
    if asked.strip() and asked != turn.asked:
        before: Followed | None = st.session_state.get(_FOLLOWED)
        carried = before.carried if before else ()
        st.session_state[_REASK] = Followed(turn.question, asked.strip(), carried, turn.id)
