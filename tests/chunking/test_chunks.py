"""What holds of every division of every text."""

from __future__ import annotations

from itertools import groupby, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.chunking import divide, structural_context, word_count
from ragkit.settings import ChunkingSettings
from ragkit.types import Chunk, Divided, Markup, OutlineEntry, Page, Reading

WORDS = st.sampled_from(
    (
        *("a", "be", "see", "this", "word", "identifier_name", "v2.0.1", "naïve", "e.g.", "Dr."),
        *("end.", "stop!", "why?", "(so)", "日本語", "の文章です。", "ภาษาไทย", "한국어", "🙂"),
        *("e\u0301", "http://example.org/a/b?c=d", "`code`", "**bold**", "Straße"),
    )
)
SENTENCE = st.lists(WORDS, min_size=1, max_size=25).map(" ".join)
LINES = st.one_of(
    SENTENCE,
    SENTENCE.map(lambda words: f"# {words}"),
    SENTENCE.map(lambda words: f"### {words} ##"),
    SENTENCE.map(lambda words: f"- {words}"),
    SENTENCE.map(lambda words: f"   12. {words}"),
    SENTENCE.map(lambda words: f"> {words}"),
    SENTENCE.map(lambda words: f"    {words}"),
    SENTENCE.map(lambda words: f"| {words} | x |"),
    st.sampled_from(
        [
            "",
            "",
            "",
            "   ",
            "```",
            "~~~",
            "---",
            "===",
            "|---|---|",
            "#",
            "<div>",
            "</div>",
            "\t",
            ">>>>",
        ]
    ),
)
MARKDOWN = st.lists(LINES, max_size=60).map("\n".join)
FRONT_MATTER = MARKDOWN.map(lambda text: f"---\ntitle: x\ntags: [a, b]\n---\n{text}")
HOSTILE = st.text(
    alphabet=st.sampled_from(
        list("#>-*|`~[]()<!&\\=:. \n\n\n\taA日。ก\u0301\u200d\u3000\xa0\x0c\x1c\u2028\U0001f600")
    ),
    max_size=600,
)
LONG = st.builds(
    lambda unit, times, tail: unit * times + tail,
    st.sampled_from(
        ["a", "日", "ก็", "ab ", "|a|b|\n", "- x\n", "x. ", "e\u0301", "\u3099", "> ", "\n", "a b。"]
    ),
    st.integers(1, 1500),
    st.sampled_from(["", "end", " end.", "\n\n# Heading\n\nlast"]),
)
TEXTS = st.one_of(MARKDOWN, FRONT_MATTER, HOSTILE, LONG, st.text(max_size=300))


