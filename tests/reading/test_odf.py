"""OpenDocument and rich text files."""

from __future__ import annotations

import io
import zipfile

import pytest

from ragkit.errors import ReadingError
from ragkit.reading import read_file
from ragkit.settings import ReadingSettings

_URN = "urn:oasis:names:tc:opendocument:xmlns:"
_NAMES = ("office", "text", "table", "style", "meta", "chart", "presentation")
_SPACES = " ".join(f'xmlns:{name}="{_URN}{name}:1.0"' for name in _NAMES)
_SPACES += f' xmlns:draw="{_URN}drawing:1.0"'
_SPACES += f' xmlns:svg="{_URN}svg-compatible:1.0"'
_SPACES += ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xlink="http://www.w3.org/1999/xlink"'
_MIMETYPE = "application/vnd.oasis.opendocument."

LEASE = """
<text:h text:outline-level="1">Lease</text:h>
<text:p>R&amp;D pays &lt;b&gt; on<text:tab/>the<text:s text:c="2"/>first day.<text:note>
<text:note-citation>1</text:note-citation><text:note-body><text:p>Or the next working day.</text:p>
</text:note-body></text:note><office:annotation><dc:creator>Rui Costa</dc:creator>
<text:p>Ask Anna.</text:p></office:annotation></text:p>
<text:list><text:list-item><text:p>One</text:p></text:list-item></text:list>
<table:table><table:table-row><table:table-cell><text:p>City</text:p></table:table-cell>
<table:table-cell><text:p>Fee</text:p></table:table-cell></table:table-row></table:table>
"""
STYLES = """<office:master-styles><style:header><text:p>Contract 4711</text:p></style:header>
<style:footer><text:p>12</text:p></style:footer></office:master-styles>"""
AUTHOR = "<meta:initial-creator>Mia</meta:initial-creator>"
_CELL = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
_ROWS = "".join(
    f"<table:table-row>{_CELL.format(value)}</table:table-row>" for value in ("City", "Kyoto")
)
SHEET = f'<table:table table:name="Rates">{_ROWS}</table:table>'
SLIDES = """
<draw:page draw:name="page1">
<draw:frame presentation:class="title"><draw:text-box>
<text:p>Ferry<text:s text:c="2"/>plans</text:p></draw:text-box></draw:frame>
<draw:frame presentation:class="outline"><draw:text-box><text:list><text:list-item>
<text:p>New <text:span>pier</text:span></text:p><text:list><text:list-item><text:p>by May</text:p>
</text:list-item></text:list></text:list-item><text:list-item><text:p>Tickets</text:p>
</text:list-item></text:list></draw:text-box></draw:frame>
<draw:g><draw:custom-shape><text:p>Drawn<text:line-break/>box</text:p></draw:custom-shape></draw:g>
<draw:frame presentation:class="footer"><draw:text-box><text:p>Confidential</text:p></draw:text-box>
</draw:frame>
<office:annotation><dc:creator>Rui Costa</dc:creator><text:p>Ask Anna.</text:p></office:annotation>
<presentation:notes><draw:page-thumbnail presentation:class="page"/>
<draw:frame presentation:class="notes"><draw:text-box><text:p>Speak slowly.</text:p></draw:text-box>
</draw:frame></presentation:notes></draw:page>
<draw:page draw:name="page2"><draw:frame><table:table><table:table-row>
<table:table-cell><text:p>Year</text:p></table:table-cell>
<table:table-cell table:number-columns-repeated="2"><text:p>Fee</text:p></table:table-cell>
</table:table-row></table:table></draw:frame>
<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame></draw:page>
"""
CHART = f"""<chart:chart><chart:title><text:p>Passengers</text:p></chart:title>
{SHEET}</chart:chart>"""


def packed(kind: str, body: str, *, key: str = "", of: str = "", **parts: str) -> bytes:
    """A file of a kind of OpenDocument with a body, and further parts by name."""

    def whole(root: str, inside: str) -> str:
        return f'<?xml version="1.0"?><office:{root} {_SPACES}>{inside}</office:{root}>'

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        called = "graphics" if kind == "drawing" else kind
        archive.writestr("mimetype", f"{_MIMETYPE}{called}{of}")
        manifest = f'<m:manifest xmlns:m="{_URN}manifest:1.0">{key}</m:manifest>'
        archive.writestr("META-INF/manifest.xml", manifest)
        body = f"<office:body><office:{kind}>{body}</office:{kind}></office:body>"
        archive.writestr("content.xml", whole("document-content", body))
        for name, inside in parts.items():
            root = f"document-{name.rpartition('/')[2]}"
            archive.writestr(f"{name}.xml", whole(root, inside))
    return buffer.getvalue()


