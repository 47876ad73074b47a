"""reStructuredText as HTML: directives, fields, tables and links."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_rendering import draw, spans_of

from pages.parts import rendering
from pages.parts.rendering import Kind

RST = Kind("rst")


def html_of(text: str, start: int = 0) -> str:
    return rendering.blocks(text, (start, len(text)), (), RST)


def lines_of(text: str, **more: object) -> list[str]:
    """Return what is read of a text, a line each."""
    return [line.strip() for line in draw(text, kind=RST, **more).text.split("\n") if line.strip()]


def test_two_colons_by_themselves_are_not_read():
    text = "One.\n\n::\n\n    code\n\nTwo ::\n\n    more\n\nThree::\n\n    last\n"
    html = html_of(text)
    assert [re.sub(r"<[^>]+>", "", each) for each in re.findall(r"<p\b.*?</p>", html)] == [
        "One.", "Two ", "Three:",
    ]  # fmt: skip
    assert re.search(r"<pre[^>]*><span[^>]*>code\n", html)


def test_restructuredtext_reads_as_prose():
    text = "Title\n=====\n\nUse ``code`` and *stress*::\n\n    literal *here*\n\n"
    text += "- one `link <https://a.b>`_\n- two\n"
    html = html_of(text)
    assert '<h2 class="rk-h1" dir="auto">Title</h2>' in html
    assert "Use <code>code</code> and <em>stress</em>:</p>" in html
    assert ">literal *here*" in html
    assert '<li dir="auto">one <a rel="noopener noreferrer"' in html
    assert 'href="https://a.b"' in html


def test_a_line_may_begin_with_a_role():
    text = "Use the\n:command:`policy` here, see :ref:`all of it <x>`.\n\n"
    text += ".. include:: X.txt\n\n:author: me\n"
    line = text.index(":command:")
    html = html_of(text, line)
    assert '<p dir="auto"><code>policy</code> here, see all of it.</p>' in html
    assert '<dt dir="auto">author</dt> <dd dir="auto">me</dd>' in html
    assert "include" not in rendering.snippet(text, (0, len(text)), (), Kind("rst"))


def test_objects_are_told_by_their_kind_and_name():
    text = (
        ".. class:: Fare(price, *, zone)\n   :noindex:\n\n   What a *trip* costs.\n\n"
        "   .. method:: sell(to)\n               sell(to, at)\n\n      Sells it.\n\n"
        ".. currentmodule:: fares\n\n.. setting:: FARE_ZONES\n"
    )
    assert lines_of(text) == [
        "class Fare(price, *, zone)", "What a trip costs.", "sell(to)sell(to, at)", "Sells it.",
        "setting FARE_ZONES",
    ]  # fmt: skip
    html = html_of(text)
    assert "<code>Fare(price, *, zone)</code>" in html
    assert '<div class="rk-indent"><p dir="auto">What a <em>trip</em> costs.</p>' in html


def test_code_is_only_what_is_announced_as_code():
    text = (
        "Steps:\n\n  These are indented.\n\n.. console::\n\n    $ sail\n\n"
        ".. code-block:: python\n\n    x = 1\n\n>>> 1 + 1\n2\n"
    )
    html = html_of(text)
    assert '<p dir="auto">These are indented.</p>' in html
    assert html.count("<pre") == 3
    assert [line.strip() for line in lines_of(text)][1:] == [
        "These are indented.", "$ sail", "python", "x = 1", ">>> 1 + 1", "2",
    ]  # fmt: skip


def test_terms_and_fields_stand_above_what_is_said_of_them():
    html = html_of(
        "berth\n   Where a *boat*\n   lies.\n\n:param depth: How\n  deep.\n:returns: ``m``"
    )
    terms = re.findall(r"<dt[^>]*>(.*?)</dt> <dd[^>]*>(.*?)</dd>", html, re.S)
    plain = [[re.sub(r"<.*?>|\s+", " ", part).split() for part in term] for term in terms]
    assert plain == [
        [["berth"], ["Where", "a", "boat", "lies."]],
        [["param", "depth"], ["How", "deep."]],
        [["returns"], ["m"]],
    ]


SIMPLE = (
    "===========  ==============\nArgument     Description\n===========  ==============\n"
    "``one``      The first, of\n             two *lines*.\n\ntwo          The :ref:`second`.\n"
    "===========  ==============\n"
)
GRID = (
    "+-------+--------+\n| Plan  | Fee    |\n+=======+========+\n| Basic | 3 **€**|\n"
    "| one   |        |\n+-------+--------+\n| Plus  | 12 €   |\n+-------+--------+\n"
)


@pytest.mark.parametrize("indent", ["", "    "])
def test_tables_are_tables(indent):
    drawn = draw("".join(f"{indent}{line}" for line in SIMPLE.splitlines(True)), kind=RST)
    assert [drawn.tags.count(tag) for tag in ("th", "tr", "td")] == [2, 3, 4]
    assert re.sub(r"\s+", " ", drawn.text).strip() == (
        "Argument Description one The first, of two lines. two The second."
    )
    grid = draw("".join(f"{indent}{line}" for line in GRID.splitlines(True)), kind=RST)
    assert [grid.tags.count(tag) for tag in ("th", "tr", "td", "strong")] == [2, 3, 4, 1]
    assert "Basic one 3 €" in re.sub(r"\s+", " ", grid.text)


def test_a_table_that_is_none_or_does_not_end_loses_no_text():
    for text in (
        "===  ===\na    b\n\nProse after it.\n",
        GRID.replace("| Plus  | 12 €   |", "| Plus over all  |"),
    ):
        assert draw(text, kind=RST).text.split() == text.split()


def test_a_snippet_of_a_table_is_its_row_with_the_names_of_its_columns():
    html = rendering.snippet(SIMPLE, (0, len(SIMPLE)), spans_of(SIMPLE, "second"), RST)
    assert re.sub(r"<.*?>", "", html) == "Argument: two · Description: The second."


def test_references_lead_where_they_are_defined():
    text = (
        "See `the guide`_, Tides_, snake_case_ and `no`_.\n\n.. _the guide: https://a.example/g\n"
        ".. _Tides: https://b.example\n.. _evil: javascript:alert(1)\n\nAlso evil_.\n"
    )
    html = html_of(text)
    assert re.findall(r'href="([^"]*)"', html) == ["https://a.example/g", "https://b.example"]
    assert lines_of(text) == ["See the guide, Tides, snake_case_ and no.", "Also evil."]


def test_pictures_are_shown_with_their_captions():
    text = ".. figure:: tide.png\n   :alt: A curve\n\n   The *tide*.\n"
    picture = {"tide.png": "data:image/png;base64,AAAA"}.get
    assert draw(text, kind=RST, picture=picture).tags.count("img") == 1
    assert lines_of(text, picture=picture) == ["The tide."]
    assert "Picture not shown" in html_of(text)


PARTS = (
    ".. class:: ", ".. note::", ".. image:: x\n", ":param a: ", "word ", "\n", "\n\n", "   ", "- ",
    "=====  =====\n", "+---+---+\n", "| ", "`a`_", "word_", " :x:`y`", "``", "*", ".. _a: b\n",
    ">>> ", "::", "Title\n=====\n",
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PARTS), max_size=24))
def test_whatever_the_markup_every_word_is_there_once(parts):
    text = "".join(parts)
    assert draw(text, kind=RST).text.count("word") == text.count("word")
