"""Background work of the Evaluate page, and its progress."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.parts.common import browser
from ragkit.evaluation.background import (
    BackgroundAblation,
    BackgroundRuns,
    BackgroundTask,
    BackgroundWriting,
)
from ragkit.library import Library


@st.cache_resource(max_entries=8, hash_funcs={Library: lambda library: str(library.paths.root)})
def runs_of(library: Library) -> BackgroundRuns:  # noqa: ARG001 - one for each library
    """Return the background runs of a library."""
    return BackgroundRuns()


@st.cache_resource(max_entries=8, hash_funcs={Library: lambda library: str(library.paths.root)})
def writing_of(library: Library) -> BackgroundWriting:  # noqa: ARG001 - one for each library
    """Return the background writing of a library."""
    return BackgroundWriting()


@st.cache_resource(max_entries=8, hash_funcs={Library: lambda library: str(library.paths.root)})
def ablation_of(library: Library) -> BackgroundAblation:  # noqa: ARG001 - one for each library
    """Return the background ablation of a library."""
    return BackgroundAblation()


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
