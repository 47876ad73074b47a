"""One field's keyword index: a ``bm25s.BM25`` over row numbers and the catalog's token ids.

bm25s saves and maps it. It is filled here, because a vectorised builder does in a second
what takes bm25s five.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.bm25 import Bm25Parameters, totals_of
from ragkit.indexes.rows import Bools, Ids, TokenColumn, positions_in

if TYPE_CHECKING:
    import bm25s

_TOKEN_IDS, _COUNTS, _FLAT, _OFFSETS = "token_ids.npy", "counts.npy", "flat.npy", "offsets.npy"
_SCORES = "data.csc.index.npy"
_BLOCK = 1 << 20
_LEAST_MAPPED = 1 << 18
_ROW_BITS = np.uint64(32)
_ROW_MASK = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class Postings:
    """How often each token occurs in each row, ordered by token, then row.

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

    def runs(self) -> tuple[NDArray[np.uint32], Ids, Ids]:
        """Return each token, where its postings begin, and how many there are."""
        tokens = self.tokens
        first = _first_of_each(tokens)
        return tokens[first], first, np.diff(np.append(first, len(tokens)))

    @property
    def nbytes(self) -> int:
        """How many bytes it takes."""
        return self.keys.nbytes + self.counts.nbytes

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
        bm25: bm25s.BM25,
        token_ids: NDArray[np.uint32],
        counts: NDArray[np.unsignedinteger],
        column: TokenColumn,
    ) -> None:
        """Keep a scorer of the ascending token ids' positions, those ids, and the tokens by row.

        ``counts`` say how often a token occurs in a row, where ``bm25`` has its score. ``size`` is
        how many rows there are.
        """
        self.bm25 = bm25
        self.token_ids = token_ids
        self.counts = counts
        self.column = column
        self.parameters = Bm25Parameters(bm25.k1, bm25.b)
        self.totals = totals_of(column)
        self.size = len(column)

    @classmethod
    def build(cls, column: TokenColumn, parameters: Bm25Parameters | None = None) -> KeywordIndex:
        """Build from the tokens of every row; the same rows give the same bytes."""
        parameters = parameters or Bm25Parameters()
        token_ids, indptr, rows, data = _inverted(column)
        totals = totals_of(column)
        frequencies = np.diff(indptr)
        idf, norms = totals.idf(frequencies), totals.norms(column.lengths, parameters)
        # Mostly a byte each.
        kept = data.astype(np.min_scalar_type(int(data.max(initial=0))))
        # By blocks and in place: counts become scores.
        ends = np.searchsorted(indptr, np.arange(_BLOCK, len(rows) + _BLOCK, _BLOCK))
        for start, end in pairwise([0, *np.minimum(ends, len(token_ids)).tolist()]):
            here = slice(indptr[start], indptr[end])
            counts = data[here]
            weights = np.repeat(idf[start:end], frequencies[start:end])
            data[here] = weights * (counts / (counts + norms[rows[here]]))
        bm25 = _bm25s().BM25(parameters.k1, parameters.b, method="lucene")
        bm25.scores = {"data": data, "indices": rows, "indptr": indptr, "num_docs": len(column)}
        bm25.vocab_dict = {}
        bm25.nonoccurrence_array = None
        return cls(bm25, token_ids, kept, column)

    def document_frequencies(self, token_ids: Ids) -> Ids:
        """Return in how many rows each token occurs; 0 for unknown tokens."""
        positions, present = positions_in(self.token_ids, token_ids)
        indptr = self.bm25.scores["indptr"]
        if not len(self.token_ids):
            return positions
        return np.where(present, indptr[positions + 1] - indptr[positions], 0)

    def scores(
        self, token_ids: Ids, weights: NDArray[np.float32] | None = None
    ) -> NDArray[np.float32]:
        """Return every row's score, float32 (n,); ``weights`` multiply those of each token.

        Tokens are added in the order given, so that equal queries have equal sums.
        """
        scores = np.zeros(self.size, np.float32)
        data, rows = self.bm25.scores["data"], self.bm25.scores["indices"]
        positions, present = positions_in(self.token_ids, token_ids)
        for number in np.flatnonzero(present).tolist():
            span = self._span(positions[number])
            of_token = data[span] if weights is None else data[span] * weights[number]
            # As ``BM25.get_scores_from_ids`` does, which copies all postings to one array first.
            np.add.at(scores, rows[span], of_token)
        return scores

    def rows_with(self, token_ids: Ids) -> list[NDArray[np.int32]]:
        """Return the rows in which each token occurs, ascending; none for unknown tokens."""
        positions, present = positions_in(self.token_ids, token_ids)
        spans = (
            self._span(position) if there else slice(0)
            for position, there in zip(positions.tolist(), present.tolist(), strict=True)
        )
        return [self.bm25.scores["indices"][span] for span in spans]

    def counts_of(self, token_ids: Ids) -> tuple[NDArray[np.int32], NDArray[np.float32], Ids]:
        """Return the rows of tokens, one token after the other, and how often it occurs in each.

        Last is how many rows each token has, (m,), 0 for unknown tokens.
        """
        positions, present = positions_in(self.token_ids, token_ids)
        spans = [
            self._span(position) if there else slice(0, 0)
            for position, there in zip(positions.tolist(), present.tolist(), strict=True)
        ]
        rows = np.concatenate([self.bm25.scores["indices"][span] for span in spans])
        counts = np.concatenate([self.counts[span] for span in spans])
        lengths = np.array([span.stop - span.start for span in spans], np.int64)
        return rows, counts.astype(np.float32), lengths

    @cached_property
    def has_tokens(self) -> Bools:
        """Which rows have tokens in the field, bool (n,)."""
        return self.column.lengths > 0

    def _span(self, position: int) -> slice:
        """Return where the postings of the token at a position are."""
        indptr = self.bm25.scores["indptr"]
        return slice(int(indptr[position]), int(indptr[position + 1]))

    @property
    def nbytes(self) -> int:
        """How many bytes it takes: the scores, and the tokens in reading order."""
        scores = sum(self.bm25.scores[name].nbytes for name in ("data", "indices", "indptr"))
        column = self.column.flat.nbytes + self.column.offsets.nbytes
        return int(scores) + self.token_ids.nbytes + self.counts.nbytes + column

    def save(self, folder: Path) -> None:
        """Write everything into a new folder."""
        self.bm25.save(folder, show_progress=False)
        np.save(folder / _TOKEN_IDS, self.token_ids, allow_pickle=False)
        np.save(folder / _COUNTS, self.counts, allow_pickle=False)
        np.save(folder / _FLAT, self.column.flat, allow_pickle=False)
        np.save(folder / _OFFSETS, self.column.offsets, allow_pickle=False)

    @classmethod
    def load(cls, folder: Path) -> KeywordIndex:
        """Open a saved index: large arrays are mapped into memory, small ones read.

        Raises:
            OSError, ValueError, KeyError, TypeError: the files are not what ``save`` wrote.
        """
        mapped = is_worth_mapping((folder / _SCORES).stat().st_size)
        bm25 = _bm25s().BM25.load(folder, mmap=mapped, load_vocab=False, show_progress=False)
        for name in ("data", "indices", "indptr"):
            bm25.scores[name] = plain_view(bm25.scores[name])
        column = TokenColumn(load_array(folder / _FLAT), load_array(folder / _OFFSETS))
        return cls(bm25, load_array(folder / _TOKEN_IDS), load_array(folder / _COUNTS), column)


