"""What is written behind a heading for programs is no part of it."""

from __future__ import annotations

import pytest

from pages.parts import rendering
from ragkit.chunking import structure
from ragkit.headings import without_attributes
from ragkit.reading.markdown import read_markdown

HEADINGS = [
    ("Docker {#docker}", "Docker"),
    ("Docker{#docker}", "Docker"),
    ("Docker {#docker .unnumbered key=val title=\"a b\"}", "Docker"),
    ("Docker {.unnumbered}", "Docker"),
    ("Docker {-}", "Docker"),
    ("Docker {data-toc=no}", "Docker"),
    ("Docker {: #docker .no_toc }", "Docker"),
    ("Docker {:.no_toc}", "Docker"),
    ("Docker {/* #docker */}", "Docker"),
    ("Docker ## {#docker}", "Docker"),
    ("The {variable}", "The {variable}"),
    ("Users {id} {#users}", "Users {id}"),
    ("GET /users/{id}", "GET /users/{id}"),
    ("GET /users/{:id}", "GET /users/{:id}"),
    ("Sets {1, 2}", "Sets {1, 2}"),
    ("Greet {{.Name}}", "Greet {{.Name}}"),
    ("Blocks `{#if}`", "Blocks {#if}"),
    ("f(x) = {x = 1}", "f(x) = {x = 1}"),
    ("{#each}", "{#each}"),
    ("An {#id} inside", "An {#id} inside"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "title"), HEADINGS)
def test_a_heading_is_shown_without_its_attributes(written, title):
    text = f"# {written}\n\nText.\n"
    assert read_markdown(text, "a.md").title == title
    assert [one.title for one in structure._parse_markdown(text, 0).headings] == [title]
    assert [one.title for one in structure.scan_lines(text, markdown=True).headings] == [title]


@pytest.mark.parametrize("line", ["Docker {#docker}\n======", "# Docker {#docker} #"])
def test_a_label_before_a_heading_is_none_of_it(line):
    text = f"(docker-label)=\n{line}\n\nText.\n"
    assert read_markdown(text, "a.md").title == "Docker"
    assert [one.title for one in structure._parse_markdown(text, 0).headings] == ["Docker"]


def test_a_heading_is_drawn_without_its_attributes():
    text = "## Docker *now* {#docker .big}\n\n## The {variable}\n\nA text {#kept}\n"
    html = rendering.blocks(text, (0, len(text)), ((3, 9),), rendering.Kind("markdown"))
    assert "{#docker" not in html
    assert "<em>now</em>" in html
    assert "{variable}" in html
    assert "{#kept}" in html


def test_very_long_headings_take_no_time():
    for heading in ("{" * 100_000 + "}", "a {" + "#a " * 30_000 + "}", "a {" + "a=" * 50_000 + "}"):
        assert without_attributes(heading)


@pytest.mark.parametrize(
    ("name", "title"),
    [("book/ch08.ja.md", "ch08.ja"), ("ch08.md", "ch08"), ("a.b/notes.md", "notes")],
)
def test_without_a_heading_the_title_is_the_name(name, title):
    assert read_markdown("Only text.\n", name).title == title
