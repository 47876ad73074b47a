"""Tables of iWork documents as rows of texts."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from sys import byteorder
from typing import TYPE_CHECKING

from ragkit.reading.blocks import Block, inline, paragraph
from ragkit.reading.iwork.cells import RICH, TEXT, StoredCell, stored_cell
from ragkit.reading.iwork.protobuf import Message
from ragkit.reading.iwork.values import shown
from ragkit.reading.reading_parts import joined, table
from ragkit.reading.sheet_tables import Merged, titled_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ragkit.reading.iwork.archive import Objects
    from ragkit.reading.iwork.text import Beside, Texts

TABLE = 6000
_NO_CELL = 0xFFFF
_LONGEST_CELL = 12 + 16 + 8 + 8 + 4 * 32
_ROWS_OF_TILE, _MOST_ROWS, _MOST_COLUMNS = 256, 2_000_000, 2000
_GENERIC = re.compile(
    r"(?:unnamed )?(?:table|tabelle|tableau|tabla|tabella|tabela|tabel|tabell|tabulka|taulukko|"
    r"táblázat|таблиця|таблица|表格|表|표)(?:[ \xa0-]?\d{1,3})*",
    re.I,
)
"""Names that programs give to tables."""

_LONGEST_REPEATED = 120
_MOST_MERGED_ROWS = 10_000


@dataclass(slots=True)
class Table:
    """A table: its name if it is shown, the rows that are not empty, and how many are a header."""

    name: str = ""
    rows: list[list[str]] = field(default_factory=list)
    headers: int = 0
    merged: list[Merged] = field(default_factory=list)

    def blocks(self, level: int) -> Iterator[Block]:
        """Yield the name that a person gave the table, with a ``level`` as a heading; its rows."""
        if self.rows:
            is_given = not _GENERIC.fullmatch(self.name)
            yield paragraph(inline(self.name) if is_given else "", level=level)
            yield Block(self.markdown)

    @property
    def markdown(self) -> str:
        """Return the rows as Markdown; a header of several rows becomes one."""
        if not self.headers:
            return titled_table(self.rows, self.merged)
        names = map(_joined_name, zip(*self._spread(), strict=True))
        return table([[*names], *self.rows[self.headers :]])

    def _spread(self) -> list[list[str]]:
        """Return the rows of the header, with what is merged in each of its columns."""
        heads = [[*row] for row in self.rows[: self.headers]]
        for place in self.merged:
            for head in heads[place.top : place.bottom] if self.headers > 1 else ():
                head[place.left : place.right] = [head[place.left]] * len(
                    head[place.left : place.right]
                )
        return heads


def _joined_name(parts: Sequence[str]) -> str:
    return joined(dict.fromkeys(parts), " ")


class Tables:
    """Reads the tables of a document."""

    def __init__(self, objects: Objects, texts: Texts, beside: Beside) -> None:
        self._objects, self._texts, self._beside = objects, texts, beside

    def table(self, identity: int) -> Table:
        """Return the table that an object shows."""
        model = self._objects.message(self._objects.message(identity).reference(2))
        values = _Values(self._objects, model.message(4), self._texts, self._beside)
        found = {number: row for number, row in self._rows(model.message(4)) if row}
        texts = {number: values.row(row) for number, row in sorted(found.items())}
        merged = [*self._merged(model)]
        _fill(texts, merged)
        filled = [number for number, row in texts.items() if any(row.values())]
        width = max((max(row, default=-1) + 1 for row in texts.values()), default=0)
        rows = [[texts[number].get(column, "") for column in range(width)] for number in filled]
        headers = sum(number < model.number(9) for number in filled)
        places = {number: place for place, number in enumerate(filled)}
        name = model.text(8) if model.number(22, 1) else ""
        return Table(name, rows, headers, [*_in_places(merged, places, width)])

    def _rows(self, store: Message) -> Iterator[tuple[int, dict[int, bytes]]]:
        """Yield the number of each row, and its cells by their columns."""
        tiles = store.message(3)
        size = tiles.number(2) or _ROWS_OF_TILE
        for entry in tiles.messages(1):
            tile = self._objects.message(entry.reference(2))
            for row in tile.messages(5):
                number = entry.number(1) * size + row.number(1)
                if number < _MOST_ROWS:
                    yield number, _cells(row)

    def _merged(self, model: Message) -> Iterator[Merged]:
        """Yield the cells that are merged, as old programs store them and as new ones do."""
        for region in self._objects.message(model.message(4).reference(13)).messages(1):
            origin, size = (region.message(field).number(1) for field in (1, 2))
            top, left = origin & 0xFFFF, origin >> 16
            yield Merged(top, left, top + (size & 0xFFFF), left + (size >> 16))
        for pair in model.message(47).message(2).messages(3):
            nodes = pair.message(2).message(1).messages(1)
            area = nodes[0].message(40) if nodes else Message()
            if 3 in area and 4 in area:
                columns, rows = area.messages(3)[0], area.messages(4)[0]
                left, top = columns.number(1), rows.number(1)
                yield Merged(top, left, rows.number(2, top) + 1, columns.number(2, left) + 1)


class _Values:
    """The lists of a table in which its cells look up texts, formats and comments."""

    def __init__(self, objects: Objects, store: Message, texts: Texts, beside: Beside) -> None:
        self._objects, self._texts, self._beside = objects, texts, beside
        self._strings = {key: entry.text(3) for key, entry in self._entries(store.reference(4))}
        self._rich = dict(self._entries(store.reference(17)))
        self._comments = dict(self._entries(store.reference(19)))
        formats = (*self._entries(store.reference(11)), *self._entries(store.reference(22)))
        self._formats = {key: entry.message(6) for key, entry in formats}
        self._rich_texts: dict[int, str] = {}

    def row(self, cells: Mapping[int, bytes]) -> dict[int, str]:
        """Return the texts of cells."""
        found = ((column, stored_cell(data)) for column, data in cells.items())
        return {column: self._text(cell) for column, cell in found if cell}

    def _text(self, cell: StoredCell) -> str:
        text = self._value(cell)
        comment = self._comments.get(cell.comment) if cell.comment else None
        if comment:
            self._beside.remarks.append((comment.reference(10), text))
        return text

    def _value(self, cell: StoredCell) -> str:
        if cell.kind == TEXT:
            return self._strings.get(cell.text, "")
        if cell.kind == RICH:
            if cell.rich not in self._rich_texts:
                payload = self._rich.get(cell.rich, Message()).reference(9)
                self._rich_texts[cell.rich] = self._texts.line(payload)
            return self._rich_texts[cell.rich]
        formats = (self._formats[key] for key in cell.formats if key in self._formats)
        return shown(cell, next(formats, Message()))

    def _entries(self, identity: int) -> Iterator[tuple[int, Message]]:
        """Yield the keys and entries of a list, which may be divided into others."""
        listed = self._objects.message(identity)
        for part in (listed, *map(self._objects.message, listed.references(4))):
            for entry in part.messages(3):
                yield entry.number(1), entry


def _cells(row: Message) -> dict[int, bytes]:
    """Return the bytes of the cells of a row by their columns."""
    data, places = row.data(6), row.data(7)
    wide = 4 if row.number(8) else 1
    if not data:
        data, places, wide = row.data(3), row.data(4), 1
    offsets = array("H", places[: 2 * _MOST_COLUMNS][: len(places) // 2 * 2])
    if byteorder == "big":
        offsets.byteswap()
    starts = {column: at * wide for column, at in enumerate(offsets) if at != _NO_CELL}
    return {column: data[start : start + _LONGEST_CELL] for column, start in starts.items()}


def _fill(texts: dict[int, dict[int, str]], merged: Sequence[Merged]) -> None:
    """Repeat what is merged over several rows in those that have something beside it."""
    for place in merged:
        value = texts.get(place.top, {}).get(place.left, "")
        if place.right - place.left == 1 and 0 < len(value) <= _LONGEST_REPEATED:
            for number in range(place.top + 1, min(place.bottom, place.top + _MOST_MERGED_ROWS)):
                if any(texts.get(number, {}).values()):
                    texts[number].setdefault(place.left, value)


def _in_places(merged: Sequence[Merged], places: Mapping[int, int], width: int) -> Iterator[Merged]:
    """Yield what is merged across columns by its places among the rows that are not empty."""
    for area in merged:
        if area.top in places and area.right - area.left > 1 and area.left < width:
            top = places[area.top]
            yield Merged(top, area.left, top + 1, min(area.right, width))
