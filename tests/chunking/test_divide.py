"""Small documents, and exactly how they are divided."""

from __future__ import annotations

import pytest

from ragkit.chunking import divide, word_count
from ragkit.settings import ChunkingSettings
from ragkit.types import BlockKind, Markup, OutlineEntry, Page, Reading

SMALL = ChunkingSettings(words=20, overlap=5, min_words=0)
DEFAULT = ChunkingSettings()


def markdown(text, **more):
    return Reading(text, "Title", "md", Markup.MARKDOWN, **more)


def plain(text, **more):
    return Reading(text, "Title", more.pop("format", "txt"), **more)


def texts(reading, spans):
    return [reading.text[span.start : span.end] for span in spans]


def kinds(divided):
    return [block.kind for block in divided.blocks]


def test_headings_in_fences_do_not_count():
    reading = markdown("intro\n\n# One\n\n```sh\n# comment\n```\n\nTwo\n---\nlast\n")
    divided = divide(reading, DEFAULT)
    assert texts(reading, divided.sections) == [
        "intro\n\n",
        "# One\n\n```sh\n# comment\n```\n\n",
        "Two\n---\nlast\n",
    ]
    assert [(s.level, s.path) for s in divided.sections] == [
        (0, ()),
        (1, ("One",)),
        (2, ("One", "Two")),
    ]
    assert kinds(divided) == [
        BlockKind.PARAGRAPH,
        BlockKind.HEADING,
        BlockKind.CODE,
        BlockKind.HEADING,
        BlockKind.PARAGRAPH,
    ]


def test_levels_may_be_skipped_and_titles_lose_their_markup():
    reading = markdown("# A **b** `c`\n\n#### [D](x) {#id}\n\n## E \\* &amp; ##\n\n###\n\nend")
    divided = divide(reading, DEFAULT)
    assert [s.path for s in divided.sections] == [
        ("A b c",),
        ("A b c", "D"),
        ("A b c", "E * &"),
    ]


def test_headings_in_quotes_and_lists_open_no_section():
    divided = divide(markdown("> # quoted\n\n- # listed\n\n# real\n"), DEFAULT)
    assert [s.path for s in divided.sections] == [(), ("real",)]
    assert kinds(divided) == [BlockKind.PARAGRAPH, BlockKind.LIST, BlockKind.HEADING]


def test_a_long_paragraph_over_a_rule_is_no_heading():
    divided = divide(markdown("word " * 100 + "\n---\n\nmore"), DEFAULT)
    assert [s.path for s in divided.sections] == [()]


def test_front_matter_is_one_block_and_no_heading():
    reading = markdown("---\ntitle: x\ntags: y\n---\n\n# One\n\ntext")
    divided = divide(reading, DEFAULT)
    assert kinds(divided) == [BlockKind.FRONT_MATTER, BlockKind.HEADING, BlockKind.PARAGRAPH]
    assert texts(reading, divided.blocks)[0] == "---\ntitle: x\ntags: y\n---\n\n"
    assert [s.path for s in divided.sections] == [(), ("One",)]
    assert [c.heading_path for c in divided.chunks] == [("One",)]


def test_a_rule_at_the_top_is_no_front_matter():
    divided = divide(markdown("---\n\njust text\n\n---\n\nmore"), DEFAULT)
    assert BlockKind.FRONT_MATTER not in kinds(divided)


def test_whole_blocks_come_first_and_the_next_chunk_repeats_a_sentence():
    first = "One two three. Four five six seven eight."
    second = "a b c d e f g h i j."
    third = "k l m n o p q r."
    reading = plain(f"{first}\n\n{second}\n\n{third}")
    divided = divide(reading, SMALL)
    assert texts(reading, divided.blocks) == [f"{first}\n\n", f"{second}\n\n", third]
    assert texts(reading, divided.chunks) == [f"{first}\n\n{second}", f"f g h i j.\n\n{third}"]
    longer = plain(f"{reading.text}\n\ns t u v w x y z.")
    wide = divide(longer, ChunkingSettings(words=20, overlap=10, min_words=0))
    assert texts(longer, wide.chunks)[1] == f"{second}\n\n{third}"


