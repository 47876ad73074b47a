"""Finds the reading order of a PDF page: columns one after another, tables row by row.

A row is one line, as cells that are separated by wide gaps. Files may draw tables row by row or
column by column, and columns of prose one after another or line by line across them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from statistics import fmean, median
from typing import TypeAlias

from ragkit.reading.pdf.contents import Line
from ragkit.reading.reading_parts import LEADER, table

Row: TypeAlias = "list[Line]"

_SAME_LINE = 0.35
"""Two lines whose bottoms differ by at most this share of their height are beside each other."""
_BACK_UP = 0.8
"""A line further up than this share of its height starts the next column: it is no superscript."""
_SHORT_CELL = 18
"""Mean characters: cells of tables have fewer, lines of columns of prose have more."""
_CHARACTER = 0.5
"""The width of a character in heights of its line, about."""
_FULL = 0.75
"""The share of its column that a line of prose fills on average, at least."""
_NEXT_ROW = 1.6
"""The next row of a table follows within this many times its height."""
_ALIGNED = 0.6
"""The share of columns, and of the cells in each, that must be aligned in a table."""
_LED = 0.3
"""Where more of the rows end with dots and a page, they are contents, and no table."""
_MOST_HEADER_ROWS = 3
_UNIT = re.compile(r"(?:US|CA|AU|HK)?[$€£¥]|[A-Z]{3}|\(")
_CLOSING = re.compile(r"%|\)|\)?\s*%|pts?\.?|bps")
_MARKER = re.compile(r"[^\w\s]{1,2}|\(?(?:\d{1,3}(?:\.\d{1,3}){0,4}|[ivxIVX]{1,5}|[a-zA-Z])[.):]?")
_FIGURE = re.compile(
    r"[-+\u2212\u2013(]?\s?(?:[A-Z]{0,3}[$€£¥]\s?)?[-+\u2212(]?\d[\d.,\s\u2019']*\s?[%)]*[a-z]?"
    r"|[-\u2013\u2014]+|n/?[am]\.?", re.I
)  # fmt: skip
_WORD = re.compile(r"\w{3}")
_YEAR = re.compile(r"(?:FY\s?)?(?:19|20)\d\d(?:\s?[/-]\s?\d{2,4})?", re.I)


def in_order(rows: Sequence[Row]) -> list[Line]:
    """Return the lines of a page in reading order; rows of tables begin with a bar."""
    # Of parts of brackets, no text is left.
    filled = ([cell for cell in row if cell.text.strip()] for row in rows)
    rows = [row for row in filled if row]
    if all(len(row) == 1 for row in rows) and not _jumps(rows):
        return [row[0] for row in rows]
    rows = _beside(rows)
    lines: list[Line] = []
    at = 0
    while at < len(rows):
        end = _region(rows, at)
        lines += _Region(rows[at:end]).lines() if end - at > 1 else [_joined(rows[at])]
        at = end
    return lines


def _jumps(rows: Sequence[Row]) -> bool:
    """Return whether a row is drawn above the one before it, or far to its right."""
    return any(_above(before, after) for before, after in pairwise(rows))


def _beside(rows: Sequence[Row]) -> list[Row]:
    """Put short cells that are drawn column by column beside those on the same line."""
    placed: list[Row] = []
    bottoms: dict[int, list[Row]] = {}
    at = 0
    while at < len(rows):
        stack = _stack(rows, at, bottoms) if placed and _above(placed[-1], rows[at]) else []
        for left, row in stack:
            left += row
        if not stack:
            row = list(rows[at])
            placed.append(row)
            bottoms.setdefault(round(row[0].bottom), []).append(row)
        at += len(stack) or 1
    return placed


def _above(before: Row, row: Row) -> bool:
    """Return whether a row is above the one before it, or far to the right on the same line."""
    step, height = row[0].bottom - before[0].bottom, _height(row)
    beside = abs(step) <= height * _SAME_LINE and row[0].left > before[-1].right + height
    return beside or step > height * _BACK_UP


def _stack(rows: Sequence[Row], at: int, bottoms: dict[int, list[Row]]) -> list[tuple[Row, Row]]:
    """Return pairs of (row to the left, row) for the rows of a table column that starts at ``at``.

    The list is empty if the rows are prose.
    """
    pairs: list[tuple[Row, Row]] = []
    for row in rows[at:]:
        if pairs and row[0].bottom > pairs[-1][1][0].bottom:
            break
        near = (
            other
            for bottom in range(round(row[0].bottom) - 3, round(row[0].bottom) + 4)
            for other in bottoms.get(bottom, ())
        )
        fits = _height(row) * _SAME_LINE
        left = [
            other
            for other in near
            if abs(other[0].bottom - row[0].bottom) <= fits and other[-1].right < row[0].left
        ]
        if not left:
            break
        pairs.append((max(left, key=lambda other: other[-1].right), row))
    short = pairs and fmean(_length(cell) for _, row in pairs for cell in row) < _SHORT_CELL
    return pairs if short else []


def _region(rows: Sequence[Row], at: int) -> int:
    """Return the end of the closely spaced rows with several cells that begin at ``at``."""
    first = at + 1 if _is_above_columns(rows, at) else at
    if len(rows[first]) == 1:
        return at + 1
    end = first + 1
    for place in range(first + 1, len(rows)):
        if place - end >= 2 or not _follows(rows[place - 1], rows[place]):
            break
        if len(rows[place]) > 1:
            end = place + 1
    return end


def _is_above_columns(rows: Sequence[Row], at: int) -> bool:
    """Return whether a row is a heading above several columns: "Year ended 31 December"."""
    if len(rows[at]) > 1 or len(rows) < at + 3 or rows[at][0].text.endswith((".", ":", ";")):
        return False
    below = [row for row in rows[at + 1 : at + 1 + _MOST_HEADER_ROWS] if len(row) > 1]
    return (
        _follows(rows[at], rows[at + 1])
        and len(rows[at + 1]) > 1
        and any(row[0].right < rows[at][0].left for row in below)
    )


def _follows(before: Row, row: Row) -> bool:
    """Return whether a row is closely below another."""
    gap = before[0].bottom - row[0].top
    return -_height(row) < gap < _height(row) * _NEXT_ROW


def _joined(row: Row) -> Line:
    """Return the cells of a row as one line."""
    if len(row) == 1:
        return row[0]
    return Line(
        " ".join(cell.text for cell in row),
        min(cell.left for cell in row),
        min(cell.bottom for cell in row),
        max(cell.right for cell in row),
        max(cell.top for cell in row),
    )


def _height(row: Row) -> float:
    return max(row[0].top - row[0].bottom, 1.0)


@dataclass(frozen=True, slots=True)
class _Column:
    """The left and right edge of a column."""

    left: float
    right: float

    def overlap(self, cell: Line) -> float:
        """Return the width of a cell inside this column; negative: its distance from it."""
        return min(cell.right, self.right) - max(cell.left, self.left)


class _Region:
    """Consecutive rows with several cells: a table, columns of prose, or neither."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = [_whole_cells(row) for row in rows]
        self._several = [row for row in self._rows if len(row) > 1]
        self._columns = _columns_of(self._several)

    def lines(self) -> list[Line]:
        """Return the lines in reading order."""
        several, columns = len(self._several), len(self._columns)
        if columns < 2 or several < 2 or self._is_list() or self._is_formula():
            return [_joined(row) for row in self._rows]
        if several > 2 and self._is_prose():
            return list(self._by_columns())
        if sum(LEADER in row[-1].text for row in self._rows) > len(self._rows) * _LED:
            return [_joined(row) for row in self._rows]
        full = columns > 2 and all(len(row) == columns for row in self._several)
        if (several > 2 or full) and self._is_aligned():
            return self._table()
        return [_joined(row) for row in self._rows]

    def _place(self, cell: Line) -> int:
        """Return the column of a cell."""
        overlaps = [column.overlap(cell) for column in self._columns]
        return overlaps.index(max(overlaps))

    def _cells(self) -> list[list[Line]]:
        """Return the cells of each column in the rows with several cells."""
        cells: list[list[Line]] = [[] for _ in self._columns]
        for row in self._several:
            for cell in row:
                cells[self._place(cell)].append(cell)
        return cells

    def _is_list(self) -> bool:
        """Return whether the rows are list items after their markers."""
        return len(self._columns) == 2 and all(
            _MARKER.fullmatch(row[0].text) and not _FIGURE.fullmatch(row[-1].text)
            for row in self._several
        )

    def _is_formula(self) -> bool:
        """Return whether the rows are a formula: hardly any words."""
        words = sum(any(_WORD.search(cell.text) for cell in row) for row in self._several)
        return words * 2 < len(self._several)

    def _is_prose(self) -> bool:
        """Return whether the columns are filled with lines of prose."""
        for cells in self._cells():
            widest = max((cell.right - cell.left for cell in cells), default=0.0)
            if not cells or fmean(map(_length, cells)) < _SHORT_CELL:
                return False
            if fmean(cell.right - cell.left for cell in cells) < widest * _FULL:
                return False
        return True

    def _is_aligned(self) -> bool:
        """Return whether the cells are aligned; the gaps of justified lines are not."""
        columns = len(self._columns)
        filled = [cells for cells in self._cells() if len(cells) > 1]
        aligned = sum(_below_each_other(cells, of_two=columns == 2) for cells in filled)
        return aligned >= columns * _ALIGNED and len(filled) - aligned <= columns // 4

    def _by_columns(self) -> Iterator[Line]:
        """Yield the columns one after another, between the lines that span them."""
        columns: list[list[Line]] = [[] for _ in self._columns]
        for row in self._rows:
            if len(row) == 1 and sum(column.overlap(row[0]) > 0 for column in self._columns) > 1:
                for cells in columns:
                    yield from cells
                    cells.clear()
                yield row[0]
                continue
            for cell in row:
                columns[self._place(cell)].append(cell)
        for cells in columns:
            yield from cells

    def _table(self) -> list[Line]:
        """Return the rows of a table as Markdown, the header first and wrapped rows joined."""
        texts = [self._texts(row) for row in self._rows]
        head = max(self._header_rows(texts), 1)
        header = [self._spread(row) for row in self._rows[:head]]
        merged = [[" ".join(filter(None, cells)) for cells in zip(*header, strict=True)]]
        places = [_joined(self._rows[head - 1])] * 2
        for row, cells in zip(self._rows[head:], texts[head:], strict=True):
            at = _continued(merged, cells) if len(row) == 1 else -1
            if at < 0:
                merged.append(cells)
                places.append(_joined(row))
            else:
                merged[-1][at] = f"{merged[-1][at]} {cells[at]}"
        written = table(merged).split("\n")
        return [place._replace(text=text) for text, place in zip(written, places, strict=True)]

    def _spread(self, row: Row) -> list[str]:
        """Return the text of a header row for each column; a cell may span several."""
        texts = self._texts(row)
        if len(row) == 1 and not texts[0]:
            return ["", *[row[0].text] * (len(texts) - 1)]
        for cell in row:
            for place, column in enumerate(self._columns):
                if not texts[place] and column.overlap(cell) > (column.right - column.left) / 2:
                    texts[place] = cell.text
        return texts

    def _texts(self, row: Row) -> list[str]:
        """Return the text of a row in each column."""
        texts = [""] * len(self._columns)
        for place, cells in groupby(row, key=self._place):
            text = " ".join(cell.text for cell in cells)
            texts[place] = f"{texts[place]} {text}".strip().removesuffix(f" {LEADER}")
        return texts

    def _header_rows(self, texts: Sequence[list[str]]) -> int:
        """Return the number of header rows: those before the first row with figures."""
        labels = 0
        for at, cells in enumerate(texts[: _MOST_HEADER_ROWS + 1]):
            if any(_FIGURE.fullmatch(cell) and not _YEAR.fullmatch(cell) for cell in cells[1:]):
                return at
            labels += cells[0] != ""
            if labels > 1:
                return at if at == 1 or len(self._rows[at]) == 1 else 1
        return 1


