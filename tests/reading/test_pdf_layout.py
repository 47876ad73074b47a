"""Tables, columns and words of PDFs, of files that are written here."""

from __future__ import annotations

import io
import re

import pytest
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from ragkit.reading import read_file
from ragkit.reading.pdf import layout
from ragkit.reading.pdf.contents import Line
from ragkit.reading.pdf.lines import NARROW
from ragkit.reading.pdf.vocabulary import Vocabulary
from ragkit.settings import ReadingSettings

TABLE = [
    ["In millions", "2021", "2020"],
    ["Revenue", "4,567", "4,111"],
    ["Cost of goods sold", "(2,100)", "(1,950)"],
    ["Gross profit", "2,467", "2,161"],
]
WRITTEN = (
    "| In millions | 2021 | 2020 |\n| --- | --- | --- |\n| Revenue | 4,567 | 4,111 |\n"
    "| Cost of goods sold | (2,100) | (1,950) |\n| Gross profit | 2,467 | 2,161 |"
)
RIGHT_EDGES = (0, 380, 480)
PROSE = (
    "A ferry crosses the lake four times a day and takes bicycles",
    "free of charge, but dogs have to pay half of what people pay.",
    "Tickets are sold on board, in coins, and are valid all day, so",
    "that whoever goes across in the morning may come back at night.",
)


