"""What the cells of sheets hold: names of columns, figures, or nothing."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONGEST_NAME = 100
FIGURE = re.compile(r"[-+(]?(?!(?:1[5-9]|20)\d\d$)\d+(?:[.,' ]\d{3})*(?:[.,]\d+)?\s?\D{0,3}")
VALUE = re.compile(
    r"[^\w\s]{0,3}\s?(?:[A-Z]{3} )?[-+(]?\d[\d.,:'/ \xa0\u202f-]*(?:E[-+]?\d{1,3}|\D{0,4})"
    r"|[-–—.,*…/]+"
)
YEAR = re.compile(r"(?:1[5-9]|20)\d\d(?:[-/–](?:\d\d|\d{4}))?")
_NO_NAME = re.compile(r"true|false|yes|no|n/?a|n\.a\.|nil|none|null|nan|tb[cd]", re.I)


def kinds(rows: Sequence[Sequence[str]]) -> tuple[set[int], set[int]]:
    """Return the columns that rows use, and those of which most values are figures or dates."""
    places = [(column, value) for row in rows for column, value in enumerate(row) if value]
    used = Counter(column for column, _ in places)
    figures = Counter(column for column, value in places if VALUE.fullmatch(value))
    return set(used), {column for column, count in figures.items() if 2 * count > used[column]}


def is_name(value: str) -> bool:
    """Return whether a cell may be the name of a column, such as a word or a year."""
    if YEAR.fullmatch(value):
        return True
    is_value = VALUE.fullmatch(value) or _NO_NAME.fullmatch(value)
    return len(value) <= _LONGEST_NAME and not value.endswith(":") and not is_value


def values_in(row: Sequence[str]) -> list[str]:
    """Return what a row has, without empty cells."""
    return [*filter(None, row)]


def places_in(row: Sequence[str]) -> list[int]:
    """Return the columns in which a row has something."""
    return [column for column, value in enumerate(row) if value]
