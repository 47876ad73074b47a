"""The thread of the question on the page: stored in the library, or in this tab alone.

Where searches are not to be kept (``search_history``), threads are not either: they last as long as
the tab, and no address names them.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import streamlit as st

from pages.parts.common import state
from pages.parts.common.markup import as_label
from ragkit.answers import Thread, Turn, WrittenAnswer
from ragkit.errors import NotFoundError, RagkitError
from ragkit.library import Library

_OWN, _UNNAMED = "own_thread", "unnamed_threads"


def current(library: Library) -> Thread | None:
    """Return the thread that the address names, or the tab's own."""
    unnamed = _unnamed()
    named = st.session_state.get(state.THREAD)
    if unnamed and named is None:
        named = st.session_state[state.THREAD] = unnamed[-1]
    unnamed.clear()
    if named is None:
        own: Thread | None = st.session_state.get(_OWN)
        return own
    try:
        return library.threads.get(named)
    except RagkitError as error:
        st.toast(as_label(str(error)))
        leave()
        return None


def _unnamed() -> list[int]:
    """Return the ids of threads that are stored while the session does not name them yet.

    A click elsewhere breaks a run off wherever it next uses the session. The list itself is filled
    without it.
    """
    unnamed: list[int] = st.session_state.setdefault(_UNNAMED, [])
    return unnamed


def leave() -> None:
    """Leave the thread: the next question begins another."""
    st.session_state[state.THREAD] = st.session_state[_OWN] = None


def upto(thread: Thread, asked: str) -> tuple[tuple[Turn, ...], Turn | None]:
    """Return the turns before the last one that asked this question, and that one or ``None``."""
    for place in reversed(range(len(thread.turns))):
        if thread.turns[place].asked == asked:
            return thread.turns[:place], thread.turns[place]
    return thread.turns, None


def add(
    library: Library, thread: Thread | None, turn: Turn, collections: Sequence[str]
) -> tuple[Thread, Turn]:
    """Add a turn to a thread, or begin one with it; return both as they are stored.

    What cannot be stored, as in a thread that is full, lasts as long as the tab.
    """
    unnamed = _unnamed()
    if library.threads.kept or (thread is not None and thread.id):
        try:
            begun = thread or library.threads.begin(turn.question, collections)
            stored = library.threads.add(begun.id, turn)
        except RagkitError as error:
            say_not_kept(str(error))
        else:
            unnamed.append(begun.id)
            st.session_state[state.THREAD] = begun.id
            unnamed.clear()
            return replace(begun, turns=(*begun.turns, stored)), stored
    own = replace(thread, id=0) if thread else Thread(0, turn.question, tuple(collections))
    # Ids of its own: those of stored turns are above 0.
    turn = replace(turn, id=-1 - len(own.turns))
    own = replace(own, turns=(*own.turns, turn))
    st.session_state[state.THREAD], st.session_state[_OWN] = None, own
    return own, turn


def say_not_kept(why: str) -> None:
    """Say that what is shown lasts only as long as the tab."""
    st.toast(as_label(f"Not kept: {why}"))


def put_or_say(library: Library, turn: Turn) -> None:
    """Replace the stored turn with this id, or show why that failed."""
    try:
        put(library, turn)
    except RagkitError as error:
        say_not_kept(str(error))


def put(library: Library, turn: Turn) -> None:
    """Replace the stored turn with this id; do nothing if it is gone.

    Raises:
        RagkitError: it cannot be written.
    """
    if turn.id > 0:
        # Its thread may have been deleted meanwhile.
        with suppress(NotFoundError):
            library.threads.replace(turn)
        return
    own: Thread | None = st.session_state.get(_OWN)
    if own is not None:
        turns = tuple(turn if other.id == turn.id else other for other in own.turns)
        st.session_state[_OWN] = replace(own, turns=turns)


def keep_written(library: Library, turn: Turn, written: WrittenAnswer) -> None:
    """Store the finished answer to a turn; runs in a thread without a session.

    The turn may have been edited meanwhile, and asks another question.

    Raises:
        RagkitError: it cannot be written.
    """
    if turn.id > 0:
        library.threads.keep_written(replace(turn, written=written))
