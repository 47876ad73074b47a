"""Slides that are printed as a page a step are read once."""

from __future__ import annotations

import io

from reportlab.pdfgen.canvas import Canvas

from ragkit.reading import read_file
from ragkit.reading.pdf.contents import Line
from ragkit.reading.pdf.reader import last_steps
from ragkit.settings import ReadingSettings

SLIDES = [
    ["Ferries", "They cross the lake"],
    ["Ferries", "They cross the lake", "four times a day"],
    ["Ferries", "They cross the lake", "four times a day", "and take bicycles"],
    ["Tickets", "are sold on board"],
    ["Tickets", "are sold on board", "in coins"],
]


def test_a_page_is_the_step_of_a_later_one_that_has_all_of_its_lines():
    pages = [[Line(text) for text in texts] for texts in SLIDES]
    assert last_steps(pages) == [2, 2, 2, 4, 4]
    # What is replaced, what is said twice, a single line, and nothing at all stay.
    for first, second in (
        (["Ferries", "in summer"], ["Ferries", "in winter", "too"]),
        (["again", "again"], ["again", "and"]),
        (["Part one"], ["Part one", "begins"]),
        ([], ["Part one"]),
    ):
        assert last_steps([[*map(Line, first)], [*map(Line, second)]]) == [0, 1]
    assert last_steps([]) == []


def test_slides_are_read_once_and_their_bookmarks_lead_there(tmp_path):
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(800, 600))
    for at, texts in enumerate(SLIDES):
        for row, text in enumerate(texts):
            canvas.drawString(60, 500 - 60 * row, text)
        if at in (0, 3):
            canvas.bookmarkPage(texts[0])
            canvas.addOutlineEntry(texts[0], texts[0])
        canvas.showPage()
    canvas.save()
    path = tmp_path / "slides.pdf"
    path.write_bytes(buffer.getvalue())
    reading = read_file(path, path.name, ReadingSettings())
    lines = [line for line in reading.text.split("\n") if line]
    assert lines == [*SLIDES[2], *SLIDES[4]]
    pages = [reading.text[page.start : page.end].strip() for page in reading.pages]
    assert [page != "" for page in pages] == [False, False, True, False, True]
    for entry in reading.outline:
        assert reading.text[entry.offset :].startswith(entry.title)
    assert [entry.title for entry in reading.outline] == ["Ferries", "Tickets"]