def test_a_section_that_is_a_little_longer_than_a_chunk_stays_whole():
    def sizes(count: int) -> list[int]:
        reading = markdown("# A\n\n" + "w " * (count - 2) + "\n\n# B\n\nw w")
        chunks = divide(reading, SMALL).chunks
        assert chunks[-1].section == 1
        return [word_count(reading.text[one.start : one.end]) for one in chunks[:-1]]

    assert sizes(20) == [20]
    assert sizes(25) == [25]
    assert len(sizes(26)) == 2
    assert max(sizes(26)) <= 20


def test_overlap_starts_at_a_sentence_that_is_near():
    reading = plain("a b c d e f g h i j k l m n o p.\n\nQ r s. T u v.\n\n" + "w " * 14)
    divided = divide(reading, ChunkingSettings(words=22, overlap=5, min_words=0))
    assert texts(reading, divided.chunks)[1].startswith("T u v.\n\nw w")


def test_long_blocks_are_split_at_sentences_then_words_then_characters():
    no_overlap = ChunkingSettings(words=20, overlap=0, min_words=0)
    sentences = plain("Aa bb cc dd ee ff gg. " * 5)
    assert texts(sentences, divide(sentences, no_overlap).chunks) == [
        "Aa bb cc dd ee ff gg. Aa bb cc dd ee ff gg.",
        "Aa bb cc dd ee ff gg. Aa bb cc dd ee ff gg.",
        "Aa bb cc dd ee ff gg.",
    ]
    words = plain("w " * 45)
    assert [word_count(t) for t in texts(words, divide(words, no_overlap).chunks)] == [20, 20, 5]
    letters = plain("x" * 500)
    assert [(c.start, c.end) for c in divide(letters, no_overlap).chunks] == [
        (0, 240),
        (240, 480),
        (480, 500),
    ]


def test_tables_split_at_rows_and_lists_at_items_and_code_at_lines():
    table = markdown("| a | b |\n|---|---|\n" + "| c | d |\n" * 9)
    chunks = texts(table, divide(table, SMALL).chunks)
    assert len(chunks) > 1
    assert all(chunk.startswith("|") and chunk.endswith("|") for chunk in chunks)
    items = markdown("- one two three four\n  five six seven\n" * 6)
    chunks = texts(items, divide(items, ChunkingSettings(words=20, overlap=0, min_words=0)).chunks)
    assert chunks == [("- one two three four\n  five six seven\n" * 2).strip()] * 3
    code = markdown("```\n" + "x = f(a) + g(b)\n" * 10 + "```\n")
    lines = set(texts(code, divide(code, SMALL).chunks)[1].splitlines())
    assert lines == {"x = f(a) + g(b)"}


def test_a_chunk_of_a_wide_table_begins_with_a_row():
    cells = "".join(f" cell{column} |" for column in range(28))
    table = markdown("|" + cells + "\n|" + " --- |" * 28 + f"\n|{cells}" * 20)
    for overlap in (20, 40, 80):
        chosen = ChunkingSettings(words=160, overlap=overlap, min_words=0)
        chunks = divide(table, chosen).chunks
        assert all(f"\n{table.text}"[chunk.start] == "\n" for chunk in chunks)
        assert (chunks[1].start < chunks[0].end) == (overlap == 80)


