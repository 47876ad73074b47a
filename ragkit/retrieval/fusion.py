"""Fusion: the ranked lists of several indexes become one, and every score explains itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from ragkit.results import Contribution, Fusion, Hit
from ragkit.types import Level

Normaliser: TypeAlias = Callable[[Sequence[Hit]], Sequence[float]]
"""Turns the raw scores of one list into numbers from 0 to 1, in the order of its hits."""


@dataclass(frozen=True, slots=True)
class IndexList:
    """What one index found. ``weight`` says how much it counts beside the other lists."""

    name: str
    weight: float
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class FusedHit:
    """An entry with its joint score, from 0 to 1: the sum of its contributions' values."""

    entry_id: int
    document_id: int
    chunk_index: int
    level: Level
    score: float
    contributions: tuple[Contribution, ...]


def cosine(hits: Sequence[Hit]) -> list[float]:
    """Take cosines as they are; what points away counts as unrelated."""
    return [min(max(hit.raw, 0.0), 1.0) for hit in hits]


def share_of_best(hits: Sequence[Hit]) -> list[float]:
    """Divide each score by the best of its list."""
    best = max((hit.raw for hit in hits), default=0.0)
    if best <= 0.0:
        return [0.0] * len(hits)
    return [max(hit.raw, 0.0) / best for hit in hits]


NORMALISERS: Mapping[str, Normaliser] = MappingProxyType(
    {"vector": cosine, "keyword": share_of_best}
)
"""How the scores of each index are made comparable; others are divided by their best."""


def fuse(
    lists: Sequence[IndexList],
    fusion: Fusion,
    rrf_k: int,
    normalisers: Mapping[str, Normaliser] = NORMALISERS,
) -> list[FusedHit]:
    """Join lists into one, best first; ties go to the smaller entry id.

    Weights are shares of the lists given; a list of weight 0 is left out, and if all are 0 they
    count the same. An entry that a list lacks gets nothing from it. By reciprocal rank, being
    first everywhere gives 1; by weighted scores, being best everywhere does.
    """
    found: dict[int, tuple[Hit, list[Contribution]]] = {}
    for one, weight in zip(lists, _shares(lists), strict=True):
        if weight <= 0.0:
            continue
        if fusion is Fusion.RRF:
            first = rrf_k + 1
            normalised: Sequence[float] = [first / (rrf_k + hit.rank) for hit in one.hits]
        else:
            normalised = normalisers.get(one.name, share_of_best)(one.hits)
        seen: set[int] = set()
        for hit, part in zip(one.hits, normalised, strict=True):
            if hit.entry_id in seen:
                continue
            seen.add(hit.entry_id)
            contribution = Contribution(one.name, hit.rank, hit.raw, part, weight, weight * part)
            known = found.get(hit.entry_id)
            if known is None:
                found[hit.entry_id] = (hit, [contribution])
            else:
                known[1].append(contribution)
    fused = [
        FusedHit(
            hit.entry_id,
            hit.document_id,
            hit.chunk_index,
            hit.level,
            sum(part.value for part in parts),
            tuple(parts),
        )
        for hit, parts in found.values()
    ]
    fused.sort(key=lambda hit: (-hit.score, hit.entry_id))
    return fused


def _shares(lists: Sequence[IndexList]) -> list[float]:
    """Scale the weights so that they add up to 1."""
    weights = [max(one.weight, 0.0) for one in lists]
    total = sum(weights)
    if total <= 0.0:
        return [1.0 / len(lists) for _ in lists]
    return [weight / total for weight in weights]
