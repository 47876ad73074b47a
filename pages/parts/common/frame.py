"""The frame around every page: its look, the library, the status, and errors in words."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import streamlit as st
from streamlit.navigation.page import Page
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.parts.common import address, browser, dialog, markup, question, state
from pages.parts.common.markup import name
from ragkit.catalog.records import JobRecord
from ragkit.errors import FolderGoneError, RagkitError
from ragkit.formatting import plural
from ragkit.indexing.progress import Progress
from ragkit.library import Library
from ragkit.settings import Settings, load_settings

_FRAMED = "framed"
_UNSETTLED = {"offline": "not connected", "held": "to decide on"}
_BUSY_SECONDS, _IDLE_SECONDS = 1, 5
logger = logging.getLogger(__name__)


def begin() -> Library:
    """Begin a page within the frame, or go to the page that was requested; return the library.

    Raises:
        RagkitError: when the settings are not valid or the library cannot be used.
    """
    _require_frame()
    state.follow()
    library = open_library()
    if not address.take(library) and not question.is_on_its_way():
        address.keep(library)
    st.set_page_config(
        page_title=_title(library),
        layout="wide",
        initial_sidebar_state="collapsed",
        menu_items={"about": "ragkit: a private search engine for your own documents."},
    )
    return library


def part(draw: Callable[[], None]) -> Callable[[], None]:
    """Make a part of a page that is redrawn alone when the person uses one of its widgets.

    The rest of the page is not sent again. The address and the title follow as on a whole page.
    """

    @st.fragment
    @wraps(draw)
    def drawn() -> None:
        with guarded():
            context = get_script_run_ctx()
            alone = context is not None and bool(context.fragment_ids_this_run)
            library = open_library()
            if alone:
                state.follow()  # a click elsewhere may come with it, and asks for another page
                if not question.is_on_its_way():
                    address.keep(library)
                st.set_page_config(page_title=_title(library))
            title = _title(library)
            draw()
            if alone:
                address.keep(library)
            if _title(library) != title:  # a follow-up is another question when it has been read
                st.set_page_config(page_title=_title(library))

    return drawn


def _title(library: Library) -> str:
    """Return the title of the browser tab: the question, the document's title, or the page."""
    page = st.session_state[state.PAGE]
    about = page.capitalize()
    if page in ("search", "compare"):
        about = " ".join(str(st.session_state.get(state.QUESTION) or "").split())[:80] or about
    elif page == "document" and st.query_params.get("id", "").isdecimal():
        records = library.documents.records([int(st.query_params["id"])])
        about = next((each.title or each.path for each in records.values()), about)
    return "ragkit" if about == "Search" else f"{about} · ragkit"


def open_library() -> Library:
    """Return the library that the settings name, opened once a server and created if missing.

    Raises:
        SettingsError: when a setting is not valid.
        LibraryError: when the library cannot be used, or its folder is gone.
    """
    library = _opened(load_settings())
    if not library.paths.root.is_dir():
        raise FolderGoneError
    return library


@st.cache_resource(
    show_spinner="Opening the library …",
    # A key is no part of what settings show.
    hash_funcs={
        Settings: lambda settings: (settings.model_dump_json(), settings.web.key.get_secret_value())
    },
    on_release=lambda library: library.close(),
    max_entries=4,
)
def _opened(settings: Settings) -> Library:
    library = Library.open(settings, create=True)
    library.start_readers(settings.server.readers)
    # What it finds is known by the time a question is answered.
    library.ollama.look()
    return library


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
                "pages/searches.py", title="Searches", url_path="searches", visibility="hidden"
            ),
            st.Page(
                "pages/document.py", title="Document", url_path="document", visibility="hidden"
            ),
        ],
        position="top",
    )


def run(page: Page) -> None:
    """Run a page within the frame, then write its state into the address."""
    st.session_state[_FRAMED] = True
    requested = page.url_path or "search"
    if st.session_state.get(state.PAGE) != requested:
        dialog.close()
    st.session_state[state.PAGE] = requested
    page.run()
    address.keep(open_library())


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
    question.end_run()


@contextmanager
def toasted() -> Iterator[None]:
    """Show in a toast why what a click asks for is not possible."""
    try:
        yield
    except RagkitError as error:
        st.toast(markup.as_label(str(error)))


def click(work: Callable[..., object]) -> Callable[..., None]:
    """Return what a button does: ``work``, or a toast that says why it is not possible.

    Buttons act in callbacks, never in the run that they start: such a run can be broken off by
    another one before it comes to the button, and what was clicked would be lost.
    """

    def act(*about: Any) -> None:
        with toasted():
            work(*about)

    return act


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
    try:
        words, style_, busy = _activity(library)
    except FolderGoneError:
        # Drawn as a whole, the page says what to do.
        st.rerun(scope="app")
    with st.container(key="status"):
        st.html(f'<span class="rk-status {style_}" role="status">{words}</span>')
        browser.pulse("status-pulse", _BUSY_SECONDS if busy else _IDLE_SECONDS)


def _activity(library: Library) -> tuple[str, str, bool]:
    """Return the status in words, its style, and whether the worker is busy."""
    now = library.jobs.progress()
    # Serve starts another within seconds.
    if not library.worker.state().running:
        return "not running", "rk-off", False
    if now is not None:
        return brief(*now), "rk-busy", True
    unsettled = library.sources.unsettled()
    for state_, words in _UNSETTLED.items():
        if count := unsettled.get(state_):
            return f"{plural(count, 'folder')} {words}", "rk-off", False
    if library.jobs.recognition().waiting:
        return "recognising scanned text", "rk-busy", True
    if failed := library.contexts.count_failed():
        return f"{plural(failed, 'context')} failed", "rk-off", False
    return "up to date", "", False


def brief(job: JobRecord, progress: Progress) -> str:
    """Return ``reading 12 of 40 · about 5 s left`` for the header."""
    phase = progress.phase or "starting"
    phase = name(phase[0].lower() + phase[1:])
    far = markup.figure(job.id, progress.done, progress.total, progress.seconds_left)
    return f"{phase} {far}".rstrip()
