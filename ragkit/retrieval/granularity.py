"""Levels: documents, sections and chunks on one ranking, the finer ones preferred."""

from __future__ import annotations

from collections.abc import Sequence

from ragkit.options import Granularity
from ragkit.retrieval.ranking import Hit
from ragkit.types import Level

CLOSE = 0.9
"""A coarser hit gives way when a finer one of its document has this share of its score."""

_LEVELS = {
    Granularity.CHUNK: (Level.CHUNK,),
    Granularity.SECTION: (Level.SECTION,),
    Granularity.DOCUMENT: (Level.DOCUMENT,),
    Granularity.AUTO: (Level.CHUNK, Level.SECTION, Level.DOCUMENT),
}
_FINENESS = {
    Level.DOCUMENT: 0,
    Level.SECTION: 1,
    Level.CHUNK: 2,
    Level.QUESTION: 2,
    Level.CONTEXT: 2,
}


def levels_of(granularity: Granularity) -> tuple[Level, ...]:
    """The levels that a granularity asks."""
    return _LEVELS[granularity]


def prefer_finer(hits: Sequence[Hit]) -> list[Hit]:
    """Drop coarser hits of documents that finer ones find nearly as well; best first."""
    best: dict[tuple[int, int], float] = {}
    for hit in hits:
        key = (hit.document_id, _FINENESS[hit.level])
        best[key] = max(best.get(key, 0.0), hit.score)

    def gives_way(hit: Hit) -> bool:
        return any(
            best.get((hit.document_id, finer), 0.0) >= CLOSE * hit.score
            for finer in range(_FINENESS[hit.level] + 1, max(_FINENESS.values()) + 1)
        )

    kept = [hit for hit in hits if not gives_way(hit)]
    return sorted(kept, key=lambda hit: (-hit.score, hit.entry_id))
