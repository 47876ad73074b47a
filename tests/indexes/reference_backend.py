"""A backend of plain numpy and Python: what every other one must agree with."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ragkit.indexes.bm25 import BM25F_PARAMETERS
from ragkit.indexes.protocol import (
    WHOLE_COUNTS,
    Candidates,
    Collection,
    EntryFilter,
    EntrySource,
    IndexKind,
    IndexQuery,
    SearchStrategy,
    VectorSearch,
)
from ragkit.indexes.rows import EntryRows, TokenColumn
from ragkit.types import INDEXED_LEVELS, LEVEL_CODES, Field, Level

K1, B = 1.2, 0.75
_OWN = {LEVEL_CODES[level] for level in (Level.CHUNK, Level.SECTION, Level.DOCUMENT)}


@dataclass(frozen=True)
class Entry:
    """One entry, with its vector or ``None``, and its tokens a field."""

    id: int
    document_id: int
    chunk_index: int
    level: int
    vector: np.ndarray | None
    tokens: Mapping[Field, tuple[int, ...]]
    content_key: int
    parent: int = 0


def entries_of(rows: EntryRows) -> list[Entry]:
    """The entries of rows."""
    found = []
    for row in range(len(rows)):
        tokens = {
            field: tuple(column.flat[column.offsets[row] : column.offsets[row + 1]].tolist())
            for field, column in rows.tokens.items()
        }
        vector = rows.vectors[row].astype(np.float32)
        usable = rows.has_vector[row] and np.isfinite(vector).all() and vector.any()
        found.append(
            Entry(
                int(rows.entry_ids[row]),
                int(rows.document_ids[row]),
                int(rows.chunk_indexes[row]),
                int(rows.levels[row]),
                vector if usable else None,
                tokens,
                int(rows.content_keys[row]),
            )
        )
    return found


class ReferenceIndex:
    """Entries in a dictionary; every answer is worked out one by one."""

    def __init__(self, entries: Iterable[Entry], dimensions: int, version: int = 0) -> None:
        self.version = version
        self.dimensions = dimensions
        self._entries: dict[int, Entry] = {}
        parent = 0
        for entry in sorted(entries, key=lambda one: one.id):
            parent = entry.id if entry.level in _OWN or not parent else parent
            self._entries[entry.id] = replace(entry, parent=parent)

    @classmethod
    def of(cls, rows: EntryRows, version: int = 0) -> ReferenceIndex:
        return cls(entries_of(rows), rows.dimensions, version)

    def upsert(self, rows: EntryRows, version: int) -> ReferenceIndex:
        merged = {**self._entries, **{entry.id: entry for entry in entries_of(rows)}}
        return ReferenceIndex(merged.values(), self.dimensions, version)

    def remove(self, entry_ids: Iterable[int], version: int) -> ReferenceIndex:
        gone = {int(entry_id) for entry_id in entry_ids}
        kept = [entry for entry in self._entries.values() if entry.id not in gone]
        return ReferenceIndex(kept, self.dimensions, version)

    @property
    def entries(self) -> int:
        return len(self._entries)

    @property
    def entries_per_chunk(self) -> float:
        own = sum(entry.level in _OWN for entry in self._entries.values())
        return len(self._entries) / own if own else 1.0

    @property
    def fields(self) -> frozenset[Field]:
        return frozenset(
            field for entry in self._entries.values() for field, tokens in entry.tokens.items()
            if tokens
        )  # fmt: skip

    def size(self, levels: Sequence[Level], fields: Iterable[Field]) -> int:
        codes = {LEVEL_CODES[level] for level in levels}
        vectors = sum(
            2 * len(entry.vector)
            for entry in self._entries.values()
            if entry.level in codes and entry.vector is not None
        )
        wanted = set(fields)
        counts = (
            len(tokens)
            for entry in self._entries.values()
            for field, tokens in entry.tokens.items()
            if field in wanted
        )
        return vectors + 4 * sum(counts)

    def get(self, entry_ids: np.ndarray, field: Field) -> TokenColumn:
        known = (self._entries.get(entry_id) for entry_id in entry_ids.tolist())
        return TokenColumn.of([entry.tokens.get(field, ()) if entry else () for entry in known])

    def idf(self, token_ids: Sequence[int], field: Field) -> np.ndarray:
        texts = [tokens for entry in self._entries.values() if (tokens := entry.tokens.get(field))]
        return np.array([_idf(len(texts), sum(one in t for t in texts)) for one in token_ids])

    def document_frequencies(self, token_ids: Sequence[int], field: Field) -> np.ndarray:
        texts = [entry.tokens.get(field, ()) for entry in self._entries.values()]
        return np.array([sum(one in text for text in texts) for one in token_ids], np.int64)

    def holders(
        self, token_ids: Sequence[int], documents: np.ndarray, fields: Sequence[Field]
    ) -> np.ndarray:
        holding = [
            [entry.document_id for entry in self._entries.values()
             if any(token in entry.tokens.get(field, ()) for field in fields)]
            for token in token_ids
        ]  # fmt: skip
        among = [[document in of_token for document in documents] for of_token in holding]
        return np.array(among, np.bool_).reshape(len(token_ids), len(documents))

    @property
    def documents(self) -> int:
        return len({entry.document_id for entry in self._entries.values()})

    def openings(self, token_ids: Sequence[int], least: int) -> list[np.ndarray]:
        return self._with(token_ids, Field.TEXT, least, lambda places, _chunks: 0 in places)

    def throughout(self, token_ids: Sequence[int], field: Field, least: int) -> list[np.ndarray]:
        return self._with(token_ids, field, least, lambda places, chunks: len(places) == chunks)

    def _with(self, token_ids, field, least, wanted) -> list[np.ndarray]:
        own = [entry for entry in self._entries.values() if entry.level in _OWN]
        chunks = Counter(entry.document_id for entry in own)
        found = []
        for token in token_ids:
            places: dict[int, list[int]] = {}
            for entry in own:
                if token in entry.tokens.get(field, ()):
                    places.setdefault(entry.document_id, []).append(entry.chunk_index)
            kept = [
                document
                for document, at in places.items()
                if chunks[document] >= least and wanted(at, chunks[document])
            ]
            found.append(np.array(sorted(kept), np.int64))
        return found

    def spread(self, token_ids: Sequence[int]) -> list[int]:
        return [
            len({entry.document_id for entry in self._entries.values()
                 if token in entry.tokens.get(Field.TEXT, ())})
            for token in token_ids
        ]  # fmt: skip

    def with_vectors(self, entry_ids: np.ndarray, level: Level) -> np.ndarray:
        having = {
            entry.parent
            for entry in self._entries.values()
            if entry.level == LEVEL_CODES[level] and entry.vector is not None
        }
        return np.array([entry_id in having for entry_id in entry_ids.tolist()], np.bool_)

    def content_keys(self, entry_ids: np.ndarray) -> np.ndarray:
        known = (self._entries.get(entry_id) for entry_id in entry_ids.tolist())
        return np.array([entry.content_key if entry else 0 for entry in known], np.uint64)

    def holding(self, token_ids: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        found = sorted(
            (entry.id, entry.document_id)
            for entry in self._entries.values()
            if token_ids and set(token_ids) <= set(entry.tokens.get(Field.TEXT, ()))
        )
        entries, documents = np.array(found, np.int64).reshape(-1, 2).T
        return entries, documents

    def scan(self, since: int = 0) -> EntryRows:
        found = [entry for entry in self._entries.values() if entry.id > since]
        nothing = np.zeros(self.dimensions, np.float16)
        fields = sorted({field for entry in found for field, tokens in entry.tokens.items()})
        return EntryRows(
            np.array([entry.id for entry in found], np.int64),
            np.array([entry.document_id for entry in found], np.int64),
            np.array([entry.level for entry in found], np.int8),
            np.array([entry.chunk_index for entry in found], np.int32),
            np.array([entry.content_key for entry in found], np.uint64),
            np.array(
                [nothing if entry.vector is None else entry.vector for entry in found], np.float16
            ).reshape(len(found), self.dimensions),
            np.array([entry.vector is not None for entry in found], np.bool_),
            {field: TokenColumn.of([e.tokens.get(field, ()) for e in found]) for field in fields},
        )

    def search(
        self,
        queries: Sequence[IndexQuery],
        entry_filter: EntryFilter | None = None,
        field_weights: Mapping[Field, float] | None = None,
        vector_search: VectorSearch | None = None,
    ) -> ReferenceSearch:
        weights = {Field.TEXT: 1.0} if field_weights is None else field_weights
        return ReferenceSearch(self, queries, entry_filter or EntryFilter(), weights)

    def all(self) -> list[Entry]:
        return list(self._entries.values())


class ReferenceSearch:
    """Queries put to a ``ReferenceIndex``."""

    def __init__(
        self,
        index: ReferenceIndex,
        queries: Sequence[IndexQuery],
        entry_filter: EntryFilter,
        field_weights: Mapping[Field, float],
    ) -> None:
        self.index = index
        self._queries = queries
        self._filter = entry_filter
        self._weights = {field: weight for field, weight in field_weights.items() if weight}

    @property
    def passing(self) -> int:
        return len(self._passing)

    def documents(self, kind: IndexKind) -> np.ndarray:
        query = self._queries[0]
        found = {
            entry.document_id
            for entry in self._passing
            if kind is IndexKind.VECTOR or self._score(kind, query, entry) is not None
        }
        return np.array(sorted(found), np.int64)

    def strategy(self, depth: int) -> SearchStrategy:
        return SearchStrategy(0, "exact: there is nothing else")

    def candidates(self, kind: IndexKind, depth: int) -> Candidates:
        lists = []
        possible = [
            entry for entry in self._passing if kind is IndexKind.KEYWORD or self._represents(entry)
        ]
        for query in self._queries:
            scored = [
                (score, entry)
                for entry in possible
                if (score := self._score(kind, query, entry)) is not None
            ]
            scored.sort(key=lambda one: (-one[0], one[1].id))
            lists.append(scored[: max(depth, 0)])
        found = [entry for scored in lists for _, entry in scored]
        return Candidates(
            np.array([number for number, own in enumerate(lists) for _ in own], np.int64),
            np.array([entry.id for entry in found], np.int64),
            np.array([entry.document_id for entry in found], np.int64),
            np.array([entry.parent for entry in found], np.int64),
            np.array([entry.chunk_index for entry in found], np.int32),
            np.array([entry.level for entry in found], np.int8),
            np.array([score for scored in lists for score, _ in scored], np.float32),
        )

    def scores(
        self, kind: IndexKind, entry_ids: np.ndarray, queries: np.ndarray | None = None
    ) -> np.ndarray:
        queries = np.zeros(len(entry_ids), np.int64) if queries is None else queries
        known = {entry.id: entry for entry in self.index.all()}
        scores = np.zeros(len(entry_ids), np.float32)
        for number, query in enumerate(self._queries):
            for place in np.flatnonzero(queries == number).tolist():
                entry = known.get(int(entry_ids[place]))
                if entry is None:
                    continue
                of_chunk = [entry]
                if kind is IndexKind.VECTOR:
                    of_chunk = [
                        member
                        for member in known.values()
                        if member.id == entry.id
                        or (entry.level in _OWN and member.parent == entry.id)
                        if self._at_levels(member) and self._represents(member)
                    ]
                found = [self._score(kind, query, member) or 0.0 for member in of_chunk]
                scores[place] = max(found, default=0.0)
        return scores

    def _at_levels(self, entry: Entry) -> bool:
        levels = self._filter.levels
        return levels is None or entry.level in {LEVEL_CODES[level] for level in levels}

    @cached_property
    def _passing(self) -> list[Entry]:
        return [entry for entry in self._named_entries if self._at_levels(entry)]

    def _represents(self, entry: Entry) -> bool:
        if not self._filter.representatives:
            return True
        if entry.level == LEVEL_CODES[Level.CHUNK]:
            return entry.id not in self._with_context
        return entry.level != LEVEL_CODES[Level.QUESTION]

    @cached_property
    def _with_context(self) -> set[int]:
        context = LEVEL_CODES[Level.CONTEXT]
        return {entry.parent for entry in self.index.all() if entry.level == context}

    def _score(self, kind: IndexKind, query: IndexQuery, entry: Entry) -> float | None:
        if kind is IndexKind.VECTOR:
            if query.vector is None or not query.vector.any() or entry.vector is None:
                return None
            return float(np.dot(query.vector.astype(np.float64), entry.vector.astype(np.float64)))
        return self._bm25(query, entry) or None

    def _bm25(self, query: IndexQuery, entry: Entry) -> float:
        """BM25 of one field, or BM25F of several: counts are added up before they saturate."""
        several = len(self._weights) > 1
        k1, b = (BM25F_PARAMETERS.k1, BM25F_PARAMETERS.b) if several else (K1, B)
        counts, length = self._counted[entry.id]
        _, average = self._filled
        score = 0.0
        asked = dict.fromkeys(query.token_ids, 0.0)
        for token in query.token_ids:
            asked[token] += 1
        for token, weight in {**asked, **query.weights}.items():
            frequency = counts.get(token, 0.0)
            if frequency > 0:
                norm = k1 * (1 - b + b * length / average)
                score += weight * self._rarity(token) * frequency / (frequency + norm)
        return score if several else score * sum(self._weights.values())

    def _rarity(self, token: int) -> float:
        """The idf of a token among what the filter names, mixed with that among everything."""
        filled, holding = self._filled[0], self._holding[token]
        if self._named_texts is None:
            return _idf(filled, holding)
        held = self._holding_of_named[token]
        return _idf(self._named_texts + WHOLE_COUNTS, held + WHOLE_COUNTS * holding / filled)

    @cached_property
    def _named_texts(self) -> int | None:
        """How many entries that the filter names have tokens; None where it names none at all."""
        wanted = self._filter
        given = (
            wanted.document_ids, wanted.entry_ids, wanted.chunk_ids, wanted.without_chunk_ids,
        )  # fmt: skip
        if all(ids is None for ids in given):
            return None
        return sum(self._counted[entry.id][1] > 0 for entry in self._named_entries)

    @cached_property
    def _named_entries(self) -> list[Entry]:
        wanted = self._filter
        ids = wanted.document_ids, wanted.entry_ids, wanted.chunk_ids, wanted.without_chunk_ids
        documents, entries, chunks, without = (
            None if those is None else set(those.tolist()) for those in ids
        )
        return [
            entry
            for entry in self.index.all()
            if (documents is None or entry.document_id in documents)
            and (entries is None or entry.id in entries)
            and (chunks is None or entry.parent in chunks)
            and (without is None or entry.parent not in without)
        ]

    @cached_property
    def _counted(self) -> dict[int, tuple[dict[int, float], float]]:
        """The weighted count of each entry's tokens, and how long it is."""
        counted = {}
        for entry in self.index.all():
            counts: dict[int, float] = {}
            length = 0.0
            for field, weight in self._weights.items():
                factor = weight if len(self._weights) > 1 else 1.0
                for token in entry.tokens.get(field, ()):
                    counts[token] = counts.get(token, 0.0) + factor
                    length += factor
            counted[entry.id] = counts, length
        return counted

    @cached_property
    def _filled(self) -> tuple[int, float]:
        """How many entries have tokens, and how long they are on average."""
        lengths = [length for _, length in self._counted.values() if length > 0]
        return len(lengths), sum(lengths) / len(lengths) if lengths else 1.0

    @cached_property
    def _holding(self) -> Counter[int]:
        """In how many entries each token stands."""
        return self._holding_among(self.index.all())

    @cached_property
    def _holding_of_named(self) -> Counter[int]:
        """In how many of the entries that the filter names each token stands."""
        return self._holding_among(self._named_entries)

    def _holding_among(self, entries: Iterable[Entry]) -> Counter[int]:
        return Counter(
            token
            for entry in entries
            for token, count in self._counted[entry.id][0].items()
            if count > 0
        )


def _idf(texts: int, holding: float) -> float:
    return math.log1p((texts - holding + 0.5) / (holding + 0.5))


class ReferenceBackend:
    """Reads everything from its source whenever it is asked."""

    def __init__(self, source: EntrySource, dimensions: int) -> None:
        self._source = source
        self._dimensions = dimensions

    def current(self, collection: Collection, level: Level = Level.CHUNK) -> ReferenceIndex:
        with self._source.everything(
            collection.id, INDEXED_LEVELS[level], fingerprint="", dimensions=self._dimensions
        ) as snapshot:
            return ReferenceIndex.of(snapshot.rows.joined(), snapshot.version)

    def generation(self, collection: Collection) -> str:
        return ""

    def pop_notice(self, collection: Collection) -> str:
        return ""

    def save(self, collection: Collection, *, always: bool = False) -> int:
        return 0

    def rebuild(self, collection: Collection) -> None: ...

    def forget(self, collection_id: int) -> None: ...