def read(folder, name, data):
    path = folder / name
    path.write_bytes(data)
    return read_file(path, name, ReadingSettings())


def test_a_text_has_its_lists_tables_notes_and_comments(tmp_path):
    meta = f"<office:meta>{AUTHOR}<dc:title>The lease</dc:title></office:meta>"
    reading = read(tmp_path, "lease.odt", packed("text", LEASE, styles=STYLES, meta=meta))
    assert reading.text == (
        "# Lease\n\nR&D pays \\<b> on the first day.[^1]\n\n- One\n\n| City | Fee |\n| --- | --- |"
        "\n\n[^1]: Or the next working day.\n\n## Header and footer\n\n- Contract 4711\n\n"
        "## Comments\n\n- Rui Costa: Ask Anna."
    )
    assert (reading.title, reading.format) == ("Lease", "odt")
    assert reading.metadata["author"] == "Mia"


def test_a_sheet_is_a_section_with_its_table(tmp_path):
    reading = read(tmp_path, "rates.ods", packed("spreadsheet", SHEET))
    assert reading.text == "## Rates\n\n| City |\n| --- |\n| Kyoto |"
    assert [page.label for page in reading.pages] == ["Rates"]


def test_a_header_of_merged_cells_is_one_row_and_a_merged_name_reaches_each(tmp_path):
    covered, empty = "<table:covered-table-cell/>", "<table:table-cell/>"

    def cells(*words, **spanned):
        more = "".join(f' table:number-{side}-spanned="{count}"' for side, count in spanned.items())
        cell = f'<table:table-cell office:value-type="string"{more}><text:p>{{}}</text:p>'
        return "".join(f"{cell.format(word)}</table:table-cell>" for word in words)

    rows = (
        *[empty] * 2,
        empty + cells("Town", rows=2) + cells("2023", columns=2) + covered,
        empty + covered + cells("Q1", "Q2"),
        empty + cells("Kiel", rows=2) + cells("1", "2"),
        empty + covered + cells("3", "4"),
    )
    grid = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    grid = grid.replace("<table:table-row", '<table:table-row table:number-rows-repeated="9"', 1)
    body = f'<table:table table:name="S">{grid}</table:table>'
    assert read(tmp_path, "a.ods", packed("spreadsheet", body)).text == (
        "## S\n\n| Town | 2023 Q1 | 2023 Q2 |\n| --- | --- | --- |\n| Kiel | 1 | 2 |\n"
        "| Kiel | 3 | 4 |"
    )


def test_comments_at_cells_follow_the_table_of_their_sheet(tmp_path):
    note = "<office:annotation><dc:creator>Rui</dc:creator><text:p>Ask Anna.</text:p>"
    sheet = SHEET.replace("<text:p>Kyoto", f"{note}</office:annotation><text:p>Kyoto")
    reading = read(tmp_path, "rates.ods", packed("spreadsheet", sheet))
    assert reading.text == "## Rates\n\n| City |\n| --- |\n| Kyoto |\n\nRui: Ask Anna."


def test_slides_are_sections_with_lists_tables_charts_notes_and_comments(tmp_path):
    body = f"<office:body><office:chart>{CHART}</office:chart></office:body>"
    data = packed("presentation", SLIDES, **{"Object 1/content": body})
    reading = read(tmp_path, "plans.odp", data)
    assert reading.text == (
        "## Ferry plans\n\n- New pier\n  - by May\n- Tickets\n\nDrawn box\n\n"
        "Notes: Speak slowly.\n\nRui Costa: Ask Anna.\n\n"
        "## Slide 2\n\n| Year | Fee | Fee |\n| --- | --- | --- |\n\n"
        "Passengers\n\n| City |\n| --- |\n| Kyoto |"
    )
    assert [page.label for page in reading.pages] == ["1", "2"]
    assert (reading.title, reading.format) == ("Ferry plans", "odp")


