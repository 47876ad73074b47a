"""Scripts in the browser that belong to one page, or report to the server.

All others (``*.page.js``) are part of the served HTML; see ``page_style.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

_HANDLE = "handle_clicks"


@cache
def script(beside: str, name: str) -> str:
    """Return the text of a script; ``beside`` is a file in its folder."""
    return Path(beside).with_name(name).read_text(encoding="utf-8")


def _mount(name: str, **arguments: Any) -> None:
    component = st.components.v2.component(f"ragkit_{name}", js=script(__file__, f"{name}.js"))
    component(**arguments)


def went_back() -> bool:
    """Return whether Back or Forward led to this run of the page."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def report_clicks() -> None:
    """Report clicks on card buttons and links to the page's ``listen``.

    That belongs to the frame: a page's own script would not be there yet when the page first shows.
    """
    _mount("actions", key="actions", on_act_change=_clicked)


def listen(handle: Callable[[Mapping[str, str]], None]) -> None:
    """Call ``handle`` with the data of each card button or link of the page that is clicked."""
    st.session_state[_HANDLE] = handle


def _clicked() -> None:
    values = getattr(st.session_state.get("actions"), "act", None)
    if values:
        st.session_state[_HANDLE](values)


def pulse(key: str, seconds: float) -> None:
    """Rerun the surrounding fragment every few seconds while the tab is visible."""
    _mount("pulse", key=key, data={"seconds": seconds}, on_tick_change=lambda: None)


def scroll_to(key: str, selector: str, place: str) -> None:
    """Scroll to an element, once for each ``place``."""
    _mount("scroll", key=key, data={"selector": selector, "place": place})


def match_keys() -> None:
    """Enable the buttons and keys that move between the matched words of a text."""
    _mount("matches", key="match-keys")
