"""Merging: the answers of several pieces become one list of documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeVar


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


class Merge(StrEnum):
    """How the lists of several topics become one."""

    FAIR = "fair"
    SCORE = "score"


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


def merge_topics(lists: Sequence[Sequence[Scored]], how: Merge, limit: int) -> list[Merged]:
    """Join one ranked list of documents a topic into one of at most ``limit``.

    ``fair`` deals in turn: each topic gives its best that is not there yet, until the list is
    full. ``score`` takes the best scores, whichever topic they come from.
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
        for queue in queues:
            while queue:
                document = queue.pop(0).document_id
                if document not in order:
                    order[document] = None
                    break
    return list(order)
