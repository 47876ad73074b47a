"""The frame around every page: its look, the library, the status, and errors in words."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.navigation.page import Page

from pages.parts.common import browser, markup, state
from pages.parts.common.markup import name, number
from ragkit.errors import RagkitError
from ragkit.indexing.progress import Progress
from ragkit.library import Library
from ragkit.settings import Settings, load_settings

_FRAMED = "framed"
_BUSY_SECONDS, _IDLE_SECONDS, _RESTART_SECONDS = 1, 5, 15
logger = logging.getLogger(__name__)


def begin() -> Library:
    """Begin a page within the frame, or go to the page that was requested; return the library.

    Raises:
        RagkitError: when the settings are not valid or the library cannot be used.
    """
    _require_frame()
    state.follow()
    return open_library()


def open_library() -> Library:
    """Return the library that the settings name, opened once a server and created if missing.

    Raises:
        SettingsError: when a setting is not valid.
        LibraryError: when the library cannot be used.
    """
    return _opened(load_settings())


@st.cache_resource(
    show_spinner="Opening the library …",
    hash_funcs={Settings: lambda settings: settings.model_dump_json()},
    on_release=lambda library: library.close(),
    max_entries=4,
)
def _opened(settings: Settings) -> Library:
    library = Library.open(settings, create=True)
    library.worker.ensure_running()
    return library


@cache
def _css() -> str:
    folder = Path(__file__).parent.parent
    files = ("common/theme", "compare/compare", "evaluate/evaluate")
    return "".join((folder / f"{name}.css").read_text("utf-8") for name in files)


def style() -> None:
    """Apply the app's own styles."""
    st.html(f"<style>{_css()}</style>")


def navigation() -> Page:
    """Declare the pages in their order; return the requested one."""
    return st.navigation(
        [
            st.Page("pages/search.py", title="Search", url_path="search", default=True),
            st.Page("pages/library.py", title="Library", url_path="library"),
            st.Page("pages/compare.py", title="Compare", url_path="compare"),
            st.Page("pages/conversation.py", title="Conversation", url_path="conversation"),
            st.Page("pages/evaluate.py", title="Evaluate", url_path="evaluate"),
            st.Page("pages/health.py", title="Health", url_path="health"),
            st.Page(
                "pages/document.py", title="Document", url_path="document", visibility="hidden"
            ),
        ],
        position="top",
    )


def inside() -> None:
    """Record that the frame has been drawn around the page that runs next."""
    st.session_state[_FRAMED] = True


def _require_frame() -> None:
    """Rerun within the frame when a page was run without it.

    Until ``st.navigation`` has run once in a server, Streamlit takes each file in ``pages/`` for
    a page of its own: the first visitor with a deep link would see it bare.
    """
    if not st.session_state.pop(_FRAMED, False):
        navigation()
        st.rerun()


@contextmanager
def guarded() -> Iterator[None]:
    """Show an error as a sentence with its cure, never as a traceback."""
    try:
        yield
    except RagkitError as error:
        with st.container(key="page-refused"):
            st.html(markup.problem(error.message, error.cure))
    except Exception:
        # A bug: the log has it; the person gets a way on. Streamlit's own signals to rerun or
        # stop are not exceptions of this kind.
        logger.exception("a page failed")
        with st.container(key="page-failed"):
            st.html(
                markup.problem(
                    "Something unexpected went wrong on this page.",
                    "Load it again. If it comes back, the server's log says what happened.",
                )
            )


def status() -> None:
    """Draw the dot at the right: what the library is doing; nothing when there is no library."""
    try:
        library = open_library()
    except RagkitError:
        return
    _status(library)


@st.fragment
def _status(library: Library) -> None:
    """Update every few seconds while the tab is visible."""
    words, style_, busy = _activity(library)
    with st.container(key="status"):
        st.html(f'<span class="rk-status {style_}" role="status">{words}</span>')
        browser.pulse("status-pulse", _BUSY_SECONDS if busy else _IDLE_SECONDS)


def _activity(library: Library) -> tuple[str, str, bool]:
    """Return the status in words, its style, and whether the worker is busy."""
    running = library.worker.state().running
    if not running and _may_restart():
        running = library.worker.ensure_running()
    now = library.jobs.progress()
    if not running:
        return "not running", "rk-off", False
    if now is None:
        return "up to date", "", False
    return brief(now[1]), "rk-busy", True


def _may_restart() -> bool:
    """Return whether it is long enough since this session last started the worker."""
    last = st.session_state.get("worker_started", 0.0)
    if time.monotonic() - last < _RESTART_SECONDS:
        return False
    st.session_state["worker_started"] = time.monotonic()
    return True


def brief(progress: Progress) -> str:
    """Return ``reading 12 of 40`` for the header."""
    phase = name(progress.phase or "starting").lower()
    if not progress.total:
        return phase
    return f"{phase} {number(progress.done)} of {number(progress.total)}"


def collection_picker(
    choices: Sequence[str], key: str, start: str, fallback: str, **widget: Any
) -> str:
    """Draw a select box of collections and return the chosen one.

    It starts at ``start``, or at ``fallback`` when that is missing or the chosen one is gone.
    """
    if key not in st.session_state:
        st.session_state[key] = start if start in choices else fallback
    elif st.session_state[key] not in choices:
        st.session_state[key] = fallback
    return str(st.selectbox("Collection", choices, key=key, **widget))