def test_small_sections_of_one_heading_make_a_chunk_with_their_headings():
    def part(heading, words):
        return f"{heading}\n\n{'word ' * (words - len(heading.split()))}\n\n"

    reading = markdown(
        part("# Guide", 30)
        + part("## A", 100)
        + part("## B", 90)
        + part("### C", 60)
        + part("## D", 250)
        + part("### E", 200)
        + part("### F", 60)
        + part("## G", 90)
    )
    divided = divide(reading, DEFAULT)
    # What stands below B is one with it; D is too large with its parts, and F does not join G.
    assert [
        (c.section, c.heading_path, word_count(text))
        for c, text in zip(divided.chunks, texts(reading, divided.chunks), strict=True)
    ] == [
        (0, ("Guide",), 280),
        (4, ("Guide", "D"), 250),
        (5, ("Guide", "D"), 260),
        (7, ("Guide", "G"), 90),
    ]
    assert "## A" in texts(reading, divided.chunks)[0]


@pytest.mark.parametrize("more", [{"format": "pptx"}, {"markup": Markup.CODE}])
def test_small_slides_and_symbols_are_chunks_of_their_own(more):
    slides = "one two three four five six seven " * 7
    text = f"{slides}\n\n{slides}"
    outline = (OutlineEntry(0, 1, "A"), OutlineEntry(len(slides) + 2, 1, "B"))
    reading = Reading(text, "Title", more.pop("format", "py"), outline=outline, **more)
    assert [c.heading_path for c in divide(reading, DEFAULT).chunks] == [("A",), ("B",)]


def test_a_chunk_of_several_headings_at_the_top_is_under_none():
    body = "word " * 50
    reading = markdown(f"# Guide\n\n{body}\n\n# Other\n\n{body}")
    assert [c.heading_path for c in divide(reading, DEFAULT).chunks] == [()]


def test_tiny_sections_join_even_a_large_one_under_the_same_parent():
    body = "word " * 310
    reading = markdown(
        f"# Guide\n\n## A\n\nyes\n\n## B\n\n{body}\n\n### C\n\nno\n\n# Other\n\n{body}"
    )
    divided = divide(reading, DEFAULT)
    assert [(c.section, c.heading_path) for c in divided.chunks] == [
        (0, ("Guide",)),
        (4, ("Other",)),
    ]
    assert texts(reading, divided.chunks)[0].endswith("### C\n\nno")


def test_several_tiny_sections_share_what_their_paths_have_in_common():
    reading = markdown("# FAQ\n\n## A\n\none\n\n## B\n\ntwo\n")
    assert [c.heading_path for c in divide(reading, DEFAULT).chunks] == [("FAQ",)]


def test_sections_are_kept_apart_when_nothing_counts_as_tiny():
    reading = markdown("# FAQ\n\n## A\n\none\n\n## B\n\ntwo\n")
    divided = divide(reading, SMALL)
    assert texts(reading, divided.chunks) == ["# FAQ", "## A\n\none", "## B\n\ntwo"]


def test_a_heading_is_not_left_at_the_end_of_a_chunk():
    tiny = "# T\n\n" + "i " * 15
    reading = markdown(f"{tiny}\n\n## L\n\n" + "Five words are in here. " * 12)
    divided = divide(reading, ChunkingSettings(words=20, overlap=0, min_words=18))
    assert not [t for t in texts(reading, divided.chunks) if t.endswith("## L")]


def test_pages_of_a_pdf_are_known_but_divide_nothing():
    text = "First page starts a sentence that\nends on the second page. " + "More words. " * 30
    cut = text.index("ends")
    pages = (Page(1, "i", 0, cut), Page(2, "ii", cut, len(text)))
    divided = divide(plain(text, format="pdf", pages=pages), ChunkingSettings(words=40, overlap=0))
    assert len(divided.sections) == 1
    assert [c.pages for c in divided.chunks] == [(1, 2), (2, 2)]