def _length(cell: Line) -> float:
    """Return the length of a cell in characters: of one with dots, as many as would fill it."""
    if LEADER in cell.text:
        return (cell.right - cell.left) / (_height([cell]) * _CHARACTER)
    return len(cell.text)


def _continued(rows: Sequence[list[str]], cells: Sequence[str]) -> int:
    """Return the column in which a row of one cell continues the row before it, or -1."""
    at = next(at for at, text in enumerate(cells) if text)
    if len(rows) < 2 or not rows[-1][at] or _FIGURE.fullmatch(cells[at]):
        return -1
    return at if at or cells[at][:1].islower() else -1


def _below_each_other(cells: Sequence[Line], *, of_two: bool) -> bool:
    """Return whether cells are aligned left, right or centred.

    With two columns, right alignment counts only for figures: justified prose has it as well.
    """
    near = _height(list(cells)) * _SAME_LINE
    edges = [[cell.left for cell in cells], [cell.left + cell.right for cell in cells]]
    figures = sum(_FIGURE.fullmatch(cell.text) is not None for cell in cells)
    if not of_two or figures * 2 >= len(cells):
        edges.append([cell.right for cell in cells])
    return any(
        sum(abs(place - median(places)) <= near for place in places) >= len(cells) * _ALIGNED
        for places in edges
    )


