"""The settings of a compared column: in words for people, as text for addresses and votes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from ragkit.options import (
    Contexts,
    Expansion,
    Fusion,
    Granularity,
    IndexMode,
    Mode,
    QuestionMerge,
    Rerank,
    SearchOptions,
)
from ragkit.retrieval.option_codec import understood, written

FEWEST, MOST = 2, 4
"""How many columns are compared."""

_PLAIN = SearchOptions()
_CHUNKED, _EMBEDDER = "chunked", "embedder"
_LONGEST = 2000
_NOT_ASKED = ("collections", "filters", "vector_levels", "field_weights")


@dataclass(frozen=True, slots=True)
class ColumnSettings:
    """How one column searches. ``chunked`` asks the question's topics one by one.

    ``embedder`` names one whose vectors are kept; empty is the one that answers now.
    """

    options: SearchOptions = _PLAIN
    chunked: bool = False
    embedder: str = ""


MODES: Mapping[Mode, str] = {
    Mode.HYBRID: "Meaning and words",
    Mode.KEYWORD: "Words only",
    Mode.VECTOR: "Meaning only",
}
"""What modes are called on the pages."""

# By setting and value: members of different enums with one value are equal as keys.
_VALUES: Mapping[str, Mapping[StrEnum, str]] = {
    "contexts": {
        Contexts.MODEL: "with context",
        Contexts.STRUCTURAL: "without model context",
    },
    "fusion": {Fusion.WEIGHTED: "by weighted scores", Fusion.RRF: "by ranks (RRF)"},
    "granularity": {
        Granularity.CHUNK: "chunks",
        Granularity.SECTION: "sections",
        Granularity.DOCUMENT: "whole documents",
        Granularity.AUTO: "all levels",
    },
    "expansion": {
        Expansion.CHUNK: "only the match shown",
        Expansion.NEIGHBOURS: "neighbours shown",
        Expansion.PARENT: "larger chunk shown",
        Expansion.SECTION: "section shown",
        Expansion.DOCUMENT: "document shown",
        Expansion.AUTO: "extent chosen",
    },
    "index": {
        IndexMode.AUTO: "vector index chosen",
        IndexMode.EXACT: "vectors searched exactly",
        IndexMode.ANN: "vectors searched approximately",
    },
    "question_merge": {
        QuestionMerge.CONTEXT: "a context's vector for its chunk",
        QuestionMerge.BEST: "best of a chunk's vectors",
        QuestionMerge.SUM: "sum over a chunk's vectors",
    },
    "rerank": {Rerank.NONE: "not reranked", Rerank.MODEL: "reranked by a model"},
}
_WORDS: Mapping[str, Callable[[Any], str]] = {
    "near_duplicates": lambda on: "near copies folded" if on else "near copies kept",
    "semantic_threshold": lambda at: (
        "same meaning kept" if at is None else f"same meaning folded from {at:g}"
    ),
    "mmr_lambda": lambda at: "no variety" if at is None else f"variety {1 - at:.2f}",
    "per_document": lambda most: (
        "one result a document"
        if most == 1
        else f"up to {most} results a document"
        if most
        else "each chunk a result"
    ),
    "adaptive": lambda on: "weights fit the question" if on else "fixed weights",
    "chunk_aware": lambda on: "passages put together" if on else "bare snippets",
    "vector_weight": lambda weight: f"meaning × {weight:g}",
    "keyword_weight": lambda weight: f"words × {weight:g}",
    "rerank_depth": lambda depth: f"{depth} chunks reranked",
    _EMBEDDER: lambda name: f"embedded by {name}" if name else "the usual embedder",
    _CHUNKED: lambda on: "asked topic by topic" if on else "asked whole",
}


def names(columns: Sequence[ColumnSettings]) -> list[str]:
    """Each column's settings in words: its mode, and whatever else the columns differ in."""
    told = [_all(one) for one in columns]
    telling = [
        name
        for name in _all(ColumnSettings())
        if name != "mode" and any(one[name] != told[0][name] for one in told)
    ]
    return [
        ", ".join([MODES[one.options.mode], *(words(name, found[name]) for name in telling)])
        for one, found in zip(columns, told, strict=True)
    ]


def words(name: str, value: object) -> str:
    """Say one setting in words."""
    if isinstance(value, StrEnum):
        return _VALUES.get(name, {}).get(value, f"{name.replace('_', ' ')} {value.value}")
    if name in _WORDS:
        return _WORDS[name](value)
    return f"{name.replace('_', ' ')} {value:g}" if isinstance(value, int | float) else name


def as_text(column: ColumnSettings) -> str:
    """Write a column for an address: ``mode:keyword,near_duplicates:true``."""
    found = {"mode": column.options.mode.value, **written(column.options, _PLAIN)}
    if column.chunked:
        found[_CHUNKED] = True
    if column.embedder:
        found[_EMBEDDER] = column.embedder
    return ",".join(f"{name}:{_plain(value)}" for name, value in found.items())


def from_text(text: str, base: SearchOptions = _PLAIN) -> tuple[ColumnSettings, tuple[str, ...]]:
    """Read what :func:`as_text` wrote, and name what in it is not understood.

    Collections and filters are those of ``base``; all else is as usual unless it is said.
    """
    changes: dict[str, Any] = {}
    chunked, embedder, strange = False, "", []
    for part in text[:_LONGEST].split(","):
        name, _, value = part.strip().partition(":")
        if not name:
            continue
        if name == _CHUNKED and value in ("true", "false"):
            chunked = value == "true"
            continue
        if name == _EMBEDDER:
            embedder = value
            continue
        try:
            changes[name] = understood(name, value)
        except ValueError:
            strange.append(part.strip()[:80])
    plain = replace(_PLAIN, collections=base.collections, filters=base.filters)
    return ColumnSettings(replace(plain, **changes), chunked, embedder), tuple(strange)


def _all(column: ColumnSettings) -> dict[str, Any]:
    found = {
        one.name: getattr(column.options, one.name)
        for one in fields(SearchOptions)
        if one.name not in _NOT_ASKED
    }
    return {**found, _EMBEDDER: column.embedder, _CHUNKED: column.chunked}


def _plain(value: object) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else f"{value}"
