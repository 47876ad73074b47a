"""Tables of workbooks that slides show: the sheet, or the part of it, that was last in view."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit.errors import ReadingError
from ragkit.reading.formats import Format
from ragkit.reading.office.drawings import MOST_POINTS
from ragkit.reading.office.sheet_asides import parts_of_sheets
from ragkit.reading.office.sparse_sheets import number_of, part_shown
from ragkit.reading.office.workbooks import converted_sheets, for_converter, shown_cell
from ragkit.reading.office_97.xls import shown_sheet
from ragkit.reading.sheet_tables import titled_table
from ragkit.reading.xml_names import S
from ragkit.reading.zip_container import open_archive, part_of

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Sequence
    from typing import Any

    from ragkit.reading.limits import Limits

_WORKBOOK = "xl/workbook.xml"
_MOST_BYTES = 5_000_000
_AREA = re.compile(r"([A-Z]{1,3})(\d{1,7})(?::([A-Z]{1,3})(\d{1,7}))?")


def embedded_table(data: bytes, limits: Limits) -> str:
    """Return the table that a workbook inside another file shows; nothing if it has none.

    What is not in view is not read: it may be all that was behind a small table.
    """
    if len(data) > _MOST_BYTES:
        return ""
    try:
        if data.startswith(b"PK"):
            archive = open_archive(data, limits, Format.XLSX.label)
            rows = _rows(archive) if _WORKBOOK in archive.namelist() else []
        else:
            rows = shown_sheet(data)
    except (ReadingError, ValueError, OSError):
        return ""
    return titled_table([[*map(shown_cell, row)] for row in rows[:MOST_POINTS]])


def _rows(archive: zipfile.ZipFile) -> Sequence[Sequence[Any]]:
    """Return the rows in view of the sheet that was last active."""
    workbook, parts = part_of(archive, _WORKBOOK), parts_of_sheets(archive)
    if workbook is None or not parts:
        return []
    view = workbook.find(f"{S}bookViews/{S}workbookView")
    active = "0" if view is None else view.get("activeTab", "0")
    names = [*parts]
    name = names[int(active) if active.isdecimal() and int(active) < len(names) else 0]
    sheets = dict(converted_sheets(for_converter(archive), Format.XLSX))
    rows = sheets.get(name, ())
    size = workbook.find(f"{S}oleSize")
    area = _AREA.fullmatch("" if size is None else size.get("ref", ""))
    filled = part_shown(archive.read(parts[name]), len(rows)) if area else None
    if area is None or filled is None:
        return rows
    top, left = int(area[2]) - 1, number_of(area[1].encode()) - 1
    bottom, right = int(area[4] or area[2]), number_of((area[3] or area[1]).encode())
    return [
        row[max(left - filled.left, 0) : max(right - filled.left, 0)]
        for row in rows[max(top - filled.top, 0) : max(bottom - filled.top, 0)]
    ]
