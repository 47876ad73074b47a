"""Parents: runs of neighbouring chunks, long enough to be read or given to a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from ragkit.chunking.sections import Merging, sections_within, subtree_ends
from ragkit.chunking.sizes import WORD, weight
from ragkit.types import Chunk, Section

PARENT_CHUNKS = 8
"""The largest number of chunks in a parent."""

_LEAST, _MOST = 600 * WORD, 800 * WORD
"""About a thousand tokens."""


def with_parents(
    text: str, sections: Sequence[Section], chunks: Sequence[Chunk]
) -> tuple[Chunk, ...]:
    """Group the chunks of a document into parents; return them with the numbers of the parents.

    A parent consists of consecutive whole chunks with at most 800 words, and at least 600 if
    possible: all that is under a heading, or some of its subsections. A larger chunk is a parent by
    itself.
    """
    levels, weights, covered = [], [], 0
    for chunk in chunks:
        inside = sections_within(sections, chunk.section, chunk.end)
        levels.append(min(section.level for section in inside))
        weights.append(weight(text[max(chunk.start, covered) : chunk.end]))
        covered = chunk.end
    sums = [0, *accumulate(weights)]
    spans = Merging(subtree_ends(levels), sums, _LEAST, _MOST, PARENT_CHUNKS).spans()
    return tuple(
        replace(chunk, parent=number)
        for number, (first, end) in enumerate(spans)
        for chunk in chunks[first:end]
    )