def test_all_words_of_a_cell_are_kept_apart(tmp_path):
    inner = (
        "<table:table><table:table-row><table:table-cell><text:p>Deep</text:p></table:table-cell>"
    )
    cells = (
        "<text:p>wide</text:p><text:p>second</text:p>",
        "<text:list><text:list-item><text:p>One</text:p></text:list-item></text:list>",
        f"{inner}</table:table-row></table:table>",
    )
    row = "".join(f"<table:table-cell>{cell}</table:table-cell>" for cell in cells)
    body = f"<table:table><table:table-row>{row}</table:table-row></table:table>"
    text = read(tmp_path, "a.odt", packed("text", body)).text
    assert text == "| wide second | One | Deep |\n| --- | --- | --- |"


def test_sections_header_rows_and_lists_in_lists_are_read(tmp_path):
    body = (
        "<text:section><text:p>In a\n  section.</text:p></text:section>"
        "<table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>Boat"
        "</text:p></table:table-cell><table:table-cell table:number-columns-repeated='2'><text:p>"
        "Day</text:p></table:table-cell></table:table-row></table:table-header-rows>"
        "<table:table-row><table:table-cell><text:p>Yacht</text:p></table:table-cell>"
        "<table:covered-table-cell/><table:table-cell><text:p>5</text:p></table:table-cell>"
        "</table:table-row></table:table>"
        "<text:list><text:list-item><text:p>One</text:p><text:p>More</text:p><text:list>"
        "<text:list-item><text:p>Deep</text:p></text:list-item></text:list></text:list-item>"
        "<text:list-item><text:h text:outline-level='2'>Two</text:h></text:list-item></text:list>"
    )
    assert read(tmp_path, "a.odt", packed("text", body)).text == (
        "In a section.\n\n| Boat | Day | Day |\n| --- | --- | --- |\n| Yacht |  | 5 |\n\n"
        "- One\n\nMore\n\n  - Deep\n\n## Two"
    )


NUMBERING = """
<text:list-style style:name="L"><text:list-level-style-number text:level="1" style:num-format="1"
style:num-suffix="." text:start-value="3"/><text:list-level-style-number text:level="2"
style:num-format="a" style:num-prefix="(" style:num-suffix=")"/></text:list-style>
<text:list-style style:name="B"><text:list-level-style-bullet text:level="1"/></text:list-style>
<text:outline-style><text:outline-level-style text:level="1" style:num-format="I"/>
<text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2"/>
<text:outline-level-style text:level="3" style:num-format=""/></text:outline-style>
"""


def test_headings_and_items_have_the_numbers_that_are_printed(tmp_path):
    def heading(level, words, more=""):
        return f'<text:h text:outline-level="{level}" {more}>{words}</text:h>'

    def listed(style, *items, more=""):
        inside = "".join(f"<text:list-item>{item}</text:list-item>" for item in items)
        return f'<text:list text:style-name="{style}" {more}>{inside}</text:list>'

    deep = "<text:list><text:list-item><text:p>In</text:p></text:list-item></text:list>"
    inner = f"<text:p>One</text:p>{deep}"
    body = (
        heading(1, "Foreword", 'text:is-list-header="true"') + heading(1, "Scope")
        + heading(1, "Rent") + heading(2, "When") + heading(3, "Bare") + heading(2, "Where")
        + listed("L", inner, "<text:p>Two</text:p>") + "<text:p>Text</text:p>"
        + listed("L", "<text:p>Three</text:p>", more='text:continue-numbering="true"')
        + listed("L", "<text:p>Anew</text:p>") + listed("B", "<text:p>Point</text:p>")
    )  # fmt: skip
    reading = read(tmp_path, "a.odt", packed("text", body, styles=NUMBERING))
    assert reading.title == "Foreword"
    assert reading.text == (
        "# Foreword\n\n# I Scope\n\n# II Rent\n\n## II.1 When\n\n### Bare\n\n## II.2 Where\n\n"
        "3. One\n  - (a) In\n4. Two\n\nText\n\n5. Three\n3. Anew\n- Point"
    )


