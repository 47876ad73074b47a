"""Charts, sheets and formulas in OpenDocument files, and the cells of their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.office.drawings import MOST_POINTS
from ragkit.reading.open_document.parts import CONTENT, DRAW, HREF, TABLE, URN, lines_of
from ragkit.reading.reading_parts import joined, one_line, table, whole_line
from ragkit.reading.zip_container import part_of, resolved

if TYPE_CHECKING:
    import zipfile
    from xml.etree.ElementTree import Element

_CHART = f"{URN}chart:1.0}}"
_FORMULA = "{http://www.w3.org/1998/Math/MathML}annotation"
_CELLS = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
_MOST_REPEATED = 64


def embedded(archive: zipfile.ZipFile, shape: Element) -> str:
    """Return title and table of the chart or sheet that a frame shows."""
    root = _object(archive, shape)
    if root is None:
        return ""
    title = " ".join(line for heading in root.iter(f"{_CHART}title") for line in lines_of(heading))
    grids = [table(rows_of(grid)[:MOST_POINTS]) for grid in root.iter(f"{TABLE}table")]
    return joined((one_line(title), *grids), "\n\n")


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
    if len(reference):
        return reference[0]
    part = resolved("", f"{reference.get(HREF, '')}/{CONTENT}")
    return part_of(archive, part) if part in archive.namelist() else None
