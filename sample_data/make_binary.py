"""Build the PDF, XLSX, PPTX, DOCX and EPUB of the sample library, byte for byte the same each time.

Usage: python sample_data/make_binary.py [DIRECTORY]

Prose and figures come from `_sources/`. Archives are stored without compression,
with fixed times, so that no version of zlib can change them.
"""

from __future__ import annotations

import csv
import html
import io
import re
import sys
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "_sources"
FIXED_TIME = datetime(2026, 3, 9, 8, 0, 0)

KEPT_TABLE_STYLES = frozenset({"Normal Table", "Light Grid Accent 1"})


def blocks(name: str) -> Iterator[str]:
    """Yield the blocks of a source file, which are separated by empty lines."""
    text = (SOURCES / name).read_text(encoding="utf-8")
    yield from (block for block in re.split(r"\n{2,}", text.strip()) if block)


def rows_of(name: str) -> list[list[str]]:
    """Return the rows of a source table, its header first."""
    with (SOURCES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def heading(block: str) -> tuple[int, str]:
    """Return the level and the title of a heading, or (0, "")."""
    match = re.match(r"(#+) (.*)", block)
    return (len(match[1]), match[2]) if match else (0, "")


def repack(data: bytes, first: str = "[Content_Types].xml") -> bytes:
    """Write an archive anew: fixed times, sorted names, nothing compressed."""
    target = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(data)) as source,
        zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive,
    ):
        for name in sorted(source.namelist(), key=lambda name: (name != first, name)):
            entry = zipfile.ZipInfo(name, FIXED_TIME.timetuple()[:6])
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, source.read(name))
    return target.getvalue()


def build_pdf() -> bytes:
    """Build the paper: headings as bookmarks, page labels i, 1, 2, ..., a table and a figure."""
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.lib.units import mm
    from reportlab.pdfgen.canvas import Canvas
    from reportlab.platypus import (
        BaseDocTemplate,
        Frame,
        KeepTogether,
        PageBreak,
        PageTemplate,
        Paragraph,
    )

    body = ParagraphStyle("body", fontName="Times-Roman", fontSize=10.5, leading=15, spaceAfter=7)
    styles = {
        0: body,
        1: ParagraphStyle("title", body, fontName="Helvetica-Bold", fontSize=19, leading=24),
        2: ParagraphStyle(
            "h1", body, fontName="Helvetica-Bold", fontSize=13, leading=17, spaceBefore=10
        ),
        3: ParagraphStyle(
            "h2", body, fontName="Helvetica-Bold", fontSize=11, leading=15, spaceBefore=5
        ),
    }
    caption = ParagraphStyle("caption", body, fontName="Times-Italic", fontSize=9, leading=12)
    formula = ParagraphStyle("formula", body, fontName="Times-Italic", leftIndent=24)

    def footer(canvas, document) -> None:
        label = "i" if document.page == 1 else str(document.page - 1)
        canvas.setFont("Helvetica", 8)
        canvas.drawString(25 * mm, 12 * mm, "KI-TR-2026-01")
        canvas.drawRightString(A4[0] - 25 * mm, 12 * mm, label)

    class Paper(BaseDocTemplate):
        def afterFlowable(self, flowable) -> None:
            level = getattr(flowable, "outline_level", None)
            if level is None:
                return
            key = f"heading-{self.seq_number}"
            self.seq_number += 1
            top = self.frame._y + flowable.height
            self.canv.bookmarkPage(key, fit="XYZ", left=0, top=top)
            self.canv.addOutlineEntry(flowable.getPlainText(), key, level, closed=False)

    story: list = []
    pending: list = []
    for block in blocks("paper.md"):
        level, title = heading(block)
        if level:
            if title.startswith("1 "):
                story.append(PageBreak())
            flowable = Paragraph(html.escape(title), styles[level])
            flowable.outline_level = level - 1
        elif block.startswith("[table]"):
            table, _, text = block.partition("[caption] ")
            rows = [line.split(" | ") for line in table.splitlines()[1:]]
            flowable = KeepTogether([_paper_table(rows), Paragraph(text, caption)])
        elif block.startswith("[figure]"):
            text = block.partition("[caption] ")[2]
            flowable = KeepTogether([_paper_figure(), Paragraph(text, caption)])
        else:
            flowable = Paragraph(html.escape(block), formula if block[:4] == "e = " else body)
        pending.append(flowable)
        if not level:
            story.extend([KeepTogether(pending)] if len(pending) > 1 else pending)
            pending = []
    target = io.BytesIO()
    paper = Paper(
        target,
        pagesize=A4,
        invariant=1,
        pageCompression=0,
        title="Temperature-Aware Drift Compensation for Low-Cost Optical Oxygen Sensors",
        author="Priya Raman, Haruka Mori, Tomasz Zielinski",
        subject="Technical report KI-TR-2026-01",
        keywords="dissolved oxygen, drift, calibration, Heron",
        creator="Kolk Instruments",
        lang="en",
    )
    paper.seq_number = 0
    frame = Frame(25 * mm, 20 * mm, A4[0] - 50 * mm, A4[1] - 45 * mm, id="body")
    paper.addPageTemplates(PageTemplate(frames=[frame], onPage=footer))

    class LabelledCanvas(Canvas):
        def __init__(self, *args, **options) -> None:
            super().__init__(*args, **options)
            self.addPageLabel(0, "ROMAN_LOWER", 1)
            self.addPageLabel(1, "ARABIC", 1)

    paper.build(story, canvasmaker=LabelledCanvas)
    # The invariant mode dates every file to the year 2000; the new date has the same length.
    stamp = FIXED_TIME.strftime("D:%Y%m%d%H%M%S").encode()
    return target.getvalue().replace(b"D:20000101000000", stamp)


