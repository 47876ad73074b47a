"""Assembly: groups of hits become results, with everything read in a few queries."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from ragkit.catalog import Catalog
from ragkit.catalog.documents import Documents
from ragkit.catalog.records import DocumentRecord
from ragkit.chunking.units import header_above
from ragkit.options import Expansion, SearchOptions
from ragkit.results import Answer, DocumentRef, Later, MatchedChunk, Passage, Result
from ragkit.retrieval.grouping import Group
from ragkit.retrieval.highlight import Highlighter
from ragkit.retrieval.hits import Hit
from ragkit.retrieval.levels import COARSE
from ragkit.retrieval.passages import (
    PassagePlan,
    plan_document,
    shown_by_section,
    wanted_chunks,
    with_texts,
)
from ragkit.types import InnerBlock, Level, Span

_READ_WHOLE = 200_000
"""Documents of fewer characters are read whole for their passages."""

_HEADER_REACH = 20_000
"""Characters before a passage, and from the start of its section on, that are looked at.

The rows of a longer table are taken to go back to the one at the start of the section.
"""


def assemble(
    catalog: Catalog,
    groups: Sequence[Group],
    options: SearchOptions,
    tokens: Collection[str],
    words: Callable[[], Sequence[str]],
    forms: Mapping[str, str] = MappingProxyType({}),
) -> list[Result]:
    """Return the results of groups, in their order; documents that have gone are left out.

    The query's ``tokens`` are highlighted in the passages, and ``words`` returns its words as
    typed, to name those that a passage has; neither is computed before it is looked at. ``forms``
    are those of the tokens that are other forms of a word. Without ``show_content`` passages have
    no text.
    """
    highlighter = Highlighter(tokens, words, forms)
    ids = {group.document_id for group in groups}
    ids.update(document for group in groups for document in group.also_in)
    with catalog.connections.read():
        records = catalog.documents.get_many(ids)
        present = [group for group in groups if group.document_id in records]
        plans = _plans(catalog, present, records, options)
        shown = [plan.passages for _, plan in plans]
        if options.show_content:
            shown = _read(catalog, plans, records, highlighter.spans)
    return [
        _result(group, plan, passages, records, highlighter)
        for (group, plan), passages in zip(plans, shown, strict=True)
    ]


def _read(
    catalog: Catalog,
    plans: Sequence[tuple[Group, PassagePlan]],
    records: Mapping[int, DocumentRecord],
    highlight: Callable[[str], tuple[tuple[int, int], ...]],
) -> list[tuple[Passage, ...]]:
    """Return the passages of each plan with their texts and headings, read in two queries."""
    passages = [(group.document_id, passage) for group, plan in plans for passage in plan.passages]
    short = {record.id for record in records.values() if record.characters < _READ_WHOLE}
    slices = iter(
        catalog.documents.slices(
            [(document, passage.start, passage.end) for document, passage in passages], short
        )
    )
    headings = iter(
        catalog.documents.headings(
            [(document, *passage.chunks, passage.end) for document, passage in passages]
        )
    )
    read = [
        with_texts(
            plan,
            [next(slices) for _ in plan.passages],
            [next(headings) for _ in plan.passages],
            highlight,
        )
        for _, plan in plans
    ]
    headers = _table_headers(
        catalog.documents,
        [
            (group.document_id, passage)
            for (group, _), of_group in zip(plans, read, strict=True)
            for passage in of_group
        ],
        short,
    )
    return [
        tuple(
            replace(passage, header=header) if (header := next(headers)) else passage
            for passage in of_group
        )
        for of_group in read
    ]


def _plans(
    catalog: Catalog,
    groups: Sequence[Group],
    records: Mapping[int, DocumentRecord],
    options: SearchOptions,
) -> list[tuple[Group, PassagePlan]]:
    blocks = _blocks(catalog, groups)
    matched = [_matches(group, blocks) for group in groups]
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
        map(shown_by_section, chain.from_iterable(matched))
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


def _blocks(catalog: Catalog, groups: Sequence[Group]) -> Mapping[int, InnerBlock]:
    """Return the blocks that were found, by entry id."""
    entries = [hit.entry_id for group in groups for hit in group.hits if hit.level is Level.BLOCK]
    return catalog.entries.blocks(entries) if entries else {}


def _matches(group: Group, blocks: Mapping[int, InnerBlock]) -> list[MatchedChunk]:
    """Return a group's hits as matched chunks; for those found as a whole, their best chunks."""
    hits = [hit for hit in group.hits if not (group.wholes and hit.level in COARSE)]
    parts = [replace(_matched(part.hit), part_of=part.of) for part in group.parts]
    return [*(_matched(hit, blocks.get(hit.entry_id)) for hit in hits), *parts]


