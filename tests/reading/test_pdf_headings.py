"""Headings of PDFs without bookmarks: what is drawn like a heading, and what only looks like it."""

from __future__ import annotations

import io

import pytest
from reportlab.pdfgen.canvas import Canvas

from ragkit.chunking import divide
from ragkit.chunking.sizes import ChunkSizes
from ragkit.reading import read_file
from ragkit.settings import ReadingSettings

TEXT = ("Helvetica", 10)
BOLD = ("Helvetica-Bold", 10)
LARGE = ("Helvetica", 13)
LARGEST = ("Helvetica-Bold", 18)
OPENINGS = ("In the morning", "At noon", "Later on", "At dusk", "By night", "On Sundays")
PROSE = [
    (TEXT, "The pump draws water from the lake and fills the basin within the hour, as long as"),
    (TEXT, "the filter is clean and the valve at the foot of the pipe is open to its second mark."),
    (TEXT, "Close the valve before you leave the house for more than a day."),
]


def pdf(pages, bookmarks=()):
    """A PDF of lines, each with its font, its size and its text; ``None`` leaves a line free."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(600, 800))
    for page in pages:
        y = 740
        for line in page:
            y -= 14
            if line is not None:
                (font, size), text = line
                canvas.setFont(font, size)
                canvas.drawString(60, y, text)
        for title in bookmarks:
            canvas.bookmarkPage(title)
            canvas.addOutlineEntry(title, title, 0)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def read(folder, *pages, bookmarks=()):
    path = folder / "pump.pdf"
    path.write_bytes(pdf(pages, bookmarks))
    return read_file(path, path.name, ReadingSettings())


def outline(reading):
    """The level and title of each heading, and how the text goes on at its place."""
    for entry in reading.outline:
        assert reading.text.startswith(entry.title, entry.offset)
    return [(entry.level, entry.title) for entry in reading.outline]


def part(style, title):
    """A line in a style above text of its own: what several pages repeat is no part of them."""
    about = f"{OPENINGS[len(title) % 6]} as the part on {title.lower()} says, this is what counts."
    return [None, (style, title), (TEXT, about), *PROSE, (TEXT, about)]


def test_larger_lines_and_bold_lines_are_headings_of_two_levels(tmp_path):
    reading = read(
        tmp_path,
        [*part(LARGE, "Installation"), *part(BOLD, "Choosing a place"), *part(BOLD, "The pipe")],
        [*part(LARGE, "Maintenance"), *part(BOLD, "Cleaning the filter")],
    )
    assert outline(reading) == [
        (1, "Installation"),
        (2, "Choosing a place"),
        (2, "The pipe"),
        (1, "Maintenance"),
        (2, "Cleaning the filter"),
    ]


def test_numbers_give_levels_to_headings_drawn_alike(tmp_path):
    reading = read(
        tmp_path,
        [*part(BOLD, "1. Definitions"), *part(BOLD, "1.1 The pump"), *part(BOLD, "1.2 the owner")],
        [*part(BOLD, "2. Liability"), *part(BOLD, "2.1 Damage by frost.")],
    )
    assert outline(reading) == [
        (1, "1. Definitions"),
        (2, "1.1 The pump"),
        (2, "1.2 the owner"),
        (1, "2. Liability"),
        (2, "2.1 Damage by frost."),
    ]


def test_a_heading_of_two_lines_is_one(tmp_path):
    two = [None, (LARGE, "What to do when the water of the"), (LARGE, "lake is frozen"), *PROSE]
    reading = read(tmp_path, part(LARGE, "In summer"), two)
    assert [entry.title for entry in reading.outline] == [
        "In summer",
        "What to do when the water of the lake is frozen",
    ]


def test_chunks_say_under_which_heading_they_are(tmp_path):
    reading = read(
        tmp_path,
        part(LARGE, "In summer") + PROSE * 8,
        part(LARGE, "In winter") + PROSE * 8,
    )
    chunks = divide(reading, ChunkSizes(200, 30, 60)).chunks
    assert {chunk.heading_path for chunk in chunks} == {("In summer",), ("In winter",)}


def test_clauses_of_a_contract_that_is_drawn_in_one_style(tmp_path):
    names = ["§ 1 Miete", "§ 2 Kaution", "§ 3 Kündigung"]
    reading = read(tmp_path, [line for name in names for line in part(TEXT, name)])
    # An empty line below each title sets it apart.
    assert reading.outline == ()
    apart = [line for name in names for line in (None, (TEXT, name), None, *PROSE, None)]
    assert [title for _, title in outline(read(tmp_path, apart))] == names


def test_bookmarks_win(tmp_path):
    pages = [part(LARGE, "In summer"), part(LARGE, "In winter")]
    reading = read(tmp_path, *pages, bookmarks=["In summer"])
    assert [entry.title for entry in reading.outline] == ["In summer", "In summer"]


@pytest.mark.parametrize(
    "line",
    [
        "Note that the pump must never run dry, not even for a minute.",
        "Fig. 3: the valve",
        "Tabelle 2 Preise",
        "- the blue valve",
        "p = 2 + q",
        "and its second valve",
    ],
)
def test_bold_lines_that_are_no_headings(tmp_path, line):
    reading = read(tmp_path, part(BOLD, line), part(BOLD, f"{line}"), part(BOLD, "x" * 160))
    assert reading.outline == ()


def test_contents_and_a_title_page_have_no_headings(tmp_path):
    title_page = [(LARGEST, "Manual of the pump"), None, (LARGE, "Ada Brook"), (LARGE, "May 2024")]
    contents = [(LARGE, "Installation 3"), (LARGE, "Maintenance 4"), (LARGE, "Repairs 5")]
    reading = read(
        tmp_path, title_page, contents,
        part(LARGE, "Installation"), part(LARGE, "Maintenance"), part(LARGE, "Repairs"),
    )  # fmt: skip
    assert outline(reading) == [(1, "Installation"), (1, "Maintenance"), (1, "Repairs")]


def test_what_is_said_twice_under_one_heading_is_none(tmp_path):
    one = [*part(LARGE, "Installation"), *part(BOLD, "Note"), *part(BOLD, "Note")]
    two = [*part(LARGE, "Maintenance"), *part(BOLD, "The filter"), *part(BOLD, "Note")]
    assert outline(read(tmp_path, one, two)) == [
        (1, "Installation"),
        (1, "Maintenance"),
        (2, "The filter"),
    ]


def test_a_text_in_bold_has_no_bold_headings(tmp_path):
    bold = [(BOLD, text) for _, text in PROSE]
    page = [None, (BOLD, "Installation"), *bold, None, (BOLD, "Maintenance"), *bold]
    assert read(tmp_path, page, page).outline == ()


def test_headings_that_follow_each_other_are_a_list(tmp_path):
    names = [(BOLD, name) for name in ("Ada Brook", "Ben Carter", "Cleo Dunn", "Dan Ekman")]
    assert read(tmp_path, [*PROSE, None, *names], [*PROSE, None, *names]).outline == ()
