"""Workbooks as XLSB files."""

from __future__ import annotations

import struct

import pytest
from office_files import DRAWING, RELATION, RELATIONS, zipped
from reading_files import read


def record(kind, data=b""):
    number = bytes([kind]) if kind < 128 else bytes([kind & 0x7F | 0x80, kind >> 7])
    return number + bytes([len(data)]) + data


def wide(text):
    return struct.pack("<I", len(text)) + text.encode("utf-16-le")


def cell(place, value):
    """A cell with a text, or with the number of its style and a number in a form by its kind."""
    if isinstance(value, str):
        return record(6, struct.pack("<II", place, 0) + wide(value))
    style, kind, number = value
    return record(kind, struct.pack("<II", place, style) + number)


def relations(*links):
    listed = "".join(
        f'<Relationship Id="rId{number}" Type="{RELATION}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(links, 1)
    )
    return f'<Relationships xmlns="{RELATIONS}">{listed}</Relationships>'


def binary_workbook(name, *rows, settings=0, **parts):
    """An XLSB file of a sheet, with further parts by their names."""
    sheet = struct.pack("<II", 0, 1) + wide("rId1") + wide(name)
    book = record(131) + record(153, struct.pack("<II", settings, 0)) + record(143)
    book += record(156, sheet) + record(144) + record(132)
    size = struct.pack("<4I", 0, len(rows) - 1, 0, len(rows[0]) - 1)
    cells = b"".join(
        record(0, struct.pack("<I", number) + bytes(21)) + b"".join(map(cell, range(len(row)), row))
        for number, row in enumerate(rows)
    )
    data = record(129) + record(148, size) + record(145) + cells + record(146) + record(130)
    return zipped(
        {
            "xl/workbook.bin": book,
            "xl/worksheets/sheet1.bin": data,
            "xl/_rels/workbook.bin.rels": relations(("worksheet", "worksheets/sheet1.bin")),
            **parts,
        }
    )


def styles(codes, used):
    """The part of the styles: formats by their numbers, and the numbers that styles use."""
    formats = b"".join(
        record(44, struct.pack("<H", number) + wide(code)) for number, code in codes.items()
    )
    for_all = record(47, struct.pack("<HH", 0xFFFF, 9) + bytes(12))
    for_cells = b"".join(record(47, struct.pack("<HH", 0, number) + bytes(12)) for number in used)

    def listed(begin, count, inside):
        return record(begin, struct.pack("<I", count)) + inside + record(begin + 1)

    of_styles = listed(626, 1, for_all) + listed(617, len(used), for_cells)
    return record(278) + listed(615, len(codes), formats) + of_styles + record(279)


def small(number, *, whole=False, hundred=False):
    """A number in the short form that cells have."""
    if whole:
        return struct.pack("<i", number << 2 | 2 | hundred)
    return struct.pack("<I", struct.unpack("<II", struct.pack("<d", number))[1] & ~3 | hundred)


def large(number):
    return struct.pack("<d", number)


def test_a_binary_workbook_is_read_like_others(tmp_path):
    reading = read(tmp_path, "a.xlsb", binary_workbook("Fares", ("City", "Fee"), ("京都", "3")))
    assert reading.text == "## Fares\n\n| City | Fee |\n| --- | --- |\n| 京都 | 3 |"
    assert (reading.format, reading.pages[0].label) == ("xlsb", "Fares")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ((1, 5, large(0.256)), "25.6%"),
        ((1, 2, small(12, whole=True, hundred=True)), "12.0%"),
        ((1, 2, small(0.5)), "50.0%"),
        ((1, 2, small(-3, whole=True)), "-300.0%"),
        ((1, 9, large(0.256) + struct.pack("<HI", 0, 0) + bytes(4)), "25.6%"),
        ((2, 5, large(1234.5)), "1,234.50 €"),
        ((0, 5, large(0.1 + 0.2)), "0.3"),
        ((0, 2, small(7, whole=True)), "7"),
        ((9, 2, small(7, whole=True)), "7"),
    ],
)
def test_numbers_of_a_binary_workbook_are_read_as_they_are_shown(tmp_path, value, shown):
    parts = {"xl/styles.bin": styles({164: "0.0%", 165: "#,##0.00\\ €"}, (0, 164, 165))}
    data = binary_workbook("Fares", ("City", "Fee"), ("Kiel", value), **parts)
    assert read(tmp_path, "a.xlsb", data).text == (
        f"## Fares\n\n| City | Fee |\n| --- | --- |\n| Kiel | {shown} |"
    )


@pytest.mark.parametrize(("settings", "day"), [(0, "2026-03-03"), (1, "2030-03-04")])
def test_dates_of_a_binary_workbook_are_days(tmp_path, settings, day):
    parts = {"xl/styles.bin": styles({}, (0, 14))}
    rows = ("City", "Day"), ("Kiel", (1, 5, large(46084)))
    data = binary_workbook("Fares", *rows, settings=settings, **parts)
    assert read(tmp_path, "a.xlsb", data).text.endswith(f"| Kiel | {day} |")


def test_a_record_without_its_number_costs_no_other_cell(tmp_path):
    parts = {"xl/styles.bin": styles({164: "0.0%"}, (0, 164))}
    for kind in (2, 5, 9):
        rows = (("City", "Fee"), ("Kiel", (1, kind, b"")), ("Husum", (1, 5, large(0.5))))
        data = binary_workbook("Fares", *rows, **parts)
        assert read(tmp_path, "a.xlsb", data).text.endswith("\n| Husum | 50.0% |")


def test_text_boxes_and_comments_of_a_binary_workbook_follow_its_table(tmp_path):
    box = (
        f'<x:wsDr xmlns:x="x" xmlns:a="{DRAWING}/main"><a:p><a:r><a:t>Ask Rui.</a:t></a:r></a:p>'
        "</x:wsDr>"
    )
    place = struct.pack("<5I", 1, 2, 2, 27, 27) + bytes(16)
    comments = (
        record(628) + record(632, wide("Mia")) + record(632, wide("Ann"))
        + record(635, place) + record(637, b"\0" + wide("Ann:\nToo much?")) + record(636)
        + record(635, b"") + record(636)
        + record(635, struct.pack("<5I", 2, 0, 0, 0, 0)) + record(637, b"\0" + wide("Who?"))
    )  # fmt: skip
    parts = {
        "xl/worksheets/_rels/sheet1.bin.rels": relations(
            ("drawing", "../drawings/drawing1.xml"), ("comments", "../comments1.bin")
        ),
        "xl/drawings/drawing1.xml": box,
        "xl/comments1.bin": comments,
    }
    data = binary_workbook("Fares", ("City", "Fee"), **parts)
    assert read(tmp_path, "a.xlsb", data).text == (
        "## Fares\n\n| City | Fee |\n| --- | --- |\n\nAsk Rui.\n\nAnn on AB3: Too much?\n\n"
        "Comment on A1: Who?"
    )
