"""Workbooks from before 2007: each sheet a section with its table, what is drawn, and comments."""

from __future__ import annotations

import io
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ragkit.reading.comments import comment_line
from ragkit.reading.formats import Format
from ragkit.reading.limits import check_text, locked
from ragkit.reading.office.cell_formats import USUAL_CODES, format_of
from ragkit.reading.office.workbooks import converted_sheets, sheets_of, workbook_reading
from ragkit.reading.office_97.compound import is_compound, opened, properties_of
from ragkit.reading.office_97.xls_drawings import drawn_on_sheets
from ragkit.reading.sheet_tables import Merged

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ragkit.reading.limits import Limits
    from ragkit.reading.office.cell_formats import CellFormat
    from ragkit.types import Metadata, Reading

_STREAMS = ("Workbook", "Book")
_LONGEST_NUMBER = 24


def read_workbook(data: bytes, name: str, limits: Limits) -> Reading:
    """Read an XLS file with its numbers as they are shown.

    What xlrd finds damaged is left to the converter, which knows neither formats nor comments.

    Raises:
        ReadingError: damaged, locked, or too long.
    """
    cells, about = _cells(data)
    book = _book(cells)
    if book is None:
        sheets, asides, merged = converted_sheets(data, Format.XLS), {}, {}
    else:
        sheets = _sheets(book)
        drawn = drawn_on_sheets(cells)
        asides = {
            sheet.name: [*drawn.get(sheet.name, ()), *_comments(sheet)] for sheet in book.sheets()
        }
        merged = {sheet.name: [*_merged(sheet)] for sheet in book.sheets()}
    sections = sheets_of(sheets, asides, merged)
    check_text(sections[:1], limits)
    return workbook_reading(sections, name, Format.XLS, about)


def shown_sheet(data: bytes) -> list[list[str]]:
    """Return the rows of the sheet that was last active.

    Raises:
        ReadingError: the workbook is damaged or locked.
    """
    cells, _ = _cells(data)
    book = _book(cells) if cells else None
    if book is None:
        return []
    sheets = book.sheets()
    active = next((place for place, sheet in enumerate(sheets) if sheet.sheet_visible), 0)
    rows = [rows for _, rows in _sheets(book)]
    return rows[active] if rows else []


def _cells(data: bytes) -> tuple[bytes, tuple[Metadata, str]]:
    """Return the stream of the cells, and metadata and title; Excel 2 to 4 wrote cells alone."""
    if not is_compound(data):
        return data, ({}, "")
    with opened(data, Format.XLS.label) as file:
        stream = next((each for each in _STREAMS if file.exists(each)), "")
        return file.openstream(stream).read() if stream else b"", properties_of(file)


def _book(cells: bytes) -> Any | None:
    """Return a workbook; ``None`` if xlrd finds it damaged, as it does sooner than others.

    Raises:
        ReadingError: it is locked.
    """
    import xlrd

    try:
        return xlrd.open_workbook(
            file_contents=cells, formatting_info=True, ragged_rows=True, logfile=io.StringIO()
        )
    except Exception as error:  # noqa: BLE001 - xlrd may raise anything on a damaged file
        if "encrypted" in str(error):
            raise locked(Format.XLS.label) from None
        return None


def _sheets(book: Any) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the name and the rows of each sheet."""
    formats = _formats(book)
    for sheet in book.sheets():
        rows = (sheet.row(number) for number in range(sheet.nrows))
        yield sheet.name, [[_shown(cell, book.datemode, formats) for cell in row] for row in rows]


def _formats(book: Any) -> Mapping[int, CellFormat]:
    """Return the formats of the cell styles for numbers and times, by the numbers of the styles."""
    from xlrd.formatting import std_format_strings

    codes = {
        number: USUAL_CODES.get(number, "")
        if code.format_str == std_format_strings.get(number)
        else code.format_str
        for number, code in book.format_map.items()
    }
    parsed = {number: format_of(code) for number, code in codes.items()}
    return {
        style: found
        for style, cell in enumerate(book.xf_list)
        if (found := parsed.get(cell.format_key)) is not None
    }


def _shown(cell: Any, datemode: int, formats: Mapping[int, CellFormat]) -> str:
    """Return a cell as people see it; an error is empty, as in other workbooks."""
    import xlrd

    if cell.ctype == xlrd.XL_CELL_TEXT:
        return str(cell.value)
    if cell.ctype == xlrd.XL_CELL_BOOLEAN:
        return "true" if cell.value else "false"
    if cell.ctype not in (xlrd.XL_CELL_NUMBER, xlrd.XL_CELL_DATE):
        return ""
    number, cell_format = _number(cell.value), formats.get(cell.xf_index)
    if cell_format and (shown := cell_format.shown(number)):
        return shown
    if cell.ctype == xlrd.XL_CELL_DATE:
        try:
            date = xlrd.xldate_as_datetime(cell.value, datemode)
            return str((date + timedelta(seconds=0.5)).replace(microsecond=0))
        except (ValueError, OverflowError):
            return number
    return number


def _merged(sheet: Any) -> Iterator[Merged]:
    for top, bottom, left, right in sheet.merged_cells:
        yield Merged(top, left, bottom, right)


def _number(value: float) -> str:
    """Return a number as it is stored, in digits only unless they are many."""
    whole = f"{Decimal(repr(value)):f}".removesuffix(".0")
    return whole if len(whole) <= _LONGEST_NUMBER else repr(value)


def _comments(sheet: Any) -> Iterator[str]:
    """Yield a line for each comment on a cell: "Rui on B2: ask Anna"."""
    from xlrd import cellname

    for (row, column), note in sorted(sheet.cell_note_map.items()):
        # Excel begins a new note with the name of who writes it.
        text = note.text.removeprefix(f"{note.author}:")
        yield comment_line(note.author, text, place=cellname(row, column))
