"""The parents of what a search found: the context from which an answer is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ragkit.catalog import Catalog
from ragkit.options import Expansion, SearchOptions
from ragkit.results import MatchedChunk, Passage, Result
from ragkit.retrieval.passages import PassagePlan, plan_document, wanted_chunks, with_texts

_PARENT = SearchOptions(expansion=Expansion.PARENT)


def in_parents(catalog: Catalog, results: Sequence[Result], most: int) -> tuple[Result, ...]:
    """Return results whose passages are the ``most`` parents that hold the best chunks of all.

    Each parent counts once, for its best chunk. Results stay in their order; those of whose
    parents none is among the best are left out.
    """
    hits = [
        (place, chunk) for place, result in enumerate(results) for chunk in result.matched_chunks
    ]
    # Python's sort is stable: of equals the first result's come first.
    hits.sort(key=lambda hit: best_first(hit[1]), reverse=True)
    with catalog.connections.read():
        plans = _plans(catalog, results, hits, most)
        passages = [plan.passages[0] for _, plan in plans]
        homes = [results[place].document.id for place, _ in plans]
        spans = [
            (home, passage.start, passage.end)
            for home, passage in zip(homes, passages, strict=True)
        ]
        ends = [
            (home, *passage.chunks, passage.end)
            for home, passage in zip(homes, passages, strict=True)
        ]
        texts, headings = catalog.documents.slices(spans), catalog.documents.headings(ends)
    shown: dict[int, list[Passage]] = {}
    for (place, plan), text, within in zip(plans, texts, headings, strict=True):
        marks = partial(_highlights, results[place], plan.passages[0])
        shown.setdefault(place, []).extend(with_texts(plan, [text], [within], marks))
    return tuple(
        replace(
            results[place], passages=tuple(sorted(shown[place], key=lambda passage: passage.start))
        )
        for place in sorted(shown)
    )


def best_first(chunk: MatchedChunk) -> tuple[float, float]:
    """Return the key that chunks of one answer are sorted by, highest first: grade, then score."""
    return (-1.0 if chunk.grade is None else chunk.grade, chunk.score)


def _plans(
    catalog: Catalog, results: Sequence[Result], hits: Sequence[tuple[int, MatchedChunk]], most: int
) -> list[tuple[int, PassagePlan]]:
    """Plan the passage of each parent once, best first, with the place of its result."""
    documents = catalog.documents.get_many({result.document.id for result in results})
    indexes: dict[int, set[int]] = {}
    for place, chunk in hits:
        document = results[place].document
        chunks = wanted_chunks([chunk], document.chunks, _PARENT, 0)
        indexes.setdefault(document.id, set()).update(chunks)
    records = catalog.documents.chunks_at(
        {document: sorted(at) for document, at in indexes.items()}
    )
    plans: dict[tuple[int, int], tuple[int, PassagePlan]] = {}
    for place, chunk in hits:
        record = documents.get(results[place].document.id)
        if record is None or len(plans) == most:
            continue
        plan = plan_document(
            [chunk],
            records[record.id],
            (),
            record.characters,
            _PARENT,
            0,
            pages=record.pages,
            total=record.chunks,
        )
        if plan is not None:
            plans.setdefault((record.id, plan.passages[0].start), (place, plan))
    return list(plans.values())


def _highlights(result: Result, parent: Passage, _text: str) -> tuple[tuple[int, int], ...]:
    """Return the highlights of a parent passage: those of the result's own passages in it."""
    marks = {
        (start + shown.start - parent.start, end + shown.start - parent.start)
        for shown in result.passages
        for start, end in shown.highlights
        if parent.start <= start + shown.start and end + shown.start <= parent.end
    }
    return tuple(sorted(marks))
