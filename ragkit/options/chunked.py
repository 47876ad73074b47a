"""The options of a search with a long text."""

from collections.abc import Mapping
from dataclasses import dataclass

from ragkit.errors import QueryError
from ragkit.option_table import Option, option, table
from ragkit.options.choices import CutMethod, Dedup, IndexMode, Merge
from ragkit.options.search import SEARCH_OPTIONS, SearchOptions

_DEFAULTS = SearchOptions()


@dataclass(frozen=True, slots=True)
class ChunkedOptions:
    """How a search with a long text, such as a conversation, cuts it and merges the results.

    Sizes are in tokens of about four characters. With ``whole_weight`` above 0 the whole text is
    searched for too, and makes up ``w / (1 + w)`` of each score. ``mode`` is
    ``SearchOptions.index``. Of ``min_similarity`` here and in ``SearchOptions``, the larger counts.
    ``exclude`` are ids of documents that are never returned.

    Raises:
        QueryError: a number is out of its bounds.
    """

    method: CutMethod = option(CutMethod.ADAPTIVE, "Where the text is cut.", label="Cut the text")
    segment_tokens: int = option(
        1800,
        "The size of a segment, when cut by size.",
        bounds=(20, 20_000),
        label="Tokens per segment",
        slider=(50, 4000, 1),
    )
    overlap_tokens: int = option(
        150,
        "How many tokens of the segment before are repeated.",
        bounds=(0, 20_000),
        label="Overlapping tokens",
        slider=(0, 500, 1),
    )
    hits_per_segment: int = option(
        5,
        "How many hits each segment returns.",
        bounds=(1, 200),
        setting="chunks_per_query",
        label="Hits per segment",
        slider=(1, 50, 1),
    )
    per_document: int = option(
        1,
        "How many hits of one document, or section, are kept; 0: all.",
        bounds=(0, 200),
        setting="dedup_max_per_doc",
        label="How many of each",
        slider=(1, 10, 1),
    )
    limit: int = option(
        5,
        "How many results there are at most; each topic has its best in any case.",
        bounds=(1, 200),
        setting="top_k",
        label="Results",
        slider=(1, 50, 1),
    )
    merge: Merge = option(Merge.FAIR, "How the results of the topics are merged.", label="Merge")
    dedup: Dedup = option(
        Dedup.DOCUMENT,
        "Of what only the best hits are kept.",
        setting="dedup_strategy",
        label="Deduplicate",
    )
    min_similarity: float = option(
        _DEFAULTS.min_similarity,
        SEARCH_OPTIONS["min_similarity"],
        setting="min_similarity_threshold",
    )
    whole_weight: float = option(
        0.0,
        "How much the whole text counts beside its segments.",
        bounds=(0, 10),
        label="Weight of the whole text",
        slider=(0.0, 2.0, 0.05),
    )
    mode: IndexMode = option(_DEFAULTS.index, SEARCH_OPTIONS["index"])
    nprobe: int = option(_DEFAULTS.nprobe, SEARCH_OPTIONS["nprobe"])
    overfetch: int = option(_DEFAULTS.overfetch, SEARCH_OPTIONS["overfetch"])
    exclude: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        """Check the bounds of numbers."""
        for name, declared in CHUNKED_OPTIONS.items():
            value = getattr(self, name)
            if declared.bounds is not None:
                low, high = declared.bounds
                if not low <= value <= high:
                    raise QueryError(
                        f"{name} is {value}.", f"Choose a number from {low} to {high}."
                    )


CHUNKED_OPTIONS: Mapping[str, Option] = table(ChunkedOptions)
"""The options of a search with a long text, by name."""