def _whole_cells(row: Row) -> Row:
    """Join currency and percent signs with their figures, and a led heading with its only page."""
    cells: Row = []
    for at, cell in enumerate(row):
        joins = cells and (_UNIT.fullmatch(cells[-1].text) or _CLOSING.fullmatch(cell.text))
        joins = joins and _FIGURE.match(f"{cells[-1].text} {cell.text}")
        if joins or (cells and _is_only_page(cells[-1], row[at : at + 2])):
            cells[-1] = _joined([cells[-1], cell])
        else:
            cells.append(cell)
    return cells


def _is_only_page(before: Line, cells: Row) -> bool:
    """Return whether the dots of a cell lead to the first of the next cells, and to no second."""
    return (
        before.text.endswith(LEADER)
        and _FIGURE.fullmatch(cells[0].text) is not None
        and all(LEADER in cell.text for cell in cells[1:])
    )


def _columns_of(rows: Sequence[Row]) -> list[_Column]:
    """Find the columns: the spans between gaps that hardly any row crosses."""
    usual = median(len(row) for row in rows) if rows else 0
    # Rows with fewer cells, such as headers, may have cells that span several columns.
    rows = [row for row in rows if len(row) >= usual]
    crossing = len(rows) // 10
    events = sorted(
        [(cell.left, 1) for row in rows for cell in row]
        + [(cell.right, -1) for row in rows for cell in row]
    )
    columns: list[_Column] = []
    start, depth = 0.0, 0
    for place, step in events:
        before, depth = depth, depth + step
        if before <= crossing < depth:
            start = place
        elif depth <= crossing < before and place > start:
            columns.append(_Column(start, place))
    return columns
