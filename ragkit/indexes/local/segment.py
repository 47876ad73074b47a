"""A frozen set of entries with its indexes: what a generation on disk holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.hnsw import LateGraph
from ragkit.indexes.local.keyword import Bm25Parameters, KeywordIndex, load_array
from ragkit.indexes.local.vector import VectorIndex
from ragkit.indexes.rows import EntryRows, Ids, positions_in
from ragkit.types import Field

VECTORS = "vectors.faiss"
"""The file of the vectors in a segment's folder."""

# Names of files; the last says which rows have a vector.
_COLUMNS = ("entry_ids", "document_ids", "levels", "chunk_indexes", "found")
_FIELDS = "fields.json"


@dataclass(frozen=True, slots=True)
class Segment:
    """Entries ordered by id, one vector index, and one keyword index a field. Immutable."""

    entry_ids: Ids
    document_ids: Ids
    levels: NDArray[np.int8]
    chunk_indexes: NDArray[np.int32]
    vectors: VectorIndex
    keywords: Mapping[Field, KeywordIndex]
    parameters: Bm25Parameters

    @classmethod
    def build(cls, rows: EntryRows, parameters: Bm25Parameters | None = None) -> Segment:
        """Index rows; the same rows give the same segment."""
        parameters = parameters or Bm25Parameters()
        fields = sorted(name for name, column in rows.tokens.items() if len(column.flat))
        return cls(
            rows.entry_ids,
            rows.document_ids,
            rows.levels,
            rows.chunk_indexes,
            VectorIndex.build(rows.vectors, rows.has_vector),
            {name: KeywordIndex.build(rows.tokens[name], parameters) for name in fields},
            parameters,
        )

    def __len__(self) -> int:
        """How many entries it holds."""
        return len(self.entry_ids)

    def rows(self) -> EntryRows:
        """Return what it was built from."""
        return EntryRows(
            self.entry_ids,
            self.document_ids,
            self.levels,
            self.chunk_indexes,
            self.vectors.vectors(),
            self.vectors.has_vector,
            {name: index.column for name, index in self.keywords.items()},
        )

    def positions(self, entry_ids: Ids) -> Ids:
        """Find the rows of those entries that it holds, ascending."""
        positions, present = positions_in(self.entry_ids, np.unique(entry_ids))
        return positions[present]

    def save(self, folder: Path) -> None:
        """Write everything into a new folder."""
        folder.mkdir(parents=True)
        columns: Sequence[NDArray[Any]] = (
            self.entry_ids,
            self.document_ids,
            self.levels,
            self.chunk_indexes,
            self.vectors.has_vector,
        )
        for name, column in zip(_COLUMNS, columns, strict=True):
            np.save(folder / f"{name}.npy", column, allow_pickle=False)
        self.vectors.save(folder / VECTORS)
        for field, index in self.keywords.items():
            index.save(folder / f"keyword-{field.value}")
        about = {
            "fields": [field.value for field in self.keywords],
            "k1": self.parameters.k1,
            "b": self.parameters.b,
        }
        (folder / _FIELDS).write_text(json.dumps(about), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path, graph: LateGraph | None = None) -> Segment:
        """Map a saved segment into memory, with the graph of its vectors if there is to be one.

        Raises:
            OSError, ValueError, KeyError: the files are not what ``save`` wrote.
        """
        about = json.loads((folder / _FIELDS).read_text(encoding="utf-8"))
        entry_ids, document_ids, levels, chunk_indexes, has_vector = (
            load_array(folder / f"{name}.npy") for name in _COLUMNS
        )
        keywords = {
            Field(name): KeywordIndex.load(folder / f"keyword-{name}") for name in about["fields"]
        }
        lengths = {len(document_ids), len(levels), len(chunk_indexes), len(has_vector)}
        lengths.update(len(index) for index in keywords.values())
        if lengths != {len(entry_ids)}:
            raise ValueError(f"columns of {sorted(lengths)} rows for {len(entry_ids)} entries")
        return cls(
            entry_ids,
            document_ids,
            levels,
            chunk_indexes,
            VectorIndex.load(folder / VECTORS, has_vector, graph),
            keywords,
            Bm25Parameters(about["k1"], about["b"]),
        )
