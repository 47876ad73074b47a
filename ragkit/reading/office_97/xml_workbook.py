"""Workbooks as XML of Excel 2002 and 2003, which many programs still export under ``.xls``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.reading.comments import comment_line
from ragkit.reading.decode import clean
from ragkit.reading.formats import Format
from ragkit.reading.limits import check_text
from ragkit.reading.markdown import metadata_from
from ragkit.reading.office.number_formats import parse
from ragkit.reading.office.workbooks import sheets_of, workbook_reading
from ragkit.reading.reading_parts import one_line, whole_number
from ragkit.reading.sheet_tables import Merged
from ragkit.reading.zip_container import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

    from ragkit.reading.limits import Limits
    from ragkit.reading.office.number_formats import NumberFormat
    from ragkit.types import Reading

_S = "{urn:schemas-microsoft-com:office:spreadsheet}"
_O = "{urn:schemas-microsoft-com:office:office}"
_ABOUT = {"author": "Author", "date": "Created", "modified": "LastSaved", "subject": "Subject"}
_CODES = {"Fixed": "0.00", "Standard": "#,##0.00", "Percent": "0.00%"}
"""The codes of formats that have names."""

_LARGEST_GAP = 1000


def read_workbook(data: bytes, name: str, limits: Limits) -> Reading:
    """Read each sheet that is not empty as a section: its table, then its comments.

    Raises:
        ReadingError: damaged, or too long.
    """
    root = parsed(data, Format.XLS.label)
    formats = _formats(root)
    sheets = [(sheet.get(f"{_S}Name", ""), sheet) for sheet in root.iter(f"{_S}Worksheet")]
    comments = {named: [*_comments(sheet)] for named, sheet in sheets}
    rows = ((named, _rows(sheet, formats)) for named, sheet in sheets)
    merged = {named: [*_merged(sheet)] for named, sheet in sheets}
    sections = sheets_of(rows, comments, merged)
    check_text(sections[:1], limits)
    values = {key: clean(root.findtext(f".//{_O}{tag}") or "") for key, tag in _ABOUT.items()}
    title = one_line(clean(root.findtext(f".//{_O}Title") or ""))
    return workbook_reading(sections, name, Format.XLS, (metadata_from(values), title))


def _formats(root: Element) -> Mapping[str, NumberFormat]:
    """Return the formats of the styles that format numbers, by the names of the styles."""
    formats: dict[str, NumberFormat] = {}
    for style in root.iter(f"{_S}Style"):
        shown = style.find(f"{_S}NumberFormat")
        code = "" if shown is None else shown.get(f"{_S}Format", "")
        if (found := parse(_CODES.get(code, code))) is not None:
            formats[style.get(f"{_S}ID", "")] = found
    return formats


def _rows(sheet: Element, formats: Mapping[str, NumberFormat]) -> list[list[str]]:
    rows: list[list[str]] = []
    for number, row in _numbered(sheet):
        rows += [[] for _ in range(len(rows), number)]
        rows.append([*_cells(row, formats)])
    return rows


def _numbered(sheet: Element) -> Iterator[tuple[int, Element]]:
    """Yield each row and its number; a row says it if empty ones come before it."""
    number = 0
    for row in sheet.iter(f"{_S}Row"):
        number += min(max(_number(row, "Index") - 1 - number, 0), _LARGEST_GAP)
        yield number, row
        number += 1


def _cells(row: Element, formats: Mapping[str, NumberFormat]) -> Iterator[str]:
    """Yield the cells of a row; a cell says where it stands if empty ones come before it."""
    end = 0
    for place, cell in _placed(row):
        yield from [""] * (place.start - end)
        yield _shown(cell, formats.get(cell.get(f"{_S}StyleID", "")))
        yield from [""] * (len(place) - 1)
        end = place.stop


def _placed(row: Element) -> Iterator[tuple[range, Element]]:
    """Yield the columns of each cell of a row, and the cell."""
    column = 0
    for cell in row.iterfind(f"{_S}Cell"):
        column = max(column, min(_number(cell, "Index") - 1, _LARGEST_GAP))
        end = column + 1 + min(_number(cell, "MergeAcross"), _LARGEST_GAP)
        yield range(column, end), cell
        column = end


def _merged(sheet: Element) -> Iterator[Merged]:
    for top, row in _numbered(sheet):
        for columns, cell in _placed(row):
            yield Merged(top, columns.start, top + 1 + _number(cell, "MergeDown"), columns.stop)


def _shown(cell: Element, number_format: NumberFormat | None) -> str:
    """Return a cell as people see it; an error is empty, as in other workbooks."""
    data = cell.find(f"{_S}Data")
    kind = "" if data is None else data.get(f"{_S}Type", "")
    words = "" if data is None else "".join(data.itertext())
    if kind == "Number":
        return (number_format.shown(words.strip()) if number_format else None) or words
    if kind == "DateTime":
        return words.strip().partition(".")[0].replace("T", " ")
    if kind == "Boolean":
        return "true" if words.strip() == "1" else "false"
    return "" if kind == "Error" else words


def _comments(sheet: Element) -> Iterator[str]:
    for comment in sheet.iter(f"{_S}Comment"):
        yield comment_line(comment.get(f"{_S}Author", ""), "".join(comment.itertext()))


def _number(cell: Element, name: str) -> int:
    return whole_number(cell.get(f"{_S}{name}", ""))
