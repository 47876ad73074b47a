"""Parents: runs of neighbouring chunks that are long enough to be read, or given to a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from ragkit.chunking.sections import Merging, sections_within, subtree_ends
from ragkit.chunking.sizes import WORD, weight
from ragkit.types import Chunk, Section

PARENT_CHUNKS = 8
"""The most chunks that a parent holds."""

_LEAST, _MOST = 600 * WORD, 800 * WORD
"""About a thousand tokens."""


def with_parents(
    text: str, sections: Sequence[Section], chunks: Sequence[Chunk]
) -> tuple[Chunk, ...]:
    """Divide the chunks of a document among parents, and return them with the numbers of these.

    A parent holds whole chunks that follow one another, of 800 words at most and 600 where that
    can be: those of a heading with what stands below it, or some of its parts. A larger chunk is
    a parent by itself.
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
