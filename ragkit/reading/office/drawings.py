"""Charts and diagrams of Office files, whose contents stand in parts of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ragkit.reading.decode import clean
from ragkit.reading.office.cell_formats import format_of
from ragkit.reading.office.formulas import M, formula_of
from ragkit.reading.reading_parts import whole_line
from ragkit.reading.xml_names import CX, MC, A, C

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
            formula_of(part) if part.tag == f"{M}oMath"
            else " " if part.tag == f"{A}br" else part.text or ""
            for part in paragraph.iter()
            if part.tag in (f"{A}t", f"{A}br", f"{M}oMath")
        )  # fmt: skip
        if text := whole_line(clean("".join(words))):
            properties = paragraph.find(f"{A}pPr")
            level = "0" if properties is None else properties.get("lvl", "0")
            yield Line(text, min(int(level), _DEEPEST) if level.isdecimal() else 0)


def without_fallbacks(root: Element) -> Element:
    """Return a drawing without the copies that it has for programs which cannot show a shape.

    For a chart or a filter that is a box saying that the program cannot show it.
    """
    for shape in root.iter(f"{MC}AlternateContent"):
        choices = shape.iterfind(f"{MC}Choice")
        said = next((choice for choice in choices if _says(choice)), None)
        for other in [] if said is None else [*shape]:
            if other is not said:
                shape.remove(other)
    return root


def _says(choice: Element) -> bool:
    """Return whether one of several forms of a shape has words, or refers to what has some."""
    return any(lines_of(choice)) or choice.find(f".//{A}graphicData") is not None


def chart_of(root: Element) -> Chart:
    """Return a chart from its part."""
    if root.tag.startswith(CX):
        return _newer_chart(root)
    title = " ".join(filter(None, map(_title, root.iter(f"{C}title"))))
    header = [""]
    rows: dict[str, list[str]] = {}
    system = root.find(f"{C}date1904")
    from_1904 = system is not None and system.get("val", "1") in ("1", "true")
    for number, (series, labels) in enumerate(_series(root), 1):
        named, *columns = (
            _points(series, tag, labels if tag in ("val", "yVal") else "", from_1904=from_1904)
            for tag in ("tx", "cat", "xVal", "val", "yVal")
        )
        header.append(" ".join(named.values()))
        categories = columns[0] or columns[1]
        for place, value in (columns[2] or columns[3]).items():
            row = rows.setdefault(place, [categories.get(place, "")])
            row += [""] * (number - len(row)) + [value]
    return Chart(title, [header, *list(rows.values())[:MOST_POINTS]] if any(header) or rows else [])


def _title(heading: Element) -> str:
    """Return the title of a chart or an axis; that of a cell is a copy of what is in it."""
    lines = [line.text for line in lines_of(heading)]
    cells = [point.findtext(f"{C}v") or "" for point in heading.iter(f"{C}pt")]
    return " ".join(lines or map(clean, cells))


def _newer_chart(root: Element) -> Chart:
    """Return a chart of one of the kinds that Excel 2016 added, such as a waterfall."""
    title = " ".join(line.text for heading in root.iter(f"{CX}title") for line in lines_of(heading))
    data = {each.get("id", ""): each for each in root.iter(f"{CX}data")}
    header = [""]
    rows: dict[str, list[str]] = {}
    for number, series in enumerate(root.iter(f"{CX}series"), 1):
        header.append(clean(series.findtext(f"{CX}tx/{CX}txData/{CX}v") or ""))
        reference = series.find(f"{CX}dataId")
        used = None if reference is None else data.get(reference.get("val", ""))
        if used is None:
            continue
        categories = _newer_points(used.find(f"{CX}strDim/{CX}lvl"))
        for place, value in _newer_points(used.find(f"{CX}numDim/{CX}lvl")).items():
            row = rows.setdefault(place, [categories.get(place, "")])
            row += [""] * (number - len(row)) + [value]
    return Chart(title, [header, *list(rows.values())[:MOST_POINTS]] if any(header) or rows else [])


def _newer_points(level: Element | None) -> dict[str, str]:
    """Return the values of a newer chart as they are shown, by their places."""
    if level is None:
        return {}
    found = format_of(level.get("formatCode", ""), from_1904=False)
    values = {point.get("idx", ""): point.text or "" for point in level.iter(f"{CX}pt")}
    return {
        place: clean((found.shown(value) if found else None) or value)
        for place, value in values.items()
    }


def _series(root: Element) -> Iterator[tuple[Element, str]]:
    """Yield the series of a chart, and the format of the figures that label their points."""
    for plot in root.iter():
        for series in plot.iterfind(f"{C}ser"):
            labels = series.find(f"{C}dLbls/{C}numFmt")
            if labels is None:
                labels = plot.find(f"{C}dLbls/{C}numFmt")
            code = ""
            if labels is not None and labels.get("sourceLinked") in ("0", "false"):
                code = labels.get("formatCode", "")
            yield series, code


def _points(series: Element, tag: str, labels: str, *, from_1904: bool) -> dict[str, str]:
    """Return the values of a series under a tag as they are shown, by their places.

    The format of ``labels`` is for figures that have none of their own.
    """
    values: dict[str, str] = {}
    code = series.findtext(f"{C}{tag}//{C}formatCode", "")
    if labels and code.casefold() in ("", "general"):
        code = labels
    formats = {code: format_of(code, from_1904=from_1904)}
    for point in series.iterfind(f"{C}{tag}//{C}pt"):
        own = point.get("formatCode", code)
        if own not in formats:
            formats[own] = format_of(own, from_1904=from_1904)
        number_format, value = formats[own], point.findtext(f"{C}v") or ""
        shown = number_format.shown(value) if number_format else None
        # Of categories in several levels, the innermost comes first.
        values.setdefault(point.get("idx", ""), clean(value if shown is None else shown))
    return values
