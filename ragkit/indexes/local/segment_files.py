"""Writing a segment's files from rows that come in slices.

Vectors and tokens go into files as they come, and one index after the other is built of them: all
of it at once would take several times the memory.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.bm25 import Bm25Parameters
from ragkit.indexes.local import packed
from ragkit.indexes.local.chunk_vectors import ChunkVectors
from ragkit.indexes.local.keyword import KeywordIndex
from ragkit.indexes.local.segment import COLUMNS, FIELDS, FOUND, Segment
from ragkit.indexes.rows import ChunkGroups, EntryRows, Ids, RowSlices, TokenColumn
from ragkit.types import Field


@dataclass(frozen=True, slots=True)
class Written:
    """What a segment on disk holds; ``representing`` of its ``vectors`` represent chunks."""

    entries: int
    vectors: int
    representing: int
    tokens: int
    max_entry_id: int


def write_segment(
    folder: Path, rows: RowSlices, parameters: Bm25Parameters, scratch: Path
) -> Written:
    """Write a segment into a new folder: a small one as one file (``packed.py``).

    The same rows give the same bytes. ``scratch`` is a folder for what is needed meanwhile.

    Raises:
        OSError: the disk is full or may not be written.
    """
    folder.mkdir(parents=True)
    if rows.count <= packed.MOST_ROWS:
        segment = Segment.build(rows.joined(), parameters)
        packed.save_rows(folder / packed.PACKED, segment.rows(), parameters)
        tokens = sum(index.totals.tokens for index in segment.keywords.values())
        return _written(segment.entry_ids, segment.vectors, tokens)
    with _Poured(rows, scratch) as poured:
        for part in rows.slices:
            poured.add(part)
    vectors = poured.vectors()
    vectors.save(folder)
    columns = {**poured.columns, FOUND: vectors.has_vector}
    for name, column in columns.items():
        np.save(folder / f"{name}.npy", column, allow_pickle=False)
    fields = poured.fields
    tokens = sum(int(poured.lengths[name].sum()) for name in fields)
    written = _written(columns["entry_ids"], vectors, tokens)
    del vectors
    for name in fields:
        KeywordIndex.build(poured.tokens(name), parameters).save(folder / f"keyword-{name.value}")
    about = {
        "fields": [name.value for name in fields],
        "k1": parameters.k1,
        "b": parameters.b,
    }
    (folder / FIELDS).write_text(json.dumps(about), encoding="utf-8")
    return written


class _Poured:
    """Rows as they come: small columns in memory, vectors and tokens in files."""

    def __init__(self, rows: RowSlices, scratch: Path) -> None:
        self._size, self._dimensions, self._scratch = rows.count, rows.dimensions, scratch
        empty = EntryRows.empty(rows.dimensions)
        self.columns: Mapping[str, NDArray[Any]] = {
            name: np.zeros(rows.count, getattr(empty, name).dtype) for name in COLUMNS
        }
        self.lengths: dict[Field, Ids] = {}
        self._has_vector = np.zeros(rows.count, np.bool_)
        self._open = ExitStack()
        self._files: dict[str, BinaryIO] = {}
        self._at = 0

    def __enter__(self) -> _Poured:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @property
    def fields(self) -> list[Field]:
        """The fields in which there are tokens."""
        return sorted(self.lengths)

    def add(self, part: EntryRows) -> None:
        """Take the next rows."""
        here = slice(self._at, self._at + len(part))
        for name, column in self.columns.items():
            column[here] = getattr(part, name)
        self._has_vector[here] = part.has_vector
        self._append("vectors", part.vectors)
        for name, tokens in part.tokens.items():
            if len(tokens.flat):
                lengths = self.lengths.setdefault(name, np.zeros(self._size, np.int64))
                lengths[here] = tokens.lengths
                self._append(name.value, tokens.flat)
        self._at = here.stop

    def vectors(self) -> ChunkVectors:
        """Build the indexes of all vectors."""
        vectors = self._mapped("vectors", np.float16).reshape(self._size, self._dimensions)
        groups = ChunkGroups(self.columns["levels"])
        return ChunkVectors.build(vectors, self._has_vector, groups)

    def tokens(self, name: Field) -> TokenColumn:
        """Return the tokens of a field."""
        offsets = np.zeros(self._size + 1, np.int64)
        np.cumsum(self.lengths[name], out=offsets[1:])
        return TokenColumn(self._mapped(name.value, np.uint32), offsets)

    def _append(self, name: str, values: NDArray[Any]) -> None:
        if name not in self._files:
            file = (self._scratch / name).open("wb")
            self._files[name] = self._open.enter_context(file)
        self._files[name].write(np.ascontiguousarray(values).data)

    def _mapped(self, name: str, kind: type) -> NDArray[Any]:
        return np.asarray(np.memmap(self._scratch / name, kind, "r"))


def _written(entry_ids: Ids, vectors: ChunkVectors, tokens: int) -> Written:
    last = int(entry_ids[-1]) if len(entry_ids) else 0
    return Written(len(entry_ids), len(vectors), len(vectors.representing), tokens, last)
