"""The metrics of a search, from the columns of its rankings: made when somebody looks at them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from ragkit.indexes.protocol import Candidates, IndexKind
from ragkit.indexes.rows import Ids
from ragkit.results import Result
from ragkit.retrieval.hits import Ranking
from ragkit.retrieval.proximity import Scores
from ragkit.traces import Metrics, Spread
from ragkit.types import LEVEL_CODES

_SOURCES = ("named", IndexKind.VECTOR.value, IndexKind.KEYWORD.value, "both")
"""What found a candidate: of vectors 1, of keywords 2, of both 3, of neither 0."""


def measured(
    ranked: Sequence[tuple[Ranking, Mapping[IndexKind, Candidates]]], results: Sequence[Result]
) -> Metrics:
    """Return the metrics of a search from its rankings and the candidates that each is made of."""
    sources: Counter[str] = Counter()
    levels: Counter[str] = Counter()
    for ranking, candidates in ranked:
        by_source = np.zeros(len(ranking.entry_ids), np.int64)
        for bit, kind in ((1, IndexKind.VECTOR), (2, IndexKind.KEYWORD)):
            if part := ranking.part(kind):
                by_source += bit * (part.ranks > 0)
        counts = np.bincount(by_source, minlength=len(_SOURCES)).tolist()
        sources.update(dict(zip(_SOURCES, counts, strict=True)))
        by_level = np.bincount(_found_as(ranking, candidates), minlength=len(LEVEL_CODES)).tolist()
        levels.update({level.value: by_level[code] for level, code in LEVEL_CODES.items()})
    scores = [ranking.scores for ranking, _ in ranked]
    return Metrics(
        spread(np.concatenate(scores) if len(scores) > 1 else scores[0]) if scores else None,
        spread(np.array([result.score for result in results])),
        {source: count for source, count in sources.items() if count},
        {level: count for level, count in levels.items() if count},
    )


def spread(scores: Scores) -> Spread | None:
    """Return the distribution of scores (n,), quartiles between neighbours; ``None`` for none."""
    if not len(scores):
        return None
    # By hand: numpy's quantiles of so few take ten times as long.
    ascending: list[float] = np.sort(scores).tolist()
    last = len(ascending) - 1

    def at(share: float) -> float:
        below = int(share * last)
        rest = share * last - below
        near = ascending[below]
        return near + rest * (ascending[min(below + 1, last)] - near)

    return Spread(len(ascending), ascending[0], at(0.25), at(0.5), at(0.75), ascending[last])


def _found_as(ranking: Ranking, candidates: Mapping[IndexKind, Candidates]) -> Ids:
    """Return the level code of the entry that each row was found as, by its vector if by that."""
    levels = ranking.levels.astype(np.int64)
    by_vector = candidates.get(IndexKind.VECTOR)
    if by_vector is not None and len(levels):
        width = 1 + int(max(ranking.entry_ids.max(), by_vector.entry_ids.max(initial=0)))
        keys = ranking.queries * width + ranking.entry_ids
        keys_asked = by_vector.queries * width + by_vector.entry_ids
        rows = np.minimum(np.searchsorted(keys, keys_asked), len(keys) - 1)
        # A query in which vectors do not count keeps none of what they found.
        kept = keys[rows] == keys_asked
        levels[rows[kept]] = by_vector.levels[kept]
    return levels
