from __future__ import annotations

import datetime
import io
import re
import zipfile

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from openpyxl.comments import Comment
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from ragkit.errors import ReadingError
from ragkit.reading import read_file
from ragkit.settings import ReadingSettings
from ragkit.types import Markup

SETTINGS = ReadingSettings()


def read(folder, name, data, settings=SETTINGS):
    path = folder / name
    path.write_bytes(data)
    return read_file(path, name, settings)


def saved(document):
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def word_file():
    document = docx.Document()
    document.core_properties.author = "Ann Lee"
    document.add_heading("Booking", 1)
    document.add_paragraph("Keep the receipt.")
    for text in ("First", "Second"):
        document.add_paragraph(text, style="List Bullet")
    document.add_paragraph("Step", style="List Number")
    document.add_heading("Limits", 2)
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        (one for row in table.rows for one in row.cells),
        ("City", "Limit", "Kyoto 京都", "a | b"),
        strict=True,
    ):
        cell.text = text
    return saved(document)


def test_word_keeps_headings_lists_and_tables(tmp_path):
    reading = read(tmp_path, "policy.docx", word_file())
    assert reading.text == (
        "# Booking\n\nKeep the receipt.\n\n- First\n- Second\n\n1. Step\n\n## Limits\n\n"
        "| City | Limit |\n| --- | --- |\n| Kyoto 京都 | a \\| b |"
    )
    assert (reading.title, reading.format, reading.markup) == ("Booking", "docx", Markup.MARKDOWN)
    assert reading.metadata["author"] == "Ann Lee"


def test_word_keeps_signs_that_xml_writes_as_references(tmp_path):
    document = docx.Document()
    document.core_properties.title = "R&D <plan>"
    document.add_paragraph("R&D if x < 5 && y > 3, List<String>")
    path = tmp_path / "signs.docx"
    document.save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    body = parts["word/document.xml"]
    # LibreOffice writes quotation marks as references, other programs letters as numbers.
    parts["word/document.xml"] = body.replace(b"y &gt;", b"&quot;caf&#233;&quot; don&apos;t &gt;")
    reading = read(tmp_path, "signs.docx", zipped(parts))
    assert reading.text == (
        'R&D if x < 5 && "café" don\'t > 3, List\\<String>'  # a tag would not be shown
    )
    assert reading.title == "R&D <plan>"


def test_word_keeps_apart_what_tabs_and_breaks_set_apart(tmp_path):
    document = docx.Document()
    document.add_paragraph().add_run("2019\tEngineer")
    paragraph = document.add_paragraph("first")
    for mark in ("w:cr", "w:ptab"):
        run = paragraph.add_run()
        run._r.append(docx.oxml.OxmlElement(mark))
        run.add_text("next")
    run = paragraph.add_run(" e")
    run._r.append(docx.oxml.OxmlElement("w:noBreakHyphen"))
    run.add_text("mail")
    reading = read(tmp_path, "tabs.docx", saved(document))
    assert reading.text == "2019 Engineer\n\nfirst next next e-mail"


_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def test_word_marks_each_note_once_and_where_it_stands(tmp_path):
    document = docx.Document()
    rent = document.add_paragraph("The rent")
    for kind, number in (("footnote", 2), ("footnote", 5), ("endnote", 2)):
        run = rent.add_run()
        run.font.superscript = True
        run._r.append(parse_xml(f'<w:{kind}Reference {_W} w:id="{number}"/>'))
        rent.add_run(" and")
    notes = {
        kind: "".join(
            f'<w:{kind} w:id="{number}"><w:p><w:pPr><w:pStyle w:val="Note"/></w:pPr>'
            f'<w:r><w:{kind}Ref/></w:r><w:hyperlink r:id="rId1"><w:r><w:t>{text}</w:t></w:r>'
            f"</w:hyperlink></w:p><w:p><w:r><w:t>More.</w:t></w:r></w:p></w:{kind}>"
            for number, text in of_kind.items()
        )
        for kind, of_kind in {
            "footnote": {-1: "", 2: "Due &amp; paid.", 5: "Not last."},
            "endnote": {2: "See annex."},
        }.items()
    }  # fmt: skip
    parts = dict(members(saved(document)))
    for kind, inside in notes.items():
        parts[f"word/{kind}s.xml"] = f"<w:{kind}s {_W}>{inside}</w:{kind}s>"
    parts["word/_rels/document.xml.rels"] = parts["word/_rels/document.xml.rels"].replace(
        b"</Relationships>",
        b"".join(
            f'<Relationship Id="n{kind}" Type="http://schemas.openxmlformats.org/officeDocument/'
            f'2006/relationships/{kind}s" Target="{kind}s.xml"/>'.encode()
            for kind in notes
        )
        + b"</Relationships>",
    )
    assert read(tmp_path, "notes.docx", zipped(parts)).text == (
        "The rent[^1] and[^2] and[^3] and\n\n"
        "[^1]: Due & paid.\n\nMore.\n\n[^2]: Not last.\n\nMore.\n\n[^3]: See annex.\n\nMore."
    )


