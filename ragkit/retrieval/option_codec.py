"""Search options as few plain values: what a collection sets for itself, what an address says.

Only what differs from other options is written, by name, as JSON values.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any

from ragkit.options import SearchOptions

logger = logging.getLogger(__name__)

_NOT_HOW = ("collections", "filters", "vector_levels", "field_weights")
"""What says where to search rather than how, and what only measurements set."""

_LEAST = {"candidates": 1, "limit": 1, "rrf_k": 1, "chunks_per_doc": 1, "section_characters": 100,
          "parent_chunks": 1, "nprobe": 1, "overfetch": 1, "rerank_depth": 1}  # fmt: skip
_MOST = {"candidates": 1000, "limit": 200, "min_score": 1, "mmr_lambda": 1, "rrf_k": 10_000,
         "neighbours": 50, "semantic_threshold": 1, "phrase_weight": 1,
         "title_weight": 1, "document_weight": 1,
         "vector_weight": 100, "keyword_weight": 100,
         "per_document": 1000, "chunks_per_doc": 100, "adjacent_top_docs": 200,
         "section_characters": 1_000_000, "parent_chunks": 100, "nprobe": 1000,
         "overfetch": 100, "rerank_depth": 100}  # fmt: skip
_MAY_BE_NONE = ("semantic_threshold", "mmr_lambda")


def written(options: SearchOptions, base: SearchOptions) -> dict[str, Any]:
    """How ``options`` search otherwise than ``base``, as JSON values by name."""
    found = {}
    for one in fields(SearchOptions):
        value = getattr(options, one.name)
        if one.name not in _NOT_HOW and value != getattr(base, one.name):
            found[one.name] = value.value if isinstance(value, StrEnum) else value
    return found


def with_own(base: SearchOptions, own: Mapping[str, Any]) -> SearchOptions:
    """Change ``base`` by what :func:`written` gave; what makes no sense is left as it was."""
    changes: dict[str, Any] = {}
    for name, value in own.items():
        try:
            changes[name] = understood(name, value)
        except ValueError:
            logger.warning("a search setting is not understood: %s", name)
    return replace(base, **changes)


def understood(name: str, value: object) -> Any:
    """The value of a search option, from JSON or text.

    Raises:
        ValueError: there is no such option, or it cannot have this value.
    """
    if name in _NOT_HOW or name not in SearchOptions.__slots__:
        raise ValueError(name)
    usual = getattr(SearchOptions(), name)
    if isinstance(usual, StrEnum):
        return type(usual)(str(value))
    if value in (None, "") and name in _MAY_BE_NONE:
        return None
    if isinstance(usual, bool):
        if value in (True, False, "true", "false"):
            return value in (True, "true")
        raise ValueError(name)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(name)
    whole = isinstance(usual, int)
    number = int(value) if whole else float(value)
    if not math.isfinite(number) or not _LEAST.get(name, 0) <= number <= _MOST.get(name, number):
        raise ValueError(name)
    return number
