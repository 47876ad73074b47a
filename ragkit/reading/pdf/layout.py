"""Finds the reading order of a PDF page: columns one after another, tables row by row.

Files may draw tables row by row or column by column, and columns of prose one after another or line
by line across them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from statistics import fmean

from ragkit.reading.pdf.cells import (
    ALIGNED,
    FIGURE,
    SAME_LINE,
    YEAR,
    Column,
    Row,
    are_labels,
    below_each_other,
    columns_of,
    has_digit,
    height_of,
    joined,
    length_of,
    whole_cells,
)
from ragkit.reading.pdf.contents import Line
from ragkit.reading.reading_parts import LEADER, table

_BACK_UP = 0.8
"""A line further up than this share of its height starts the next column: it is no superscript."""
_NEXT_ABOVE, _FEWEST_UPWARDS = 2.5, 3
"""Rows that stand above each other within this many times their height, so many or more, are drawn
from the bottom up."""
_SHORT_CELL = 18
"""Mean characters: cells of tables have fewer, lines of columns of prose have more."""
_FULL = 0.75
"""The share of its column that a line of prose fills on average, at least."""
_NEXT_ROW = 1.6
"""The next row of a table follows within this many times its height."""
_FAR = 4.0
"""And within this many times in a table whose rows stand far apart."""
_LED = 0.3
"""Where more of the rows end with dots and a page, they are contents, and no table."""
_MOST_HEADER_ROWS = 3
_MOST_ROWS = 200
"""So many rows above a header say whether it is of another table; a page has seldom more."""
_MARKER = re.compile(r"[^\w\s]{1,2}|\(?(?:\d{1,3}(?:\.\d{1,3}){0,4}|[ivxIVX]{1,5}|[a-zA-Z])[.):]?")
_WORD = re.compile(r"\w{3}")


def in_order(rows: Sequence[Row]) -> list[Line]:
    """Return the lines of a page in reading order; rows of tables begin with a bar."""
    # Of parts of brackets, no text is left.
    filled = ([cell for cell in row if cell.text.strip()] for row in rows)
    rows = _downwards([row for row in filled if row])
    if all(len(row) == 1 for row in rows) and not _jumps(rows):
        return [row[0] for row in rows]
    rows = _beside(rows)
    lines: list[Line] = []
    at = 0
    while at < len(rows):
        end = _region(rows, at)
        if end - at > 1:
            found = _Region(rows[at:end]).lines()
            if lines and _is_other_table(lines[-1], found, rows[at]):
                lines.append(Line(""))
            lines += found
        else:
            lines.append(joined(rows[at]))
        at = end
    return lines


def _downwards(rows: Sequence[Row]) -> list[Row]:
    """Turn around the rows that are drawn from the bottom up, each directly above the last one."""
    turned: list[Row] = []
    start = 0
    for at in range(1, len(rows) + 1):
        if at == len(rows) or not _is_over(rows[at - 1], rows[at]):
            run = rows[start:at]
            turned += reversed(run) if len(run) >= _FEWEST_UPWARDS else run
            start = at
    return turned


def _is_over(below: Row, row: Row) -> bool:
    """Return whether a row is directly above another one."""
    step = row[0].bottom - below[0].bottom
    if step <= 0 or not _BACK_UP < step / height_of(row) < _NEXT_ABOVE:
        return False
    return below[0].left < row[-1].right and row[0].left < below[-1].right


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
    step, height = row[0].bottom - before[0].bottom, height_of(row)
    beside = abs(step) <= height * SAME_LINE and row[0].left > before[-1].right + height
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
        fits = height_of(row) * SAME_LINE
        left = [
            other
            for other in near
            if abs(other[0].bottom - row[0].bottom) <= fits and other[-1].right < row[0].left
        ]
        if not left:
            break
        pairs.append((max(left, key=lambda other: other[-1].right), row))
    short = pairs and fmean(length_of(cell) for _, row in pairs for cell in row) < _SHORT_CELL
    return pairs if short else []


def _region(rows: Sequence[Row], at: int) -> int:
    """Return the end of the closely spaced rows with several cells that begin at ``at``."""
    first = at + 1 if _is_above_columns(rows, at) else at
    if len(rows[first]) == 1:
        return at + 1
    end = first + 1
    spaced = True
    for place in range(first + 1, len(rows)):
        before, row = rows[place - 1 : place + 1]
        spaced = spaced and _is_spaced(before, row)
        if place - end >= 2 or not (spaced or _follows(before, row)):
            break
        if len(row) > 1:
            if _starts_anew(rows, at, place):
                break
            end = place + 1
    return end


def _is_spaced(before: Row, row: Row) -> bool:
    """Return whether a row is the next one of a table whose rows stand far apart.

    It has as many cells, three or more, each aligned with the one above it or a value below a
    label.
    """
    gap = before[0].bottom - row[0].top
    if not len(before) == len(row) > 2 or not 0 < gap < height_of(row) * _FAR:
        return False
    if len(columns_of([before, row])) != len(row):
        return False
    pairs = zip(before, row, strict=True)
    aligned = all(Column(cell.left, cell.right).is_aligned(below) for cell, below in pairs)
    return aligned or (are_labels(before) and all(map(has_digit, row[1:])))


def _starts_anew(rows: Sequence[Row], at: int, place: int) -> bool:
    """Return whether a row is the header of another table than the one that begins at ``at``.

    Its labels are aligned with none of the columns of that table but the first.
    """
    at = max(at, place - _MOST_ROWS)
    row, below = rows[place], rows[place + 1 : place + 3]
    if not are_labels(row) or all(len(row) == 1 for row in below) or not _follows(row, below[0]):
        return False
    above = [row for row in rows[at:place] if len(row) > 1]
    if not any(map(has_digit, above[-1][1:])):
        return False
    columns = columns_of([whole_cells(row) for row in above])
    if any(column.is_aligned(cell) for cell in row[1:] for column in columns):
        return False
    return _Region(rows[at:place]).is_table()


def _is_other_table(before: Line, lines: Sequence[Line], header: Row) -> bool:
    """Return whether a table begins directly below the last row of another one."""
    if not before.text.startswith("| ") or not lines[1:] or not lines[1].text.startswith("| ---"):
        return False
    return are_labels(header) or before.text.count("|") != lines[0].text.count("|")


def _is_above_columns(rows: Sequence[Row], at: int) -> bool:
    """Return whether a row is a heading above several columns: "Year ended 31 December"."""
    if len(rows[at]) > 1 or len(rows) < at + 3 or len(rows[at + 1]) == 1:
        return False
    below = [row for row in rows[at + 1 : at + 1 + _MOST_HEADER_ROWS] if len(row) > 1]
    return (
        not rows[at][0].text.endswith((".", ":", ";"))
        and _follows(rows[at], rows[at + 1])
        and any(row[0].right < rows[at][0].left for row in below)
    )


def _follows(before: Row, row: Row) -> bool:
    """Return whether a row is closely below another."""
    gap = before[0].bottom - row[0].top
    return -height_of(row) < gap < height_of(row) * _NEXT_ROW


class _Region:
    """Consecutive rows with several cells: a table, columns of prose, or neither."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = [whole_cells(row) for row in rows]
        self._several = [row for row in self._rows if len(row) > 1]
        self._columns = columns_of(self._several)

    def lines(self) -> list[Line]:
        """Return the lines in reading order."""
        if self._has_columns():
            if self._is_prose():
                return list(self._by_columns())
            if self._is_regular():
                return self._table()
        return [joined(row) for row in self._rows]

    def is_table(self) -> bool:
        """Return whether the rows are a table."""
        return self._has_columns() and not self._is_prose() and self._is_regular()

    def _has_columns(self) -> bool:
        """Return whether several rows have several cells, and are no list or formula."""
        if len(self._columns) < 2 or len(self._several) < 2:
            return False
        return not self._is_list() and not self._is_formula()

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
            _MARKER.fullmatch(row[0].text) and not FIGURE.fullmatch(row[-1].text)
            for row in self._several
        )

    def _is_formula(self) -> bool:
        """Return whether the rows are a formula: hardly any words."""
        words = sum(any(_WORD.search(cell.text) for cell in row) for row in self._several)
        return words * 2 < len(self._several)

    def _is_regular(self) -> bool:
        """Return whether the cells of rows that are no prose make a table."""
        several, columns = len(self._several), len(self._columns)
        if sum(LEADER in row[-1].text for row in self._rows) > len(self._rows) * _LED:
            return False
        full = columns > 2 and all(len(row) == columns for row in self._several)
        return ((several > 2 or full) and self._is_aligned()) or self._is_grid()

    def _is_prose(self) -> bool:
        """Return whether the columns are filled with lines of prose, more than two each."""
        if len(self._several) < 3:
            return False
        for cells in self._cells():
            widest = max((cell.right - cell.left for cell in cells), default=0.0)
            if not cells or fmean(map(length_of, cells)) < _SHORT_CELL:
                return False
            if fmean(cell.right - cell.left for cell in cells) < widest * _FULL:
                return False
        return True

    def _is_aligned(self) -> bool:
        """Return whether the cells are aligned; the gaps of justified lines are not."""
        columns = len(self._columns)
        filled = [cells for cells in self._cells() if len(cells) > 1]
        aligned = sum(below_each_other(cells, of_two=columns == 2) for cells in filled)
        return aligned >= columns * ALIGNED and len(filled) - aligned <= columns // 4

    def _is_grid(self) -> bool:
        """Return whether the rows are two: labels, and below each its value, if it has one."""
        if len(self._several) > 2 or not are_labels(self._several[0]):
            return False
        labels, values = self._several
        if len(labels) == len(values) == len(self._columns) > 2 and all(map(has_digit, values[1:])):
            return True
        columns = [Column(label.left, label.right) for label in labels]
        return (
            len(values) <= len(labels)
            and sum(map(has_digit, values)) * 2 >= len(values)
            and all(any(column.is_aligned(cell) for column in columns) for cell in values)
        )

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
        places = [joined(self._rows[head - 1])] * 2
        for row, cells in zip(self._rows[head:], texts[head:], strict=True):
            at = _continued(merged, cells) if len(row) == 1 else -1
            if at < 0:
                merged.append(cells)
                places.append(joined(row))
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
            if any(FIGURE.fullmatch(cell) and not YEAR.fullmatch(cell) for cell in cells[1:]):
                return at
            labels += cells[0] != ""
            if labels > 1:
                return at if at == 1 or len(self._rows[at]) == 1 else 1
        return 1


def _continued(rows: Sequence[list[str]], cells: Sequence[str]) -> int:
    """Return the column in which a row of one cell continues the row before it, or -1."""
    at = next(at for at, text in enumerate(cells) if text)
    if len(rows) < 2 or not rows[-1][at] or FIGURE.fullmatch(cells[at]):
        return -1
    return at if at or cells[at][:1].islower() else -1
