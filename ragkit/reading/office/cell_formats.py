"""Cells of workbooks with numbers, written as people see them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from ragkit.reading.office.number_formats import NumberFormat, parse
from ragkit.reading.zip_container import part_of, rewritten

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Mapping

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_ACCOUNTING = r'_(* #,##0{0}_);_(* \(#,##0{0}\);_(* "-"??_);_(@_)'
USUAL_CODES = {
    1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 9: "0%", 10: "0.00%",
    **dict.fromkeys((5, 6, 37, 38), "#,##0;-#,##0"),
    **dict.fromkeys((7, 8, 39, 40), "#,##0.00;-#,##0.00"),
    **dict.fromkeys((41, 42), _ACCOUNTING.format("")),
    **dict.fromkeys((43, 44), _ACCOUNTING.format(".00")),
}  # fmt: skip
"""The formats that every workbook knows by number. The currency of 5 to 8, 42 and 44 depends on the
country, but Excel writes those down."""

_CELL = re.compile(
    rb"<c((?:\s[^<>]*)?)>(?:<f[^<>]*/>|<f[^<>]*>[^<]*</f>)?<v>([-+.\deE]{1,40})</v></c>"
)
_STYLE = re.compile(rb"\ss=\"(\d{1,9})\"")
_TYPE = re.compile(rb"\st=\"(?!n\")")


def with_shown_numbers(data: bytes, archive: zipfile.ZipFile) -> bytes:
    """Return a workbook whose numbers are texts such as "25.6%", "1,234.50 €" or "00042".

    The converter knows no formats of numbers but those of dates. ``data`` is the workbook itself,
    returned as it is where all numbers are shown as they are stored.
    """
    formats = _formats(archive)
    if not formats:
        return data

    def changed(name: str, part: bytes) -> bytes:
        if not name.startswith("xl/worksheets/"):
            return part
        return _CELL.sub(lambda cell: _written(cell, formats), part)

    return rewritten(archive, changed)


def _formats(archive: zipfile.ZipFile) -> Mapping[bytes, NumberFormat]:
    """Return the formats of the cell styles that format numbers, by the number of the style."""
    styles = part_of(archive, "xl/styles.xml")
    if styles is None:
        return {}
    codes = {str(number): code for number, code in USUAL_CODES.items()}
    for own in styles.iter(f"{_MAIN}numFmt"):
        codes[own.get("numFmtId", "")] = own.get("formatCode", "")
    cells = styles.find(f"{_MAIN}cellXfs")
    numbers = [style.get("numFmtId", "") for style in (() if cells is None else cells)]
    parsed = {number: parse(codes[number]) for number in set(numbers) & set(codes)}
    return {
        str(style).encode(): found
        for style, number in enumerate(numbers)
        if (found := parsed.get(number)) is not None
    }


def _written(cell: re.Match[bytes], formats: Mapping[bytes, NumberFormat]) -> bytes:
    """Return a cell with its number as it is shown; other cells as they are."""
    style = _STYLE.search(cell[1])
    number_format = formats.get(style[1]) if style else None
    if number_format is None or _TYPE.search(cell[1]):
        return cell[0]
    number = cell[2].decode()
    shown = number_format.shown(number)
    if shown is None or shown == number:
        return cell[0]
    attributes = cell[1].replace(b' t="n"', b"")
    text = escape(shown).encode()
    return b'<c%b t="inlineStr"><is><t>%b</t></is></c>' % (attributes, text)
