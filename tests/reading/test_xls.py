"""Workbooks from before 2007: two that LibreOffice wrote, and others that are written here."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from compound_files import workbook_file

from ragkit.errors import ReadingError
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

| Third | 0.333333333333333 |
| --- | --- |
| Large | 123456789012 |
| Error |  |"""
    )


def test_durations_and_midnight_are_read_as_they_are_shown():
    path = Path(__file__).with_name("trips.xls")
    text = read_file(path, path.name, Limits.of(ReadingSettings())).text
    assert text.split("\n")[4:] == [
        "| Kiel | 00:00:00 | 36:15 | 2024-03-01 | 0.3 |",
        "| Jena | 06:30:00 | 0:45 | 2024-03-02 | 274.66 |",
    ]


def test_a_header_of_merged_cells_is_one_row_and_a_merged_name_reaches_each():
    path = Path(__file__).with_name("towns.xls")
    text = read_file(path, path.name, ReadingSettings()).text
    assert text.split("\n")[4:8] == [
        "| Region | Town | 2023 Q1 | 2023 Q2 | 2024 Q1 | 2024 Rest |",
        "| --- | --- | --- | --- | --- | --- |",
        "| North | Kiel | 1 | 2 | 3 | 4 |",
        "| North | Husum | 5 | 6 | 7 | 8 |",
    ]


def test_each_sheet_of_a_workbook_is_a_section_with_its_table(tmp_path):
    data = workbook_file({"Rates": [["City", "Fee"], ["Kyoto 京都", "3 €"]], "Other": [["a"]]})
    reading = read(tmp_path, "rates.xls", data)
    assert reading.text == (
        "## Rates\n\n| City | Fee |\n| --- | --- |\n| Kyoto 京都 | 3 € |\n\n"
        "## Other\n\n| a |\n| --- |"
    )
    assert [page.label for page in reading.pages] == ["Rates", "Other"]


def text_box(kind, text, *parts):
    yield 0x5D, struct.pack("<HHHH", 0x15, 18, kind, 1) + bytes(14)
    yield 0x1B6, struct.pack("<10xHH4x", len(text), 16)
    yield from ((0x3C, part) for part in parts)
    yield 0x3C, bytes(16)


def block(kind, *inside):
    return (kind, b""), (0x1033, b""), *inside, (0x1034, b"")


def words(text):
    return 0x100D, struct.pack("<HBB", 0, len(text), 0) + text.encode("latin-1")


CHART = 0x809, struct.pack("<HHHHII", 0x0600, 0x20, 0x0DBB, 0x07CC, 0, 6)


def test_text_boxes_and_titles_of_charts_follow_the_table_of_their_sheet(tmp_path):
    drawn = [
        *text_box(6, "Ask Rui.\nOr 舟", b"\0Ask Rui.\n", b"\x01" + "Or 舟".encode("utf-16-le")),
        *text_box(0x19, "a note", b"\0a note"),
        CHART,
        *block(0x1003, words("a series")),
        *block(0x1002, *block(0x1025, words("Guests")), words("a number")),
        *block(0x1025, words("in thou\x07sands")),
        *text_box(6, "in\x07 it", b"\0in\x07 it"),
        (0x0A, b""),
    ]
    data = workbook_file({"Rates": [["City", "Fee"]], "Other": [["a"]]}, drawn=drawn)
    aside = "Ask Rui.\n\nOr 舟\n\nin it\n\nGuests in thousands"
    assert read(tmp_path, "a.xls", data).text == (
        f"## Rates\n\n| City | Fee |\n| --- | --- |\n\n{aside}\n\n"
        f"## Other\n\n| a |\n| --- |\n\n{aside}"
    )


def test_damage_in_what_is_drawn_costs_no_other_text(tmp_path):
    drawn = [
        (0x85, b""),
        CHART,
        *list(text_box(6, "lost"))[:2],
        *block(0x1025, words("Guests"), (0x100D, b"")),
        (0x1034, b""),
        (0x3C, b""),
        (0x3C, b"\0of nothing"),
        *text_box(6, "Ask Rui.", b"\0Ask Rui."),
        (0x0A, b""),
        (0x0A, b""),
        (0x0A, b""),
    ]
    data = workbook_file({"Rates": [["City", "Fee"]]}, drawn=drawn)
    assert read(tmp_path, "a.xls", data).text == (
        "## Rates\n\n| City | Fee |\n| --- | --- |\n\nAsk Rui.\n\nGuests"
    )


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


