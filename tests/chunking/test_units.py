"""The units of a text that answers are taken from."""

from __future__ import annotations

import pytest

from ragkit.chunking.units import is_entry, of_contents, text_units


def units(text):
    return [text[unit.start : unit.end] for unit in text_units(text, code=False)]


def test_labels_with_values_below_each_other_are_a_unit_each():
    text = "Lease, summary\nStart: 1 April\nRent per month: 3,480 euros\nNo dogs\n\nBest\nAnn"
    assert units(text) == [
        "Lease, summary", "Start: 1 April", "Rent per month: 3,480 euros\nNo dogs", "Best\nAnn",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "We know one thing\nabout it: the rent is high\nand the deposit too.",
        "He said: wait, and then\nthe long list of all the many other things: rent.",
        "See http://example.org/a\nand http://example.org/b for more.",
    ],
)
def test_a_colon_in_a_paragraph_divides_nothing(text):
    assert units(text) == [text]


def test_lines_of_data_are_a_unit_each():
    text = (
        "Money, by code:\nDKK:208:Danish krone\nNOK:578:Krone\n\nA;1;x\nB;2;y\n\n"
        "It is 9:30:00 now\nhere."
    )
    units = [text[unit.start : unit.end] for unit in text_units(text, code=False)]
    assert units == [
        "Money, by code:", "DKK:208:Danish krone", "NOK:578:Krone", "A;1;x", "B;2;y",
        "It is 9:30:00 now\nhere.",
    ]  # fmt: skip


def test_a_picture_by_itself_says_nothing():
    assert units("![[Note]](a/note.png)\n\n![A heron](b.png) It is grey.") == [
        "![A heron](b.png) It is grey."
    ]


def test_the_mark_of_a_callout_is_no_sentence_and_its_title_is_one_of_its_own():
    text = (
        "Launch here.\n\n> [!warning] Tides at the estuary\n> Never launch\n> before tide. Ask."
        "\n\n> [!NOTE]\n> The shed is locked.\n\n> [!faq]- How long?\n> Four hours.\n"
    )
    assert units(text) == [
        "Launch here.", "Tides at the estuary", "> Never launch\n> before tide.", "Ask.",
        "> The shed is locked.", "How long?", "> Four hours.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "line", ["Site-specific programs\n~~~~~~~~~~~~~~~~~~~~~~", "Knots\n~~~~~~~"]
)
def test_a_line_of_tildes_below_a_title_begins_no_code(line):
    text = f"{line}\n\nPackages must not place\nany files there. They may ask.\n\n"
    text += "Knot\n~~~~\nA bend\njoins."
    assert units(text) == [
        line.partition("\n")[0], "Packages must not place\nany files there.", "They may ask.",
        "Knot", "A bend\njoins.",
    ]  # fmt: skip


def test_tildes_fence_code_below_a_line_of_another_length():
    text = "Run this:\n~~~\nmake\nmake test\n~~~\nIt takes\na minute."
    assert units(text) == ["Run this:", "make", "make test", "It takes\na minute."]


@pytest.mark.parametrize(
    "line",
    ["1.2 Dogs … 12", "Preface … xiv", "sails … 3, 17\u201319, A-2", "… 21, 56", "Fares..... 7",
     "Fares . . . . . . . B.12"],
)  # fmt: skip
def test_a_line_of_contents_is_a_unit_of_its_own(line):
    assert is_entry(line)
    text = f"Some dogs sail.\n{line}\n{line}\nOthers stay."
    assert units(text) == ["Some dogs sail.", line, line, "Others stay."]


@pytest.mark.parametrize(
    "line",
    ["He waited … and 3 came", "It costs ... 5", "Wait …", "a.b.c.d 4", "see 1, 2, …, 12.",
     "v1...5", ". " * 50_000 + "… x!"],
)  # fmt: skip
def test_other_dots_are_prose(line):
    assert not is_entry(line.strip())


def test_lines_with_a_page_beside_entries_are_of_contents():
    lines = [
        "Route 7",
        "Ferries",
        "Part I 1\nTimes xi",
        "Fares 4",
        "Dogs … 5",
        "Bicycles A-2",
        "Paid",
        "9",
    ]
    listed = [line for line, is_listed in zip(lines, of_contents(lines), strict=True) if is_listed]
    assert listed == ["Part I 1\nTimes xi", "Fares 4", "Dogs … 5", "Bicycles A-2"]
    assert not any(of_contents(["Route 7", "Fares 4"]))
    assert of_contents([]) == []
