"""Draws the pages of an invented report: running lines, columns, broken words, tables."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from reportlab.lib.pagesizes import A4
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

_WIDTH, _HEIGHT = A4
_MARGIN, _GUTTER, _SIZE, _LEADING = 60.0, 20.0, 9.0, 11.5
_FONT, _BOLD = "Times-Roman", "Times-Bold"
_TOP, _BOTTOM = _HEIGHT - 75, 70
_VOWELS = "aeiou"


@dataclass(frozen=True)
class Heading:
    text: str
    level: int


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Rows:
    """A table: its name, its header, its rows; the first column is of labels."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Item: TypeAlias = Heading | Paragraph | Rows


@dataclass(frozen=True)
class Look:
    """How a document is printed. ``table_by_columns``: labels first, then each year's figures."""

    title: str
    header: str
    footer: str
    columns: int
    table_by_columns: bool
    outline: bool


class _Page:
    """One page that is being filled, column by column."""

    def __init__(self, canvas: Canvas, look: Look, columns: int, rng: random.Random) -> None:
        self._canvas, self._look, self._rng = canvas, look, rng
        self._columns, self._column, self._y = columns, 0, _TOP
        self._column_width = (_WIDTH - 2 * _MARGIN - _GUTTER * (columns - 1)) / columns

    @property
    def _x(self) -> float:
        return _MARGIN + self._column * (self._column_width + _GUTTER)

    def draw(self, item: Item) -> None:
        if isinstance(item, Heading):
            size = (18.0, 12.0)[item.level - 1]
            for line in _lines(item.text, self._column_width, _BOLD, size, None):
                self._line(line, _BOLD, size)
            self._y -= 6
        elif isinstance(item, Paragraph):
            for line in _lines(item.text, self._column_width, _FONT, _SIZE, self._rng):
                self._line(line, _FONT, _SIZE)
            self._y -= 6
        else:
            self._table(item)

    def _line(self, text: str, font: str, size: float) -> None:
        self._y -= size + 2.5
        if self._y < _BOTTOM:
            self._column, self._y = self._column + 1, _TOP - size - 2.5
            assert self._column < self._columns, "the page is full"
        self._canvas.setFont(font, size)
        self._canvas.drawString(self._x, self._y, text)

    def _table(self, table: Rows) -> None:
        self._line(table.name, _BOLD, _SIZE + 1)
        top = self._y - _LEADING
        right = self._x + self._column_width
        cells = [
            (row, column, text)
            for row, texts in enumerate((table.header, *table.rows))
            for column, text in enumerate(texts)
        ]
        if self._look.table_by_columns:
            cells.sort(key=lambda cell: (cell[1], cell[0]))
        for row, column, text in cells:
            y = top - row * _LEADING
            self._canvas.setFont(_BOLD if row == 0 else _FONT, _SIZE)
            if column == 0:
                self._canvas.drawString(self._x, y, text)
            else:
                ends = right - (len(table.header) - 1 - column) * 52
                self._canvas.drawRightString(ends, y, text)
        self._y = top - (len(table.rows) + 1) * _LEADING


def _lines(text: str, width: float, font: str, size: float, rng: random.Random | None) -> list[str]:
    """Break a text; long words are hyphenated now and then if there is chance in it."""
    lines, line = [], ""
    for word in text.split():
        rest = word
        if stringWidth(f"{line} {word}", font, size) > width and line:
            room = width - stringWidth(f"{line} -", font, size)
            cut = _cut(word, room, font, size) if rng and rng.random() < 0.7 else 0
            lines.append(f"{line} {word[:cut]}-" if cut else line)
            line, rest = "", word[cut:]
        line = f"{line} {rest}".strip()
    return [*lines, line]


def _cut(word: str, room: float, font: str, size: float) -> int:
    """Where a long word may be broken so that its first part fits; 0: nowhere."""
    if len(word) < 8 or not word.isalpha():
        return 0
    places = [
        at for at in range(3, len(word) - 3)
        if word[at - 1] in _VOWELS and word[at] not in _VOWELS
        and stringWidth(word[:at], font, size) <= room
    ]  # fmt: skip
    return max(places, default=0)


def write_pdf(file: Path, pages: list[list[Item]], look: Look, seed: str) -> None:
    """Write a PDF, the same bytes each time; the first page is a cover without running lines."""
    canvas = Canvas(str(file), pagesize=A4, invariant=True)
    if look.title:
        canvas.setTitle(look.title)
    for number, items in enumerate(pages, start=1):
        if number > 1:
            canvas.setFont(_FONT, 8)
            canvas.drawString(_MARGIN, _HEIGHT - 45, look.header)
            canvas.drawString(_MARGIN, 40, look.footer)
            canvas.drawRightString(_WIDTH - _MARGIN, 40, str(number))
        has_table = any(isinstance(item, Rows) for item in items)
        columns = 1 if has_table or number < 3 else look.columns
        page = _Page(canvas, look, columns, random.Random(f"{seed}:{number}"))
        for item in items:
            if look.outline and isinstance(item, Heading) and item.level == 1 and number > 1:
                canvas.bookmarkPage(f"p{number}")
                canvas.addOutlineEntry(item.text, f"p{number}", 0)
            page.draw(item)
        canvas.showPage()
    canvas.save()
