"""Long texts that are cut by size: where chunks of documents are cut, and what is asked of them."""

from __future__ import annotations

import itertools
import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragkit.options import ChunkedOptions, CutMethod
from ragkit.retrieval.query_segmentation.asked_text import asked_text
from ragkit.retrieval.query_segmentation.topics import Segment, cut_question

SENTENCES = [
    "The ferry to the island leaves at nine from the second pier.",
    "Why does the parser raise a timeout error?",
    "Knead the dough with flour, water and salt!",
]
MARKDOWN = """---
title: Secret head
tags: [hidden]
---
# The harbour

<!-- a note to
myself, hidden -->
The [timetable](https://hidden.example/table "hidden") says nine. See [the map][map].

Setext
------

```python hidden
def ferry():  # asked
    return "<!-- asked -->"
```

| pier | boat |
|------|------|
| two  | ferry |

[map]: https://hidden.example/map
"""


def cut(text: str, tokens: int = 100, overlap: int = 10) -> list[Segment]:
    by_size = ChunkedOptions(CutMethod.FIXED, segment_tokens=tokens, overlap_tokens=overlap)
    return [topic.segments[0] for topic in cut_question(text, None, by_size)]


def messages(count: int) -> str:
    names = ("Ann", "Bob")
    said = (f"{SENTENCES[at % 3]} This was number {at}." for at in range(count))
    return "\n\n".join(f"**{names[at % 2]}** · 10:{at:02}\n{text}" for at, text in enumerate(said))


def test_paragraphs_stay_whole_where_their_borders_are_near():
    paragraphs = [" ".join([*SENTENCES, f"Paragraph {number}."]) for number in range(40)]
    text = "\n\n".join(paragraphs)
    segments = cut(text, 100, 25)
    assert len(segments) >= 20
    assert all(segment.end - segment.start <= 400 for segment in segments)
    starts = {text.index(paragraph) for paragraph in paragraphs}
    ends = {text.index(paragraph) + len(paragraph) for paragraph in paragraphs}
    assert all(segment.end in ends for segment in segments)
    sentences = {at + len(part) + 1 for at in starts for part in itertools.accumulate(
        SENTENCES, lambda before, after: f"{before} {after}")}  # fmt: skip
    assert all(segment.start in starts | sentences for segment in segments)


def test_overlaps_begin_at_a_sentence():
    text = " ".join(f"Sentence number {number} is about boats." for number in range(60))
    segments = cut(text, 100, 30)
    assert all(segment.text.startswith("Sentence number") for segment in segments)
    assert all(segment.text.endswith("boats.") for segment in segments)
    repeated = [before.end - after.start for before, after in itertools.pairwise(segments)]
    assert all(60 <= characters <= 120 for characters in repeated)


def test_messages_stay_whole_and_none_is_repeated_in_part():
    text = messages(60)
    segments = cut(text, 100, 40)
    assert all(segment.text.startswith("**") for segment in segments)
    assert all(re.search(r"number \d+\.$", segment.text) for segment in segments)
    assert any(after.start < before.end for before, after in itertools.pairwise(segments))


def test_front_matter_and_marks_are_not_asked():
    (segment,) = cut(MARKDOWN)
    assert "hidden" not in segment.text
    assert segment.text.count("asked") == 2
    assert segment.text.startswith("The harbour")
    assert not re.search(r"#\s*The|```|----|\]\(|https", segment.text)
    for words in ("[timetable] says nine", "the map", "Setext", 'return "<!-- asked -->"', "pier"):
        assert words in segment.text
    assert MARKDOWN[segment.start :].startswith("# The harbour")
    assert len(asked_text(MARKDOWN)) == len(MARKDOWN)


@pytest.mark.parametrize(
    "text",
    ["# \n", "<!-- nothing -->", "---\nonly: a head\n---\n", "```\n```\n", "***\n\n---\n"],
)
def test_a_text_of_marks_alone_asks_nothing(text):
    assert cut(text) == []


