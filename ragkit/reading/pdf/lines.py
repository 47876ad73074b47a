"""Composes the characters of a PDF page into lines with their positions."""

from __future__ import annotations

import ctypes
import math
import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import compress, count, groupby, repeat
from operator import gt, itemgetter, lt, mul, sub
from typing import Any, NamedTuple, TypeAlias

from ragkit.reading.pdf.cells import Row
from ragkit.reading.pdf.contents import DOTS, Line, without_dots
from ragkit.reading.pdf.fonts import Fonts
from ragkit.reading.pdf.glyphs import accented, has_not_meant, meant, unswapped
from ragkit.reading.pdf.loose_letters import is_loose, without_space_before

_Places: TypeAlias = tuple[list[float], list[float], list[float], list[float]]
"""The left, bottom, right and top edges of words, in points."""

NARROW = "\u2009"
"""A gap that may be inside a word (``vocabulary.mended``)."""

_HYPHENS = ("\ufffe", "\x02")
"""Either is a hyphen at the end of a line, and ends the line."""
_BREAK = re.compile(f"[\n{''.join(_HYPHENS)}]")
_LIGATURES = {"\x0b": "ﬀ", "\x0c": "ﬁ", "\r": "ﬂ", "\x0e": "ﬃ", "\x0f": "ﬄ"}
_UNNAMED = re.compile("[\x0b\x0c\r\x0e\x0f](?:(?<!\r)|(?!\n))")
_LIGATURE = re.compile(
    r"(?<=[A-Za-z])[\x0b\x0c\r\x0e\x0f](?=[a-z])|(?<![^\s(\[\"'\u2018\u201c-])\x0c(?=[a-z]{2})"
    r"|(?<=[a-z])\x0b(?![^\s.,;:)])"
)
"""What a font of TeX without names has at these codes inside words; also "fi" first, "ff" last."""
_UNSEEN = re.compile("[\x00\x01\x03-\x09\x0b\x0c\x0e-\x1f\xa0]")
_WORD = re.compile(rf"[^\s{''.join(_HYPHENS)}]+[{''.join(_HYPHENS)}]?")
_RIGHT_TO_LEFT = "[\u0590-\u065f\u066e-\u06ef\u06fa-\u08ff]"
_FROM_RIGHT = re.compile(f"{_RIGHT_TO_LEFT}{_RIGHT_TO_LEFT}+")
_LETTERSPACED = re.compile(r"(?<!\S)\w(?: +\w){3,}(?!\S)")
_TWO_LETTERS = re.compile(r" \w \w ")
"""Part of every letterspaced text, and much quicker to find."""
_PARTED, _SHORTEST_PARTED = 0.15, 3
"""Wider gaps in words, in heights of the line, part those of so many letters or more."""
_TWO_SIGNS = re.compile("[A-Za-z0-9]{2}")
_SAMPLED, _FEW, _MOST_TURNED, _QUARTER = 20, 100, 0.6, math.pi / 2
_NARROW, _BESIDE = 0.13, 0.5
"""Narrower gaps between letters may be inside a word, in heights of the line; so much of it must be
beside the other letter."""
_MOST_NARROW = 0.1
"""The share of the words on a page that may be followed by such gaps."""
_IN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u052f] +[A-Za-z\u00c0-\u024f\u0370-\u052f]")
_DOUBLED = re.compile(r"\s(?:(\S)\1){3,}(?!\S)")
_NEVER_FIRST = ".,;:!?)]}"
_SAME_PLACE = 0.6
"""The share of their width and height that an accent and its letter have in common."""
_WORD_GAP = 1.6
"""Letterspaced words are separated by gaps this many times the gap between letters."""


class _Words(NamedTuple):
    """The words of a page: first and last characters, edges, heights, and the gaps behind them."""

    first: list[int]
    last: list[int]
    edges: _Places
    heights: list[float]
    gaps: list[float]


class _Seam(NamedTuple):
    """What is between the text up to ``end`` and that from ``start`` on."""

    end: int
    start: int
    between: str


