"""The words of a page of a PDF with their positions in its picture, and a passage among them."""

from __future__ import annotations

import ctypes
import difflib
import re
import unicodedata
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain
from typing import Any, TypeAlias

from ragkit.reading.pdf.glyphs import unswapped

MOST_CHARACTERS = 40_000
_BRIDGED_WORDS = 6
_MOST_PIECES = 8
_WORD_SPACE = 0.05
_TOKEN = re.compile(r"[\u3040-\u9fff]|[^\s\u3040-\u9fff]+")
_UNSEEN = dict.fromkeys(map(ord, "\xad\u200b\ufffe\x02"))


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A part of a page, in fractions of its width and height from the top left corner."""

    left: float
    top: float
    right: float
    bottom: float


PlacedWords: TypeAlias = "tuple[tuple[str, Rectangle], ...]"


@dataclass(frozen=True, slots=True)
class Cut:
    """A passage to frame, with the text around it to distinguish it from the same words elsewhere.

    Without that text, the passage may differ slightly from the page.
    """

    text: str = ""
    before: str = ""
    after: str = ""


NO_PASSAGE = Cut()


@dataclass(frozen=True, slots=True)
class _Word:
    """A word in its comparable form, and the indexes of its characters on the page."""

    form: str
    characters: tuple[int, ...]


def words_in(characters: Iterable[str]) -> list[_Word]:
    """Divide characters into comparable words with the indexes of their characters."""
    words: list[_Word] = []
    form: list[str] = []
    indexes: list[int] = []
    for index, character in enumerate(characters):
        if character in "\xad\u200b\ufffe\x02":
            continue
        plain = "".join(
            c for c in unicodedata.normalize("NFKC", character).casefold() if c.isalnum()
        )
        if plain:
            form.append(plain)
            indexes.append(index)
        # Each Han or kana character is a word.
        if (not plain or "\u3040" <= character <= "\u9fff") and form:
            words.append(_Word("".join(form), tuple(indexes)))
            form, indexes = [], []
    if form:
        words.append(_Word("".join(form), tuple(indexes)))
    return words


def rejoined(words: Sequence[_Word], known: Container[str]) -> list[_Word]:
    """Join the pieces of known words, which pdfium parts where letters are set apart ("Chin a")."""
    joined: list[_Word] = []
    at = 0
    while at < len(words):
        pieces = 1
        if words[at].form not in known:
            wholes = accumulate(word.form for word in words[at : at + _MOST_PIECES])
            found = (count for count, whole in enumerate(wholes, 1) if whole in known)
            pieces = next(found, 1)
        own = words[at : at + pieces]
        characters = chain.from_iterable(word.characters for word in own)
        joined.append(_Word("".join(word.form for word in own), tuple(characters)))
        at += pieces
    return joined


def matching_words(page: Sequence[str], passage: Sequence[str]) -> list[int]:
    """Return the indexes of the page's words that match a passage, also with small differences."""
    if not page or not passage:
        return []
    matcher = difflib.SequenceMatcher(None, page, passage, autojunk=False)
    least = 1 if len(passage) < 4 else 2
    blocks = [(b.a, b.a + b.size) for b in matcher.get_matching_blocks() if b.size >= least]
    joined: list[list[int]] = []
    for start, end in blocks:
        if joined and start - joined[-1][1] <= _BRIDGED_WORDS:
            joined[-1][1] = end
        else:
            joined.append([start, end])
    longest = max((end - start for start, end in joined), default=0)
    kept = [(a, b) for a, b in joined if b - a >= max(least, min(4, longest))]
    return [index for start, end in kept for index in range(start, end)]


def words_between(
    page: Sequence[str], before: Sequence[str], passage: Sequence[str], after: Sequence[str]
) -> list[int]:
    """Return the indexes of the page's words from the first to the last match of a passage.

    The words ``before`` and ``after`` it distinguish it from the same words elsewhere on the page.
    """
    matcher = difflib.SequenceMatcher(None, page, [*before, *passage, *after], autojunk=False)
    first, last = len(before), len(before) + len(passage)
    matches = [
        block.a + place - block.b
        for block in matcher.get_matching_blocks()
        for place in range(max(block.b, first), min(block.b + block.size, last))
    ]
    if not matches or matches[-1] - matches[0] > 2 * len(passage) + _BRIDGED_WORDS:
        return matching_words(page, passage)
    return list(range(matches[0], matches[-1] + 1))


