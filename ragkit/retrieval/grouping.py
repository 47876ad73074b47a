"""Grouping: from ranked hits to the groups that make the results.

A section or document that was found as a whole is shown by its parts: its chunks are scored by the
same query as in a search of chunks, and the best of them are shown. A whole keeps the score by
which it was found, and they have their own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from ragkit.errors import QueryError
from ragkit.options import Aggregation, Expansion, Granularity, SearchOptions
from ragkit.retrieval.deduplication import (
    Clusters,
    best_per_section,
    cap_per_document,
    cosines_of,
    fold_formats,
    fold_identical,
    fold_near,
    fold_semantic,
    in_formats,
)
from ragkit.retrieval.hit_lookups import HitLookups, Vectors
from ragkit.retrieval.hits import Hit
from ragkit.retrieval.levels import COARSE
from ragkit.types import Level


@dataclass(frozen=True, slots=True)
class Part:
    """A chunk of what was found as a whole, at level ``of``, that answers the query."""

    hit: Hit
    of: Level


@dataclass(frozen=True, slots=True)
class Group:
    """The hits that make one result, best first, and documents that hold the same text.

    ``others`` are further hits of the document that are in results of their own or in none.
    ``wholes`` are those of ``hits``, sections or the document, for which ``parts`` are shown.
    ``aggregated`` is the score that orders it where that is not the best hit's.
    """

    document_id: int
    hits: tuple[Hit, ...]
    others: tuple[Hit, ...] = ()
    also_in: tuple[int, ...] = ()
    wholes: tuple[Hit, ...] = ()
    parts: tuple[Part, ...] = ()
    aggregated: float | None = None

    @property
    def score(self) -> float:
        """The score that orders it."""
        return self.hits[0].score if self.aggregated is None else self.aggregated


@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups of the answer in order; ``hits`` are all that were kept, ``note`` says how."""

    groups: tuple[Group, ...]
    hits: tuple[Hit, ...]
    note: str = ""


def group(hits: Sequence[Hit], options: SearchOptions, lookups: HitLookups) -> Grouping:
    """Drop weak hits, fold duplicates, and gather what is left into results.

    ``hits`` are best first; ``lookups`` is asked only for what the steps that are on need.
    """
    # A vector index finds something for every query; what adds nothing is no hit.
    related = [hit for hit in hits if hit.score > 0.0]
    strong = [hit for hit in related if hit.score >= options.min_score]
    removed = {"unrelated": len(hits) - len(related), "weak": len(related) - len(strong)}
    folded = fold_duplicates(strong, options, lookups)
    removed |= folded.removed
    notes = [f"{count} {name} removed" for name, count in removed.items() if count]
    groups = _gather(folded.left, options, folded.also)
    if options.mmr_lambda is not None and len(groups) > 1:
        leads = _by_place([replace(own.hits[0], score=own.score) for own in groups])
        order = mmr(leads, lookups.vectors(leads), options.mmr_lambda, options.limit)
        by_entry = {own.hits[0].entry_id: own for own in groups}
        groups = [by_entry[hit.entry_id] for hit in order]
        notes.append("reordered for variety")
    return Grouping(tuple(groups[: options.limit]), tuple(folded.left), ", ".join(notes))


@dataclass(frozen=True, slots=True)
class Folded:
    """What is left of hits, in order, and what became of the others.

    ``into`` has for the entry of each that was folded the hit into which it was, ``also`` for a
    document the others that hold the same, ``removed`` how many each step folded.
    """

    left: Sequence[Hit]
    into: Mapping[int, Hit]
    also: Mapping[int, Sequence[int]]
    removed: Mapping[str, int]

    def lead(self, hit: Hit) -> Hit:
        """Return the hit that a hit was folded into, itself if it is left."""
        while hit.entry_id in self.into:
            hit = self.into[hit.entry_id]
        return hit


