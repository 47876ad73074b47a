"""Chunks: the indexed spans, made of whole blocks where possible, with overlap."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragkit.chunking.blocks import find_blocks, whole_messages
from ragkit.chunking.sections import common_prefix, merge_small_sections
from ragkit.chunking.sizes import TOKEN, WORD, ChunkSizes, is_unspaced, token_weight, weight
from ragkit.chunking.splitter import (
    LINE_END,
    SENTENCE_END,
    Piece,
    Size,
    break_piece,
    is_mark,
    make_piece,
)
from ragkit.chunking.structure import find_structure
from ragkit.types import Block, BlockKind, Chunk, Markup, MessageSpan, Page, Section

TINY = 40
"""Sections with fewer words join a neighbour under the same heading, even a large one."""

_Bounds = tuple[int, int]


def find_chunks(
    text: str,
    sections: Sequence[Section],
    blocks: Sequence[Block],
    pages: Sequence[Page],
    settings: ChunkSizes,
) -> tuple[Chunk, ...]:
    """Divide a text into chunks of bounded size that cover all of it except white space.

    A chunk has at most ``settings.words`` words and twelve times as many characters. A section
    longer by at most the overlap stays whole: its second chunk would repeat more than it adds.
    Neighbouring small sections of one heading share a chunk (see ``merge_small_sections``).
    """
    inside = _pieces_by_section(text, sections, blocks)
    weights = [sum(piece.weight for piece in pieces) for pieces in inside]
    least = min(settings.min_words, settings.words)
    tiny, least = _at_least(min(TINY, least)), _at_least(least)
    packer = _Packer(text, Size.of_words(settings.words), Size.of_words(settings.overlap))
    roomy = _Packer(text, Size.of_words(settings.words + settings.overlap), packer.overlap)
    describe = _Describer(text, sections, pages)
    chunks: list[Chunk] = []
    for group in merge_small_sections(sections, weights, tiny, least, packer.most.weight):
        pieces: list[Piece] = []
        for section in group:
            alone = len(group) == 1 or weights[section.index] >= tiny
            pieces += inside[section.index] if alone else _as_one(inside[section.index])
        for start, end in (roomy if roomy.holds(pieces) else packer).pack(pieces):
            chunks.append(describe.chunk(len(chunks), start, end))
    return tuple(chunks)


def cut_by_size(
    text: str,
    shown: str,
    messages: Sequence[MessageSpan],
    most: Size,
    overlap: Size,
) -> list[tuple[int, int]]:
    """Divide a text into spans of bounded size, regardless of its headings.

    ``shown`` is the text with blanks instead of what must be left out, and of the same length. The
    spans cover all its other characters. Messages are split only if they are too large.
    """
    structure = find_structure(text, Markup.MARKDOWN)
    whole = (Section(0, 0, len(text), 0, ()),)
    blocks = find_blocks(text, structure, whole, Markup.MARKDOWN)
    if messages:
        blocks = whole_messages(blocks, whole, messages)
    (pieces,) = _pieces_by_section(shown, whole, blocks)
    return list(_Packer(shown, most, overlap).pack(pieces))


def _at_least(words: int) -> int:
    """Return the least weight of a text with that ``word_count``."""
    return (words - 1) * WORD + 1 if words else 0


def _pieces_by_section(
    text: str, sections: Sequence[Section], blocks: Sequence[Block]
) -> list[list[Piece]]:
    """Return the pieces of each section: its blocks that are not blank."""
    inside: list[list[Piece]] = [[] for _ in sections]
    at = 0
    for block in blocks:
        while sections[at].end <= block.start:
            at += 1
        piece = make_piece(text, block.start, block.end, block.kind)
        if piece is not None:
            inside[at].append(piece)
    return inside


def _as_one(pieces: Sequence[Piece]) -> list[Piece]:
    """Join the pieces of a tiny section into one, so that it is not split unnecessarily."""
    if len(pieces) < 2:
        return list(pieces)
    total = sum(piece.weight for piece in pieces)
    last = pieces[-1].kind
    kind = last if last is BlockKind.MESSAGE else BlockKind.PARAGRAPH
    return [Piece(pieces[0].start, pieces[-1].end, total, kind, opens=kind is BlockKind.MESSAGE)]


@dataclass(frozen=True, slots=True)
class _Packer:
    """Packs pieces in order into spans of bounded size."""

    text: str
    most: Size
    overlap: Size

    def holds(self, pieces: Sequence[Piece]) -> bool:
        """Return whether pieces fit into one chunk."""
        length = pieces[-1].end - pieces[0].start if pieces else 0
        weighs = sum(piece.weight for piece in pieces)
        return weighs <= self.most.weight and length <= self.most.characters

    def pack(self, pieces: Sequence[Piece]) -> Iterator[_Bounds]:
        """Yield the spans of chunks of the pieces."""
        queue = deque(pieces)
        inside: list[Piece] = []
        start, used = -1, 0
        while queue:
            start = queue[0].start if start < 0 else start
            thin = used * 4 < self.most.weight
            self._join_heading(queue, start, used if thin else 0, thin=thin)
            piece = queue[0]
            if self._fits(piece, start, used):
                inside.append(queue.popleft())
                used += piece.weight
            elif not piece.whole and not self._stays_whole(piece, thin=thin):
                self._break_first(queue)
            elif inside:
                yield start, inside[-1].end
                start, used = self._next_start(start, inside, piece)
                inside = []
            else:
                start, used = piece.start, 0
        if inside:
            yield start, inside[-1].end

    def _fits(self, piece: Piece, start: int, used: int) -> bool:
        """Return whether a piece fits into the chunk that starts at ``start``."""
        return used + piece.weight <= self.most.weight and piece.end - start <= self.most.characters

    def _stays_whole(self, piece: Piece, *, thin: bool) -> bool:
        """Return whether a piece is left whole for the next chunk, as messages are if they fit."""
        keeps = piece.kind is BlockKind.MESSAGE or not thin
        return keeps and self._fits(piece, piece.start, 0)

    def _break_first(self, queue: deque[Piece]) -> None:
        """Replace the first piece by its parts."""
        queue.extendleft(reversed(break_piece(self.text, queue.popleft(), self.most)))

    def _join_heading(self, queue: deque[Piece], start: int, used: int, *, thin: bool) -> None:
        """Join a heading at the front of the queue with the beginning of its text."""
        heading = queue[0]
        if heading.kind is not BlockKind.HEADING or len(queue) == 1:
            return
        if heading.whole or heading.weight * 2 > self.most.weight:
            return
        queue.popleft()
        start = start if thin else heading.start
        while True:
            joined = heading.joined(queue[0])
            fits = self._fits(joined, start, used)
            message = queue[0].kind is BlockKind.MESSAGE
            if fits or queue[0].whole or (message and self._stays_whole(queue[0], thin=thin)):
                break
            self._break_first(queue)
        if self._fits(joined, heading.start, 0):
            queue.popleft()
            heading = joined
        else:
            heading = Piece(heading.start, heading.end, heading.weight, BlockKind.PARAGRAPH)
        queue.appendleft(heading)

    def _next_start(self, start: int, inside: Sequence[Piece], after: Piece) -> _Bounds:
        """Return the start of the next chunk, and the weight of the text that it repeats.

        The overlap leaves room for the next piece. It starts at a piece, a sentence, a line or a
        word: the first of these that keeps at least half of the possible overlap. Before a message,
        only whole messages are repeated, of a table only whole rows; within a message, no earlier
        message is.
        """
        end = inside[-1].end
        room = min(self.overlap.weight, self.most.weight - after.weight)
        low = max(start + 1, end - self.overlap.characters, after.end - self.most.characters)
        message = after.kind is BlockKind.MESSAGE
        if message and not after.opens:
            low = max(low, *(piece.start for piece in inside if piece.opens), 0)
        if room * 4 < self.overlap.weight or low >= end:
            return after.start, 0
        words = self._word_starts(low, end, room)
        if not words:
            return after.start, 0
        first = words[-1][0]
        if message and after.opens:
            whole = [piece.start for piece in inside if piece.opens and piece.start >= first]
            return (whole[0], weight(self.text[whole[0] : end])) if whole else (after.start, 0)
        if inside[-1].kind is BlockKind.TABLE:
            rows = (match.end() for match in LINE_END.finditer(self.text, low - 1, end))
            row = next((at for at in rows if at >= first), after.start)
            return row, weight(self.text[row:end])
        half = next(at for at, weighs in words if weighs * 2 >= words[-1][1])
        chosen = first
        pieces = [piece.start for piece in inside if first <= piece.start <= half]
        if pieces:
            chosen = pieces[0]
        else:
            for border in (SENTENCE_END, LINE_END):
                # The sentence before the first word may end anywhere from ``low`` on.
                matches = border.finditer(self.text, low, end)
                near = next((m.end() for m in matches if first <= m.end() <= half), None)
                if near is not None:
                    chosen = near
                    break
        return chosen, weight(self.text[chosen:end])

    def _word_starts(self, low: int, end: int, room: int) -> list[tuple[int, int]]:
        """Return (start, weight up to ``end``) of words, last first, within ``room``."""
        text = self.text
        near = max(low, end - room // 4)
        while True:
            tokens = list(TOKEN.finditer(text, near, end))
            if tokens and tokens[0].start() == near and _inside_word(text, near):
                del tokens[0]
            starts: list[tuple[int, int]] = []
            total = 0
            for token in reversed(tokens):
                total += token_weight(token)
                if total > room:
                    return starts
                if not is_mark(text[token.start()]):
                    starts.append((token.start(), total))
            if near == low:
                return starts
            near = max(low, end - (end - near) * 2)


def _inside_word(text: str, at: int) -> bool:
    """Return whether an offset is between two characters of one word."""
    before, after = text[at - 1], text[at]
    return not (before.isspace() or is_unspaced(before) or is_unspaced(after))


class _Describer:
    """Builds chunks from spans, with their sections and pages."""

    def __init__(self, text: str, sections: Sequence[Section], pages: Sequence[Page]) -> None:
        ordered = sorted(pages, key=lambda page: (page.start, page.end))
        self._text = text
        self._sections = sections
        self._section_starts = [section.start for section in sections]
        self._page_starts = [page.start for page in ordered]
        self._page_numbers = [page.number for page in ordered]

    def chunk(self, index: int, start: int, end: int) -> Chunk:
        """Return the chunk of a span without surrounding white space."""
        first = bisect_right(self._section_starts, start) - 1
        last = bisect_right(self._section_starts, end - 1) - 1
        touched = self._sections[first : last + 1]
        # Text before the first heading, such as front matter, has no path.
        paths = [section.path for section in touched if section.path]
        path = common_prefix(paths) if paths else ()
        return Chunk(index, start, end, first, path, self._pages(start, end))

    def _pages(self, start: int, end: int) -> tuple[int, int] | None:
        """Return the numbers of the first and last page of a span, or ``None``."""
        if not self._page_starts:
            return None
        first = max(bisect_right(self._page_starts, start) - 1, 0)
        last = max(bisect_right(self._page_starts, end - 1) - 1, first)
        return self._page_numbers[first], self._page_numbers[last]