class PlacedCharacters:
    """The characters of a page with their positions in its picture."""

    def __init__(self, text: str, boxes: Sequence[Rectangle | None]) -> None:
        self._text, self._boxes = text, boxes

    @classmethod
    def of_page(cls, page: Any, width: int, height: int) -> PlacedCharacters:
        """Read them from a page that is drawn in this size."""
        import pypdfium2.raw as pdfium

        textpage = page.get_textpage()
        count = min(int(textpage.count_chars()), MOST_CHARACTERS)
        codes = [pdfium.FPDFText_GetUnicode(textpage, index) for index in range(count)]
        text = unswapped("".join(chr(code) if 0 < code < 0x110000 else " " for code in codes))
        boxes = (_box(pdfium, page, textpage, index, width, height) for index in range(count))
        return cls(text, list(boxes))

    @classmethod
    def of_words(cls, words: PlacedWords) -> PlacedCharacters:
        """Divide recognised words, each followed by a space, into characters of equal width."""
        boxes: list[Rectangle | None] = []
        for word, box in words:
            step = (box.right - box.left) / len(word)
            lefts = (box.left + step * at for at in range(len(word)))
            boxes += (replace(box, left=left, right=left + step) for left in lefts)
            boxes.append(None)
        return cls("".join(f"{word} " for word, _ in words), boxes)

    def framing(self, passage: Cut) -> tuple[Rectangle, ...]:
        """Return the rectangles of the lines of a passage."""
        before, forms, after = (
            [word.form for word in words_in(part)]
            for part in (passage.before, passage.text, passage.after)
        )
        words = rejoined(words_in(self._text), {*before, *forms, *after})
        page = [word.form for word in words]
        if before or after:
            matches = words_between(page, before, forms, after)
        else:
            matches = matching_words(page, forms)
        characters = (index for place in matches for index in words[place].characters)
        return lines_of(box for index in characters if (box := self._boxes[index]) is not None)

    def words(self) -> tuple[tuple[str, Rectangle], ...]:
        """Return the words between spaces, and each Han or kana character, with positions."""
        words = []
        for match in _TOKEN.finditer(self._text):
            boxes = [box for box in self._boxes[match.start() : match.end()] if box is not None]
            if boxes:
                text = match.group().translate(_UNSEEN).encode("utf-8", "ignore").decode()
                follows = self._text[match.end() : match.end() + 1]
                words.append((text if follows.strip() else f"{text} ", _around(boxes)))
        return tuple(words)


def _around(boxes: Sequence[Rectangle]) -> Rectangle:
    """Return the smallest rectangle that contains all boxes."""
    return Rectangle(
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        max(box.bottom for box in boxes),
    )


def _box(
    pdfium: Any, page: Any, textpage: Any, index: int, width: int, height: int
) -> Rectangle | None:
    """Return the rectangle of a character on the rendered page; ``None`` if it is empty."""
    edges = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(textpage, index, ctypes.byref(edges)):
        return None
    corners = []
    for x, y in ((edges.left, edges.top), (edges.right, edges.bottom)):
        across, down = ctypes.c_int(), ctypes.c_int()
        pdfium.FPDF_PageToDevice(
            page, 0, 0, width * 8, height * 8, 0, x, y, ctypes.byref(across), ctypes.byref(down)
        )
        corners.append((across.value / (width * 8), down.value / (height * 8)))
    (x1, y1), (x2, y2) = corners
    box = Rectangle(
        *(min(1.0, max(0.0, edge)) for edge in (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)))
    )
    return box if box.right > box.left and box.bottom > box.top else None


def lines_of(boxes: Iterable[Rectangle]) -> tuple[Rectangle, ...]:
    """Join the boxes of characters on the same line."""
    lines: list[Rectangle] = []
    for box in boxes:
        last = lines[-1] if lines else None
        if last is not None and _same_line(last, box):
            lines[-1] = _around((last, box))
        else:
            lines.append(box)
    return tuple(lines)


def _same_line(line: Rectangle, box: Rectangle) -> bool:
    """Return whether a character continues a line."""
    overlap = min(line.bottom, box.bottom) - max(line.top, box.top)
    height = min(line.bottom - line.top, box.bottom - box.top)
    gap = max(box.left - line.right, line.left - box.right)
    if overlap > 0.5 * height and gap < _WORD_SPACE:
        return True
    # On a rotated page, lines run down the picture.
    aligned = max(abs(line.left - box.left), abs(line.right - box.right)) < _WORD_SPACE / 20
    return aligned and max(box.top - line.bottom, line.top - box.bottom) < _WORD_SPACE / 2