def test_word_has_the_reading_of_a_word_behind_it(tmp_path):
    document = docx.Document()
    ruby = (
        f"<w:r {_W}><w:ruby><w:rubyPr/><w:rt><w:r><w:t>かんじ</w:t></w:r></w:rt>"
        "<w:rubyBase><w:r><w:t>漢字</w:t></w:r></w:rubyBase></w:ruby></w:r>"
    )
    paragraph = document.add_paragraph("これは")
    paragraph._p.append(parse_xml(ruby))
    paragraph.add_run("です。")
    assert read(tmp_path, "ruby.docx", saved(document)).text == "これは漢字(かんじ)です。"


@pytest.mark.parametrize("prefix", ["", "ns0:"])
def test_word_is_read_whatever_prefix_its_names_have(tmp_path, prefix):
    document = docx.Document()
    document.add_heading("Lease", 1)
    document.add_paragraph("The rent is due for R&D.")
    parts = dict(members(saved(document)))
    text = parts["word/document.xml"].replace(b"<w:", b"<" + prefix.encode())
    text = text.replace(b"</w:", b"</" + prefix.encode()).replace(b" w:", b" " + prefix.encode())
    name = b"xmlns:ns0=" if prefix else b"xmlns="
    parts["word/document.xml"] = text.replace(b"xmlns:w=", name).replace(b" val=", b" w:val=")
    if not prefix:
        parts["word/document.xml"] = parts["word/document.xml"].replace(
            b"<document ", f"<document {_W} ".encode(), 1
        )
    reading = read(tmp_path, "a.docx", zipped(parts))
    assert reading.text == "# Lease\n\nThe rent is due for R&D."


def test_word_has_what_was_moved_once(tmp_path):
    document = docx.Document()
    moved = '<w:moveFrom {} w:id="5"><w:r><w:t>It ends in May.</w:t></w:r></w:moveFrom>'
    document.add_paragraph()._p.append(parse_xml(moved.format(_W)))
    document.add_paragraph("The rent is due.")
    there = moved.replace("moveFrom", "moveTo").format(_W)
    document.add_paragraph()._p.append(parse_xml(there))
    reading = read(tmp_path, "moved.docx", saved(document))
    assert reading.text == "The rent is due.\n\nIt ends in May."


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def lease():
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "Contract 4711, confidential"
    document.sections[0].footer.paragraphs[0].text = "12"
    document.add_heading("Lease", 1)
    rent = document.add_paragraph("The rent is due on the first day.")
    document.add_comment(rent.runs, "Ask Anna about\tthe fifth day.", author="Rui Costa")
    later = document.add_section()
    later.header.is_linked_to_previous = False
    later.header.paragraphs[0].text = "Contract 4711, confidential"
    later.footer.is_linked_to_previous = False
    later.footer.paragraphs[0].text = "Lease"
    document.add_paragraph("The deposit is three months.")
    return document


def test_word_has_its_headers_once_and_each_comment_with_the_words_it_is_about(tmp_path):
    assert read(tmp_path, "a.docx", saved(lease())).text == (
        "# Lease\n\nThe rent is due on the first day.\n\nThe deposit is three months.\n\n"
        "## Header and footer\n\n- Contract 4711, confidential\n\n"
        "## Comments\n\n"
        "- Rui Costa on “The rent is due on the first day.”: Ask Anna about the fifth day."
    )


def test_a_long_comment_is_whole(tmp_path):
    document = docx.Document()
    rent = document.add_paragraph("The rent is due.")
    long = "word " * 200 + "end"
    document.add_comment(rent.runs, long, author="Rui")
    assert read(tmp_path, "a.docx", saved(document)).text.endswith(
        f"Rui on “The rent is due.”: {long}"
    )


_BOX_NAMES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)


