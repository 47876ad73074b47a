"""Notes of Obsidian, Logseq and Roam, and callouts of GitHub, as HTML."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_rendering import draw, spans_of, words

from pages.parts import rendering
from pages.parts.rendering import Kind
from pages.parts.rendering.canvas import Anchor
from ragkit.library.document_links import DocumentLinks
from ragkit.types import Section


def html_of(text: str) -> str:
    return rendering.blocks(text, (0, len(text)), (), Kind("markdown"))


@pytest.mark.parametrize(
    ("written", "shown", "title"),
    [
        ("See [[Packing]].", "See Packing.", "Packing"),
        ("See [[People/Ana Torres|Ana]].", "See Ana.", "People/Ana Torres|Ana"),
        ("See [[Packing#Clothes]].", "See Packing › Clothes.", "Packing#Clothes"),
        ("See [[#Clothes]].", "See Clothes.", "#Clothes"),
        ("See [[Packing#^ab12cd]].", "See Packing.", "Packing#^ab12cd"),
        ("![[map.png]]", "map.png", "map.png"),
        ("![[map.png|300]]", "map.png", "map.png|300"),
        ("a **[[Packing]]** b", "a Packing b", "Packing"),
    ],
)
def test_links_to_notes_are_their_names(written, shown, title):
    drawn = draw(written)
    assert drawn.text.strip() == shown
    assert ("title", title) in drawn.values


@pytest.mark.parametrize(
    "text",
    [
        "x[[1]] is the first", "[[ -f notes ]] is true", "[[]]", "[[a]", "[[a\nb]]",
        "`[[Packing]]`", "a == b and c == d", "x==1 or y==2", "====", "=====text=====",
        "10 ^2", "to the power ^abcdefg",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_stays(text):
    assert draw(text).text.split() == text.replace("`", "").split()


def test_the_number_of_a_source_in_brackets_is_a_link_as_before():
    drawn = draw("as shown [[1]](https://example.org/1)")
    assert drawn.text.strip() == "as shown [1]"
    assert ("href", "https://example.org/1") in drawn.values


def test_highlights_are_bold_with_what_is_in_them():
    assert "<b>Bring <em>cash</em> and [1]</b>" in html_of("- ==Bring *cash* and [1]== now")


def test_a_picture_that_a_note_shows_is_drawn_with_its_name():
    source = "data:image/png;base64,iVBORw0KGgo="
    pictures = {"map%20of%20it.png": source, "/top.png": source}
    drawn = draw("![[map of it.png|300]] ![[top.png]] ![[none.png]]", picture=pictures.get)
    assert [value for key, value in drawn.values if key == "src"] == [source, source]
    assert drawn.text.split() == ["map", "of", "it.png", "top.png", "none.png"]
    assert "img" not in draw("[[map of it.png]]", picture=pictures.get).tags


def test_the_name_of_a_block_is_left_out():
    assert draw("Book the ferry ^ab12cd").text.strip() == "Book the ferry"
    assert draw("- [ ] book ^ab12cd\n- pay").text.split() == ["☐", "book", "pay"]


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("> [!warning]+ Ferry *first*\n> It leaves at 06:15.", "Ferry <em>first</em>"),
        ("> [!NOTE]\n> It leaves at 06:15.", "Note"),
        ("> [!tip|wide]-\n> It leaves at 06:15.", "Tip"),
    ],
)
def test_callouts_begin_with_their_titles(written, title):
    html = html_of(written)
    assert f"<strong>{title}</strong><br>" in html
    assert "!" not in draw(written).text
    assert draw(written).text.strip().endswith("It leaves at 06:15.")
    assert "<blockquote" in html


def test_a_callout_may_be_only_its_title_and_other_quotations_are_as_before():
    assert "<strong>Ferry</strong></p>" in html_of("> [!info] Ferry")
    assert draw("> [1] is a source\n> text").text.split("\n")[0] == "[1] is a source"


def test_what_is_found_in_a_part_that_is_not_drawn_is_shown():
    text = "See [[People/Ana Torres|her]] there."
    assert draw(text, spans_of(text, "Torres")).marked == "Torres"
    text = "> [!warning] Ferry\n> at six"
    assert draw(text, spans_of(text, "warning")).marked == "warning"
    assert draw(text, spans_of(text, "Ferry")).marked == "Ferry"


def test_links_to_documents_of_the_library_lead_to_them():
    text = (
        "See [[Packing#Clothes]], [the list](Packing.md), [web](https://example.org), [no](x.md)."
    )
    sections = {7: [Section(0, 12, 30, 1, ("Clothes",))]}
    links = DocumentLinks(5, "Trip.md", lambda: [(7, "Packing.md")], lambda n: sections.get(n, []))
    drawn = draw(text, links=links)
    assert drawn.text.strip() == "See Packing › Clothes, the list, web, no."
    hrefs = [value for key, value in drawn.values if key == "href"]
    assert hrefs == ["document?id=7&at=12", "document?id=7", "https://example.org"]
    assert drawn.values.count(("data-id", "7")) == 2


def test_links_within_a_document_go_to_the_section_that_is_drawn_or_to_its_place():
    text = "[down](#Clothes) [[#Later]] [none](#none)\n\n# Clothes\n\nsocks"
    at = text.index("# Clothes")
    sections = [Section(0, at, at + 20, 1, ("Clothes",)), Section(1, 900, 950, 1, ("Later",))]
    links = DocumentLinks(5, "Trip.md", list, lambda _: sections)
    drawn = draw(text, links=links, anchors={at: Anchor("rk-section-0")})
    hrefs = [value for key, value in drawn.values if key == "href"]
    assert hrefs == [f"document?id=5&at={at}", "document?id=5&at=900"]
    assert [value for key, value in drawn.values if key == "data-rk"] == ["anchor", "open"]
    assert [value for key, value in drawn.values if key == "data-place"] == ["rk-section-0"]


PIECES = st.sampled_from(
    ["word", "two", " ", "\n", "\n\n", "# ", "- ", "> ", "**", "*", "`", "```\n", "[", "]", "[[",
     "]]", "![[", "[[word]]", "[[word#two]]", "#", "==", "==word==", "> [!note] ", "> [!word]\n",
     "[!tip]- ", " ^ab12cd", "^", "\\", "&amp;", "[^1]", "$", "- [ ] ", "漢字"]
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=30), st.data())
def test_any_note_keeps_its_words_and_marks(pieces, data):
    text = "".join(pieces)
    found = [match.span() for match in re.finditer(r"word|two|漢字", text)]
    marks = [span for span in found if data.draw(st.booleans())]
    drawn = draw(text, marks)
    # The kind of a callout is drawn capitalised.
    assert "".join(words(drawn.marked)).lower() == "".join(text[a:b] for a, b in marks)
    shown = "".join(words(drawn.text)).lower()
    assert sum(shown.count(word) for word in ("word", "two", "漢字")) >= len(found)
