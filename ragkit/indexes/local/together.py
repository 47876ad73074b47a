"""All chunks of a library in one index, in memory: of very many collections, which have the best.

Nothing is answered from it. It says in which collections the best candidates of a question lie, and
those are then searched in their own indexes. Rarity and lengths are counted in each collection by
itself, as there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import IndexCorruptError, QueryError, RagkitError
from ragkit.indexes.bm25 import BM25F_PARAMETERS, idf_of, norms_of
from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.local.live_rows import EntryMask
from ragkit.indexes.local.segment import FieldWeights
from ragkit.indexes.protocol import WHOLE_COUNTS, EntrySource
from ragkit.indexes.rows import Bools, Ids, best_rows, positions_in
from ragkit.models.base import Embedder
from ragkit.types import ALL_COLLECTIONS, INDEXED_LEVELS, Field, Level

logger = logging.getLogger(__name__)

MOST_ENTRIES = 250_000
"""So many entries are held together; each takes some 5 KB and 30 microseconds to read."""

_LEVELS = INDEXED_LEVELS[Level.CHUNK]


class LibrarySource(EntrySource, Protocol):
    """A source that knows ``ALL_COLLECTIONS`` as a collection, and of which each entry is."""

    def homes(self, after: int) -> tuple[Ids, Ids]:
        """Return the ids of all entries above one, ascending, and the collection of each."""


class AllChunks:
    """The chunks of all collections at one version, and of which collection each is. Immutable.

    Rows are those of the index's segment, and after them those of its delta.
    """

    def __init__(self, index: CollectionIndex, entry_ids: Ids, collections: Ids) -> None:
        """Keep an index; ``entry_ids`` ascend and are of the ``collections``, (n,)."""
        self.index = index
        self._homes = entry_ids, collections
        self._by_weights: dict[FieldWeights, tuple[Ids, Bools, NDArray[np.float32]]] = {}

    def homes_of(self, entry_ids: Ids) -> Ids:
        """Return the collection of each entry, (n,); ``ALL_COLLECTIONS`` where it is not known."""
        entries, collections = self._homes
        places, present = positions_in(entries, entry_ids)
        return (
            np.where(present, collections[places], ALL_COLLECTIONS)
            if len(entries)
            else np.zeros_like(places)
        )

    def best_by_words(
        self,
        counted: Mapping[int, float],
        field_weights: Mapping[Field, float],
        among: EntryMask | None,
        depth: int,
    ) -> tuple[Ids, Ids]:
        """Return the entries with the best BM25 scores, and the best one of each word.

        Both best first, or in the order of the words; those ``among`` which pass a filter. A word
        of none of these is looked for in all, so that it is known to be somewhere.
        """
        passing = None if among is None else np.concatenate([among.base, among.delta])
        weights = tuple(sorted(item for item in field_weights.items() if item[1]))
        filled_of, filled, norms = self._statistics(weights)
        _collections, home = self._numbered
        count = len(filled_of)
        scores = np.zeros(len(home), np.float32)
        firsts = []
        for token, times in counted.items():
            of_rows = self._counted(token, weights)
            rows = np.flatnonzero((of_rows > 0) & self._live)
            if not len(rows):
                continue
            homes, held = home[rows], np.bincount(home[rows], minlength=count)
            idf = idf_of(filled_of, held)
            shares = of_rows[rows] / (of_rows[rows] + norms[rows])
            if passing is not None:
                # As ``bm25.mixed`` does for one collection.
                there = passing[rows]
                left = np.bincount(home[passing & filled], minlength=count) + WHOLE_COUNTS
                own = np.bincount(homes[there], minlength=count)
                idf = idf_of(left, own + WHOLE_COUNTS / np.maximum(filled_of, 1) * held)
                if there.any():
                    rows, homes, shares = rows[there], homes[there], shares[there]
            each = np.float32(times) * idf[homes] * shares
            firsts.append(rows[each.argmax()])
            scores[rows] += each
        if passing is not None:
            scores *= passing
        best = best_rows(scores, depth)
        ids = self._entry_ids
        return ids[best], ids[np.array(firsts, np.int64)]

    def _counted(self, token: int, weights: FieldWeights) -> NDArray[np.float32]:
        """Return how often a token occurs in each row, added up over the fields."""
        base, delta, numbers = self.index.base, self.index.delta, np.array([token], np.int64)
        counted = np.zeros(len(base) + len(delta), np.float32)
        for field, weight in weights:
            if field in base.keywords:
                rows, counts, _lengths = base.keywords[field].counts_of(numbers)
                counted[rows] += np.float32(weight) * counts
            added, counts = delta.counts_of(field, token)
            counted[added + len(base)] += np.float32(weight) * counts
        return counted

    def _statistics(self, weights: FieldWeights) -> tuple[Ids, Bools, NDArray[np.float32]]:
        """Return how many rows of each collection have tokens, which those are, and their norms."""
        if weights not in self._by_weights:
            lengths = np.concatenate(
                [self.index.base.weighted_lengths(weights), np.zeros(len(self.index.delta))]
            )
            for field, weight in weights:
                if field in self.index.delta.rows.tokens:
                    added = self.index.delta.rows.tokens[field].lengths
                    lengths[len(self.index.base) :] += weight * added
            collections, home = self._numbered
            filled = (lengths > 0) & self._live
            rows = np.bincount(home[filled], minlength=len(collections))
            tokens = np.bincount(home[filled], lengths[filled], len(collections))
            average = np.where(rows > 0, tokens / np.maximum(rows, 1), 1.0)
            parameters = self.index.base.parameters if len(weights) == 1 else BM25F_PARAMETERS
            norms = norms_of(lengths / average[home], 1.0, parameters)
            self._by_weights[weights] = rows, filled, norms
        return self._by_weights[weights]

    @cached_property
    def _entry_ids(self) -> Ids:
        return np.concatenate([self.index.base.entry_ids, self.index.delta.rows.entry_ids])

    @cached_property
    def _numbered(self) -> tuple[Ids, Ids]:
        """The collections, ascending, and the number of each row's among them."""
        collections, numbers = np.unique(self.homes_of(self._entry_ids), return_inverse=True)
        return collections, numbers.reshape(-1)

    @cached_property
    def _live(self) -> Bools:
        return np.concatenate([self.index.alive, np.ones(len(self.index.delta), np.bool_)])

    def followed(self, source: LibrarySource, embedder: Embedder) -> AllChunks:
        """Return the chunks as the source has them now.

        Raises:
            IndexCorruptError: they are of another history of the source.
        """
        index = self.index
        entries, collections = self._homes
        last = int(entries[-1]) if len(entries) else 0
        changes = source.changes(
            ALL_COLLECTIONS, _LEVELS, fingerprint=embedder.fingerprint,
            dimensions=embedder.dimensions, since=index.version, after=last,
        )  # fmt: skip
        index = index.remove(changes.removed, changes.version)
        index = index.upsert(changes.added, changes.version)
        added, homes = source.homes(last)
        if len(changes.added):
            # What came after the changes were read is left to the next time.
            there = added <= changes.added.entry_ids[-1]
            entries = np.concatenate([entries, added[there]])
            collections = np.concatenate([collections, homes[there]])
        return AllChunks(index, entries, collections)


