"""The dialog that is open. It is kept in the session: the page may rerun meanwhile.

Buttons work in callbacks, and the reason why a click had no effect is kept as well: a sentence that
only that click had drawn would be gone when the dialog is drawn again.

A page does not rerun of itself while a dialog is open: Streamlit takes the dialog off the screen
and opens it anew, and who is typing in it would lose the cursor.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal

import streamlit as st

from pages.parts.common import markup
from ragkit.errors import RagkitError

_OPEN, _REFUSED = "open_dialog", "dialog_refused"


def ask(kind: str, *about: Any) -> None:
    """Open a dialog: which one, and what it is about."""
    st.session_state[_OPEN] = (kind, *about)
    go_on()


def close() -> None:
    """Close the open dialog."""
    st.session_state.pop(_OPEN, None)
    go_on()


def go_on() -> None:
    """Forget why the last click had no effect: the person does something else now."""
    st.session_state.pop(_REFUSED, None)


def rerun_page() -> None:
    """Rerun the page of its own accord, unless a dialog is open in front of it."""
    if _OPEN not in st.session_state:
        st.rerun(scope="app")


def current() -> tuple[Any, ...]:
    """Return the open dialog and what it is about; its name is empty when none is open."""
    opened: tuple[Any, ...] = st.session_state.get(_OPEN, ("",))
    return opened


def titled(
    kind: str, title: str, *, width: Literal["small", "medium", "large"] = "small"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Draw a function as the dialog of a kind, with why the last click had no effect below it."""

    def as_dialog(draw: Callable[..., None]) -> Callable[..., None]:
        @st.dialog(title, on_dismiss=close, width=width)
        @wraps(draw)
        def drawn(*about: Any) -> None:
            try:
                if current()[0] == kind:
                    draw(*about)
            except RagkitError as error:
                # What it is about is gone: a dialog is drawn apart from the page, which says so.
                st.session_state[_REFUSED] = str(error)
            if current()[0] != kind:
                st.rerun()
            if refused := st.session_state.get(_REFUSED):
                st.html(markup.notices([refused]))

        return drawn

    return as_dialog


def ends(work: Callable[[], object]) -> Callable[[], None]:
    """Return a callback that does something and closes the dialog, unless that opened another one.

    Where it is not possible, the dialog stays and says why.
    """

    def act() -> None:
        before = current()
        try:
            work()
        except RagkitError as error:
            st.session_state[_REFUSED] = str(error)
            return
        if current() == before:
            close()

    return act


def answers(
    yes: str, no: str, key: str, work: Callable[[], object], *, disabled: bool = False
) -> None:
    """Draw a dialog's buttons: ``yes`` does what is asked for, ``no`` only closes it."""
    with st.container(horizontal=True):
        st.button(yes, type="primary", key=f"{key}-yes", disabled=disabled, on_click=ends(work))
        st.button(no, key=f"{key}-no", on_click=close)


def submits(yes: str, key: str, work: Callable[[], object], no: str = "") -> None:
    """Draw the buttons of a dialog's form, which sends what is typed together with the click."""
    with st.container(horizontal=True):
        st.form_submit_button(yes, type="primary", key=f"{key}-yes", on_click=ends(work))
        if no:
            st.form_submit_button(no, key=f"{key}-no", on_click=close)
