"""Sheets and CSV files as Markdown: what is written above each table, then the table."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ragkit.reading.blocks import inline, paragraph
from ragkit.reading.reading_parts import joined, table
from ragkit.reading.sheet_cells import FIGURE, VALUE, YEAR, is_name, kinds, places_in, values_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_LINK = re.compile(r"\[([^\[\]]{1,1000})\]\(((?:https?://|mailto:)[^\s<>()|]{1,1000})\)")
_MOST_ABOVE, _MOST_BELOW, _MOST_ROWS_OF_HEADER = 40, 40, 3
_LONGEST_REPEATED, _LONGEST_ALONE = 120, 20
_FEWEST_BELOW = 3


class Merged(NamedTuple):
    """Cells of a sheet that are merged: from a row and a column up to others, without these."""

    top: int
    left: int
    bottom: int
    right: int


def merged_in(
    rows: Sequence[Sequence[str]], merged: Iterable[Merged], filled: Merged
) -> list[Merged]:
    """Return merged cells of a sheet by their places in its ``rows``, of the part that is filled.

    There are none if that has more or fewer rows or columns.
    """
    top, left, bottom, right = filled
    if (bottom - top, right - left) != (len(rows), max(map(len, rows), default=0)):
        return []
    return [
        Merged(place.top - top, place.left - left, place.bottom - top, place.right - left)
        for place in merged
        if place.top >= top and place.left >= left
    ]


def titled_table(rows: Sequence[Sequence[str]], merged: Iterable[Merged] = ()) -> str:
    """Return rows as Markdown tables below the titles and notes that stand above their headers.

    A header of several rows becomes one; what is ``merged`` over several rows is in each of them.
    """
    sheet = _Sheet(rows, list(merged))
    pieces: list[str] = []
    for above, header, end in sheet.tables():
        if parts := sheet.beside(header, end):
            pieces += [titled_table(*sheet.part(above, end, columns)) for columns in parts]
            continue
        lines = filter(None, map(values_in, sheet.rows[above:header]))
        pieces += [paragraph(_linked(_as_line(line))).markdown for line in lines]
        if header < end:
            names, below = sheet.head(header)
            pieces.append(table([names, *sheet.rows[below:end]]))
    return joined(pieces, "\n\n")


class _Sheet:
    """The rows of a sheet without white space around values, and its tables."""

    def __init__(self, rows: Sequence[Sequence[str]], merged: Sequence[Merged]) -> None:
        self.rows = [[value.strip() for value in row] for row in rows]
        self._merged = merged
        self._across: dict[int, list[range]] = {}
        self._joined: set[int] = set()
        self._filled: Counter[int] = Counter()
        for place in sorted(merged, key=lambda place: place.left):
            if place.right - place.left > 1:
                columns = range(place.left, place.right)
                self._across.setdefault(place.bottom - 1, []).append(columns)
            elif place.bottom - place.top > 1:
                self._joined.update(range(place.top, place.bottom - 1))
                self._fill(place)

    def _fill(self, place: Merged) -> None:
        """Repeat what is merged over several rows in those that have only such on its left."""
        first, *others = self.rows[place.top : place.bottom] or ([],)
        value = first[place.left] if place.left < len(first) else ""
        if not 0 < len(value) <= _LONGEST_REPEATED:
            return
        for number, row in enumerate(others, place.top + 1):
            if any(row) and self._filled[number] >= len(places_in(row[: place.left])):
                row.extend([""] * (place.left + 1 - len(row)))
                row[place.left] = value
                self._filled[number] += 1

    def tables(self) -> Iterator[tuple[int, int, int]]:
        """Yield where what is above each table begins, where its header is, and where it ends."""
        filled = [number for number, row in enumerate(self.rows) if any(row)]
        if not filled:
            return
        above, header = filled[0], self._first_header(filled)
        for first, wide in self._breaks(header + 1):
            found = self._next_header(wide, header, first)
            if found is not None:
                yield above, (first if self._is_form(header, first) else header), first
                above, header = first, found
        yield above, header, len(self.rows)

    def _first_header(self, filled: Sequence[int]) -> int:
        """Return the row that is the header: the last that has twice the cells of all before it.

        Above it are single cells, and rows without gaps: a row with gaps has names of columns. At
        least half of the rows below it are about as wide.
        """
        found, widest = filled[0], 0
        for number in filled[:_MOST_ABOVE]:
            places = places_in(self.rows[number])
            count = len(places)
            if count >= 2 * widest > 0 and not any(map(FIGURE.fullmatch, self.rows[number])):
                near = self._below(number + 1)
                every = [self.rows[below] for below in filled if below > number]
                found = number if _are_wide(near, count) or _are_wide(every, count) else found
            if count > 1 and places[-1] >= count:
                break
            if self._is_sure(number):
                return number if widest <= 2 < count else found
            widest = max(widest, count)
        return found

    def _is_sure(self, number: int) -> bool:
        """Return whether a row has names above columns of figures, and is no name and value."""
        columns, below = places_in(self.rows[number]), self._below(number + 1)
        used, figures = kinds(below)
        words = values_in(self.rows[number])
        return (
            len({*words}) == len(columns) > 1
            and len(below) >= _FEWEST_BELOW
            and all(map(is_name, words))
            and used <= {*columns}
            and bool(figures)
        )

    def _below(self, start: int) -> list[list[str]]:
        """Return the rows of several cells from one on, up to a row of none or one.

        Such rows at the start do not count.
        """
        found: list[list[str]] = []
        for row in self.rows[start : start + _MOST_BELOW]:
            if len(places_in(row)) > 1:
                found.append(row)
            elif found:
                break
        return found

    def _breaks(self, start: int) -> Iterator[tuple[int, int]]:
        """Yield the rows at which another table may begin, and its first row of several cells.

        That is after an empty row, or at a single cell. Single cells at the end, after an empty
        row, are notes.
        """
        first, after_gap = -1, False
        for number in range(start, len(self.rows)):
            count = len(places_in(self.rows[number]))
            if not count:
                first = first if after_gap else -1
                after_gap = True
            elif count == 1:
                first = number if first < 0 else first
            else:
                if after_gap or first >= 0:
                    yield (number if first < 0 else first), number
                first, after_gap = -1, False
        if first >= 0 and after_gap:
            yield first, len(self.rows)

    def _are_notes(self, first: int, header: int) -> bool:
        """Return whether the single cells from a row on are notes below a table."""
        left = places_in(self.rows[header])
        rows = [row for row in self.rows[first:] if any(row)]
        notes = ["".join(row) for row in rows]
        return (
            len(left) > 1
            and any(len(places_in(row)) > 1 for row in self.rows[header + 1 : first])
            and all(places_in(row)[0] <= left[0] for row in rows)
            and not any(map(VALUE.fullmatch, notes))
            and max(map(len, notes)) > _LONGEST_ALONE
        )

    def _is_form(self, start: int, end: int) -> bool:
        """Return whether rows above a table are names with their values, and no table."""
        rows = [values_in(row) for row in self.rows[start:end]]
        return max(map(len, rows)) <= 2 and not all(map(is_name, rows[0]))

    def _next_header(self, wide: int, header: int, first: int) -> int | None:
        """Return the header of the table that begins at ``wide``, if another one does."""
        if wide == len(self.rows):
            return wide if self._are_notes(first, header) else None
        widest = 0
        for number in range(wide, min(wide + _MOST_ABOVE, len(self.rows))):
            count = len(places_in(self.rows[number]))
            if count < 2:
                break
            if count >= 2 * widest and self._begins(number, header, first):
                return number
            widest = max(widest, count)
        return None

    def _begins(self, place: int, header: int, first: int) -> bool:
        """Return whether a row is the header of another table than the one whose header is given.

        Its cells are names, below which are figures, or columns that the other does not have.
        Names above columns of the same kinds are some of the same, or below a title.
        """
        if not all(map(is_name, values_in(self.rows[place]))):
            return False
        names, start = self.head(place)
        columns = places_in(names)
        words = [names[column] for column in columns]
        below = self._below(start)
        if len(columns) < 2 or not below or not all(map(is_name, words)):
            return False
        plain = {*map(str.casefold, words)}
        if len(plain) < len(words) or all(map(YEAR.fullmatch, words)):
            return False
        known = {*columns, max(columns[0] - 1, 0)}
        fit = sum(known.issuperset(places_in(row)) for row in below)
        if 4 * fit < 3 * len(below):
            return False
        used, figures = kinds(below)
        its_names, its_start = self.head(header)
        its_used, its_figures = kinds(self.rows[its_start : min(first, its_start + _MOST_BELOW)])
        its_used.update(places_in(its_names))
        if not figures & {*columns}:
            return len(below) > 1 and not used <= its_used
        if used | {*columns} != its_used:
            return True
        if plain.intersection(map(str.casefold, its_names)):
            return True
        if not all(map(is_name, filter(None, its_names))):
            return True
        return bool(its_figures) and (first < place or len(figures) > 1 or figures != its_figures)

    def beside(self, header: int, end: int) -> list[range]:
        """Return the columns of each table if several stand side by side, or else nothing.

        Empty columns divide them; within one table these only divide what belongs to its rows.
        """
        rows = self.rows[header:end]
        used, _ = kinds(rows)
        spanned = {
            column
            for place in self._merged
            if place.top < end and place.bottom > header
            for column in range(place.left, place.right)
        }
        used |= spanned
        starts = [column for column in sorted(used) if column - 1 not in used]
        stops = [column + 1 for column in sorted(used) if column + 1 not in used]
        blocks = [*map(range, starts, stops)]
        if len(blocks) < 2 or not (left := _own_table(rows, blocks[0])):
            return []
        found = [blocks[0]]
        for block in blocks[1:]:
            right = _own_table(rows, block)
            if right and left and _are_apart(left, right):
                found.append(block)
                left = right
            else:
                found[-1] = range(found[-1].start, block.stop)
                left = _own_table(rows, found[-1])
        return found if len(found) > 1 else []

    def part(self, top: int, end: int, columns: range) -> tuple[list[list[str]], list[Merged]]:
        """Return some columns of some rows, and what is merged in them."""
        rows = [row[columns.start : columns.stop] for row in self.rows[top:end]]
        return rows, [
            Merged(
                place.top - top,
                place.left - columns.start,
                min(place.bottom, end) - top,
                min(place.right, columns.stop) - columns.start,
            )
            for place in self._merged
            if place.left in columns and top <= place.top < end
        ]

    def head(self, place: int) -> tuple[list[str], int]:
        """Return the names of the columns below a header, and the first row below it."""
        levels = [self.rows[place]]
        while len(levels) < _MOST_ROWS_OF_HEADER:
            spread = self._spread(place + len(levels) - 1)
            if spread is None:
                break
            levels[-1:] = [spread, self.rows[place + len(levels)]]
        width = max(map(len, levels))
        padded = [[*level, *[""] * (width - len(level))] for level in levels]
        names = [joined(dict.fromkeys(parts), " ") for parts in zip(*padded, strict=True)]
        return names, place + len(levels)

    def _spread(self, number: int) -> list[str] | None:
        """Return a row of a header with its titles above each of their columns.

        ``None`` if the next row does not belong to the header.
        """
        if number + 1 == len(self.rows):
            return None
        upper, after = self.rows[number], self.rows[number + 1]
        lower = places_in(after)
        groups = [
            columns
            for columns in self._across.get(number, ())
            if {*lower} & {*columns} and not {*columns}.issuperset(lower)
        ]
        is_joined = number in self._joined
        if not (groups or is_joined or (groups := _groups(upper, after))):
            return None
        if any(":" in title or "：" in title for title in (*upper, *after)):
            return None
        used, figures = kinds(self._below(number + 2))
        if not used or not all(map(is_name, filter(None, after))):
            return None
        if not (groups and is_joined) and not figures.intersection(lower):
            return None
        used.update(lower)
        spread = [*upper, *[""] * (max(used) + 1 - len(upper))]
        for columns in groups:
            title = spread[columns[0]]
            for column in columns[: len(spread) - columns[0]]:
                spread[column] = title if column in used else ""
        return spread


class _Own(NamedTuple):
    """A table of some columns: its header's row, the end of its rows, its names, a title above.

    ``keyed``: its first column holds words, each once, so that its rows have names.
    """

    head: int
    end: int
    names: tuple[str, ...]
    titled: bool
    keyed: bool


def _own_table(rows: Sequence[Sequence[str]], columns: range) -> _Own | None:
    """Return what some columns are as a table of their own, if they have a header and rows."""
    own = [row[columns.start : columns.stop] for row in rows]
    counts = [len(places_in(row)) for row in own]
    head = next((number for number, count in enumerate(counts) if count > 1), len(own))
    end = next((number for number in range(head, len(own)) if not counts[number]), len(own))
    names = tuple(map(str.casefold, own[head])) if head < len(own) else ()
    if end - head < _FEWEST_BELOW or any(counts[end:]) or not all(map(is_name, names)):
        return None
    used, figures = kinds(own[head + 1 : end])
    if not all(names) or len(set(names)) < len(names) or used != {*range(len(names))}:
        return None
    keys = [row[0] for row in own[head + 1 : end] if row[0]]
    keyed = 0 not in figures and len(keys) == len(set(keys))
    return _Own(head, end, names, any(counts[:head]), keyed)


def _are_apart(left: _Own, right: _Own) -> bool:
    """Return whether tables side by side are two: they differ in rows, or have the same names."""
    if not right.keyed and left.names[0] != right.names[0]:
        return False
    differ = left.head != right.head or abs(left.end - right.end) > 1
    return differ or {*left.names} == {*right.names} or (left.titled and right.titled)


def _are_wide(rows: Sequence[Sequence[str]], count: int) -> bool:
    """Return whether half of the rows below a header have about as many cells."""
    wide = sum(2 * len(places_in(row)) > count for row in rows)
    return 0 < len(rows) <= 2 * wide


def _groups(upper: Sequence[str], lower: Sequence[str]) -> list[range]:
    """Return the columns below each title of a row where all have the same below."""
    ends = pairwise([*places_in(upper), len(lower)])
    groups = [range(start, end) for start, end in ends if any(lower[start : start + 1])]
    names = {tuple(lower[group.start : group.stop]) for group in groups}
    return groups if len(groups) > 1 and len(names) == 1 and len(groups[0]) > 1 else []


def _linked(line: str) -> str:
    """Return a line in which nothing but links is Markdown."""
    pieces, at = "", 0
    for link in _LINK.finditer(line):
        pieces += f"{inline(line[at : link.start()])}[{inline(link[1])}]({link[2]})"
        at = link.end()
    return pieces + inline(line[at:])


def _as_line(values: Sequence[str]) -> str:
    """Return the name and the value of a row, or its only cell, as one line."""
    first, *others = values
    return f"{first.removesuffix(':')}: {' '.join(others)}" if others else first
