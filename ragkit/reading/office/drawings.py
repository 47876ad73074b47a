"""Charts and diagrams of Office files, whose contents stand in parts of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragkit.reading.decode import clean
from ragkit.reading.office.cell_formats import format_of
from ragkit.reading.reading_parts import whole_line
from ragkit.reading.xml_names import MC, A, C

if TYPE_CHECKING:
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

_DEEPEST = 8
MOST_POINTS = 100
"""Rows of a chart's table: more of its figures help no search."""


class Line(NamedTuple):
    """A paragraph of a drawing, and how deep it is indented."""

    text: str
    depth: int


class Chart(NamedTuple):
    """The title of a chart, and a table with a column for each of its series."""

    title: str
    rows: list[list[str]]


def lines_of(drawing: Element) -> Iterator[Line]:
    """Yield the paragraphs of a drawing that are not empty."""
    for paragraph in drawing.iter(f"{A}p"):
        words = (
            " " if part.tag == f"{A}br" else part.text or ""
            for part in paragraph.iter()
            if part.tag in (f"{A}t", f"{A}br")
        )
        if text := whole_line(clean("".join(words))):
            properties = paragraph.find(f"{A}pPr")
            level = "0" if properties is None else properties.get("lvl", "0")
            yield Line(text, min(int(level), _DEEPEST) if level.isdecimal() else 0)


def without_fallbacks(root: Element) -> Element:
    """Return a drawing without the copies that it has for programs which cannot show a shape."""
    for shape in root.iter(f"{MC}AlternateContent"):
        choices = shape.iterfind(f"{MC}Choice")
        said = next((choice for choice in choices if any(lines_of(choice))), None)
        for other in [] if said is None else [*shape]:
            if other is not said:
                shape.remove(other)
    return root


def chart_of(root: Element) -> Chart:
    """Return a chart from its part."""
    heading = root.find(f"{C}chart/{C}title")
    title = "" if heading is None else " ".join(line.text for line in lines_of(heading))
    header = [""]
    rows: dict[str, list[str]] = {}
    system = root.find(f"{C}date1904")
    from_1904 = system is not None and system.get("val", "1") in ("1", "true")
    for number, series in enumerate(root.iter(f"{C}ser"), 1):
        named, *columns = (
            _points(series, tag, from_1904=from_1904)
            for tag in ("tx", "cat", "xVal", "val", "yVal")
        )
        header.append(" ".join(named.values()))
        categories = columns[0] or columns[1]
        for place, value in (columns[2] or columns[3]).items():
            row = rows.setdefault(place, [categories.get(place, "")])
            row += [""] * (number - len(row)) + [value]
    return Chart(title, [header, *list(rows.values())[:MOST_POINTS]] if any(header) or rows else [])


def _points(series: Element, tag: str, *, from_1904: bool) -> dict[str, str]:
    """Return the values of a series under a tag as they are shown, by their places."""
    values: dict[str, str] = {}
    code = series.findtext(f"{C}{tag}//{C}formatCode", "")
    formats = {code: format_of(code, from_1904=from_1904)}
    for point in series.iterfind(f"{C}{tag}//{C}pt"):
        own = point.get("formatCode", code)
        if own not in formats:
            formats[own] = format_of(own, from_1904=from_1904)
        number_format, value = formats[own], point.findtext(f"{C}v") or ""
        shown = number_format.shown(value) if number_format and own else None
        # Of categories in several levels, the innermost comes first.
        values.setdefault(point.get("idx", ""), clean(value if shown is None else shown))
    return values
