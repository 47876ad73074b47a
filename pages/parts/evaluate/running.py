"""Background work of the Evaluate page, and its progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import streamlit as st

from pages.parts.common import browser
from ragkit.evaluation.background import BackgroundTask
from ragkit.library import Library

_Task = TypeVar("_Task", bound=BackgroundTask[Any])


@st.cache_resource(max_entries=32, hash_funcs={Library: lambda library: str(library.paths.root)})
def task_of(library: Library, kind: Callable[[], _Task]) -> _Task:  # noqa: ARG001 - one for each library
    """Return the background task of a library, of the class ``kind``."""
    return kind()


def in_progress(key: str, line: str, task: BackgroundTask[Any], stopping: bool = False) -> None:
    """Draw the progress of a task beside a button that stops it, once a second."""
    with st.container(horizontal=True, vertical_alignment="center", key=key):
        st.html(line)
        st.button(
            "Cancel", key=f"{key}-cancel", type="tertiary", on_click=task.cancel, disabled=stopping
        )
    browser.pulse(f"{key}-pulse", 1)


def moved_on(key: str, now: tuple[int, ...]) -> bool:
    """Return whether the state of a task has changed since it was last drawn."""
    before = st.session_state.get(key, now)
    st.session_state[key] = now
    return bool(before != now)
