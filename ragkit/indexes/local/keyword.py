"""One field's keyword index: bm25s arrays over row numbers and the catalog's token ids.

The files are those that bm25s itself writes and opens; they are built here because a vectorised
builder does in a second what takes bm25s five.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.int8_prefilter import promising_rows
from ragkit.indexes.rows import Ids, TokenColumn

_DATA, _INDICES, _INDPTR = (f"{name}.csc.index.npy" for name in ("data", "indices", "indptr"))
_PARAMETERS = "params.index.json"
_TOKEN_IDS, _FLAT, _OFFSETS = "token_ids.npy", "flat.npy", "offsets.npy"
_ROW_BITS = np.uint64(32)
_ROW_MASK = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Bm25Parameters:
    """How BM25 weighs: ``k1`` how soon repetition stops counting, ``b`` how much length counts."""

    k1: float = 1.2
    b: float = 0.75


@dataclass(frozen=True, slots=True)
class Totals:
    """What BM25 knows of a whole field. Rows without a token in the field do not count."""

    rows: int
    tokens: int

    def norms(self, lengths: Ids, parameters: Bm25Parameters) -> NDArray[np.float32]:
        """Give what is added to the term frequency for rows of these lengths."""
        average = self.tokens / self.rows if self.rows else 1.0
        relative = lengths / average
        norms: NDArray[np.float32] = (
            parameters.k1 * (1 - parameters.b + parameters.b * relative)
        ).astype(np.float32)
        return norms

    def idf(self, document_frequencies: Ids) -> NDArray[np.float32]:
        """Give the inverse document frequency of tokens, by Lucene's formula."""
        rarity = (self.rows - document_frequencies + 0.5) / (document_frequencies + 0.5)
        idf: NDArray[np.float32] = np.log1p(rarity).astype(np.float32)
        return idf


@dataclass(frozen=True, slots=True)
class Postings:
    """Which token stands in which row how often, ordered by token, then row.

    ``keys`` uint64 (p,): token id in the upper half, row in the lower; ``counts`` float32 (p,).
    """

    keys: NDArray[np.uint64]
    counts: NDArray[np.float32]

    @classmethod
    def of(cls, column: TokenColumn, first_row: int = 0) -> Postings:
        """Count the tokens of a column whose first row has that number."""
        rows = np.repeat(
            np.arange(first_row, first_row + len(column), dtype=np.uint64), column.lengths
        )
        keys = np.sort((column.flat.astype(np.uint64) << _ROW_BITS) | rows)
        first = _first_of_each(keys)
        counts = np.diff(np.append(first, len(keys))).astype(np.float32)
        return cls(keys[first], counts)

    @property
    def tokens(self) -> NDArray[np.uint32]:
        """The token of each posting."""
        return (self.keys >> _ROW_BITS).astype(np.uint32)

    @property
    def rows(self) -> NDArray[np.int32]:
        """The row of each posting."""
        return (self.keys & _ROW_MASK).astype(np.int32)


