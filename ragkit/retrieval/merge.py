"""Merging: the answers of several pieces become one list of documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from ragkit.options import Dedup, Merge
from ragkit.retrieval.ranking import Hit


class Scored(Protocol):
    """Anything found in a document with a score."""

    @property
    def document_id(self) -> int | str:
        """The document that it stands in."""
        ...

    @property
    def score(self) -> float:
        """How well it fits."""
        ...


_S = TypeVar("_S", bound=Scored)


@dataclass(frozen=True, slots=True)
class Merged:
    """A document in the merged list and the topics that found it, in the order of topics."""

    document_id: int | str
    score: float
    topics: tuple[int, ...]


def deduplicate_by_document(results: Sequence[_S], n: int = 1) -> list[_S]:
    """Keep the best ``n`` of each document (0: all), best first; ties keep their order."""
    kept: list[_S] = []
    counts: Counter[int | str] = Counter()
    for one in sorted(results, key=lambda result: -result.score):
        if n <= 0 or counts[one.document_id] < n:
            counts[one.document_id] += 1
            kept.append(one)
    return kept


def thinned(
    hits: Sequence[Hit],
    dedup: Dedup,
    n: int = 1,
    sections: Mapping[int, int] | None = None,
) -> list[Hit]:
    """Keep the best ``n`` (0: all) of each document, or section; ``none`` keeps every hit.

    ``sections`` are the hits' sections by entry id; a hit without one counts to its document.
    """
    if dedup is Dedup.DOCUMENT:
        return deduplicate_by_document(hits, n)
    ordered = sorted(hits, key=lambda hit: -hit.score)
    if dedup is Dedup.NONE or n <= 0:
        return ordered
    known = sections or {}
    counts: Counter[Hashable] = Counter()
    kept = []
    for one in ordered:
        home = (one.document_id, known.get(one.entry_id, -1))
        if counts[home] < n:
            counts[home] += 1
            kept.append(one)
    return kept


def blended(one: Sequence[Hit], other: Sequence[Hit], share: float, *, outer: bool) -> list[Hit]:
    """Join two lists of hits: ``share`` of each score is the other's; best first.

    A hit that one of the lists lacks gets nothing from it. Without ``outer``, what only the
    other holds is left out. The parts still add up to the scores.
    """
    found = {hit.entry_id: _scaled(hit, 1.0 - share) for hit in one}
    for hit in other:
        part = _scaled(hit, share)
        known = found.get(hit.entry_id)
        if known is not None:
            found[hit.entry_id] = replace(
                known,
                score=known.score + part.score,
                contributions=(*known.contributions, *part.contributions),
            )
        elif outer:
            found[hit.entry_id] = part
    return sorted(found.values(), key=lambda hit: (-hit.score, hit.entry_id))


def _scaled(hit: Hit, factor: float) -> Hit:
    parts = tuple(
        replace(part, weight=part.weight * factor, value=part.value * factor)
        for part in hit.contributions
    )
    return replace(hit, score=hit.score * factor, contributions=parts)


def merge_topics(lists: Sequence[Sequence[Scored]], how: Merge, limit: int) -> list[Merged]:
    """Join one ranked list of documents a topic into one of at most ``limit``.

    ``fair`` deals in rounds: each topic gives its best that is not there yet, until the list is
    full; within a round the better scores come first. ``score`` takes the best scores, whichever
    topic they come from.
    """
    best: dict[int | str, float] = {}
    topics: dict[int | str, set[int]] = {}
    for number, found in enumerate(lists):
        for one in found:
            best[one.document_id] = max(best.get(one.document_id, 0.0), one.score)
            topics.setdefault(one.document_id, set()).add(number)
    if how is Merge.SCORE:
        order = sorted(best, key=lambda document: (-best[document], str(document)))
    else:
        order = _dealt(lists)
    return [Merged(one, best[one], tuple(sorted(topics[one]))) for one in order[:limit]]


def _dealt(lists: Sequence[Sequence[Scored]]) -> list[int | str]:
    queues = [list(deduplicate_by_document(found)) for found in lists]
    order: dict[int | str, None] = {}
    while any(queues):
        # A round: each topic names its next one, and the best of these come first, so that a
        # short list holds the surest topics.
        named: list[Scored] = []
        taken = set(order)
        for queue in queues:
            while queue:
                one = queue.pop(0)
                if one.document_id not in taken:
                    taken.add(one.document_id)
                    named.append(one)
                    break
        for one in sorted(named, key=lambda found: -found.score):
            order[one.document_id] = None
    return list(order)
