"""Scanned pages of PDFs: their recognised words, put together as lines in reading order."""

from __future__ import annotations

import re
from bisect import bisect, insort
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import chain
from math import inf
from operator import itemgetter
from statistics import median
from typing import NamedTuple, TypeAlias

from ragkit.reading.pdf.contents import Line, letters, without_dots
from ragkit.reading.pdf.layout import in_order

_SURE, _ENOUGH = 60, 10
"""Words of this confidence are text, and so many of three letters make a page of text. Others may
be drawings and dirt."""
_CELL_GAP = 1.5
"""Wider gaps between words, in heights of the line, separate cells."""
_Cell: TypeAlias = "tuple[Line, Sequence[Word]]"
"""A part of a line between wide gaps, with its words as they were scanned."""

_SAME_LINE, _PART_GAP = 0.35, 1.0
"""Parts of a line differ by less than so much of its height, and are at most so far apart."""
_NO_SPACE = "\u3000-\u30ff\u3400-\u9fff\uff00-\uffef"
_SPACE_BETWEEN = re.compile(f"(?<=[{_NO_SPACE}]) (?=[{_NO_SPACE}])")
_BULLET = re.compile("^[*\u00a2\u00a9\u00ae\u00b0\u00bb] (?=\\w)")
"""What a round bullet is often taken for."""


class Word(NamedTuple):
    """A recognised word with its edges, and how sure that is, from 0 to 100.

    Edges are in pixels from the left and the top of the picture.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: int = 100


@dataclass(frozen=True, slots=True)
class RecognisedLine:
    """The words of a line in reading order.

    The baseline is at the height ``baseline`` at the left end of the line, and falls by ``slope``
    pixels with each pixel to the right; ``size`` is the height of letters with their ascenders and
    descenders, ``descent`` the part below the baseline. All four are 0 if only words are known.
    ``turned`` is the rotation of the text in degrees against the clock: 0, 90, 180 or 270.
    """

    words: tuple[Word, ...]
    baseline: float = 0.0
    slope: float = 0.0
    size: float = 0.0
    descent: float = 0.0
    turned: int = 0


@dataclass(frozen=True, slots=True)
class OcrPage:
    """What was recognised on a page, in points from its left and top, with the page's size."""

    width: float
    height: float
    lines: tuple[RecognisedLine, ...] = ()

    @classmethod
    def of(cls, lines: Iterable[RecognisedLine], width: int, height: int, dpi: float) -> OcrPage:
        """Build a page from the lines of its picture, and the picture's size in pixels."""
        scale = 72.0 / dpi
        return cls(width * scale, height * scale, tuple(_scaled(line, scale) for line in lines))

    @classmethod
    def unpack(cls, packed: Sequence[object]) -> OcrPage:
        """Build a page from its JSON values.

        Raises:
            ValueError, TypeError: they are not what ``pack`` returned.
        """
        width, height, lines = packed
        unpacked = (
            RecognisedLine(tuple(Word(*word) for word in words), *rest)
            for words, *rest in lines  # type: ignore[attr-defined]
        )
        return cls(float(width), float(height), tuple(unpacked))  # type: ignore[arg-type]

    def pack(self) -> list[object]:
        """Return it as JSON values."""
        return [self.width, self.height, [list(astuple(line)) for line in self.lines]]

    def _sure_lines(self) -> Sequence[RecognisedLine]:
        """Return all lines of a page of text, or of another the few that are surely text."""
        words = (word for line in self.lines for word in line.words)
        if sum(word.confidence >= _SURE and letters(word.text) > 2 for word in words) >= _ENOUGH:
            return self.lines
        return [line for line in self.lines if _is_sure(line)]

    def reading_lines(self) -> list[Line]:
        """Return its lines in reading order, as upright as the page was meant."""
        return _in_order(self._rows())

    def words(self) -> list[tuple[str, tuple[float, float, float, float]]]:
        """Return the words of its lines with their edges as shares of the page.

        The edges are left, top, right and bottom of the word on the page as it was scanned.
        """
        rows = self._rows()
        lines = _in_order(rows)
        placed: list[tuple[int, Sequence[Word]]] = []
        for cell, scanned in chain.from_iterable(rows):
            place = placed[-1][0] if placed else 0
            place = next((at for at, line in enumerate(lines) if _holds(line, cell)), place)
            placed.append((place, scanned))
        placed.sort(key=itemgetter(0))
        width, height = self.width, self.height
        return [
            (
                word.text,
                (word.left / width, word.top / height, word.right / width, word.bottom / height),
            )
            for _, scanned in placed
            for word in scanned
        ]

    def _rows(self) -> list[list[_Cell]]:
        """Return its lines as cells on the page turned upright, without their slope."""
        sure = self._sure_lines()
        turns = Counter(line.turned for line in sure for _ in line.words)
        turn = turns.most_common(1)[0][0] if turns else 0
        upright = [_turned(line, turn, self.width, self.height) for line in sure]
        slopes = [line.slope for line in upright if line.size for _ in line.words]
        slope = median(slopes) if slopes else 0.0
        placed = [
            _placed(line, scanned.words, slope) for line, scanned in zip(upright, sure, strict=True)
        ]
        height = self.width if turn in (90, 270) else self.height
        return [_cells(line, height) for line in _joined(placed)]


