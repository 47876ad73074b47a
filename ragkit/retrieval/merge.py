"""Merging: the hits of several segments and topics become one list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import Protocol, TypeVar

from ragkit.options import Dedup, Merge
from ragkit.retrieval.hits import Hit
from ragkit.retrieval.rows import document_of, similarity_of


class Scored(Protocol):
    """Anything found in a document with a score."""

    @property
    def document_id(self) -> int | str:
        """The document that it is in."""
        ...

    @property
    def score(self) -> float:
        """How well it fits."""
        ...


_R = TypeVar("_R")

_SCORE = attrgetter("score")
_TURN_COST = 0.1
"""How much better a topic's next result must be to come before another's earlier one."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A document in the merged list and the topics that found it, in the order of topics."""

    document_id: int | str
    score: float
    topics: tuple[int, ...]


def deduplicate_by_document(rows: Iterable[_R], n: int = 1) -> list[_R]:
    """Keep the best ``n`` of each document (0: all), best first; ties keep their order.

    ``rows`` are mappings or objects with a ``document_id`` and a ``similarity`` or ``score``.

    >>> rows = [
    ...     {"document_id": "a.md", "chunk_index": 0, "similarity": 0.85},
    ...     {"document_id": "b.md", "chunk_index": 3, "similarity": 0.88},
    ...     {"document_id": "a.md", "chunk_index": 4, "similarity": 0.90},
    ... ]
    >>> [(row["document_id"], row["similarity"]) for row in deduplicate_by_document(rows)]
    [('a.md', 0.9), ('b.md', 0.88)]

    Raises:
        TypeError: a row has not what it needs.
    """
    return _best_of_each(rows, n, document_of, similarity_of)


def keep_best(
    hits: Sequence[Hit], dedup: Dedup, n: int = 1, sections: Mapping[int, int] | None = None
) -> list[Hit]:
    """Keep the best ``n`` (0: all) of each document, or section; ``none`` keeps every hit.

    ``sections`` are the hits' sections by entry id; a hit without one counts to its document.
    """
    if dedup is Dedup.DOCUMENT:
        # The names of a hit are known: looking for them takes four times as long.
        return _best_of_each(hits, n, attrgetter("document_id"), _SCORE)
    section_of = sections or {}
    most = 0 if dedup is Dedup.NONE else n
    return _best_of_each(
        hits, most, lambda hit: (hit.document_id, section_of.get(hit.entry_id, -1)), _SCORE
    )


def _best_of_each(
    rows: Iterable[_R], n: int, home: Callable[[_R], Hashable], score: Callable[[_R], float]
) -> list[_R]:
    kept: list[_R] = []
    counts: Counter[Hashable] = Counter()
    for row in sorted(rows, key=score, reverse=True):
        key = home(row)
        counts[key] += 1
        if n <= 0 or counts[key] <= n:
            kept.append(row)
    return kept


def blend(hits: Sequence[Hit], others: Sequence[Hit], share: float, *, outer: bool) -> list[Hit]:
    """Join two lists of hits: ``share`` of each score is that of ``others``; best first.

    A hit that is missing in one of the lists gets nothing from it. Without ``outer``, what only
    ``others`` hold is left out. The parts still add up to the scores.
    """
    blended = {hit.entry_id: _scaled(hit, 1.0 - share) for hit in hits}
    for hit in others:
        part = _scaled(hit, share)
        own = blended.get(hit.entry_id)
        if own is not None:
            blended[hit.entry_id] = replace(
                own,
                score=own.score + part.score,
                contributions=(*own.contributions, *part.contributions),
                cosine=own.cosine or part.cosine,
            )
        elif outer:
            blended[hit.entry_id] = part
    return sorted(blended.values(), key=lambda hit: -hit.score)


def _scaled(hit: Hit, factor: float) -> Hit:
    parts = tuple(
        replace(part, weight=part.weight * factor, value=part.value * factor)
        for part in hit.contributions
    )
    return replace(hit, score=hit.score * factor, contributions=parts)


def merge_topics(lists: Sequence[Sequence[Scored]], how: Merge, limit: int) -> list[Merged]:
    """Join one ranked list of documents a topic into one of at most ``limit``.

    ``fair`` takes the best of each topic first. Then scores decide, less a tenth for every result
    of the same topic above: topics take turns where they fit alike, and one that nothing more fits
    leaves its turns to the others. ``score`` takes the best scores, whichever topic they come from.
    """
    best: dict[int | str, float] = {}
    topics: dict[int | str, set[int]] = {}
    for number, results in enumerate(lists):
        for result in results:
            document = result.document_id
            best[document] = max(best.get(document, 0.0), result.score)
            topics.setdefault(document, set()).add(number)
    if how is Merge.SCORE:
        order = sorted(best, key=lambda document: -best[document])
    else:
        order = _dealt(lists)
    return [
        Merged(document, best[document], tuple(sorted(topics[document])))
        for document in order[:limit]
    ]


def best_of_entries(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Return every entry once, with the best score that any list gives it; best first."""
    best: dict[int, Hit] = {}
    for hits in lists:
        for hit in hits:
            if hit.entry_id not in best or hit.score > best[hit.entry_id].score:
                best[hit.entry_id] = hit
    return sorted(best.values(), key=lambda hit: -hit.score)


def without_weak(lists: Sequence[list[Hit]], weak: Sequence[bool]) -> list[list[Hit]]:
    """Return the lists with those of weak topics empty, unless all topics are weak."""
    if all(weak):
        return list(lists)
    # Lists of no topic, at the end, stay.
    return [
        [] if number < len(weak) and weak[number] else hits for number, hits in enumerate(lists)
    ]


def with_every_topic(
    chosen: Sequence[Merged], merged: Sequence[Merged], lists: Sequence[Sequence[Scored]]
) -> list[Merged]:
    """Add to what was chosen of ``merged`` the best of each topic whose best is not in it."""
    by_document = {item.document_id: item for item in merged}
    shown = {item.document_id: item for item in chosen}
    for results in lists:
        if results:
            best = results[0].document_id
            shown.setdefault(best, by_document[best])
    return list(shown.values())


def _dealt(lists: Sequence[Sequence[Scored]]) -> list[int | str]:
    """Return the documents of all lists: the best of each first, then by score and turn."""
    turns = [
        (turn > 0, turn * _TURN_COST - result.score, result.document_id)
        for results in lists
        for turn, result in enumerate(deduplicate_by_document(results))
    ]
    turns.sort(key=itemgetter(0, 1))
    return list(dict.fromkeys(document for _, _, document in turns))