def test_bookmarks_divide_a_pdf():
    text = "Preface\n\nChapter one\n\n1.1 Start\n\ntext\n\nChapter two\n\nend"
    at = text.index
    outline = (
        OutlineEntry(at("Chapter two"), 1, "Chapter two"),
        OutlineEntry(at("Chapter one"), 1, "Chapter  one"),
        OutlineEntry(at("1.1"), 2, "1.1 Start"),
        OutlineEntry(9999, 1, "beyond"),
        OutlineEntry(-1, 1, "before"),
        OutlineEntry(3, 1, "  "),
    )
    divided = divide(plain(text, format="pdf", outline=outline), SMALL)
    assert [s.path for s in divided.sections] == [
        (),
        ("Chapter one",),
        ("Chapter one", "1.1 Start"),
        ("Chapter two",),
    ]
    assert kinds(divided)[1] is BlockKind.HEADING


def test_bookmarks_at_one_offset_share_their_parent():
    outline = (
        OutlineEntry(0, 1, "One"),
        OutlineEntry(0, 2, "1.1"),
        OutlineEntry(0, 2, "1.2"),
        OutlineEntry(8, 2, "1.3"),
        OutlineEntry(8, 3, "1.3.1"),
    )
    divided = divide(plain("content more text", format="pdf", outline=outline), SMALL)
    assert [(s.level, s.path) for s in divided.sections] == [
        (1, ("One",)),
        (3, ("One", "1.3", "1.3.1")),
    ]


def test_underlined_titles_of_restructured_text_are_heading_blocks():
    text = "=====\nGuide\n=====\n\nIntro.\n\nSetup\n-----\nRun it.\n\n- a\n- b\n"
    outline = (OutlineEntry(0, 1, "Guide"), OutlineEntry(text.index("Setup"), 2, "Setup"))
    reading = plain(text, format="rst", outline=outline)
    divided = divide(reading, SMALL)
    assert texts(reading, divided.blocks) == [
        "=====\nGuide\n=====\n\n",
        "Intro.\n\n",
        "Setup\n-----\n",
        "Run it.\n\n",
        "- a\n- b\n",
    ]
    assert [kind.value for kind in kinds(divided)] == [
        "heading",
        "paragraph",
        "heading",
        "paragraph",
        "list",
    ]
    assert [s.path for s in divided.sections] == [("Guide",), ("Guide", "Setup")]


@pytest.mark.parametrize(
    ("format_", "labels", "expected"),
    [
        ("pptx", ("1", "2"), [("Slide 1",), ("Slide 2",)]),
        ("xlsx", ("Budget", "7"), [("Budget",), ("Sheet 7",)]),
        ("pdf", ("1", "2"), [()]),
    ],
)
def test_slides_and_sheets_divide_where_nothing_else_does(format_, labels, expected):
    pages = (Page(1, labels[0], 0, 6), Page(2, labels[1], 6, 12))
    divided = divide(plain("abcde\nfghij\n", format=format_, pages=pages), DEFAULT)
    assert [s.path for s in divided.sections] == expected


def test_an_outline_adds_to_headings_and_repeats_none():
    text = "# Deck\n\n## First\n\ntext\n\nno title here\n"
    outline = (
        OutlineEntry(text.index("## First") - 1, 2, "Slide 1"),
        OutlineEntry(text.index("First"), 2, "First"),
        OutlineEntry(text.index("no title"), 2, "Slide 2"),
    )
    divided = divide(markdown(text, outline=outline), DEFAULT)
    assert [s.path for s in divided.sections] == [("Deck",), ("Deck", "First"), ("Deck", "Slide 2")]


def test_code_is_cut_at_symbols_and_at_blank_lines():
    text = "import os\n\n\ndef one():\n    a = 1\n\n    return a\n\n\ndef two():\n    pass\n"
    outline = (
        OutlineEntry(text.index("def one"), 1, "one"),
        OutlineEntry(text.index("def two"), 1, "two"),
    )
    reading = Reading(text, "x.py", "py", Markup.CODE, outline=outline)
    divided = divide(reading, DEFAULT)
    assert texts(reading, divided.blocks) == [
        "import os\n\n\n",
        "def one():\n    a = 1\n\n    return a\n\n\n",
        "def two():\n    pass\n",
    ]
    assert [s.path for s in divided.sections] == [(), ("one",), ("two",)]