def _scaled(line: RecognisedLine, scale: float) -> RecognisedLine:
    def scaled(value: float) -> float:
        return round(value * scale, 2)

    words = tuple(
        word._replace(
            left=scaled(word.left), top=scaled(word.top),
            right=scaled(word.right), bottom=scaled(word.bottom),
        )
        for word in line.words
    )  # fmt: skip
    return replace(
        line, words=words, baseline=scaled(line.baseline), size=scaled(line.size),
        descent=scaled(line.descent),
    )  # fmt: skip


def _is_sure(line: RecognisedLine) -> bool:
    return median(word.confidence for word in line.words) >= _SURE


def _turned(line: RecognisedLine, turn: int, width: float, height: float) -> RecognisedLine:
    """Return a line of a page of that size as it is when the page is turned upright."""
    if not turn:
        return line

    def place(word: Word) -> Word:
        left, top, right, bottom = word[1:5]
        if turn == 180:
            edges = width - right, height - bottom, width - left, height - top
        elif turn == 90:
            edges = height - bottom, left, height - top, right
        else:
            edges = top, width - right, bottom, width - left
        return Word(word.text, *edges, word.confidence)

    return RecognisedLine(tuple(map(place, line.words)))


class _Placed(NamedTuple):
    """The words of a line, and its edges below and above, in points from the top of the page.

    ``scanned`` are the same words where they are on the page as it was scanned.
    """

    words: Sequence[Word]
    scanned: Sequence[Word]
    foot: float
    size: float


def _placed(line: RecognisedLine, scanned: Sequence[Word], slope: float) -> _Placed:
    words = line.words
    if line.size:
        foot = line.baseline - slope * min(word.left for word in words) + line.descent
        return _Placed(words, scanned, foot, line.size)
    foot = median(word.bottom for word in words)
    return _Placed(words, scanned, foot, foot - median(word.top for word in words))


def _joined(parts: Sequence[_Placed]) -> list[_Placed]:
    """Join the parts of lines that are right beside each other."""
    whole: list[_Placed] = []
    # A newspaper has too many lines to compare each with all: only those about as high count.
    reach = max((part.size for part in parts), default=0.0) * _SAME_LINE
    feet: list[tuple[float, int]] = []
    for part in parts:
        near = feet[bisect(feet, (part.foot - reach, -1)) : bisect(feet, (part.foot + reach, inf))]
        at = min((at for _, at in near if _continues(whole[at], part)), default=None)
        if at is None:
            insort(feet, (part.foot, len(whole)))
            whole.append(part)
            continue
        words, scanned = (*whole[at].words, *part.words), (*whole[at].scanned, *part.scanned)
        from_right = part.words[0].left > part.words[-1].left
        order = sorted(
            range(len(words)), key=[word.left for word in words].__getitem__, reverse=from_right
        )
        whole[at] = whole[at]._replace(
            words=[words[n] for n in order], scanned=[scanned[n] for n in order]
        )
    return whole


def _continues(line: _Placed, part: _Placed) -> bool:
    """Return whether a part of a line is right beside another one."""
    size = max(line.size, part.size)
    if abs(line.foot - part.foot) > size * _SAME_LINE:
        return False
    gaps = (
        min(word.left for word in after.words) - max(word.right for word in before.words)
        for before, after in ((line, part), (part, line))
    )
    return any(-_SAME_LINE * size < gap < size * _PART_GAP for gap in gaps)


def _cells(line: _Placed, height: float) -> list[_Cell]:
    """Return the cells of a line on a page of that height."""
    bottom, top = height - line.foot, height - line.foot + line.size
    starts = [0]
    for at in range(1, len(line.words)):
        before, word = line.words[at - 1 : at + 1]
        if max(word.left - before.right, before.left - word.right) > _CELL_GAP * line.size:
            starts.append(at)
    cells: list[_Cell] = []
    for start, end in zip(starts, [*starts[1:], len(line.words)], strict=True):
        words = line.words[start:end]
        left, right = min(word.left for word in words), max(word.right for word in words)
        cells.append((Line(_text(words), left, bottom, right, top), line.scanned[start:end]))
    return cells


def _in_order(rows: Iterable[Sequence[_Cell]]) -> list[Line]:
    return in_order([[cell for cell, _ in row] for row in rows])


def _holds(line: Line, cell: Line) -> bool:
    """Return whether a cell is within a line that may have several."""
    beside = line.left <= cell.left and cell.right <= line.right
    return beside and line.bottom <= cell.bottom and cell.top <= line.top


def _text(words: Sequence[Word]) -> str:
    text = _SPACE_BETWEEN.sub("", " ".join(word.text for word in words))
    return without_dots(_BULLET.sub("\u2022 ", text))