def _paper_table(rows: list[list[str]]):
    from reportlab.lib import colors
    from reportlab.platypus import Table

    table = Table(rows, spaceBefore=6, spaceAfter=6)
    table.setStyle(
        [
            ("FONT", (0, 0), (-1, 0), "Helvetica-Bold", 8),
            ("FONT", (0, 1), (-1, -1), "Helvetica", 8.5),
            ("LINEABOVE", (0, 0), (-1, 0), 0.8, colors.black),
            ("LINEBELOW", (0, 0), (-1, 0), 0.4, colors.black),
            ("LINEBELOW", (0, -1), (-1, -1), 0.8, colors.black),
            ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
        ]
    )
    return table


def _paper_figure():
    from reportlab.graphics.shapes import Drawing, Line, PolyLine, String
    from reportlab.lib import colors

    drawing = Drawing(440, 190)
    left, bottom, width, height = 50, 30, 360, 140

    def place(celsius: float, error: float) -> tuple[float, float]:
        return left + width * celsius / 30, bottom + height * error / 0.4

    drawing.add(Line(left, bottom, left + width, bottom))
    drawing.add(Line(left, bottom, left, bottom + height))
    for celsius in range(0, 31, 5):
        x, y = place(celsius, 0)
        drawing.add(Line(x, y, x, y - 3))
        drawing.add(String(x, y - 13, str(celsius), fontSize=8, textAnchor="middle"))
    for tenths in range(5):
        x, y = place(0, tenths / 10)
        drawing.add(Line(x - 3, y, x, y))
        drawing.add(String(x - 6, y - 3, f"{tenths / 10:.1f}", fontSize=8, textAnchor="end"))
    middle = left + width / 2
    drawing.add(String(middle, 4, "Water temperature (°C)", fontSize=8, textAnchor="middle"))
    drawing.add(String(left, bottom + height + 8, "Error (mg/L)", fontSize=8))
    for coefficient, colour in ((0.0192, colors.HexColor("#b5452c")), (0.0041, colors.black)):
        points = [
            value
            for celsius in range(31)
            for value in place(celsius, coefficient * 13 * abs(celsius - 15) / 10)
        ]
        drawing.add(PolyLine(points, strokeColor=colour, strokeWidth=1.4))
    return drawing


