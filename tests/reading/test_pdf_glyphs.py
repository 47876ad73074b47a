"""Characters that fonts have for others, as letters."""

from __future__ import annotations

import io

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from ragkit.reading import read_file
from ragkit.reading.pdf.contents import Line
from ragkit.reading.pdf.glyphs import accented, meant, unswapped
from ragkit.reading.pdf.layout import in_order
from ragkit.settings import ReadingSettings


def read(folder, words, *, above, rotation=0):
    """Read words whose accents are drawn above the letters after them, or before these."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(600, 800))
    canvas.setPageRotation(rotation)
    left = 60.0
    for letter in words:
        canvas.setFont("Times-Roman", 10)
        canvas.drawString(left, 700, letter)
        if not (above and letter in "\u00b4\u00a8\u02c6\u00b8"):
            left += stringWidth(letter, "Times-Roman", 10)
    canvas.save()
    path = folder / "paper.pdf"
    path.write_bytes(buffer.getvalue())
    return read_file(path, path.name, ReadingSettings()).text


@pytest.mark.parametrize("rotation", [0, 90])
@pytest.mark.parametrize(
    ("drawn", "name"),
    [
        ("Jos\u00b4e", "José"),
        ("Schr\u00a8oder", "Schröder"),
        ("r\u02c6ole", "rôle"),
        ("Fran\u00b8cois", "François"),
        ("re\u00b8cu", "reçu"),
        ("\u00b4Ecole", "École"),
    ],
)
def test_accents_above_letters_are_theirs(tmp_path, drawn, name, rotation):
    assert read(tmp_path, drawn, above=True, rotation=rotation) == name


@pytest.mark.parametrize("words", ["it\u00b4s", "l\u00b4eau", "a\u02c6b"])
def test_accents_that_stand_for_themselves_stay(tmp_path, words):
    assert read(tmp_path, words, above=False) == words


def test_letters_and_their_accents_are_found_in_both_orders():
    assert list(accented("\u00b8cest garc\u00b8on")) == [(0, "ç"), (10, "o\u0327"), (9, "ç")]
    assert list(accented("\u00b4\u0131 ^o ~n")) == [(0, "í"), (3, "ô"), (6, "ñ")]
    assert list(accented("\u00b4 5\u00b4 \u00b8 x")) == []


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("\ud835\udc53(\ud835\udc65)", "\U0001d453(\U0001d465)"),
        ("\ud835", "\ud835"),
        ("o\ufb03ce", "office"),
        ("\uf731\uf739\uf739\uf735", "1995"),
        ("\uf772\uf7e9\uf773\uf775\uf76d\uf7e9", "résumé"),
        ("\uf8eb1\uf8f6", "1"),
        ("\uf0b7 Bring a boat", "• Bring a boat"),
        ("\ue000", "\ue000"),
    ],
)
def test_what_is_meant(given, text):
    assert meant(given) == text


def test_what_has_no_text_is_no_row():
    def row(top, *texts):
        return [Line(text, 60 + 150 * at, top - 9, 90 + 150 * at, top)
                for at, text in enumerate(texts)]  # fmt: skip

    rows = [row(700, "Name", "2021", "2020"), row(688, "Fares", "10", "20"), row(680, "", " ", ""),
            row(676, "Dogs", "30", "40")]  # fmt: skip
    assert [line.text for line in in_order(rows)] == [
        "| Name | 2021 | 2020 |", "| --- | --- | --- |",
        "| Fares | 10 | 20 |", "| Dogs | 30 | 40 |",
    ]  # fmt: skip
    assert in_order([row(700, "", "")]) == []


def test_text_whose_bytes_are_swapped_is_turned_back():
    text = "Pure Black (K=100)\r\nand 20 inks"
    swapped = "".join(sign if sign in "\r\n" else chr(ord(sign) << 8) for sign in text)
    assert unswapped(swapped) == text
    for other in ("漢字と仮名　の文", "Kreuz „Ā“ und 一 Strich", "\u3000 \u3000", "一", ""):
        assert unswapped(other) == other
