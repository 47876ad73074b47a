"""Suggestions under the search box; what they say comes from ``ragkit.library.suggestions``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import streamlit as st


@cache
def _script() -> str:
    return Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def under_the_box(collections: Sequence[str]) -> None:
    """Offer suggestions from these collections while a question is typed."""
    # In the page itself, not in a shadow root: the box names the list by its id.
    component = st.components.v2.component("ragkit_suggestions", js=_script(), isolate_styles=False)
    component(key="suggestions", data={"collections": list(collections)})
