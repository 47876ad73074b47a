"""The dialog that is open. It is kept in the session: the page may rerun meanwhile."""

from __future__ import annotations

from typing import Any

import streamlit as st

_OPEN = "open_dialog"


def ask(kind: str, *about: Any) -> None:
    """Open a dialog: which one, and what it is about."""
    st.session_state[_OPEN] = (kind, *about)


def close() -> None:
    """Close the open dialog."""
    st.session_state.pop(_OPEN, None)


def current() -> tuple[Any, ...]:
    """Return the open dialog and what it is about; its name is empty when none is open."""
    opened: tuple[Any, ...] = st.session_state.get(_OPEN, ("",))
    return opened


def submits(yes: str, no: str, key: str) -> bool:
    """Draw the buttons of a dialog's form; return whether ``yes`` was chosen. ``no`` closes it."""
    with st.container(horizontal=True):
        chosen = st.form_submit_button(yes, type="primary", key=f"{key}-yes")
        if st.form_submit_button(no, key=f"{key}-no", on_click=close):
            st.rerun()
    return chosen


def answers(yes: str, no: str, key: str, *, disabled: bool = False) -> bool:
    """Draw a dialog's buttons; return whether ``yes`` was chosen. ``no`` closes it."""
    with st.container(horizontal=True):
        chosen = st.button(yes, type="primary", key=f"{key}-yes", disabled=disabled)
        if st.button(no, key=f"{key}-no", on_click=close):
            st.rerun()
    return chosen
