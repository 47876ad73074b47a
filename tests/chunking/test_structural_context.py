"""What is said of where a chunk stands."""

from __future__ import annotations

import pytest

from ragkit.chunking import contextualised, structural_context
from ragkit.types import Chunk, Page

PAGES = (
    Page(1, "iv", 0, 10),
    Page(2, "14", 10, 20),
    Page(3, "15", 20, 30),
    Page(4, "Budget", 30, 40),
    Page(5, "", 40, 50),
)


def chunk(path=(), pages=None):
    return Chunk(0, 0, 1, 0, tuple(path), pages)


@pytest.mark.parametrize(
    ("title", "path", "pages", "expected"),
    [
        ("Guide", ("Auth", "OAuth"), (2, 3), "Guide › Auth › OAuth · p. 14–15"),
        ("Guide", ("guide", "Auth"), (2, 2), "Guide › Auth · p. 14"),
        ("Guide", (), (1, 2), "Guide · p. iv–14"),
        ("Money", ("Budget",), (4, 4), "Money › Budget"),
        ("Money", ("Total",), (4, 4), "Money › Total · Budget"),
        ("Guide", ("A", "A", "B"), None, "Guide › A › B"),
        ("Guide", (), (5, 5), "Guide · p. 5"),
        ("Guide", (), (9, 9), "Guide · p. 9"),
        ("", (), (2, 2), "p. 14"),
        ("", (), None, ""),
        (" two\n lines ", ("x",), None, "two lines › x"),
    ],
)
def test_context_names_title_headings_and_page(title, path, pages, expected):
    assert structural_context(title, chunk(path, pages), PAGES) == expected


def test_long_headings_are_shortened_and_those_in_the_middle_left_out():
    path = [letter * 90 for letter in "bcdef"]
    context = structural_context("a" * 500, chunk(path, (2, 3)), PAGES)
    assert len(context) <= 300
    assert context.startswith("a" * 99 + "… › … › ")
    assert context.endswith("f" * 90 + " · p. 14–15")


def test_what_is_embedded_is_context_and_text():
    assert contextualised("Guide › Auth", "text") == "Guide › Auth\n\ntext"
    assert contextualised("", "text") == "text"


def test_nothing_makes_a_context_long():
    pages = (Page(1, "l" * 400, 0, 1), Page(2, "m" * 400, 1, 2))
    context = structural_context("t " * 400, chunk(["h" * 400] * 9 + ["i" * 400], (1, 2)), pages)
    assert len(context) <= 300
