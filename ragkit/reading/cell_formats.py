"""Cells of workbooks that are shown as a percentage, written as people see them."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import TYPE_CHECKING

from ragkit.reading.zip_container import part_of, rewritten

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Mapping

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_USUAL = {9: 0, 10: 2}
"""The percentages that every workbook knows by number, and their decimals."""

_CELL = re.compile(
    rb"<c((?:\s[^<>]*)?)>(?:<f[^<>]*/>|<f[^<>]*>[^<]*</f>)?<v>([-+.\deE]{1,40})</v></c>"
)
_STYLE = re.compile(rb"\ss=\"(\d{1,9})\"")
_TYPE = re.compile(rb"\st=\"(?!n\")")
_QUOTED = re.compile(r"\"[^\"]*\"|\\.|\[[^\]]*\]|_.|\*.")
_DECIMALS = re.compile(r"[0#?](?:\.([0#?]+))?[^;.]*%")
_MOST_DECIMALS = 10


def with_percentages(data: bytes, archive: zipfile.ZipFile) -> bytes:
    """Return a workbook whose percentages are texts such as "25.6%" instead of 0.256.

    The converter knows no formats of numbers but those of dates. ``data`` is the workbook itself,
    returned as it is where there are none.
    """
    decimals = _percentages(archive)
    if not decimals:
        return data

    def changed(name: str, part: bytes) -> bytes:
        if not name.startswith("xl/worksheets/"):
            return part
        return _CELL.sub(lambda cell: _written(cell, decimals), part)

    return rewritten(archive, changed)


def _percentages(archive: zipfile.ZipFile) -> Mapping[int, int]:
    """Return the numbers of the cell styles that show a percentage, with its decimals."""
    styles = part_of(archive, "xl/styles.xml")
    if styles is None:
        return {}
    formats = dict(_USUAL)
    for own in styles.iter(f"{_MAIN}numFmt"):
        code = _QUOTED.sub("", own.get("formatCode", ""))
        if (found := _DECIMALS.search(code)) and own.get("numFmtId", "").isdigit():
            formats[int(own.get("numFmtId", ""))] = len(found[1] or "")
    cells = styles.find(f"{_MAIN}cellXfs")
    numbers = [style.get("numFmtId", "") for style in (() if cells is None else cells)]
    return {
        style: formats[int(number)]
        for style, number in enumerate(numbers)
        if number.isdigit() and int(number) in formats
    }


def _written(cell: re.Match[bytes], decimals: Mapping[int, int]) -> bytes:
    """Return a cell with its percentage as text; other cells as they are."""
    style = _STYLE.search(cell[1])
    if not style or int(style[1]) not in decimals or _TYPE.search(cell[1]):
        return cell[0]
    step = Decimal(1).scaleb(-min(decimals[int(style[1])], _MOST_DECIMALS))
    try:
        shown = (Decimal(cell[2].decode()) * 100).quantize(step, ROUND_HALF_UP)
    except InvalidOperation:
        return cell[0]
    attributes = re.sub(rb"\st=\"n\"", b"", cell[1])
    return b'<c%b t="inlineStr"><is><t>%b%%</t></is></c>' % (attributes, str(shown).encode())
