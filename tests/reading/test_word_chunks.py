"""Files in a Word document that Word shows as if they were typed there."""

from __future__ import annotations

import docx
import pytest
from office_files import members, saved, zipped
from reading_files import read

CHUNK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/aFChunk"
PAGE = (
    "<html><head><title>Report</title></head><body><h1>Harbour dues</h1><p>Paid &amp; filed by "
    "<b>Anna</b>.</p><table><tr><th>Boat</th><th>Days</th></tr><tr><td>Canoe</td><td>3</td></tr>"
    "</table></body></html>"
)
READ = """\
# Harbour dues

Paid & filed by **Anna**.

| Boat  | Days |
| ----- | ---- |
| Canoe | 3    |"""
SAVED = (
    "MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=x\r\n\r\n--x\r\n"
    "Content-Type: text/html; charset=utf-8\r\nContent-Location: file:///C:/fake/document.html\r\n"
    f"\r\n{PAGE}\r\n--x--\r\n"
)


def document(*chunks, before="Before.", after="After."):
    """A Word document with files between two paragraphs: name and bytes of each."""
    inside = docx.Document()
    for text in filter(None, (before, after)):
        inside.add_paragraph(text)
    parts = dict(members(saved(inside)))
    body = parts["word/document.xml"].decode()
    head, end, rest = body.partition("</w:p>") if before else body.partition("<w:body>")
    marks = "".join(f'<w:altChunk r:id="chunk{n}"/>' for n in range(len(chunks)))
    parts["word/document.xml"] = f"{head}{end}{marks}{rest}".encode()
    listed = parts["word/_rels/document.xml.rels"].decode().removesuffix("</Relationships>")
    for number, (name, data) in enumerate(chunks):
        listed += f'<Relationship Id="chunk{number}" Type="{CHUNK}" Target="/word/{name}"/>'
        if data is not None:
            parts[f"word/{name}"] = data
    parts["word/_rels/document.xml.rels"] = f"{listed}</Relationships>".encode()
    return zipped(parts)


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("page.html", PAGE.encode(), READ),
        ("page.mht", SAVED.encode(), READ),
        ("note.txt", b"Bring 5 *ropes*.", "Bring 5 *ropes*."),
        ("note.rtf", rb"{\rtf1 The mill\par turns.}", "The mill\n\nturns."),
        ("other.docx", document(before="Inside."), "Inside.\n\nAfter."),
        ("other.docx", document(("page.html", PAGE.encode())), "Before.\n\nAfter."),
        ("torn.docx", b"PK torn", ""),
        ("gone.html", None, ""),
    ],
)
def test_a_file_stands_where_word_shows_it(tmp_path, name, data, text):
    found = read(tmp_path, "a.docx", document((name, data))).text
    assert found == "\n\n".join(filter(None, ("Before.", text, "After.")))


def test_a_document_may_be_nothing_but_a_web_page(tmp_path):
    reading = read(tmp_path, "a.docx", document(("page.mht", SAVED.encode()), before="", after=""))
    assert (reading.text, reading.title) == (READ, "Harbour dues")


def test_several_files_stand_in_their_order(tmp_path):
    data = document(("a.txt", b"One."), ("b.txt", b"Two."))
    assert read(tmp_path, "a.docx", data).text == "Before.\n\nOne.\n\nTwo.\n\nAfter."
