"""Cells of workbooks with numbers, written as people see them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias
from xml.sax.saxutils import escape

from ragkit.reading.office.number_formats import NumberFormat, parse
from ragkit.reading.office.time_formats import DateFormat, TimeFormat, parse_date
from ragkit.reading.office.time_formats import parse as parse_time
from ragkit.reading.xml_names import S
from ragkit.reading.zip_container import part_of

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Callable, Mapping, Sequence

CellFormat: TypeAlias = NumberFormat | TimeFormat | DateFormat

_ACCOUNTING = r'_(* #,##0{0}_);_(* \(#,##0{0}\);_(* "-"??_);_(@_)'
USUAL_CODES = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%",
    11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
    **dict.fromkeys((5, 6, 37, 38), "#,##0;-#,##0"),
    **dict.fromkeys((7, 8, 39, 40), "#,##0.00;-#,##0.00"),
    **dict.fromkeys((41, 42), _ACCOUNTING.format("")),
    **dict.fromkeys((43, 44), _ACCOUNTING.format(".00")),
    18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 45: "mm:ss",
    46: "[h]:mm:ss", 47: "mm:ss.0",
}  # fmt: skip
"""The formats that every workbook knows by number, without those of dates.

The currency of 5 to 8, 42 and 44 depends on the country, but Excel writes those down.
"""

_OWN = f"{S}numFmt"
_CELL = re.compile(
    rb"<c((?:\s[^<>]*)?)>(?:<f[^<>]*/>|<f[^<>]*>[^<]*</f>)?<v>([-+.\deE]{1,40})</v></c>"
)
_STYLE = re.compile(rb"\ss=\"(\d{1,9})\"")
_TYPE = re.compile(rb"\st=\"(?!n\")")


def shown_numbers(archive: zipfile.ZipFile) -> Callable[[bytes], bytes]:
    """Return what makes numbers texts in the XML of a sheet: "25.6%", "1,234.50 €" or "36:15".

    The converter knows no formats of numbers but those of dates.
    """
    formats = _formats(archive)
    if not formats:
        return bytes
    return lambda sheet: _CELL.sub(lambda cell: _written(cell, formats), sheet)


def _formats(archive: zipfile.ZipFile) -> Mapping[bytes, CellFormat]:
    """Return the formats of the cell styles that format numbers, by the number of the style."""
    styles = part_of(archive, "xl/styles.xml")
    if styles is None:
        return {}
    own = {each.get("numFmtId", ""): each.get("formatCode", "") for each in styles.iter(_OWN)}
    cells = styles.find(f"{S}cellXfs")
    numbers = [style.get("numFmtId", "") for style in (() if cells is None else cells)]
    return formats_of_styles(own, numbers)


def formats_of_styles(own: Mapping[str, str], numbers: Sequence[str]) -> Mapping[bytes, CellFormat]:
    """Return the formats of styles that format numbers, by the number of the style.

    ``own`` are the codes of formats that a workbook has beside the usual ones, by their numbers.
    """
    codes = {**{str(number): code for number, code in USUAL_CODES.items()}, **own}
    known = set(numbers) & set(codes)
    parsed = {number: format_of(codes[number]) for number in known}
    return {
        str(style).encode(): found
        for style, number in enumerate(numbers)
        if (found := parsed.get(number)) is not None
    }


def format_of(code: str, *, from_1904: bool | None = None) -> CellFormat | None:
    """Return what a format code says; ``None`` for dates unless it is known where they begin.

    Dates in cells are left to the converter, which knows workbooks that count from 1904.
    """
    dates = None if from_1904 is None else parse_date(code, from_1904=from_1904)
    return parse(code) or parse_time(code) or dates


def _written(cell: re.Match[bytes], formats: Mapping[bytes, CellFormat]) -> bytes:
    """Return a cell with its number as it is shown; other cells as they are."""
    style = _STYLE.search(cell[1])
    number_format = formats.get(style[1] if style else b"0")
    if number_format is None or _TYPE.search(cell[1]):
        return cell[0]
    number = cell[2].decode()
    shown = number_format.shown(number)
    if shown is None or shown == number:
        return cell[0]
    attributes = cell[1].replace(b' t="n"', b"")
    text = escape(shown).encode()
    return b'<c%b t="inlineStr"><is><t>%b</t></is></c>' % (attributes, text)
