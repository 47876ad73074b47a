"""The vectors of a segment in two indexes: those that represent chunks, and all others.

A default search asks the first alone, and only that one gets a graph. With contexts, the others
(texts that a context represents, and questions) are several times as many: they are read for exact
scores, and by a search that asks for them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.hnsw import Graph
from ragkit.indexes.local.vector import EXACT, LateGraph, RankedRows, VectorIndex
from ragkit.indexes.protocol import SearchStrategy
from ragkit.indexes.rows import Bools, ChunkGroups, Ids

VECTORS = "vectors.faiss"
"""The file of the vectors that represent chunks, which a graph links."""

_OTHERS = "other-vectors.faiss"


@dataclass(frozen=True, slots=True)
class ChunkVectors:
    """Both indexes by the rows of the segment; ``others`` is ``None`` where all rows represent."""

    representing: VectorIndex
    others: VectorIndex | None

    @classmethod
    def build(
        cls,
        vectors: NDArray[np.float16],
        has_vector: Bools,
        groups: ChunkGroups,
        graph: LateGraph | None = None,
    ) -> ChunkVectors:
        """Build from the vectors of all rows (n, d); see ``VectorIndex.build``."""
        represents = groups.representatives
        if represents is None:
            return cls(VectorIndex.build(vectors, has_vector, graph), None)
        return cls(
            VectorIndex.build(vectors, has_vector & represents, graph),
            VectorIndex.build(vectors, has_vector & ~represents),
        )

    def save(self, folder: Path) -> None:
        """Write both into a folder; which rows have vectors is kept by the caller."""
        self.representing.save(folder / VECTORS)
        if self.others is not None:
            self.others.save(folder / _OTHERS)

    @classmethod
    def load(
        cls, folder: Path, has_vector: Bools, groups: ChunkGroups, graph: LateGraph | None = None
    ) -> ChunkVectors:
        """Map what ``save`` wrote into memory; see ``VectorIndex.load``.

        Raises:
            OSError, ValueError: the files are not what ``save`` wrote for these rows.
        """
        represents = groups.representatives
        if represents is None:
            return cls(VectorIndex.load(folder / VECTORS, has_vector, graph), None)
        return cls(
            VectorIndex.load(folder / VECTORS, has_vector & represents, graph),
            VectorIndex.load(folder / _OTHERS, has_vector & ~represents),
        )

    def __len__(self) -> int:
        """How many rows have a vector."""
        return sum(map(len, self._parts()))

    @property
    def dimensions(self) -> int:
        """How long each vector is."""
        return self.representing.dimensions

    @property
    def has_vector(self) -> Bools:
        """Which rows have a vector, bool (n,)."""
        having = self.representing.has_vector
        return having if self.others is None else having | self.others.has_vector

    def vectors(self, first: int, last: int) -> NDArray[np.float16]:
        """Return the vectors of rows from ``first`` to before ``last``; zeros without one."""
        vectors = np.zeros((last - first, self.dimensions), np.float16)
        for part in self._parts():
            part.put_into(vectors, first)
        return vectors

    def graph(self, *, representing: bool) -> Graph | None:
        """Return the graph by which those that are asked for can be searched, if there is one."""
        asked = self._parts(representing=representing)
        return self.representing.graph() if len(asked) == 1 else None

    def count(self, mask: Bools | None, *, representing: bool) -> int:
        """Count the rows with a vector that a mask (n,) lets through, or all of them."""
        return sum(part.count(mask) for part in self._parts(representing=representing))

    def search(
        self,
        queries: NDArray[np.float32],
        depth: int,
        mask: Bools | None = None,
        strategy: SearchStrategy = EXACT,
        *,
        representing: bool = False,
    ) -> list[RankedRows]:
        """Return for each query (q, d) the rows most like it (``VectorIndex.search``).

        With ``representing``, only rows that represent their chunk are searched.
        """
        first, *more = [
            part.search(queries, depth, mask, strategy)
            for part in self._parts(representing=representing)
        ]
        return [_merged(both, depth) for both in zip(first, *more, strict=True)] if more else first

    def scores_of(
        self, queries: NDArray[np.float32], numbers: Ids, rows: Ids, *, representing: bool = False
    ) -> NDArray[np.float32]:
        """Return the scores of rows (n,), each for the query of its number (n,); 0 without one.

        With ``representing``, all of them represent their chunk.
        """
        first, *more = [
            part.scores_of(queries, numbers, rows)
            for part in self._parts(representing=representing)
        ]
        # Each row is in one of them, and has 0 in the other.
        return first + more[0] if more else first

    def _parts(self, *, representing: bool = False) -> list[VectorIndex]:
        others = [] if representing or self.others is None else [self.others]
        return [self.representing, *others]


def _merged(parts: Sequence[RankedRows], depth: int) -> RankedRows:
    """Return the best of what was found in each part, ties by row."""
    rows, scores = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((rows, -scores))[:depth]
    return rows[order], scores[order]
