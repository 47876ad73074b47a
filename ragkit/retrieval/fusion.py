"""Fusion: the ranked lists of several indexes become one, and every score explains itself.

Scores are kept in columns until the best are known; only those become hits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.options import Fusion
from ragkit.results import Contribution, Later
from ragkit.types import LEVEL_CODES, Level

Scores: TypeAlias = NDArray[np.float64]
"""One number an entry, float64 (n,)."""

Normaliser: TypeAlias = Callable[[Scores], Scores]
"""Turns the raw scores of one index into numbers from 0 to 1."""

_LEVELS = {code: level for level, code in LEVEL_CODES.items()}


@dataclass(frozen=True, slots=True)
class IndexList:
    """What one index found, best first: one value an entry in each column (n,).

    ``weight`` says how much it counts beside the other lists. ``levels`` holds level codes.
    ``exact`` gives that index's own scores of any entries, found or not; 0 for those that it
    does not know.
    """

    name: str
    weight: float
    entry_ids: NDArray[np.int64]
    document_ids: NDArray[np.int64]
    chunk_indexes: NDArray[Any]
    levels: NDArray[Any]
    raw: Scores
    exact: Callable[[NDArray[np.int64]], Scores] | None = None

    def __len__(self) -> int:
        """How many entries it found."""
        return len(self.entry_ids)


@dataclass(frozen=True, slots=True)
class Part:
    """What one index, or one look at what they found, adds to every score.

    ``weight`` is one number, or one an entry (n,). ``ranks`` int (n,) count from 1 in that
    index's own list; 0 where the entry is not in it.
    """

    index: str
    weight: float | Scores
    ranks: NDArray[np.int64]
    raw: Scores
    normalised: Scores

    @property
    def values(self) -> Scores:
        """What is added to each score, (n,)."""
        return self.weight * self.normalised


@dataclass(frozen=True, slots=True)
class Fused:
    """Everything that the lists found, ordered by entry id, with the parts of its scores."""

    entry_ids: NDArray[np.int64]
    document_ids: NDArray[np.int64]
    chunk_indexes: NDArray[Any]
    levels: NDArray[Any]
    parts: tuple[Part, ...]

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self.entry_ids)

    @property
    def scores(self) -> Scores:
        """The sum of the parts, added up in their order, (n,)."""
        total = np.zeros(len(self))
        for part in self.parts:
            total = total + part.values
        return total

    @property
    def order(self) -> NDArray[np.int64]:
        """Places of the entries, best first; ties go to the smaller entry id."""
        return self._ordered(self.scores)

    def _ordered(self, scores: Scores) -> NDArray[np.int64]:
        return np.lexsort((self.entry_ids, -scores))

    def hits(self, most: int | None = None) -> list[FusedHit]:
        """The best entries; their parts are put down when they are looked at."""
        scores = self.scores
        order = self._ordered(scores)[:most]
        return [
            FusedHit(entry_id, document_id, chunk, _LEVELS[level], score, self._parts_of(place))
            for place, entry_id, document_id, chunk, level, score in zip(
                order.tolist(),
                self.entry_ids[order].tolist(),
                self.document_ids[order].tolist(),
                self.chunk_indexes[order].tolist(),
                self.levels[order].tolist(),
                scores[order].tolist(),
                strict=True,
            )
        ]

    def _parts_of(self, place: int) -> Later[Contribution]:
        """The parts of one entry's score; those that add nothing are not named."""
        return Later(lambda: tuple(self._contributions(place)))

    def _contributions(self, place: int) -> Iterator[Contribution]:
        for part in self.parts:
            given = part.weight
            weight = float(given[place]) if isinstance(given, np.ndarray) else given
            rank, normalised = int(part.ranks[place]), float(part.normalised[place])
            value = weight * normalised
            if value != 0.0 or rank:
                raw = float(part.raw[place])
                yield Contribution(part.index, rank, raw, normalised, weight, value)


