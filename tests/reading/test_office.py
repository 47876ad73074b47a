"""Word documents, e-books, and what all containers have in common."""

from __future__ import annotations

import zipfile

import docx
import pytest
from docx.oxml import parse_xml
from office_files import (
    DRAWING,
    RELATION,
    epub_file,
    members,
    saved,
    slides_file,
    word_file,
    zipped,
)
from reading_files import NUMBERED, read

from ragkit.errors import ReadingError
from ragkit.types import Markup


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


def test_contents_of_word_have_dots_before_the_page(tmp_path):
    document = docx.Document()
    entry = document.add_paragraph("1\tFares\t")
    code = docx.oxml.OxmlElement("w:instrText")
    code.text = " PAGEREF _Toc12345 \\h "
    entry.add_run()._r.append(code)
    entry.add_run("12")
    document.add_paragraph("Dogs\tpay half.")
    reading = read(tmp_path, "contents.docx", saved(document))
    assert reading.text == "1 Fares \u2026 12\n\nDogs pay half."


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


def level(depth, text, kind="decimal", start=1, more=""):
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="{start}"/><w:numFmt w:val="{kind}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


NUMBERING = (
    f'<w:numbering {_W}><w:abstractNum w:abstractNumId="1">'
    + level(0, "%1", more='<w:pStyle w:val="Heading1"/>')
    + level(1, "%1.%2", more='<w:pStyle w:val="Heading2"/>')
    + f'</w:abstractNum><w:abstractNum w:abstractNumId="2">{level(0, "%1.", start=3)}'
    + level(1, "%2)", "lowerLetter") + level(2, "%1.%2.%3", "upperRoman")
    + f'</w:abstractNum><w:abstractNum w:abstractNumId="3">{level(0, "*", "bullet")}'
    '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
    '<w:num w:numId="2"><w:abstractNumId w:val="2"/></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="3"/></w:num>'
    '<w:num w:numId="4"><w:abstractNumId w:val="2"/><w:lvlOverride w:ilvl="0">'
    '<w:startOverride w:val="1"/></w:lvlOverride></w:num></w:numbering>'
)  # fmt: skip


def test_word_numbers_headings_and_items_as_they_are_printed(tmp_path):
    document = docx.Document()
    listed = [
        ("Scope", "Heading 1", None), ("Who", "Heading 2", None), ("Rent", "Heading 1", None),
        ("When", "Heading 2", None), ("First", None, (2, 0)), ("Inner", None, (2, 1)),
        ("Inner too", None, (2, 1)), ("Deep", None, (2, 2)), ("Next", None, (2, 0)),
        ("Inner anew", None, (2, 1)), ("Point", None, (3, 0)), ("Text", None, None),
        ("Goes on", None, (2, 0)), ("Anew", None, (4, 0)), ("More", None, (4, 0)),
    ]  # fmt: skip
    for words, style, numbered in listed:
        paragraph = document.add_paragraph(words, style=style)
        if numbered:
            number, depth = numbered
            xml = f'<w:numPr {_W}><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'
            paragraph._p.get_or_add_pPr().append(parse_xml(xml))
    parts = dict(members(saved(document)))
    parts["word/numbering.xml"] = NUMBERING.encode()
    styles = parts["word/styles.xml"].decode()
    for name in ("Heading1", "Heading2"):
        start = styles.index("<w:pPr>", styles.index(f'w:styleId="{name}"')) + len("<w:pPr>")
        numbered = '<w:numPr><w:numId w:val="1"/></w:numPr>'
        styles = styles[:start] + numbered + styles[start:]
    parts["word/styles.xml"] = styles.encode()
    reading = read(tmp_path, "lease.docx", zipped(parts))
    assert reading.title == "Scope"
    assert (
        reading.text
        == f"""\
{NUMBERED}

- Point

Text

5. Goes on
1. Anew
2. More"""
    )


def test_word_is_read_whatever_number_the_name_of_its_text_has(tmp_path):
    parts = {
        name.replace("/document.xml", "/document2.xml"): part
        for name, part in members(saved(lease()))
    }
    text = read(tmp_path, "a.docx", zipped(parts)).text
    assert text.startswith("# Lease\n\nThe rent is due on the first day.")
    assert text.endswith(
        "Rui Costa on “The rent is due on the first day.”: Ask Anna about the fifth day."
    )


def test_word_has_what_was_moved_once(tmp_path):
    document = docx.Document()
    moved = '<w:moveFrom {} w:id="5"><w:r><w:t>It ends in May.</w:t></w:r></w:moveFrom>'
    document.add_paragraph()._p.append(parse_xml(moved.format(_W)))
    rent = document.add_paragraph("The rent is due.")
    mark = f'<w:pPr {_W}><w:rPr><w:moveFrom w:id="6"/></w:rPr></w:pPr>'
    rent._p.insert(0, parse_xml(mark))
    there = moved.replace("moveFrom", "moveTo").format(_W)
    document.add_paragraph()._p.append(parse_xml(there))
    reading = read(tmp_path, "moved.docx", saved(document))
    assert reading.text == "The rent is due.\n\nIt ends in May."


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


def point(tag, *values):
    points = (f'<c:pt idx="{at}"><c:v>{value}</c:v></c:pt>' for at, value in enumerate(values))
    return f"<c:{tag}><c:cache>{''.join(points)}</c:cache></c:{tag}>"


CHART = (
    f'<c:chartSpace xmlns:c="{DRAWING}/chart" xmlns:a="{DRAWING}/main"><c:chart><c:title><a:p><a:r>'
    "<a:t>Trips &amp; fees</a:t></a:r></a:p></c:title><c:ser>"
    f"{point('tx', '2024')}{point('cat', 'May', 'June')}{point('val', 3, 4)}</c:ser></c:chart>"
    "</c:chartSpace>"
)
DIAGRAM = (
    f'<d:dataModel xmlns:d="{DRAWING}/diagram" xmlns:a="{DRAWING}/main">'
    "<a:p><a:r><a:t>Plan</a:t></a:r></a:p><a:p/><a:p><a:r><a:t>Build</a:t></a:r></a:p></d:dataModel>"
)


def test_charts_and_diagrams_follow_the_paragraph_that_holds_them(tmp_path):
    document = docx.Document()
    for tag, kind, identity in (("c:chart", "chart", "id"), ("dgm:relIds", "diagram", "dm")):
        prefix = tag.partition(":")[0]
        drawing = (
            f'<w:r {_W}><w:drawing><{tag} xmlns:{prefix}="{DRAWING}/{kind}" xmlns:r="{RELATION}" '
            f'r:{identity}="{kind}"/></w:drawing></w:r>'
        )
        document.add_paragraph(f"See the {kind}.")._p.append(parse_xml(drawing))
    document.add_paragraph("The end.")
    parts = dict(members(saved(document)))
    for kind, part in (("chart", CHART), ("diagramData", DIAGRAM)):
        link = (
            f'<Relationship Id="{kind.removesuffix("Data")}" Type="{RELATION}/{kind}" '
            f'Target="{kind}.xml"/></Relationships>'
        )
        relations = "word/_rels/document.xml.rels"
        parts[relations] = parts[relations].replace(b"</Relationships>", link.encode())
        parts[f"word/{kind}.xml"] = part.encode()
    assert read(tmp_path, "a.docx", zipped(parts)).text == (
        "See the chart.\n\nTrips & fees\n\n|  | 2024 |\n| --- | --- |\n| May | 3 |\n| June | 4 |"
        "\n\nSee the diagram.\n\nPlan\n\nBuild\n\nThe end."
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
