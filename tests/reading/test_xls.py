"""Workbooks from before 2007: one that LibreOffice wrote, and others that are written here."""

from __future__ import annotations

import struct
from pathlib import Path

from compound_files import workbook_file

from ragkit.reading import read_file
from ragkit.reading.limits import Limits
from ragkit.settings import ReadingSettings


def read(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return read_file(path, name, Limits.of(ReadingSettings()))


def test_numbers_and_dates_are_read_as_they_are_shown_and_comments_follow():
    path = Path(__file__).with_name("dues.xls")
    assert (
        read_file(path, path.name, Limits.of(ReadingSettings())).text
        == """\
## Dues

| Boat | Share | Due | Rent | Code | Paid | At |
| --- | --- | --- | --- | --- | --- | --- |
| Yacht 舟 | 25.6% | 2026-03-03 | 1,234.50 € | 00042 | true | 09:30:00 |
| Canoe | 5.0% | 2026-03-04 10:05:07 | -12.00 € | 00007 | false |  |

Comment on B3: Ask Mia first.

## Sums

| Third | 0.3333333333333333 |
| --- | --- |
| Large | 123456789012 |
| Error |  |"""
    )


def test_each_sheet_of_a_workbook_is_a_section_with_its_table(tmp_path):
    data = workbook_file({"Rates": [["City", "Fee"], ["Kyoto 京都", "3 €"]], "Other": [["a"]]})
    reading = read(tmp_path, "rates.xls", data)
    assert reading.text == (
        "## Rates\n\n| City | Fee |\n| --- | --- |\n| Kyoto 京都 | 3 € |\n\n"
        "## Other\n\n| a |\n| --- |"
    )
    assert [page.label for page in reading.pages] == ["Rates", "Other"]


def test_a_table_in_plain_text_may_be_called_a_workbook(tmp_path):
    reading = read(tmp_path, "export.xls", b"City\tFee\r\nKyoto\t3\r\nOsaka\t4\r\n")
    assert reading.text == "| City | Fee |\n| --- | --- |\n| Kyoto | 3 |\n| Osaka | 4 |"
    page = b"<html><body><table><tr><td>Kyoto</td></tr></table></body></html>"
    assert "Kyoto" in read(tmp_path, "page.xls", page).text


def test_excel_4_wrote_a_sheet_without_a_compound_file(tmp_path):
    cells = b"".join(
        struct.pack("<HHHHHH", 0x0204, 8 + len(text), 0, column, 0, len(text)) + text
        for column, text in enumerate((b"City", b"Fee"))
    )
    data = struct.pack("<HHHHH", 0x0409, 6, 0, 0x10, 0) + cells + struct.pack("<HH", 10, 0)
    assert read(tmp_path, "a.xls", data).text.endswith("| City | Fee |\n| --- | --- |")


def test_a_name_that_xlrd_does_not_understand_costs_no_text(tmp_path):
    name = struct.pack("<HBBHHHI", 0, 0, 1, 9, 0, 0, 0) + b"\0x" + b"\x2d" + bytes(8)
    data = workbook_file({"Rates": [["City", "Fee"]]}, (0x18, name))
    assert read(tmp_path, "a.xls", data).text == "## Rates\n\n| City | Fee |\n| --- | --- |"
