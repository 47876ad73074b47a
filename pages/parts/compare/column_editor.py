"""The controls of a compared column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from pages.parts.common import labels as wording
from pages.parts.library.embedder_choice import label
from ragkit.evaluation.search_config import MODES, ColumnSettings


def edit(column: ColumnSettings, prefix: str, embedders: list[str]) -> ColumnSettings:
    """The controls of one column, and what they say.

    Their keys begin with ``prefix``; ``embedders`` are those that can be asked, the usual first.
    """
    options = column.options

    def pick(title: str, name: str, choices: Mapping[Any, str]) -> Any:
        known = {**{one: one.value for one in type(getattr(options, name))}, **choices}
        listed = list(known)
        return st.selectbox(
            title, listed, index=listed.index(getattr(options, name)),
            format_func=known.__getitem__, key=f"{prefix}-{name}",
        )  # fmt: skip

    def switch(title: str, name: str, on: bool, help_: str) -> bool:
        return bool(st.toggle(title, value=on, key=f"{prefix}-{name}", help=help_))

    changes: dict[str, Any] = {
        "mode": pick("How to search", "mode", MODES),
        "contexts": pick("Context of chunks", "contexts", wording.CONTEXTS),
        "fusion": pick("Put lists together by", "fusion", wording.FUSIONS),
    }
    weights = options.vector_weight + options.keyword_weight or 1.0
    before = round(options.vector_weight / weights * 20) / 20
    meaning = st.slider(
        "Meaning against words", 0.0, 1.0, before, 0.05, key=f"{prefix}-weight",
        help="1: meaning alone counts. 0: words alone.",
    )  # fmt: skip
    if meaning != before:
        changes |= {"vector_weight": meaning, "keyword_weight": round(1 - meaning, 2)}
    changes["rerank"] = pick("Reranking", "rerank", wording.RERANKINGS)
    changes["index"] = pick("Vector index", "index", wording.INDEXES)
    changes["granularity"] = pick("Search in", "granularity", wording.GRANULARITIES)
    changes["expansion"] = pick("Show around a match", "expansion", wording.EXPANSIONS)
    one_each = switch("One result per document", "one", options.per_document == 1,
                      "Off: each matching chunk is a result of its own.")  # fmt: skip
    if one_each != (options.per_document == 1):
        changes["per_document"] = 1 if one_each else 0
    changes["near_duplicates"] = switch(
        "Fold near-identical texts", "near", options.near_duplicates, "Texts that are 95 % alike."
    )
    for name, title, usual, help_ in (
        ("semantic_threshold", "Fold texts of the same meaning", 0.95, "By the cosine of vectors."),
        ("mmr_lambda", "Prefer variety (MMR)", 0.7, "Trades some relevance for difference."),
    ):
        value = getattr(options, name)
        on = switch(title, name, value is not None, help_)
        if on != (value is not None):
            changes[name] = usual if on else None
    chunked = switch(
        "Ask topic by topic",
        "chunked",
        column.chunked,
        "Cuts a long question into its topics and merges what each finds.",
    )
    embedder = column.embedder
    listed = list(dict.fromkeys(["", *embedders[1:], *filter(None, [embedder])]))
    if len(listed) > 1:
        embedder = st.selectbox(
            "Embedder", listed, index=listed.index(embedder), key=f"{prefix}-embedder",
            format_func=lambda name: label(name) if name else f"{label(embedders[0])}, as usual",
            help="Those that have a vector of every text. Others are chosen on the Library page.",
        )  # fmt: skip
    return ColumnSettings(replace(options, **changes), chunked, embedder)
