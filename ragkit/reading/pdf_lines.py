"""The characters of a PDF's page as pdfium has them, put together to lines with their places."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import cache
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, TypeAlias

from ragkit.reading.pdf_contents import Line
from ragkit.reading.pdf_layout import Row

_Edges: TypeAlias = tuple[float, float, float, float]
"""Left, bottom, right, top, in points."""

_HYPHENS = "\ufffe\x02"
"""Either stands for a hyphen at a line's end, and for the end of the line."""
_LINE = re.compile(f"[^\r\n{_HYPHENS}]*[{_HYPHENS}]?")
_UNSEEN = re.compile("[\x00\x01\x03-\x09\x0b\x0c\x0e-\x1f\xa0]")
_WORD = re.compile(r"\S+")
_FROM_RIGHT = re.compile("[\u0590-\u065f\u066e-\u06ef\u06fa-\u08ff]{2,}")
_LETTERSPACED = re.compile(r"(?<!\S)\w(?: +\w){3,}(?!\S)")
_GAP = 1.0
"""Cells are set apart by more than so many times the height of their line."""
_WORD_GAP = 1.6
"""Words that are printed with spaces between their letters are set apart by so much more."""


class Characters:
    """The characters of one page. It is open as long as its page is."""

    def __init__(self, page: Any) -> None:
        import pypdfium2.raw as raw

        self._rotation, self._size = page.get_rotation(), page.get_size()
        self._page = page.get_textpage()
        count = self._page.count_chars()
        text = self._page.get_text_range() if count else ""
        if len(text) != count:
            # Characters that the text leaves out, or that take two places in it, have their own.
            codes = (raw.FPDFText_GetUnicode(self._page, at) for at in range(count))
            text = "".join(chr(code) if 0 < code < 0x110000 else " " for code in codes)
        self._text = _UNSEEN.sub(" ", text)
        self._measure = _measure()
        self._handle = ctypes.cast(self._page.raw, ctypes.c_void_p).value
        self._box = raw.FS_RECTF()
        self._address = ctypes.addressof(self._box)

    def close(self) -> None:
        """Free what pdfium keeps of the page."""
        self._page.close()

    def rows(self) -> list[Row]:
        """Return the lines in the order in which the file draws them, as cells."""
        found: list[Row] = []
        for line in _LINE.finditer(self._text):
            words = [word.span() for word in _WORD.finditer(self._text, *line.span())]
            if words:
                found.append(self._cells(words))
        return found

    def _cells(self, words: list[tuple[int, int]]) -> Row:
        """Part the words of a line where the gaps are wide."""
        cells: Row = []
        begin, before = words[0]
        left, bottom, right, top = self._edges(begin, before)
        # Thousands of words pass here: comparisons take a third of the time of min and max.
        for start, end in words[1:]:
            first, low, last, high = self._edges(start, end)
            if (first - right if first > left else left - last) > (high - low) * _GAP:
                cells.append(self._cell(begin, before, (left, bottom, right, top)))
                begin, left, bottom, right, top = start, first, low, last, high
            else:
                if first < left:
                    left = first
                if last > right:
                    right = last
                if low < bottom:
                    bottom = low
                if high > top:
                    top = high
            before = end
        cells.append(self._cell(begin, before, (left, bottom, right, top)))
        return cells

    def _edges(self, start: int, end: int) -> _Edges:
        """Return the edges of a word on the page as it is shown."""
        box = self._box
        self._measure(self._handle, start, self._address)
        left, bottom, right, top = box.left, box.bottom, box.right, box.top
        if end - start > 1:
            self._measure(self._handle, end - 1, self._address)
            left = box.left if box.left < left else left
            right = box.right if box.right > right else right
            bottom = box.bottom if box.bottom < bottom else bottom
            top = box.top if box.top > top else top
        if not self._rotation:
            return left, bottom, right, top
        width, height = self._size
        if self._rotation == 90:
            return bottom, height - right, top, height - left
        if self._rotation == 180:
            return width - right, height - top, width - left, height - bottom
        return width - top, left, width - bottom, right

    def _cell(self, start: int, end: int, edges: _Edges) -> Line:
        """Return the text between two places of one line."""
        text = self._text[start:end]
        if not text.isascii():
            text = _FROM_RIGHT.sub(lambda word: self._from_right(start, word), text)
        if " " in text:
            text = _LETTERSPACED.sub(lambda words: self._unspaced(start, words), text)
        if text[-1] in _HYPHENS:
            text = f"{text[:-1]}-"
        return Line(text, *edges)

    def _from_right(self, start: int, word: re.Match[str]) -> str:
        """Return a word that is written from the right from its first letter on.

        pdfium has some of these words in the order of their places, and the letters of what is
        drawn as one sign in the wrong order.
        """
        places = range(start + word.start(), start + word.end())
        drawn = [
            (self._edges(at, at + 1), one) for at, one in zip(places, word.group(), strict=True)
        ]
        if drawn[0][0] < drawn[-1][0]:
            drawn.reverse()
        signs = ([letter for _, letter in sign] for _, sign in groupby(drawn, key=itemgetter(0)))
        return "".join("".join(reversed(sign)) for sign in signs)

    def _unspaced(self, start: int, words: re.Match[str]) -> str:
        """Return words that are printed with spaces between their letters as words."""
        spaced = words.group()
        places = [found.start() for found in _WORD.finditer(spaced)]
        edges = [
            self._edges(start + words.start() + at, start + words.start() + at + 1) for at in places
        ]
        gaps = [
            max(after[0] - before[2], before[0] - after[2]) for before, after in pairwise(edges)
        ]
        usual = sorted(gaps)[len(gaps) // 3]
        letters = [spaced[places[0]]]
        for at, gap in zip(places[1:], gaps, strict=True):
            letters.append(f" {spaced[at]}" if gap > usual * _WORD_GAP else spaced[at])
        return "".join(letters)


@cache
def _measure() -> Callable[[int | None, int, int], int]:
    """Return the function that measures a character: of plain numbers, in half the time."""
    import pypdfium2.raw as raw

    prototype = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    return prototype(ctypes.cast(raw.FPDFText_GetLooseCharBox, ctypes.c_void_p).value or 0)
