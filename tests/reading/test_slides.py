"""Presentations as PPTX files."""

from __future__ import annotations

import re
from datetime import date

import openpyxl
import pptx
import pytest
from office_files import (
    DRAWING,
    PRESENTATION,
    RELATION,
    RELATIONS,
    members,
    saved,
    slides_file,
    zipped,
)
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
from reading_files import read

from ragkit.errors import ReadingError

SHOW = {
    "ppt/presentation.xml": (
        f'<p:presentation xmlns:p="{PRESENTATION}" xmlns:r="{RELATION}">'
        '<p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>'
    ),
    "ppt/_rels/presentation.xml.rels": (
        f'<Relationships xmlns="{RELATIONS}">'
        f'<Relationship Id="rId1" Type="{RELATION}/slide" Target="slides/slide1.xml"/>'
        "</Relationships>"
    ),
    "ppt/slides/slide1.xml": (
        f'<p:sld xmlns:p="{PRESENTATION}" xmlns:a="{DRAWING}/main" xmlns:r="{RELATION}"><p:cSld>'
        f'<p:spTree><p:graphicFrame><a:graphic><a:graphicData><d:relIds r:dm="rId1"'
        f' xmlns:d="{DRAWING}/diagram"/>'
        "</a:graphicData></a:graphic></p:graphicFrame></p:spTree></p:cSld></p:sld>"
    ),
    "ppt/slides/_rels/slide1.xml.rels": (
        f'<Relationships xmlns="{RELATIONS}"><Relationship Id="rId1" Type="{RELATION}/diagramData" '
        'Target="../diagrams/data1.xml"/></Relationships>'
    ),
}
DIAGRAM = (
    f'<d:dataModel xmlns:d="{DRAWING}/diagram" xmlns:a="{DRAWING}/main"><d:ptLst>'
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


def test_slides_with_the_names_of_strict_open_xml_are_read(tmp_path):
    kinds = rb"drawingml|presentationml|officeDocument"
    usual = re.compile(rb"http://schemas.openxmlformats.org/(%b)/2006/" % kinds)
    parts = {
        name: usual.sub(rb"http://purl.oclc.org/ooxml/\1/", part)
        for name, part in members(slides_file())
    }
    assert read(tmp_path, "show.pptx", zipped(parts)).text.startswith("## Goals\n\n- Faster search")


def test_pages_of_a_visio_drawing_are_sections_with_the_words_of_their_shapes(tmp_path):
    space = 'xmlns="http://schemas.microsoft.com/office/visio/2012/main"'
    listed = (f'<Page Name="Way of a claim"><Rel r:id="rId{number}"/></Page>' for number in (2, 1))
    parts = {
        "visio/document.xml": f"<VisioDocument {space}/>",
        "visio/pages/pages.xml": (
            f'<Pages {space} xmlns:r="{RELATION}">{"".join(listed)}<Page Name="Behind" '
            'Background="1"><Rel r:id="rId1"/></Page></Pages>'
        ),
        "visio/pages/_rels/pages.xml.rels": f'<Relationships xmlns="{RELATIONS}">'
        + "".join(
            f'<Relationship Id="rId{number}" Type="x/page" Target="page{number}.xml"/>'
            for number in (1, 2)
        )
        + "</Relationships>",
        "visio/pages/page1.xml": f"<PageContents {space}><Text>Pay\nRui</Text></PageContents>",
        "visio/pages/page2.xml": (
            f"<PageContents {space}><Text><cp IX='0'/>Ask <fld>Mia</fld></Text><Text> </Text>"
            "</PageContents>"
        ),
    }
    reading = read(tmp_path, "way.vsdx", zipped(parts))
    assert reading.text == "## Way of a claim\n\nAsk Mia\n\n## Way of a claim\n\nPay Rui"
    assert reading.format == "vsdx"


_CP = "http://schemas.microsoft.com/office/powerpoint/2018/8/main"
COMMENTS = {
    "legacy": (
        f'<p:cmLst xmlns:p="{PRESENTATION}"><p:cm authorId="0"><p:text>Ask Anna.</p:text></p:cm>'
        '<p:cm authorId="7"><p:text>Who pays?</p:text></p:cm></p:cmLst>',
        "ppt/commentAuthors.xml",
        f'<p:cmAuthorLst xmlns:p="{PRESENTATION}"><p:cmAuthor id="0" name="Rui Costa"/>'
        "</p:cmAuthorLst>",
        ["Rui Costa: Ask Anna.", "Comment: Who pays?"],
    ),
    "modern": (
        f'<c:cmLst xmlns:c="{_CP}" xmlns:a="{DRAWING}/main"><c:cm authorId="{{A}}">'
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
    link = f'<Relationship Id="rId9" Type="{RELATION}/comments" Target="../comments/comment1.xml"/>'
    parts[links] = parts[links].replace(b"</Relationships>", f"{link}</Relationships>".encode())
    parts |= {"ppt/comments/comment1.xml": comments.encode(), listed: people.encode()}
    text = read(tmp_path, "a.pptx", zipped(parts)).text
    assert text == "\n\n".join(["## Plans", *lines])


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


def test_figures_of_a_chart_are_written_as_it_shows_them(tmp_path):
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[5])
    data = CategoryChartData()
    data.categories = [date(2026, 1, 5), date(2026, 2, 2)]
    data.add_series("Share", (0.046, 0.1), number_format="0.0%")
    data.add_series("Tons", (0.1 + 0.2, 1234.5), number_format="General")
    data.add_series("Paid", (1234.5, 2), number_format='#,##0.00" EUR"')
    place = Inches(1), Inches(1), Inches(6), Inches(4)
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data)
    assert (
        "|  | Share | Tons | Paid |\n"
        "| --- | --- | --- | --- |\n"
        "| 2026-01-05 | 4.6% | 0.3 | 1,234.50 EUR |\n"
        "| 2026-02-02 | 10.0% | 1234.5 | 2.00 EUR |"
    ) in read(tmp_path, "chart.pptx", saved(show)).text


def test_titles_of_axes_follow_that_of_their_chart(tmp_path):
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["May"]
    data.add_series("Kiel", (7,))
    place = Inches(1), Inches(1), Inches(6), Inches(3)
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    chart.chart_title.text_frame.text = "Guests"
    chart.value_axis.axis_title.text_frame.text = "in thousands"
    assert read(tmp_path, "chart.pptx", saved(show)).text == (
        "## Slide 1\n\nGuests in thousands\n\n|  | Kiel |\n| --- | --- |\n| May | 7 |"
    )


def test_figures_have_the_digits_of_their_labels_in_the_chart(tmp_path):
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["May"]
    data.add_series("Kiel", (3.70168067226891,))
    data.add_series("Bonn", (0.25,), number_format="0%")
    data.add_series("Emden", (0.123456,))
    data.add_series("Leer", (0.123456,))
    data.add_series("Jever", (0.123456,))
    data.add_series("Norden", (0.123456,), number_format="@")
    place = Inches(1), Inches(1), Inches(6), Inches(3)
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    chart.has_title = False
    chart.plots[0].has_data_labels = True
    labels = chart.plots[0].data_labels
    labels.number_format, labels.number_format_is_linked = "0.0", False
    for series, is_linked in ((2, False), (3, True)):
        labels = chart.plots[0].series[series].data_labels
        labels.number_format, labels.number_format_is_linked = "0.00", is_linked
    (point,) = chart.plots[0].series[4]._element.xpath("c:val//c:pt")
    point.set("formatCode", "0.0%")
    assert read(tmp_path, "chart.pptx", saved(show)).text.endswith(
        "| May | 3.7 | 25% | 0.12 | 0.123456 | 12.3% | 0.123456 |"
    )


def test_links_on_slides_have_their_addresses(tmp_path):
    show = pptx.Presentation()
    slide = show.slides.add_slide(show.slide_layouts[1])
    slide.shapes.title.text_frame.paragraphs[0].add_run().text = "Plans"
    slide.shapes.title.text_frame.paragraphs[0].runs[0].hyperlink.address = "https://a.example/"
    paragraph = slide.placeholders[1].text_frame.paragraphs[0]
    for words, address in (
        ("See ", None),
        ("the ", "https://b.example/form"),
        ("form", "https://b.example/form"),
        (" or ", None),
        ("c.example", "https://c.example/"),
        (".", "file:///etc"),
    ):
        run = paragraph.add_run()
        run.text = words
        if address:
            run.hyperlink.address = address
    assert read(tmp_path, "a.pptx", saved(show)).text == (
        "## Plans\n\nSee [the form](https://b.example/form) or c.example."
    )


_MC = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
_CX = "http://schemas.microsoft.com/office/drawing/2014/chartex"


def slide_of(shapes, links=""):
    """A presentation with one slide, of these shapes and relations."""
    slide = (
        f'<p:sld xmlns:p="{PRESENTATION}" xmlns:a="{DRAWING}/main" xmlns:r="{RELATION}" {_MC}>'
        f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld></p:sld>"
    )
    rels = f'<Relationships xmlns="{RELATIONS}">{links}</Relationships>'
    return {
        **SHOW,
        "ppt/slides/slide1.xml": slide,
        "ppt/slides/_rels/slide1.xml.rels": rels,
    }


def test_a_chart_of_a_newer_kind_is_a_table_and_no_notice(tmp_path):
    words = "<a:p><a:r><a:t>{}</a:t></a:r></a:p>"
    notice = words.format("This chart isn't available in your version.")
    shapes = (
        "<mc:AlternateContent><mc:Choice><p:graphicFrame><a:graphic><a:graphicData>"
        f'<cx:chart xmlns:cx="{_CX}" r:id="rId9"/></a:graphicData></a:graphic></p:graphicFrame>'
        f"</mc:Choice><mc:Fallback><p:sp><p:txBody>{notice}</p:txBody></p:sp></mc:Fallback>"
        "</mc:AlternateContent>"
    )
    kind = "http://schemas.microsoft.com/office/2014/relationships/chartEx"
    link = f'<Relationship Id="rId9" Type="{kind}" Target="../charts/chartEx1.xml"/>'
    chart = (
        f'<cx:chartSpace xmlns:cx="{_CX}" xmlns:a="{DRAWING}/main"><cx:chartData>'
        '<cx:data id="0"><cx:strDim type="cat"><cx:lvl><cx:pt idx="0">Start</cx:pt>'
        '<cx:pt idx="1">Fees</cx:pt></cx:lvl></cx:strDim><cx:numDim type="val">'
        '<cx:lvl formatCode="#,##0"><cx:pt idx="0">1200</cx:pt><cx:pt idx="1">-30</cx:pt></cx:lvl>'
        '</cx:numDim></cx:data><cx:data id="1"/></cx:chartData><cx:chart><cx:title><cx:tx><cx:rich>'
        f"{words.format('Cash')}</cx:rich></cx:tx></cx:title><cx:plotArea><cx:plotAreaRegion>"
        '<cx:series layoutId="waterfall"><cx:tx><cx:txData><cx:v>2026</cx:v></cx:txData></cx:tx>'
        '<cx:dataId val="0"/></cx:series><cx:series><cx:dataId val="1"/></cx:series>'
        "</cx:plotAreaRegion></cx:plotArea></cx:chart>"
        "</cx:chartSpace>"
    )
    parts = {**slide_of(shapes, link), "ppt/charts/chartEx1.xml": chart}
    assert read(tmp_path, "a.pptx", zipped(parts)).text == (
        "## Slide 1\n\nCash\n\n|  | 2026 |\n| --- | --- |\n| Start | 1,200 |\n| Fees | -30 |"
    )


def test_formulas_are_read_in_their_line(tmp_path):
    def run(text):
        return f"<m:r><m:rPr/><m:t>{text}</m:t></m:r>"

    square = f"<m:sSup><m:e>{run('b')}</m:e><m:sup>{run('2')}</m:sup></m:sSup>"
    root = f"<m:rad><m:deg/><m:e>{square}{run('-c')}</m:e></m:rad>"
    whole = f"<m:f><m:num>{run('-b±')}{root}</m:num><m:den>{run('2')}</m:den></m:f>"
    third = f"<m:sSub><m:e>{run('x')}</m:e><m:sub>{run('n+1')}</m:sub></m:sSub>"
    bounds = f"<m:sub>{run('i=1')}</m:sub><m:sup>{run('n')}</m:sup><m:e>{third}</m:e>"
    added = f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>{bounds}</m:nary>'
    deep = f"<m:d><m:e>{run('a')}</m:e><m:e>{run('b')}</m:e></m:d>"
    space = "http://schemas.openxmlformats.org/officeDocument/2006/math"
    formula = (
        f'<x:m xmlns:x="a14" xmlns:m="{space}"><m:oMath>{run("x=")}{whole}{run("+")}{added}{deep}'
        "</m:oMath></x:m>"
    )
    words = "<a:r><a:t>{}</a:t></a:r>"
    text = f"<a:p>{words.format('So ')}{formula}{words.format(' holds.')}</a:p>"
    shape = f"<p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody>{text}</p:txBody></p:sp>"
    assert read(tmp_path, "a.pptx", zipped(slide_of(shape))).text == (
        "## Slide 1\n\nSo x=(-b±√(b^2-c))/2+∑_(i=1)^n x_(n+1)(a, b) holds."
    )


@pytest.mark.parametrize(
    ("area", "icon", "text"),
    [
        (
            "",
            "",
            "| Town | Fee | Note |\n| --- | --- | --- |\n| Kiel | 7.0% | x |\n| Bonn | 3 |  |",
        ),
        ("B2:C3", "", "| Town | Fee |\n| --- | --- |\n| Kiel | 7.0% |"),
        ("B2:C3", ' showAsIcon="1"', ""),
    ],
)
def test_a_workbook_on_a_slide_is_the_table_that_it_shows(tmp_path, area, icon, text):
    book = openpyxl.Workbook()
    book.active.append(["all the figures behind it"])
    sheet = book.create_sheet("Fees")
    for row in ([], ["", "Town", "Fee", "Note"], ["", "Kiel", 0.07, "x"], ["", "Bonn", 3]):
        sheet.append(row)
    sheet["C3"].number_format = "0.0%"
    book.active = sheet
    parts = dict(members(saved(book)))
    size = f'<oleSize ref="{area}"/></workbook>'.encode() if area else b"</workbook>"
    parts["xl/workbook.xml"] = parts["xl/workbook.xml"].replace(b"</workbook>", size)
    shapes = (
        f'<p:graphicFrame><a:graphic><a:graphicData><p:oleObj r:id="rId9"{icon}/></a:graphicData>'
        "</a:graphic></p:graphicFrame><p:sp><p:txBody><a:p><a:r><a:t>End</a:t></a:r></a:p>"
        "</p:txBody></p:sp>"
    )
    link = f'<Relationship Id="rId9" Type="{RELATION}/package" Target="../embeddings/a.xlsx"/>'
    show = {**slide_of(shapes, link), "ppt/embeddings/a.xlsx": zipped(parts)}
    expected = "\n\n".join(filter(None, ("## Slide 1", text, "End")))
    assert read(tmp_path, "a.pptx", zipped(show)).text == expected


def test_diagrams_are_lists(tmp_path):
    parts = {**SHOW, "ppt/diagrams/data1.xml": DIAGRAM}
    assert read(tmp_path, "diagram.pptx", zipped(parts)).text == "## Slide 1\n\n- Plan\n- Build"


@pytest.mark.parametrize(
    ("choice", "fallback", "text"),
    [
        ("It costs 900.", "It costs 900.", "It costs 900."),
        ("It costs 900.", "Too old to show it.", "It costs 900."),
        (" ", "A picture of 900.", "A picture of 900."),
    ],
)
def test_a_shape_with_a_copy_for_older_programs_is_read_once(tmp_path, choice, fallback, text):
    def shape(words):
        run = f"<a:p><a:r><a:t>{words}</a:t></a:r></a:p>"
        return f"<p:sp><p:nvSpPr><p:nvPr/></p:nvSpPr><p:txBody>{run}</p:txBody></p:sp>"

    space = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    slide = (
        f'<p:sld xmlns:p="{PRESENTATION}" xmlns:a="{DRAWING}/main" xmlns:mc="{space}"><p:cSld>'
        f"<p:spTree>{shape('Before')}<mc:AlternateContent><mc:Choice>{shape(choice)}</mc:Choice>"
        f"<mc:Fallback>{shape(fallback)}</mc:Fallback></mc:AlternateContent>{shape('After')}"
        "</p:spTree></p:cSld></p:sld>"
    )
    reading = read(tmp_path, "a.pptx", zipped({**SHOW, "ppt/slides/slide1.xml": slide}))
    assert reading.text == f"## Slide 1\n\nBefore\n\n{text}\n\nAfter"


def test_a_presentation_without_slides_contains_no_text(tmp_path):
    with pytest.raises(ReadingError, match="This presentation contains no text"):
        read(tmp_path, "none.pptx", saved(pptx.Presentation()))
