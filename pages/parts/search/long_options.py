"""The settings of a long question, in its popover."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import streamlit as st

from pages.parts.common import labels as wording
from pages.parts.common import state
from ragkit.library import Library
from ragkit.options import IndexMode, SearchOptions
from ragkit.retrieval.merge import Dedup, Merge
from ragkit.retrieval.multi_query import ChunkedOptions
from ragkit.retrieval.query_segmentation import CutMethod, CutSettings

_METHODS = {
    "Where the topic changes": CutMethod.ADAPTIVE,
    "By size": CutMethod.FIXED,
    "Not at all": CutMethod.WHOLE,
}
_MERGES = {"Topics in turn": Merge.FAIR, "Best scores first": Merge.SCORE}
_DEDUPS = {"a document": Dedup.DOCUMENT, "a section": Dedup.SECTION, "Keep all": Dedup.NONE}

_NPROBE = "How widely the approximate index is searched: more finds more, and takes longer."
_OVERFETCH = "How many candidates the approximate index brings for each that is kept."


def controls(library: Library, left_out: Iterable[int]) -> tuple[SearchOptions, ChunkedOptions]:
    """Draw the settings; give what they say."""
    first = library.chunked_options()
    names = [one.name for one in library.collections()] or [library.settings.collection]
    collections = names
    if len(names) > 1:
        chosen = _choice("Collection", "collection", {**{n: n for n in names}, state.ALL: ""}, "")
        collections = [chosen] if chosen else names
    changes: dict[str, Any] = {"exclude": frozenset(left_out)}
    changes["limit"] = _slider("Results", "limit", 1, 50, first.limit)
    changes["hits_per_piece"] = _slider("Hits a piece", "hits", 1, 50, first.hits_per_piece)
    method = _choice("Cut the text", "method", _METHODS, first.cut.method)
    size, overlap = first.cut.piece_tokens, first.cut.overlap_tokens
    if method is CutMethod.FIXED:
        size = _slider("Tokens a piece", "size", 50, 4000, size)
        overlap = _slider("Tokens repeated", "overlap", 0, 500, overlap)
    changes["cut"] = CutSettings(method, size, overlap)
    changes["merge"] = _choice("Merge", "merge", _MERGES, first.merge)
    changes["dedup"] = _choice("Keep the best of", "dedup", _DEDUPS, first.dedup)
    if changes["dedup"] is not Dedup.NONE:
        changes["per_document"] = _slider("How many of each", "each", 1, 10, first.per_document)
    changes["min_similarity"] = _slider("Least similarity", "least", 0.0, 1.0, first.min_similarity)
    changes["whole_weight"] = _slider(
        "Weight of the whole text", "whole", 0.0, 2.0, first.whole_weight
    )
    changes["mode"] = _choice(
        "Vectors are searched", "mode", wording.by_words(wording.INDEXES), first.mode
    )
    if changes["mode"] is IndexMode.ANN:
        changes["nprobe"] = _slider("nprobe", "nprobe", 1, 256, first.nprobe, _NPROBE)
        changes["overfetch"] = _slider("Overfetch", "overfetch", 1, 20, first.overfetch, _OVERFETCH)
    variety = None
    state.start(long_option_mmr=False)
    if st.toggle("Prefer variety (MMR)", key="long_option_mmr", persist_state="session"):
        variety = _slider("Relevance against variety", "lambda", 0.0, 1.0, 0.7)
    options = library.options(collections=tuple(collections), mmr_lambda=variety)
    return options, library.chunked_options(**changes)


def _choice(label: str, key: str, choices: dict[str, Any], first: Any) -> Any:
    name = f"long_option_{key}"
    state.start(**{name: next(word for word, one in choices.items() if one == first)})
    return choices[st.selectbox(label, list(choices), key=name, persist_state="session")]


def _slider(label: str, key: str, low: Any, high: Any, first: Any, help_: str = "") -> Any:
    name = f"long_option_{key}"
    state.start(**{name: min(max(first, low), high)})
    step = 0.05 if isinstance(low, float) else 1
    return st.slider(
        label, low, high, step=step, key=name, help=help_ or None, persist_state="session"
    )
