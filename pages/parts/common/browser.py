"""Scripts that run in the browser: actions, judging, pulse and scroll."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

_FOLDER = Path(__file__).parent


@cache
def _script(name: str) -> str:
    return (_FOLDER / f"{name}.js").read_text(encoding="utf-8")


def _mount(name: str, **arguments: Any) -> None:
    component = st.components.v2.component(f"ragkit_{name}", js=_script(name))
    component(**arguments)


def listen(key: str, handle: Callable[[Mapping[str, str]], None]) -> None:
    """Call ``handle`` with the data of each card button or link that is clicked."""

    def changed() -> None:
        state = st.session_state.get(key)
        values = getattr(state, "act", None)
        if values:
            handle(values)

    _mount("actions", key=key, on_act_change=changed)


def judging_keys(key: str) -> None:
    """Enable keys that judge and move among results, and lines that join a document's results."""
    _mount("judging", key=key)


def pulse(key: str, seconds: float) -> None:
    """Rerun the surrounding fragment every few seconds while the tab is visible."""
    _mount("pulse", key=key, data={"seconds": seconds}, on_tick_change=lambda: None)


def scroll_to(key: str, selector: str, place: str) -> None:
    """Scroll to an element, once for each ``place``."""
    _mount("scroll", key=key, data={"selector": selector, "place": place})
