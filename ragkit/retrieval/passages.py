"""Passages: which spans of a document are shown for the chunks that matched.

``plan_document`` decides without the text; ``with_texts`` adds the slices that were read for it.
Chunks hold every character that is not blank, so chunks whose indexes follow each other touch.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, pairwise
from typing import NamedTuple, TypeAlias

from ragkit.catalog.records import ChunkRecord
from ragkit.chunking.parents import PARENT_CHUNKS
from ragkit.options import Expansion, SearchOptions
from ragkit.results import Later, MatchedChunk, Passage
from ragkit.types import Chunk, Level, Page, Section, Span

DOCUMENT_SECTIONS = 5
"""How many times ``section_characters`` a document may have to be shown whole."""

_SHORT_DOCUMENT = 3
_SHORT_SECTION = 1.5
_SHORT_REACH = 4
_SMALLEST_CHUNK = 100


@dataclass(frozen=True, slots=True)
class PassagePlan:
    """What is shown of one document; the fields mean what those of ``Result`` do.

    ``passages`` have neither text nor headings yet.
    """

    passages: tuple[Passage, ...]
    matched_chunks: tuple[MatchedChunk, ...]
    context_chunks: tuple[int, ...] = ()
    gaps: tuple[tuple[int, int], ...] = ()
    more: tuple[MatchedChunk, ...] = ()


class _Interval(NamedTuple):
    """A span to show, and the first and last of the chunks that it shows whole."""

    start: int
    end: int
    first: int
    last: int
    cut: bool = False


_Chunks: TypeAlias = Mapping[int, Chunk]
Headings: TypeAlias = Sequence[tuple[int, tuple[str, ...]]]
"""Offsets of a document's text with the heading path from there on."""


def wanted_chunks(
    matched: Sequence[MatchedChunk], total: int, options: SearchOptions, rank: int
) -> list[int]:
    """Return the indexes of the chunks that a plan may show, to be read all at once.

    ``total`` is how many chunks the document has, ``rank`` its place in the answer, from 0.
    """
    kept, _more = _choose(matched, options)
    expansion = options.expansion if options.chunk_aware else Expansion.CHUNK
    reach = _reach(expansion, options, rank)
    by_section = any(map(shown_by_section, kept))
    if by_section and expansion is not Expansion.CHUNK:
        reach = max(reach, _reach(Expansion.SECTION, options, rank))
    indexes: set[int] = set()
    for match in kept:
        indexes.update(range(max(match.index - reach, 0), min(match.index + reach + 1, total)))
    return sorted(indexes)


def plan_document(
    matched: Sequence[MatchedChunk],
    chunks: Sequence[ChunkRecord],
    sections: Sequence[Section],
    text_length: int,
    options: SearchOptions,
    rank: int,
    *,
    pages: Sequence[Page] = (),
    total: int | None = None,
) -> PassagePlan | None:
    """Decide what to show of a document; ``None`` when no matched chunk is good enough.

    ``chunks`` are the document's, or at least the ``wanted_chunks``, of ``total``; matched chunks
    that are not among them are not shown, but are among ``more``. ``rank`` is the document's place
    in the answer, from 0: only the first ``adjacent_top_docs`` show neighbours. A matched chunk is
    always shown whole; budgets bound what is shown around it.
    """
    by_index = {record.chunk.index: record.chunk for record in chunks}
    total = len(chunks) if total is None else total
    read = [match for match in matched if match.index in by_index]
    kept, rest = _choose(read, options)
    if not kept:
        return None
    if total == 1:
        shown = [_Interval(0, text_length, 0, 0)]
    else:
        around = _Around(by_index, sections, text_length, total, options, rank)
        shown = _merge(around.intervals(kept))
    indexes = {match.index for match in kept}
    if len(read) < len(matched):
        # Further matches are listed, whether or not they were read.
        rest = tuple(chain(*_choose([match for match in matched if match.index < total], options)))
    more = tuple(match for match in rest if match.index not in indexes)
    shown_indexes = [index for part in shown for index in range(part.first, part.last + 1)]
    return PassagePlan(
        passages=tuple(_passage(part, by_index, indexes, pages) for part in shown),
        matched_chunks=tuple(
            replace(
                match,
                span=match.span or Span(by_index[match.index].start, by_index[match.index].end),
                pages=by_index[match.index].pages,
                heading_path=by_index[match.index].heading_path,
            )
            for match in kept
        ),
        context_chunks=tuple(index for index in shown_indexes if index not in indexes),
        gaps=tuple(
            (before.last + 1, after.first - 1)
            for before, after in pairwise(shown)
            if before.last + 1 <= after.first - 1
        ),
        more=more,
    )


