"""The cells of a line of a PDF page, and the columns that cells of several lines form.

A row is one line, as cells that are separated by wide gaps.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import TypeAlias

from ragkit.reading.pdf.contents import Line
from ragkit.reading.reading_parts import LEADER

Row: TypeAlias = "list[Line]"

SAME_LINE = 0.35
"""Two lines whose bottoms differ by at most this share of their height are beside each other."""
ALIGNED = 0.6
"""The share of columns, and of the cells in each, that must be aligned in a table."""
_CHARACTER = 0.5
"""The width of a character in heights of its line, about."""
_UNIT = re.compile(r"(?:US|CA|AU|HK)?[$€£¥]|[A-Z]{3}|\(")
_CLOSING = re.compile(r"%|\)|\)?\s*%|pts?\.?|bps")
FIGURE = re.compile(
    r"[-+\u2212\u2013(]?\s?(?:[A-Z]{0,3}[$€£¥]\s?)?[-+\u2212(]?\d[\d.,\s\u2019']*\s?[%)]*[a-z]?"
    r"(?:\s?[€$£¥]|\s[A-Z]{3})?"
    r"|[-\u2013\u2014]+|n/?[am]\.?", re.I
)  # fmt: skip
_LABEL = re.compile(r"(?:[^\W\d_]|#)(?:\D{0,39}(?<![.,;!?])|\D{0,18}\.)")
YEAR = re.compile(r"(?:FY\s?)?(?:19|20)\d\d(?:\s?[/-]\s?\d{2,4})?", re.I)


@dataclass(frozen=True, slots=True)
class Column:
    """The left and right edge of a column."""

    left: float
    right: float

    def overlap(self, cell: Line) -> float:
        """Return the width of a cell inside this column; negative: its distance from it."""
        return min(cell.right, self.right) - max(cell.left, self.left)

    def is_aligned(self, cell: Line) -> bool:
        """Return whether a cell is aligned left, right or centred with this column."""
        left, right = cell.left - self.left, cell.right - self.right
        return min(abs(left), abs(right), abs(left + right) / 2) <= height_of([cell]) * SAME_LINE


def joined(row: Row) -> Line:
    """Return the cells of a row as one line."""
    if len(row) == 1:
        return row[0]
    return Line(
        " ".join(cell.text for cell in row),
        min(cell.left for cell in row),
        min(cell.bottom for cell in row),
        max(cell.right for cell in row),
        max(cell.top for cell in row),
        max(cell.size for cell in row),
        all(cell.bold for cell in row),
    )


def height_of(row: Row) -> float:
    """Return the height of the first cell of a row."""
    return max(row[0].top - row[0].bottom, 1.0)


def are_labels(row: Row) -> bool:
    """Return whether all cells of a row are labels: short, capitalised and without digits."""
    return all(_LABEL.fullmatch(cell.text) and not cell.text[0].islower() for cell in row)


def has_digit(cell: Line) -> bool:
    """Return whether there is a digit in a cell."""
    return any(map(str.isdigit, cell.text))


def length_of(cell: Line) -> float:
    """Return the length of a cell in characters: of one with dots, as many as would fill it."""
    if LEADER in cell.text:
        return (cell.right - cell.left) / (height_of([cell]) * _CHARACTER)
    return len(cell.text)


def below_each_other(cells: Sequence[Line], *, of_two: bool) -> bool:
    """Return whether cells are aligned left, right or centred.

    With two columns, right alignment counts only for figures: justified prose has it as well.
    """
    near = height_of(list(cells)) * SAME_LINE
    edges = [[cell.left for cell in cells], [cell.left + cell.right for cell in cells]]
    figures = sum(FIGURE.fullmatch(cell.text) is not None for cell in cells)
    if not of_two or figures * 2 >= len(cells):
        edges.append([cell.right for cell in cells])
    return any(
        sum(abs(place - median(places)) <= near for place in places) >= len(cells) * ALIGNED
        for places in edges
    )


def whole_cells(row: Row) -> Row:
    """Join currency and percent signs with their figures, and a led heading with its only page."""
    cells: Row = []
    for at, cell in enumerate(row):
        joins = cells and (_UNIT.fullmatch(cells[-1].text) or _CLOSING.fullmatch(cell.text))
        joins = joins and FIGURE.match(f"{cells[-1].text} {cell.text}")
        if joins or (cells and _is_only_page(cells[-1], row[at : at + 2])):
            cells[-1] = joined([cells[-1], cell])
        else:
            cells.append(cell)
    return cells


def _is_only_page(before: Line, cells: Row) -> bool:
    """Return whether the dots of a cell lead to the first of the next cells, and to no second."""
    return (
        before.text.endswith(LEADER)
        and FIGURE.fullmatch(cells[0].text) is not None
        and all(LEADER in cell.text for cell in cells[1:])
    )


def columns_of(rows: Sequence[Row]) -> list[Column]:
    """Find the columns: the spans between gaps that hardly any row crosses.

    A header may be centred beside figures, without overlapping them: of rows with the same number
    of cells, the first cells are a column, the second ones, and so on, if no other cell is between.
    """
    usual = median(len(row) for row in rows) if rows else 0
    # Rows with fewer cells, such as headers, may have cells that span several columns.
    rows = [row for row in rows if len(row) >= usual]
    crossing = len(rows) // 10
    events = sorted(
        [(cell.left, 1) for row in rows for cell in row]
        + [(cell.right, -1) for row in rows for cell in row]
    )
    columns: list[Column] = []
    start, depth = 0.0, 0
    for place, step in events:
        before, depth = depth, depth + step
        if before <= crossing < depth:
            start = place
        elif depth <= crossing < before and place > start:
            columns.append(Column(start, place))
    if len({*map(len, rows)}) == 1 and len(columns) > len(rows[0]):
        stacks = zip(*rows, strict=True)
        spans = [Column(*_edges(cells)) for cells in stacks]
        if all(before.right < after.left for before, after in pairwise(spans)):
            return spans
    return columns


def _edges(cells: Sequence[Line]) -> tuple[float, float]:
    return min(cell.left for cell in cells), max(cell.right for cell in cells)
