from __future__ import annotations

import json

import pytest
from reading_files import read, symbols

from ragkit.reading.plain import read_asciidoc
from ragkit.types import Markup


def test_rst_titles_become_the_outline(tmp_path):
    source = (
        "====\nMain\n====\n\nIntro\n\nPart ``one``\n-------\n\n"
        "text\n\nDeeper\n~~~~~~\n\nx\n\nTwo\n---\n"
    )
    reading = read(tmp_path, "a.rst", source)
    assert [(entry.level, entry.title) for entry in reading.outline] == [
        (1, "Main"),
        (2, "Part one"),
        (3, "Deeper"),
        (2, "Two"),
    ]
    assert reading.title == "Main"
    assert reading.text[reading.outline[1].offset :].startswith("Part ``one``")


def test_a_title_between_two_lines_may_be_indented_and_hold_markup(tmp_path):
    source = (
        ".. _guide-tasks:\n\n==================\n      Tasks\n==================\n\nA task.\n\n"
        "When ``Fare``\\s are :ref:`evaluated`\n---------------------------------\n\nLate.\n"
    )
    reading = read(tmp_path, "a.rst", source)
    assert reading.title == "Tasks"
    assert [entry.title for entry in reading.outline] == ["Tasks", "When Fares are evaluated"]
    assert source[reading.outline[0].offset :].startswith("=====")


FARES = "=====\nFares\n=====\n\n.. module:: fares\n\n{mark}\n\nAll\n---\n\nTwo.\n\nX\n===\n\nY.\n"


def test_restructured_text_may_be_called_txt(tmp_path):
    reading = read(tmp_path, "a.txt", FARES.format(mark=".. _all-fares:"))
    assert (reading.format, reading.title) == ("rst", "Fares")
    assert [entry.level for entry in reading.outline] == [1, 2, 3]
    plain = read(tmp_path, "b.txt", FARES.format(mark="One mark is by chance."))
    assert (plain.format, plain.title) == ("text", "Fares")
    source = read(tmp_path, "fares.rst.txt", "Fares\n=====\n\nTwo.\n")
    assert (source.format, source.title) == ("rst", "Fares")
    bare = read(tmp_path, "c.txt", ".. note:: One\n\n.. note:: Two\n\nNo title at all.\n")
    assert (bare.format, bare.title) == ("text", "c")


ASCIIDOC = """= Harbour handbook
Anna Berg <anna@example.org>
:revdate: 2026-03-01
:keywords: cranes, quays

== Cranes ==
[source,python]
----
== not a title
----
=== Small ones
Text.
"""


def test_asciidoc_titles_become_the_outline():
    reading = read_asciidoc(ASCIIDOC, "book/a.adoc")
    assert reading.text == ASCIIDOC
    assert [(entry.level, entry.title) for entry in reading.outline] == [
        (1, "Harbour handbook"), (2, "Cranes"), (3, "Small ones")
    ]  # fmt: skip
    assert ASCIIDOC[reading.outline[1].offset :].startswith("== Cranes ==")
    assert reading.title == "Harbour handbook"
    assert reading.metadata == {"date": "2026-03-01", "keywords": ["cranes", "quays"]}
    underlined = read_asciidoc("Quays\n=====\n\nOld\n---\ntext", "b.adoc")
    assert [(entry.level, entry.title) for entry in underlined.outline] == [
        (1, "Quays"),
        (2, "Old"),
    ]


def test_csv_is_a_table_whatever_its_delimiter(tmp_path):
    expected = "| Name | Note |\n| --- | --- |\n| Ann | a \\| b |\n| Bo | two lines |"
    for name, delimiter in (("a.csv", ","), ("b.csv", ";"), ("c.tsv", "\t")):
        source = f'Name{delimiter}Note\nAnn{delimiter}"a | b"\nBo{delimiter}"two\nlines"\n'
        reading = read(tmp_path, name, source)
        assert reading.text == expected
        assert reading.markup is Markup.MARKDOWN


@pytest.mark.parametrize(
    ("line", "delimiter"),
    [
        ("sep=;", ";"),
        ("SEP=,", ","),
        ("sep=\t", "\t"),
        ('"sep=|"', "|"),
        ("sep=^", "^"),
        ("sep=:", ":"),
    ],
)
def test_the_delimiter_may_be_declared(tmp_path, line, delimiter):
    rows = f"name{delimiter}age{delimiter}town\nBob{delimiter}3{delimiter}Kiel, D\n"
    if delimiter == ",":
        rows = rows.replace("Kiel, D", '"Kiel, D"')
    text = read(tmp_path, "a.csv", f"{line}\r\n{rows}").text
    assert text == "| name | age | town |\n| --- | --- | --- |\n| Bob | 3 | Kiel, D |"


def test_quotes_after_a_space_hold_a_cell_together(tmp_path):
    text = read(tmp_path, "a.csv", '"Name", "Town", "Age"\n"Roe, Ann", "Kiel, D", 3\n').text
    assert text == "| Name | Town | Age |\n| --- | --- | --- |\n| Roe, Ann | Kiel, D | 3 |"
    text = read(tmp_path, "a.csv", 'sep= \na b c\n1  "2 3"\n').text
    assert text == "| a | b | c |\n| --- | --- | --- |\n| 1 |  | 2 3 |"


def test_a_column_that_is_called_sep_is_one(tmp_path):
    text = read(tmp_path, "a.csv", "sep=a,b\n1,2\n").text
    assert text == "| sep=a | b |\n| --- | --- |\n| 1 | 2 |"