def build_xlsx() -> bytes:
    """Build the workbook of three sheets; formulas carry their values."""
    import xlsxwriter

    target = io.BytesIO()
    book = xlsxwriter.Workbook(target, {"in_memory": True})
    book.set_properties(
        {
            "title": "Budget 2026",
            "author": "Felix Adler",
            "company": "Kolk Instruments",
            "created": FIXED_TIME,
        }
    )
    bold = book.add_format({"bold": True, "bottom": 1})
    money = book.add_format({"num_format": "#,##0"})
    cents = book.add_format({"num_format": "#,##0.00"})
    total = book.add_format({"bold": True, "top": 1, "num_format": "#,##0"})
    day = book.add_format({"num_format": "yyyy-mm-dd"})

    header, *budget = rows_of("budget.csv")
    sheet = book.add_worksheet("Budget")
    sheet.set_column(0, 0, 28)
    sheet.set_column(1, 6, 12)
    sheet.freeze_panes(1, 1)
    sheet.write_row(0, 0, [*header, "2026 plan"], bold)
    totals = [0] * 6
    for row, (line, *texts) in enumerate(budget, start=1):
        figures = [int(text) for text in texts]
        plan = sum(figures[1:])
        sheet.write(row, 0, line)
        sheet.write_row(row, 1, figures, money)
        sheet.write_formula(row, 6, f"=SUM(C{row + 1}:F{row + 1})", money, plan)
        totals = [sum(pair) for pair in zip(totals, [*figures, plan], strict=True)]
    last = len(budget) + 1
    sheet.write(last, 0, "Total", total)
    for column, value in enumerate(totals, start=1):
        letter = "ABCDEFG"[column]
        sheet.write_formula(last, column, f"=SUM({letter}2:{letter}{last})", total, value)
    sheet.write(last + 2, 0, "Hosting: alert at 3,000 a month, see the sync of 9 December 2025.")
    sheet.write(last + 3, 0, "Sensor caps: 500 pieces at 43.80, if the soak test is good.")

    vendor_header, *vendors = rows_of("vendors.csv")
    days_to_pay = {vendor[0]: int(vendor[5]) for vendor in vendors}
    header, *invoices = rows_of("invoices.csv")
    sheet = book.add_worksheet("Invoices")
    sheet.set_column(0, 1, 12)
    sheet.set_column(2, 3, 30)
    sheet.set_column(4, 7, 12)
    sheet.freeze_panes(1, 0)
    sheet.write_row(0, 0, [*header, "Due", "Status"], bold)
    for row, (number, issued, vendor, purpose, *amounts) in enumerate(invoices, start=1):
        date = datetime.fromisoformat(issued)
        due = date + timedelta(days=days_to_pay.get(vendor, 14))
        sheet.write(row, 0, number)
        sheet.write_datetime(row, 1, date, day)
        sheet.write_row(row, 2, (vendor, purpose))
        sheet.write_row(row, 4, [float(amount) for amount in amounts], cents)
        sheet.write_datetime(row, 6, due, day)
        sheet.write(row, 7, "paid" if due < FIXED_TIME else "open")

    sheet = book.add_worksheet("Vendors")
    sheet.set_column(0, 4, 24)
    sheet.write_row(0, 0, vendor_header, bold)
    for row, (*texts, days, since) in enumerate(vendors, start=1):
        sheet.write_row(row, 0, [*texts, int(days), int(since)])
    book.close()
    return repack(target.getvalue())


def build_pptx() -> bytes:
    """Build the slides with their speaker's notes."""
    from pptx import Presentation
    from pptx.util import Pt

    deck = Presentation()
    slide = body = None
    for block in blocks("investor-update.md"):
        level, title = heading(block)
        if level:
            layout = deck.slide_layouts[0 if slide is None else 1]
            slide = deck.slides.add_slide(layout)
            slide.shapes.title.text = title
            body = slide.placeholders[1].text_frame
        elif block.startswith("notes: "):
            slide.notes_slide.notes_text_frame.text = block.removeprefix("notes: ")
        else:
            lines = [line.removeprefix("- ") for line in block.splitlines()]
            body.text = "\n".join(lines)
            for paragraph in body.paragraphs:
                paragraph.font.size = Pt(24)
    _set_properties(deck.core_properties, "Investor update, February 2026", "Nora Weidmann")
    target = io.BytesIO()
    deck.save(target)
    return repack(target.getvalue())


