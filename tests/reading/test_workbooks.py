"""Workbooks as XLSX files."""

from __future__ import annotations

import datetime
import re

import openpyxl
import pytest
from office_files import DRAWING, RELATION, members, saved, zipped
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.worksheet.hyperlink import Hyperlink
from reading_files import read

from ragkit.reading.office.sparse_sheets import part_shown


def commented_workbook():
    book = openpyxl.Workbook()
    book.active.title = "Budget"
    for row in (("Item", "Cost"), ("Ferry", 1200)):
        book.active.append(row)
    book.active["B2"].comment = Comment("Rui Costa:\nAsk Anna\tabout it.", "Rui Costa")
    book.create_sheet("Plain").append(("a", "b"))
    return dict(members(saved(book)))


def test_notes_at_cells_follow_the_table_of_their_sheet(tmp_path):
    reading = read(tmp_path, "a.xlsx", zipped(commented_workbook()))
    assert reading.text == (
        "## Budget\n\n| Item | Cost |\n| --- | --- |\n| Ferry | 1200 |\n\n"
        "Rui Costa on B2: Ask Anna about it.\n\n## Plain\n\n| a | b |\n| --- | --- |"
    )
    assert [page.label for page in reading.pages] == ["Budget", "Plain"]


def test_dates_may_be_counted_from_1904_on(tmp_path):
    book = openpyxl.Workbook()
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    book.active.append(("Signed", datetime.date(1971, 1, 1), datetime.datetime(1971, 1, 1, 4, 14)))
    book.active.append(("Again", datetime.date(2024, 2, 29), datetime.time(4, 14)))
    book.active["B1"].number_format = "d. mmm"
    text = read(tmp_path, "a.xlsx", saved(book)).text
    assert text.split("\n")[2:] == [
        "| Signed | 1971-01-01 | 1971-01-01 04:14:00 |",
        "| --- | --- | --- |",
        "| Again | 2024-02-29 | 04:14:00 |",
    ]