class _Hidden:
    """Hides packages from the imports of the thread that made it."""

    def __init__(self, *names: str) -> None:
        self._names = names
        self._thread = threading.get_ident()

    def find_spec(self, fullname: str, *_others: object) -> None:
        """Raise for a hidden package; leave all others to the usual finders."""
        if fullname in self._names and threading.get_ident() == self._thread:
            raise ModuleNotFoundError(f"{fullname} is hidden", name=fullname)


@cache
def _bm25s() -> Any:
    """Import bm25s without SciPy and tqdm, and keep it quiet.

    Both are optional there: it builds indexes and shows progress with them. They are four fifths
    of the time that its import takes.
    """
    hidden = _Hidden("scipy", "tqdm")
    sys.meta_path.insert(0, hidden)
    try:
        import bm25s
    finally:
        sys.meta_path.remove(hidden)
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    return bm25s


def _inverted(
    column: TokenColumn,
) -> tuple[NDArray[np.uint32], Ids, NDArray[np.int32], NDArray[np.float32]]:
    """Return the tokens, ascending, where the postings of each begin, and their rows and counts.

    So many rows are sorted at a time that it takes little memory: once to see in how many rows
    each token occurs, and again to put its postings in their places.
    """
    ends = np.searchsorted(column.offsets, np.arange(_BLOCK, len(column.flat), _BLOCK))
    bounds = np.unique(np.concatenate([[0], ends, [len(column)]])).tolist()
    parts = [slice(*bound) for bound in pairwise(bounds)]
    if len(parts) < 2:
        postings = Postings.of(column)
        tokens, first, _ = postings.runs()
        return tokens, np.append(first, len(postings.keys)), postings.rows, postings.counts
    token_ids, indptr = _starts_of(Postings.of(column.part(part), part.start) for part in parts)
    rows, counts = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], np.float32)
    free = indptr[:-1].copy()
    for part in parts:
        postings = Postings.of(column.part(part), part.start)
        tokens, first, lengths = postings.runs()
        at = np.searchsorted(token_ids, tokens)
        places = np.repeat(free[at] - first, lengths) + np.arange(len(postings.keys))
        rows[places], counts[places] = postings.rows, postings.counts
        free[at] += lengths
    return token_ids, indptr, rows, counts


def _starts_of(parts: Iterable[Postings]) -> tuple[NDArray[np.uint32], Ids]:
    """Return all tokens, ascending, and where the postings of each begin among those of all."""
    runs = [(tokens, lengths) for tokens, _, lengths in (part.runs() for part in parts)]
    token_ids = np.unique(np.concatenate([tokens for tokens, _ in runs]))
    indptr = np.zeros(len(token_ids) + 1, np.int64)
    for tokens, lengths in runs:
        indptr[np.searchsorted(token_ids, tokens) + 1] += lengths
    return token_ids, np.cumsum(indptr)


def _first_of_each(ordered: NDArray[Any]) -> Ids:
    """Return where each new value begins."""
    changes = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=changes[1:])
    return np.flatnonzero(changes).astype(np.int64)


def is_worth_mapping(size: int) -> bool:
    """Return whether an array's file of that size is mapped into memory, not read.

    Each mapped file keeps one of the process's file handles, of which there are few: 256 on macOS.
    """
    return size >= _LEAST_MAPPED


def load_array(path: Path) -> NDArray[Any]:
    """Map an array file into memory, or read a small one; read only."""
    mode: Literal["r"] | None = "r" if is_worth_mapping(path.stat().st_size) else None
    return plain_view(np.load(path, mmap_mode=mode, allow_pickle=False))


def plain_view(loaded: NDArray[Any]) -> NDArray[Any]:
    """Return a view that cannot be written; slices of ``np.memmap`` itself are slow to make."""
    view = np.asarray(loaded).view(np.ndarray)
    view.flags.writeable = False
    return view
