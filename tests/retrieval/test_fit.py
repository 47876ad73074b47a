"""What is said of results that are no answer: weak ones, missing words, how many there are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_library import add, open_library, paths, write_files

from ragkit.indexes.tokenizer import index_tokens
from ragkit.retrieval.fit import Words

SAMPLE_DATA = Path(__file__).resolve().parents[2] / "sample_data"

_JUNK = (
    "asdf qwer zxcv", "?", "the", "x" * 3000, "CHF", "invoice number 2291", "🙂",
    "order 99812 status",
)  # fmt: skip


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_nothing_is_close_to_what_the_library_does_not_hold(sample, mode):
    said = [sample.search(text, mode=mode).nothing_close for text in _JUNK]
    assert said == [True] * len(_JUNK)


def test_questions_of_the_library_are_close(sample):
    lines = (SAMPLE_DATA / "questions.jsonl").read_text("utf-8").splitlines()
    questions = [json.loads(line)["text"] for line in lines]
    lost = [text for text in questions if sample.search(text).nothing_close]
    assert len(lost) <= 3, lost


def test_words_that_are_missing_are_named(sample):
    answer = sample.search("refund of invoice 2291")
    assert answer.missing_terms == ("2291",)
    assert all("2291" in result.missing_terms for result in answer.results)
    of_policy = next(one for one in answer.results if "refund-policy" in one.document.path)
    assert "refund" not in of_policy.missing_terms
    assert sample.search("the refund").missing_terms == ()


@pytest.mark.parametrize(
    ("question", "missing"),
    [
        ("how many zebras fit in a refund", ("zebras",)),
        ("how much is a refund", ()),
        ("many zebras", ("many", "zebras")),
        ("qué refund", ()),
        ("ile dni trwa refund", ("dni", "trwa")),
        ("refund ile", ("ile",)),
    ],
)
def test_words_that_only_ask_are_not_missing(sample, question, missing):
    assert sample.search(question, correct_spelling=False).missing_terms == missing


def test_fit_is_absolute_where_a_score_is_relative(sample):
    answer = sample.search("invoice number 2291", mode="keyword")
    assert answer.results[0].score == 1.0
    assert answer.results[0].fit < 0.34
    assert answer.results[0].weak
    assert sample.search("refund", mode="keyword").results[0].fit == 1.0


def test_documents_are_counted_beyond_the_page(sample):
    answer = sample.search("refund", mode="keyword", limit=1)
    everything = sample.search("refund", mode="keyword", limit=200)
    assert answer.total_documents == len(set(paths(everything))) > 1
    assert sample.search("type:md refund", mode="vector").total_documents < 40


@pytest.mark.parametrize("sort", ["newest", "oldest"])
def test_what_is_good_is_ordered_by_date(sample, sort):
    dates = [
        result.document.date[:10]
        for result in sample.search("drift correction", sort=sort).results
        if result.document.date
    ]
    assert len(dates) >= 3
    assert dates == sorted(dates, reverse=sort == "newest")


def test_words_are_named_as_they_are_written():
    question = "Übernimmt der drift_offset_ugl, the 12?"
    words = Words.of(question, index_tokens(question))
    assert list(words.by_word) == ["Übernimmt", "der", "drift_offset_ugl", "12"]
    assert words.without({"12", "ugl"}) == ("Übernimmt", "der")


@pytest.mark.parametrize(
    ("question", "held", "missing"),
    [
        ("invoice 2023-0819", {"invoic", "2023"}, ("2023-0819",)),
        ("invoice 2023-0819", {"invoic", "0819"}, ()),
        ("error 3B001", {"error", "001", "b"}, ("3B001",)),
        ("version 3.39.5-3", {"version", "3", "39", "5"}, ("3.39.5-3",)),
        ("paid on 2024-03-05", {"paid", "2024"}, ()),
        ("paid on 05.03.2024", {"paid", "2024"}, ()),
        ("open src/log2023.py", {"open", "log2023"}, ()),
        ("step 5-B", {"step", "5"}, ()),
    ],
)
def test_a_part_of_a_figure_is_not_the_figure(question, held, missing):
    assert Words.of(question, index_tokens(question)).without(held) == missing


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("How long may a customer return a buoy?", ["customer", "return", "buoy"]),
        ("how LONG is the long tail?", ["long", "tail"]),
        ("a long return", ["long", "return"]),
        ("May I return it, and who must or shall pay?", ["return", "pay"]),
        ("what happened in may", ["happened", "may"]),
        ("invoices of 3 May, may 2024 and May", ["invoices", "3", "May", "may", "2024"]),
    ],
)
def test_what_asks_for_a_figure_is_not_missed(question, words):
    found = Words.of(question, index_tokens(question))
    assert found.without(()) == tuple(words)


@pytest.mark.parametrize(
    "options", [{"fusion": "rrf"}, {"question_merge": "sum"}, {"vector_weight": 0.0}]
)
@pytest.mark.parametrize("question", ["refund policy", "drift correction of a buoy", "zebra tool"])
def test_how_a_result_fits_does_not_depend_on_how_scores_are_joined(sample, question, options):
    def fits(**options):
        results = sample.search(question, limit=50, **options).results
        return {(one.document.id, one.best_index): one.fit for one in results}

    usual, other = fits(), fits(**options)
    shared = usual.keys() & other.keys()
    assert len(shared) >= 2
    expected = pytest.approx({key: usual[key] for key in shared}, abs=1e-6)
    assert {key: other[key] for key in shared} == expected


def test_in_other_scripts_words_alone_say_whether_anything_is_close(tmp_path):
    files = {
        "контракт.md": "# Договор\n\nСрок аренды квартиры составляет один год. Залог равен двум "
        "месячным платежам и возвращается после проверки.\n",
        "旅行.md": "# 京都旅行\n\nホテルは四条烏丸から徒歩五分です。予約はキャンセルできません。\n",
    }
    with open_library(tmp_path / "library") as library:
        add(library, write_files(tmp_path / "files", files))
        for question in ("срок аренды квартиры", "когда возвращается залог", "ホテルの予約"):
            assert not library.search(question).nothing_close, question
        for question in ("рецепт борща", "когда умер Пушкин", "カレーの作り方", "富士山の高さ"):
            answer = library.search(question)
            assert answer.nothing_close, question
            assert library.answers.quick(answer) == ()


def test_what_only_asks_for_an_amount_makes_nothing_close(tmp_path):
    files = {
        "suppe.txt": "Die Teller sind mit der Mischung und einem Löffel Essig hoch zu füllen.\n",
        "vertrag.txt": "Die Kaution ist in drei Raten zu zahlen, die erste ist gleich fällig.\n",
    }
    with open_library(tmp_path / "library") as library:
        add(library, write_files(tmp_path / "files", files))
        nowhere = library.search("Wie hoch ist der Zins?")
        assert (nowhere.nothing_close, nowhere.missing_terms) == (True, ("Zins",))
        answer = library.search("Wie hoch ist die Kaution?")
        assert (paths(answer)[0], answer.results[0].missing_terms) == ("vertrag.txt", ())


def test_what_has_the_phrase_that_was_asked_for_is_close(tmp_path):
    files = {
        "hamlet.txt": "To be, or not to be: slings, arrows, a sea of troubles, heartache, sleep, "
        "fortune, devoutly wished dreams, mortal coil, calamity, whips, scorns of time, "
        "oppressors, proud contumely, pangs of despised love, insolence of office, bare bodkin.\n",
        "boats.txt": "Oars of ash wood need linseed oil in spring.\n",
    }
    with open_library(tmp_path / "library") as library:
        add(library, write_files(tmp_path / "files", files))
        quoted = library.search('"to be or not to be"')
        assert (paths(quoted), quoted.nothing_close) == (["hamlet.txt"], False)
        plain = library.search("to be or not to be?")
        assert (paths(plain), plain.nothing_close) == (["hamlet.txt"], False)
        assert plain.corrected == '"to be or not to be"'
        nowhere = library.search("what is it to you")
        assert (nowhere.nothing_close, nowhere.suggestion) == (True, "")
        as_typed = library.search("to be or not to be?", correct_spelling=False)
        assert (as_typed.nothing_close, as_typed.corrected) == (True, "")