def test_a_table_of_one_column_is_only_a_layout(tmp_path):
    cell = "<table:table-cell><text:h>Rent</text:h><text:p>It is due.</text:p></table:table-cell>"
    body = f"<table:table><table:table-row>{cell}</table:table-row></table:table>"
    assert read(tmp_path, "a.odt", packed("text", body)).text == "# Rent\n\nIt is due."


def test_links_keep_their_targets_and_pictures_what_is_said_of_them(tmp_path):
    body = (
        '<text:p>See <text:a xlink:href="https://example.org/a">the <text:span>rules</text:span>'
        '</text:a>, <text:a xlink:href="#here">here</text:a>, <text:a '
        'xlink:href="https://example.org/">example.org</text:a><draw:frame>'
        "<draw:image/><svg:desc>A pier at dawn</svg:desc></draw:frame>.</text:p>"
    )
    assert read(tmp_path, "a.odt", packed("text", body)).text == (
        "See [the rules](https://example.org/a), here, example.org.\n\nA pier at dawn"
    )


def test_what_was_deleted_and_directories_are_no_text(tmp_path):
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>forty</text:p>"
        "</text:deletion></text:changed-region></text:tracked-changes><text:table-of-content>"
        "<text:index-body><text:p>Rent 3</text:p></text:index-body></text:table-of-content>"
        '<text:p text:style-name="Title">The # lease</text:p><text:p># fifty</text:p>'
    )
    reading = read(tmp_path, "a.odt", packed("text", body))
    assert (reading.title, reading.text) == ("The # lease", "# The # lease\n\n\\# fifty")


def test_charts_are_tables_and_formulas_their_source(tmp_path):
    body = (
        '<text:p>So <draw:frame><draw:object xlink:href="./Object 1"/></draw:frame> holds.</text:p>'
        '<text:p><draw:frame><draw:object xlink:href="./Object 2"/></draw:frame></text:p>'
    )
    math = '<math xmlns="http://www.w3.org/1998/Math/MathML"><annotation>a = b</annotation></math>'
    chart = f"<office:body><office:chart>{CHART}</office:chart></office:body>"
    data = packed("text", body, **{"Object 1/content": math, "Object 2/content": chart})
    assert read(tmp_path, "a.odt", data).text == (
        "So `a = b` holds.\n\nPassengers\n\n| City |\n| --- |\n| Kyoto |"
    )


def test_text_in_boxes_and_shapes_follows_the_paragraph_that_holds_them(tmp_path):
    box = "<draw:frame><draw:text-box><text:p>Box {0}.</text:p><text:p>More {0}.</text:p>"
    frame = f"{box}</draw:text-box></draw:frame>"
    body = (
        f"<text:p>Before {frame.format(1)}and after.</text:p>{frame.format(2)}"
        "<text:p><draw:g><draw:custom-shape><text:p>Drawn.</text:p></draw:custom-shape></draw:g>"
        "Beside.</text:p><text:p>End.</text:p>"
    )
    assert read(tmp_path, "a.odt", packed("text", body)).text.split("\n\n") == [
        "Before and after.", "Box 1.", "More 1.", "Box 2.", "More 2.", "Beside.", "Drawn.", "End.",
    ]  # fmt: skip


def test_long_notes_and_comments_are_whole(tmp_path):
    long = "word " * 200 + "end"
    body = LEASE.replace("Ask Anna.", long).replace("Or the next working day.", long)
    text = read(tmp_path, "lease.odt", packed("text", body)).text
    assert f"\n[^1]: {long}\n" in text
    assert text.endswith(f"- Rui Costa: {long}")


def test_a_header_that_stands_late_in_the_text_is_not_repeated(tmp_path):
    late = LEASE + f"<text:p>{'word ' * 100}</text:p><text:p>Contract 4711</text:p>"
    text = read(tmp_path, "lease.odt", packed("text", late, styles=STYLES)).text
    assert text.count("Contract 4711") == 1


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.odp", packed("presentation", "<draw:page/>"), "This presentation contains no text"),
        ("a.odp", packed("presentation", SLIDES)[:900], "This presentation is damaged"),
        ("a.odt", packed("text", "")[:200], "This OpenDocument file is damaged"),
        ("a.odt", packed("text", ""), "This OpenDocument file contains no text"),
        ("a.odt", b"plain words", "the content is something else"),
    ],
)
def test_what_cannot_be_read_says_why(tmp_path, name, data, said):
    with pytest.raises(ReadingError, match=said):
        read(tmp_path, name, data)


