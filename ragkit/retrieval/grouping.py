"""Selection: from fused hits to the documents of the answer, each step counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from ragkit.options import Expansion, Granularity, SearchOptions
from ragkit.retrieval.assembly import parent_of
from ragkit.retrieval.deduplication import (
    Folded,
    Vectors,
    best_per_section,
    cap_per_document,
    fold_identical,
    fold_near,
    fold_semantic,
    mmr,
)
from ragkit.retrieval.ranking import Hit


class Lookups(Protocol):
    """What some steps want to know of hits; asked for only by the steps that are on."""

    def content_keys(self, hits: Sequence[Hit]) -> Mapping[int, bytes]:
        """Names of the hits' own texts, by entry id."""
        ...

    def sections(self, hits: Sequence[Hit]) -> Mapping[int, int]:
        """Indexes of the hits' sections, by entry id."""
        ...

    def texts(self, hits: Sequence[Hit]) -> Mapping[int, str]:
        """The hits' own texts, by entry id."""
        ...

    def vectors(self, hits: Sequence[Hit]) -> Vectors:
        """The hits' vectors, by entry id."""
        ...


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
class Selected:
    """The groups of the answer in order; ``hits`` are all that were kept, ``note`` says how."""

    groups: tuple[Group, ...]
    hits: tuple[Hit, ...]
    note: str = ""


def select(hits: Sequence[Hit], options: SearchOptions, lookups: Lookups) -> Selected:
    """Drop weak hits, fold duplicates, and gather what is left into results."""
    # A vector index finds something for every question; what adds nothing is no hit.
    kept = tuple(hit for hit in hits if hit.score > 0.0)
    notes: list[str] = []
    _note(notes, "unrelated", len(hits) - len(kept))
    also: dict[int, list[int]] = {}
    if options.min_score > 0:
        strong = tuple(hit for hit in kept if hit.score >= options.min_score)
        _note(notes, "weak", len(kept) - len(strong))
        kept = strong
    for name, folded in _folds(kept, options, lookups):
        _note(notes, name, folded.removed)
        for hit in folded.kept if folded.groups else ():
            homes = {other.document_id for other in folded.others(hit)} - {hit.document_id}
            for home in sorted(homes):
                # What an earlier step folded into that document goes along with it.
                also.setdefault(hit.document_id, []).extend([home, *also.get(home, ())])
        kept = folded.kept
    groups = _gather(kept, options, also)
    if options.mmr_lambda is not None and len(groups) > 1:
        leads = _by_place([group.hits[0] for group in groups])
        order = mmr(leads, lookups.vectors(leads), options.mmr_lambda, options.limit)
        by_entry = {group.hits[0].entry_id: group for group in groups}
        groups = [by_entry[hit.entry_id] for hit in order]
        notes.append("reordered for variety")
    return Selected(tuple(groups[: options.limit]), kept, ", ".join(notes))


def _by_place(leads: list[Hit]) -> list[Hit]:
    """Give reranked hits scores that fall with their places, so that their order counts."""
    if all(one.grade is None for one in leads):
        return leads
    scores = sorted((one.score for one in leads), reverse=True)
    return [replace(one, score=score) for one, score in zip(leads, scores, strict=True)]


def _folds(
    hits: tuple[Hit, ...], options: SearchOptions, lookups: Lookups
) -> list[tuple[str, Folded]]:
    done: list[tuple[str, Folded]] = []

    def now() -> tuple[Hit, ...]:
        return done[-1][1].kept if done else hits

    if hits:
        done.append(("duplicates", fold_identical(hits, lookups.content_keys(hits))))
        if options.near_duplicates:
            done.append(("near duplicates", fold_near(now(), lookups.texts(now()))))
        if options.semantic_threshold is not None:
            vectors = lookups.vectors(now())
            folded = fold_semantic(now(), vectors, options.semantic_threshold)
            done.append(("alike in meaning", folded))
        by_section = options.chunk_aware and options.expansion is Expansion.SECTION
        if by_section or options.granularity is Granularity.SECTION:
            folded = best_per_section(now(), lookups.sections(now()))
            done.append(("in the same section", folded))
        elif options.chunk_aware and options.expansion is Expansion.PARENT:
            sections, size = lookups.sections(now()), options.parent_chunks
            parents = {
                hit.entry_id: (sections[hit.entry_id], parent_of(hit.chunk_index, size))
                for hit in now()
                if hit.entry_id in sections
            }
            done.append(("in the same parent", best_per_section(now(), parents)))
    return done


def _gather(
    hits: Sequence[Hit], options: SearchOptions, also: Mapping[int, Sequence[int]]
) -> list[Group]:
    by_document: dict[int, list[Hit]] = {}
    for hit in hits:
        by_document.setdefault(hit.document_id, []).append(hit)

    def also_in(document: int) -> tuple[int, ...]:
        if document not in also:
            return ()
        return tuple(sorted({one for one in also[document] if one not in by_document}))

    if options.per_document == 1 and options.chunk_aware:
        # Reordering for variety looks at all; else what is beyond the page is not put together.
        most = options.limit if options.mmr_lambda is None else len(by_document)
        return [
            Group(document, tuple(found), (), also_in(document))
            for document, found in islice(by_document.items(), most)
        ]
    capped = cap_per_document(hits, options.per_document)
    return [
        Group(
            hit.document_id,
            (hit,),
            tuple(one for one in by_document[hit.document_id] if one is not hit),
            also_in(hit.document_id),
        )
        for hit in capped.kept
    ]


def _note(notes: list[str], name: str, removed: int) -> None:
    if removed:
        notes.append(f"{removed} {name} removed")
