"""The names of everything that a session remembers, and its first values, in one place."""

from __future__ import annotations

from typing import Any

import streamlit as st

QUESTION = "q"
COLLECTION = "collection"
MODE = "mode"
ONE_EACH = "one_each"
OPENED_GAPS = "opened_gaps"
OPENED_MORE = "opened_more"
ASKED = "asked"
GO = "go"
ACTIVE = "active_collection"
UPLOADERS = "uploaders"

ALL = "All collections"


def start(**values: Any) -> None:
    """Give keys their first values; what is there already stays."""
    for key, value in values.items():
        if key not in st.session_state:
            st.session_state[key] = value


def go(page: str, **query: object) -> None:
    """Ask for another page; it is switched to when the current run begins."""
    st.session_state[GO] = (page, {name: str(value) for name, value in query.items() if value})


def follow() -> None:
    """Switch to the page that was asked for, if one was."""
    wanted = st.session_state.pop(GO, None)
    if wanted:
        st.switch_page(wanted[0], query_params=wanted[1])


def forget_options() -> None:
    """Let the Search page begin with a collection's settings again, after they have changed."""
    for key in [one for one in st.session_state if str(one).startswith("option_")]:
        del st.session_state[key]
    for key in (MODE, ONE_EACH):
        st.session_state.pop(key, None)
