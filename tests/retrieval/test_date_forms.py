"""Days of a question meet the days of documents, however each writes them."""

from __future__ import annotations

import pytest
from small_library import add, find, open_library, write_files

from ragkit.library import Library
from ragkit.retrieval.highlight import highlight_question
from ragkit.retrieval.query.date_forms import date_forms
from ragkit.settings import load_settings

SHOPS = ("Rewe", "Aldi", "Ikea", "Shell", "Telekom", "Amazon", "Apotheke")
FILES = {
    "account.csv": "Date;Payee;Amount\n"
    + "".join(f"2024-05-{day:02};{SHOPS[day % 7]};-{day}.20\n" for day in range(1, 29)),
    "visits.md": "# Visits\n\n| Tag | Wer |\n|---|---|\n| 07.03.2023 | Onkel Jan |\n"
    "| 19.03.2023 | Tante Ruth |\n",
    "till.csv": "day;shop;sum\n15.01.2021;Rewe;4\n16.01.2021;Aldi;5\n02.02.2021;Ikea;6\n",
    "log.csv": "day,ship\n"
    + "".join(f"{m:02}/{d}/1855,Argo {d}\n" for m in (1, 2) for d in (13, 31)),
    "会議.txt": "2019年7月5日の会議は東京で開かれた。\n",
    "diary.txt": "We moved to the house by the harbour in November 2018.\n",
    "letter.txt": "On 9 June 2022 the lamps arrived from the shop in Leiden.\n",
}


@pytest.mark.parametrize(
    ("question", "form", "day"),
    [
        ("what did I pay on 3 March 2024?", "2024-03-03", ("3", "march", "2024")),
        ("2024年3月3日", "2024-03-03", ("2024", "年", "3", "月", "3", "日")),
        ("am 3. März 2024", "03.03.2024", ("3", "marz", "2024")),
        ("le 1er mars 2024", "01/03/2024", ("1er", "1", "er", "mar", "2024")),
        ("3 de mayo de 2026", "3.5.2026", ("3", "de", "mayo", "de", "2026")),
        ("March 21st, 2024", "3/21/2024", ("march", "21st", "21", "st", "2024")),
        ("5 Mar 2024", "05.03.24", ("5", "mar", "2024")),
        ("31.12.2024", "2024-12-31", ("31.12.2024",)),
        ("4/3/2024", "2024-03-04", ("4/3/2024", "4", "3", "2024")),
        ("4/3/2024", "2024-04-03", ("4/3/2024", "4", "3", "2024")),
    ],
)
def test_a_day_has_other_forms(question, form, day):
    assert date_forms(question)[form] == day


@pytest.mark.parametrize(
    "question",
    [
        "in March",
        "on 3 March",
        "31 Februar",
        "32 March 2024",
        "13.13.2024",
        "1.2.20245",
        "",
        "4",
    ],
)
def test_what_is_no_whole_day_has_none(question):
    assert date_forms(question) == {}


@pytest.mark.parametrize(
    ("question", "form", "month"),
    [
        ("who paid in January 1855?", "1855-01", ("januari", "1855")),
        ("Jan. 2024", "01/2024", ("jan", "2024")),
        ("im März 2024", "2024-03", ("marz", "2024")),
        ("marzo de 2024", "03.2024", ("marzo", "de", "2024")),
        ("2024年1月", "2024-01", ("2024", "年", "1", "月")),
        ("2024-01", "januari", ("2024-01", "01")),
        ("2024-01", "jan", ("2024-01", "01")),
        ("3/2024", "marz", ("3/2024", "3")),
    ],
)
def test_a_month_has_other_forms(question, form, month):
    assert date_forms(question)[form] == month


@pytest.mark.parametrize(
    "question", ["32 March 2024", "2024-01-15T10:00", "4567-01", "v1-2024", "page 13/2024"]
)
def test_what_is_no_month_has_no_form_of_it(question):
    assert not any(form in date_forms(question) for form in ("2024-03", "januari", "2024-01"))


