"""Assembly: groups of hits become results, with everything read in a few queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

from ragkit.catalog import Catalog
from ragkit.catalog.records import DocumentRecord
from ragkit.options import Expansion, SearchOptions
from ragkit.results import DocumentRef, Later, MatchedChunk, Passage, Result
from ragkit.retrieval.grouping import Group
from ragkit.retrieval.highlight import Highlighter
from ragkit.retrieval.passages import PassagePlan, plan_document, wanted_chunks, with_texts
from ragkit.retrieval.ranking import Hit
from ragkit.types import Level

_READ_WHOLE = 200_000
"""Documents of fewer characters are read whole for their passages."""


def assemble(
    catalog: Catalog, groups: Sequence[Group], options: SearchOptions, highlighter: Highlighter
) -> list[Result]:
    """Return the results of groups, in their order; documents that have gone are left out."""
    ids = {group.document_id for group in groups}
    ids.update(document for group in groups for document in group.also_in)
    with catalog.connections.read():
        records = catalog.documents.get_many(ids)
        present = [group for group in groups if group.document_id in records]
        plans = _plans(catalog, present, records, options)
        spans = [
            (group.document_id, passage.start, passage.end)
            for group, plan in plans
            for passage in plan.passages
        ]
        short = {record.id for record in records.values() if record.characters < _READ_WHOLE}
        slices = iter(catalog.documents.slices(spans, short))
    return [
        _result(group, plan, [next(slices) for _ in plan.passages], records, highlighter)
        for group, plan in plans
    ]


def _plans(
    catalog: Catalog,
    groups: Sequence[Group],
    records: Mapping[int, DocumentRecord],
    options: SearchOptions,
) -> list[tuple[Group, PassagePlan]]:
    matched = [[_matched(hit) for hit in group.hits] for group in groups]
    indexes: dict[int, set[int]] = {}
    for rank, (group, matches) in enumerate(zip(groups, matched, strict=True)):
        total = records[group.document_id].chunks
        of_group = wanted_chunks(matches, total, options, rank)
        indexes.setdefault(group.document_id, set()).update(of_group)
    chunks = catalog.documents.chunks_at(
        {document: sorted(of_document) for document, of_document in indexes.items()}
    )
    # Sections are read only where they decide what is shown.
    by_section = options.expansion in (Expansion.SECTION, Expansion.AUTO) or any(
        match.level is Level.SECTION for matches in matched for match in matches
    )
    sections = {
        document: catalog.documents.sections(document) for document in indexes if by_section
    }
    plans = []
    for rank, (group, matches) in enumerate(zip(groups, matched, strict=True)):
        record = records[group.document_id]
        plan = plan_document(
            matches,
            chunks[group.document_id],
            sections.get(group.document_id, ()),
            record.characters,
            options,
            rank,
            pages=record.pages,
            total=record.chunks,
        )
        if plan is not None:
            plans.append((group, plan))
    return plans


def _matched(hit: Hit) -> MatchedChunk:
    return MatchedChunk(hit.chunk_index, hit.score, hit.level, hit.contributions, (), hit.grade)


def _result(
    group: Group,
    plan: PassagePlan,
    texts: Sequence[str],
    records: Mapping[int, DocumentRecord],
    highlighter: Highlighter,
) -> Result:
    record = records[group.document_id]
    file = _folder(record.root) / record.path
    passages = with_texts(plan, texts, highlighter.spans)
    return Result(
        document=DocumentRef(
            id=record.id,
            path=record.path,
            title=record.title,
            collection=record.collection,
            format=record.format,
            pages=len(record.pages),
            chunks=record.chunks,
            file=str(file),
            date=record.date,
            metadata=record.metadata,
        ),
        score=plan.matched_chunks[0].score,
        passages=passages,
        matched_chunks=tuple(
            replace(match, terms=Later(partial(_terms, match.index, passages, highlighter)))
            for match in plan.matched_chunks
        ),
        context_chunks=plan.context_chunks,
        gaps=plan.gaps,
        more=(*plan.more, *map(_matched, group.others)),
        also_at=tuple(records[other].path for other in group.also_in if other in records),
        missing=not file.exists(),
    )


@lru_cache(maxsize=256)
def _folder(root: str) -> Path:
    return Path(root)


def _terms(index: int, passages: Sequence[Passage], highlighter: Highlighter) -> tuple[str, ...]:
    """Return the words of the query in the passage that shows a chunk."""
    for passage in passages:
        if passage.chunks[0] <= index <= passage.chunks[1]:
            return highlighter.terms(passage.text)
    return ()