def boxed(inside, *, old=False):
    """A text box in a run, as Word writes it: once for itself, once for older programs."""
    held = f"<w:txbxContent>{inside}</w:txbxContent>"
    legacy = f"<w:pict><v:shape><v:textbox>{held}</v:textbox></v:shape></w:pict>"
    drawing = f"<w:drawing><wps:wsp><wps:txbx>{held}</wps:txbx></wps:wsp></w:drawing>"
    both = f'<mc:Choice Requires="wps">{drawing}</mc:Choice><mc:Fallback>{legacy}</mc:Fallback>'
    whole = legacy if old else f"<mc:AlternateContent>{both}</mc:AlternateContent>"
    return f"<w:r {_BOX_NAMES}>{whole}</w:r>"


def in_paragraph(text):
    return f"<w:p><w:r><w:t>{text}</w:t></w:r></w:p>"


@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
def test_a_text_box_follows_the_paragraph_that_holds_it(tmp_path, old):
    document = docx.Document()
    rent = document.add_paragraph("The rent is ")
    rent._p.append(parse_xml(boxed(in_paragraph("See page 9.") + in_paragraph("Or 10."), old=old)))
    rent.add_run("due.")
    document.add_paragraph("The deposit is not.")
    assert read(tmp_path, "a.docx", saved(document)).text == (
        "The rent is due.\n\nSee page 9.\n\nOr 10.\n\nThe deposit is not."
    )


def test_a_text_box_within_another_loses_no_text(tmp_path):
    document = docx.Document()
    rent = document.add_paragraph("The rent is due.")
    inner = in_paragraph("Inner.").replace("</w:p>", f"{boxed(in_paragraph('Deep.'))}</w:p>")
    rent._p.append(parse_xml(boxed(inner)))
    text = read(tmp_path, "a.docx", saved(document)).text
    assert [text.count(words) for words in ("The rent is due.", "Inner.", "Deep.")] == [1, 1, 1]


def test_damaged_comments_cost_no_text(tmp_path):
    parts = dict(members(saved(lease())))
    parts["word/comments.xml"] = b"<w:comments"
    text = read(tmp_path, "a.docx", zipped(parts)).text
    assert "The deposit is three months." in text
    assert "Comments" not in text


def test_an_empty_word_file_says_so(tmp_path):
    with pytest.raises(ReadingError, match="This Word document contains no text"):
        read(tmp_path, "a.docx", saved(docx.Document()))


def slides_file():
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text = "Goals"
    frame = slide.placeholders[1].text_frame
    frame.text = "Faster search"
    deeper = frame.add_paragraph()
    deeper.text, deeper.level = "under 50 ms", 1
    slide.notes_slide.notes_text_frame.text = "Mention the pilot."
    slide = show.slides.add_slide(show.slide_layouts[6])
    box = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(3), Inches(1))
    box.text_frame.text = "Free text"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(6), Inches(2)).table
    for place, text in (((0, 0), "Item"), ((0, 1), "Cost"), ((1, 0), "Servers"), ((1, 1), "900")):
        table.cell(*place).text = text
    return saved(show)


_A = "http://schemas.openxmlformats.org/drawingml/2006"
_O = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_R = "http://schemas.openxmlformats.org/package/2006/relationships"
SHOW = {
    "ppt/presentation.xml": (
        f'<p:presentation xmlns:p="{_P}" xmlns:r="{_O}">'
        '<p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>'
    ),
    "ppt/_rels/presentation.xml.rels": (
        f'<Relationships xmlns="{_R}">'
        f'<Relationship Id="rId1" Type="{_O}/slide" Target="slides/slide1.xml"/></Relationships>'
    ),
    "ppt/slides/slide1.xml": (
        f'<p:sld xmlns:p="{_P}" xmlns:a="{_A}/main" xmlns:r="{_O}"><p:cSld><p:spTree>'
        f'<p:graphicFrame><a:graphic><a:graphicData><d:relIds xmlns:d="{_A}/diagram" r:dm="rId1"/>'
        "</a:graphicData></a:graphic></p:graphicFrame></p:spTree></p:cSld></p:sld>"
    ),
    "ppt/slides/_rels/slide1.xml.rels": (
        f'<Relationships xmlns="{_R}"><Relationship Id="rId1" Type="{_O}/diagramData" '
        'Target="../diagrams/data1.xml"/></Relationships>'
    ),
}
DIAGRAM = (
    f'<d:dataModel xmlns:d="{_A}/diagram" xmlns:a="{_A}/main"><d:ptLst>'
    "<d:pt><d:t><a:p><a:r><a:t>Plan</a:t></a:r></a:p></d:t></d:pt>"
    "<d:pt><d:t><a:p><a:r><a:t>Build</a:t></a:r></a:p></d:t></d:pt></d:ptLst></d:dataModel>"
)


def test_a_title_that_is_too_long_for_a_heading_is_text(tmp_path):
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = long = ("word " * 100).strip()
    assert read(tmp_path, "a.pptx", saved(show)).text == f"## Slide 1\n\n{long}"


