"""Shortening: weak chunks between strong ones are shown by the sentence that answers best.

Nothing is written anew: what is left of a chunk is a slice of the document as well, and says which
part of it that stands for (``Passage.shortens``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ragkit.answering.evidence import evidence
from ragkit.answering.meaning import Meaning
from ragkit.answering.questions import Question
from ragkit.catalog import Catalog
from ragkit.chunking.units import header_above
from ragkit.results import Later, Passage, Result
from ragkit.types import Chunk, Span

_WORTH_IT = 0.6
"""A chunk stays whole of which the best sentence is a larger share."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a passage: some whole chunks, or what stands for ``shortens``."""

    start: int
    end: int
    first: int
    last: int
    shortens: Span | None = None


def shortened(
    catalog: Catalog, asked: Question, results: Sequence[Result], share: float, meaning: Meaning
) -> tuple[Result, ...]:
    """Return results with their weak chunks shortened: those between two strong ones.

    Strong are those that have ``share`` of the best score of their result's chunks.
    """
    weak = [weak_chunks(result, share) for result in results]
    shown: dict[int, set[int]] = {}
    for result, of_result in zip(results, weak, strict=True):
        if of_result:
            shown.setdefault(result.document.id, set()).update(result.shown_chunks)
    if not shown:
        return tuple(results)
    places = {document: sorted(indexes) for document, indexes in shown.items()}
    chunks = {
        document: {record.chunk.index: record.chunk for record in records}
        for document, records in catalog.documents.chunks_at(places).items()
    }
    return tuple(
        _shorten(result, of_result, chunks[result.document.id], asked, meaning)
        if of_result
        else result
        for result, of_result in zip(results, weak, strict=True)
    )


def weak_chunks(result: Result, share: float) -> frozenset[int]:
    """Return the chunks of a result that are shown between strong ones and are not strong."""
    least = share * result.max_score
    strong = {chunk.index for chunk in result.matched_chunks if chunk.score >= least}
    if not strong:
        return frozenset()
    between = range(min(strong), max(strong))
    return frozenset(index for index in result.shown_chunks if index in between) - strong


def _shorten(
    result: Result,
    weak: Collection[int],
    chunks: Mapping[int, Chunk],
    asked: Question,
    meaning: Meaning,
) -> Result:
    passages: list[Passage] = []
    for passage in result.passages:
        parts: list[_Part] = []
        for part, is_weak in _divided(passage, weak, chunks):
            best = _best_of(result, _cut(passage, part), asked, meaning) if is_weak else None
            if best is not None:
                parts.append(replace(part, start=best.start, end=best.end, shortens=best.shortens))
            elif parts and parts[-1].shortens is None:
                parts[-1] = replace(parts[-1], end=part.end, last=part.last)
            else:
                parts.append(part)
        passages += [_cut(passage, part) for part in parts] if len(parts) > 1 else [passage]
    return replace(result, passages=tuple(passages))


def _divided(
    passage: Passage, weak: Collection[int], chunks: Mapping[int, Chunk]
) -> list[tuple[_Part, bool]]:
    """Tile a passage with its chunks, each with whether it is weak.

    Where chunks overlap, what they share is the stronger one's.
    """
    first, last = passage.chunks
    divided: list[tuple[_Part, bool]] = []
    position = passage.start
    for index in range(first, last + 1):
        if index not in chunks or (index < last and index + 1 not in chunks):
            return [(_Part(passage.start, passage.end, first, last), False)]
        if index == last:
            end = passage.end
        elif index + 1 in weak and index not in weak:
            end = chunks[index].end
        else:
            end = chunks[index + 1].start
        if end > position:
            divided.append((_Part(position, end, index, index), index in weak))
            position = end
    return divided


def _best_of(result: Result, piece: Passage, asked: Question, meaning: Meaning) -> _Part | None:
    """Return the sentence of a piece that answers best, if it is much shorter."""
    alone = replace(result, passages=(piece,))
    candidates = evidence(asked, [alone], meaning)
    row = candidates.best_of(0)
    if row is None:
        if not candidates.sentences:
            return None
        row = 0
    best = candidates.sentences[row]
    if best.end - best.start > _WORTH_IT * len(piece.text.strip()):
        return None
    return _Part(best.start, best.end, *piece.chunks, Span(piece.start, piece.end))


def _cut(passage: Passage, part: _Part) -> Passage:
    """Return a part of a passage."""
    start, end = part.start, part.end
    marks = partial(_marks, passage.highlights, start - passage.start, end - passage.start)
    later = [(offset, number) for offset, number in passage.later_pages if start < offset < end]
    headings = [
        (max(offset, start), path)
        for place, (offset, path) in enumerate(passage.headings)
        if offset < end
        and (place + 1 == len(passage.headings) or passage.headings[place + 1][0] > start)
    ]
    return replace(
        passage,
        start=start,
        end=end,
        text=passage.text[start - passage.start : end - passage.start],
        heading_path=passage.path_at(start),
        page=passage.page_at(start),
        highlights=Later(marks),
        chunks=(part.first, part.last),
        cut=passage.cut and end == passage.end,
        later_pages=tuple(later),
        headings=tuple(headings),
        shortens=part.shortens,
        header=header_above(passage.text[: start - passage.start], passage.header),
    )


def _marks(
    highlights: Sequence[tuple[int, int]], start: int, end: int
) -> tuple[tuple[int, int], ...]:
    """Return the marks within a slice, as offsets of it."""
    inside = ((max(a, start), min(b, end)) for a, b in highlights if a < end and b > start)
    return tuple((a - start, b - start) for a, b in inside)