@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            "Table 12411;;;\n- by state -;;;\nSaldo:;1.234,56;EUR;;;\n\n"
            "State;31.12.2018;2019;2020;*;n\n"
            "Bayern;1;2;3;4;5\nBerlin;6;7;8;9;1\n(c) Office;;;\n",
            "Table 12411\n\n- by state -\n\nSaldo: 1.234,56 EUR\n\n"
            "| State | 31.12.2018 | 2019 | 2020 | * | n |\n"
            "| --- | --- | --- | --- | --- | --- |\n| Bayern | 1 | 2 | 3 | 4 | 5 |\n"
            "| Berlin | 6 | 7 | 8 | 9 | 1 |\n| (c) Office |  |  |  |  |  |",
        ),
        (
            "#1 *Staff*;;;;\n;Men;;Women;\nTown;2019;2020;2019;2020\nKiel;1;2;3;4\n",
            "\\#1 \\*Staff\\*\n\n| Town | Men 2019 | Men 2020 | Women 2019 | Women 2020 |\n"
            "| --- | --- | --- | --- | --- |\n| Kiel | 1 | 2 | 3 | 4 |",
        ),
        (
            "Fruit;;\nApple;3;4,50 EUR\nPear;1;2\n",
            "| Fruit |  |  |\n| --- | --- | --- |\n| Apple | 3 | 4,50 EUR |\n| Pear | 1 | 2 |",
        ),
        (
            "Name;Phone\nAnn;0431\nBo;0432;fax;mail\nCy;0433\n",
            "| Name | Phone |  |  |\n| --- | --- | --- | --- |\n| Ann | 0431 |  |  |\n"
            "| Bo | 0432 | fax | mail |\n| Cy | 0433 |  |  |",
        ),
    ],
    ids=["titles", "names of columns with gaps", "a header of one name", "a wide row"],
)
def test_titles_above_a_table_are_not_its_header(tmp_path, rows, text):
    assert read(tmp_path, "a.csv", rows).text == text


def test_json_on_one_line_is_laid_out(tmp_path):
    value = {f"key{n}": {"inner": "検索" * 20} for n in range(20)}
    reading = read(tmp_path, "a.json", json.dumps(value))
    assert json.loads(reading.text) == value
    assert reading.text.startswith('{\n  "key0": {\n    "inner": "検索')
    assert symbols(reading)[:2] == [(1, "key0"), (1, "key1")]
    assert reading.markup is Markup.CODE


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_letters_of_json_are_read_as_letters(tmp_path, name):
    value = {
        "name": "Jürgen Müller",
        "город": "Кёльн",
        "都": "京都",
        "face": "𝒜",
        "path": "C:\\u00e9",
    }
    text = json.dumps(value, indent=1 if name == "a.json" else None)
    assert "\\u00fc" in text
    reading = read(tmp_path, name, text)
    for word in ("Jürgen Müller", "город", "Кёльн", "𝒜", "C:\\\\u00e9"):
        assert word in reading.text
    assert json.loads(reading.text) == value


@pytest.mark.parametrize(
    "words",
    [
        "“Hello,” it’s l’été",
        "你好，世界。",
        "नमस्ते दुनिया",
        "می‌خواهم",
        "fine 😀",
        "e\u0301",
        "10\xa0€",
    ],
)
def test_signs_among_letters_of_json_are_read_too(tmp_path, words):
    text = json.dumps({"settings": {"greeting": words}})
    assert text.isascii()
    shown = json.loads(read(tmp_path, "a.json", text).text)
    assert shown == {"settings": {"greeting": words.replace("e\u0301", "é")}}
    assert "\\u" not in read(tmp_path, "a.json", text).text


def test_escapes_that_are_no_letters_stay(tmp_path):
    text = '{"quote": "\\u0022 \\u000a\\u0000 \\ud800 \\u005c \\u2028\\uDE00\\u0085"}\n'
    assert read(tmp_path, "a.json", text).text == text


@pytest.mark.usefixtures("nothing_collected")
def test_json_that_is_none_stays_text(tmp_path):
    reading = read(tmp_path, "a.json", "{oops")
    assert reading.text == "{oops"
    assert "not valid JSON" in reading.warnings[0]
    deep = read(tmp_path, "b.json", "[" * 200_000)
    assert len(deep.text) == 200_000


INFO = """This is pier.info, produced by makeinfo from pier.texi.

INFO-DIR-SECTION Harbours
START-INFO-DIR-ENTRY
* pier: (pier).                   Keep a pier.
END-INFO-DIR-ENTRY

\x1f
File: pier.info,  Node: Top,  Next: Tides,  Up: (dir)

The Pier
********

This manual is about piers: all of them.

* Menu:

* Tides::                      When the water
                               comes.
* Index::

\x1f
File: pier.info,  Node: Tides,  Next: Index,  Prev: Top,  Up: Top

1 Tides
=======

   * It comes: twice.

     pier --now

\x1f
File: pier.info,  Node: Index,  Prev: Tides,  Up: Top

Index
=====

* Menu:

* tide:                          Tides.                (line  6)

\x1f
Tag Table:
Node: Top\x7f210
\x1f
End Tag Table
"""


def test_a_manual_of_info_is_read_by_its_sections_without_its_menus(tmp_path):
    reading = read(tmp_path, "pier.info", INFO)
    assert (reading.format, reading.title) == ("info-manual", "The Pier")
    assert [(entry.level, entry.title) for entry in reading.outline] == [
        (1, "The Pier"),
        (2, "1 Tides"),
        (2, "Index"),
    ]
    assert [line for line in reading.text.split("\n") if line] == [
        "The Pier",
        "********",
        "This manual is about piers: all of them.",
        "1 Tides",
        "=======",
        "   * It comes: twice.",
        "     pier --now",
        "Index",
        "=====",
    ]
