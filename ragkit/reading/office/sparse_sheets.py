"""Sheets whose cells are far apart: the converter leaves them out, or needs all memory for them."""

from __future__ import annotations

import re

_PLACE = re.compile(
    rb"(<(?:\w{1,20}:)?(?:row|c)\s(?:[^<>]*?\s)?r=\")(?:([A-Z]{1,3}))?(\d{1,7})(?=\")"
)
_CELL = re.compile(rb"<(?:\w{1,20}:)?c[\s/>]")
_SIZE = re.compile(rb"<(\w{1,20}:)?dimension\s[^<>]*(?:/>|>\s*</(?:\w{1,20}:)?dimension>)")
_MOST_EMPTY = 50_000
"""Cells without a value between the others that the converter may have to go through."""


def closed_up(sheet: bytes) -> bytes:
    """Return the XML of a sheet in which no empty rows and columns are between its cells.

    A sheet without large gaps is returned as it is; empty rows and columns are shown in none.
    """
    places = [(place[2], place[3]) for place in _PLACE.finditer(sheet)]
    rows = sorted({int(row) for _, row in places})
    columns = sorted({column for column, _ in places if column}, key=_number)
    cells = sum(bool(column) for column, _ in places)
    if not cells or rows[-1] * _number(columns[-1]) <= cells + _MOST_EMPTY:
        return sheet
    if cells != len(_CELL.findall(sheet)):  # some are where those before them are
        return sheet
    new_rows = {row: number for number, row in enumerate(rows, 1)}
    new_columns = {column: _letters(number) for number, column in enumerate(columns, 1)}
    new_columns[b""] = b""

    def moved(place: re.Match[bytes]) -> bytes:
        row = new_rows[int(place[3])]
        return b"%b%b%d" % (place[1], new_columns[place[2] or b""], row)

    return _SIZE.sub(b"", _PLACE.sub(moved, sheet))


def _number(column: bytes) -> int:
    """Return the number of a column from its letters: 27 for ``AA``."""
    number = 0
    for letter in column:
        number = number * 26 + letter - ord("A") + 1
    return number


def _letters(number: int) -> bytes:
    """Return the letters of a column from its number."""
    letters = b""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = bytes([ord("A") + rest]) + letters
    return letters