class Characters:
    """The characters of one page; valid until the page is closed.

    With ``part_words``, words are parted where letters are far apart. It takes half as long again.
    ``with_fonts``: lines have the size and weight of their letters.
    """

    def __init__(self, page: Any, *, part_words: bool = False, with_fonts: bool = False) -> None:
        import pypdfium2.raw as raw

        self._part_words = part_words
        self._rotation, self._size = page.get_rotation(), page.get_size()
        self.text_page = page.get_textpage()
        characters = self.text_page.count_chars()
        text = self.text_page.get_text_range() if characters else ""
        if len(text) != characters:
            # The text omits some characters or splits them in two: take them one by one.
            codes = (raw.FPDFText_GetUnicode(self.text_page, at) for at in range(characters))
            text = "".join(chr(code) if 0 < code < 0x110000 else " " for code in codes)
        text = unswapped(text)
        if _UNNAMED.search(text):
            text = _LIGATURE.sub(lambda code: _LIGATURES[code.group()], text)
        self._text = text = _UNSEEN.sub(" ", text)
        self._runs_both_ways = _FROM_RIGHT.search(text) is not None
        self._has_not_meant = has_not_meant(text)
        self._measure = _measure()
        self._handle = ctypes.cast(self.text_page.raw, ctypes.c_void_p).value or 0
        self._fonts = Fonts(self._handle) if with_fonts else None

    def close(self) -> None:
        """Free pdfium's memory."""
        self.text_page.close()

    def upright(self) -> int | None:
        """Return the rotation of the page at which most of its letters stand upright, if another.

        It is in degrees, clockwise. A few letters say nothing of the page.
        """
        import pypdfium2.raw as raw

        if len(self._text) < _FEW:
            return None
        step = len(self._text) // _SAMPLED + 1
        sampled = [at for at in range(0, len(self._text), step) if not self._text[at].isspace()]
        most, own = len(sampled) * _MOST_TURNED, -self._rotation // 90 % 4
        turns = Counter[int]()
        for at in sampled:
            turns[round(raw.FPDFText_GetCharAngle(self.text_page, at) / _QUARTER) % 4] += 1
            # The others are too few by now on nearly every page.
            if len(sampled) - turns[own] <= most:
                return None
        turn, times = turns.most_common(1)[0] if turns else (0, 0)
        if times <= most:
            return None
        upright = -(turn + 2 * self._runs_back(sampled, turn)) % 4 * 90
        return None if upright == self._rotation else upright

    def _runs_back(self, sampled: Sequence[int], turn: int) -> bool:
        """Return whether letters follow each other against the way that they are turned.

        Those of a negative size do, in text that is turned around to stand upright again.
        """
        pairs = [at for at in sampled if _TWO_SIGNS.match(self._text, at)]
        boxes = self._boxes([place for at in pairs for place in (at, at + 1)])
        edge = turn % 2
        steps = list(map(sub, boxes[4 + edge :: 8], boxes[edge::8]))
        back = sum(step > 0 if turn in (1, 2) else step < 0 for step in steps)
        return bool(back * 2 > len(steps))

    def rows(self) -> list[Row]:
        """Return the lines as cells, in the order in which the file draws them."""
        words = self._words()
        if words is None:
            return []
        first, last, (left, bottom, right, top), heights, gaps = words
        self._seams = self._seams_of(words)
        # Cells are separated by gaps that are wider than their line is high.
        starts = set(compress(count(1), map(gt, gaps, heights[1:])))
        if self._runs_both_ways:
            back = map(sub, left, right[1:])
            starts.update(compress(count(1), map(gt, back, heights[1:])))
        dots = [match.span() for match in DOTS.finditer(self._text)]
        for start, end in dots:
            starts.difference_update(range(bisect_left(first, start), bisect_left(first, end)))
        self._is_plain = not (
            dots
            or self._seams
            or self._runs_both_ways
            or self._has_not_meant
            or _TWO_LETTERS.search(self._text)
        )
        breaks = (match.end() for match in _BREAK.finditer(self._text))
        lines = {0, *(bisect_left(first, at) for at in breaks)} - {len(first)}
        begun = sorted(lines | starts)
        rows: list[Row] = []
        for at, end in zip(begun, [*begun[1:], len(first)], strict=True):
            if at in lines:
                rows.append([])
            edges = min(left[at:end]), min(bottom[at:end]), max(right[at:end]), max(top[at:end])
            begins, ends = first[at], last[end - 1]
            middle = first[(at + end) // 2]
            font = self._fonts.of(begins, middle, ends) if self._fonts is not None else ()
            rows[-1].append(Line(self._cell(begins, ends + 1), *edges, *font))
        return rows

    def _words(self) -> _Words | None:
        """Return the words of the page, if there are any."""
        spans = list(map(re.Match.span, _WORD.finditer(self._text)))
        if not spans:
            return None
        first, last = [start for start, _ in spans], [end - 1 for _, end in spans]
        left, bottom, right, top = edges = self._measured(first, last)
        heights, gaps = list(map(sub, top, bottom)), list(map(sub, left[1:], right))
        return _Words(first, last, edges, heights, gaps)

    def _measured(self, first: Sequence[int], last: Sequence[int] = ()) -> _Places:
        """Return the edges on the page as shown of words, or of their only characters."""
        begun = self._boxes(first)
        ended = self._boxes(last) if last else begun
        # Of the first character but the right edge, which the last one has.
        left, top, bottom = (begun[edge::4].tolist() for edge in (0, 1, 3))
        right = ended[2::4].tolist()
        if any(map(gt, left, right)):
            # From right to left, the last character is leftmost.
            left, right = list(map(min, left, ended[::4])), list(map(max, begun[2::4], right))
        if self._rotation:
            top, bottom = list(map(max, top, ended[1::4])), list(map(min, bottom, ended[3::4]))
        return self._turned(left, bottom, right, top)

    def _boxes(self, characters: Sequence[int]) -> array[float]:
        """Return the boxes of characters one after another: left, top, right, bottom."""
        # For speed, pdfium writes them into one array.
        size = 16 * len(characters)
        boxes = array("f", bytes(size))
        start = boxes.buffer_info()[0]
        measured = map(
            self._measure, repeat(self._handle), characters, range(start, start + size, 16)
        )
        deque(measured, maxlen=0)
        return boxes

    def _seams_of(self, words: _Words) -> list[_Seam]:
        """Return where the text has what the page has not, or the other way round, in order."""
        seams = [] if self._rotation else self._false_spaces(words)
        none = {seam.end for seam in seams}
        seams += (gap for gap in self._narrow_gaps(words) if gap.end not in none)
        seams += self._second_letters()
        seams += self._accented_letters()
        if self._part_words and not self._rotation:
            seams += (_Seam(at, at, " ") for at in self._partings(words))
        return sorted(seams)

    def _narrow_gaps(self, words: _Words) -> list[_Seam]:
        """Return the gaps between letters that may be inside a word."""
        narrowest = map(mul, words.heights, repeat(_NARROW))
        close = compress(count(), map(lt, map(abs, words.gaps), narrowest))
        narrow = [at for at in close if self._is_in_word(words, at)]
        # Where many are, letters are not as wide as the file says.
        if len(narrow) > len(words.first) * _MOST_NARROW:
            return []
        return [self._between(words, at, NARROW) for at in narrow]

    @staticmethod
    def _between(words: _Words, at: int, between: str) -> _Seam:
        """Return the seam behind a word."""
        return _Seam(words.last[at] + 1, words.first[at + 1], between)

    def _false_spaces(self, words: _Words) -> list[_Seam]:
        """Return the gaps between words that are no wider than those between letters beside them.

        Looked for where some of a few words are set loosely.
        """
        long = list(compress(count(), map(sub, words.last, words.first)))
        sampled = long[:: len(long) // _SAMPLED + 1]
        gaps = self._gaps_before([words.last[at] for at in sampled])
        if not any(is_loose(gap, words.heights[at]) for at, gap in zip(sampled, gaps, strict=True)):
            return []
        last = self._gaps_before([words.last[at] for at in long])
        first = self._gaps_before([words.first[at] + 1 for at in long])
        false = without_space_before(
            list(zip(*words.edges, strict=True)),
            dict(zip(long, last, strict=True)),
            dict(zip(long, first, strict=True)),
        )
        return [self._between(words, at - 1, "") for at in false]

    def _gaps_before(self, characters: Sequence[int]) -> Iterable[float]:
        """Return the gaps between some characters and those before them."""
        boxes = self._boxes([at for character in characters for at in (character - 1, character)])
        return map(sub, boxes[4::8], boxes[2::8])

    def _second_letters(self) -> Iterator[_Seam]:
        """Yield the second of each two letters of words that are drawn twice, as with a shadow."""
        # The space before it gives a word at the start what is before all others.
        for word in _DOUBLED.finditer(f" {self._text}"):
            start, end = word.start(), word.end() - 1
            left, _, right, _ = self._measured([start, start + 1])
            if abs(left[1] - left[0]) < (right[0] - left[0]) / 2:
                yield from (_Seam(at, at + 1, "") for at in range(start + 1, end, 2))

    def _accented_letters(self) -> Iterator[_Seam]:
        """Yield letters whose accents are drawn at the same place as characters of their own."""
        for at, letter in accented(self._text):
            left, bottom, right, top = self._measured([at, at + 1])
            if _overlap(left, right) > _SAME_PLACE < _overlap(bottom, top):
                yield _Seam(at, at + 2, letter)

    def _is_in_word(self, words: _Words, at: int) -> bool:
        """Return whether two words near each other are on one line, with letters at their ends."""
        _, bottom, _, top = words.edges
        beside = min(top[at : at + 2]) - max(bottom[at : at + 2])
        return (
            beside > words.heights[at] * _BESIDE
            and _IN_WORD.fullmatch(self._text, words.last[at], words.first[at + 1] + 1) is not None
        )

    def _partings(self, words: _Words) -> list[int]:
        """Return where words must be parted, ascending: wide gaps, unless most of its gaps are."""
        partings: list[int] = []
        boxes = self._boxes(range(words.last[-1] + 1))
        gaps = map(sub, boxes[4::4], boxes[2::4])
        heights = map(sub, boxes[5::4], boxes[7::4])
        wide = [
            at
            for at, gap, height in zip(count(1), gaps, heights, strict=False)
            if gap > height * _PARTED and self._text[at] not in _NEVER_FIRST
        ]
        for first, last in zip(words.first, words.last, strict=True):
            if last - first < _SHORTEST_PARTED - 1:
                continue
            # Its first letter is apart from another word.
            inside = wide[bisect_right(wide, first) : bisect_right(wide, last)]
            if len(inside) * 2 < last - first:
                partings += inside
        return partings

    def _turned(
        self, left: list[float], bottom: list[float], right: list[float], top: list[float]
    ) -> _Places:
        """Rotate edges on the page to edges on the page as shown."""
        width, height = self._size
        if self._rotation == 90:
            return bottom, [height - at for at in right], top, [height - at for at in left]
        if self._rotation == 180:
            left, right = [width - at for at in right], [width - at for at in left]
            return left, [height - at for at in top], right, [height - at for at in bottom]
        if self._rotation == 270:
            return [width - at for at in top], left, [width - at for at in bottom], right
        return left, bottom, right, top

    def _cell(self, start: int, end: int) -> str:
        """Return the text of a cell, from ``start`` to ``end``."""
        if self._is_plain:
            return self._written(start, end)
        first, last = (bisect_left(self._seams, (at,)) for at in (start, end))
        pieces: list[str] = []
        for seam in self._seams[first:last]:
            pieces += (self._written(start, seam.end), seam.between)
            start = seam.start
        return without_dots("".join([*pieces, self._written(start, end)]))

    def _written(self, start: int, end: int) -> str:
        """Return the text from ``start`` to ``end``, as it is read."""
        text = self._text[start:end]
        if self._runs_both_ways:
            text = _FROM_RIGHT.sub(lambda word: self._from_right(start, word), text)
        if self._has_not_meant:
            text = meant(text)
        if not self._is_plain and _TWO_LETTERS.search(text):
            text = _LETTERSPACED.sub(lambda words: self._unspaced(start, words), text)
        return f"{text[:-1]}-" if text.endswith(_HYPHENS) else text

    def _from_right(self, start: int, word: re.Match[str]) -> str:
        """Return a word of a right-to-left script in logical order.

        pdfium returns some of these words in visual order, and the letters of a ligature reversed.
        """
        places = range(start + word.start(), start + word.end())
        edges = zip(*self._measured(places), strict=True)
        drawn = list(zip(edges, word.group(), strict=True))
        if drawn[0][0] < drawn[-1][0]:
            drawn.reverse()
        signs = ([letter for _, letter in sign] for _, sign in groupby(drawn, key=itemgetter(0)))
        return "".join("".join(reversed(sign)) for sign in signs)

    def _unspaced(self, start: int, words: re.Match[str]) -> str:
        """Return letterspaced text without the spaces inside its words."""
        spaced = words.group()
        places = [match.start() for match in _WORD.finditer(spaced)]
        first = start + words.start()
        left, _, right, _ = self._measured([first + at for at in places])
        gaps = [after - before for before, after in zip(right, left[1:], strict=False)]
        usual = sorted(gaps)[len(gaps) // 3]
        letters = [spaced[places[0]]]
        for at, gap in zip(places[1:], gaps, strict=True):
            letters.append(f" {spaced[at]}" if gap > usual * _WORD_GAP else spaced[at])
        return "".join(letters)


def _overlap(starts: Sequence[float], ends: Sequence[float]) -> float:
    """Return the share that two spans have in common, of the smaller one."""
    smaller = min(map(sub, ends, starts))
    return (min(ends) - max(starts)) / smaller if smaller > 0 else 0.0


@cache
def _measure() -> Callable[[int | None, int, int], int]:
    """Return ``FPDFText_GetLooseCharBox`` with a prototype of plain numbers: twice as fast.

    It keeps the interpreter to itself, since each call is over at once.
    """
    import pypdfium2.raw as raw

    prototype = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    return prototype(ctypes.cast(raw.FPDFText_GetLooseCharBox, ctypes.c_void_p).value or 0)
