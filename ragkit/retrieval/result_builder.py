"""Presenting: selected hits become results, with everything read in a few queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path

import numpy as np

from ragkit.catalog import Catalog
from ragkit.catalog.records import ChunkRecord, DocumentRecord
from ragkit.options import Expansion, SearchOptions
from ragkit.results import DocumentRef, Later, MatchedChunk, Passage, Result
from ragkit.retrieval.assembly import DocumentPlan, make_passages, plan_document, wanted_chunks
from ragkit.retrieval.deduplication import Vectors
from ragkit.retrieval.grouping import Group, Selected
from ragkit.retrieval.highlight import Highlighter
from ragkit.retrieval.ranking import Hit
from ragkit.types import Level, Section

_READ_WHOLE = 200_000
"""Documents of fewer characters are read whole for their passages."""


class Presenter:
    """Turns selections into results. Reads only."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def results(
        self, selected: Selected, options: SearchOptions, highlighter: Highlighter
    ) -> list[Result]:
        """The results of the groups, in their order; documents that have gone are left out."""
        groups = selected.groups
        ids = {group.document_id for group in groups}
        ids.update(one for group in groups for one in group.also_in)
        with self._catalog.connections.read():
            records = self._catalog.documents.get_many(ids)
            here = [group for group in groups if group.document_id in records]
            plans = self._plans(here, records, options)
            spans = [
                (group.document_id, passage.start, passage.end)
                for group, plan in plans
                for passage in plan.passages
            ]
            whole = {one for one in ids if one in records and records[one].characters < _READ_WHOLE}
            slices = iter(self._catalog.passages.slices(spans, whole))
        return [
            _result(group, plan, [next(slices) for _ in plan.passages], records, highlighter)
            for group, plan in plans
        ]

    def _plans(
        self,
        groups: Sequence[Group],
        records: Mapping[int, DocumentRecord],
        options: SearchOptions,
    ) -> list[tuple[Group, DocumentPlan]]:
        matched = [[_matched(hit) for hit in group.hits] for group in groups]
        wanted: dict[int, set[int]] = {}
        for rank, (group, chunks) in enumerate(zip(groups, matched, strict=True)):
            total = records[group.document_id].chunks
            indexes = wanted_chunks(chunks, total, options, rank)
            wanted.setdefault(group.document_id, set()).update(indexes)
        found = self._catalog.passages.chunks_at(
            {document: sorted(indexes) for document, indexes in wanted.items()}
        )
        sections = self._sections(list(wanted), matched, options)
        plans = []
        for rank, (group, chunks) in enumerate(zip(groups, matched, strict=True)):
            record = records[group.document_id]
            plan = plan_document(
                chunks,
                found[group.document_id],
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

    def _sections(
        self,
        documents: Sequence[int],
        matched: Sequence[Sequence[MatchedChunk]],
        options: SearchOptions,
    ) -> dict[int, Sequence[Section]]:
        by_level = any(one.level is Level.SECTION for chunks in matched for one in chunks)
        if not by_level and options.expansion not in (Expansion.SECTION, Expansion.AUTO):
            return {}
        return {one: self._catalog.documents.sections(one) for one in documents}


class CatalogLookups:
    """What selection wants to know of hits, from the catalog."""

    def __init__(self, catalog: Catalog, fingerprint: str) -> None:
        """Take the catalog and the fingerprint of the embedder whose vectors count."""
        self._catalog = catalog
        self._fingerprint = fingerprint
        self._keys: dict[int, bytes] = {}

    def read_ahead(self, hits: Iterable[Hit]) -> None:
        """Read in one query what ``content_keys`` will be asked for."""
        self._keys = self._catalog.entries.content_keys([hit.entry_id for hit in hits])

    def content_keys(self, hits: Sequence[Hit]) -> Mapping[int, bytes]:
        """Names of the hits' own texts, by entry id."""
        if self._keys:
            return {
                hit.entry_id: self._keys[hit.entry_id] for hit in hits if hit.entry_id in self._keys
            }
        return self._catalog.entries.content_keys([hit.entry_id for hit in hits])

    def sections(self, hits: Sequence[Hit]) -> Mapping[int, int]:
        """Indexes of the hits' sections, by entry id."""
        chunks = self._chunks(hits)
        return {
            hit.entry_id: chunks[hit.document_id, hit.chunk_index].chunk.section
            for hit in hits
            if (hit.document_id, hit.chunk_index) in chunks
        }

    def texts(self, hits: Sequence[Hit]) -> Mapping[int, str]:
        """The hits' own texts, by entry id."""
        chunks = self._chunks(hits)
        known = [hit for hit in hits if (hit.document_id, hit.chunk_index) in chunks]
        spans = [
            (hit.document_id, one.start, one.end)
            for hit in known
            for one in [chunks[hit.document_id, hit.chunk_index].chunk]
        ]
        slices = self._catalog.passages.slices(spans)
        return {hit.entry_id: text for hit, text in zip(known, slices, strict=True)}

    def situated(self, hits: Sequence[Hit]) -> Mapping[int, str]:
        """The hits' own texts after their documents' titles and headings, by entry id."""
        from ragkit.chunking.structural_context import contextualised, structural_context

        texts, chunks = self.texts(hits), self._chunks(hits)
        records = self._catalog.documents.get_many({hit.document_id for hit in hits})
        found = {}
        for hit in hits:
            record = records.get(hit.document_id)
            if record is not None and hit.entry_id in texts:
                chunk = chunks[hit.document_id, hit.chunk_index].chunk
                place = structural_context(record.title, chunk, record.pages)
                found[hit.entry_id] = contextualised(place, texts[hit.entry_id])
        return found

    def vectors(self, hits: Sequence[Hit]) -> Vectors:
        """The hits' vectors, by entry id."""
        embedder_id = self._catalog.embedders.find(self._fingerprint)
        if embedder_id is None:
            return {}
        found = self._catalog.vectors.of_entries([hit.entry_id for hit in hits], embedder_id)
        return {
            entry: np.frombuffer(data, "<f2").astype(np.float32) for entry, data in found.items()
        }

    def _chunks(self, hits: Sequence[Hit]) -> dict[tuple[int, int], ChunkRecord]:
        wanted: dict[int, set[int]] = {}
        for hit in hits:
            wanted.setdefault(hit.document_id, set()).add(hit.chunk_index)
        found = self._catalog.passages.chunks_at(
            {document: sorted(indexes) for document, indexes in wanted.items()}
        )
        return {
            (document, record.chunk.index): record
            for document, records in found.items()
            for record in records
        }


@lru_cache(maxsize=256)
def _folder(root: str) -> Path:
    return Path(root)


def _matched(hit: Hit) -> MatchedChunk:
    return MatchedChunk(hit.chunk_index, hit.score, hit.level, hit.contributions, (), hit.grade)


def _result(
    group: Group,
    plan: DocumentPlan,
    slices: Sequence[str],
    records: Mapping[int, DocumentRecord],
    highlighter: Highlighter,
) -> Result:
    record = records[group.document_id]
    file = _folder(record.root) / record.path
    passages = make_passages(plan, slices, highlighter.spans)
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
        score=plan.score,
        passages=passages,
        matched_chunks=tuple(
            replace(one, terms=Later(partial(_terms, one.index, passages, highlighter)))
            for one in plan.matched_chunks
        ),
        context_chunks=plan.context_chunks,
        gaps=plan.gaps,
        more=(*plan.more, *(_matched(hit) for hit in group.others)),
        also_at=tuple(records[one].path for one in group.also_in if one in records),
        missing=not file.exists(),
    )


def _terms(index: int, passages: Sequence[Passage], highlighter: Highlighter) -> tuple[str, ...]:
    for passage in passages:
        if passage.chunks[0] <= index <= passage.chunks[1]:
            return highlighter.terms(passage.text)
    return ()
