"""Running lines: kept where they stand first, left out where they come again."""

from __future__ import annotations

import pytest

from ragkit.reading.pdf.contents import Line
from ragkit.reading.pdf.running import without_running_lines

BODY = [
    "The ferry crosses the lake in summer,",
    "and twice a day in winter as well.",
    "Tickets are sold on board at any time,",
    "in coins of any kind, without change.",
    "Dogs pay half, and bicycles nothing.",
    "Whoever misses it has to walk around,",
    "which takes the whole of an afternoon.",
    "The captain has a book of all trips.",
    "It hangs in the harbour on a chain.",
]


def page(number, top="", bottom="", height=12.0):
    """Return a page of nine lines that are its own, and what stands above and below them."""
    lines = [Line(f"{line} ({number} apart)", 60, 700 - 14 * row, 500, 712 - 14 * row)
             for row, line in enumerate(BODY)]  # fmt: skip
    head = [Line(top, 60, 760, 300, 760 + height)] if top else []
    return [*head, *lines, *([Line(bottom, 60, 40, 300, 40 + height)] if bottom else [])]


def edges(pages):
    """Return what is left besides the lines of the pages' own."""
    return [[line.text for line in lines if "apart" not in line.text] for lines in pages]


def test_a_running_header_stays_where_it_stands_first():
    pages = [page(at, "Annual report 2021 Acme") for at in range(5)]
    assert edges(without_running_lines(pages)) == [["Annual report 2021 Acme"], [], [], [], []]


def test_the_number_of_the_page_may_change_in_it():
    pages = [page(at, bottom=f"Acme plc | {at + 7}") for at in range(4)]
    assert edges(without_running_lines(pages)) == [["Acme plc | 7"], [], [], []]


def test_a_footer_with_a_sign_that_is_higher_than_letters_is_a_running_line():
    footers = [f"Acme | {at + 1}" if at % 2 else f"{at + 1} | Acme" for at in range(8)]
    pages = [page(at, bottom=footer, height=15.0) for at, footer in enumerate(footers)]
    assert edges(without_running_lines(pages)) == [["1 | Acme"], ["Acme | 2"]] + [[]] * 6


def test_a_footer_is_known_on_a_page_of_few_lines():
    pages = [page(at, bottom=f"Acme | {at + 1}") for at in range(5)]
    pages[3] = [pages[3][0], pages[3][-1]]
    assert edges(without_running_lines(pages)) == [["Acme | 1"], [], [], [], []]


def test_numbers_of_pages_go_everywhere():
    romans = [page(at, bottom=number) for at, number in enumerate(("i", "ii", "iii", "iv"))]
    assert edges(without_running_lines(romans)) == [[]] * 4
    words = [page(at, bottom=f"Page {at + 1} of 4") for at in range(4)]
    assert edges(without_running_lines(words)) == [[]] * 4


def test_headers_of_left_and_right_pages_and_of_chapters_are_known():
    titles = ["Harbours", "Acme"] * 2 + ["Ferries", "Acme"] * 3
    left = edges(without_running_lines([page(at, title) for at, title in enumerate(titles)]))
    assert left == [["Harbours"], ["Acme"], ["Harbours"], [], ["Ferries"], [], [], [], [], []]


def test_other_numbers_that_change_are_no_running_lines():
    tables = [page(at, f"Table {number}") for at, number in enumerate((1, 5, 6, 9))]
    assert edges(without_running_lines(tables)) == [[f"Table {at}"] for at in (1, 5, 6, 9)]


def test_headings_that_count_are_no_running_lines():
    steps = [page(at, f"Step {at + 1}", height=20.0) for at in range(4)]
    assert edges(without_running_lines(steps)) == [[f"Step {at + 1}"] for at in range(4)]


def test_a_header_that_is_large_on_some_pages_is_a_running_line():
    pages = [page(at, f"Acme {at + 1}", height=12.0 if at else 20.0) for at in range(4)]
    assert edges(without_running_lines(pages)) == [["Acme 1"], [], [], []]
    pages = [page(at, f"Acme {at + 1}", height=20.0) for at in range(30)]
    assert edges(without_running_lines(pages)) == [["Acme 1"]] + [[]] * 29


