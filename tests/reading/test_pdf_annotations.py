"""Notes, comments on marked words and typed text on the pages of a PDF."""

from __future__ import annotations

import io

import pytest
from pypdf import PdfWriter
from pypdf.annotations import FreeText, Highlight, Popup, Text
from pypdf.generic import ArrayObject, FloatObject, NameObject, NumberObject, TextStringObject
from reportlab.pdfgen import canvas

from ragkit.errors import ReadingError
from ragkit.reading import read_file
from ragkit.reading.pdf.contents import Line, PageRun
from ragkit.settings import ReadingSettings

WORDS = "The ferry leaves at nine from the old pier."


def page_of(*lines):
    buffer = io.BytesIO()
    sheet = canvas.Canvas(buffer)
    for row, line in enumerate(lines):
        sheet.drawString(50, 800 - 14 * row, line)
    sheet.showPage()
    sheet.save()
    return buffer.getvalue()


def annotated(*annotations, lines=(WORDS,)):
    """A page with annotations, each with what is set on top of what pypdf makes of it."""
    writer = PdfWriter(clone_from=io.BytesIO(page_of(*lines)))
    for annotation, more in annotations:
        writer.add_annotation(0, annotation)
        annotation.update({NameObject(key): value for key, value in more.items()})
    buffer = io.BytesIO()
    writer.write(buffer)
    return buffer.getvalue()


def note(text, **more):
    made = Text(text=text, rect=(300, 300, 320, 320))
    return made, {f"/{key}": value for key, value in more.items()}


def highlight(words, text):
    """Marks words of the first line, which begins at 50 in Helvetica of 12 points."""
    from reportlab.pdfbase.pdfmetrics import stringWidth

    before = stringWidth(WORDS[: WORDS.index(words)], "Helvetica", 12)
    left, right = 50 + before, 50 + before + stringWidth(words, "Helvetica", 12)
    quad = [left, 811, right, 811, left, 797, right, 797]
    made = Highlight(rect=(left, 797, right, 811), quad_points=ArrayObject(map(FloatObject, quad)))
    return made, {"/Contents": TextStringObject(text), "/T": TextStringObject("Rui Costa")}


def text_of(folder, data):
    path = folder / "a.pdf"
    path.write_bytes(data)
    return read_file(path, "a.pdf", ReadingSettings()).text


def test_notes_follow_the_text_of_their_page(tmp_path):
    data = annotated(
        note("Ask Anna\rabout it – 9 €?", T=TextStringObject("Zoë")), note("Is this true?")
    )
    assert text_of(tmp_path, data) == (
        f"{WORDS}\n\nZoë: Ask Anna about it – 9 €?\n\nComment: Is this true?"
    )


def test_a_comment_on_marked_words_quotes_them(tmp_path):
    assert text_of(tmp_path, annotated(highlight("old pier", "Or the new one?"))) == (
        f"{WORDS}\n\nRui Costa on “old pier”: Or the new one?"
    )


def test_marks_that_say_no_more_than_the_text_add_nothing(tmp_path):
    data = annotated(
        highlight("old pier", "old pier"),
        highlight("nine", ""),
        note("Hidden", F=NumberObject(2)),
        note("Accepted set by Rui", StateModel=TextStringObject("Review")),
        (Popup(rect=(50, 550, 200, 650)), {"/Contents": TextStringObject("Window")}),
    )
    assert text_of(tmp_path, data) == WORDS


def test_text_typed_onto_an_empty_page_is_read(tmp_path):
    typed = FreeText(text="Paid on 3 May.", rect=(50, 550, 200, 650))
    assert text_of(tmp_path, annotated((typed, {}), lines=())) == "Comment: Paid on 3 May."


def test_an_empty_page_without_notes_holds_no_text(tmp_path):
    with pytest.raises(ReadingError, match="contains no text"):
        text_of(tmp_path, annotated(lines=()))


def test_a_run_of_pages_keeps_its_comments_on_the_way():
    run = PageRun([[Line("a", 1.0, 2.0, 3.0, 4.0)]], [0], [], [(0, "Rui: no")], has_form=True)
    later = PageRun([[]], [], [1], [(1, "Mia: yes")])
    joined = PageRun.joined([PageRun.unpack(run.pack()), PageRun.unpack(later.pack())])
    assert joined == PageRun(
        [[Line("a", 1.0, 2.0, 3.0, 4.0)], []], [0], [1], [(0, "Rui: no"), (1, "Mia: yes")], True
    )