def shown_by_section(match: MatchedChunk) -> bool:
    """Return whether a match is shown with its section: a block, a section, or part of one."""
    return match.level is Level.BLOCK or Level.SECTION in (match.level, match.part_of)


def with_texts(
    plan: PassagePlan,
    texts: Sequence[str],
    headings: Sequence[Headings],
    highlight: Callable[[str], tuple[tuple[int, int], ...]] | None = None,
) -> tuple[Passage, ...]:
    """Return the passages of a plan with the slices ``[start, end)`` of the stored text, in order.

    ``headings`` are those of the sections that each passage touches, none where it is one.
    ``highlight`` finds the spans to mark in a slice, such as ``Highlighter(...).spans``; it is
    called when a passage's highlights are looked at.
    """
    return tuple(
        replace(
            passage,
            text=text,
            highlights=Later(partial(highlight, text), travels=True) if highlight else (),
            headings=tuple((max(start, passage.start), path) for start, path in within),
        )
        for passage, text, within in zip(plan.passages, texts, headings, strict=True)
    )


def _choose(
    matched: Sequence[MatchedChunk], options: SearchOptions
) -> tuple[tuple[MatchedChunk, ...], tuple[MatchedChunk, ...]]:
    """Divide matched chunks, best first, into those shown and more; weak ones are dropped.

    A chunk that was found at several levels counts once, with its best grade or score; each of its
    blocks for itself. Those that are part of a whole were chosen before.
    """
    best: dict[tuple[int, Span | None], MatchedChunk] = {}
    for match in sorted(matched, key=_best_first):
        best.setdefault((match.index, match.span), match)
    good = [
        match
        for match in best.values()
        if match.score >= options.min_score or match.part_of is not None
    ]
    most = options.chunks_per_doc if options.chunks_per_doc > 0 else len(good)
    return tuple(good[:most]), tuple(good[most:])


def _best_first(match: MatchedChunk) -> tuple[float, float, int, Level]:
    """Return the key that sorts matched chunks best first, those with a grade before others."""
    by_grade = 1.0 if match.grade is None else -match.grade
    return by_grade, -match.score, match.index, match.level


def _reach(expansion: Expansion, options: SearchOptions, rank: int) -> int:
    """Return how many chunks on each side of a matched one can matter."""
    neighbours = max(options.neighbours, 0) if rank < options.adjacent_top_docs else 0
    if expansion is Expansion.CHUNK:
        return 0
    if expansion is Expansion.NEIGHBOURS:
        return neighbours
    if expansion is Expansion.PARENT:
        return PARENT_CHUNKS - 1
    if expansion is Expansion.AUTO:
        return max(_SHORT_REACH, neighbours)
    sections = DOCUMENT_SECTIONS if expansion is Expansion.DOCUMENT else 1
    return options.section_characters * sections // _SMALLEST_CHUNK + 1


