"""The question that pages share: its box, and the questions that a page itself puts into it.

Each message of the browser carries the text of the box. One that was sent before the browser had
drawn what was put there still carries the text before, which is no question of a person.
"""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from pages.parts.common import address, state
from ragkit.library import Library


@dataclass(frozen=True, slots=True)
class _Put:
    """What a page put into the box, and the texts that the browser may still have in it."""

    question: str
    before: frozenset[str]


def box(library: Library, label: str, hint: str) -> str:
    """Draw the box, whose text is kept from page to page, and return the question."""
    question = st.text_input(
        label,
        type="search",
        key=state.QUESTION,
        persist_state="session",
        label_visibility="collapsed",
        placeholder=hint,
        on_change=_changed,
    )
    question = question or ""
    put: _Put | None = st.session_state.get(state.PUT)
    if put is not None and put.question != question:
        del st.session_state[state.PUT]
    if is_behind():
        address.keep(library)
    return question


def put(question: str) -> None:
    """Put a question into the box."""
    earlier: _Put | None = st.session_state.get(state.PUT)
    before = earlier.before if earlier is not None and is_behind() else frozenset()
    now = str(st.session_state.get(state.QUESTION) or "")
    st.session_state[state.PUT] = _Put(question, before | {now})
    st.session_state[state.QUESTION] = question


def is_behind() -> bool:
    """Return whether the browser has not drawn yet what was put into the box.

    Its address tells, which is written after the box.
    """
    put: _Put | None = st.session_state.get(state.PUT)
    return put is not None and not address.asks(put.question)


def _changed() -> None:
    put: _Put | None = st.session_state.get(state.PUT)
    text = str(st.session_state.get(state.QUESTION) or "")
    if put is not None and text in put.before and is_behind():
        st.session_state[state.QUESTION] = put.question
    else:
        st.session_state[state.TYPED] = True
