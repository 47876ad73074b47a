"""Messages of a conversation stay whole in chunks, and so does what neighbours share."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragkit.chunking import divide, word_count
from ragkit.reading.conversations.messages import Conversation, Message, to_reading
from ragkit.settings import ChunkingSettings
from ragkit.types import BlockKind, Markup, MessageSpan, Reading

SMALL = ChunkingSettings(words=40, overlap=12, min_words=5)


def conversation(*texts, title="Talk", day=3):
    messages = [
        Message("Ann" if number % 2 else "Bob", datetime(2026, 2, day, 10, number % 60), text)
        for number, text in enumerate(texts)
    ]
    return to_reading(Conversation(title, "test", messages))


def pieces(reading, settings=SMALL):
    """For each chunk the messages that it holds; ``-n`` for a part of message n."""
    found = []
    for chunk in divide(reading, settings).chunks:
        inside = []
        for number, one in enumerate(reading.messages, 1):
            if one.start < chunk.end and one.end > chunk.start:
                whole = chunk.start <= one.start and one.end <= chunk.end
                inside.append(number if whole else -number)
        found.append(inside)
    return found


def test_short_messages_stay_whole_and_are_repeated_whole():
    reading = conversation(*["five words are in this"] * 10)
    assert pieces(reading) == [[1, 2, 3], [3, 4, 5, 6], [6, 7, 8, 9], [9, 10]]
    blocks = divide(reading, SMALL).blocks
    assert [one.kind for one in blocks] == [BlockKind.HEADING] * 2 + [BlockKind.MESSAGE] * 10
    assert "".join(reading.text[one.start : one.end] for one in blocks) == reading.text


def test_a_message_that_fits_is_never_broken_to_fill_a_chunk():
    text = "One sentence of six words here.\n\n" * 5
    assert pieces(conversation("Hi.", text, text, "Bye.")) == [[1], [1, 2], [3, 4]]


def test_a_message_that_is_too_long_is_broken_at_its_paragraphs():
    reading = conversation(
        "Hi.", "\n\n".join(f"Part {n} " + "word " * 25 for n in range(4)), "Bye."
    )
    found = pieces(reading, ChunkingSettings(words=40, overlap=0, min_words=5))
    assert found == [[1], [-2], [-2], [-2], [-2, 3]]
    starts = [
        reading.text[one.start :][:6]
        for one in divide(reading, ChunkingSettings(words=40, overlap=0, min_words=5)).chunks
    ]
    assert starts[-2:] == ["Part 2", "Part 3"]


def test_what_a_chunk_repeats_of_a_long_message_begins_with_its_author():
    reading = conversation("word " * 16, "word " * 60)
    found = pieces(reading)
    chunks = divide(reading, SMALL).chunks
    assert found == [[1, -2], [-2], [-2]]
    assert reading.text[chunks[1].start :].startswith("**Ann** · 2026-02-03 10:01\nword")


def test_messages_on_neighbouring_lines_are_blocks_of_their_own():
    lines = [f"Ann: line {number} of the talk" for number in range(20)]
    text = "\n".join(lines)
    spans, at = [], 0
    for line in lines:
        spans.append(MessageSpan(at, at + len(line), "Ann"))
        at += len(line) + 1
    reading = Reading(text, "T", "conversation", Markup.PLAIN, messages=tuple(spans))
    divided = divide(reading, SMALL)
    assert len(divided.blocks) == 20
    assert all(text[one.start : one.end].rstrip("\n") in lines for one in divided.blocks)


def test_other_documents_are_divided_as_before():
    reading = conversation(*["five words are in this"] * 10)
    plain = Reading(reading.text, "T", "markdown", Markup.MARKDOWN)
    assert BlockKind.MESSAGE not in {one.kind for one in divide(plain, SMALL).blocks}


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(1, 60).map(lambda count: "word " * count), min_size=1, max_size=30),
    st.sampled_from([(20, 5, 0), (40, 12, 5), (40, 20, 30), (100, 0, 40)]),
)
def test_no_message_is_torn_that_fits_into_a_chunk(texts, sizes):
    words, overlap, least = sizes
    chosen = ChunkingSettings(words=words, overlap=overlap, min_words=least)
    reading = conversation(*texts)
    held: set[int] = set()
    for chunk, inside in zip(divide(reading, chosen).chunks, pieces(reading, chosen), strict=True):
        whole = len(inside) == len(texts)
        most = words + overlap if whole else words
        assert word_count(reading.text[chunk.start : chunk.end]) <= most
        for number in inside:
            held.add(abs(number))
            span = reading.messages[abs(number) - 1]
            if word_count(reading.text[span.start : span.end]) <= words:
                assert number > 0
    assert held == set(range(1, len(reading.messages) + 1))


@pytest.mark.parametrize("count", [1, 3000])
def test_the_same_message_many_times(count):
    reading = conversation(*["ok"] * count)
    found = pieces(reading, ChunkingSettings()) if count == 1 else None
    chunks = divide(reading, ChunkingSettings()).chunks
    assert found in ([[1]], None)
    assert chunks[0].start == 0
    assert chunks[-1].end == reading.messages[-1].end