@st.composite
def chunking_settings(draw: st.DrawFn) -> ChunkingSettings:
    words = draw(st.integers(20, 120))
    overlap = draw(st.integers(0, words // 2))
    return ChunkingSettings(words=words, overlap=overlap, min_words=draw(st.integers(0, 150)))


@st.composite
def readings(draw: st.DrawFn) -> Reading:
    text = "\n\n".join(draw(st.lists(TEXTS, min_size=1, max_size=3)))
    length = len(text)
    cuts = sorted(draw(st.sets(st.integers(1, max(length - 1, 1)), max_size=5)))
    edges = [0, *(cut for cut in cuts if cut < length), length]
    pages = tuple(
        Page(number, str(number), start, end)
        for number, (start, end) in enumerate(pairwise(edges), 1)
    )
    outline = draw(
        st.lists(
            st.builds(
                OutlineEntry,
                st.integers(-5, length + 5),
                st.integers(-1, 50),
                SENTENCE | st.just(""),
            ),
            max_size=8,
        )
    )
    return Reading(
        text=text,
        title=draw(SENTENCE),
        format=draw(st.sampled_from(["md", "pdf", "pptx", "xlsx", "txt"])),
        markup=draw(st.sampled_from(list(Markup))),
        pages=draw(st.sampled_from([(), pages])),
        outline=draw(st.sampled_from([(), tuple(outline)])),
    )


def check(reading: Reading, chosen: ChunkingSettings) -> Divided:
    """Assert everything that holds of a division."""
    text, divided = reading.text, divide(reading, chosen)
    check_tiles(text, divided)
    check_bounds(text, divided, chosen)
    check_sections(text, divided, chosen)
    check_pages(reading, divided)
    check_parents(text, divided)
    assert divided == divide(reading, chosen)
    return divided


def check_tiles(text: str, divided: Divided) -> None:
    for spans in (divided.sections, divided.blocks):
        assert "".join(text[span.start : span.end] for span in spans) == text
        assert all(span.start < span.end for span in spans)
        assert [span.start for span in spans] == [0, *(span.end for span in spans)][: len(spans)]
    borders = {section.start for section in divided.sections}
    assert borders <= {block.start for block in divided.blocks}
    assert [section.index for section in divided.sections] == list(range(len(divided.sections)))
    for section in divided.sections:
        assert all(title and title == " ".join(title.split()) for title in section.path)
        assert (section.level > 0) == bool(section.path)


def check_bounds(text: str, divided: Divided, chosen: ChunkingSettings) -> None:
    chunks = divided.chunks
    covered = 0
    for index, chunk in enumerate(chunks):
        inside = text[chunk.start : chunk.end]
        assert chunk.index == index
        assert 0 <= chunk.start < chunk.end <= len(text)
        assert inside == inside.strip()
        assert_bounded(text, divided, chunk, chosen)
        assert not text[covered : chunk.start].strip()
        covered = chunk.end
    assert not text[covered:].strip()
    for before, after in pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end
        if after.start < before.end:
            assert word_count(text[after.start : before.end]) <= chosen.overlap


def assert_bounded(text: str, divided: Divided, chunk: Chunk, chosen: ChunkingSettings) -> None:
    """A chunk has a bounded size; a little more where it holds its sections whole."""
    touched = [s for s in divided.sections if s.start < chunk.end and chunk.start < s.end]
    outside = text[touched[0].start : chunk.start] + text[chunk.end : touched[-1].end]
    most = chosen.words if outside.strip() else chosen.words + chosen.overlap
    assert word_count(text[chunk.start : chunk.end]) <= most
    assert chunk.end - chunk.start <= most * 12


def check_sections(text: str, divided: Divided, chosen: ChunkingSettings) -> None:
    """A chunk touches several sections only if all of them but at most one are small."""
    for chunk in divided.chunks:
        touched = [s for s in divided.sections if s.start < chunk.end and chunk.start < s.end]
        assert chunk.section == touched[0].index
        small = min(chosen.min_words, chosen.words)
        large = [s for s in touched if word_count(text[s.start : s.end]) >= small]
        assert len(large) <= (1 if len(touched) > 1 else len(touched))
        # It is under as many headings as all share that are under any.
        depth = len(chunk.heading_path)
        paths = [s.path for s in touched if s.path] or [()]
        assert {path[:depth] for path in paths} == {chunk.heading_path}
        assert len({path[: depth + 1] for path in paths}) > 1 or chunk.heading_path in paths


def check_pages(reading: Reading, divided: Divided) -> None:
    for chunk in divided.chunks:
        if not reading.pages:
            assert chunk.pages is None
            continue
        touched = [p.number for p in reading.pages if p.start < chunk.end and chunk.start < p.end]
        assert chunk.pages == (touched[0], touched[-1])
        assert len(structural_context(reading.title, chunk, reading.pages)) <= 300


def check_parents(text: str, divided: Divided) -> None:
    """Parents follow one another, and hold at most eight chunks and 800 words."""
    parents = [list(group) for _, group in groupby(divided.chunks, lambda chunk: chunk.parent)]
    assert [inside[0].parent for inside in parents] == list(range(len(parents)))
    for inside in parents:
        assert len(inside) <= 8
        assert len(inside) == 1 or word_count(text[inside[0].start : inside[-1].end]) <= 800


@settings(max_examples=120, deadline=None)
@given(readings(), chunking_settings())
def test_every_division_holds_together(reading, chosen):
    check(reading, chosen)


@settings(max_examples=100, deadline=None)
@given(TEXTS, TEXTS)
def test_parts_have_at_least_as_many_words_as_the_whole(left, right):
    assert word_count(left + right) <= word_count(left) + word_count(right)
    assert word_count(left + " " + right) <= word_count(left) + word_count(right)
    assert word_count(left) <= word_count(left + right)


@pytest.mark.parametrize("markup", list(Markup))
@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n\n\n",
        "x",
        "\n\nx\n\n",
        "\ufeff",
        "#",
        "# ",
        "---\n---\n",
        "---\na: b\n---",
        "```",
        "\u200b",
    ],
)
def test_the_smallest_texts_hold_together(text, markup):
    divided = check(Reading(text, "", "txt", markup), ChunkingSettings())
    assert len(divided.chunks) == bool(text.strip())
