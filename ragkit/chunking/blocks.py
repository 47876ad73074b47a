"""Blocks: the smallest spans that a reader sees as one unit. They tile the text.

Each message of a conversation is a block, so that chunks and their overlap keep it whole.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from ragkit.chunking.sizes import word_count
from ragkit.chunking.structure import Structure
from ragkit.types import Block, BlockKind, Chunk, InnerBlock, Markup, MessageSpan, Section

_NOT_BLANK = re.compile(r"\S")
_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1+\s*$")
_HEADING_SEARCH = 1000
_INNER_KINDS = frozenset({BlockKind.TABLE, BlockKind.LIST, BlockKind.CODE})
_LARGEST_SHARE = 0.8
FEWEST_WORDS = 20
"""A table, list or code block with fewer words does not become an entry."""


def find_blocks(
    text: str, structure: Structure, sections: Sequence[Section], markup: Markup
) -> tuple[Block, ...]:
    """Tile a text with blocks that do not cross borders of sections.

    Blank lines belong to the block before them, or to the first block of their section.
    """
    if not text:
        return ()
    starts = dict(structure.starts)
    offsets = [start for start, _ in structure.starts]
    for section in sections:
        at = bisect_right(offsets, section.start) - 1
        starts.setdefault(
            section.start, structure.starts[at][1] if at >= 0 else BlockKind.PARAGRAPH
        )
        if markup is Markup.PLAIN and section.path:
            _mark_heading(text, section, starts)
    borders = {section.start for section in sections}
    return _tiled(_without_gaps(text, sorted(starts.items()), borders), len(text))


def whole_messages(
    blocks: Sequence[Block], sections: Sequence[Section], messages: Sequence[MessageSpan]
) -> tuple[Block, ...]:
    """Make each message one block. Blocks still tile the text within borders of sections.

    Text between two messages in which no block starts belongs to the message before it.
    """
    if not blocks:
        return ()
    length = blocks[-1].end
    borders = {section.start for section in sections}
    starts = [message.start for message in messages]
    marks: dict[int, BlockKind] = {}
    for block in blocks:
        at = bisect_right(starts, block.start) - 1
        inside = at >= 0 and block.start < messages[at].end
        if not inside:
            marks[block.start] = block.kind
        elif block.start in borders:
            marks[block.start] = BlockKind.MESSAGE
    for message in messages:
        if 0 <= message.start < min(message.end, length):
            marks[message.start] = BlockKind.MESSAGE
    return _tiled(sorted(marks.items()), length)


def inner_blocks(
    text: str, sections: Sequence[Section], blocks: Sequence[Block], chunks: Sequence[Chunk]
) -> tuple[InnerBlock, ...]:
    """Return the tables, lists and code blocks that deserve an entry of their own.

    Each is assigned to the first chunk that contains all of it. Short blocks, and blocks that are
    nearly all of their chunk, are left out.
    """
    starts = [section.start for section in sections]
    inner: list[InnerBlock] = []
    at = 0
    for block in blocks:
        if block.kind not in _INNER_KINDS:
            continue
        end = block.start + len(text[block.start : block.end].rstrip())
        while at < len(chunks) and chunks[at].end <= block.start:
            at += 1
        # Chunks overlap: the next one may be the first that has it whole.
        for chunk in chunks[at : at + 2]:
            if chunk.start <= block.start and end <= chunk.end:
                if _is_distinct(text[block.start : end], text[chunk.start : chunk.end]):
                    section = bisect_right(starts, block.start) - 1
                    inner.append(InnerBlock(block.start, end, block.kind, chunk.index, section))
                break
    return tuple(inner)


def _is_distinct(block: str, chunk: str) -> bool:
    """Return whether a block is long enough for an entry, and clearly less than its chunk."""
    return FEWEST_WORDS <= word_count(block) <= _LARGEST_SHARE * word_count(chunk)


def _tiled(marks: Sequence[tuple[int, BlockKind]], length: int) -> tuple[Block, ...]:
    """Return the blocks that start at the marks and tile a text of that length."""
    ends = [start for start, _ in marks[1:]] + [length]
    return tuple(Block(start, end, kind) for (start, kind), end in zip(marks, ends, strict=True))


def _mark_heading(text: str, section: Section, starts: dict[int, BlockKind]) -> None:
    """Make the title of a section in plain text a heading block, with its adornment lines."""
    first = _NOT_BLANK.search(text, section.start, section.end)
    if first is None:
        return
    line = text.rfind("\n", section.start, first.start()) + 1 or section.start
    lines = text[line : min(section.end, line + _HEADING_SEARCH)].splitlines(keepends=True)
    count = 1 if _UNDERLINE.match(lines[0]) else 0
    if count >= len(lines) or " ".join(lines[count].split()) != section.title:
        return
    count += 1
    if count < len(lines) and _UNDERLINE.match(lines[count]):
        count += 1
    end = line + sum(map(len, lines[:count]))
    if line != section.start:
        starts.pop(line, None)
    starts[section.start] = BlockKind.HEADING
    after = _NOT_BLANK.search(text, end, section.end)
    if after is not None and text.find("\n", end, after.start()) < 0:
        starts.setdefault(end, BlockKind.PARAGRAPH)


def _without_gaps(
    text: str, marks: Sequence[tuple[int, BlockKind]], borders: set[int]
) -> list[tuple[int, BlockKind]]:
    """Join blocks that are blank to the block after them in the same section."""
    kept: list[tuple[int, BlockKind]] = []
    for start, kind in marks:
        blank = bool(kept) and _NOT_BLANK.search(text, kept[-1][0], start) is None
        if blank and start not in borders:
            kept[-1] = (kept[-1][0], kind)
        else:
            kept.append((start, kind))
    return kept
