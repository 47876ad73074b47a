"""Grids of labels in PDFs, and tables that stand one below another, as on invoices."""

from __future__ import annotations

import io

import pytest
from reportlab.pdfgen.canvas import Canvas

from ragkit.reading import read_file
from ragkit.settings import ReadingSettings

LEFT, CENTRED, RIGHT = "drawString", "drawCentredString", "drawRightString"
NUMBERS = [
    [(60, "Invoice no."), (220, "Invoice date"), (380, "Customer no.")],
    [(60, "RE-4711"), (220, "7 March 2024"), (380, "20155")],
]
NUMBERS_WRITTEN = (
    "| Invoice no. | Invoice date | Customer no. |\n| --- | --- | --- |\n"
    "| RE-4711 | 7 March 2024 | 20155 |"
)
SUMS = [
    [(60, "Description"), (300, "Hours"), (460, "Amount")],
    [(60, "Office cleaning"), (300, "12"), (460, "264.00")],
    [(60, "Window cleaning"), (300, "1"), (460, "21.50")],
]
SUMS_WRITTEN = (
    "| Description | Hours | Amount |\n| --- | --- | --- |\n"
    "| Office cleaning | 12 | 264.00 |\n| Window cleaning | 1 | 21.50 |"
)


def drawn(folder, draw):
    """Read what ``draw`` draws on a page."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(600, 800))
    canvas.setFont("Helvetica", 10)
    draw(canvas)
    canvas.save()
    path = folder / "invoice.pdf"
    path.write_bytes(buffer.getvalue())
    return read_file(path, path.name, ReadingSettings()).text


def read(folder, rows, header="drawString", step=13):
    """Read rows of cells at their left edges, each ``step`` points below the one before it.

    Rows of labels are drawn with ``header``.
    """

    def draw(canvas):
        for line, row in enumerate(rows):
            how = header if row in (NUMBERS[0], SUMS[0]) else LEFT
            for left, text in row:
                shift = {LEFT: 0, CENTRED: 45, RIGHT: 90}[how]
                getattr(canvas, how)(left + shift, 700 - step * line, text)

    return drawn(folder, draw)


def test_labels_that_stand_above_their_values_are_their_header(tmp_path):
    assert read(tmp_path, NUMBERS) == NUMBERS_WRITTEN


def test_two_labels_above_two_values_are_their_header(tmp_path):
    rows = [[(60, "GSTIN"), (300, "CIN")], [(60, "06AABCO6063D1ZQ"), (300, "U63090DL2012")]]
    assert read(tmp_path, rows) == (
        "| GSTIN | CIN |\n| --- | --- |\n| 06AABCO6063D1ZQ | U63090DL2012 |"
    )


def test_a_label_without_a_value_leaves_the_others_theirs(tmp_path):
    rows = [NUMBERS[0], [NUMBERS[1][0], NUMBERS[1][2]]]
    assert read(tmp_path, rows).endswith("\n| RE-4711 |  | 20155 |")


@pytest.mark.parametrize("header", [CENTRED, RIGHT])
def test_a_header_may_stand_beside_the_figures_of_its_column(tmp_path, header):
    assert read(tmp_path, SUMS, header) == SUMS_WRITTEN
    assert read(tmp_path, SUMS[:2], header) == SUMS_WRITTEN.rpartition("\n")[0]


@pytest.mark.parametrize("header", [LEFT, CENTRED])
def test_tables_one_below_another_are_tables_of_their_own(tmp_path, header):
    assert read(tmp_path, NUMBERS + SUMS, header) == f"{NUMBERS_WRITTEN}\n\n{SUMS_WRITTEN}"


def test_a_line_between_two_tables_belongs_to_neither(tmp_path):
    rows = [*NUMBERS, [(60, "To be paid by 21 March 2024")], *SUMS]
    between = "To be paid by 21 March 2024"
    assert read(tmp_path, rows) == f"{NUMBERS_WRITTEN}\n\n{between}\n\n{SUMS_WRITTEN}"


def test_a_row_of_words_in_the_columns_of_a_table_is_a_row_of_it(tmp_path):
    rows = [*SUMS, [(60, "Keys"), (300, "None"), (460, "Included")]]
    rows += [[(60, "Travel"), (300, "2"), (460, "40.00")]]
    assert read(tmp_path, rows) == (
        f"{SUMS_WRITTEN}\n| Keys | None | Included |\n| Travel | 2 | 40.00 |"
    )


def test_two_lines_of_words_with_gaps_are_no_table(tmp_path):
    rows = [[(60, "Kind regards"), (300, "Seen and approved")]]
    rows += [[(60, "Ines Keller"), (300, "Tom Archer")]]
    assert read(tmp_path, rows) == "Kind regards Seen and approved\nInes Keller Tom Archer"


@pytest.mark.parametrize("header", [LEFT, RIGHT])
def test_rows_of_a_table_may_stand_far_apart(tmp_path, header):
    assert read(tmp_path, SUMS, header, step=40) == SUMS_WRITTEN


def test_lines_that_stand_far_apart_and_have_other_columns_are_no_table(tmp_path):
    rows = [SUMS[1], [(60, "Total"), (190, "13"), (350, "285.50")]]
    assert read(tmp_path, rows, step=40) == "Office cleaning 12 264.00\nTotal 13 285.50"


@pytest.mark.parametrize("sign", ["CHF", "\u20ac"])
def test_a_currency_after_them_leaves_figures_aligned(tmp_path, sign):
    figures = [("Insurance", f"86.00 {sign}"), ("Hosting", f"1,274.55 {sign}"),
               ("Paper", f"9.75 {sign}"), ("Books and courses", f"11,890.00 {sign}")]  # fmt: skip

    def draw(canvas):
        for line, (label, figure) in enumerate(figures):
            canvas.drawString(60, 700 - 13 * line, label)
            canvas.drawRightString(540, 700 - 13 * line, figure)

    rows = [f"| {label} | {figure} |" for label, figure in figures]
    assert drawn(tmp_path, draw) == "\n".join([rows[0], "| --- | --- |", *rows[1:]])


def test_lines_that_are_drawn_from_the_bottom_up_are_read_from_the_top_down(tmp_path):
    address = ["Ines Keller", "4 Mill Lane", "York YO1 7HH"]
    terms = ["Payment: by bank transfer", "Terms: 14 days", "Due date: 21 March 2024"]

    def draw(canvas):
        for top, lines in ((700, address), (600, terms)):
            for line in reversed(range(3)):
                canvas.drawString(60, top - 13 * line, lines[line])

    lines = [line for line in drawn(tmp_path, draw).split("\n") if line]
    assert lines == [*address, *terms]


def test_two_columns_of_two_lines_stay_as_they_are_drawn(tmp_path):
    def draw(canvas):
        for left, lines in ((60, ("Seller", "Acme Ltd")), (300, ("Buyer", "Ines Keller"))):
            for line in (0, 1):
                canvas.drawString(left, 700 - 13 * line, lines[line])

    assert drawn(tmp_path, draw) == "Seller Buyer\nAcme Ltd Ines Keller"