class Together:
    """Holds the chunks of all collections at the newest change. Safe to share between threads.

    They are read from the source in a thread of its own when they are first asked for, and again
    where much has changed since.
    """

    def __init__(self, source: LibrarySource, embedder: Embedder) -> None:
        self._source = source
        self._embedder = embedder
        self._guard = threading.Lock()
        self._chunks: AllChunks | None = None
        self._reading: threading.Thread | None = None
        self._trouble: RagkitError | None = None

    def current(self, seconds: float) -> AllChunks | None:
        """Return the chunks as they are now; ``None`` while they are still read after some time.

        Raises:
            QueryError: they are more than may be held.
            RagkitError: they could not be read.
        """
        with self._guard:
            chunks = self._followed()
            if chunks is None and self._reading is None:
                self._check(self._source.count(ALL_COLLECTIONS, _LEVELS))
                self._read()
            reading = self._reading
        if chunks is None and reading is not None:
            reading.join(seconds)
            with self._guard:
                trouble, self._trouble = self._trouble, None
                if trouble is not None:
                    raise trouble
                chunks = self._followed()
        return chunks

    def _followed(self) -> AllChunks | None:
        """Bring the chunks to the newest change; have them read anew where that costs less."""
        chunks = self._chunks
        if chunks is None or chunks.index.version == self._source.version(ALL_COLLECTIONS):
            return chunks
        try:
            chunks = self._chunks = chunks.followed(self._source, self._embedder)
        except IndexCorruptError:
            self._chunks = None
            return None
        count = self._source.count(ALL_COLLECTIONS, _LEVELS)
        self._check(count)
        # Entries of a collection that was deleted are nowhere noted as removed.
        lost = chunks.index.entries != count
        if self._reading is None and (lost or chunks.index.worth_merging):
            self._read()
        return chunks

    def _check(self, count: int) -> None:
        if count > MOST_ENTRIES:
            self._chunks = None
            raise QueryError(
                f"All collections together are too many to be searched at once: {count:,} entries "
                f"where {MOST_ENTRIES:,} are the most.",
                "Choose some of the collections.",
            )

    def _read(self) -> None:
        self._reading = threading.Thread(target=self._run, name="ragkit-together", daemon=True)
        self._reading.start()

    def _run(self) -> None:
        chunks, trouble = None, None
        try:
            chunks = self._whole()
        except RagkitError as error:
            trouble = error
        except Exception:
            logger.exception("the chunks of all collections could not be read")
            trouble = RagkitError("Not all collections could be read. See the log.", "Try again.")
        with self._guard:
            self._reading, self._trouble = None, trouble
            self._chunks = chunks or self._chunks

    def _whole(self) -> AllChunks:
        """Read all chunks from the source."""
        read = self._source.everything(
            ALL_COLLECTIONS, _LEVELS, fingerprint=self._embedder.fingerprint,
            dimensions=self._embedder.dimensions,
        )  # fmt: skip
        with read as snapshot:
            index = CollectionIndex.build(snapshot.rows.joined(), snapshot.version)
        ids, collections = self._source.homes(0)
        # What came after the rows were read is left to the next time.
        there = ids <= index.entry_ids().max(initial=0)
        return AllChunks(index, ids[there], collections[there])
