"""OpenDocument sheets, each a section: its table, what is drawn on it, and its comments."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ragkit.reading.formats import Format
from ragkit.reading.office.workbooks import (
    converted_sheets,
    sheets_of,
    uncomputed,
    workbook_reading,
)
from ragkit.reading.open_document.objects import titles_of_charts
from ragkit.reading.open_document.parts import (
    CONTENT,
    DRAW,
    EMPTY_MANIFEST,
    MANIFEST,
    OFFICE,
    SHAPES,
    TABLE,
    comments_of,
    lines_of,
    opened,
    properties,
)
from ragkit.reading.reading_parts import whole_number
from ragkit.reading.sheet_tables import Merged, merged_in
from ragkit.reading.zip_container import part_of, rewritten

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits
    from ragkit.types import Reading

_SHEETS = f"{OFFICE}body/{OFFICE}spreadsheet/{TABLE}table"
_OF_ANOTHER_FILE = re.compile(r"'[a-z][a-z\d+.-]*:.*'#", re.IGNORECASE | re.DOTALL)
"""How the name of a hidden copy of cells of another file begins that formulas refer to."""

_OBJECT = re.compile(rb"(<draw:object\b[^<>]*)(?<!/)>.*?</draw:object>", re.DOTALL)
_FORMATTED = re.compile(
    rb"<table:table-cell\b([^<>]*?\soffice:value-type="
    rb"\"(?!(?:date|boolean|string)\")[^\"<>]*\"[^<>]*(?<!/)>)(?!</)"
)
_EMPTY_ROWS = re.compile(
    rb"(<table:table-row\b[^<>]*?)\stable:number-rows-repeated=\"\d+\"([^<>]*(?:/>|>"
    rb"(?:<table:(?:covered-)?table-cell\b(?![^<>]*\soffice:)[^<>]*"
    rb"(?:/>|></table:(?:covered-)?table-cell>))*</table:table-row>))"
)
_ERROR = re.compile(
    rb"(<table:table-cell\b[^<>]*?)\soffice:value-type=\"string\"((?:\s[^<>]*)?"
    rb"\scalcext:value-type=\"error\"[^<>]*>)\s*<text:p>[^<]*</text:p>"
)
_LINK = re.compile(
    rb"<text:a\b[^<>]*?\sxlink:href=\"((?:https?://|mailto:)[^\"\s()|]{1,1000})\"[^<>]*>"
    rb"([^<]*)</text:a>"
)
_AS_TEXT = b'<table:table-cell office:value-type="string"'
_BETWEEN_CELLS = re.compile(rb">\s+(?=</?table:)")
_VALUE = re.compile(rb"\s(?:office|calcext):(?:time-)?value(?:-type)?=\"[^\"]*\"")


def read_sheets(data: bytes, name: str, limits: Limits) -> Reading:
    """Read an ODS file: each sheet that is not empty is a section.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    archive = opened(data, limits, Format.ODS)
    root = part_of(archive, CONTENT)
    grids = {
        grid.get(f"{TABLE}name", ""): grid
        for grid in (() if root is None else root.iterfind(_SHEETS))
    }
    asides = {named: [*_asides(archive, grid)] for named, grid in grids.items()}
    converted = converted_sheets(_as_shown(archive), Format.ODS)
    sheets = [(named, rows) for named, rows in converted if not _OF_ANOTHER_FILE.match(named)]
    merged = {
        named: merged_in(rows, *_cells_of(grids[named])) for named, rows in sheets if named in grids
    }
    sections = sheets_of(sheets, asides, merged)
    reading = workbook_reading(sections, name, Format.ODS, properties(archive))
    return replace(reading, warnings=tuple(uncomputed(sum(map(_formulas, grids.values())))))


def _formulas(grid: Element) -> int:
    """Return how many cells have a formula without a value; an empty text may be a value."""
    return sum(
        _count(cell, "columns-repeated")
        for cell in grid.iter(f"{TABLE}table-cell")
        if cell.get(f"{TABLE}formula")
        and cell.get(f"{OFFICE}value-type") != "string"
        and not any(key.startswith(OFFICE) and key.endswith("value") for key in cell.attrib)
        and not "".join(cell.itertext()).strip()
    )


def _cells_of(grid: Element) -> tuple[list[Merged], Merged]:
    """Return the merged cells of a sheet, and the part of it that is filled.

    Empty rows that are repeated count once, as the converter gets them.
    """
    merged: list[Merged] = []
    rows: list[int] = []
    columns: list[int] = []
    row = 0
    for cells in grid.iter(f"{TABLE}table-row"):
        column, is_filled = 0, False
        for cell in cells:
            end = column + _count(cell, "columns-repeated")
            down, across = _count(cell, "rows-spanned"), _count(cell, "columns-spanned")
            if down > 1 or across > 1:
                merged.append(Merged(row, column, row + down, column + across))
            if cell.get(f"{OFFICE}value-type"):
                is_filled = True
                columns += [column, end]
            column = end
        first, row = row, row + (_count(cells, "rows-repeated") if is_filled else 1)
        rows += [first, row] if is_filled else []
    if not rows:
        return [], Merged(0, 0, 0, 0)
    return merged, Merged(min(rows), min(columns), max(rows), max(columns))


def _count(element: Element, name: str) -> int:
    return whole_number(element.get(f"{TABLE}number-{name}", ""), 1)


def _asides(archive: zipfile.ZipFile, grid: Element) -> Iterator[str]:
    """Yield the paragraphs of the shapes on a sheet, each once, titles of charts, and comments."""
    frames = [*grid.iter(f"{DRAW}frame")]
    titles = [*titles_of_charts(archive, frames)]
    for frame in frames:
        for drawn in frame.findall(f"{DRAW}object"):
            frame.remove(drawn)
    shapes = (shape for shape in grid.iter() if shape.tag in SHAPES)
    yield from dict.fromkeys(line for shape in shapes for line in lines_of(shape))
    yield from titles
    yield from comments_of(grid.iter(f"{OFFICE}annotation"))


def _linked(link: re.Match[bytes]) -> bytes:
    """Return a link with its address, unless this is what is seen of it."""
    words = link[2].strip()
    return b"[%b](%b)" % (words, link[1]) if words and words not in link[1] else link[2]


def _as_shown(archive: zipfile.ZipFile) -> bytes:
    """Return a workbook in which numbers, sums of money and times are what people see.

    Links have their addresses. Cells that have a value but no text, as some programs write them,
    show the value, and those of formulas without a result are empty.
    The converter takes white space between cells for damage, and leaves out a sheet with very many
    empty rows between others. It takes the table of a chart in a flat file for that of the sheet,
    and what is encrypted of macros for the sheets.
    """

    def changed(name: str, part: bytes) -> bytes:
        if name == MANIFEST:
            return EMPTY_MANIFEST.encode()
        if name != CONTENT:
            return part
        if b"<text:a" in part:
            part = _LINK.sub(_linked, part)
        if b"<draw:object" in part:
            part = _OBJECT.sub(rb"\1/>", part)
        part = _BETWEEN_CELLS.sub(b">", part)
        if b'value-type="error"' in part:
            part = _ERROR.sub(rb"\1\2", part)
        part = _EMPTY_ROWS.sub(rb"\1\2", part)
        return _FORMATTED.sub(lambda cell: _AS_TEXT + _VALUE.sub(b"", cell[1]), part)

    return rewritten(archive, changed)