def test_large_headings_that_skip_pages_stay():
    numbers = [*range(1, 15), *range(16, 30)]
    pages = [page(at, f"Step {number}", height=20.0) for at, number in enumerate(numbers)]
    assert edges(without_running_lines(pages)) == [[f"Step {number}"] for number in numbers]


CHAPTERS = ["Fares", "Fares", "Dogs", "Winter trips", "Winter trips", "Harbours", "Harbours"]


def chapters(header):
    """Pages that begin with what ``header`` makes of a chapter's title and the page's number."""
    return [page(at, header(title, at + 5)) for at, title in enumerate(CHAPTERS)]


def test_headers_of_short_chapters_are_known_by_the_number_of_their_page():
    left = edges(without_running_lines(chapters(lambda title, number: f"{title} {number}")))
    assert left == [["Fares 5"], [], ["Dogs 7"], ["Winter trips 8"], [], ["Harbours 10"], []]
    # A title on left and on right pages is kept for each.
    sides = chapters(lambda title, at: f"{title} {at}" if at % 2 else f"{at} {title}")
    assert edges(without_running_lines(sides))[3:5] == [["8 Winter trips"], ["Winter trips 9"]]


def test_a_header_that_says_what_a_heading_says_goes_everywhere():
    pages = chapters(lambda title, number: f"Chapter {number // 3}: {title} {number}")
    pages[2].insert(3, Line("Dogs (and their owners)", 60, 650, 200, 661))
    for at, heading in ((0, "1 Fares"), (3, "Winter trips"), (5, "3. HARBOURS")):
        pages[at].insert(4, Line(heading, 60, 648, 200, 661))
    left = edges(without_running_lines(pages))
    assert left == [["1 Fares"], [], ["Chapter 2: Dogs 7", "Dogs (and their owners)"],
                    ["Winter trips"], [], ["3. HARBOURS"], []]  # fmt: skip


def test_the_first_date_in_a_footer_stays_whatever_is_a_line_elsewhere():
    pages = [page(at, bottom=f"12 January 2015 {at + 1}") for at in range(6)]
    pages[2].insert(4, Line("January", 60, 650, 200, 661))
    left = edges(without_running_lines(pages))
    assert left == [["12 January 2015 1"], [], ["January"], [], [], []]


@pytest.mark.parametrize(
    "header",
    [
        lambda at: f"{at + 3} What does {BODY[at].split()[1]} mean?",  # A question a page.
        lambda at: f"Report of {BODY[at].split()[1]} {1998 + at}",  # A year a page.
        lambda at: f"{BODY[at].split()[1]} {at * at}",
    ],
)
def test_other_lines_with_numbers_that_change_stay(header):
    pages = [page(at, header(at)) for at in range(8)]
    assert edges(without_running_lines(pages)) == [[header(at)] for at in range(8)]


def test_what_comes_twice_or_in_the_middle_or_at_another_place_stays():
    twice = [page(at, "Acme" if at < 2 else "") for at in range(4)]
    assert edges(without_running_lines(twice))[:2] == [["Acme"], ["Acme"]]
    pages = [page(at) for at in range(4)]
    for lines in pages:
        lines.insert(4, Line("Signed by the captain", 60, 650, 200, 661))
    assert edges(without_running_lines(pages)) == [["Signed by the captain"]] * 4
    moved = [[line._replace(bottom=line.bottom - 20 * at, top=line.top - 20 * at)
              for line in page(at, "Acme")] for at in range(3)]  # fmt: skip
    assert edges(without_running_lines(moved)) == [["Acme"]] * 3


def test_the_header_of_a_table_stays_on_every_page():
    pages = [page(at, "| In millions | 2021 |") for at in range(4)]
    assert edges(without_running_lines(pages)) == [["| In millions | 2021 |"]] * 4


def test_a_number_sign_at_an_edge_is_no_number():
    # The first has two numbers, the others only the one that counts on.
    tops = ["1 2 ferries", "# 2 ferries", "# 3 ferries", "# 4 ferries"]
    pages = [page(at, top) for at, top in enumerate(tops)]
    assert edges(without_running_lines(pages)) == [["1 2 ferries"], ["# 2 ferries"], [], []]
