"""Keys of the session state, and moving between pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

QUESTION = "q"
COLLECTION = "collection"
MODE = "mode"
OPENED_GAPS = "opened_gaps"
OPENED_MORE = "opened_more"
OPENED_SIMILAR = "opened_similar"
OPENED_PASSAGES = "opened_passages"
ASKED = "asked"
AS_TYPED = "as_typed"
"""The one question that is asked as typed: no spelling corrected, nothing read as a filter."""
TYPED = "typed"
PUT = "put"
"""The ``Put`` of the question that the page itself put into its box last (``question.py``)."""
THREAD = "thread"
"""The id of the thread that the question belongs to, or None."""
WRITE_ALWAYS = "write_always"
GO = "go"
PAGE = "page"
ACTIVE = "active_collection"
GONE = "gone_collection"
"""The collection that the address named and that is gone, and the question at that time."""
UPLOADERS = "uploaders"

SEARCHES_SHOWN, SEARCHES_DAYS, SEARCHES_PAGE, SEARCHES_OPEN = (
    f"searches_{name}" for name in ("shown", "days", "page", "open")
)
SEARCH_LISTS = {
    "all": "All",
    "slow": "Slowest",
    "vain": "Nothing found",
    "repeated": "Repeated",
}
"""The lists of the Searches page, as its address and as the page call them."""
SEARCH_DAYS = {1: "Last day", 7: "Last 7 days", 30: "Last 30 days", 90: "Last 90 days"}
"""Of how many days the Searches page shows searches."""

ALL = "All collections"
EVERY_STATUS = "all"
RENDERED, AS_TEXT = "rendered", "text"
"""The views of a document."""


@dataclass(frozen=True, slots=True)
class Put:
    """What a page put into the box, and the texts that the browser may still have in it.

    ``since`` is when a run with it came to its end.
    """

    question: str
    before: frozenset[str] = frozenset()
    since: float | None = None


def start(**values: Any) -> None:
    """Set keys to their first values; existing values stay."""
    for key, value in values.items():
        if key not in st.session_state:
            st.session_state[key] = value


def page_of(count: int, size: int, key: str) -> slice:
    """Draw the pages of a list where there are several; return the part that is shown."""
    pages = -(-count // size)
    if st.session_state.get(key, 1) > pages:
        st.session_state[key] = 1
    page = st.pagination(pages, key=key) if pages > 1 else 1
    return slice((page - 1) * size, page * size)


def go(page: str, **query: object) -> None:
    """Request another page; the next run switches to it."""
    st.session_state[GO] = (page, {name: str(value) for name, value in query.items() if value})


def follow() -> None:
    """Switch to the requested page, if there is one."""
    request = st.session_state.pop(GO, None)
    if request:
        st.switch_page(request[0], query_params=request[1])


def forget_options() -> None:
    """Reset the Search page to a collection's settings, after they have changed."""
    forget("option_")
    st.session_state.pop(MODE, None)


def forget(prefix: str) -> None:
    """Delete the keys that begin with a prefix."""
    for key in [key for key in st.session_state if str(key).startswith(prefix)]:
        del st.session_state[key]
