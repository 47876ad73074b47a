from __future__ import annotations

from functools import partial

import pytest

from ragkit.reading.pdf.contents import Line
from ragkit.reading.pdf.paragraphs import in_one_line
from ragkit.reading.pdf.vocabulary import Vocabulary
from ragkit.reading.titles import choose, headings_of, in_order, readable

SAW = "HX-200 Panel Saw"


@pytest.mark.parametrize(
    "declared",
    [
        "0001193125-22-123456",
        "sag-39-3-4-0902-21:sag-0",
        "2026 3,585 30.667% 17.89% 615 4 February 2026 40.3729",
        "550e8400-e29b-41d4-a716-446655440000",
        "d41d8cd98f00b204e9800998ecf8427e",
        "doc12345",
        "D",
        "2023-04-01",
        "Template",
        "Normal.dotm",
        "Report template 2014 (A4)",
        "PowerPoint Presentation",
        "Presentation1",
        "Layout 1",
        "Microsoft Word - AR_final_v7.doc",
        "Microsoft Word - Minutes of May.doc",
        "untitled",
        "Unbenannt",
        "Sans titre",
        "tmpa8x2k1.pdf",
        "paper.dvi",
        "UNITED STATES SECURITIES AND EXCHANGE COMMISSION",
        "CONFIDENTIAL",
        "",
    ],
)
def test_what_says_nothing_loses_to_the_heading_and_to_the_name(declared):
    assert choose([declared, SAW], "scan0001.pdf") == SAW
    if "Minutes" not in declared:
        assert choose([declared], "manuals/saw-manual.pdf") == "saw manual"
        assert choose([declared], "scan0001.pdf") == "scan0001"


@pytest.mark.parametrize(
    "declared",
    ["Attention Is All You Need", "3M COMPANY", "Q3 results", "東京都の報告", "Über Moore", SAW],
)
def test_what_says_something_stays(declared):
    assert choose([declared, "A large heading"], "file.pdf") == declared


@pytest.mark.parametrize(
    ("candidates", "title"),
    [
        (["OPERATING INSTRUCTIONS", SAW], f"OPERATING INSTRUCTIONS · {SAW}"),
        (["Annual Report", "Annual Report of Lakeside Mills"], "Annual Report of Lakeside Mills"),
        (["FORM 10-K", "CONFIDENTIAL", "3M COMPANY"], "FORM 10-K · 3M COMPANY"),
        (["ANNUAL REPORT PURSUANT TO SECTION 13 OF THE ACT", "3M COMPANY"], "3M COMPANY"),
        (["", "Annual Report", "Mills", "2019"], "Annual Report 2019 · Mills"),
        (["Report of Lakeside Mills", "A large heading", "2019"], "Report of Lakeside Mills 2019"),
        (["Report of Mills in 2018", "2019"], "Report of Mills in 2018"),
        (["Lakeside Mills", "2019"], "Lakeside Mills"),
        (["ABC", "2019"], "ABC"),
        (["Annual Report 2019"], "Annual Report 2019"),
        (["LM-40"], "LM-40"),
        (["Microsoft Word - Minutes of the lake board.doc"], "Minutes of the lake board"),
    ],
)
def test_a_kind_of_document_stands_before_what_tells_it_from_others(candidates, title):
    assert choose(candidates, "0042.pdf") == title


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a/audit-lunden_harbour-2019.pdf", "audit lunden harbour 2019"),
        ("AcmeAnnualReport2019.pdf", "Acme Annual Report 2019"),
        ("Already in words - v2.pdf", "Already in words - v2"),
        ("GitHub.md", "GitHub"),
        ("COVID-19-in-Basel.pdf", "COVID-19 in Basel"),
        ("0001193125-22-123456.pdf", "0001193125-22-123456"),
    ],
)
def test_a_name_is_turned_into_words(name, words):
    assert readable(name) == words


def line(text, size, top, left=50.0, right=400.0):
    return Line(text, left, top - size, right, top)


TEXT = [line("An ordinary line of text that is rather long.", 10, y) for y in (300, 280)]


def test_a_declared_title_that_is_the_name_of_the_file_is_none_unless_it_is_in_words():
    assert choose(["20240312_letter", SAW], "scans/20240312_letter.pdf") == SAW
    assert choose(["20240312_letter"], "scans/20240312_letter.pdf") == "20240312 letter"
    assert choose(["Letter of Ann", SAW], "Letter of Ann.pdf") == "Letter of Ann"
    assert choose(["harbour_rules", SAW], "letter.pdf") == "harbour_rules"


