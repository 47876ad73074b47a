"""The controls of a compared column."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.parts.common.option_controls import control, search_controls
from pages.parts.library.embedder_choice import label
from ragkit.evaluation.search_config import CONFIG_OPTIONS, SearchConfig

OFFERED = (
    "mode", "contexts", "fusion", "rerank", "index", "granularity", "expansion", "per_document",
    "near_duplicates", "semantic_threshold", "mmr_lambda",
)  # fmt: skip


def edit(column: SearchConfig, prefix: str, embedders: list[str]) -> SearchConfig:
    """Draw the controls of one column, and return its settings.

    Their keys begin with ``prefix``; ``embedders`` are those that can be asked, the usual first.
    """
    options = column.options

    changes = search_controls(options, OFFERED, f"{prefix}-")
    chunked = control(CONFIG_OPTIONS["chunked"], column.chunked, f"{prefix}-chunked")
    embedder = column.embedder
    choices = list(dict.fromkeys(["", *embedders[1:], *filter(None, [embedder])]))
    if len(choices) > 1:
        embedder = st.selectbox(
            CONFIG_OPTIONS["embedder"].label, choices, index=choices.index(embedder),
            key=f"{prefix}-embedder", help=CONFIG_OPTIONS["embedder"].help,
            format_func=lambda name: label(name) if name else f"{label(embedders[0])}, as usual",
        )  # fmt: skip
    return SearchConfig(replace(options, **changes), chunked, embedder)