def read(folder, draw):
    """Read what ``draw`` draws on a page."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(600, 800))
    canvas.setFont("Times-Roman", 10)
    draw(canvas)
    canvas.save()
    path = folder / "paper.pdf"
    path.write_bytes(buffer.getvalue())
    return read_file(path, path.name, ReadingSettings()).text


def draw_cell(canvas, column, y, text, shift=0):
    if column:
        canvas.drawRightString(RIGHT_EDGES[column] + shift, y, text)
    else:
        canvas.drawString(60 + shift, y, text)


def draw_table(canvas, rows=TABLE, top=700):
    for row, cells in enumerate(rows):
        for column, text in enumerate(cells):
            draw_cell(canvas, column, top - 12 * row, text)


def draw_prose(canvas, top, left=60, lines=PROSE):
    for row, line in enumerate(lines):
        canvas.drawString(left, top - 12 * row, line)


def test_a_row_of_a_table_is_a_row_under_its_header(tmp_path):
    def draw(canvas):
        draw_prose(canvas, 760)
        draw_table(canvas)
        draw_prose(canvas, 640)

    prose = " ".join(PROSE)
    assert read(tmp_path, draw) == f"{prose}\n\n{WRITTEN}\n\n{prose}"


def test_a_table_that_is_drawn_by_columns_is_read_by_rows(tmp_path):
    def draw(canvas):
        draw_prose(canvas, 760)
        for column in range(3):
            for row, cells in enumerate(TABLE):
                draw_cell(canvas, column, 700 - 12 * row, cells[column])
        draw_prose(canvas, 640)

    prose = " ".join(PROSE)
    assert read(tmp_path, draw) == f"{prose}\n\n{WRITTEN}\n\n{prose}"


def test_missing_cells_keep_the_others_in_their_columns(tmp_path):
    rows = [*TABLE[:2], ["Grants", "", "7"], *TABLE[2:]]
    assert "\n| Grants |  | 7 |\n" in read(tmp_path, lambda canvas: draw_table(canvas, rows))


def test_signs_of_currencies_belong_to_their_figures(tmp_path):
    def draw(canvas):
        for row, cells in enumerate(TABLE):
            y = 700 - 12 * row
            draw_cell(canvas, 0, y, cells[0])
            for column in (1, 2):
                if row in (1, 3):
                    canvas.drawString(RIGHT_EDGES[column] - 50, y, "$")
                draw_cell(canvas, column, y, cells[column])

    text = read(tmp_path, draw)
    assert "\n| Revenue | $ 4,567 | $ 4,111 |\n" in text
    assert text.endswith("\n| Gross profit | $ 2,467 | $ 2,161 |")


def test_the_rows_of_a_header_are_one_and_a_label_that_was_broken_is_whole(tmp_path):
    rows = [
        ["", "Full year", "Full year"],
        *TABLE[:2],
        ["Cost of everything that was sold", "(2,100)", "(1,950)"],
        ["and of returned goods", "", ""],
        ["Gross profit", "2,467", "2,161"],
    ]
    lines = read(tmp_path, lambda canvas: draw_table(canvas, rows)).split("\n")
    assert lines[0] == "| In millions | Full year 2021 | Full year 2020 |"
    assert (
        lines[3] == "| Cost of everything that was sold and of returned goods | (2,100) | (1,950) |"
    )


def test_a_cell_above_several_columns_is_in_the_header_of_each(tmp_path):
    def draw(canvas):
        draw_prose(canvas, 760)
        canvas.drawCentredString(415, 712, "Year ended 31 December")
        draw_table(canvas)

    header = "| In millions | Year ended 31 December 2021 | Year ended 31 December 2020 |"
    assert f"\n\n{header}\n" in read(tmp_path, draw)


def test_rows_of_words_with_labels_are_no_header(tmp_path):
    rows = [["Country", "Italy", "Peru"], ["Continent", "Europe", "America"],
            ["Capital", "Rome", "Lima"], ["People", "59", "34"]]  # fmt: skip
    assert read(tmp_path, lambda canvas: draw_table(canvas, rows)) == (
        "| Country | Italy | Peru |\n| --- | --- | --- |\n| Continent | Europe | America |\n"
        "| Capital | Rome | Lima |\n| People | 59 | 34 |"
    )


def test_a_cell_of_several_lines_is_whole(tmp_path):
    def draw(canvas):
        rows = [
            ("Term", "Meaning"),
            ("Crossing", "A trip of the ferry from one"),
            ("", "bank of the lake to the other"),
            ("Fare", "What has to be paid for it"),
        ]
        for row, (term, meaning) in enumerate(rows):
            canvas.drawString(60, 700 - 12 * row, term)
            canvas.drawString(180, 700 - 12 * row, meaning)

    assert read(tmp_path, draw) == (
        "| Term | Meaning |\n| --- | --- |\n"
        "| Crossing | A trip of the ferry from one bank of the lake to the other |\n"
        "| Fare | What has to be paid for it |"
    )


def test_columns_are_read_one_after_another_however_they_are_drawn(tmp_path):
    half = [line[:44].rpartition(" ")[0] for line in PROSE] * 2
    second = [line.upper() for line in half]

    def across(canvas):
        for row, (left, right) in enumerate(zip(half, second, strict=True)):
            canvas.drawString(50, 700 - 12 * row, left)
            canvas.drawString(330, 700 - 12 * row, right)

    def down(canvas):
        draw_prose(canvas, 700, 50, half)
        draw_prose(canvas, 700, 330, second)

    words = " ".join([*half, *second]).split()
    assert read(tmp_path, across).split() == words
    assert read(tmp_path, down).split() == words
    assert "|" not in read(tmp_path, across)


def test_a_list_and_justified_lines_are_no_tables(tmp_path):
    def draw(canvas):
        for row, line in enumerate(PROSE):
            canvas.drawString(60, 760 - 12 * row, f"{row + 1}.")
            canvas.drawString(90, 760 - 12 * row, line)
        for row in range(4):
            words = ("internationalization", "characteristics", "of", "measurements")[: row + 1]
            for at, word in enumerate(words):
                canvas.drawString(60 + at * (180 - 37 * row) + at * at * 9, 600 - 12 * row, word)

    text = read(tmp_path, draw)
    assert "|" not in text
    assert f"1. {PROSE[0]}\n2. {PROSE[1]}" in text


CONTENTS = [("1 Tickets", 3), ("1.1 A chapter on fares and on what they are for", 12)]
CONTENTS += [("1.2 Dogs", 14), ("2 Crossings in winter", 120)]


def draw_contents(canvas, left, right, top, dot=" .", entries=CONTENTS, last=22):
    """Draw headings with their pages, and dots between them at the same places in each line.

    The last dot ends ``last`` points before the right edge.
    """
    step = stringWidth(dot, "Times-Roman", 10)
    for row, (heading, page) in enumerate(entries):
        y = top - 12 * row
        canvas.drawString(left, y, heading)
        end = left + stringWidth(heading, "Times-Roman", 10)
        dots = int((right - last - end) / step)
        canvas.drawString(right - last - dots * step, y, dot * dots)
        canvas.drawRightString(right, y, str(page))


@pytest.mark.parametrize("dot", [".", " .", "   .", "\u00b7"])
def test_dots_that_lead_to_a_page_are_one_sign(tmp_path, dot):
    def draw(canvas):
        draw_prose(canvas, 760)
        draw_contents(canvas, 60, 450, 700, dot)

    written = "\n".join(f"{heading} \u2026 {page}" for heading, page in CONTENTS)
    assert read(tmp_path, draw) == f"{' '.join(PROSE)}\n\n{written}"


def test_contents_whose_numbers_and_pages_stand_apart_are_no_table(tmp_path):
    def draw(canvas):
        for row, (heading, page) in enumerate(CONTENTS):
            number, _, words = heading.partition(" ")
            canvas.drawString(60, 700 - 12 * row, number)
            left = 110 if "." in number else 90
            draw_contents(canvas, left, 400, 700 - 12 * row, entries=[(words, page)])
        draw_contents(canvas, 60, 400, 600, last=40)

    written = "\n".join(f"{heading} \u2026 {page}" for heading, page in CONTENTS)
    assert read(tmp_path, draw) == f"{written}\n\n{written}"


@pytest.mark.parametrize("last", [22, 40])
@pytest.mark.parametrize("across", [True, False])
def test_an_index_in_columns_is_read_one_column_after_another(tmp_path, across, last):
    first = [(word, at) for at, word in enumerate(["ale", "bay", "cat", "dog", "eel", "fox"], 1)]
    second = [(word, at) for at, word in enumerate(["gnu", "hen", "ibis", "jay", "kid", "lark"], 7)]

    def draw(canvas):
        if not across:
            draw_contents(canvas, 60, 260, 700, entries=first, last=last)
            draw_contents(canvas, 320, 520, 700, entries=second, last=last)
            return
        for row, pair in enumerate(zip(first, second, strict=True)):
            for left, entry in zip((60, 320), pair, strict=True):
                draw_contents(canvas, left, left + 200, 700 - 12 * row, entries=[entry], last=last)

    written = "\n".join(f"{word} \u2026 {page}" for word, page in [*first, *second])
    assert read(tmp_path, draw) == written


@pytest.mark.parametrize("gap", [1, 30])
def test_dots_in_a_table_leave_its_figures_in_their_columns(tmp_path, gap):
    def draw(canvas):
        for row, cells in enumerate(TABLE):
            y = 700 - 12 * row
            draw_cell(canvas, 0, y, cells[0])
            start = 60 + stringWidth(cells[0], "Times-Roman", 10) + gap
            dots = int((300 - start) / stringWidth(" .", "Times-Roman", 10)) if row else 0
            canvas.drawString(start, y, " ." * dots)
            for column in (1, 2):
                draw_cell(canvas, column, y, cells[column])

    assert read(tmp_path, draw) == WRITTEN


def test_an_ellipsis_stays_as_it_is(tmp_path):
    lines = ["The ferry sails ... or not. Ask. . . and wait", "for 1, 2, . . . , n hours..."]
    assert read(tmp_path, lambda canvas: draw_prose(canvas, 700, 60, lines)) == "\n".join(lines)


def test_contents_do_not_make_other_lines_of_the_page_long(tmp_path):
    def draw(canvas):
        draw_prose(
            canvas,
            760,
            lines=[
                "Numbers in italics refer to the page on which what is de-",
                "scribed is drawn; others to where it is named in a text. Those",
                "underlined refer to the page on which it is defined.",
            ],
        )
        entries = [(f"entry {at}", at) for at in range(1, 30)]
        draw_contents(canvas, 60, 200, 700, entries=entries)

    text = read(tmp_path, draw)
    assert "on which what is described is drawn" in text
    assert "\nentry 1 \u2026 1\nentry 2 \u2026 2\n" in text


def test_what_stands_further_below_or_is_larger_is_a_paragraph_of_its_own(tmp_path):
    def draw(canvas):
        canvas.setFont("Times-Bold", 16)
        canvas.drawString(60, 760, "A heading that is about as long as lines are here")
        canvas.setFont("Times-Roman", 10)
        draw_prose(canvas, 744)
        draw_prose(canvas, 744 - 4 * 12 - 8)

    prose = " ".join(PROSE)
    heading = "A heading that is about as long as lines are here"
    assert read(tmp_path, draw) == f"{heading}\n\n{prose}\n\n{prose}"


def test_signs_above_a_line_do_not_break_it(tmp_path):
    def draw(canvas):
        draw_prose(canvas, 700)
        canvas.drawString(60, 652, "The area of the lake is 14 km")
        canvas.setFont("Times-Roman", 6)
        canvas.drawString(
            60 + canvas.stringWidth("The area of the lake is 14 km", "Times-Roman", 10), 656, "2"
        )
        canvas.setFont("Times-Roman", 10)
        canvas.drawString(200, 652, "and its depth 30 m.")

    assert read(tmp_path, draw).endswith("of the lake is 14 km2 and its depth 30 m.")


@pytest.mark.parametrize("producer", ["ReportLab", "GPL Ghostscript 10.00.0"])
@pytest.mark.parametrize("space", [4, 9])
def test_letters_that_are_set_apart_are_words(tmp_path, space, producer):
    def draw(canvas):
        canvas.setProducer(producer)
        canvas.drawString(60, 700, "ANNUAL REPORT OF THE FERRY", charSpace=space)

    assert read(tmp_path, draw) == "ANNUAL REPORT OF THE FERRY"


@pytest.mark.parametrize("made_by", ["Producer", "Creator"])
def test_the_letters_around_a_space_may_be_one_text_of_wide_letters(tmp_path, made_by):
    # As Ghostscript writes "they are": the space is the distance between "y" and "a".
    pieces = [("Shell input lines as the", 0), ("ya", 2.5), ("re read, if an", 0), ("yo", 2.5),
              ("thers give", 0), ("nw", 1.9), ("ords below", 0)]  # fmt: skip

    def draw(canvas):
        if made_by == "Producer":
            canvas.setProducer("GPL Ghostscript 10.00.0")
        else:
            canvas.setCreator("dvips(k) 5.995")
        left = 60
        for text, space in pieces:
            canvas.drawString(left, 700, text, charSpace=space)
            left += stringWidth(text, "Times-Roman", 10) + space * (len(text) - 1)

    assert read(tmp_path, draw) == (
        "Shell input lines as they are read, if any others given words below"
    )


def test_words_with_a_shadow_are_read_once(tmp_path):
    def draw(canvas):
        for rise in (0, 0.75):
            drawn = canvas.beginText(60, 600 + rise)
            drawn.setFont("Times-Roman", 10)
            for letter in "typename<_CharT":
                drawn.textOut(letter)
            canvas.drawText(drawn)
        canvas.drawString(60, 580, "Code ccooddee and 112233 stay.")

    assert read(tmp_path, draw) == "typename<_CharT\nCode ccooddee and 112233 stay."


_GLYPH = b"600 0 0 0 500 700 d1 0 0 500 700 re f"


def test_ligatures_of_fonts_without_names_are_letters(tmp_path):
    # Fonts of TeX as pictures (Type 3), in the encoding of their files: "fi" is 12, "ff" 11.
    codes = sorted({*b"Efinspcdaltoruhy.xg ", 0x0B, 0x0C, 0x0D, 0x0E, 0x0F})
    names = " ".join(f"{code} /a{code}" for code in codes)
    glyphs = " ".join(f"/a{code} 5 0 R" for code in codes)
    shown = rb"(The \014rst e\013ect is speci\014ed,) Tj 0 -14 Td (re\015ects o\016ce ba\017e.) Tj"
    content = b"BT /F1 10 Tf 60 700 Td " + shown + b" ET"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 6 0 R "
        b"/Resources << /Font << /F1 4 0 R >> >> >>",
        f"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 600 700] /FontMatrix [.001 0 0 .001 0 0] "
        f"/FirstChar 0 /LastChar 127 /Widths [{'600 ' * 128}] /CharProcs << {glyphs} >> "
        f"/Encoding << /Type /Encoding /Differences [{names}] >> >>".encode(),
        b"<< /Length %d >> stream\n%s\nendstream" % (len(_GLYPH), _GLYPH),
        b"<< /Length %d >> stream\n%s\nendstream" % (len(content), content),
    ]
    written = b"".join(b"%d 0 obj %s endobj\n" % pair for pair in enumerate(objects, 1))
    path = tmp_path / "paper.pdf"
    path.write_bytes(b"%PDF-1.4\n" + written + b"trailer << /Root 1 0 R >>\n%%EOF\n")
    text = read_file(path, path.name, ReadingSettings()).text
    assert " ".join(text.split()) == "The first effect is specified, reflects office baffle."


def test_turned_pages_are_read_like_others(tmp_path):
    def draw(canvas):
        canvas.setPageRotation(90)
        canvas.translate(600, 0)
        canvas.rotate(90)
        draw_table(canvas, top=500)

    assert read(tmp_path, draw) == WRITTEN


@pytest.mark.parametrize("turn", [90, 270])
@pytest.mark.parametrize("rotated", [0, 90, 270])
def test_what_is_turned_on_a_page_is_read_in_its_lines(tmp_path, turn, rotated):
    # In pieces, as programs write letters whose distances they adjust.
    def draw(canvas):
        canvas.setPageRotation(rotated)
        canvas.translate(*((600, 0) if turn == 90 else (0, 800)))
        canvas.rotate(turn if turn == 90 else -90)
        for row, line in enumerate(PROSE):
            left = 60
            for piece in re.findall(r"\S{1,3}|\s+", line):
                canvas.drawString(left, 500 - 12 * row, piece)
                left += stringWidth(piece, "Times-Roman", 10)
        draw_table(canvas, top=400)

    assert read(tmp_path, draw) == f"{' '.join(PROSE)}\n\n{WRITTEN}"


@pytest.mark.parametrize("rotated", [0, 90])
def test_letters_of_a_negative_size_stand_upright_on_a_page_that_is_turned_around(
    tmp_path, rotated
):
    def draw(canvas):
        canvas.setPageRotation(rotated)
        if rotated:
            canvas.translate(600, 0)
            canvas.rotate(90)
        for row, cells in enumerate(TABLE):
            for left, cell in zip((60, 360, 460), cells, strict=True):
                text = canvas.beginText()
                text.setTextTransform(-1, 0, 0, -1, left, 500 - 12 * row)
                text.setFont("Times-Roman", -10)
                text.textOut(cell)
                canvas.drawText(text)
        # A hundred letters say how a page is turned.
        for row, line in enumerate(PROSE):
            text = canvas.beginText()
            text.setTextTransform(-1, 0, 0, -1, 60, 400 - 12 * row)
            text.setFont("Times-Roman", -10)
            text.textOut(line)
            canvas.drawText(text)

    assert read(tmp_path, draw) == f"{WRITTEN}\n\n{' '.join(PROSE)}"


# -- words ---------------------------------------------------------------------------------


def known(text):
    return Vocabulary(text.split("\n"))


def mend(*lines):
    """Mend lines in which a bar is a narrow gap."""
    pages = [[Line(line.replace("|", NARROW)) for line in lines]]
    (page,) = Vocabulary(line.text for line in pages[0]).mended(pages)
    return [line.text for line in page]


def test_words_that_narrow_gaps_break_are_joined_where_the_whole_is_known():
    assert mend(
        "The finan|cial report of the financial year, and the of|fice:",
        "Finan|cial of|fice, an office with of|ficial ob|jects, each an object.",
        "The commercial bank and the com|mer|cial bank, IN CAP|ITALS and capitals.",
    ) == [
        "The financial report of the financial year, and the office:",
        "Financial office, an office with of ficial objects, each an object.",
        "The commercial bank and the commercial bank, IN CAPITALS and capitals.",
    ]


def test_words_of_their_own_stay_apart():
    # Words may be written together elsewhere, and gaps may be narrow for other reasons.
    assert mend("of|a thing, of a ofa", "Black|Box and blackbox", "black box, not|yet: notyet") == [
        "of a thing, of a ofa",
        "Black Box and blackbox",
        "black box, notyet: notyet",
    ]
    assert mend("Another form may inform you in form.") == ["Another form may inform you in form."]


@pytest.mark.parametrize(("gap", "read_as"), [(0.0, "financial"), (0.8, "financial"), (2.5, "")])
def test_a_gap_is_narrow_by_what_is_seen_of_it(tmp_path, gap, read_as):
    def draw(canvas):
        draw_prose(canvas, 700)
        canvas.drawString(60, 600, "The financial report was written by the committee of the lake.")
        left = 60 + stringWidth("The finan", "Times-Roman", 10)
        canvas.drawString(60, 580, "The finan ")
        canvas.drawString(left + gap, 580, "cial report: it was written again.")

    expected = f"The {read_as or 'finan cial'} report: it was written again."
    assert read(tmp_path, draw).endswith(expected)


@pytest.mark.parametrize(
    ("known_text", "left", "right", "kept"),
    [
        ("a well-known fact", "well", "known", True),
        ("the distribution of it", "distribu", "tion", False),
        ("decision makers: a decision of the makers", "decision", "makers", True),
        ("decisionmakers; decision makers: a decision of makers", "decision", "makers", False),
        ("nothing of it", "some", "thing", False),
        ("some-\nthing breaks some-\nthing, and some thing", "some", "thing", False),
    ],
)
def test_a_hyphen_stays_where_it_belongs_to_the_word(known_text, left, right, kept):
    assert known(known_text).keeps_hyphen(left, right) is kept


def test_what_a_long_page_takes_grows_with_its_rows_and_not_with_their_square(monkeypatch):
    # Every second row has labels that are aligned with no column but the first.
    labels, values = (("A", 10), ("B", 130), ("C", 260)), (("x", 10), ("2", 100), ("3", 200))
    columns_of, looked_at = layout.columns_of, []

    def counted(rows):
        looked_at.append(len(rows))
        return columns_of(rows)

    def taken(count: int) -> int:
        looked_at.clear()
        rows = [
            [Line(text, left, bottom, left + 5, bottom + 10) for text, left in cells]
            for bottom in range(20 * count, 0, -40)
            for bottom, cells in ((bottom, values), (bottom - 20, labels))
        ]
        assert len(layout.in_order(rows)) == count
        return sum(looked_at)

    monkeypatch.setattr(layout, "columns_of", counted)
    assert taken(2000) < 3 * taken(1000)
