"""Where cells of sheets stand, and those that are far apart.

The converter leaves these out, or needs all memory for them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate, pairwise

from ragkit.reading.sheet_tables import Merged

_PLACE = re.compile(
    rb"(<(?:\w{1,20}:)?(?:row|c)\s(?:[^<>]*?\s)?r=\")(?:([A-Z]{1,3}))?(\d{1,7})(?=\")"
)
_CELL = re.compile(rb"<(?:\w{1,20}:)?c[\s/>]")
_SIZE = re.compile(rb"<(\w{1,20}:)?dimension\s[^<>]*(?:/>|>\s*</(?:\w{1,20}:)?dimension>)")
_FILLED = re.compile(
    rb"<(?:\w{1,20}:)?c\s(?:[^<>]*?\s)?r=\"([A-Z]{1,3})(\d{1,7})\"[^<>]*(?<!/)>(?!</)"
)
_MERGED = re.compile(
    rb"(<(?:\w{1,20}:)?mergeCell\s[^<>]*?ref=\")([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})(?=\")"
)
_MOST_EMPTY = 50_000
"""Cells without a value between the others that the converter may have to go through."""


def closed_up(sheet: bytes) -> bytes:
    """Return the XML of a sheet in which no empty columns are between its cells, and single rows.

    A sheet without large gaps is returned as it is.
    """
    places = [(place[2], place[3]) for place in _PLACE.finditer(sheet)]
    rows = sorted({int(row) for _, row in places})
    columns = sorted({column for column, _ in places if column}, key=number_of)
    cells = sum(bool(column) for column, _ in places)
    if not cells or rows[-1] * number_of(columns[-1]) <= cells + _MOST_EMPTY:
        return sheet
    if cells != len(_CELL.findall(sheet)):  # some are where those before them are
        return sheet
    gaps = accumulate(after > row + 1 for row, after in pairwise([rows[0] - 1, *rows]))
    new_rows = {
        row: place + gap for place, (row, gap) in enumerate(zip(rows, gaps, strict=True), 1)
    }
    new_columns = {column: letters_of(number) for number, column in enumerate(columns, 1)}
    new_columns[b""] = b""
    numbers = [*map(number_of, columns)]

    def moved(place: re.Match[bytes]) -> bytes:
        row = new_rows[int(place[3])]
        return b"%b%b%d" % (place[1], new_columns[place[2] or b""], row)

    def corner(column: bytes, row: bytes) -> bytes:
        """Return where the last place is that is not after one."""
        near = columns[max(bisect_right(numbers, number_of(column)) - 1, 0)]
        above = rows[max(bisect_right(rows, int(row)) - 1, 0)]
        return b"%b%d" % (new_columns[near], new_rows[above])

    def merged(cells: re.Match[bytes]) -> bytes:
        return b"%b%b:%b" % (cells[1], corner(cells[2], cells[3]), corner(cells[4], cells[5]))

    sheet = _MERGED.sub(merged, sheet)
    return _SIZE.sub(b"", _PLACE.sub(moved, sheet))


def cells_of(sheet: bytes) -> tuple[list[Merged], Merged]:
    """Return the merged cells in the XML of a sheet, and the part of it that is filled."""
    merged = [
        Merged(int(top) - 1, number_of(left) - 1, int(bottom), number_of(right))
        for _, left, top, right, bottom in _MERGED.findall(sheet)
    ]
    places = _FILLED.findall(sheet)
    columns = [number_of(column) for column in {column for column, _ in places}] or [1]
    rows = [int(row) for _, row in places] or [1]
    return merged, Merged(min(rows) - 1, min(columns) - 1, max(rows), max(columns))


def part_shown(sheet: bytes, count: int) -> Merged | None:
    """Return the part of a sheet that ``count`` rows of the converter are.

    ``None`` where they cannot be told, as where large gaps between cells were closed.
    """
    if closed_up(sheet) is not sheet:
        return None
    _, filled = cells_of(sheet)
    return filled if filled.bottom - filled.top == count else None


def number_of(column: bytes) -> int:
    """Return the number of a column from its letters: 27 for ``AA``."""
    number = 0
    for letter in column:
        number = number * 26 + letter - ord("A") + 1
    return number


def letters_of(number: int) -> bytes:
    """Return the letters of a column from its number."""
    letters = b""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = bytes([ord("A") + rest]) + letters
    return letters
