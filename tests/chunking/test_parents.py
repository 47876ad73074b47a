"""Parents: which chunks are read together."""

from __future__ import annotations

from collections import Counter

import pytest

from ragkit.chunking import divide
from ragkit.settings import ChunkingSettings
from ragkit.types import Markup, Reading

DEFAULT = ChunkingSettings()


def part(heading: str, words: int) -> str:
    return f"{heading}\n\n{'word ' * (words - len(heading.split()))}\n\n"


def parents(*parts: tuple[str, int]) -> list[tuple[int, tuple[str, ...]]]:
    text = "".join(part(*each) for each in parts)
    divided = divide(Reading(text, "Title", "md", Markup.MARKDOWN), DEFAULT)
    return [(chunk.parent, chunk.heading_path) for chunk in divided.chunks]


def test_what_stands_under_one_heading_is_one_parent():
    found = parents(
        ("# Guide", 20), ("## A", 250), ("### A1", 220), ("### A2", 240),
        ("## B", 300), ("### B1", 310),
    )  # fmt: skip
    # The first line joins A; A2 would be beyond 800 words with B.
    assert found == [
        (0, ("Guide",)), (0, ("Guide", "A", "A1")), (0, ("Guide", "A", "A2")),
        (1, ("Guide", "B")), (1, ("Guide", "B", "B1")),
    ]  # fmt: skip


def test_a_short_document_is_one_parent():
    assert parents(("# Guide", 250), ("## A", 250), ("# Other", 250)) == [
        (0, ("Guide",)), (0, ("Guide", "A")), (0, ("Other",)),
    ]  # fmt: skip


@pytest.mark.parametrize(("words", "sizes"), [(700, [3]), (1900, [2, 3, 3])])
def test_a_long_section_is_divided_evenly(words, sizes):
    text = "Five words are in here. " * (words // 5)
    divided = divide(Reading(text, "Title", "md", Markup.MARKDOWN), DEFAULT)
    # 1,900 words are 8 chunks, and no parent has less than two of them.
    assert sorted(Counter(chunk.parent for chunk in divided.chunks).values()) == sizes
