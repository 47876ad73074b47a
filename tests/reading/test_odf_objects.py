"""Objects of other programs in OpenDocument files, and what else of a sheet is no cell of it."""

from __future__ import annotations

import pytest
from test_odf import _CELL, _MIMETYPE, _SPACES, _URN, SHEET, packed, read

from ragkit.errors import ReadingError


def test_passwords_of_macros_lock_no_sheet(tmp_path):
    entry = (
        f'<manifest:file-entry xmlns:manifest="{_URN}manifest:1.0" manifest:full-path="{{}}">'
        "<manifest:encryption-data/></manifest:file-entry>"
    )
    key = entry.format("Basic/Own/Module1.xml")
    assert "Kyoto" in read(tmp_path, "a.ods", packed("spreadsheet", SHEET, key=key)).text
    with pytest.raises(ReadingError, match="password"):
        read(tmp_path, "a.ods", packed("spreadsheet", SHEET, key=key + entry.format("content.xml")))


def test_hidden_copies_of_sheets_of_other_files_are_left_out(tmp_path):
    copy = SHEET.replace('"Rates"', "\"'file:///home/ann/old.ods'#$Rates\"").replace(
        "Kyoto", "Kiel"
    )
    reading = read(tmp_path, "rates.ods", packed("spreadsheet", SHEET + copy))
    assert reading.text == "## Rates\n\n| City |\n| --- |\n| Kyoto |"


def chart(*values):
    rows = "".join(f"<table:table-row>{_CELL.format(value)}</table:table-row>" for value in values)
    grid = f'<table:table table:name="local-table">{rows}</table:table>'
    title = "<chart:title><text:p>Guests</text:p></chart:title>"
    axis = "<chart:title><text:p>in thousands</text:p></chart:title>"
    return f"<chart:chart>{title}<chart:axis>{axis}</chart:axis>{grid}</chart:chart>"


def test_figures_of_a_chart_have_the_digits_that_say_something(tmp_path):
    body = f"<office:body><office:chart>{chart('Q1', '8.1999999999999993', 'NaN')}</office:chart>"
    frame = '<draw:frame><draw:object xlink:href="./Object 1"><text:p/></draw:object></draw:frame>'
    parts = {"Object 1/content": f"{body}</office:body>"}
    show = packed("presentation", f"<draw:page>{frame}</draw:page>", **parts)
    assert read(tmp_path, "a.odp", show).text == (
        "## Slide 1\n\nGuests in thousands\n\n| Q1 |\n| --- |\n| 8.2 |"
    )
    book = packed("spreadsheet", SHEET.replace("</text:p>", f"</text:p>{frame}", 1), **parts)
    assert read(tmp_path, "a.ods", book).text == (
        "## Rates\n\n| City |\n| --- |\n| Kyoto |\n\nGuests in thousands"
    )


def test_a_chart_in_a_flat_sheet_is_no_table_of_its_own(tmp_path):
    inside = f"<office:document><office:chart>{chart('Q1', '8')}</office:chart></office:document>"
    frame = f"<draw:frame><draw:object>{inside}</draw:object></draw:frame>"
    sheet = SHEET.replace('"Rates">', f'"Rates"><table:shapes>{frame}</table:shapes>')
    flat = (
        f'<?xml version="1.0"?>\n<office:document {_SPACES} '
        f'office:mimetype="{_MIMETYPE}spreadsheet">'
        f"<office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
        "</office:document>"
    )
    assert read(tmp_path, "a.fods", flat.encode()).text == (
        "## Rates\n\n| City |\n| --- |\n| Kyoto |\n\nGuests in thousands"
    )


def test_slides_have_the_formulas_and_texts_of_other_programs(tmp_path):
    math = '<math xmlns="http://www.w3.org/1998/Math/MathML"><annotation>a = b</annotation></math>'
    item = "<text:list-item><text:p>It is due.</text:p></text:list-item>"
    text = f"<text:h>Rent</text:h><text:list>{item}</text:list><draw:frame>{SHEET}</draw:frame>"
    body = f"<office:body><office:text>{text}</office:text></office:body>"
    frame = '<draw:frame><draw:object xlink:href="./Object {}"/></draw:frame>'
    page = f"<draw:page>{frame.format(1)}{frame.format(2)}</draw:page>"
    parts = {"Object 1/content": math, "Object 2/content": body}
    reading = read(tmp_path, "a.odp", packed("presentation", page, **parts))
    assert reading.text == (
        "## Slide 1\n\n`a = b`\n\nRent\n\nIt is due.\n\n| City |\n| --- |\n| Kyoto |"
    )


def test_a_formula_without_a_result_is_empty(tmp_path):
    error = (
        'office:value-type="string" office:string-value="" '
        f'xmlns:calcext="{_URN}calcext:1.0" calcext:value-type="error"'
    )
    cells = _CELL.format("Kiel") + _CELL.format("#N/A").replace('office:value-type="string"', error)
    sheet = SHEET.replace("</table:table>", f"<table:table-row>{cells}</table:table-row>")
    reading = read(tmp_path, "a.ods", packed("spreadsheet", f"{sheet}</table:table>"))
    assert reading.text == "## Rates\n\n| City |\n| --- |\n| Kyoto |\n| Kiel |"


def test_links_in_sheets_and_on_slides_have_their_addresses(tmp_path):
    link = '<text:a xlink:type="simple" xlink:href="https://a.example/?b=1&amp;c=2">{}</text:a>'
    sheet = SHEET.replace("Kyoto", f"See {link.format('the form')}")
    sheet = sheet.replace("City", link.format("a.example"))
    assert read(tmp_path, "a.ods", packed("spreadsheet", sheet)).text == (
        "## Rates\n\n| a.example |\n| --- |\n| See [the form](https://a.example/?b=1&c=2) |"
    )
    box = '<draw:frame presentation:class="{}"><draw:text-box><text:p>{}</text:p></draw:text-box>'
    words = (link.format("the <text:span>form</text:span>"), link.format("more"))
    body = (
        f"<draw:page>{box.format('title', link.format('Plans'))}</draw:frame>"
        f"{box.format('', 'See {} or {}'.format(*words))}</draw:frame></draw:page>"
    )
    address = "(https://a.example/?b=1&c=2)"
    assert read(tmp_path, "a.odp", packed("presentation", body)).text == (
        f"## Plans\n\nSee [the form]{address} or [more]{address}"
    )
