"""Searches: the log of what was asked, how it went, and how long it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.parts.common import browser, dialog, frame, markup, state
from pages.parts.searches import again, search_lists
from ragkit.errors import RagkitError
from ragkit.library import Library
from ragkit.library.search_figures import figures, repeated, slowest
from ragkit.library.search_log import LoggedSearch

_KEPT = "searches_kept"
_CLEAR = "clear-searches"


def draw() -> None:
    """Draw the whole page."""
    library = frame.begin()
    state.start(**{state.SEARCHES_SHOWN: "all", state.SEARCHES_DAYS: 30, state.SEARCHES_OPEN: ""})
    browser.listen(lambda values: act(library, values))
    with st.container(key="page-wide"):
        st.html('<p class="rk-crumb"><a href="health" target="_self">‹ Health</a></p>')
        st.html("<h1>Searches</h1>")
        try:
            anything = bool(library.searches.log())
        except RagkitError as error:
            st.html(markup.problem(error.message, error.cure))
            return
        head(library, anything=anything)
        if anything:
            listed(library)
        elif library.searches.kept:
            st.html(
                markup.state(
                    "No searches yet",
                    "Searches appear here as they are made: on these pages, by commands, and by "
                    "programs.",
                )
            )
    if dialog.current()[0] == _CLEAR:
        clear(library)


def act(library: Library, values: Mapping[str, str]) -> None:
    """Handle a click in a table."""
    if values.get("rk") == "forget":
        with frame.toasted():
            library.searches.remove(values["question"])
            st.session_state[state.SEARCHES_OPEN] = ""


def head(library: Library, *, anything: bool) -> None:
    """Draw an explanation of the log, its switch, and the button that clears it."""
    history = library.searches
    st.html(search_lists.explained(allowed=history.allowed, kept=history.kept))
    if history.trouble:
        st.html(markup.notices([history.trouble]))
    if not history.allowed:
        return
    st.session_state[_KEPT] = history.kept
    with st.container(horizontal=True, vertical_alignment="center", key="searches-tools"):
        st.toggle("Keep a log of searches", key=_KEPT, on_change=switch, args=(library,))
        st.button(
            "Clear …", key="searches-clear", type="tertiary", disabled=not anything,
            on_click=dialog.ask, args=(_CLEAR,),
        )  # fmt: skip


def switch(library: Library) -> None:
    """Switch the log on or off, as the toggle is."""
    with frame.toasted():
        library.searches.switch(on=bool(st.session_state[_KEPT]))


@dialog.titled(_CLEAR, "Clear the log of searches?")
def clear(library: Library) -> None:
    """Ask for confirmation."""
    st.html(
        "<p>All searches are deleted from this machine, with those of programs, and the recent "
        "searches of the home page. Pinned searches stay.</p>"
    )
    dialog.answers("Clear", "Cancel", _CLEAR, library.searches.clear)


def listed(library: Library) -> None:
    """Draw the figures of the chosen days, and the chosen list of searches."""
    with st.container(horizontal=True, vertical_alignment="center", key="searches-filters"):
        show = st.segmented_control(
            "List", list(state.SEARCH_LISTS), key=state.SEARCHES_SHOWN, required=True,
            format_func=state.SEARCH_LISTS.__getitem__, label_visibility="collapsed",
            on_change=begin_again,
        )  # fmt: skip
        days = st.selectbox(
            "Days", list(state.SEARCH_DAYS), key=state.SEARCHES_DAYS, width=170,
            format_func=state.SEARCH_DAYS.__getitem__, label_visibility="collapsed",
            on_change=begin_again,
        )  # fmt: skip
    searches = library.searches.log(int(days))
    st.html(search_lists.figures(figures(searches)))
    if show == "repeated":
        same = repeated(searches)
        shown = same[state.page_of(len(same), search_lists.PAGE, state.SEARCHES_PAGE)]
        urls = {question.last.id: again.url(library, question.last) for question in shown}
        drawn = search_lists.repeated_table(shown, urls)
    else:
        drawn = one_by_one(library, searches, str(show))
    st.html(drawn)


def one_by_one(library: Library, searches: Sequence[LoggedSearch], show: str) -> str:
    """Draw the pages of a list of single searches; return the page that is shown."""
    if show == "slow":
        searches = slowest(searches)
    elif show == "vain":
        searches = [search for search in searches if search.in_vain]
    part = state.page_of(len(searches), search_lists.PAGE, state.SEARCHES_PAGE)
    shown = searches[part]
    place = search_lists.Place(
        show, int(st.session_state[state.SEARCHES_DAYS]), 1 + part.start // search_lists.PAGE,
        st.session_state[state.SEARCHES_OPEN],
    )  # fmt: skip
    opened = next((search for search in shown if search.id == place.opened), None)
    below = ""
    if opened is not None:
        records = library.documents.records([result.document_id for result in opened.shown])
        below = search_lists.details(opened, records)
    return search_lists.table(
        shown, {search.id: again.url(library, search) for search in shown}, place, below
    )


def begin_again() -> None:
    """Show the first page of another list, with nothing opened."""
    st.session_state[state.SEARCHES_PAGE] = 1
    st.session_state[state.SEARCHES_OPEN] = ""


draw()