def test_slides_are_sections_with_bullets_notes_and_tables(tmp_path):
    reading = read(tmp_path, "show.pptx", slides_file())
    assert reading.text == (
        "## Goals\n\n- Faster search\n  - under 50 ms\n\nNotes: Mention the pilot.\n\n"
        "## Slide 2\n\nFree text\n\n| Item | Cost |\n| --- | --- |\n| Servers | 900 |"
    )
    assert [(page.number, page.label) for page in reading.pages] == [(1, "1"), (2, "2")]
    assert reading.pages[0].end == reading.pages[1].start
    assert reading.text[reading.pages[1].start :].startswith("## Slide 2")


_CP = "http://schemas.microsoft.com/office/powerpoint/2018/8/main"
COMMENTS = {
    "legacy": (
        f'<p:cmLst xmlns:p="{_P}"><p:cm authorId="0"><p:text>Ask Anna.</p:text></p:cm>'
        '<p:cm authorId="7"><p:text>Who pays?</p:text></p:cm></p:cmLst>',
        "ppt/commentAuthors.xml",
        f'<p:cmAuthorLst xmlns:p="{_P}"><p:cmAuthor id="0" name="Rui Costa"/></p:cmAuthorLst>',
        ["Rui Costa: Ask Anna.", "Comment: Who pays?"],
    ),
    "modern": (
        f'<c:cmLst xmlns:c="{_CP}" xmlns:a="{_A}/main"><c:cm authorId="{{A}}">'
        '<c:replyLst><c:reply authorId="{B}"><c:txBody><a:p><a:r><a:t>I did.</a:t></a:r></a:p>'
        "</c:txBody></c:reply></c:replyLst><c:txBody><a:p><a:r><a:t>Ask Anna.</a:t></a:r></a:p>"
        "</c:txBody></c:cm></c:cmLst>",
        "ppt/authors.xml",
        f'<c:authorLst xmlns:c="{_CP}"><c:author id="{{A}}" name="Rui"/>'
        '<c:author id="{B}" name="Mia"/></c:authorLst>',
        ["Rui: Ask Anna.", "Mia: I did."],
    ),
}


@pytest.mark.parametrize("kind", COMMENTS)
def test_comments_on_slides_follow_what_the_slide_says(tmp_path, kind):
    comments, listed, people, lines = COMMENTS[kind]
    show = pptx.Presentation()
    show.slides.add_slide(show.slide_layouts[5]).shapes.title.text = "Plans"
    parts = dict(members(saved(show)))
    links = "ppt/slides/_rels/slide1.xml.rels"
    link = f'<Relationship Id="rId9" Type="{_O}/comments" Target="../comments/comment1.xml"/>'
    parts[links] = parts[links].replace(b"</Relationships>", f"{link}</Relationships>".encode())
    parts |= {"ppt/comments/comment1.xml": comments.encode(), listed: people.encode()}
    text = read(tmp_path, "a.pptx", zipped(parts)).text
    assert text == "\n\n".join(["## Plans", *lines])


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


def test_charts_are_tables_below_their_titles(tmp_path):
    data = CategoryChartData()
    data.categories = ["Kyoto", "Osaka"]
    data.add_series("2024", (12.5, 7))
    data.add_series("2025", (14, None))
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "Sales"
    place = Inches(1), Inches(1), Inches(6), Inches(3)
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    chart.chart_title.text_frame.text = "Tickets sold"
    assert read(tmp_path, "chart.pptx", saved(show)).text == (
        "## Sales\n\nTickets sold\n\n|  | 2024 | 2025 |\n| --- | --- | --- |\n"
        "| Kyoto | 12.5 | 14 |\n| Osaka | 7 |  |"
    )


def test_diagrams_are_lists(tmp_path):
    parts = {**SHOW, "ppt/diagrams/data1.xml": DIAGRAM}
    assert read(tmp_path, "diagram.pptx", zipped(parts)).text == "## Slide 1\n\n- Plan\n- Build"


def test_a_presentation_without_slides_contains_no_text(tmp_path):
    with pytest.raises(ReadingError, match="This presentation contains no text"):
        read(tmp_path, "none.pptx", saved(pptx.Presentation()))


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