def fold_duplicates(hits: Sequence[Hit], options: SearchOptions, lookups: HitLookups) -> Folded:
    """Fold what the options call duplicates, one step after another; ``hits`` are best first."""
    left = list(hits)
    into: dict[int, Hit] = {}
    also: dict[int, list[int]] = {}
    removed: dict[str, int] = {}
    for name, fold in _folds(hits, options, lookups) if left else ():
        clusters = fold(left)
        removed[name] = len(left) - len(clusters)
        for lead, *folded in clusters if removed[name] else ():
            into |= {hit.entry_id: lead for hit in folded}
            homes = {hit.document_id for hit in folded} - {lead.document_id}
            for home in sorted(homes):
                # What an earlier step folded into that document goes along with it.
                also.setdefault(lead.document_id, []).extend([home, *also.get(home, ())])
        left = [lead for lead, *_folded in clusters]
    return Folded(left, into, also, removed)


def _folds(
    hits: Sequence[Hit], options: SearchOptions, lookups: HitLookups
) -> Iterator[tuple[str, Callable[[list[Hit]], Clusters]]]:
    """Yield the folding steps that the options turn on, each with a name for what it folds."""
    if len({hit.content_key for hit in hits}) < len(hits):
        yield "duplicates", fold_identical
    if in_formats(lookups.files(_first_of_documents(hits, options.limit))):
        yield (
            "in another format",
            lambda hits: fold_formats(hits, lookups.files(hits), lookups.texts),
        )
    if options.near_duplicates:
        yield "near duplicates", lambda hits: fold_near(hits, lookups.texts(hits))
    threshold = options.semantic_threshold
    if threshold is not None:
        yield (
            "alike in meaning",
            lambda hits: fold_semantic(hits, lookups.vectors(hits), threshold),
        )
    by_section = options.chunk_aware and options.expansion is Expansion.SECTION
    if by_section or options.granularity is Granularity.SECTION:
        yield "in the same section", lambda hits: best_per_section(hits, lookups.sections(hits))
    elif options.chunk_aware and options.expansion is Expansion.PARENT:
        yield "in the same parent", lambda hits: best_per_section(hits, lookups.parents(hits))


def _first_of_documents(hits: Sequence[Hit], most: int) -> list[Hit]:
    """Return the best hits of the first documents: of more, nothing is read for most searches."""
    first: dict[int, Hit] = {}
    for hit in hits:
        first.setdefault(hit.document_id, hit)
    return list(islice(first.values(), most))


def _by_place(leads: list[Hit]) -> list[Hit]:
    """Replace the scores of reranked hits by falling ones, so that their order counts."""
    if all(hit.grade is None for hit in leads):
        return leads
    scores = sorted((hit.score for hit in leads), reverse=True)
    return [replace(hit, score=score) for hit, score in zip(leads, scores, strict=True)]


def _gather(
    hits: Sequence[Hit], options: SearchOptions, also: Mapping[int, Sequence[int]]
) -> list[Group]:
    by_document: dict[int, list[Hit]] = {}
    for hit in hits:
        by_document.setdefault(hit.document_id, []).append(hit)

    also_in = {
        document: tuple(sorted(set(others).difference(by_document)))
        for document, others in also.items()
    }
    if options.per_document == 1 and options.chunk_aware:
        # Reordering looks at all; else what is beyond the page is not put together.
        by_best = options.mmr_lambda is None and options.aggregation is Aggregation.MAX
        most = options.limit if by_best else len(by_document)
        groups = [
            Group(document, tuple(own), (), also_in.get(document, ()))
            for document, own in islice(by_document.items(), most)
        ]
        return groups if options.aggregation is Aggregation.MAX else aggregated(groups, options)
    return [
        Group(
            hit.document_id,
            (hit,),
            tuple(other for other in by_document[hit.document_id] if other is not hit),
            also_in.get(hit.document_id, ()),
        )
        for hit, *_folded in cap_per_document(hits, options.per_document)
    ]


def aggregated(groups: Sequence[Group], options: SearchOptions) -> list[Group]:
    """Order groups by the mean of their best scores, as many as ``chunks_per_doc``.

    Each score has itself as its weight: ``sum(s * s) / sum(s)``. Grades of a reranker come before.
    """
    scored = []
    for own in groups:
        scores = [hit.score for hit in own.hits[: options.chunks_per_doc]]
        mean = sum(score * score for score in scores) / sum(scores)
        scored.append(replace(own, aggregated=mean))
    scored.sort(key=lambda own: -own.score)
    # Python's sort is stable.
    return sorted(scored, key=lambda own: 1.0 if (grade := own.hits[0].grade) is None else -grade)


