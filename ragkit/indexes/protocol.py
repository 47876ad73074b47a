"""What an index backend does: entries in, ranked candidates and exact scores out.

Retrieval is written against these types alone. The local backend (FAISS and bm25s) is one
implementation; ``tests/indexes/test_backend_contract.py`` holds for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.rows import Bools, EntryRows, Ids, RowSlices, TokenColumn
from ragkit.options import IndexMode, SearchOptions
from ragkit.types import Field, Level, Version

_DEFAULTS = SearchOptions()

WHOLE_COUNTS = 200
"""As how many entries the whole index counts beside those that pass a filter (``EntryFilter``)."""


class IndexKind(StrEnum):
    """The two ways in which entries are ranked for a query."""

    VECTOR = "vector"
    KEYWORD = "keyword"


@dataclass(frozen=True, slots=True, eq=False)
class IndexQuery:
    """A query as an index takes it: vocabulary ids of its tokens, in order, and its vector (d,).

    A query without tokens, or whose vector is ``None`` or zeros, finds nothing by that kind.
    ``weights`` say how much tokens count, and may name further ones; the others count as often as
    they occur.
    """

    token_ids: Sequence[int] = ()
    vector: NDArray[np.float32] | None = None
    weights: Mapping[int, float] = field(default_factory=dict)

    @property
    def counted(self) -> Mapping[int, float]:
        """How much each token counts by keyword, in the order of the query."""
        return {**Counter(self.token_ids), **self.weights}


@dataclass(frozen=True, slots=True, eq=False)
class EntryFilter:
    """Which entries a search may return; every part that is given must hold.

    An empty array of ids lets nothing through. ``chunk_ids`` are own entries of chunks, of which
    all entries pass; all those of ``without_chunk_ids`` are left out. ``representatives`` restricts
    vectors only: a chunk is then represented by its contexts where it has some, and never by its
    questions.

    By keyword, how rare a token is counts among the entries with tokens that pass all ids, and
    ``WHOLE_COUNTS`` more in which it is as frequent as in the whole index: the name that all
    messages of one conversation hold tells them apart no more. How long entries are on average
    stays that of the whole.
    """

    document_ids: Ids | None = None
    entry_ids: Ids | None = None
    levels: tuple[Level, ...] | None = None
    representatives: bool = False
    chunk_ids: Ids | None = None
    without_chunk_ids: Ids | None = None


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """How vectors are searched: see ``SearchOptions``."""

    mode: IndexMode = _DEFAULTS.index
    nprobe: int = _DEFAULTS.nprobe
    overfetch: int = _DEFAULTS.overfetch


@dataclass(frozen=True, slots=True)
class SearchStrategy:
    """How vectors are searched and why; ``width`` is that of the approximate search, 0 if exact.

    ``missing`` is True when an approximate index was asked for and there is none. So many of those
    that an approximate search finds are ``scored`` exactly.
    """

    width: int
    why: str
    missing: bool = False
    scored: int = 0


@dataclass(frozen=True, slots=True)
class Candidates:
    """What an index returns for a batch of queries, in columns over all of them.

    ``queries`` has the number of each one's query, ascending; those of a query are best first, ties
    by entry id. ``parent_ids`` name the own entry of the chunk that each entry belongs to;
    for sections and documents, the entry itself. ``levels`` holds level codes.
    """

    queries: Ids
    entry_ids: Ids
    document_ids: Ids
    parent_ids: Ids
    chunk_indexes: NDArray[np.int32]
    levels: NDArray[np.int8]
    scores: NDArray[np.floating]


class IndexSearch(Protocol):
    """A batch of queries put to one index under one filter, at one version of the index.

    The filter acts before ranking. What is computed for the queries is kept as long as this
    object, so that exact scores cost no second pass. Two threads may use it at once, each for a
    kind of its own.
    """

    @property
    def index(self) -> EntryIndex:
        """The index that is searched."""

    @property
    def passing(self) -> int:
        """How many entries the filter lets through."""

    def documents(self, kind: IndexKind) -> Ids:
        """Return ids of documents that pass and that the first query finds, ascending.

        By keyword, those with an entry that holds one of its tokens; by vector, all that pass.
        """

    def strategy(self, depth: int) -> SearchStrategy:
        """Return how ``candidates`` searches vectors for so many entries a query."""

    def candidates(self, kind: IndexKind, depth: int) -> Candidates:
        """Return the best entries of each query, at most ``depth``; all scores are exact.

        By keyword, an entry that holds no token of the query is never among them; by vector, one
        without a vector. Only ``strategy(depth).width`` may miss some of the best.
        """

    def scores(
        self, kind: IndexKind, entry_ids: Ids, queries: Ids | None = None
    ) -> NDArray[np.float32]:
        """Return exact scores, float32 (n,); 0 for unknown entries and where nothing matches.

        ``queries`` (n,) has the number of the query that each is scored for, ascending; ``None``:
        all for the first. By vector, a chunk named by its own entry has the best score of its
        entries that pass the filter's ``levels`` and ``representatives``; documents and entry ids
        of the filter do not matter here.
        """


class EntryIndex(Protocol):
    """The entries of one collection at one level, as they were at one version.

    A change returns another value; searches that run keep theirs whole. The entries of a chunk
    follow its own entry, and come and go with it.
    """

    @property
    def version(self) -> Version:
        """The version of the collection that it holds."""

    @property
    def entries(self) -> int:
        """How many entries it holds."""

    @property
    def entries_per_chunk(self) -> float:
        """How many entries a chunk has on average; 1 where none has more than one."""

    @property
    def fields(self) -> frozenset[Field]:
        """The fields in which any entry has had tokens."""

    def size(self, levels: Sequence[Level], fields: Iterable[Field]) -> int:
        """Return how many bytes the vectors of some levels and the tokens of some fields take."""

    def upsert(self, rows: EntryRows, version: Version) -> Self:
        """Return the index with these entries; one that it holds already is replaced."""

    def remove(self, entry_ids: Iterable[int] | Ids, version: Version) -> Self:
        """Return the index without these entries; unknown ones are ignored."""

    def search(
        self,
        queries: Sequence[IndexQuery],
        entry_filter: EntryFilter | None = None,
        field_weights: Mapping[Field, float] | None = None,
        vector_search: VectorSearch | None = None,
    ) -> IndexSearch:
        """Put queries to the index; ``field_weights`` say how much a token counts in each field.

        Tokens of several fields are counted together (BM25F); without weights, only ``TEXT``
        counts. A token that occurs twice in a query counts twice.
        """

    def get(self, entry_ids: Ids, field: Field) -> TokenColumn:
        """Return the tokens of entries in reading order; none for an unknown entry."""

    def content_keys(self, entry_ids: Ids) -> NDArray[np.uint64]:
        """Return keys (n,), equal for texts that people take for the same; 0 where unknown."""

    def idf(self, token_ids: Sequence[int], field: Field) -> NDArray[np.float32]:
        """Return the inverse document frequency of tokens among its entries, (m,)."""

    def document_frequencies(self, token_ids: Sequence[int], field: Field) -> Ids:
        """Return how many of its entries have each token, (m,)."""

    def holders(self, token_ids: Sequence[int], documents: Ids, fields: Sequence[Field]) -> Bools:
        """Return which of some documents have each token in one of the fields, (m, d)."""

    @property
    def documents(self) -> int:
        """How many documents its entries are of."""

    def openings(self, token_ids: Sequence[int], least: int) -> list[Ids]:
        """Return for each token the documents of which the first chunk has it in its text.

        They ascend, and have ``least`` chunks or more. A token that very many entries have is not
        looked for: it returns none.
        """

    def throughout(self, token_ids: Sequence[int], field: Field, least: int) -> list[Ids]:
        """Return for each token the documents of which every chunk has it in a field, likewise."""

    def spread(self, token_ids: Sequence[int]) -> list[int]:
        """Return how many documents have each token in their text; 0 if very many entries do."""

    def with_vectors(self, entry_ids: Ids, level: Level) -> Bools:
        """Return which chunks, named by their own entries, have a vector of a level, (n,)."""

    def holding(self, token_ids: Sequence[int]) -> tuple[Ids, Ids]:
        """Return the entries that have all of these tokens in their text, and their documents.

        They are ids (n,) each; those of entries ascend.
        """

    def scan(self, since: int = 0) -> EntryRows:
        """Return the entries with ids above ``since``, ordered by id.

        Ids only grow, so these are the entries that came after that one.
        """


class Collection(Protocol):
    """What a backend needs to know of a collection."""

    @property
    def id(self) -> int:
        """Its number."""

    @property
    def name(self) -> str:
        """Its name, for the log."""


class IndexBackend(Protocol):
    """The indexes of all collections of a library. Safe to share between threads."""

    def current(self, collection: Collection, level: Level = Level.CHUNK) -> EntryIndex:
        """Return the index of exactly the collection's present entries of a level."""

    def generation(self, collection: Collection) -> str:
        """Return the name of the chunk index's generation; empty if it is only in memory."""

    def pop_notice(self, collection: Collection) -> str:
        """Return a notice of a repair, once; an empty string if there is none."""

    def save(self, collection: Collection, *, always: bool = False) -> int:
        """Make changes durable where there are many, or always; return how many indexes.

        Only the writer calls this.
        """

    def rebuild(self, collection: Collection) -> None:
        """Write every index of a collection from its source. Only the writer calls this.

        Vectors that have come to entries since they were indexed are then found.
        """

    def forget(self, collection_id: int) -> None:
        """Close a collection's indexes."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What has become of a collection's entries: those added, ids of those removed, its version."""

    added: EntryRows
    removed: Ids
    version: Version


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A collection's entries of some levels as they were at its version."""

    rows: RowSlices
    version: Version


class EntrySource(Protocol):
    """Where entries come from: the catalog, the only truth."""

    def library(self) -> str:
        """Return the identity of the library, by which a server that has several tells it."""

    def version(self, collection_id: int) -> Version:
        """Return the version of a collection; cheap enough for every search."""

    def count(self, collection_id: int, levels: Sequence[Level]) -> int:
        """Return how many entries of those levels the collection has."""

    def changes(
        self,
        collection_id: int,
        levels: Sequence[Level],
        *,
        fingerprint: str,
        dimensions: int,
        since: Version,
        after: int,
    ) -> Changes:
        """Read, at one instant, the entries with ids above ``after`` and their vectors.

        Vectors are those of the embedder with that fingerprint. ``removed`` names what went after
        the version ``since``.

        Raises:
            IndexCorruptError: ``since`` is of another history of the source.
        """

    def everything(
        self, collection_id: int, levels: Sequence[Level], *, fingerprint: str, dimensions: int
    ) -> AbstractContextManager[Snapshot]:
        """Read all entries and their vectors at one instant, a slice at a time.

        The slices can be read until the context ends.
        """