def epub_file(**more):
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>{}</body></html>'
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": "<container "
        'xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/content.opf"/></rootfiles></container>',
        "OEBPS/content.opf": '<package xmlns="http://www.idpf.org/2007/opf"><metadata '
        'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Sea</dc:title>'
        "<dc:creator>Jo</dc:creator>"
        "<dc:language>en</dc:language><dc:date>2021</dc:date></metadata><manifest>"
        '<item id="b" href="two.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="a" href="one%20a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>',
        "OEBPS/one a.xhtml": page.format("<h1>Calm</h1><p>The <em>sea</em>.</p>"),
        "OEBPS/two.xhtml": page.format("<h1>Storm</h1><ul><li>rope</li></ul>"),
        **more,
    }
    return zipped(parts)


def zipped(parts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_chapters_come_in_reading_order(tmp_path):
    reading = read(tmp_path, "sea.epub", epub_file())
    assert reading.text == "# Calm\n\nThe *sea*.\n\n# Storm\n\n- rope"
    assert (reading.title, reading.language) == ("The Sea", "en")
    assert reading.metadata == {"author": "Jo", "date": "2021"}


def test_a_format_is_told_by_its_parts_not_by_its_name(tmp_path):
    assert read(tmp_path, "policy.zip", word_file()).format == "docx"
    assert read(tmp_path, "policy.pdf", word_file()).format == "docx"


@pytest.mark.parametrize("make", [word_file, slides_file, epub_file], ids=["docx", "pptx", "epub"])
@pytest.mark.parametrize("share", [0.3, 0.7, 0.97])
def test_truncated_containers_say_that_they_are_damaged(tmp_path, make, share):
    data = make()
    name = {"word_file": "a.docx", "slides_file": "a.pptx", "epub_file": "a.epub"}[make.__name__]
    with pytest.raises(ReadingError, match="damaged or incomplete") as caught:
        read(tmp_path, name, data[: int(len(data) * share)])
    assert caught.value.cure


def test_bombs_are_refused_before_they_unfold(tmp_path):
    parts = {"[Content_Types].xml": "<Types/>", "word/document.xml": b"<w>" + b" " * 60_000_000}
    with pytest.raises(ReadingError, match="decompression bombs"):
        read(tmp_path, "bomb.docx", zipped(parts))


def test_a_header_that_lies_about_its_size_is_found_out(tmp_path):
    data = bytearray(zipped({"word/document.xml": b"<w>" + b"ab " * 1_000_000}))
    true_size = (3 + 3_000_000).to_bytes(4, "little")
    data = bytes(data).replace(true_size, (100).to_bytes(4, "little"))
    with pytest.raises(ReadingError, match="damaged"):
        read(tmp_path, "liar.docx", data)


def test_entity_definitions_are_refused(tmp_path):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>'
    with pytest.raises(ReadingError, match="XML entities"):
        read(tmp_path, "a.docx", zipped({"word/document.xml": bomb}))
    with pytest.raises(ReadingError, match="XML entities"):
        read(tmp_path, "a.epub", epub_file(**{"OEBPS/two.xhtml": bomb.encode("utf-16")}))


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a.docx", {"word/document.xml": "<not closed"}),
        ("a.pptx", {"ppt/presentation.xml": "<p/>"}),
        ("a.pptx", {"ppt/presentation.xml": ""}),
        ("a.xlsx", {"xl/workbook.xml": "nothing"}),
        ("a.epub", {"META-INF/container.xml": "<container/>"}),
        ("a.epub", {"META-INF/container.xml": "\x00"}),
    ],
)
def test_containers_with_broken_parts_end_with_a_reason(tmp_path, name, parts):
    with pytest.raises(ReadingError) as caught:
        read(tmp_path, name, zipped(parts))
    assert caught.value.message.endswith(".")
    assert caught.value.cure.endswith(".")


def test_formulas_stay_in_their_lines(tmp_path):
    named = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
    square = (
        "<m:sSup><m:e><m:r><m:t>{}</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    )
    document = docx.Document()
    line = document.add_paragraph("Energy is ")
    line._p.append(parse_xml(f"<m:oMath {named}>{square.format('c')}</m:oMath>"))
    line.add_run(" here, ")
    line._p.append(parse_xml(f"<m:oMath {named}></m:oMath>"))
    line._p.append(parse_xml(f"<m:oMath {named}>{square.format('x')}</m:oMath>"))
    line.add_run(" there.")
    alone = document.add_paragraph()
    whole = f"<m:oMath>{square.format('a')}</m:oMath>"
    alone._p.append(parse_xml(f"<m:oMathPara {named}>{whole}</m:oMathPara>"))
    document.add_paragraph("The end.")
    assert read(tmp_path, "a.docx", saved(document)).text == (
        "Energy is $c^{2}$ here, $x^{2}$ there.\n\n$$a^{2}$$\n\nThe end."
    )
