"""Writes Office files for tests of their readers, and takes them apart."""

from __future__ import annotations

import io
import zipfile

import docx
import pptx
from pptx.util import Inches

DRAWING = "http://schemas.openxmlformats.org/drawingml/2006"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PRESENTATION = "http://schemas.openxmlformats.org/presentationml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"


def saved(document):
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def zipped(parts):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
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
