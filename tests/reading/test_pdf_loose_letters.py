"""Letters that are set apart: what pdfium takes for spaces between them is none."""

from __future__ import annotations

import io

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from ragkit.reading import read_file
from ragkit.reading.pdf.loose_letters import is_loose, without_space_before
from ragkit.settings import ReadingSettings

FONT, SIZE = "Courier", 10


def read(folder, lines, draw):
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(600, 800))
    canvas.setFont(FONT, SIZE)
    for row, line in enumerate(lines):
        draw(canvas, 760 - 20 * row, line)
    canvas.save()
    path = folder / "paper.pdf"
    path.write_bytes(buffer.getvalue())
    return read_file(path, path.name, ReadingSettings()).text


def last_letters_apart(canvas, y, line, apart=2.5):
    """Draw each word's last letter with the space behind it, as old programs write a scan."""
    x = 60.0
    for word in line.split():
        for part in (word[:-1], f"{word[-1]} "):
            text = canvas.beginText(x, y)
            text.setFont(FONT, SIZE)
            text.setCharSpace(apart)
            text.textOut(part)
            canvas.drawText(text)
            x += stringWidth(part, FONT, SIZE) + apart * len(part)


LINES = [
    "China Ocean Shipping Company of Beijing",
    "The ferry crosses the lake in winter",
    "Agreement signed by A C Morgan at Haifa",
]


def test_a_last_letter_that_is_written_with_its_space_belongs_to_its_word(tmp_path):
    assert read(tmp_path, LINES, last_letters_apart).split() == " ".join(LINES).split()


def test_words_that_are_not_set_apart_keep_their_spaces(tmp_path):
    def tight(canvas, y, line):
        x = 60.0
        for word in line.split():
            canvas.setFont("Helvetica", SIZE)
            canvas.drawString(x, y, word)
            x += stringWidth(word, "Helvetica", SIZE) + 2.8

    lines = ["it is a small lake as I said", "a b c and i j k", "1 2 3 or 4"]
    assert read(tmp_path, lines, tight).split() == " ".join(lines).split()


def words(*edges, bottom=0.0, top=10.0):
    return [(left, bottom, right, top) for left, right in edges]


@pytest.mark.parametrize(("gap", "joined"), [(1.0, [1]), (1.5, [1]), (1.6, []), (3.5, [])])
def test_a_gap_is_compared_with_that_of_the_letters_beside_it(gap, joined):
    boxes = words((0.0, 20.0), (20.0 + gap, 25.0))
    assert without_space_before(boxes, {0: 1.0}, {}) == joined
    assert without_space_before(boxes, {}, {1: 1.0}) == joined


def test_letters_that_touch_tell_nothing():
    boxes = words((0.0, 20.0), (20.1, 25.0))
    assert not is_loose(0.4, 10.0)
    assert without_space_before(boxes, {0: 0.4}, {}) == []


def test_single_letters_take_the_gap_that_is_known_next_to_them():
    boxes = words((0.0, 5.0), (6.0, 11.0), (12.0, 30.0), (36.0, 41.0))
    assert without_space_before(boxes, {2: 1.0}, {2: 1.0}) == [1, 2]
    assert without_space_before(boxes, {}, {}) == []


def test_raised_figures_and_other_lines_are_words_of_their_own():
    raised = [(0.0, 0.0, 20.0, 10.0), (21.0, 4.0, 24.0, 11.0)]
    below = [(0.0, 0.0, 20.0, 10.0), (21.0, -12.0, 30.0, -2.0)]
    assert without_space_before(raised, {0: 1.0}, {}) == []
    assert without_space_before(below, {0: 1.0}, {}) == []
