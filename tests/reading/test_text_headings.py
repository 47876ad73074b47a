"""Headings of plain text: which lines are taken for them, and which are not."""

from __future__ import annotations

import time

import pytest
from reading_files import read

from ragkit.reading.text_headings import text_headings


def headings(text):
    return [(entry.level, entry.title) for entry in text_headings(text)]


def test_a_plain_text_has_its_headings_as_outline(tmp_path):
    text = "Harbour rules\n=============\n\nIntro.\n\nCranes\n------\n\nLift slowly.\n"
    reading = read(tmp_path, "rules.txt", text)
    assert [(entry.level, entry.title) for entry in reading.outline] == [
        (1, "Harbour rules"),
        (2, "Cranes"),
    ]
    assert reading.text[reading.outline[1].offset :].startswith("Cranes\n------")
    assert (reading.text, reading.title) == (text, "Harbour rules")


def test_lines_left_of_all_others_are_headings(tmp_path):
    body = "   The harbour office knows of it.\n   It is told by letter.\n\n"
    text = (
        f"                 How to report a leak in the quay\n\n{body}Before you write\n\n{body}"
        f"  Has it been told?\n\n{body}  Write as follows:\n\n{body}Sending the letter\n\n{body}"
        f"mail -s leak office\n\n{body}"
    )
    reading = read(tmp_path, "leak.txt", text)
    assert [(entry.level, entry.title) for entry in reading.outline] == [
        (1, "Before you write"),
        (2, "Has it been told?"),
        (1, "Sending the letter"),
    ]
    assert reading.title == "How to report a leak in the quay"


@pytest.mark.parametrize(
    "text",
    [
        # A date at the right, a picture of signs, and a line that goes on.
        "                                        12 March 2024\n\nDear Ann, the boat is here.\n",
        "        +-------+\n\n        | quay  |\n        +-------+\n",
        "                The quay was built in\n        the year of the flood, and it\nstands.\n",
    ],
)
def test_what_is_not_in_the_middle_of_its_line_is_no_title(tmp_path, text):
    assert read(tmp_path, "rules.txt", text).title == "rules"


@pytest.mark.parametrize(
    "text",
    [
        "We met.\n\nCranes\n======\n\nx\n\nBoats\n=====\n\nx\n",
        "1. Cranes\n\nx\n\n2. Boats\n\nx\n\n3. Quays\n\nx\n",
    ],
)
def test_a_heading_that_is_not_above_the_whole_text_is_not_its_title(tmp_path, text):
    assert read(tmp_path, "rules.txt", text).title == "rules"


@pytest.mark.parametrize(
    "text",
    [
        # The head of a table, a sum, notes that a line divides, and a signature.
        "Item       Price\n----------------\nSaw        10\n\nTool   Cost\n-----------\nAxe   9\n",
        "Rent\n  300\n-----\n\n  500\n=====\n",
        "Call Bob about the boat tomorrow morning.\n-----\nBuy milk.\n\nAnn.\n----\nBob.\n",
        "See you,\n--------\n\nBye,\n----\n",
        # Lists, also with blank lines between.
        "1. Milk\n2. Bread\n3. Eggs\n\n1. Milk\n\n2. Bread\n\n3. Eggs\n",
        "We met in\n\n2019\n\nand again in\n\n2020\n",
        "1. small letters\n\nText.\n\n2. and more\n\nText.\n\n3. of them\n\nText.\n",
        "Act now\n\nText.\n\nPart of it is\n\ntext.\n\nBook club\n\nText.\n\nPart time\n\nText.\n",
        "ERROR\nERROR\n\nX = 2 * Y\n\nZ = 3 * X\n\nA = B\n\ntext of formulas\nand more\n",
        "HELLO\n\nWORLD\n\nALL OF\n\nTHIS\n\nIS LOUD\n",
        "",
        "\n",
    ],
)
def test_what_looks_like_headings_and_is_none(text):
    assert headings(text) == []


def test_numbers_count_on_and_contents_are_no_headings():
    text = (
        "Contents\n\n1. Scope\n\n2. Duties\n\n2.1. Of captains\n\n3. Fees\n\n"
        "1. Scope\n\nThis is about boats.\n\n2. Duties\n\n2.1. Of captains\n\nThey steer.\n\n"
        "1. First\n\nan item of a list.\n\n2.2. Of crews\n\nThey row.\n\n"
        "Chapter 3. Fees\n\nTen a day.\n\n3.1 /fees : a list\n\nNone.\n\n"
        "4. Who may ask?\n\nAnybody.\n"
    )
    assert headings(text) == [
        (1, "1. Scope"),
        (1, "2. Duties"),
        (2, "2.1. Of captains"),
        (2, "2.2. Of crews"),
        (1, "Chapter 3. Fees"),
        (2, "3.1 /fees : a list"),
        (1, "4. Who may ask?"),
    ]
    assert text[text_headings(text)[0].offset :].startswith("1. Scope\n\nThis")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "BOOK ONE\n\nCHAPTER I.\nDown the River\n\nThe boat left.\n\n"
            "CHAPTER II. The Mill\n\nIt rained.\n\nBOOK TWO\n\nCHAPTER I\n\nSun.\n",
            [(1, "BOOK ONE"), (2, "CHAPTER I. Down the River"), (2, "CHAPTER II. The Mill"),
             (1, "BOOK TWO"), (2, "CHAPTER I")],
        ),
        ("§ 1 Miete\n\nDie Miete beträgt 700 Euro.\n\n§ 2 Kündigung\n\nDrei Monate.\n",
         [(1, "§ 1 Miete"), (1, "§ 2 Kündigung")]),
        ("Artikel 1\nZweck\n\nText.\n\nArtikel 2\nOrgane\n\nText.\n",
         [(1, "Artikel 1 Zweck"), (1, "Artikel 2 Organe")]),
        ("第一章 総則\n\n本文。\n\n第二章 会員\n\n本文。\n",
         [(1, "第一章 総則"), (1, "第二章 会員")]),
        ("NAME\n\n  boat - float\n\nSEE ALSO\n\n  ship, raft,\n  ferry, oar,\n  canoe, buoy\n\n"
         "BUGS\n\n  It leaks.\n  At times.\n  In rain.\n  And snow.\n  Ask.\n  Us.\n",
         [(1, "NAME"), (1, "SEE ALSO"), (1, "BUGS")]),
    ],
)  # fmt: skip
def test_chapters_articles_and_capitals(text, expected):
    assert headings(text) == expected


@pytest.mark.parametrize(
    "part",
    ["1. A\n\nx\n\n", "1.1.1.1.1. A\n\nx\n\n", "Chapter I\n\n", "AAAA\n\nx\nx\nx\nx\nx\n",
     "=" * 40 + "\n", "A\n=\n", "Ab\n--\n", " " * 50 + "\n", "§ " * 40 + "\n",
     "chapter " * 9 + "\n\n", "a  " * 30 + "\n\n"],
)  # fmt: skip
def test_hostile_texts_take_no_more_time_than_their_length_asks(part):
    text = part * (400_000 // len(part))
    began = time.process_time()
    text_headings(text)
    assert time.process_time() - began < 5
