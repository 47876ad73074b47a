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

OFFERED = (
    "limit", "hits_per_piece", "method", "piece_tokens", "overlap_tokens", "merge", "dedup",
    "per_document", "min_similarity", "whole_weight", "mode", "nprobe", "overfetch",
)  # fmt: skip
_KEY = "long_option"


def controls(library: Library, left_out: Iterable[int]) -> tuple[SearchOptions, ChunkedOptions]:
    """Draw the settings; return the options that they say."""
    first = library.chunked_options()
    names = [record.name for record in library.collections.list()] or [library.settings.collection]
    collections = names
    if len(names) > 1:
        chosen = st.selectbox(
            "Collection", [*names, state.ALL], key=f"{_KEY}_collection", persist_state="session"
        )
        collections = names if chosen == state.ALL else [chosen]
    changes: dict[str, Any] = {"exclude": frozenset(left_out)}
    for name in OFFERED:
        if _matters(name, changes):
            changes[name] = control(
                CHUNKED_OPTIONS[name],
                getattr(first, name),
                f"{_KEY}_{name}",
                persist_state="session",
            )
    diversity = control(
        SEARCH_OPTIONS["mmr_lambda"], None, f"{_KEY}_mmr_lambda", persist_state="session"
    )
    options = library.options(collections=tuple(collections), mmr_lambda=diversity)
    return options, library.chunked_options(**changes)


def _matters(name: str, chosen: dict[str, Any]) -> bool:
    """Return whether an option makes a difference, beside those that are chosen already."""
    if name in ("piece_tokens", "overlap_tokens"):
        return chosen["method"] is CutMethod.FIXED
    if name in ("nprobe", "overfetch"):
        return chosen["mode"] is IndexMode.ANN
    return name != "per_document" or chosen["dedup"] is not Dedup.NONE
