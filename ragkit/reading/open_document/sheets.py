"""OpenDocument sheets, each a section: its table, what is drawn on it, and its comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit.reading.formats import Format
from ragkit.reading.office.workbooks import converted_sheets, sheets_of, workbook_reading
from ragkit.reading.open_document.parts import (
    CONTENT,
    OFFICE,
    SHAPES,
    TABLE,
    comments_of,
    lines_of,
    opened,
    properties,
)
from ragkit.reading.zip_container import part_of, rewritten

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterable
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits
    from ragkit.types import Reading

_FORMATTED = re.compile(
    rb"<table:table-cell\b([^<>]*?\soffice:value-type="
    rb"\"(?!(?:date|boolean|string)\")[^\"<>]*\"[^<>]*(?<!/)>)(?!</)"
)
_EMPTY_ROWS = re.compile(
    rb"(<table:table-row\b[^<>]*?)\stable:number-rows-repeated=\"\d+\"([^<>]*(?:/>|>"
    rb"(?:<table:(?:covered-)?table-cell\b(?![^<>]*\soffice:)[^<>]*"
    rb"(?:/>|></table:(?:covered-)?table-cell>))*</table:table-row>))"
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
    asides = {
        grid.get(f"{TABLE}name", ""): [
            *_drawn(grid),
            *comments_of(grid.iter(f"{OFFICE}annotation")),
        ]
        for grid in (() if root is None else root.iter(f"{TABLE}table"))
    }
    sheets = sheets_of(converted_sheets(_as_shown(archive), Format.ODS), asides)
    return workbook_reading(sheets, name, Format.ODS, properties(archive))


def _drawn(grid: Element) -> Iterable[str]:
    """Return the paragraphs of the shapes on a sheet, each once."""
    shapes = (shape for shape in grid.iter() if shape.tag in SHAPES)
    return dict.fromkeys(line for shape in shapes for line in lines_of(shape))


def _as_shown(archive: zipfile.ZipFile) -> bytes:
    """Return a workbook in which numbers, sums of money and times are what people see.

    Cells that have a value but no text, as some programs write them, show the value.
    The converter takes white space between cells for damage, and leaves out a sheet with very many
    empty rows between others.
    """

    def changed(name: str, part: bytes) -> bytes:
        if name != CONTENT:
            return part
        part = _EMPTY_ROWS.sub(rb"\1\2", _BETWEEN_CELLS.sub(b">", part))
        return _FORMATTED.sub(lambda cell: _AS_TEXT + _VALUE.sub(b"", cell[1]), part)

    return rewritten(archive, changed)