def test_the_largest_lines_of_page_one_are_headings():
    cover = [
        line("Annual Report", 18, 700),
        line("Lakeside", 30, 600),
        line("Mills", 30, 560),
        line("DRAFT", 90, 500, left=5, right=25),
        line("2019", 9, 480),
        *TEXT,
    ]
    assert headings_of([cover, TEXT], " ".join) == ["Lakeside Mills", "Annual Report", "2019"]
    assert headings_of([TEXT, TEXT], " ".join) == []
    assert headings_of([[Line("no edges")]], " ".join) == []
    assert headings_of([], " ".join) == []


def test_a_line_is_as_large_as_its_letters_not_as_its_tallest_sign():
    formula = line("the sum of all \u221a(n + 1) is", 36, 500)._replace(size=10.0)
    name = line("sea urchins", 15, 700)._replace(size=24.0)
    text = [one._replace(size=10.0) for one in TEXT]
    assert headings_of([[name, formula, *text], text], " ".join) == ["sea urchins"]


@pytest.mark.parametrize(
    ("cover", "headings"),
    [
        # The boxes of letters differ within one font, by a bracket or a descender.
        ([("Ferries on the", 15.8, 640), ("lake", 15.2, 618), ("Ann Lee", 18.4, 570)],
         ["Ferries on the lake", "Ann Lee"]),
        ([("Errata list for the Book of Ferries", 15.4, 720), ("(2nd printing)", 17.2, 694)],
         ["Errata list for the Book of Ferries (2nd printing)"]),
        # With the authors it would be too long for one.
        ([("Ferries on the lake in winter, their captains and the", 16, 720),
          ("passengers of the last crossing before the ice closes", 16, 700),
          ("Ann Lee, Bo Ek, Cy Fox, Di Gray, Ed Hall and Flo Ives", 15, 682),
          ("Journal of Lakes", 19, 500)],
         ["Ferries on the lake in winter, their captains and the"
          " passengers of the last crossing before the ice closes",
          "Journal of Lakes", "Ann Lee, Bo Ek, Cy Fox, Di Gray, Ed Hall and Flo Ives"]),
        # In letters of one width, boxes are higher than those of the title.
        ([("Ferries on the lake", 13, 700), ("Ann Lee, ann@lake.example 2 Mills", 17, 660)],
         ["Ferries on the lake"]),
        ([("See www.lake.example/ferries", 17, 720), ("Ferries", 13, 600)], ["Ferries"]),
        ([("The book\u2217 on ferries\u2217\u2020", 16, 700)], ["The book on ferries"]),
        ([("Lists and lists* of C*", 16, 700)], ["Lists and lists* of C*"]),
        ([("\u00a92019 Ann Lee", 20, 700), ("| 1 | Table |", 20, 650), ("Ferries", 15, 600)],
         ["Ferries"]),
        ([("1 Introduction", 18, 500), ("Ferries", 16, 700)], ["Ferries"]),
        ([("2.1 The north shore", 18, 500), ("Ferries", 14, 700)],
         ["Ferries", "2.1 The north shore"]),
    ],
)  # fmt: skip
def test_headings_are_those_that_a_reader_sees(cover, headings):
    assert headings_of([[line(*each) for each in cover] + TEXT, TEXT], " ".join) == headings


def test_words_that_the_lines_of_a_heading_break_are_whole():
    known = Vocabulary(["the self-service of harbourmasters", "at the self-service"])
    join = partial(in_one_line, vocabulary=known)
    cover = [
        ("A guide for harbour-", 16, 720),
        ("masters and self-", 16, 700),
        ("service", 16, 680),
    ]
    lines = [line(*each) for each in cover]
    assert headings_of([lines + TEXT * 3], join) == ["A guide for harbourmasters and self-service"]


@pytest.mark.parametrize(
    ("declared", "first"),
    [
        ("Lakeside Mills", True),
        ("Lake side mills, annual report", True),
        ("Lakeside financing", True),
        ("Budget of the harbour", False),
        ("Annual Report", True),
        ("", True),
    ],
)
def test_a_title_that_the_document_nowhere_says_comes_after_its_headings(declared, first):
    candidates = in_order(declared, ["Lakeside Mills"], "Annual Report\nLake-\nside Mills 2019\n")
    assert candidates == ([declared, "Lakeside Mills"] if first else ["Lakeside Mills", declared])