XML = """<?xml version="1.0"?>
<?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"
 xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet">
<DocumentProperties xmlns="urn:schemas-microsoft-com:office:office"><Title>The dues</Title>
<Author>Mia</Author></DocumentProperties>
<Styles><Style ss:ID="p"><NumberFormat ss:Format="Percent"/></Style>
<Style ss:ID="e"><NumberFormat ss:Format="#,##0.00\\ [$€-407]"/></Style></Styles>
<Worksheet ss:Name="Dues"><Table>
<Row><Cell ss:MergeAcross="1"><Data ss:Type="String">Boat</Data></Cell>
<Cell><Data ss:Type="String">Due</Data></Cell></Row>
<Row><Cell><Data ss:Type="String">Yacht <B xmlns="urn:x">舟</B></Data></Cell>
<Cell ss:StyleID="p"><Data ss:Type="Number">0.256</Data></Cell>
<Cell><Data ss:Type="DateTime">2026-03-03T00:00:00.000</Data>
<Comment ss:Author="Rui"><ss:Data>Ask Mia.</ss:Data></Comment></Cell></Row>
<Row><Cell ss:Index="2" ss:StyleID="e"><Data ss:Type="Number">1234.5</Data></Cell>
<Cell><Data ss:Type="Boolean">1</Data></Cell><Cell><Data ss:Type="Error">#REF!</Data></Cell></Row>
</Table></Worksheet><Worksheet ss:Name="Empty"><Table/></Worksheet></Workbook>"""


@pytest.mark.parametrize("name", ["dues.xls", "dues.xml"])
def test_a_workbook_as_xml_is_read_as_it_is_shown(tmp_path, name):
    reading = read(tmp_path, name, XML.encode())
    assert (
        reading.text
        == """\
## Dues

| Boat |  | Due |
| --- | --- | --- |
| Yacht 舟 | 25.60% | 2026-03-03 |
|  | 1,234.50 € | true |

Rui: Ask Mia."""
    )
    assert (reading.title, reading.format, reading.metadata["author"]) == ("The dues", "xls", "Mia")


def test_merged_cells_and_empty_rows_of_a_workbook_as_xml(tmp_path):
    def cells(*words, more=""):
        return "".join(f"<Cell{more}><Data ss:Type='String'>{word}</Data></Cell>" for word in words)

    row, down = "<Row>{}</Row>", ' ss:MergeDown="1"'
    rows = (
        row.format(cells("Town", more=down) + cells("2023", more=' ss:MergeAcross="1"')),
        row.format('<Cell ss:Index="2"><Data>Q1</Data></Cell>' + cells("Q2")),
        row.format(cells("Kiel", more=down) + cells("1", "2")),
        row.format('<Cell ss:Index="2"><Data>3</Data></Cell>' + cells("4")),
        row.format(cells("Boat", "Fee", "Due")).replace("<Row>", '<Row ss:Index="6">'),
        row.format(cells("Yacht", "5", "6")),
    )
    start, end = XML[: XML.index("<Row>")], XML[XML.index("</Table></Worksheet>") :]
    text = read(tmp_path, "a.xls", f"{start}{''.join(rows)}{end}".encode()).text
    assert text == (
        "## Dues\n\n| Town | 2023 Q1 | 2023 Q2 |\n| --- | --- | --- |\n| Kiel | 1 | 2 |\n"
        "| Kiel | 3 | 4 |\n\n| Boat | Fee | Due |\n| --- | --- | --- |\n| Yacht | 5 | 6 |"
    )


def test_a_damaged_workbook_as_xml_says_so(tmp_path):
    with pytest.raises(ReadingError, match="This workbook is damaged"):
        read(tmp_path, "dues.xls", XML.encode()[:-20])
    bomb = XML.replace("<Workbook", "<!DOCTYPE x [<!ENTITY a 'b'>]><Workbook").encode()
    with pytest.raises(ReadingError, match="the content is something else"):
        read(tmp_path, "dues.xls", bomb)