def build_docx() -> bytes:
    """Build the report with headings, a numbered list and a table."""
    from docx import Document
    from docx.enum.style import WD_STYLE_TYPE

    document = Document()
    for block in blocks("pilot-report.md"):
        level, title = heading(block)
        if level:
            document.add_heading(title, level - 1)
        elif block.startswith("|"):
            rows = [
                [cell.strip() for cell in line.strip("|").split("|")]
                for line in block.splitlines()
                if not line.startswith("|---")
            ]
            table = document.add_table(len(rows), len(rows[0]), style="Light Grid Accent 1")
            for cells, values in zip(table.rows, rows, strict=True):
                for cell, value in zip(cells.cells, values, strict=True):
                    cell.text = value
        elif re.match(r"1\. ", block):
            for line in block.splitlines():
                document.add_paragraph(re.sub(r"^\d+\. ", "", line), style="List Number")
        else:
            document.add_paragraph(block)
    for style in list(document.styles):
        if style.type == WD_STYLE_TYPE.TABLE and style.name not in KEPT_TABLE_STYLES:
            style.delete()
    for key, relation in list(document.part.rels.items()):
        if relation.reltype.endswith("/stylesWithEffects"):
            del document.part.rels[key]
    _set_properties(document.core_properties, "Pilot report: Lake Biwa 2025", "Haruka Mori")
    target = io.BytesIO()
    document.save(target)
    return repack(target.getvalue())


def _set_properties(properties, title: str, author: str) -> None:
    properties.title = title
    properties.author = properties.last_modified_by = author
    properties.created = properties.modified = FIXED_TIME
    properties.comments = ""
    properties.language = "en"


EPUB_OPF = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
<dc:identifier id="id">urn:kolk:carvalho-kitchen</dc:identifier>
<dc:title>The Carvalho kitchen</dc:title>
<dc:creator>Ines Carvalho</dc:creator>
<dc:language>en</dc:language>
<dc:date>2025-12-24</dc:date>
<meta property="dcterms:modified">2025-12-24T08:00:00Z</meta>
</metadata>
<manifest>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
{items}
</manifest>
<spine>{spine}</spine>
</package>
"""
EPUB_CONTAINER = """<?xml version="1.0" encoding="utf-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""
EPUB_PAGE = """<?xml version="1.0" encoding="utf-8"?>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" xml:lang="en">
<head><title>{title}</title></head>
<body>
{body}
</body>
</html>
"""


def build_epub() -> bytes:
    """Build the recipe book: a chapter for each heading of the first level."""
    chapters: list[tuple[str, list[str]]] = []
    for block in blocks("recipes.md"):
        level, title = heading(block)
        if level == 1:
            chapters.append((title, []))
        if level:
            chapters[-1][1].append(f"<h{level}>{html.escape(title)}</h{level}>")
        elif block.startswith("- "):
            items = (html.escape(line[2:]) for line in block.splitlines())
            chapters[-1][1].append("<ul>" + "".join(f"<li>{i}</li>" for i in items) + "</ul>")
        else:
            chapters[-1][1].append(f"<p>{html.escape(block)}</p>")
    names = [f"chapter-{number:02d}.xhtml" for number in range(len(chapters))]
    files = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": EPUB_CONTAINER,
        "OEBPS/book.opf": EPUB_OPF.format(
            items="\n".join(
                f'<item id="c{i}" href="{name}" media-type="application/xhtml+xml"/>'
                for i, name in enumerate(names)
            ),
            spine="".join(f'<itemref idref="c{i}"/>' for i in range(len(names))),
        ),
        "OEBPS/nav.xhtml": EPUB_PAGE.format(
            title="Contents",
            body='<nav epub:type="toc"><ol>'
            + "".join(
                f'<li><a href="{name}">{html.escape(title)}</a></li>'
                for name, (title, _) in zip(names, chapters, strict=True)
            )
            + "</ol></nav>",
        ),
    }
    for name, (title, body) in zip(names, chapters, strict=True):
        files[f"OEBPS/{name}"] = EPUB_PAGE.format(title=html.escape(title), body="\n".join(body))
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return repack(target.getvalue(), first="mimetype")


BUILDERS = {
    "papers/drift-compensation.pdf": build_pdf,
    "finance/budget-2026.xlsx": build_xlsx,
    "slides/investor-update-2026-02.pptx": build_pptx,
    "reports/biwa-pilot-report-2025.docx": build_docx,
    "recipes/carvalho-kitchen.epub": build_epub,
}


def build_all(directory: Path) -> list[Path]:
    """Write every binary document below `directory` and return where they are."""
    written = []
    for name, build in BUILDERS.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(build())
        written.append(path)
    return written


if __name__ == "__main__":
    for path in build_all(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "library"):
        print(path, path.stat().st_size)
