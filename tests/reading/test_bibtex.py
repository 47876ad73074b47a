"""Bibliographies as references that people read, with the words of every field."""

from __future__ import annotations

import time

import pytest

from ragkit.reading.bibtex import read_bibtex
from ragkit.reading.formats import Format

REFERENCES = r"""% Our references
@string{jb = "Journal of " # {Bridges}}
@Article{berg99,
  author = {Anna Berg and J{\"o}rg M\"uller and others},
  title = "The {B}ig Crane: a {"}study{"}",
  journal = jb, year = 1999, month = mar, pages = {3--17},
  doi = {10.1000/a_b%20}, abstract = {Cranes lift 5\,\% more.
      They fall rarely.},
}
@comment{Ask Tom for the next one.}
@book(tom24, editor = {Tom Lee}, title = {Lifting}, subtitle = {A History},
  publisher = {Quay \& Co.},
  date = {2024-05}, url = {https://x.example/~tom})
@preamble{"\newcommand{\x}{y}"}
@misc{empty}
"""


def test_entries_are_sections_that_read_like_references():
    reading = read_bibtex(REFERENCES, "refs.bib")
    assert reading.text == (
        "Our references\n\n"
        '## The Big Crane: a "study"\n\n'
        "Anna Berg; Jörg Müller et al. · Journal of Bridges · 1999\n\n"
        "Cranes lift 5 % more. They fall rarely.\n\n"
        "- article: berg99\n- month: March\n- pages: 3–17\n- doi: 10.1000/a_b%20\n\n"
        "Ask Tom for the next one.\n\n"
        "## Lifting: A History\n\n"
        "Tom Lee · Quay & Co. · 2024-05\n\n"
        "- book: tom24\n- url: https://x.example/~tom\n\n"
        "## empty\n\n"
        "- misc: empty"
    )
    assert (reading.title, reading.format) == ("refs", Format.BIBTEX)


def test_an_entry_that_does_not_end_does_not_take_the_next_one():
    text = read_bibtex("@book{a, title = {Open\n\n@book{b, title = {Whole}}", "a.bib").text
    assert "Open" in text
    assert "## Whole" in text


def test_a_file_without_entries_is_code():
    reading = read_bibtex("% nothing yet, see @here", "a.bib")
    assert (reading.format, reading.text) == (Format.CODE, "% nothing yet, see @here")


@pytest.mark.parametrize(
    "source",
    [
        "@a{",
        "@a{b,c={",
        '@a{b,c="',
        "@a{b,c=d#",
        "@string{",
        "@comment{",
        "{",
        "x=",
        "@a(b,",
        '@a{b,c="{',
    ],
)
def test_hostile_files_take_no_more_time_than_their_length_asks(source):
    start = time.process_time()
    text = read_bibtex("@misc{first, title = {Kept}}\n" + source * 60_000, "a.bib").text
    assert "## Kept" in text
    assert time.process_time() - start < 10
