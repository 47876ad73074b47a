"""Splits blocks into pieces at ever finer borders."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ragkit.chunking.sizes import RUN, WORD, token_weight, weight
from ragkit.types import BlockKind

CHARACTERS_PER_WORD = 12
_MARKS_KEPT = 8
"""The most combining marks that are kept with the character before them."""

_JOINER = "\u200d"

_SMALL = "".join(filter(str.islower, map(chr, range(0x250)))) + "\u03ac-\u03ce\u0430-\u045f"
# German closes with signs that open in English and French; French has a space before its own.
_CLOSING = r"(?>(?:\]\([^()\s]{0,500}\)|[\"'”’“‘)\]*_«»›]|[ \u00a0\u202f]»(?=\s))*)"
SENTENCE_END = re.compile(
    rf"(?<![.!?…])(?!(?:(?<=\s)…|\.{{4,}}) \d)[.!?…؟۔]++{_CLOSING}\s++(?![{_SMALL}])"
    rf"|(?<=[\u0370-\u03ff\u1f00-\u1fff]{{2}})[;\u037e]{_CLOSING}\s++(?![{_SMALL}])"
    r"|(?<![。！？｡।])[。！？｡।]++[」』）】”’]*+\s*+|\n\s*\n\s*+"
)
"""The end of a sentence; its match ends where the next sentence starts.

Dots before a page, as in contents, end none. Behind a Greek letter, ";" asks.
"""

LINE_END = re.compile(r"\n\s*+")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*+")
_ITEM = re.compile(r"\n(?= {0,3}(?:[-*+•]|\d{1,9}[.)])\s)")

_BORDERS: dict[BlockKind, tuple[re.Pattern[str], ...]] = {
    BlockKind.LIST: (_ITEM, LINE_END, SENTENCE_END),
    BlockKind.TABLE: (LINE_END,),
    BlockKind.CODE: (_BLANK_LINE, LINE_END),
    BlockKind.FRONT_MATTER: (LINE_END, SENTENCE_END),
    BlockKind.MESSAGE: (_BLANK_LINE, SENTENCE_END, LINE_END),
}
_PROSE = (SENTENCE_END, LINE_END)
_BROKEN = 99
"""The depth of a piece that cannot be split any further."""


@dataclass(frozen=True, slots=True)
class Size:
    """The largest size of a chunk in tenths of a word and in characters."""

    weight: int
    characters: int

    @classmethod
    def of_words(cls, words: int) -> Size:
        """Return the size of that many words, with enough characters for long words."""
        return cls(words * WORD, words * CHARACTERS_PER_WORD)


@dataclass(frozen=True, slots=True)
class Piece:
    """A block, or a part of one, without surrounding white space.

    ``depth`` is the number of kinds of borders at which it was split. ``opens``: a message starts
    with it.
    """

    start: int
    end: int
    weight: int
    kind: BlockKind
    depth: int = 0
    opens: bool = False

    @property
    def whole(self) -> bool:
        """Whether it cannot be split any further."""
        return self.depth >= _BROKEN

    def joined(self, after: Piece) -> Piece:
        """Return one piece of this and the next one, which belong together."""
        weighs = self.weight + after.weight
        return Piece(self.start, after.end, weighs, after.kind, _BROKEN, after.opens)


def make_piece(text: str, start: int, end: int, kind: BlockKind, depth: int = 0) -> Piece | None:
    """Return a piece of a span without surrounding white space; ``None`` if it is blank."""
    inside = text[start:end]
    left = inside.lstrip()
    if not left:
        return None
    start = end - len(left)
    words = left.rstrip()
    opens = kind is BlockKind.MESSAGE and not depth
    return Piece(start, start + len(words), weight(words), kind, depth, opens)


def break_piece(text: str, piece: Piece, most: Size) -> list[Piece]:
    """Split a piece at its coarsest borders, or else between words into quarters of ``most``.

    Returns several pieces, or the same piece marked as whole.
    """
    borders = _BORDERS.get(piece.kind, _PROSE)
    for depth in range(piece.depth, len(borders)):
        parts = list(_cut(text, piece, borders[depth], depth + 1))
        if len(parts) > 1:
            break
    else:
        quarter = Size(max(most.weight // 4, WORD), most.characters // 4)
        parts = list(_cut_words(text, piece, quarter))
    if piece.opens:
        parts[0] = replace(parts[0], opens=True)
    return parts


def _cut(text: str, piece: Piece, border: re.Pattern[str], depth: int) -> Iterator[Piece]:
    """Split a piece at every match of a border."""
    start = piece.start
    matches = border.finditer(text, piece.start, piece.end)
    for end in (*(match.end() for match in matches), piece.end):
        part = make_piece(text, start, end, piece.kind, depth)
        if part is not None:
            yield part
        start = end


def _cut_words(text: str, piece: Piece, most: Size) -> Iterator[Piece]:
    """Split a piece between words, and overlong words between characters."""
    start, end, total = -1, -1, 0
    for token in RUN.finditer(text, piece.start, piece.end):
        weighs = token_weight(token)
        full = total + weighs > most.weight or token.end() - start > most.characters
        kept = total + weighs <= most.weight * 2 and _continues(text, token.start(), start, most)
        if start >= 0 and full and not kept:
            yield Piece(start, end, total, piece.kind, _BROKEN)
            start, total = -1, 0
        if start < 0:
            start = token.start()
        while token.end() - start > most.characters + _MARKS_KEPT:
            cut = _before_marks(text, start + most.characters)
            yield Piece(start, cut, total + weighs, piece.kind, _BROKEN)
            start, total = cut, 0
        end, total = token.end(), total + weighs
    if start >= 0:
        yield Piece(start, end, total, piece.kind, _BROKEN)


def _continues(text: str, at: int, start: int, most: Size) -> bool:
    """Return whether a combining mark at ``at`` may be kept with the character before it."""
    near = at - start < most.characters + _MARKS_KEPT
    return near and not text[at - 1].isspace() and is_mark(text[at])


def _before_marks(text: str, cut: int) -> int:
    """Move a cut inside a word so that it does not separate a character from its marks."""
    for moved in range(_MARKS_KEPT):
        if not is_mark(text[cut - moved]) and text[cut - moved - 1] != _JOINER:
            return cut - moved
    return cut


def is_mark(character: str) -> bool:
    """Return whether a character combines with the one before it."""
    return character == _JOINER or unicodedata.category(character).startswith("M")
