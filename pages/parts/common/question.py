"""The question that pages share: its box, and the questions that a page itself puts into it.

Each message of the browser carries the text of the box. One that was sent before the browser had
drawn what was put there still carries the text before, which is no question of a person.
"""

from __future__ import annotations

import time
from dataclasses import replace

import streamlit as st

from pages.parts.common import address, state
from ragkit.library import Library

# The browser takes over an address before it draws the box that came with it.
_DRAWING_SECONDS = 1.0


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
    put: state.Put | None = st.session_state.get(state.PUT)
    if put is not None and put.question != question:
        del st.session_state[state.PUT]
    if is_on_its_way():
        address.keep(library)
    return question


def put(question: str) -> None:
    """Put a question into the box."""
    earlier: state.Put | None = st.session_state.get(state.PUT)
    before = earlier.before if earlier is not None and is_behind() else frozenset[str]()
    now = str(st.session_state.get(state.QUESTION) or "")
    st.session_state[state.PUT] = state.Put(question, before | {now})
    st.session_state[state.QUESTION] = question


def end_run() -> None:
    """Note that a run has come to its end."""
    put: state.Put | None = st.session_state.get(state.PUT)
    if put is not None and put.since is None:
        st.session_state[state.PUT] = replace(put, since=time.monotonic())


def is_on_its_way() -> bool:
    """Return whether the address of the browser has not yet the question that was put there."""
    put: state.Put | None = st.session_state.get(state.PUT)
    return put is not None and not address.asks(put.question)


def is_behind() -> bool:
    """Return whether the browser may have sent before it had drawn what was put into the box."""
    put: state.Put | None = st.session_state.get(state.PUT)
    if put is None or put.since is None:
        return put is not None
    return is_on_its_way() or time.monotonic() - put.since < _DRAWING_SECONDS


def _changed() -> None:
    put: state.Put | None = st.session_state.get(state.PUT)
    text = str(st.session_state.get(state.QUESTION) or "")
    if put is not None and is_behind():
        is_old = text in put.before
        # Set also where it is a person's: what was put there is about to be drawn over it.
        st.session_state[state.QUESTION] = put.question if is_old else text
        if is_old:
            return
    st.session_state[state.TYPED] = True