@pytest.mark.parametrize(
    "kept",
    ["<!-- never closed", "[Ann]: hello there", "f[x](y z)", "a - b - c", "#hashtag",
     "[^1]: A note.", "---\nno head\n---\n"],
)  # fmt: skip
def test_what_only_looks_like_marks_is_asked(kept):
    words = re.findall(r"\w+", kept)
    assert re.findall(r"\w+", asked_text(f"Before.\n\n{kept}\n")) == ["Before", *words]


@pytest.mark.parametrize("word", ["w" * 50_000, "検索" * 20_000, "สวัสดี" * 5000, "é" * 9000])
def test_one_giant_word_ends_and_is_covered(word):
    segments = cut(word, 100, 10)
    assert segments[0].start == 0
    assert segments[-1].end == len(word)
    assert all(after.start <= before.end for before, after in itertools.pairwise(segments))
    assert all(segment.end - segment.start <= 410 for segment in segments)
    assert len(segments) < len(word) / 60


def test_a_language_without_spaces_is_cut_at_its_sentences():
    sentence = "港の船は九時に出発します。"
    text = sentence * 100
    segments = cut(text, 100, 20)
    assert all(segment.text.startswith("港") for segment in segments)
    assert all(segment.text.endswith("。") for segment in segments)
    assert max(len(segment.text) for segment in segments) <= 100 * 10 / 6


def test_two_megabytes_of_open_marks_take_no_longer_than_words():
    def seconds(text: str) -> float:
        begun = time.process_time()
        asked_text(text)
        return time.process_time() - begun

    for mark in ("<!-- ", "[", "](", "# ", "```x\n", "|-", "[a]: /"):
        assert seconds(mark * (400_000 // len(mark))) < 2.0, mark


_PARTS = st.sampled_from([
    *SENTENCES, "word", "検索と文書。", "ok", "w" * 30, "- item one\n- item two", "# Heading", "\n",
    "```\ncode = 1\n\nmore = 2\n```", "| a | b |\n|---|---|\n| 1 | 2 |", "<!-- note -->", "[a](/b)",
    "**Ann** · 10:01\nHello there.", "user: And then?", "x" * 700, "\u0301", "--- ---",
])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.lists(_PARTS, max_size=40),
    st.sampled_from(["\n\n", "\n", " "]),
    st.sampled_from([20, 60, 200]),
    st.sampled_from([0, 10, 100]),
    st.booleans(),
)
@example(["x" * 700, "# Heading"], "\n\n", 20, 10, True)
def test_all_that_is_asked_is_covered_and_words_are_whole(parts, between, tokens, overlap, headed):
    text = ("---\ntitle: head\n---\n" if headed else "") + between.join(parts)
    shown, segments = asked_text(text), cut(text, tokens, overlap)
    assert len(shown) == len(text)
    assert all(asked in (" ", given) for asked, given in zip(shown, text, strict=True))
    covered = bytearray(len(text))
    for segment in segments:
        covered[segment.start : segment.end] = b"\1" * (segment.end - segment.start)
        assert segment.text == re.sub(r"[^\S\n]+", " ", shown[segment.start : segment.end].strip())
        assert segment.text.strip() == segment.text != ""
        assert len(segment.text) <= tokens * 4 + 8
    assert all(covered[match.start()] for match in re.finditer(r"\S", shown))
    # A word that is no longer than a quarter of a segment is whole in it.
    for word in re.finditer(r"[!-~]+", shown):
        if len(word.group()) <= tokens:
            for segment in segments:
                assert not word.start() < segment.start < word.end()
                assert not word.start() < segment.end < word.end()
    assert [a.start for a in segments] == sorted(a.start for a in segments)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 120), min_size=3, max_size=30), st.sampled_from([0, 20, 50]))
def test_a_message_that_fits_into_a_segment_is_never_cut(lengths, overlap):
    said = [f"**{'AnnBob'[at % 2 * 3 :][:3]}** · 10:{at:02}\n{'boat ' * words}sails.\n\n"
            for at, words in enumerate(lengths)]  # fmt: skip
    borders = [0, *itertools.accumulate(map(len, said))]
    segments = cut("".join(said), 100, overlap)
    for start, end in itertools.pairwise(borders):
        if end - start <= 400:
            for segment in segments:
                assert not start < segment.start < end
                assert not start < segment.end < end - 2
