"""Tables of iWork '05 to '09: cells in a row, each so many places after the last."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit.reading.decode import clean
from ragkit.reading.iwork.legacy import value
from ragkit.reading.iwork.tables import Table
from ragkit.reading.office.number_formats import NumberFormat, parse
from ragkit.reading.reading_parts import joined, whole_number
from ragkit.reading.xml_names import below, child, local_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from xml.etree.ElementTree import Element

_WIDTH = 256
_MOST_ROWS = 1_000_000
_MIDNIGHT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(?::\d\d)?.*")
_RESULTS = ("r", "result-cell")
_FORMULAS = ("f", "formula-cell")
_NUMBERS = ("n", "rn", "sl", "st", "number-cell", "result-number-cell")
_DATES = ("d", "rd", "date-cell", "result-date-cell")
_TRUTHS = ("cb", "rb", "result-bool-cell")
_DURATIONS = ("du", "rdu")


class LegacyTables:
    """Reads tables; ``line`` returns the text of a cell that has one."""

    def __init__(self, identities: Mapping[str, Element], line: Callable[[Element], str]) -> None:
        self._identities, self._line = identities, line

    def table(self, model: Element) -> Table:
        """Return the table of a model."""
        rows: dict[int, dict[int, str]] = {}
        for row, column, cell in _placed(model):
            if text := self._text(cell):
                rows.setdefault(row, {})[column] = text
        numbers = sorted(rows)
        width = max((max(row) + 1 for row in rows.values()), default=0)
        shown = value(model, "name-is-visible") != "false"
        headers = whole_number(value(model, "num-header-rows"))
        return Table(
            clean(value(model, "name")) if shown else "",
            [[rows[number].get(column, "") for column in range(width)] for number in numbers],
            sum(number < headers for number in numbers),
        )

    def _text(self, cell: Element) -> str:
        name = local_name(cell)
        if name in _FORMULAS:
            result = next(below(cell, *_RESULTS), None)
            inner = next(iter(() if result is None else result), None)
            return "" if inner is None else self._text(inner)
        stored = value(cell, "v") or value(cell, "value")
        if name in _NUMBERS:
            return self._number(stored, cell)
        if name in _TRUTHS:
            return {"true": "TRUE", "1": "TRUE", "false": "FALSE", "0": "FALSE"}.get(stored, stored)
        if name in _DATES:
            found = _MIDNIGHT.fullmatch(value(cell, "cell-date"))
            if found is None:
                return value(cell, "cell-date")
            return found[1] if found[2] == "00:00" else f"{found[1]} {found[2]}"
        if name in _DURATIONS:
            return _duration(value(cell, "du") or stored)
        return self._words(cell)

    def _words(self, cell: Element) -> str:
        """Return what a cell of text says, or the choice of a menu."""
        chosen = child(cell, "proxied-cell-ref")
        if chosen is not None:
            found = self._identities.get(value(chosen, "IDREF"))
            return "" if found is None or local_name(found) == "pm" else self._text(found)
        plain = (
            value(each, name)
            for each in below(cell, "ct", "cell-text", "string")
            for name in ("s", "string")
        )
        return clean(next(filter(None, plain), "")) or self._line(cell)

    def _number(self, stored: str, cell: Element) -> str:
        """Return a number as its format shows it."""
        places = (cell, self._identities.get(value(cell, "s")))
        forms = (form for each in places for form in self._formats(each))
        form = next(forms, None)
        code = "" if form is None else value(form, "format-string")
        code = code.replace(
            "¤", f'"{value(form, "format-currency-code")}"' if form is not None else ""
        )
        plain = stored.removesuffix(".0")
        shown = parse(code) if code else NumberFormat()
        return (shown or NumberFormat()).shown(plain) or plain

    def _formats(self, element: Element | None) -> Iterator[Element]:
        for each in below(element, "number-format", "number-format-ref", "cf-ref"):
            if local_name(each) == "number-format":
                yield each
            else:
                yield from below(self._identities.get(value(each, "IDREF")), "number-format")


def _placed(model: Element) -> Iterator[tuple[int, int, Element]]:
    """Yield the cells of a table with their rows and columns."""
    source = next(below(model, "datasource", "cells", "table-cells"), None)
    place, step = 0, 0
    for cell in () if source is None else source:
        row, column = value(cell, "row"), value(cell, "col")
        if row or column:
            yield whole_number(row), whole_number(column), cell
            continue
        place += whole_number(value(cell, "ct"), step)
        step = 1
        if place < _MOST_ROWS * _WIDTH:
            yield place // _WIDTH, place % _WIDTH, cell


def _duration(stored: str) -> str:
    """Return a number of seconds as hours, minutes and seconds."""
    seconds = whole_number(stored.partition(".")[0], -1)
    if seconds < 0:
        return stored
    return joined((f"{seconds // 3600}", f"{seconds // 60 % 60:02}", f"{seconds % 60:02}"), ":")
