"""Sheets and CSV files as Markdown: what is written above a table, then the table."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from ragkit.reading.blocks import inline, paragraph
from ragkit.reading.reading_parts import joined, table

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_ABOVE = 40
_FIGURE = re.compile(r"[-+(]?(?!(?:1[5-9]|20)\d\d$)\d+(?:[.,' ]\d{3})*(?:[.,]\d+)?\s?\D{0,3}")


def titled_table(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a Markdown table below the titles and notes that stand above its header."""
    filled = [row for row in rows if any(value.strip() for value in row)]
    start = _header_at(filled)
    above = [
        paragraph(inline(_as_line([value.strip() for value in row if value.strip()]))).markdown
        for row in filled[:start]
    ]
    return joined((*above, table(filled[start:])), "\n\n")


def _header_at(rows: Sequence[Sequence[str]]) -> int:
    """Return the row that is the header: the last that has twice the cells of all before it.

    Above it are single cells, and rows without gaps: a row with gaps has names of columns. At least
    half of the rows below it are about as wide.
    """
    found = widest = 0
    for place, row in enumerate(islice(rows, _MOST_ABOVE)):
        places = [column for column, value in enumerate(row) if value.strip()]
        count = len(places)
        if count >= 2 * widest > 0 and not any(_FIGURE.fullmatch(value.strip()) for value in row):
            below = rows[place + 1 :]
            wide = sum(2 * sum(map(bool, map(str.strip, other))) > count for other in below)
            found = place if below and 2 * wide >= len(below) else found
        if count > 1 and places[-1] >= count:
            break
        widest = max(widest, count)
    return found


def _as_line(values: Sequence[str]) -> str:
    """Return the name and the value of a row, or its only cell, as one line."""
    first, *others = values
    return f"{first.removesuffix(':')}: {' '.join(others)}" if others else first
