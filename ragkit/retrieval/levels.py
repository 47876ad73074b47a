"""Levels: which of them a search goes through, and which hits of several levels are shown.

Each level has an index of its own, which a search of other levels never opens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ragkit.indexes.protocol import Candidates, IndexKind, IndexSearch
from ragkit.options import Granularity
from ragkit.retrieval.candidates import exact_scores, places_of
from ragkit.retrieval.hits import Hit, Ranking
from ragkit.retrieval.proximity import Scores
from ragkit.types import Level

SEARCHED_LEVELS: Mapping[Granularity, tuple[Level, ...]] = {
    Granularity.BLOCK: (Level.BLOCK,),
    Granularity.CHUNK: (Level.CHUNK,),
    Granularity.SECTION: (Level.SECTION,),
    Granularity.DOCUMENT: (Level.DOCUMENT,),
    Granularity.AUTO: (Level.CHUNK, Level.SECTION, Level.DOCUMENT, Level.BLOCK),
}
"""The levels that a granularity searches."""

COARSE = frozenset({Level.SECTION, Level.DOCUMENT})
"""The levels of entries that stand for several chunks."""

CLOSE = 0.9
"""A coarser hit gives way when a finer one of its document has this share of its score."""

_LEAST_SHARE = 1e-6
_FINENESS = {Level.DOCUMENT: 0, Level.SECTION: 1}
_FINER = 2
"""The fineness of chunks and what is in them."""


def best_by_words(ranking: Ranking) -> Scores:
    """Return the best score by words of each query, as the index gave it, (q,)."""
    best = np.zeros(ranking.count)
    if by_words := ranking.part(IndexKind.KEYWORD):
        np.maximum.at(best, ranking.queries, by_words.raw)
    return best


def full_words(
    blocks: Candidates,
    chunks: Sequence[IndexSearch],
    best: Scores,
    entry_of: Callable[[int, int], int | None],
) -> Scores:
    """Return from which score by words on a block has all that words give, for each query, (q,).

    Scores of two indexes do not compare, and the best of few blocks may be poor beside all chunks:
    words give the best block of a query as much as they give its chunk. ``best`` (q,) are the best
    scores of chunks, ``entry_of`` returns the own entry of a document's chunk.
    """
    full = np.zeros(len(best))
    for row in np.flatnonzero(places_of(blocks.queries) == 0).tolist():
        query = int(blocks.queries[row])
        entry = entry_of(int(blocks.document_ids[row]), int(blocks.chunk_indexes[row]))
        asked = np.array([entry or 0], np.int64), np.array([query], np.int64)
        share = exact_scores(chunks, IndexKind.KEYWORD, *asked)[0] / (best[query] or 1.0)
        full[query] = float(blocks.scores[row]) / max(float(share), _LEAST_SHARE)
    return full


def prefer_finer(hits: Sequence[Hit]) -> list[Hit]:
    """Drop coarser hits where finer ones are nearly as good, and what would be shown twice.

    A document or section gives way to what is finer in the same document, a chunk to its own
    blocks; blocks of a chunk that is better by far give way to it. Best first.
    """
    best: dict[tuple[int, int], float] = {}
    chunks: dict[tuple[int, int], float] = {}
    blocks: dict[tuple[int, int], float] = {}
    for hit in hits:
        key = (hit.document_id, _FINENESS.get(hit.level, _FINER))
        best[key] = max(best.get(key, 0.0), hit.score)
        if key[1] == _FINER:
            place = (hit.document_id, hit.chunk_index)
            of_level = blocks if hit.level is Level.BLOCK else chunks
            of_level[place] = max(of_level.get(place, 0.0), hit.score)

    def gives_way(hit: Hit) -> bool:
        fineness = _FINENESS.get(hit.level, _FINER)
        if fineness == _FINER:
            place = (hit.document_id, hit.chunk_index)
            if hit.level is Level.BLOCK:
                return blocks[place] < CLOSE * chunks.get(place, 0.0)
            return blocks.get(place, -1.0) >= CLOSE * hit.score
        return any(
            best.get((hit.document_id, finer), 0.0) >= CLOSE * hit.score
            for finer in range(fineness + 1, _FINER + 1)
        )

    kept = [hit for hit in hits if not gives_way(hit)]
    # Those of a level keep their order, also where scores tie.
    return sorted(kept, key=lambda hit: -hit.score)