@dataclass(frozen=True, slots=True)
class FusedHit:
    """An entry with its joint score, from 0 to 1: the sum of its contributions' values.

    ``grade`` is what a reranker gave it, from 0 to 10.
    """

    entry_id: int
    document_id: int
    chunk_index: int
    level: Level
    score: float
    contributions: Sequence[Contribution]
    grade: float | None = None


def cosine(raw: Scores) -> Scores:
    """Take cosines as they are; what points away counts as unrelated."""
    clipped: Scores = np.clip(raw, 0.0, 1.0)
    return clipped


def share_of_best(raw: Scores, least: float = 0.0) -> Scores:
    """Divide each score by the best of them, or by ``least`` if that is more."""
    return shares_of_best(raw, np.zeros(len(raw), np.int64), 1, least)


def shares_of_best(
    raw: Scores, numbers: NDArray[np.int64], count: int, least: float = 0.0
) -> Scores:
    """The same for ``count`` questions at once; ``numbers`` (n,) say whose each score is."""
    best = np.full(count, least)
    np.maximum.at(best, numbers, raw)
    shares: Scores = np.maximum(raw, 0.0) / np.where(best > 0.0, best, 1.0)[numbers]
    return shares


NORMALISERS: Mapping[str, Normaliser] = MappingProxyType(
    {"vector": cosine, "keyword": share_of_best}
)
"""How the scores of each index are made comparable; others are divided by their best."""


def union(lists: Sequence[IndexList]) -> NDArray[np.int64]:
    """The entries that any list found, ascending."""
    if not lists:
        return np.zeros(0, np.int64)
    return np.unique(np.concatenate([one.entry_ids for one in lists]))


def fuse(
    lists: Sequence[IndexList],
    fusion: Fusion,
    rrf_k: int,
    filled: Mapping[str, Scores] | None = None,
    normalisers: Mapping[str, Normaliser] = NORMALISERS,
) -> Fused:
    """Join lists into one.

    Weights are shares of the lists given; a list of weight 0 is left out, and if all are 0 they
    count the same. By reciprocal rank, being first everywhere gives 1; by weighted scores, being
    best everywhere does. ``filled`` may hold an index's raw scores for all entries of
    ``union(lists)``; without it, an entry that a list lacks gets nothing from that list.
    """
    shares = shares_of(lists)
    used = [(one, share) for one, share in zip(lists, shares, strict=True) if share > 0.0]
    entry_ids = union([one for one, _ in used])
    known = entry_ids if len(used) == len(lists) else union(lists)
    documents, chunks, levels = np.zeros((3, len(entry_ids)), np.int64)
    parts = []
    for one, share in used:
        # Backwards, so that of an entry that stands twice the first place counts.
        places = np.searchsorted(entry_ids, one.entry_ids)[::-1]
        documents[places] = one.document_ids[::-1]
        chunks[places] = one.chunk_indexes[::-1]
        levels[places] = one.levels[::-1]
        ranks = np.zeros(len(entry_ids), np.int64)
        ranks[places] = np.arange(len(one), 0, -1)
        raw = np.zeros(len(entry_ids))
        if filled is not None and one.name in filled:
            raw = filled[one.name].astype(np.float64)
            raw = raw if known is entry_ids else raw[np.searchsorted(known, entry_ids)]
        raw[places] = one.raw[::-1]
        if fusion is Fusion.RRF:
            normalised = np.where(ranks > 0, (rrf_k + 1) / (rrf_k + ranks), 0.0)
        else:
            normalised = normalisers.get(one.name, share_of_best)(raw)
        parts.append(Part(one.name, share, ranks, raw, normalised))
    return Fused(entry_ids, documents, chunks, levels, tuple(parts))


def shares_of(lists: Sequence[IndexList]) -> list[float]:
    """Scale the weights so that they add up to 1."""
    weights = [max(one.weight, 0.0) for one in lists]
    total = sum(weights)
    if total <= 0.0:
        return [1.0 / len(lists) for _ in lists]
    return [weight / total for weight in weights]
