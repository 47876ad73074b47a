"""Grouping: from ranked hits to the groups that make the results, each step counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ragkit.options import Expansion, Granularity, SearchOptions
from ragkit.retrieval.deduplication import (
    Clusters,
    best_per_section,
    cap_per_document,
    fold_identical,
    fold_near,
    fold_semantic,
    kept_hits,
    mmr,
)
from ragkit.retrieval.lookups import HitLookups
from ragkit.retrieval.passages import parent_of
from ragkit.retrieval.ranking import Hit


@dataclass(frozen=True, slots=True)
class Group:
    """The hits that make one result, best first, and documents that hold the same text.

    ``others`` are further hits of the document that stand in results of their own or in none.
    """

    document_id: int
    hits: tuple[Hit, ...]
    others: tuple[Hit, ...] = ()
    also_in: tuple[int, ...] = ()


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
    notes = _counted({"unrelated": len(hits) - len(related), "weak": len(related) - len(strong)})
    left: list[Hit] = strong
    also: dict[int, list[int]] = {}
    for name, fold in _folds(options, lookups) if left else ():
        clusters = fold(left)
        notes += _counted({name: len(left) - len(clusters)})
        for lead, *folded in clusters if len(clusters) < len(left) else ():
            homes = {hit.document_id for hit in folded} - {lead.document_id}
            for home in sorted(homes):
                # What an earlier step folded into that document goes along with it.
                also.setdefault(lead.document_id, []).extend([home, *also.get(home, ())])
        left = kept_hits(clusters)
    groups = _gather(left, options, also)
    if options.mmr_lambda is not None and len(groups) > 1:
        leads = _by_place([one.hits[0] for one in groups])
        order = mmr(leads, lookups.vectors(leads), options.mmr_lambda, options.limit)
        by_entry = {one.hits[0].entry_id: one for one in groups}
        groups = [by_entry[hit.entry_id] for hit in order]
        notes.append("reordered for variety")
    return Grouping(tuple(groups[: options.limit]), tuple(left), ", ".join(notes))


def _folds(
    options: SearchOptions, lookups: HitLookups
) -> Iterator[tuple[str, Callable[[list[Hit]], Clusters]]]:
    """Yield the steps that are on, with what their duplicates are called."""
    yield "duplicates", lambda hits: fold_identical(hits, lookups.content_keys(hits))
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
        yield "in the same parent", lambda hits: _best_per_parent(hits, options, lookups)


def _best_per_parent(hits: Sequence[Hit], options: SearchOptions, lookups: HitLookups) -> Clusters:
    sections, size = lookups.sections(hits), options.parent_chunks
    parents = {
        hit.entry_id: (sections[hit.entry_id], parent_of(hit.chunk_index, size))
        for hit in hits
        if hit.entry_id in sections
    }
    return best_per_section(hits, parents)


def _by_place(leads: list[Hit]) -> list[Hit]:
    """Give reranked hits scores that fall with their places, so that their order counts."""
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

    def also_in(document: int) -> tuple[int, ...]:
        return tuple(sorted(set(also.get(document, ())).difference(by_document)))

    if options.per_document == 1 and options.chunk_aware:
        # Reordering for variety looks at all; else what is beyond the page is not put together.
        most = options.limit if options.mmr_lambda is None else len(by_document)
        return [
            Group(document, tuple(own), (), also_in(document))
            for document, own in islice(by_document.items(), most)
        ]
    return [
        Group(
            hit.document_id,
            (hit,),
            tuple(other for other in by_document[hit.document_id] if other is not hit),
            also_in(hit.document_id),
        )
        for hit in kept_hits(cap_per_document(hits, options.per_document))
    ]


def _counted(removed: Mapping[str, int]) -> list[str]:
    return [f"{count} {name} removed" for name, count in removed.items() if count]