def mmr(hits: Sequence[Hit], vectors: Vectors, lambda_: float, limit: int) -> list[Hit]:
    """Choose up to ``limit`` hits by maximal marginal relevance, in the order of choosing.

    Each choice weighs a hit's score by ``lambda_`` against its likeness to what is already
    chosen; 1 keeps the ranking, 0 looks at variety alone. A hit without a vector is like none.

    Raises:
        QueryError: ``lambda_`` is not from 0 to 1.
    """
    if not 0.0 <= lambda_ <= 1.0:
        raise QueryError(
            f"The balance of relevance and variety is {lambda_}.", "Choose a number from 0 to 1."
        )
    if not hits or limit <= 0:
        return []
    cosines = cosines_of(hits, vectors)
    relevance = lambda_ * np.array([hit.score for hit in hits], dtype=np.float64)
    nearest = np.zeros(len(hits), dtype=np.float64)
    open_ = np.ones(len(hits), dtype=np.bool_)
    chosen: list[Hit] = []
    while len(chosen) < min(limit, len(hits)):
        gain = np.where(open_, relevance - (1.0 - lambda_) * nearest, -np.inf)
        row = int(np.argmax(gain))
        chosen.append(hits[row])
        open_[row] = False
        nearest = np.maximum(nearest, cosines[row])
    return chosen


def with_parts(
    groups: Iterable[Group],
    chunks: Iterable[Hit],
    sections: Mapping[int, Sequence[int]],
    options: SearchOptions,
) -> tuple[Group, ...]:
    """Give each group the best chunks of its wholes, up to ``chunks_per_doc``.

    No more wholes are shown than that either. ``chunks`` are hits on all chunks of their documents,
    best first; ``sections`` the first chunks of each document's sections, ascending. The best chunk
    of a whole is always among them, however weak; others must have ``min_score``. Groups that
    would show nothing but what better ones do are left out.
    """
    of_document: dict[int, list[Hit]] = {}
    for hit in chunks:
        of_document.setdefault(hit.document_id, []).append(hit)
    shown: list[Group] = []
    told: set[int] = set()
    for own in groups:
        inside = of_document.get(own.document_id, ())
        wholes = [hit for hit in own.hits if hit.level in COARSE][: options.chunks_per_doc]
        parts = _parts(wholes, inside, sections.get(own.document_id, ()), options)
        entries = {part.hit.entry_id for part in parts}
        entries |= {hit.entry_id for hit in own.hits if hit.level not in COARSE}
        # A document may have several results: what a better one shows is not shown again.
        if not entries or not entries <= told:
            shown.append(replace(own, wholes=tuple(wholes), parts=parts) if parts else own)
        told |= entries
    return tuple(shown)


def _parts(
    wholes: Sequence[Hit], chunks: Sequence[Hit], sections: Sequence[int], options: SearchOptions
) -> tuple[Part, ...]:
    """Return the best chunk of each whole, then what else is good in any, each once."""
    best: dict[int, Part] = {}
    others: list[Part] = []
    for whole in wholes:
        inside = [
            Part(hit, whole.level)
            for hit in chunks
            if whole.level is Level.DOCUMENT
            or _section(hit.chunk_index, sections) == whole.chunk_index
        ]
        for part in inside[:1]:
            best.setdefault(part.hit.entry_id, part)
        others += [part for part in inside[1:] if part.hit.score >= options.min_score]
    others.sort(key=lambda part: -part.hit.score)
    for part in others:
        best.setdefault(part.hit.entry_id, part)
    return tuple(best.values())[: options.chunks_per_doc]


def _section(chunk: int, sections: Sequence[int]) -> int:
    """Return the first chunk of the section that a chunk is in."""
    at = bisect_right(sections, chunk) - 1
    return sections[at] if at >= 0 else -1
