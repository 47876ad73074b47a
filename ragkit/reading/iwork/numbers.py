"""Spreadsheets of Numbers: each sheet a section with its tables, and what is drawn beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.blocks import written
from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.iwork.archive import ROOT, document_name, objects_of, opened
from ragkit.reading.iwork.drawings import Drawings
from ragkit.reading.iwork.legacy import is_legacy
from ragkit.reading.iwork.legacy_documents import read_legacy_numbers
from ragkit.reading.limits import damaged
from ragkit.reading.office.workbooks import workbook_reading
from ragkit.reading.reading_parts import joined, one_line, tile
from ragkit.reading.zip_container import unpacking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragkit.reading.iwork.archive import Objects
    from ragkit.reading.limits import Limits
    from ragkit.types import Reading

_SHEET = 2
_LEVEL_OF_TABLES = 3


def read_sheets(data: bytes, name: str, limits: Limits) -> Reading:
    """Read a spreadsheet of Numbers: each sheet that is not empty is a section.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    label = Format.NUMBERS.label
    name = document_name(name)
    with unpacking(damaged(label)):
        archive = opened(data, limits, label)
        if is_legacy(archive):
            return read_legacy_numbers(archive, name, limits)
        objects = objects_of(archive, limits, label)
        if not any(objects.of_kind(_SHEET)):
            raise damaged(label)
        return workbook_reading(tile(_sections(objects)), name, Format.NUMBERS, ({}, ""))


def _sections(objects: Objects) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each sheet that is not empty."""
    drawings = Drawings(objects, _LEVEL_OF_TABLES)
    for identity in objects.message(ROOT).references(1):
        sheet = objects.message(identity)
        if objects.kind(identity) != _SHEET:
            continue
        blocks = [block for drawing in sheet.references(2) for block in drawings.blocks(drawing)]
        name = one_line(clean(sheet.text(1)))
        pieces = [written(blocks), *drawings.comments()]
        if any(pieces):
            yield name, joined((f"## {name}", *pieces), "\n\n")