@pytest.mark.parametrize(
    ("header", "offset", "value"),
    [
        (b"PK\x03\x04", 29, 7),  # its name's extra field reaches past the end of the file
        (b"PK\x01\x02", 10, 8),  # called deflated
        (b"PK\x01\x02", 10, 12),  # called bzip2
        (b"PK\x01\x02", 10, 14),  # called LZMA
        (b"PK\x01\x02", 16, 1),  # a checksum of something else
    ],
)
def test_a_file_whose_type_cannot_be_read_says_so(tmp_path, header, offset, value):
    data = bytearray(packed("text", LEASE))
    data[data.index(header) + offset] = value
    with pytest.raises(ReadingError, match="This OpenDocument file is damaged"):
        read(tmp_path, "a.odt", bytes(data))


def test_numbers_and_sums_of_money_are_read_as_they_are_shown(tmp_path):
    cells = "".join(
        f'<table:table-cell office:value-type="{kind}" office:value="{value}">'
        f"<text:p>{shown}</text:p></table:table-cell>"
        for kind, value, shown in (
            ("percentage", 0.256, "25.6%"), ("currency", 5, "5.00 €"), ("float", 42, "00042"),
            ("unknown", "", "words")
        )
    )  # fmt: skip
    row = f'<table:table table:name="S"><table:table-row>{cells}</table:table-row></table:table>'
    text = read(tmp_path, "a.ods", packed("spreadsheet", row)).text
    assert text == "## S\n\n| 25.6% | 5.00 € | 00042 | words |\n| --- | --- | --- | --- |"


def test_a_value_without_a_text_is_read(tmp_path):
    number = '<table:table-cell office:value="{}" office:value-type="float"{}'
    cells = number.format(3, "/>") + number.format(4.5, "></table:table-cell>")
    row = f'<table:table table:name="S"><table:table-row>{cells}</table:table-row></table:table>'
    text = read(tmp_path, "a.ods", packed("spreadsheet", row)).text
    assert text == "## S\n\n| 3 | 4.5 |\n| --- | --- |"


def test_formulas_that_no_program_has_computed_are_counted(tmp_path):
    cells = (
        '<table:table-cell office:value-type="string"><text:p>Total</text:p></table:table-cell>'
        '<table:table-cell table:formula="of:=1+1" table:number-columns-repeated="2"/>'
        '<table:table-cell table:formula="of:=A1&amp;&quot;&quot;" office:value-type="string"/>'
        '<table:table-cell table:formula="of:=1+2" office:value-type="float" office:value="3"/>'
    )
    row = f'<table:table table:name="S"><table:table-row>{cells}</table:table-row></table:table>'
    reading = read(tmp_path, "a.ods", packed("spreadsheet", row))
    assert reading.text == "## S\n\n| Total | 3 |\n| --- | --- |"
    assert reading.warnings == (
        "The results of 2 formulas are missing in the file until a spreadsheet program opens and "
        "saves it.",
    )


def test_times_are_read_as_they_are_shown(tmp_path):
    cells = "".join(
        f'<table:table-cell office:value-type="time" office:time-value="{value}">'
        f"<text:p>{shown}</text:p></table:table-cell>"
        for value, shown in (("PT36H30M00S", "36:30"), ("PT09H05M00S", "9:05 AM"))
    )
    row = f'<table:table table:name="S"><table:table-row>{cells}</table:table-row></table:table>'
    text = read(tmp_path, "a.ods", packed("spreadsheet", row)).text
    assert text == "## S\n\n| 36:30 | 9:05 AM |\n| --- | --- |"


@pytest.mark.parametrize(
    "cells",
    [
        "<table:table-cell/>",
        '\n <table:table-cell table:style-name="a" table:number-columns-repeated="16384"/>\n',
        "<table:table-cell></table:table-cell><table:covered-table-cell/>",
    ],
)
def test_a_cell_far_below_costs_no_other(tmp_path, cells):
    row = (
        '<table:table-row><table:table-cell office:value-type="string"><text:p>{}</text:p>'
        "</table:table-cell></table:table-row>"
    )
    gap = f'<table:table-row table:number-rows-repeated="1048000">{cells}</table:table-row>'
    twice = row.replace("<table:table-row", '<table:table-row table:number-rows-repeated="2"', 1)
    rows = f"{twice.format('Boat')}{gap}{row.format('far')}"
    body = f'<table:table table:name="S">{rows}</table:table>'
    text = read(tmp_path, "a.ods", packed("spreadsheet", body)).text
    assert text == "## S\n\n| Boat |\n| --- |\n| Boat |\n| far |"


