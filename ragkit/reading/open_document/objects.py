"""Charts, sheets and formulas in OpenDocument files, and the cells of their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.office.drawings import MOST_POINTS
from ragkit.reading.office.number_formats import NumberFormat
from ragkit.reading.open_document.parts import (
    CONTENT,
    DRAW,
    HREF,
    OFFICE,
    TABLE,
    TEXT,
    URN,
    lines_of,
    words_of,
)
from ragkit.reading.reading_parts import joined, one_line, table, whole_line
from ragkit.reading.xml_names import local_name
from ragkit.reading.zip_container import part_of, resolved

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterable, Iterator
    from xml.etree.ElementTree import Element

_CHART = f"{URN}chart:1.0}}"
_FORMULA = "{http://www.w3.org/1998/Math/MathML}annotation"
_CELLS = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
_MOST_REPEATED = 64
_TEXTS = ("text", "drawing", "presentation")
_NO_NUMBERS = ("NaN", "1.#NAN", "-1.#IND")
_USUAL = NumberFormat()


def embedded(archive: zipfile.ZipFile, shape: Element) -> str:
    """Return title and table of the chart or sheet that a frame shows, or the text of a document.

    Of what a chart cannot show, such as the quotient of zeros, its table says that it is no number.
    """
    root = _object(archive, shape)
    if root is None:
        return ""
    document = next((body for kind in _TEXTS for body in root.iter(f"{OFFICE}{kind}")), None)
    if document is not None:
        return joined(_blocks(document), "\n\n")
    is_chart = root.find(f".//{_CHART}chart") is not None
    grids = [rows_of(grid)[:MOST_POINTS] for grid in root.iter(f"{TABLE}table")]
    if is_chart:
        grids = [[[*map(_figure, row)] for row in rows] for rows in grids]
    return joined((title_of(root), *map(table, grids)), "\n\n")


def _blocks(document: Element) -> Iterator[str]:
    """Yield the paragraphs and the tables of a document."""
    left = [document]
    while left:
        element = left.pop()
        if element.tag == f"{TABLE}table":
            yield table(rows_of(element))
        elif element.tag in (f"{TEXT}p", f"{TEXT}h"):
            yield words_of(element)
        else:
            left += reversed(element)


def title_of(root: Element) -> str:
    """Return the titles of a chart and of its axes, one after another."""
    titles = (line for heading in root.iter(f"{_CHART}title") for line in lines_of(heading))
    return one_line(" ".join(titles))


def titles_of_charts(archive: zipfile.ZipFile, frames: Iterable[Element]) -> Iterator[str]:
    """Yield the titles of charts in the frames of a sheet, whose figures are those of cells."""
    for frame in frames:
        root = _object(archive, frame)
        if root is not None and (title := title_of(root)):
            yield title


def formula(archive: zipfile.ZipFile, shape: Element) -> str:
    """Return the source of the formula that a frame shows, as its author typed it."""
    root = _object(archive, shape)
    source = None if root is None else root.find(f".//{_FORMULA}")
    return "" if source is None else whole_line(source.text or "")


def rows_of(grid: Element) -> list[list[str]]:
    """Return the cells of a table, each on one line."""
    return [
        [" ".join(lines_of(cell)) for cell in cells_of(row)]
        for row in grid.iter(f"{TABLE}table-row")
    ]


def cells_of(row: Element) -> list[Element]:
    """Return the cells of a row; one that is repeated, as often as it is, within reason.

    Those that a wider or higher cell covers are empty.
    """
    cells: list[Element] = []
    for cell in row:
        if cell.tag not in _CELLS:
            continue
        repeated = cell.get(f"{TABLE}number-columns-repeated", "1")
        cells += [cell] * (min(int(repeated), _MOST_REPEATED) if repeated.isdecimal() else 1)
    return cells


def _object(archive: zipfile.ZipFile, shape: Element) -> Element | None:
    """Return what a frame shows of another program, which is a part of its own."""
    reference = shape.find(f"{DRAW}object")
    if reference is None:
        return None
    part = resolved("", f"{reference.get(HREF, '')}/{CONTENT}")
    if HREF in reference.attrib and part in archive.namelist():
        return part_of(archive, part)
    return next((child for child in reference if local_name(child) != "p"), None)


def _figure(cell: str) -> str:
    """Return a figure of a chart with the digits that say something."""
    return "" if cell in _NO_NUMBERS else _USUAL.shown(cell) or cell
