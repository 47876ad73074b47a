"""Workbooks: each sheet that is not empty is a section."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ragkit.formatting import plural
from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.office import binary_workbooks
from ragkit.reading.office.cell_formats import shown_numbers
from ragkit.reading.office.converter import convert, core_properties
from ragkit.reading.office.sheet_asides import asides_of_workbook, parts_of_sheets
from ragkit.reading.office.sparse_sheets import cells_of, closed_up, number_of, part_shown
from ragkit.reading.reading_parts import joined, one_line, tile
from ragkit.reading.sheet_tables import Merged, merged_in, titled_table
from ragkit.reading.titles import choose
from ragkit.reading.xml_names import R, S
from ragkit.reading.zip_container import open_archive, part_of, rewritten, web_links
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits
    from ragkit.types import Metadata, Page

    Sheet: TypeAlias = tuple[str, Sequence[Sequence[Any]]]

_SHEETS = "xl/worksheets/"
_VALUE = re.compile(rb"<(?:\w{1,20}:)?[vt](?:\s[^<>]*)?>[^<]*[^\s<]")
_UNCOMPUTED = re.compile(
    rb"<(?:\w{1,20}:)?c(?:\s(?![^<>]*\bt=\"str\")[^<>]*)?>\s*"
    rb"<(?:\w{1,20}:)?f\b[^<>]*(?:/>|>[^<]*</(?:\w{1,20}:)?f>)\s*"
    rb"(?:<(?:\w{1,20}:)?v\s*(?:/>|>\s*</(?:\w{1,20}:)?v>)\s*)?</(?:\w{1,20}:)?c>"
)
"""A cell with a formula alone; an empty text may be what a formula gives."""

_ERROR_CELL = re.compile(
    rb"(<(?:\w{1,20}:)?c\s(?:[^<>]*?\s)?t=\")e(\"[^<>]*>"
    rb"(?:<(?:\w{1,20}:)?f\b[^<>]*(?:/>|>[^<]*</(?:\w{1,20}:)?f>))?<(?:\w{1,20}:)?v>)[^<]*"
)

_SPACED = tuple(tag + space for tag in (b"c>", b"v>") for space in (b"\n", b"\r", b" "))
_BETWEEN = re.compile(rb"(?<=>)\s+(?=<(?!/(?:\w{1,20}:)?t>))|(?<=<v>)\s+|\s+(?=</v>)")
"""White space between elements and around values, but not that which is a text."""

_PLACE = re.compile(r"([A-Z]{1,3})(\d{1,7})")
_ONLY_DATE = re.compile(r"(\d{4}-\d\d-\d\d)[ T]00:00:00")
_ONLY_TIME = re.compile(r"1899-12-3[01][ T](\d\d:\d\d:\d\d)")
_ERROR = re.compile(r"#ERR: (?:Div0|NA|Name|Null|Num|Ref|Value|GettingData)")
"""What the converter makes of a formula that has no result."""


def read_workbook(data: bytes, name: str, limits: Limits) -> Reading:
    """Read an XLSX or XLSB file: each sheet that is not empty is a section.

    Raises:
        ReadingError: damaged, locked, or a decompression bomb.
    """
    archive = open_archive(data, limits, Format.XLSX.label)
    metadata, title = core_properties(archive)
    file_format = Format.XLSB if Format.XLSB.part in archive.namelist() else Format.XLSX
    converted = [*converted_sheets(for_converter(archive), file_format)]
    parts = parts_of_sheets(archive)
    stored = {
        each: archive.read(part) for each, part in parts.items() if part in archive.namelist()
    }
    sheets = [*_with_links(archive, parts, stored, converted)]
    sections = sheets_of(sheets, asides_of_workbook(archive, parts), _merged(stored, sheets))
    reading = workbook_reading(sections, name, file_format, (metadata, title))
    formulas = sum(len(_UNCOMPUTED.findall(part)) for part in stored.values())
    return replace(reading, warnings=(*_unread(parts, stored, sheets), *uncomputed(formulas)))


def for_converter(archive: zipfile.ZipFile) -> bytes:
    """Return a workbook rewritten so that the converter loses nothing of it.

    For an error that it does not know, such as "#SPILL!", or for spaces around a number, it leaves
    out the whole sheet.
    """
    shown = shown_numbers(archive)
    shown_in_binary = binary_workbooks.shown_numbers(archive)

    def changed(name: str, part: bytes) -> bytes:
        if not name.startswith(_SHEETS):
            return part
        if name.endswith(".bin"):
            return shown_in_binary(part)
        if any(spaced in part for spaced in _SPACED):
            part = _BETWEEN.sub(b"", part)
        if b't="e"' in part:
            part = _ERROR_CELL.sub(rb"\1str\2", part)
        return closed_up(shown(part))

    return rewritten(archive, changed)


def _with_links(
    archive: zipfile.ZipFile,
    parts: Mapping[str, str],
    stored: Mapping[str, bytes],
    sheets: Iterable[Sheet],
) -> Iterator[Sheet]:
    """Yield sheets whose cells have the addresses of their links, where these are not seen."""
    for name, rows in sheets:
        part = parts.get(name, "")
        addresses = web_links(archive, part)
        root = part_of(archive, part) if addresses else None
        filled = None if root is None else part_shown(stored[name], len(rows))
        if root is None or filled is None:
            yield name, rows
            continue
        cells = [[*row] for row in rows]
        links = {
            link.get("ref", ""): _whole_address(addresses.get(link.get(f"{R}id", ""), ""), link)
            for link in root.iterfind(f"{S}hyperlinks/{S}hyperlink")
        }
        _add_links(cells, links, filled)
        yield name, cells


def _whole_address(address: str, link: Element) -> str:
    """Return an address with the place on its page, which is noted apart."""
    place = link.get("location", "")
    return f"{address}#{place}" if address and place else address


def _add_links(cells: list[list[Any]], links: Mapping[str, str], filled: Merged) -> None:
    """Write the links of single cells into the rows of the part of a sheet that is filled."""
    for place, target in links.items():
        found = _PLACE.fullmatch(place)
        if not found or not target:
            continue
        row, column = int(found[2]) - 1 - filled.top, number_of(found[1].encode()) - 1 - filled.left
        if 0 <= row < len(cells) and 0 <= column < len(cells[row]):
            words = shown_cell(cells[row][column])
            if words and words not in target and "\n" not in words:
                cells[row][column] = f"[{words}]({target})"


def _merged(stored: Mapping[str, bytes], sheets: Iterable[Sheet]) -> dict[str, list[Merged]]:
    """Return the merged cells of each sheet by its name, as they stand in its rows."""
    return {
        name: merged_in(rows, *cells_of(closed_up(part)))
        for name, rows in sheets
        if b"mergeCell " in (part := stored.get(name, b""))
    }


def _unread(
    parts: Mapping[str, str], stored: Mapping[str, bytes], sheets: Iterable[Sheet]
) -> Iterator[str]:
    """Yield a warning for each sheet that has values, of which the converter gives none."""
    read = {name for name, rows in sheets if rows}
    for name, part in stored.items():
        if name not in read and parts[name].startswith(_SHEETS) and _VALUE.search(part):
            yield f"The cells of the sheet {one_line(clean(name))} could not be read."


def uncomputed(count: int) -> Iterator[str]:
    """Yield a warning if there are cells with formulas that no program has computed."""
    if count:
        yield (
            f"The results of {plural(count, 'formula')} are missing in the file until a "
            "spreadsheet program opens and saves it."
        )


def converted_sheets(data: bytes, file_format: Format) -> Iterator[Sheet]:
    """Yield the name and the rows of each sheet of a workbook.

    Raises:
        ReadingError: it is damaged.
    """
    result = convert(data, file_format, file_format.label)
    tables = {int(sheet.page_number or 0): sheet.cells for sheet in result.tables}
    names: Sequence[str] = result.metadata.get("sheet_names") or ()
    for number in range(1, max((len(names), *tables)) + 1):
        named = names[number - 1] if number <= len(names) else f"Sheet {number}"
        yield named, tables.get(number, ())


def sheets_of(
    sheets: Iterable[Sheet],
    asides: Mapping[str, Sequence[str]],
    merged: Mapping[str, Sequence[Merged]],
) -> tuple[str, tuple[Page, ...]]:
    """Return the sheets that are not empty as sections: the tables, then what stands beside them.

    They are given as their names and rows, ``asides`` and ``merged`` cells by the names of sheets.
    """
    sections: list[tuple[str, str]] = []
    for named, rows in sheets:
        name = one_line(clean(named))
        cells = [[shown_cell(value) for value in row] for row in rows]
        pieces = (titled_table(cells, merged.get(named, ())), *asides.get(named, ()))
        if any(pieces):
            sections.append((name, joined((f"## {name}", *pieces), "\n\n")))
    return tile(sections)


def workbook_reading(
    sheets: tuple[str, tuple[Page, ...]],
    name: str,
    file_format: Format,
    about: tuple[Metadata, str],
) -> Reading:
    """Return a workbook of the sections of its sheets; ``about`` it are its metadata and title."""
    text, pages = sheets
    metadata, title = about
    return Reading(
        text=text,
        title=choose([title], name),
        format=file_format,
        markup=Markup.MARKDOWN,
        pages=pages,
        metadata=metadata,
    )


def shown_cell(value: Any) -> str:
    """Return a cell as text; an error is empty.

    Excel stores a date as its midnight, and a time as one of day 0.
    """
    text = clean(str(value)) if value is not None else ""
    if _ERROR.fullmatch(text):
        return ""
    alone = _ONLY_DATE.fullmatch(text.strip()) or _ONLY_TIME.fullmatch(text.strip())
    return alone[1] if alone else text