def test_pages_of_a_drawing_are_sections(tmp_path):
    shape = "<draw:custom-shape><text:p>{}</text:p></draw:custom-shape>"
    pages = f"<draw:page>{shape.format('Ask Rui')}</draw:page><draw:page>{shape.format('Pay')}"
    reading = read(tmp_path, "flow.odg", packed("drawing", f"{pages}</draw:page>"))
    assert reading.text == "## Page 1\n\nAsk Rui\n\n## Page 2\n\nPay"
    assert (reading.format, reading.pages[1].label) == ("odg", "2")


def test_white_space_between_cells_is_no_damage(tmp_path):
    cell = '<table:table-cell office:value-type="string">\n<text:p>{}</text:p>\n</table:table-cell>'
    row = f"<table:table-row>\n  {cell.format('a b')}\n  {cell.format('c')}\n</table:table-row>"
    body = f'<table:table table:name="S">\n{row}\n</table:table>'
    assert "| a b | c |" in read(tmp_path, "a.ods", packed("spreadsheet", body)).text


@pytest.mark.parametrize("suffix", [".ott", ".txt", ""])
def test_a_template_is_read_like_a_document(tmp_path, suffix):
    data = packed("text", "<text:p>Dear …</text:p>", of="-template")
    assert read(tmp_path, f"a{suffix}", data).text == "Dear …"


@pytest.mark.parametrize(
    ("kind", "body", "text"),
    [
        ("text", "<text:h>Rent</text:h><text:p>It is due.</text:p>", "# Rent\n\nIt is due."),
        (
            "spreadsheet",
            '<table:table table:name="S"><table:table-row><table:table-cell '
            'office:value-type="string"><text:p>a</text:p></table:table-cell></table:table-row>'
            "</table:table>",
            "## S\n\n| a |\n| --- |",
        ),
        (
            "presentation",
            '<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>Rent</text:p>'
            "</draw:text-box></draw:frame></draw:page>",
            "## Rent",
        ),
    ],
)
def test_a_flat_file_is_read_like_one_of_parts(tmp_path, kind, body, text):
    about = "<office:meta><meta:initial-creator>Ann</meta:initial-creator></office:meta>"
    picture = "<draw:image><office:binary-data>AAAA</office:binary-data></draw:image>"
    flat = (
        f'<?xml version="1.0"?>\n<office:document {_SPACES} office:mimetype="{_MIMETYPE}{kind}">'
        f"{about}<office:body><office:{kind}>{body}{picture}</office:{kind}></office:body>"
        "</office:document>"
    )
    reading = read(tmp_path, "a.fodt", flat.encode())
    assert (reading.text, reading.metadata["author"]) == (text, "Ann")


def test_text_boxes_of_a_sheet_follow_its_table_once(tmp_path):
    box = "<draw:frame><draw:text-box><text:p>Ask Rui.</text:p></draw:text-box></draw:frame>"
    cell = '<table:table-cell office:value-type="string"><text:p>3</text:p></table:table-cell>'
    row = f"<table:table-row>{cell}</table:table-row>"
    shapes = f"<table:shapes>{box}<draw:g>{box}</draw:g></table:shapes>"
    body = f'<table:table table:name="S">{shapes}{row}</table:table>'
    text = read(tmp_path, "a.ods", packed("spreadsheet", body)).text
    assert text == "## S\n\n| 3 |\n| --- |\n\nAsk Rui."


def test_a_word_with_a_reading_keeps_both(tmp_path):
    body = (
        "<text:p>これは<text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text>"
        "</text:ruby>です。</text:p>"
    )
    assert read(tmp_path, "ruby.odt", packed("text", body)).text == "これは漢字(かんじ)です。"


def test_an_encrypted_file_says_so(tmp_path):
    with pytest.raises(ReadingError, match="password"):
        read(tmp_path, "a.odt", packed("text", LEASE, key="<m:encryption-data/>"))
