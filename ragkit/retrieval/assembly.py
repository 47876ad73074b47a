"""Assembly: a document is put together from the chunks that matched and what lies around them.

First ``plan_document`` decides which spans of the stored text are shown, without the text; then
``make_passages`` turns the slices that were read for it into passages. Chunks hold every
character that is not blank, so chunks whose indexes follow each other touch.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from ragkit.catalog.records import ChunkRecord
from ragkit.options import Expansion, SearchOptions
from ragkit.results import Later, MatchedChunk, Passage
from ragkit.types import Chunk, Level, Page, Section

DOCUMENT_SECTIONS = 5
"""How many times ``section_characters`` a document may have to be shown whole."""

_SHORT_DOCUMENT = 3
_SHORT_SECTION = 1.5
_SHORT_REACH = 4
_SMALLEST_CHUNK = 100


@dataclass(frozen=True, slots=True)
class PlannedPassage:
    """A passage without its text; the fields are those of ``Passage``."""

    start: int
    end: int
    heading_path: tuple[str, ...]
    page: int | None
    chunks: tuple[int, int]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class DocumentPlan:
    """What is shown of one document; the fields that ``Result`` has too mean the same.

    ``dropped`` counts the matched chunks whose score was too low.
    """

    score: float
    passages: tuple[PlannedPassage, ...]
    matched_chunks: tuple[MatchedChunk, ...]
    context_chunks: tuple[int, ...] = ()
    gaps: tuple[tuple[int, int], ...] = ()
    more: tuple[MatchedChunk, ...] = ()
    dropped: int = 0


class _Interval(NamedTuple):
    """A span to show, and the first and last of the chunks that it shows whole."""

    start: int
    end: int
    first: int
    last: int
    cut: bool = False


_Chunks: TypeAlias = Mapping[int, Chunk]


def wanted_chunks(
    matched: Sequence[MatchedChunk], total: int, options: SearchOptions, rank: int
) -> list[int]:
    """List the indexes of the chunks that a plan may show, to be read all at once.

    ``total`` is how many chunks the document has, ``rank`` its place in the answer, from 0.
    """
    kept, _, _ = _choose(matched, options)
    expansion = options.expansion if options.chunk_aware else Expansion.CHUNK
    reach = _reach(expansion, options, rank)
    if any(one.level is Level.SECTION for one in kept) and expansion is not Expansion.CHUNK:
        reach = max(reach, _reach(Expansion.SECTION, options, rank))
    wanted: set[int] = set()
    for one in kept:
        wanted.update(range(max(one.index - reach, 0), min(one.index + reach + 1, total)))
    return sorted(wanted)


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
) -> DocumentPlan | None:
    """Decide what to show of a document; ``None`` when no matched chunk is good enough.

    ``chunks`` are the document's, or at least the ``wanted_chunks``, of ``total``; matched chunks
    that are not among them are passed over. ``rank`` is the document's place in the answer, from
    0: only the first ``adjacent_top_docs`` show neighbours. A matched chunk is always shown
    whole; budgets bound what is shown around it.
    """
    known = {record.chunk.index: record.chunk for record in chunks}
    total = len(chunks) if total is None else total
    here = [one for one in matched if one.index in known]
    kept, more, dropped = _choose(here, options)
    if not kept:
        return None
    if total == 1:
        whole = [_Interval(0, text_length, 0, 0)]
    else:
        around = _Around(known, sections, text_length, total, options, rank)
        whole = _merge(around.intervals(kept))
    indexes = {one.index for one in kept}
    shown = [index for one in whole for index in range(one.first, one.last + 1)]
    return DocumentPlan(
        score=kept[0].score,
        passages=tuple(_passage(one, known, indexes, pages) for one in whole),
        matched_chunks=kept,
        context_chunks=tuple(index for index in shown if index not in indexes),
        gaps=tuple(
            (before.last + 1, after.first - 1)
            for before, after in pairwise(whole)
            if before.last + 1 <= after.first - 1
        ),
        more=more,
        dropped=dropped,
    )


def parent_of(index: int, size: int) -> int:
    """The number of the parent that a chunk is in, within its section; ``size`` is in chunks.

    Parents divide a document at every ``size`` chunks and at every section, so that a chunk has
    one parent, whatever was found.
    """
    return index // max(size, 1)


def make_passages(
    plan: DocumentPlan,
    slices: Sequence[str],
    highlight: Callable[[str], tuple[tuple[int, int], ...]] | None = None,
) -> tuple[Passage, ...]:
    """Join a plan with the slices ``[start, end)`` of the stored text, one for each passage.

    ``highlight`` finds the spans to mark in a slice, such as ``Highlighter(...).spans``; it is
    asked when a passage's highlights are looked at.
    """
    return tuple(
        Passage(
            start=one.start,
            end=one.end,
            text=text,
            heading_path=one.heading_path,
            page=one.page,
            highlights=Later(partial(highlight, text)) if highlight else (),
            chunks=one.chunks,
            cut=one.cut,
        )
        for one, text in zip(plan.passages, slices, strict=True)
    )


def _choose(
    matched: Sequence[MatchedChunk], options: SearchOptions
) -> tuple[tuple[MatchedChunk, ...], tuple[MatchedChunk, ...], int]:
    """Divide matched chunks, best first, into those shown and more, and count the weak ones.

    A chunk that was found at several levels counts once, with its best grade or score.
    """
    best: dict[int, MatchedChunk] = {}
    for one in sorted(matched, key=_place):
        best.setdefault(one.index, one)
    good = [one for one in best.values() if one.score >= options.min_score]
    most = options.chunks_per_doc if options.chunks_per_doc > 0 else len(good)
    return tuple(good[:most]), tuple(good[most:]), len(best) - len(good)


def _place(one: MatchedChunk) -> tuple[float, float, int, str]:
    """Graded chunks come first; what has the same grade, or none, is ordered by score."""
    grade = -1.0 if one.grade is None else one.grade
    return (-grade, -one.score, one.index, one.level)


def _reach(expansion: Expansion, options: SearchOptions, rank: int) -> int:
    """Say how many chunks on each side of a matched one can matter."""
    if expansion is Expansion.CHUNK:
        return 0
    if expansion is Expansion.NEIGHBOURS:
        return _neighbours(options, rank)
    if expansion is Expansion.PARENT:
        return max(options.parent_chunks, 1) - 1
    if expansion is Expansion.AUTO:
        return max(_SHORT_REACH, _neighbours(options, rank))
    sections = DOCUMENT_SECTIONS if expansion is Expansion.DOCUMENT else 1
    return options.section_characters * sections // _SMALLEST_CHUNK + 1


def _neighbours(options: SearchOptions, rank: int) -> int:
    """Say how many neighbours are shown on each side of a matched chunk."""
    return max(options.neighbours, 0) if rank < options.adjacent_top_docs else 0


@dataclass(frozen=True, slots=True)
class _Around:
    """Finds what to show around the matched chunks of one document."""

    chunks: _Chunks
    sections: Sequence[Section]
    text_length: int
    total: int
    options: SearchOptions
    rank: int

    def intervals(self, kept: Sequence[MatchedChunk]) -> list[_Interval]:
        """Give the span of each matched chunk with its surroundings, in no order."""
        options = self.options
        expansion = options.expansion if options.chunk_aware else Expansion.CHUNK
        if expansion is Expansion.CHUNK:
            return [self._beside(one.index, 0) for one in kept]
        if expansion is Expansion.PARENT:
            return [self._parent(self.chunks[one.index]) for one in kept]
        if expansion is Expansion.AUTO and self.total <= _SHORT_DOCUMENT:
            return [self._whole()]
        if expansion is Expansion.DOCUMENT:
            return self._document(kept)
        sharing: dict[tuple[int, int], int] = {}
        spans = [self._section(self.chunks[one.index]) for one in kept]
        for span in spans:
            sharing[span] = sharing.get(span, 0) + 1
        found = []
        for one, span in zip(kept, spans, strict=True):
            by_section = (
                expansion is Expansion.SECTION
                or one.level is Level.SECTION
                or (expansion is Expansion.AUTO and self._short(one.index, span))
            )
            if by_section:
                budget = options.section_characters
                found.append(self._within(one.index, span, budget, sharing[span]))
            else:
                found.append(self._beside(one.index, _neighbours(options, self.rank)))
        return found

    def _whole(self) -> _Interval:
        """Show everything."""
        return _Interval(0, self.text_length, 0, self.total - 1)

    def _document(self, kept: Sequence[MatchedChunk]) -> list[_Interval]:
        """Show the document, or as much of it around the best matched chunk as is allowed."""
        budget = self.options.section_characters * DOCUMENT_SECTIONS
        if self.text_length <= budget:
            return [self._whole()]
        best = self._grow(kept[0].index, (0, self.text_length), budget)
        return [best, *(self._beside(one.index, 0) for one in kept[1:])]

    def _beside(self, index: int, reach: int) -> _Interval:
        """Show a chunk with its neighbours, whichever sections they are in."""
        first = last = index
        while index - first < reach and first - 1 in self.chunks:
            first -= 1
        while last - index < reach and last + 1 in self.chunks:
            last += 1
        return self._from_to(first, last)

    def _parent(self, chunk: Chunk) -> _Interval:
        """Show the chunks of the same parent."""
        size = max(self.options.parent_chunks, 1)
        start = parent_of(chunk.index, size) * size
        first = last = chunk.index
        while first > start and self._joins(first - 1, chunk):
            first -= 1
        while last + 1 < start + size and self._joins(last + 1, chunk):
            last += 1
        return self._from_to(first, last)

    def _joins(self, index: int, chunk: Chunk) -> bool:
        return index in self.chunks and self.chunks[index].section == chunk.section

    def _section(self, chunk: Chunk) -> tuple[int, int]:
        """Find the span of the sections that a chunk touches; mostly it is one."""
        if not 0 <= chunk.section < len(self.sections):
            return chunk.start, chunk.end
        start, last = self.sections[chunk.section].start, chunk.section
        while last + 1 < len(self.sections) and self.sections[last].end < chunk.end:
            last += 1
        return min(start, chunk.start), max(self.sections[last].end, chunk.end)

    def _short(self, index: int, span: tuple[int, int]) -> bool:
        """Tell whether a section is hardly longer than its longest chunk."""
        inside = self._inside(index, span)
        if not self._complete(inside):
            return False
        longest = max(self.chunks[at].end - self.chunks[at].start for at in inside)
        return span[1] - span[0] <= _SHORT_SECTION * longest

    def _inside(self, index: int, span: tuple[int, int]) -> range:
        """Give the indexes of the chunks around one that lie whole within a span."""
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
        """Tell whether the chunks of a span were all read."""
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
    for one in sorted(intervals):
        last = merged[-1] if merged else None
        if last is not None and (one.start <= last.end or one.first <= last.last + 1):
            merged[-1] = _Interval(
                last.start,
                max(last.end, one.end),
                min(last.first, one.first),
                max(last.last, one.last),
                last.cut or one.cut,
            )
        else:
            merged.append(one)
    return merged


def _passage(
    one: _Interval, chunks: _Chunks, matched: set[int], pages: Sequence[Page]
) -> PlannedPassage:
    """Say where a span stands: by its first matched chunk, and the page that it starts on."""
    indexes = range(one.first, one.last + 1)
    leading = next((index for index in indexes if index in matched), one.first)
    page = None
    if pages:
        at = bisect_right(pages, one.start, key=lambda page: page.start) - 1
        page = pages[max(at, 0)].number
    else:
        numbers = chunks[one.first].pages if one.first in chunks else None
        page = numbers[0] if numbers else None
    return PlannedPassage(
        start=one.start,
        end=one.end,
        heading_path=chunks[leading].heading_path,
        page=page,
        chunks=(one.first, one.last),
        cut=one.cut,
    )
