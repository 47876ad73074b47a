"""The order of results on the Search page: shown as it is, and chosen by hand."""

from __future__ import annotations

import re

import pytest
from running import html, run
from small_library import add, write_files

from pages.parts.search import summary
from ragkit.library import Library
from ragkit.options import SearchOptions, Sort
from ragkit.results import Answer
from ragkit.settings import load_settings
from ragkit.traces import Trace

MAIL = "From: Ann <ann@example.org>\nSubject: Mill\nDate: {}\n\nThe mill turns, said {}.\n"
FILES = {
    "early.eml": MAIL.format("Tue, 2 Mar 2010 10:00:00 +0000", "the miller: the mill, the mill"),
    "late.eml": MAIL.format("Tue, 4 May 2021 10:00:00 +0000", "the owner"),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sorting")
    opened = Library.open(load_settings(library=folder / "library"), create=True)
    add(opened, write_files(folder / "files", FILES))
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def opened_by_the_app(library, monkeypatch):
    monkeypatch.setenv("RAGKIT_LIBRARY", str(library.paths.root))


def orders(page: str) -> dict[str, tuple[str, str]]:
    """By the label of each order what a click on it chooses, and whether it is pressed."""
    group = page.partition('class="rk-sort"')[2].partition("</span>")[0]
    found = re.findall(r'data-value="(\w+)" aria-pressed="(\w+)">([^<]+)<', group)
    return {label: (value, pressed) for value, pressed, label in found}


def shown(page: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r'data-path="(\w+)\.eml"', page)))


@pytest.mark.parametrize(
    ("query", "order", "expected"),
    [
        ({"q": "mill"}, "Relevance", ["early", "late"]),
        ({"q": "latest mails about the mill"}, "Newest first", ["late", "early"]),
        ({"q": "oldest mails about the mill"}, "Oldest first", ["early", "late"]),
        ({"q": "mill, newest first"}, "Newest first", ["late", "early"]),
        ({"q": "latest mails about the mill", "sort": "relevance"}, "Relevance", ["early", "late"]),
        ({"q": "oldest mails about the mill", "sort": "newest"}, "Newest first", ["late", "early"]),
        ({"q": "mill", "sort": "date"}, "Newest first", ["late", "early"]),
        ({"q": "type:mail"}, "Newest first", ["late", "early"]),
        ({"q": "type:mail", "sort": "oldest"}, "Oldest first", ["early", "late"]),
    ],
)
def test_the_order_in_force_is_the_pressed_one(library, query, order, expected):
    page = html(run(library, **query))
    assert [label for label, (_, pressed) in orders(page).items() if pressed == "true"] == [order]
    assert shown(page) == expected


@pytest.mark.parametrize(
    ("asked", "listed", "chosen", "expected"),
    [
        (None, False, "auto", {"Relevance": "auto", "Newest first": "newest",
                               "Oldest first": "oldest"}),
        (Sort.NEWEST, False, "auto", {"Relevance": "relevance", "Newest first": "auto",
                                      "Oldest first": "oldest"}),
        (Sort.NEWEST, False, "relevance", {"Relevance": "relevance", "Newest first": "auto",
                                           "Oldest first": "oldest"}),
        (None, False, "newest", {"Relevance": "auto", "Newest first": "newest",
                                 "Oldest first": "oldest"}),
        (None, True, "auto", {"Newest first": "auto", "Oldest first": "oldest"}),
    ],
)  # fmt: skip
def test_a_click_on_the_order_of_the_words_leaves_it_to_them_again(
    library, asked, listed, chosen, expected
):
    results = library.search("mill").results
    answer = Answer("mill", results, Trace(), listed=listed, asked_sort=asked)
    buttons = orders(summary.head(answer, SearchOptions(sort=Sort(chosen))))
    assert {label: value for label, (value, _) in buttons.items()} == expected


def test_the_address_has_an_order_that_was_chosen_alone(library):
    app = run(library, q="latest mails about the mill")
    assert "sort" not in app.query_params
    app = run(library, q="latest mails about the mill", sort="relevance")
    assert app.query_params["sort"] == "relevance"
