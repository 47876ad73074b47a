"""Which entries belong to which chunk: its own entry, and those that directly follow it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.rows import Bools, EntryRows, Ids
from ragkit.types import LEVEL_CODES, Level

TEXT_SHARE = 0.25
"""How much of the vector that stands for a chunk is its text's; the rest is its context's."""


def with_texts(rows: EntryRows) -> EntryRows:
    """Put a share of its chunk's own vector into that of each context, which stands for both.

    A context says what a chunk is about, and leaves out what else is in it. Vectors stay of
    length 1; a context stays as it is where its chunk has no vector.
    """
    contexts = np.flatnonzero(rows.levels == LEVEL_CODES[Level.CONTEXT]).astype(np.int64)
    own = ChunkGroups(rows.levels).parents(contexts)
    both = rows.has_vector[contexts] & rows.has_vector[own] & (own != contexts)
    contexts, own = contexts[both], own[both]
    if not len(contexts):
        return rows
    of_context, of_text = (rows.vectors[one].astype(np.float32) for one in (contexts, own))
    joined = (1 - TEXT_SHARE) * of_context + TEXT_SHARE * of_text
    lengths = np.linalg.norm(joined, axis=1, keepdims=True)
    vectors = rows.vectors.copy()
    vectors[contexts] = joined / np.where(lengths > 0, lengths, 1)
    return replace(rows, vectors=vectors)


class ChunkGroups:
    """Finds chunks' own rows and what belongs to them. Rows are ordered by entry id.

    All entries of a chunk come and go together, and their ids follow one another.
    """

    def __init__(self, levels: NDArray[Any]) -> None:
        """Take the level codes of all rows, (n,)."""
        self._size = len(levels)
        self._levels = levels
        self._parents = np.flatnonzero(levels == LEVEL_CODES[Level.CHUNK]).astype(np.int64)
        self._alone = len(self._parents) in (0, self._size)

    def representatives(self) -> Bools | None:
        """Which rows stand for what they belong to: a context for its chunk, and questions never.

        ``None`` where every row does.
        """
        if self._alone:
            return None
        rows = np.ones(self._size, np.bool_)
        rows[self._levels == LEVEL_CODES[Level.QUESTION]] = False
        contexts = np.flatnonzero(self._levels == LEVEL_CODES[Level.CONTEXT]).astype(np.int64)
        rows[self.parents(contexts)] = False
        rows[contexts] = True
        return rows

    @property
    def chunks(self) -> int:
        """How many chunks there are; every row is one where there are no chunks."""
        return len(self._parents) or self._size

    def parents(self, rows: Ids) -> Ids:
        """The own row of the chunk that each row belongs to, (m,)."""
        if self._alone:
            return rows
        at = np.searchsorted(self._parents, rows, side="right") - 1
        return np.where(at >= 0, self._parents[np.maximum(at, 0)], rows)

    def members(self, rows: Ids) -> tuple[Ids, Ids]:
        """All rows of chunks given by their own rows (m,), and whose place in ``rows`` each has."""
        if self._alone or not len(rows):
            return rows, np.arange(len(rows), dtype=np.int64)
        at = np.searchsorted(self._parents, rows)
        ends = np.append(self._parents, self._size)[np.minimum(at + 1, len(self._parents))]
        lengths = np.maximum(ends - rows, 1)
        owners = np.repeat(np.arange(len(rows), dtype=np.int64), lengths)
        first = np.concatenate(([0], np.cumsum(lengths)[:-1]))
        return rows[owners] + np.arange(len(owners)) - first[owners], owners