@dataclass(frozen=True, slots=True)
class _Around:
    """Decides what is shown around the matched chunks of one document."""

    chunks: _Chunks
    sections: Sequence[Section]
    text_length: int
    total: int
    options: SearchOptions
    rank: int

    def intervals(self, kept: Sequence[MatchedChunk]) -> list[_Interval]:
        """Return the span of each matched chunk with its surroundings, in no order."""
        options = self.options
        expansion = options.expansion if options.chunk_aware else Expansion.CHUNK
        if expansion is Expansion.CHUNK:
            return [self._with_neighbours(match.index, 0) for match in kept]
        if expansion is Expansion.PARENT:
            return [self._parent(self.chunks[match.index]) for match in kept]
        if expansion is Expansion.AUTO and self.total <= _SHORT_DOCUMENT:
            return [self._whole()]
        if expansion is Expansion.DOCUMENT:
            return self._document(kept)
        reach = _reach(Expansion.NEIGHBOURS, options, self.rank)
        if expansion is Expansion.NEIGHBOURS and not any(map(shown_by_section, kept)):
            return [self._with_neighbours(match.index, reach) for match in kept]
        sharing: dict[tuple[int, int], int] = {}
        spans = [self._section(self.chunks[match.index]) for match in kept]
        for span in spans:
            sharing[span] = sharing.get(span, 0) + 1
        intervals = []
        for match, span in zip(kept, spans, strict=True):
            by_section = (
                expansion is Expansion.SECTION
                or shown_by_section(match)
                or (expansion is Expansion.AUTO and self._short(match.index, span))
            )
            if by_section:
                budget = options.section_characters
                intervals.append(self._within(match.index, span, budget, sharing[span]))
            else:
                intervals.append(self._with_neighbours(match.index, reach))
        return intervals

    def _whole(self) -> _Interval:
        """Show everything."""
        return _Interval(0, self.text_length, 0, self.total - 1)

    def _document(self, kept: Sequence[MatchedChunk]) -> list[_Interval]:
        """Show the document, or as much of it around the best matched chunk as is allowed."""
        budget = self.options.section_characters * DOCUMENT_SECTIONS
        if self.text_length <= budget:
            return [self._whole()]
        best = self._grow(kept[0].index, (0, self.text_length), budget)
        return [best, *(self._with_neighbours(match.index, 0) for match in kept[1:])]

    def _with_neighbours(self, index: int, reach: int) -> _Interval:
        """Show a chunk with its neighbours, whichever sections they are in."""
        first = last = index
        while index - first < reach and first - 1 in self.chunks:
            first -= 1
        while last - index < reach and last + 1 in self.chunks:
            last += 1
        return self._from_to(first, last)

    def _parent(self, chunk: Chunk) -> _Interval:
        """Show the chunks of the same parent."""
        first = last = chunk.index
        while first - 1 in self.chunks and self.chunks[first - 1].parent == chunk.parent:
            first -= 1
        while last + 1 in self.chunks and self.chunks[last + 1].parent == chunk.parent:
            last += 1
        return self._from_to(first, last)

    def _section(self, chunk: Chunk) -> tuple[int, int]:
        """Return the span of the sections that a chunk touches; mostly it is one."""
        if not 0 <= chunk.section < len(self.sections):
            return chunk.start, chunk.end
        start, last = self.sections[chunk.section].start, chunk.section
        while last + 1 < len(self.sections) and self.sections[last].end < chunk.end:
            last += 1
        return min(start, chunk.start), max(self.sections[last].end, chunk.end)

    def _short(self, index: int, span: tuple[int, int]) -> bool:
        """Return whether a section is hardly longer than its longest chunk."""
        inside = self._inside(index, span)
        if not self._complete(inside):
            return False
        longest = max(self.chunks[at].end - self.chunks[at].start for at in inside)
        return span[1] - span[0] <= _SHORT_SECTION * longest

    def _inside(self, index: int, span: tuple[int, int]) -> range:
        """Return the indexes of the chunks around one that lie whole within a span."""
        first = last = index
        while first - 1 in self.chunks and self.chunks[first - 1].start >= span[0]:
            first -= 1
        while last + 1 in self.chunks and self.chunks[last + 1].end <= span[1]:
            last += 1
        return range(first, last + 1)

    def _within(self, index: int, span: tuple[int, int], budget: int, sharing: int) -> _Interval:
        """Show a section, or as much of it around a chunk as its share of the budget allows."""
        inside = self._inside(index, span)
        start, end = self._trimmed(inside, span)
        if end - start <= budget and self._complete(inside):
            return _Interval(start, end, inside[0], inside[-1])
        return self._grow(index, span, budget // sharing)

    def _complete(self, inside: range) -> bool:
        """Return whether the chunks of a span were all read."""
        before, after = inside[0] - 1, inside[-1] + 1
        return (before < 0 or before in self.chunks) and (
            after == self.total or after in self.chunks
        )

    def _trimmed(self, inside: range, span: tuple[int, int]) -> tuple[int, int]:
        """Leave out the blank ends of a span, where no other chunk reaches into it."""
        before, after = self.chunks.get(inside[0] - 1), self.chunks.get(inside[-1] + 1)
        apart_before = inside[0] == 0 if before is None else before.end <= span[0]
        apart_after = inside[-1] == self.total - 1 if after is None else after.start >= span[1]
        return (
            self.chunks[inside[0]].start if apart_before else span[0],
            self.chunks[inside[-1]].end if apart_after else span[1],
        )

    def _grow(self, index: int, span: tuple[int, int], budget: int) -> _Interval:
        """Add whole chunks to both sides in turn for as long as the budget and the span last."""
        inside = self._inside(index, span)
        first = last = index
        below = above = True
        while below or above:
            if below:
                below = first > inside[0] and self._size(first - 1, last) <= budget
                first -= below
            if above:
                above = last < inside[-1] and self._size(first, last + 1) <= budget
                last += above
        shown = self._from_to(first, last)
        start, end = self._trimmed(inside, span)
        return shown._replace(cut=shown.start > start or shown.end < end)

    def _size(self, first: int, last: int) -> int:
        """Count the characters from one chunk to another."""
        return self.chunks[last].end - self.chunks[first].start

    def _from_to(self, first: int, last: int) -> _Interval:
        """Show the chunks from one to another."""
        return _Interval(self.chunks[first].start, self.chunks[last].end, first, last)


def _merge(intervals: Sequence[_Interval]) -> list[_Interval]:
    """Put spans in order and join those that overlap, touch or show chunks that follow."""
    merged: list[_Interval] = []
    for part in sorted(intervals):
        last = merged[-1] if merged else None
        if last is not None and (part.start <= last.end or part.first <= last.last + 1):
            merged[-1] = _Interval(
                last.start,
                max(last.end, part.end),
                min(last.first, part.first),
                max(last.last, part.last),
                last.cut or part.cut,
            )
        else:
            merged.append(part)
    return merged


def _passage(part: _Interval, chunks: _Chunks, matched: set[int], pages: Sequence[Page]) -> Passage:
    """Locate a span: by its first matched chunk, and the page that it starts on."""
    indexes = range(part.first, part.last + 1)
    leading = next((index for index in indexes if index in matched), part.first)
    later: tuple[tuple[int, int], ...] = ()
    if pages:
        row = bisect_right(pages, part.start, key=lambda page: page.start)
        page: int | None = pages[max(row - 1, 0)].number
        end = bisect_left(pages, part.end, key=lambda page: page.start)
        later = tuple((page.start, page.number) for page in pages[row:end])
    else:
        numbers = chunks[part.first].pages if part.first in chunks else None
        page = numbers[0] if numbers else None
    return Passage(
        start=part.start,
        end=part.end,
        text="",
        heading_path=chunks[leading].heading_path,
        page=page,
        later_pages=later,
        chunks=(part.first, part.last),
        cut=part.cut,
    )