def test_japanese_is_counted_and_split_at_its_sentences():
    sentence = "これは十文字の文です。"
    reading = plain(sentence * 455)
    divided = divide(reading, DEFAULT)
    assert word_count(sentence * 10) == 66
    assert 10 <= len(divided.chunks) <= 16
    for text in texts(reading, divided.chunks):
        assert text.startswith("これは")
        assert text.endswith("。")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        (" \n", 0),
        ("a b\tc", 3),
        ("日本語", 2),
        ("日本語 is fun", 4),
        ("ภาษาไทย", 2),
        ("한국어 단어", 2),
    ],
)
def test_words_are_counted_fairly(text, words):
    assert word_count(text) == words


def test_a_slide_without_a_title_is_still_a_division():
    slides = ["## Hello\n\nA\n\n", "no title\n\n", "## Last\n\nB\n"]
    edges = [0, len(slides[0]), len(slides[0] + slides[1]), len("".join(slides))]
    pages = tuple(Page(i + 1, str(i + 1), edges[i], edges[i + 1]) for i in range(3))
    reading = Reading("".join(slides), "Deck", "pptx", Markup.MARKDOWN, pages=pages)
    divided = divide(reading, DEFAULT)
    assert [(s.level, s.path) for s in divided.sections] == [
        (2, ("Hello",)),
        (2, ("Slide 2",)),
        (2, ("Last",)),
    ]


WORDS = " ".join(f"word{number}" for number in range(60))
ITEMS = "\n".join(f"- item {number} of the list" for number in range(6))
ROWS = "| key | value |\n|---|---|\n" + "\n".join(f"| k{n} | v {n} |" for n in range(5))
CODE = "```sh\n" + "\n".join(f"run --with {n} files" for n in range(6)) + "\n```"


def test_tables_lists_and_code_are_found_inside_of_chunks():
    reading = markdown(
        f"# One\n\n{WORDS}\n\n{ITEMS}\n\n# Two\n\n{WORDS}\n\n{ROWS}\n\n{CODE}\n\nend"
    )
    divided = divide(reading, DEFAULT)
    assert [(b.kind, reading.text[b.start : b.end], b.section) for b in divided.inner] == [
        (BlockKind.LIST, ITEMS, 0),
        (BlockKind.TABLE, ROWS, 1),
        (BlockKind.CODE, CODE, 1),
    ]
    for block in divided.inner:
        chunk = divided.chunks[block.chunk]
        assert chunk.start <= block.start < block.end <= chunk.end


@pytest.mark.parametrize(
    "text",
    [
        f"{WORDS}\n\n- a few\n- words\n",  # too few words
        f"Rows:\n\n{ROWS}\n",  # nearly all of its chunk
        f"{WORDS}\n\n{WORDS}\n",  # paragraphs are what chunks are made of
        f"{WORDS}\n\n" + "\n".join(f"- item {n} of a very long list" for n in range(200)),
    ],
)
def test_a_block_that_says_nothing_by_itself_is_none(text):
    assert divide(markdown(text), DEFAULT).inner == ()


def test_source_code_has_no_blocks_in_chunks():
    text = f"def first():\n    return 1\n\n\n{ITEMS}\n\n\ndef last():\n    return '{WORDS}'\n"
    assert divide(Reading(text, "a.py", "code", Markup.CODE), DEFAULT).inner == ()


def test_contents_are_divided_between_their_lines():
    entries = [f"{at} A chapter on the harbour … {at * 3}" for at in range(1, 200)]
    reading = plain("\n".join(entries))
    chunks = texts(reading, divide(reading, DEFAULT).chunks)
    assert len(chunks) > 3
    assert {line for chunk in chunks for line in chunk.split("\n")} == set(entries)