def test_fractions_have_the_digits_that_are_shown(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(("Sum", 0.1 + 0.2, 68.665 * 4, 68.66499999999999))
    text = read(tmp_path, "a.xlsx", saved(book)).text
    assert text == "## Sheet\n\n| Sum | 0.3 | 274.66 | 68.665 |\n| --- | --- | --- | --- |"


def test_titles_above_the_table_of_a_sheet_are_not_its_header(tmp_path):
    book = openpyxl.Workbook()
    rows = (
        ("Ferries 2024",),
        ("As of", "May"),
        (),
        ("Line", "Boats", "Trips", "Fare"),
        ("A", 1, 2, 3),
    )
    for row in rows:
        book.active.append(row)
    assert read(tmp_path, "a.xlsx", saved(book)).text == (
        "## Sheet\n\nFerries 2024\n\nAs of: May\n\n"
        "| Line | Boats | Trips | Fare |\n| --- | --- | --- | --- |\n| A | 1 | 2 | 3 |"
    )


def with_merged_cells():
    book = openpyxl.Workbook()
    rows = (
        ("Sales by town",),
        (),
        (None, "Region", "Town", "2023", None, "2024", None),
        (None, None, None, "Q1", "Q2", "Q1", "Rest"),
        (None, "North", "Kiel", 1, 2, 3, 4),
        (None, None, "Husum", 5, 6, 7, 8),
        (None, "South", "Ulm", 9, 10, 11, "all"),
        (None, None, "Bonn", 13, 14, 15, None),
    )
    for row in rows:
        book.active.append(row)
    for place in ("A1:G1", "B3:B4", "C3:C4", "D3:E3", "F3:G3", "B5:B6", "B7:B8", "G7:G8"):
        book.active.merge_cells(place)
    return book


MERGED = """\
Sales by town

| Region | Town | 2023 Q1 | 2023 Q2 | 2024 Q1 | 2024 Rest |
| --- | --- | --- | --- | --- | --- |
| North | Kiel | 1 | 2 | 3 | 4 |
| North | Husum | 5 | 6 | 7 | 8 |
| South | Ulm | 9 | 10 | 11 | all |
| South | Bonn | 13 | 14 | 15 |  |"""


def test_a_header_of_merged_cells_is_one_row_and_a_merged_name_reaches_each(tmp_path):
    book = with_merged_cells()
    assert read(tmp_path, "a.xlsx", saved(book)).text == f"## Sheet\n\n{MERGED}"
    book.active["H9999"] = "far"
    book.active["ZZ9999"] = "away"
    text = read(tmp_path, "a.xlsx", saved(book)).text
    assert "| North | Husum | 5 | 6 | 7 | 8 |" in text
    assert "| Region | Town | 2023 Q1 | 2023 Q2 | 2024 Q1 | 2024 Rest |" in text


def test_a_merged_line_above_a_table_is_no_title_of_its_columns(tmp_path):
    book = openpyxl.Workbook()
    for row in (("Firm: A", None, "Day: May"), ("Item", "Qty", "Price"), ("Mat", 1, 2)):
        book.active.append(row)
    book.active.merge_cells("A1:B1")
    text = read(tmp_path, "a.xlsx", saved(book)).text
    assert text.endswith("| Item | Qty | Price |\n| Mat | 1 | 2 |")


def test_text_boxes_charts_and_diagrams_follow_the_table_of_their_sheet(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(("Boat", 3))
    chart = BarChart()
    chart.title = "Trips a month"
    chart.add_data(Reference(book.active, min_col=2, min_row=1))
    book.active.add_chart(chart, "D1")
    empty = book.create_sheet("Drawn")
    empty.add_chart(BarChart(), "A1")
    parts = dict(members(saved(book)))
    box = (
        f'<xdr:sp xmlns:a="{DRAWING}/main"><xdr:txBody><a:p><a:r><a:t>Ask </a:t></a:r>'
        "<a:r><a:t>Rui.</a:t></a:r></a:p><a:p/><a:p><a:r><a:t>Or Mia.</a:t></a:r></a:p>"
        "</xdr:txBody></xdr:sp>"
    )
    drawing = parts["xl/drawings/drawing2.xml"].decode()
    prefixed = re.sub(r'xmlns="([^"]*)"', r'xmlns="\1" xmlns:xdr="\1"', drawing, count=1)
    compatible = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    notice = box.replace("Ask ", "This shape represents a slicer.")
    slicer = (
        f'<mc:AlternateContent xmlns:mc="{compatible}"><mc:Choice><xdr:graphicFrame>'
        f'<a:graphicData xmlns:a="{DRAWING}/main"/></xdr:graphicFrame></mc:Choice>'
        f"<mc:Fallback>{notice}</mc:Fallback></mc:AlternateContent>"
    )
    parts["xl/drawings/drawing2.xml"] = prefixed.replace("</wsDr>", f"{box}{slicer}</wsDr>")
    links = "xl/drawings/_rels/drawing2.xml.rels"
    link = (
        f'<Relationship Id="rId9" Type="{RELATION}/diagramData" Target="/xl/diagrams/data1.xml"/>'
    )
    parts[links] = parts[links].replace(b"</Relationships>", f"{link}</Relationships>".encode())
    parts["xl/diagrams/data1.xml"] = (
        f'<d:pt xmlns:d="d" xmlns:a="{DRAWING}/main"><a:p><a:r><a:t>Plan</a:t></a:r></a:p></d:pt>'
    )
    assert read(tmp_path, "a.xlsx", zipped(parts)).text == (
        "## Sheet\n\n| Boat | 3 |\n| --- | --- |\n\nTrips a month\n\n"
        "## Drawn\n\nAsk Rui.\n\nOr Mia.\n\nPlan"
    )


def test_a_threaded_comment_stands_for_its_copy(tmp_path):
    parts = commented_workbook()
    note = next(name for name in parts if "comment" in name.lower() and name.endswith(".xml"))
    parts[note] = parts[note].replace(b"Rui Costa:\nAsk", b"[Threaded comment]\n\nAsk")
    link = next(name for name in parts if name.endswith("sheet1.xml.rels"))
    kind = "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment"
    target = f'<Relationship Id="rId9" Type="{kind}" Target="../threadedComments/t1.xml"/>'
    parts[link] = parts[link].replace(b"</Relationships>", f"{target}</Relationships>".encode())
    space = 'xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"'
    parts["xl/threadedComments/t1.xml"] = (
        f'<ThreadedComments {space}><threadedComment ref="B2" personId="{{A}}"><text>Too much?'
        '</text></threadedComment><threadedComment ref="B2" personId="{B}"><text>No.</text>'
        "</threadedComment></ThreadedComments>"
    ).encode()
    parts["xl/persons/person.xml"] = (
        f'<personList {space}><person displayName="Mia" id="{{A}}"/></personList>'
    ).encode()
    text = read(tmp_path, "a.xlsx", zipped(parts)).text
    assert "Mia on B2: Too much?\n\nComment on B2: No.\n\n## Plain" in text
    assert "Ask Anna" not in text


def test_damaged_comments_of_a_workbook_cost_no_text(tmp_path):
    parts = commented_workbook()
    note = next(name for name in parts if "comment" in name.lower() and name.endswith(".xml"))
    parts[note] = b"<comments"
    text = read(tmp_path, "a.xlsx", zipped(parts)).text
    assert "| Ferry | 1200 |" in text
    assert "Rui" not in text


def test_percentages_are_read_as_they_are_shown(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["Region", "Share", "Change", "Price"])
    sheet.append(["North", 0.256, -0.0345, 0.5])
    sheet.append(["South", 1, "none", 12])
    sheet.append(["Sum", "=B2+B3", 1e-9, None])
    for row in (2, 3, 4):
        sheet.cell(row, 2).number_format = "0.0%"
        sheet.cell(row, 3).number_format = '+0.00%;[Red]-0.00%;"none"'
        sheet.cell(row, 4).number_format = '0.00 "% of all"'
    sheet["E2"], sheet["E2"].number_format = 0.125, "0%"
    reading = read(tmp_path, "a.xlsx", saved(book))
    assert reading.text == (
        "## Sheet\n\n"
        "| Region | Share | Change | Price |  |\n| --- | --- | --- | --- | --- |\n"
        "| North | 25.6% | -3.45% | 0.50 % of all | 13% |\n"
        "| South | 100.0% | none | 12.00 % of all |  |\n"
        "| Sum |  | +0.00% |  |  |"
    )


def test_numbers_are_read_as_they_are_shown(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    rows = [
        ("Item", "Number", "Price", "Budget", "Date"),
        ("Pump & seal", 42, 1234.5, -1500, datetime.date(2026, 3, 1)),
        ("Hose", 7, 0.285, 0, datetime.date(2026, 3, 2)),
        ("Valve", "A-7", 1e7, 2.5, None),
    ]
    for row in rows:
        sheet.append(row)
    dollars = '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)'
    for row in (2, 3, 4):
        sheet.cell(row, 2).number_format = "00000"
        sheet.cell(row, 3).number_format = '#,##0.00 "€ & more"'
        sheet.cell(row, 4).number_format = dollars
        sheet.cell(row, 5).number_format = "yyyy-mm-dd"
    assert read(tmp_path, "a.xlsx", saved(book)).text == (
        "## Sheet\n\n"
        "| Item | Number | Price | Budget | Date |\n| --- | --- | --- | --- | --- |\n"
        "| Pump & seal | 00042 | 1,234.50 € & more | $(1,500.00) | 2026-03-01 |\n"
        "| Hose | 00007 | 0.29 € & more | $- | 2026-03-02 |\n"
        "| Valve | A-7 | 10,000,000.00 € & more | $2.50 |  |"
    )


def test_a_percentage_that_a_formula_gives_is_read(tmp_path):
    book = openpyxl.Workbook()
    book.active["A1"] = "=1/4"
    book.active["A1"].number_format = "0%"
    parts = dict(members(saved(book)))
    sheet = parts["xl/worksheets/sheet1.xml"]
    assert b"<f>1/4</f><v" in sheet
    parts["xl/worksheets/sheet1.xml"] = re.sub(rb"<v ?/>|<v></v>", b"<v>0.25</v>", sheet)
    assert "| 25% |" in read(tmp_path, "a.xlsx", zipped(parts)).text


def test_sheets_are_sections_without_noise(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Costs"
    sheet.append(["Item", "Price", "Bought"])
    sheet.append(["Chair", 120.5, datetime.date(2026, 3, 1)])
    sheet.append(["Desk", datetime.time(9, 30), datetime.datetime(2026, 3, 2, 14, 30)])
    sheet.append([None, None, None])
    book.create_sheet("Empty")
    book.create_sheet("Städte").append(["Köln", 1087353])
    reading = read(tmp_path, "sheet.xlsx", saved(book))
    assert reading.text == (
        "## Costs\n\n| Item | Price | Bought |\n| --- | --- | --- |\n"
        "| Chair | 120.5 | 2026-03-01 |\n"
        "| Desk | 09:30:00 | 2026-03-02 14:30:00 |\n\n"
        "## Städte\n\n| Köln | 1087353 |\n| --- | --- |"
    )
    assert [page.label for page in reading.pages] == ["Costs", "Städte"]
    assert reading.pages[-1].end == len(reading.text)


def test_times_and_durations_are_read_as_they_are_shown(tmp_path):
    def saved_as(epoch):
        book = openpyxl.Workbook()
        book.epoch = epoch
        rows = [
            (1.5, "[h]:mm"),
            (0.1, "[mm]:ss"),
            (2.75, "[hh]:mm:ss"),
            (0.604, "h:mm"),
            (1.5, "0.0"),
        ]
        for row, (value, shown) in enumerate(rows, 1):
            book.active.cell(row, 1, "Ferry").number_format = "General"
            book.active.cell(row, 2, value).number_format = shown
        return saved(book)

    for epoch in (datetime.datetime(1899, 12, 30), datetime.datetime(1904, 1, 1)):
        assert read(tmp_path, "a.xlsx", saved_as(epoch)).text == (
            "## Sheet\n\n| Ferry | 36:00 |\n| --- | --- |\n| Ferry | 144:00 |\n"
            "| Ferry | 66:00:00 |\n| Ferry | 14:29:46 |\n| Ferry | 1.5 |"
        )


def with_stray_cell(place):
    book = openpyxl.Workbook()
    for number in range(1, 51):
        book.active.append((f"Boat {number}", number / 4))
        book.active.cell(number, 2).number_format = "0%"
    book.active["A2"].comment = Comment("Ask Anna.", "Rui")
    book.active["C4"] = "shared"
    book.active.merge_cells("C4:C5")
    book.active[place] = "far"
    return saved(book)


@pytest.mark.parametrize("place", ["A1048576", "XFD60", "XFD1048576", "AA120000"])
def test_a_cell_far_away_costs_no_other(tmp_path, place):
    data = with_stray_cell(place)
    near = read(tmp_path, "a.xlsx", with_stray_cell("A51" if place.startswith("A1") else "D51"))
    assert "| Boat 4 | 100% | shared |" in near.text
    assert "Rui on A2: Ask Anna." in near.text
    reading = read(tmp_path, "a.xlsx", data)
    assert (reading.text, reading.warnings) == (near.text, ())


def test_a_sheet_without_its_cells_is_told(tmp_path):
    parts = commented_workbook()
    sheet = parts["xl/worksheets/sheet2.xml"]
    parts["xl/worksheets/sheet2.xml"] = sheet.replace(b"sheetData>", b"sheetDate>")
    reading = read(tmp_path, "a.xlsx", zipped(parts))
    assert "| Ferry | 1200 |" in reading.text
    assert reading.warnings == ("The cells of the sheet Plain could not be read.",)


def test_formulas_that_no_program_has_computed_are_counted(tmp_path):
    book = openpyxl.Workbook()
    for row in (("Item", "Cost"), ("Ferry", 12), ("Pier", 30), ("Total", "=SUM(B2:B3)")):
        book.active.append(row)
    book.create_sheet("Empty").append(("=1+1", "=2+2"))
    reading = read(tmp_path, "a.xlsx", saved(book))
    assert reading.text.endswith("| Pier | 30 |\n| Total |  |")
    assert reading.warnings == (
        "The results of 3 formulas are missing in the file until a spreadsheet program opens and "
        "saves it.",
    )


def test_a_formula_may_give_an_empty_text(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(("Item", '=IF(1,"","x")', "=1+1"))
    parts = dict(members(saved(book)))
    sheet = parts["xl/worksheets/sheet1.xml"].decode()
    sheet = sheet.replace('<c r="B1">', '<c r="B1" t="str">')
    parts["xl/worksheets/sheet1.xml"] = sheet.replace("1+1</f><v></v>", "1+1</f><v>2</v>").encode()
    reading = read(tmp_path, "a.xlsx", zipped(parts))
    assert "| Item | 2 |" in reading.text
    assert reading.warnings == ()


@pytest.mark.parametrize("error", ["#N/A", "#DIV/0!", "#SPILL!", "#ERROR!"])
def test_an_error_in_a_cell_is_empty_and_costs_no_other(tmp_path, error):
    book = openpyxl.Workbook()
    for row in (("Town", "Fee"), ("Kiel", 3), (error, error), ("Bonn", "=A9")):
        book.active.append(row)
    parts = dict(members(saved(book)))
    name = "xl/worksheets/sheet1.xml"
    sheet = re.sub(rb'(<c r="[AB]3")[^>]*>.*?</c>', rb'\1 t="e"><v>?</v></c>', parts[name])
    sheet = re.sub(rb'(<c r="B4")><f>(.*?)<v ?/></c>', rb'\1 t="e"><f>\2<v>?</v></c>', sheet)
    parts[name] = sheet.replace(b"<v>?", b"<v>" + error.encode())
    assert read(tmp_path, "fees.xlsx", zipped(parts)).text == (
        "## Sheet\n\n| Town | Fee |\n| --- | --- |\n| Kiel | 3 |\n| Bonn |  |"
    )


def test_links_of_cells_have_their_addresses(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (
        ("", "*All* forms"),
        ("", "Form", "Due"),
        ("", "Sign up", 3),
        ("", "a.example/#fees", 4),
    ):
        sheet.append(row)
    sheet["B1"].hyperlink = "https://a.example/all_forms"
    sheet["B3"].hyperlink = "https://a.example/form?a=1&b=2"
    sheet["B4"].hyperlink = "https://a.example/"
    sheet["B4"].hyperlink.location = "fees"
    sheet["C3"].hyperlink = "#Sheet!A1"
    assert read(tmp_path, "a.xlsx", saved(book)).text == (
        "## Sheet\n\n[\\*All\\* forms](https://a.example/all_forms)\n\n| Form | Due |\n"
        "| --- | --- |\n| [Sign up](https://a.example/form?a=1&b=2) | 3 |\n| a.example/#fees | 4 |"
    )


def test_links_that_are_not_of_one_cell_with_words_are_left_out(tmp_path):
    book = openpyxl.Workbook()
    sheet = book.active
    cells = {"C4": "Form", "D4": "Due", "C5": "Sign up", "D5": 3, "C6": "two\nlines", "C7": "all"}
    for place, words in cells.items():
        sheet[place] = words
    for place in ("C5", "C1", "A4", "D6", "F5", "C20", "C6"):
        sheet[place].hyperlink = f"https://a.example/{place}"
        sheet[place].value = cells.get(place)
    sheet["C7"].hyperlink = "https://a.example/"
    sheet["C7"].hyperlink.ref = "C7:D7"
    sheet["D4"].hyperlink = Hyperlink(ref="D4", location="Sheet!A1")
    assert read(tmp_path, "a.xlsx", saved(book)).text == (
        "## Sheet\n\n| Form | Due |\n| --- | --- |\n| [Sign up](https://a.example/C5) | 3 |\n"
        "| two lines |  |\n| all |  |"
    )


def test_links_of_a_sheet_whose_gaps_were_closed_are_left_out(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(("Form", "Due"))
    book.active["A1"].hyperlink = "https://a.example/"
    book.active["XFD1048576"] = "far"
    assert "| Form | Due |" in read(tmp_path, "a.xlsx", saved(book)).text


def test_it_is_not_known_which_part_of_a_sheet_is_read_once_columns_were_closed():
    row = b'<row r="%d"><c r="A%d"><v>1</v></c><c r="%b%d"><v>2</v></c></row>'
    for column, is_known in ((b"C", True), (b"XFD", False)):
        sheet = b"".join(row % (number, number, column, number) for number in range(1, 5))
        assert (part_shown(sheet, 4) is not None) is is_known


def test_white_space_between_and_around_values_is_no_damage(tmp_path):
    book = openpyxl.Workbook()
    for row in (("Town", "Share"), ("Kiel", 0.256)):
        book.active.append(row)
    book.active["B2"].number_format = "0.0%"
    parts = dict(members(saved(book)))
    name = "xl/worksheets/sheet1.xml"
    sheet = parts[name].replace(b"><", b">\n  <")
    sheet = re.sub(rb"<v>(.*?)</v>", rb"<v>\n    \1\n  </v>", sheet)
    rich = b"".join(
        b'<r><t xml:space="preserve">%b</t></r>' % word for word in (b"Kiel", b" ", b"Hbf")
    )
    parts[name] = re.sub(rb"<t>Kiel</t>", rich, sheet)
    assert read(tmp_path, "a.xlsx", zipped(parts)).text == (
        "## Sheet\n\n| Town | Share |\n| --- | --- |\n| Kiel Hbf | 25.6% |"
    )