def _matched(hit: Hit, block: InnerBlock | None = None) -> MatchedChunk:
    return MatchedChunk(
        hit.chunk_index,
        hit.score,
        hit.level,
        hit.contributions,
        (),
        hit.grade,
        span=Span(block.start, block.end) if block else None,
        block=block.kind if block else None,
    )


def _result(
    group: Group,
    plan: PassagePlan,
    passages: tuple[Passage, ...],
    records: Mapping[int, DocumentRecord],
    highlighter: Highlighter,
) -> Result:
    record = records[group.document_id]
    coarse = [hit for hit in group.hits if hit.level in COARSE]
    # Of others that were found as wholes, nothing is shown.
    others = coarse[len(group.wholes) :] if group.wholes else ()
    further = (*plan.more, *map(_matched, others), *map(_matched, group.others))
    shown = {match.index for match in plan.matched_chunks}.union(plan.context_chunks)
    # Joined as text: a path object takes longer to make than to look whether its file is there.
    file = os.path.join(_folder(record.root), record.path.replace("/", os.sep))  # noqa: PTH118
    return Result(
        document=DocumentRef(
            id=record.id,
            path=record.path,
            title=record.title,
            collection=record.collection,
            format=record.format,
            pages=len(record.pages),
            chunks=record.chunks,
            file=file,
            date=record.date,
            metadata=record.metadata,
            markup=record.markup,
        ),
        score=group.score,
        passages=passages,
        matched_chunks=tuple(
            replace(match, terms=_later_terms(match.index, passages, highlighter))
            for match in plan.matched_chunks
        ),
        context_chunks=plan.context_chunks,
        gaps=plan.gaps,
        more=tuple(match for match in further if match.index not in shown),
        also_at=tuple(sorted(records[other].path for other in group.also_in if other in records)),
        missing=_is_gone(file),
        wholes=tuple(map(_matched, group.wholes)),
        forms=highlighter.forms,
    )


def look_again(answer: Answer) -> Answer:
    """Return an answer that was given before, with whether its files are gone by now."""
    gone = [_is_gone(result.document.file) for result in answer.results]
    if gone == [result.missing for result in answer.results]:
        return answer
    results = zip(answer.results, gone, strict=True)
    return replace(answer, results=tuple(replace(each, missing=now) for each, now in results))


def _is_gone(file: str) -> bool:
    """Return whether a file is known to be gone, not only out of reach."""
    try:
        os.stat(file)  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


@lru_cache(maxsize=256)
def _folder(root: str) -> str:
    return str(Path(root))


def _later_terms(index: int, passages: Sequence[Passage], highlighter: Highlighter) -> Later[str]:
    return Later(partial(_terms, index, passages, highlighter), travels=True)


def _terms(index: int, passages: Sequence[Passage], highlighter: Highlighter) -> tuple[str, ...]:
    """Return the words of the query in the passage that shows a chunk."""
    for passage in passages:
        if passage.chunks[0] <= index <= passage.chunks[1]:
            return highlighter.terms(passage.text)
    return ()


def _table_headers(
    documents: Documents, passages: Sequence[tuple[int, Passage]], whole: Container[int]
) -> Iterator[str]:
    """Yield the header line of the table that each passage begins inside; empty if in none.

    Passages come with the ids of their documents, of which those in ``whole`` are read whole.
    """
    places = [
        (document, passage.start)
        for document, passage in passages
        if passage.start and passage.text.startswith("|")
    ]
    headers: dict[tuple[int, int], str] = {}
    if places:
        sections = documents.section_starts(places)
        spans = []
        for document, start in places:
            section = sections.get((document, start), 0)
            spans.append((document, max(section, start - _HEADER_REACH), start))
            spans.append((document, section, min(section + _HEADER_REACH, start)))
        slices = documents.slices(spans, whole)
        for place, near, far in zip(places, slices[::2], slices[1::2], strict=True):
            headers[place] = _header(near, far)
    for document, passage in passages:
        yield headers.get((document, passage.start), "")


def _header(near: str, far: str) -> str:
    """Return the header of the rows before a passage, or of those at the start of its section."""
    first = header_above(far[: far.rfind("\n") + 1])
    if len(near) < _HEADER_REACH:
        return first
    return header_above(near[near.find("\n") + 1 :], first)
