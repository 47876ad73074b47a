"""The settings of a long question, in its popover."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import streamlit as st

from pages.parts.common import state
from pages.parts.common.option_controls import control
from ragkit.library import Library
from ragkit.options import (
    CHUNKED_OPTIONS,
    SEARCH_OPTIONS,
    ChunkedOptions,
    CutMethod,
    Dedup,
    IndexMode,
    SearchOptions,
)

_KEY = "long_option"


def controls(library: Library, left_out: Iterable[int]) -> tuple[SearchOptions, ChunkedOptions]:
    """Draw the settings; return the options that they say."""
    first = library.chunked_options()
    names = [record.name for record in library.collections()] or [library.settings.collection]
    collections = names
    if len(names) > 1:
        chosen = st.selectbox(
            "Collection", [*names, state.ALL], key=f"{_KEY}_collection", persist_state="session"
        )
        collections = names if chosen == state.ALL else [chosen]
    changes: dict[str, Any] = {"exclude": frozenset(left_out)}

    def draw(*options: str) -> None:
        for name in options:
            changes[name] = control(
                CHUNKED_OPTIONS[name],
                getattr(first, name),
                f"{_KEY}_{name}",
                persist_state="session",
            )

    draw("limit", "hits_per_piece", "method")
    if changes["method"] is CutMethod.FIXED:
        draw("piece_tokens", "overlap_tokens")
    draw("merge", "dedup")
    if changes["dedup"] is not Dedup.NONE:
        draw("per_document")
    draw("min_similarity", "whole_weight", "mode")
    if changes["mode"] is IndexMode.ANN:
        draw("nprobe", "overfetch")
    diversity = control(
        SEARCH_OPTIONS["mmr_lambda"], None, f"{_KEY}_mmr_lambda", persist_state="session"
    )
    options = library.options(collections=tuple(collections), mmr_lambda=diversity)
    return options, library.chunked_options(**changes)
