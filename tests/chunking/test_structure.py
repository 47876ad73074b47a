"""No text takes long, and none raises."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ragkit.chunking import divide, structure, word_count
from ragkit.settings import ChunkingSettings
from ragkit.types import BlockKind, Markup, Reading

SECONDS = 15.0
"""For each text: what grows with the square of a length takes far longer."""

HOSTILE = {
    "5,000 headings": "\n\n".join(f"# h{i}\n\ntext" for i in range(5000)),
    "table of 3,000 rows": "|a|b|\n|-|-|\n" + "|1|2|\n" * 3000,
    "table of 25,000 rows": "|a|b|\n|-|-|\n" + "|1|2|\n" * 25_000,
    "one word of 500 kB": "a" * 500_000,
    "one line of 500 kB": "ab cd. " * 71_000,
    "one Japanese line of 500 kB": "日本語" * 55_000,
    "one Thai line of 500 kB": "ก็" * 82_000,
    "a heading of 500 kB": "# " + "a [" * 165_000,
    "quotes 10,000 deep": ">" * 10_000 + " a",
    "lists 1,000 deep": "\n".join("  " * i + "- a" for i in range(1000)),
    "stairs of quotes": "\n".join(">" * i + " a" for i in range(1000)),
    "open brackets": "[" * 50_000 + "](" * 50_000,
    "open fences": "```\n" * 20_000,
    "full stops": '."' * 500_000,
    "blank in the middle": "a" + "\n" * 900_000 + " " * 900_000 + "b",
    "one letter with a million accents": "a" + "\u0301" * 1_000_000,
    "link definitions": "\n".join(f"[a{i}]: /u" for i in range(20_000)),
    "underlined titles": "a\n=\n" * 10_000,
    "rules": "---\n" * 30_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_divided_in_time(name):
    text = HOSTILE[name]
    divide(Reading("warm", "", "md", Markup.MARKDOWN), ChunkingSettings())
    for markup in Markup:
        started = time.process_time()
        divided = divide(Reading(text, "", "md", markup), ChunkingSettings())
        assert time.process_time() - started < SECONDS
        covered = 0
        for chunk in divided.chunks:
            assert not text[covered : chunk.start].strip()
            assert chunk.end - chunk.start <= 320 * 12
            covered = chunk.end
        assert not text[covered:].strip()
        assert max(word_count(text[c.start : c.end]) for c in divided.chunks) <= 320


def test_a_parser_that_gives_up_is_replaced_by_lines(monkeypatch):
    class Parser:
        @property
        def block(self):
            raise RecursionError

    monkeypatch.setattr(structure, "markdown_parser", Parser)
    text = "# One\n\ntext\n\n```\n# no\n```\n\n## Two ##\n\n- a\n- b\n"
    divided = divide(Reading(text, "", "md", Markup.MARKDOWN), ChunkingSettings())
    assert [section.path for section in divided.sections] == [("One",), ("One", "Two")]


SIMPLE = """# One

text
over lines

```python
# no heading

more
```

## Two *words* ##

- a
- b

|a|b|
|-|-|
|1|2|

####### seven

~~~
open
# still
"""


def found_by(find, texts):
    return [[(entry.offset, entry.level, entry.title) for entry in find(text)] for text in texts]


def by_parser(text):
    return structure._parse_markdown(text, 0).headings


def by_lines(text):
    return structure.scan_lines(text, markdown=True).headings


def test_lines_find_what_the_parser_finds_in_simple_text():
    parsed, scanned = (
        structure._parse_markdown(SIMPLE, 0),
        structure.scan_lines(SIMPLE, markdown=True),
    )
    assert parsed == scanned
    assert [entry.title for entry in parsed.headings] == ["One", "Two words"]


def test_rows_between_bars_are_a_table_in_plain_text_too():
    text = "Costs\n\n| Item | 2021 |\n| --- | --- |\n| Rope | 4 |\n\nAfter it"
    kinds = [kind for _, kind in structure.scan_lines(text).starts]
    assert kinds == [BlockKind.PARAGRAPH, BlockKind.TABLE, BlockKind.PARAGRAPH]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# impl<T> [Clone](a.html) for Set<'_, T>", "impl<T> Clone for Set<'_, T>"),
        ("# [one](" + "x" * 500 + ") and <b>two</b>", "one and two"),
        ('# Badges <Badge text="new">', "Badges"),
    ],
)
def test_a_heading_is_its_words_and_the_types_in_them(line, title):
    assert [one.title for one in structure._parse_markdown(line, 0).headings] == [title]


def test_lines_find_the_headings_of_real_documentation():
    folder = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "docs_tree"
    files = sorted(folder.rglob("*.md"))
    if not files:
        pytest.skip("the shared documentation tree is not here")
    texts = [file.read_text(encoding="utf-8") for file in files]
    texts = [text[structure.front_matter_end(text) :] for text in texts]
    expected, found = found_by(by_parser, texts), found_by(by_lines, texts)
    same = sum(one == other for one, other in zip(expected, found, strict=True))
    assert same >= 0.98 * len(texts)


def test_large_markdown_keeps_its_headings(monkeypatch):
    monkeypatch.setattr(structure, "MARKDOWN_CHARACTERS", 10)
    divided = divide(Reading(SIMPLE, "", "md", Markup.MARKDOWN), ChunkingSettings())
    assert [section.path for section in divided.sections] == [("One",), ("One", "Two words")]