class KeywordIndex:
    """BM25 scores of one field's tokens, ready to be added up. Immutable."""

    def __init__(
        self,
        data: NDArray[np.float32],
        indices: NDArray[np.int32],
        indptr: Ids,
        token_ids: NDArray[np.uint32],
        column: TokenColumn,
        parameters: Bm25Parameters,
    ) -> None:
        """Take bm25s's arrays, the ascending ids of the tokens, and the tokens by row."""
        self._data = data
        self._indices = indices
        self._indptr = indptr
        self._token_ids = token_ids
        self.column = column
        self.parameters = parameters
        self.totals = totals_of(column)

    @classmethod
    def build(cls, column: TokenColumn, parameters: Bm25Parameters | None = None) -> KeywordIndex:
        """Build from the tokens of every row; the same rows give the same bytes."""
        parameters = parameters or Bm25Parameters()
        postings = Postings.of(column)
        tokens, rows = postings.tokens, postings.rows
        first = _first_of_each(tokens)
        token_ids = tokens[first]
        indptr = np.append(first, len(tokens)).astype(np.int64)
        totals = totals_of(column)
        frequencies = np.diff(indptr)
        idf = np.repeat(totals.idf(frequencies), frequencies)
        norms = totals.norms(column.lengths, parameters)
        data = idf * (postings.counts / (postings.counts + norms[rows]))
        return cls(data, rows, indptr, token_ids, column, parameters)

    def __len__(self) -> int:
        """How many rows it covers."""
        return len(self.column)

    def document_frequencies(self, token_ids: Ids) -> Ids:
        """Give in how many rows each token stands; 0 for tokens that it does not know."""
        if not len(self._token_ids):
            return np.zeros(len(token_ids), np.int64)
        places, known = self.places(token_ids)
        frequencies = self._indptr[places + 1] - self._indptr[places]
        return np.where(known, frequencies, 0)

    def add_scores(
        self, into: NDArray[np.float32], token_ids: Ids, weights: NDArray[np.float32]
    ) -> None:
        """Add each token's scores, times its weight, to the rows' sums ``into`` (n,).

        Tokens are added in the order given, so that equal questions give equal sums.
        """
        places, known = self.places(token_ids)
        for place, weight in zip(places[known].tolist(), weights[known], strict=True):
            start, end = self._indptr[place], self._indptr[place + 1]
            # Much quicker with numbers as wide as those that numpy counts rows by.
            rows, scores = self._indices[start:end].astype(np.intp), self._data[start:end]
            np.add.at(into, rows, scores if weight == 1.0 else scores * weight)

    def counts_at(self, place: int) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Give the rows in which the token of a place stands, and how often in each.

        The counts are read back from the scores, which is as good as exact.
        """
        start, end = self._indptr[place], self._indptr[place + 1]
        rows, scores = self._indices[start:end], self._data[start:end]
        idf = self.totals.idf(np.array([end - start]))[0]
        counts: NDArray[np.float32] = np.rint(self._norms[rows] * scores / (idf - scores))
        return rows, counts

    @cached_property
    def _norms(self) -> NDArray[np.float32]:
        return self.totals.norms(self.column.lengths, self.parameters)

    def scores(self, token_ids: Ids, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Give every row's score, float32 (n,); 0 where no token stands."""
        into = np.zeros(len(self), dtype=np.float32)
        self.add_scores(into, token_ids, weights)
        return into

    def as_bm25s(self) -> Any:
        """Give a ``bm25s.BM25`` over the same arrays; its token ids are places in this one."""
        import bm25s

        retriever = bm25s.BM25(k1=self.parameters.k1, b=self.parameters.b, method="lucene")
        retriever.scores = {
            "data": self._data,
            "indices": self._indices,
            "indptr": self._indptr,
            "num_docs": len(self),
        }
        retriever.vocab_dict = {str(token): i for i, token in enumerate(self._token_ids.tolist())}
        retriever.unique_token_ids_set = set(range(len(self._token_ids)))
        retriever.nonoccurrence_array = None
        return retriever

    def save(self, folder: Path) -> None:
        """Write the arrays into a new folder."""
        folder.mkdir(parents=True)
        arrays: dict[str, NDArray[Any]] = {
            _DATA: self._data,
            _INDICES: self._indices,
            _INDPTR: self._indptr,
            _TOKEN_IDS: self._token_ids,
            _FLAT: self.column.flat,
            _OFFSETS: self.column.offsets,
        }
        for name, array in arrays.items():
            np.save(folder / name, array, allow_pickle=False)
        parameters = {
            "k1": self.parameters.k1,
            "b": self.parameters.b,
            "delta": 0.5,
            "method": "lucene",
            "idf_method": "lucene",
            "dtype": "float32",
            "int_dtype": "int32",
            "num_docs": len(self),
            "backend": "numpy",
        }
        (folder / _PARAMETERS).write_text(json.dumps(parameters, indent=1), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> KeywordIndex:
        """Map the arrays into memory.

        Raises:
            OSError, ValueError, KeyError: the files are not what ``save`` wrote.
        """
        parameters = json.loads((folder / _PARAMETERS).read_text(encoding="utf-8"))
        return cls(
            load_array(folder / _DATA),
            load_array(folder / _INDICES),
            load_array(folder / _INDPTR),
            load_array(folder / _TOKEN_IDS),
            TokenColumn(load_array(folder / _FLAT), load_array(folder / _OFFSETS)),
            Bm25Parameters(parameters["k1"], parameters["b"]),
        )

    def places(self, token_ids: Ids) -> tuple[Ids, NDArray[np.bool_]]:
        """Find tokens among the sorted ids; unknown ones get place 0 and False."""
        if not len(self._token_ids):
            return np.zeros(len(token_ids), np.int64), np.zeros(len(token_ids), np.bool_)
        # Of the same type as those that it is looked for among, which would all be copied else.
        wanted = token_ids.astype(self._token_ids.dtype)
        places = np.minimum(np.searchsorted(self._token_ids, wanted), len(self._token_ids) - 1)
        known = self._token_ids[places] == token_ids
        return np.where(known, places, 0), known


def totals_of(column: TokenColumn) -> Totals:
    """Count the rows that have tokens, and the tokens."""
    return Totals(int(np.count_nonzero(column.lengths)), len(column.flat))


def _first_of_each(ordered: NDArray[Any]) -> Ids:
    """Give where each new value begins."""
    changes = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
    return np.flatnonzero(changes).astype(np.int64)


def load_array(path: Path) -> NDArray[Any]:
    """Map an array file into memory, read only."""
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    # A plain view: slices of np.memmap are slow to make.
    return np.asarray(mapped).view(np.ndarray)


def best_rows(scores: NDArray[np.float32], depth: int) -> Ids:
    """Give the rows with the highest scores, best first, ties by row; zeros never come back."""
    if not len(scores):
        return np.zeros(0, np.int64)
    rows = promising_rows(scores, depth)
    if len(rows) > depth > 0:
        found = scores[rows]
        edge = np.partition(found, len(found) - depth)[len(found) - depth]
        above = rows[found > edge]
        level = rows[found == edge][: depth - len(above)]
        rows = np.sort(np.concatenate([above, level]))
    order = np.argsort(-scores[rows], kind="stable")
    return rows[order][: max(depth, 0)].astype(np.int64)
