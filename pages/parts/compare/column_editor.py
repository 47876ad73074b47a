"""The controls of a compared column."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import streamlit as st

from pages.parts.common.option_controls import balance, control
from pages.parts.library.embedder_choice import label
from ragkit.evaluation.search_config import COLUMN_OPTIONS, ColumnSettings

_BEFORE_BALANCE = ("mode", "contexts", "fusion")
_AFTER_BALANCE = (
    "rerank",
    "index",
    "granularity",
    "expansion",
    "per_document",
    "near_duplicates",
    "semantic_threshold",
    "mmr_lambda",
)


def edit(column: ColumnSettings, prefix: str, embedders: list[str]) -> ColumnSettings:
    """Draw the controls of one column, and return its settings.

    Their keys begin with ``prefix``; ``embedders`` are those that can be asked, the usual first.
    """
    options = column.options

    def draw(*names: str) -> dict[str, Any]:
        return {
            name: control(COLUMN_OPTIONS[name], getattr(options, name), f"{prefix}-{name}")
            for name in names
        }

    changes = draw(*_BEFORE_BALANCE)
    changes |= balance(options, f"{prefix}-balance")
    changes |= draw(*_AFTER_BALANCE)
    chunked = control(COLUMN_OPTIONS["chunked"], column.chunked, f"{prefix}-chunked")
    embedder = column.embedder
    choices = list(dict.fromkeys(["", *embedders[1:], *filter(None, [embedder])]))
    if len(choices) > 1:
        embedder = st.selectbox(
            COLUMN_OPTIONS["embedder"].label, choices, index=choices.index(embedder),
            key=f"{prefix}-embedder", help=COLUMN_OPTIONS["embedder"].help,
            format_func=lambda name: label(name) if name else f"{label(embedders[0])}, as usual",
        )  # fmt: skip
    return ColumnSettings(replace(options, **changes), chunked, embedder)
