"""The tables of search options, each with its type, default, bounds and labels.

An option is declared once, as a field of ``SearchOptions`` or ``ChunkedOptions``. The settings
file, ``RAGKIT_*`` variables, the command line, the HTTP API, MCP, addresses, collections, and the
controls on the pages are all generated from ``SEARCH_OPTIONS`` and ``CHUNKED_OPTIONS``.
"""

from ragkit.options.choices import (
    Aggregation,
    Contexts,
    CutMethod,
    Dedup,
    Expansion,
    Fusion,
    Granularity,
    IndexMode,
    Merge,
    Mode,
    Phrasings,
    QuestionMerge,
    Rerank,
    Sort,
)
from ragkit.options.chunked import CHUNKED_OPTIONS, ChunkedOptions
from ragkit.options.filters import Filters
from ragkit.options.search import SEARCH_OPTIONS, SearchOptions

__all__ = [
    "CHUNKED_OPTIONS",
    "SEARCH_OPTIONS",
    "Aggregation",
    "ChunkedOptions",
    "Contexts",
    "CutMethod",
    "Dedup",
    "Expansion",
    "Filters",
    "Fusion",
    "Granularity",
    "IndexMode",
    "Merge",
    "Mode",
    "Phrasings",
    "QuestionMerge",
    "Rerank",
    "SearchOptions",
    "Sort",
]
