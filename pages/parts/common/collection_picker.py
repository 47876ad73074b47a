"""The choice of a collection. Of very many, those are offered that match what was typed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from pages.parts.common import markup, state
from pages.parts.common.markup import number
from ragkit.library import Library
from ragkit.options import SearchOptions

MOST = 100
"""How many collections a list offers; more are found by a part of their names."""

_MORE = " more: type a part of a name"


def draw(
    library: Library,
    key: str,
    start: str,
    everything: str = "",
    then: Callable[[], None] | None = None,
    **widget: Any,
) -> str:
    """Draw a select box of collections and return the chosen one, or ``everything``.

    It starts at ``start``. Where that is missing or the chosen one is gone, it is at
    ``everything``, or at the first. ``then`` is called after a choice.
    """
    count = library.collections.count()
    named = library.collections.names(_typed(key) if count > MOST else "", MOST)
    names = list(named) or [library.settings.collection]

    def there(name: str) -> bool:
        return bool(name) and (name in (*names, everything) or library.collections.has(name))

    if not there(st.session_state.get(key, "")):
        fresh = key not in st.session_state and there(start)
        st.session_state[key] = start if fresh else everything or names[0]
    if count <= MOST:
        choices = [*names, everything] if everything else names
        return str(st.selectbox("Collection", choices, key=key, on_change=then, **widget))
    chosen = str(st.session_state[key])
    more = f"{number(count - len(names))}{_MORE}"
    choices = list(dict.fromkeys([*filter(None, [everything]), chosen, more, *names]))
    return str(
        st.selectbox(
            "Collection", choices, key=key, accept_new_options=True,
            on_change=partial(settle, library, key, chosen, everything, then), **widget,
        )
    )  # fmt: skip


def choose(library: Library, key: str, **widget: Any) -> str:
    """Return a collection, at first the active one; a choice is drawn where there are several."""
    if library.collections.count() < 2:
        return next(iter(library.collections.names(limit=1)), library.settings.collection)
    active = st.session_state.get(state.COLLECTION, library.settings.collection)
    return draw(library, key, active, **widget)


def everywhere(library: Library, options: SearchOptions) -> SearchOptions:
    """Return options with the names of all collections, if they are to be searched.

    Only a search needs all the names: there may be very many.
    """
    if options.collections:
        return options
    return replace(options, collections=tuple(library.collections.names()))


def _typed(key: str) -> str:
    return str(st.session_state.get(f"{key}-typed", ""))


def settle(
    library: Library, key: str, before: str, everything: str, then: Callable[[], None] | None
) -> None:
    """Accept a chosen or typed collection, or offer those whose names contain the typed text."""
    typed = str(st.session_state.get(key) or "")
    st.session_state[f"{key}-typed"] = ""
    if typed != everything and not library.collections.has(typed):
        st.session_state[key] = before
        if not typed or typed.endswith(_MORE):
            return
        names = library.collections.names(typed, MOST + 1)
        if len(names) != 1:
            st.session_state[f"{key}-typed"] = typed if names else ""
            many = f"More than {MOST}" if len(names) > MOST else str(len(names))
            message = f"{many} collections have “{typed}” in their names: choose one."
            none = f"No collection has “{typed}” in its name."
            st.toast(markup.as_label(message if names else none))
            return
        st.session_state[key] = names[0]
    if then is not None:
        then()