def test_the_question_s_own_form_is_no_other():
    forms = date_forms("2024-03-03 or 3 March 2024")
    assert "2024-03-03" not in forms
    assert "03.03.2024" in forms


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    place = tmp_path_factory.mktemp("dates")
    with open_library(place / "library") as library:
        add(library, write_files(place / "files", FILES))
        yield library


@pytest.mark.parametrize(
    ("question", "path", "row"),
    [
        ("payment of 12 May 2024", "account.csv", "2024-05-12"),
        ("Zahlung am 23. Mai 2024", "account.csv", "2024-05-23"),
        ("5/17/2024", "account.csv", "2024-05-17"),
        ("who came on March 19th, 2023", "visits.md", "19.03.2023"),
        ("2023-03-07", "visits.md", "07.03.2023"),
    ],
)
def test_a_row_is_found_by_its_day_in_words_or_other_digits(library, question, path, row):
    best = find(library, question, mode="keyword").results[0]
    assert best.document.path == path
    passage = best.passages[0]
    marked = {
        passage.text[start - passage.start : end - passage.start]
        for start, end in passage.highlights
    }
    assert row in marked


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("in January 2021", "till.csv"),
        ("Jan 2021", "till.csv"),
        ("2021年1月", "till.csv"),
        ("2021-01", "till.csv"),
        ("January 1855", "log.csv"),
        ("gennaio 1855", "log.csv"),
        ("mars 2023", "visits.md"),
        ("May 2024", "account.csv"),
        ("July 2019", "会議.txt"),
        ("2018-11", "diary.txt"),
        ("11/2018", "diary.txt"),
    ],
)
def test_a_month_finds_its_days_and_its_name(library, question, path):
    answer = find(library, question, mode="keyword")
    assert answer.results[0].document.path == path
    assert answer.results[0].missing_terms == ()
    assert not answer.results[0].weak


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("| 15.01.2021 | Rewe |", ["15.01.2021"]),
        ("| 15.01.21 | Rewe |", ["15.01.21"]),
        ("2021-01-15T10:30 started", ["2021-01-15"]),
        ("在2021年1月5日开会", ["2021年1月"]),
        ("| 02.02.2021 | Ikea |", ["2021"]),
    ],
)
def test_the_days_of_the_month_are_marked(text, marked):
    spans = highlight_question(text, "in January 2021")
    assert [text[start:end] for start, end in spans] == marked


def test_another_day_of_the_month_is_not_the_one_asked_for(library):
    answer = find(library, "20.01.2021", mode="keyword")
    assert answer.missing_terms == ("20.01.2021",)


def test_a_document_that_has_the_day_lacks_none_of_its_words(library):
    answer = find(library, "12 May 2024", mode="keyword")
    assert answer.missing_terms == ()
    assert answer.results[0].missing_terms == ()
    assert not answer.results[0].weak


def test_a_day_in_words_fits_as_well_as_before(library):
    best = find(library, "lamps 9 June 2022", mode="keyword").results[0]
    assert best.document.path == "letter.txt"
    assert best.fit == pytest.approx(1.0)


def test_the_quick_answer_is_the_row_of_the_day(tmp_path):
    """Rows of other days are alike, but for the day."""
    settings = load_settings(library=tmp_path / "library", reading={"processes": 1})
    with Library.open(settings, create=True) as library:
        add(library, write_files(tmp_path / "files", FILES))
        answer = find(library, "payment on 12 May 2024")
        assert [source.text for source in library.answers.quick(answer)] == [
            "| 2024-05-12 | Amazon | -12.20 |"
        ]


def test_the_whole_day_is_marked_in_a_sentence_that_writes_it_otherwise():
    row = "| 2024-05-12 | Shell | -12.20 |"
    assert highlight_question(row, "payment on 12 May 2024") == ((2, 12),)
