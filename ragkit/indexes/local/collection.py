"""The indexes of one collection: a frozen segment, what was added since, and what was removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.local.candidates import Candidates, EntryMask, WordScores
from ragkit.indexes.local.chunk_groups import ChunkGroups
from ragkit.indexes.local.delta import Delta
from ragkit.indexes.local.keyword import Bm25Parameters, best_rows
from ragkit.indexes.local.scorer import BM25Scorer
from ragkit.indexes.local.segment import Segment, lookup_mask
from ragkit.indexes.local.strategy import SearchStrategy, VectorSearch, choose_strategy
from ragkit.indexes.local.tombstones import Tombstones
from ragkit.indexes.rows import Bools, EntryRows, Ids, TokenColumn, join, level_code
from ragkit.types import Field, Level

_FEW_REMOVED = 1000
_SMALLEST_MERGE = 1000
_MERGE_SHARE = 0.05
_AUTO = VectorSearch()
_EXACT = SearchStrategy(0, "exact")


class CollectionIndex:
    """Finds entries by words and by vectors. Immutable: a change gives a new value.

    Values share the segment, so readers keep a whole old value while a new one is made. Until
    the next merge, rows of the segment keep the length normalisation of the time it was built;
    all other statistics count what is live, added entries included.
    """

    def __init__(self, base: Segment, delta: Delta, removed: Tombstones, version: int) -> None:
        """Use ``build``, ``over`` or ``with_changes``."""
        self._base = base
        self._delta = delta
        self._removed = removed
        self.version = version

    @classmethod
    def build(
        cls, rows: EntryRows, version: int = 0, parameters: Bm25Parameters | None = None
    ) -> CollectionIndex:
        """Index all rows of a collection in memory."""
        return cls.over(Segment.build(rows, parameters), version)

    @classmethod
    def over(cls, segment: Segment, version: int = 0) -> CollectionIndex:
        """Search a segment, such as that of a generation on disk, as it stands."""
        nothing = Tombstones(np.zeros(0, np.int64))
        return cls(segment, Delta.empty(segment.vectors.dimensions), nothing, version)

    def with_changes(
        self, added: EntryRows, removed: Iterable[int] | Ids, version: int
    ) -> CollectionIndex:
        """Give the index after a change; an entry that is added again replaces the old one.

        Costs what the change and the delta hold, not what the segment holds.
        """
        gone = np.union1d(np.fromiter(removed, np.int64), added.entry_ids)
        delta = self._delta.without(gone).with_added(added)
        rows = np.setdiff1d(self._base.positions(gone), self._removed.rows)
        return CollectionIndex(
            self._base, delta, self._removed.with_rows(rows, self._base.keywords), version
        )

    def merged(self) -> CollectionIndex:
        """Give an index of the same live entries without delta: equal to one built afresh."""
        return CollectionIndex.build(self.live_rows(), self.version, self._base.parameters)

    def live_rows(self) -> EntryRows:
        """Give the rows of all live entries, ordered by entry id."""
        rows = self._base.rows()
        if len(self._removed.rows):
            rows = rows.take(np.flatnonzero(self._alive))
        return join([rows, self._delta.rows]) if len(self._delta) else rows

    @property
    def entries(self) -> int:
        """How many entries can be found."""
        return len(self._base) - self.removed_entries + self.delta_entries

    @property
    def delta_entries(self) -> int:
        """How many entries were added since the segment was built."""
        return len(self._delta)

    @property
    def removed_entries(self) -> int:
        """How many of the segment's entries are no longer to be found."""
        return len(self._removed.rows)

    @property
    def dimensions(self) -> int:
        """How long the vectors are."""
        return self._base.vectors.dimensions

    @cached_property
    def vector_entries(self) -> int:
        """How many live entries have a vector."""
        lost = int(np.count_nonzero(self._base.vectors.has_vector[self._removed.rows]))
        return len(self._base.vectors) - lost + len(self._delta.vectors)

    @property
    def worth_merging(self) -> bool:
        """True once so much has changed that searching pays for it."""
        changed = self.delta_entries + self.removed_entries
        return changed > max(_SMALLEST_MERGE, _MERGE_SHARE * len(self._base))

    @property
    def max_entry_id(self) -> int:
        """The highest entry id that it has been told of and that is still there, or 0."""
        ids = [rows[-1] for rows in (self._base.entry_ids, self._delta.rows.entry_ids) if len(rows)]
        return int(max(ids, default=0))

    def entry_ids(self) -> Ids:
        """Give the ids of all live entries, ascending."""
        base = self._base.entry_ids
        live = base[self._alive] if len(self._removed.rows) else base
        return np.sort(np.concatenate([live, self._delta.rows.entry_ids]))

    def mask_for(
        self,
        document_ids: Ids | None = None,
        levels: Iterable[Level] | None = None,
        entry_ids: Ids | None = None,
    ) -> EntryMask | None:
        """Say which entries may be found; each part that is given must hold.

        ``None`` comes back when nothing is restricted. An empty array lets nothing through.
        """
        codes = (
            None if levels is None else np.array([level_code(level) for level in levels], np.int64)
        )
        if codes is not None and self._level_codes <= set(codes.tolist()):
            codes = None
        parts: list[tuple[Ids | None, NDArray[Any], NDArray[Any]]] = [
            (document_ids, self._base.document_ids, self._delta.rows.document_ids),
            (codes, self._base.levels, self._delta.rows.levels),
            (entry_ids, self._base.entry_ids, self._delta.rows.entry_ids),
        ]
        mask = None
        for allowed, base, delta in parts:
            if allowed is not None:
                one = EntryMask(_among(base, allowed), _among(delta, allowed))
                mask = one if mask is None else mask & one
        return mask

    def keyword_candidates(
        self,
        queries: Sequence[Sequence[int]],
        field_weights: Mapping[Field, float],
        depth: int,
        mask: EntryMask | None = None,
    ) -> list[Candidates]:
        """Find the entries with the best BM25 scores, for each question of token ids.

        Entries without any of the tokens never come back.
        """
        return [
            self.best_by_words(self.word_scores(query, field_weights), depth, mask)
            for query in queries
        ]

    def word_scores(self, query: Sequence[int], field_weights: Mapping[Field, float]) -> WordScores:
        """Give the BM25 score of every entry for one question of token ids.

        Of several fields, words are counted over all of them (``BM25F``). A token that
        stands twice in the question counts twice.
        """
        return self._words.scores(query, field_weights)

    def best_by_words(
        self, scores: WordScores, depth: int, mask: EntryMask | None = None
    ) -> Candidates:
        """Find the entries with the best scores; zeros and what is masked never come back."""
        base, delta = scores.base, scores.delta
        if mask is not None:
            base = base * mask.base
            delta = delta * mask.delta
        rows, added = best_rows(base, depth), best_rows(delta, depth)
        return self._candidates(rows, base[rows], added, delta[added], depth)

    def word_scores_of(self, scores: WordScores, entry_ids: Ids) -> NDArray[np.float32]:
        """Give the score of each entry (m,), masked or not; 0 for one that is not here."""
        found = np.zeros(len(entry_ids), np.float32)
        for ids, known in zip(self._id_columns, (scores.base, scores.delta), strict=True):
            if len(ids):
                rows, here = _rows_of(ids, entry_ids)
                found[here] = known[rows[here]]
        return found

    def vector_way(
        self, depth: int, mask: EntryMask | None = None, search: VectorSearch = _AUTO
    ) -> SearchStrategy:
        """Say how ``vector_candidates`` would search, and why.

        What was added since the segment was built is always searched exactly.
        """
        rows = passing = self.vector_entries
        if mask is not None:
            base = mask.base & self._alive if len(self._removed.rows) else mask.base
            passing = self._base.vectors.count(base) + self._delta.vectors.count(mask.delta)
        has_graph = self._base.vectors.has_graph
        return choose_strategy(rows, passing, depth, search, has_graph=has_graph)

    def vector_candidates(
        self,
        query_vectors: NDArray[np.float32],
        depth: int,
        mask: EntryMask | None = None,
        search: VectorSearch = _AUTO,
    ) -> list[Candidates]:
        """Find the entries whose vectors are most like each query (q, d); zeros find nothing.

        All scores are exact; ``vector_way`` says whether all of the best are found.
        """
        removed = self._removed.rows
        allowed = None if mask is None else mask.base
        way = _EXACT
        if self._base.vectors.has_graph:
            way = self.vector_way(depth, mask, search)
        if len(removed) > _FEW_REMOVED or (len(removed) and (allowed is not None or way.width)):
            allowed = self._alive if allowed is None else allowed & self._alive
            removed = removed[:0]
        base = self._base.vectors.search_many(query_vectors, depth + len(removed), allowed, way)
        added = self._delta.vectors.search_many(
            query_vectors, depth, None if mask is None else mask.delta
        )
        found = []
        for (rows, scores), (new, new_scores) in zip(base, added, strict=True):
            if len(removed):
                alive = self._alive[rows]
                rows, scores = rows[alive], scores[alive]
            found.append(self._candidates(rows, scores, new, new_scores, depth))
        return found

    def vector_scores_of(
        self, query_vector: NDArray[np.float32], entry_ids: Ids
    ) -> NDArray[np.float32]:
        """Give the score of each entry (m,) for a query (d,), or each for its own (m, d).

        One that is not here has 0.
        """
        scores = np.zeros(len(entry_ids), np.float32)
        for part, ids, index in (
            (self._base, self._base.entry_ids, self._base.vectors),
            (self._delta, self._delta.rows.entry_ids, self._delta.vectors),
        ):
            if len(part):
                rows, here = _rows_of(ids, entry_ids)
                asked = query_vector if query_vector.ndim == 1 else query_vector[here]
                scores[here] = index.scores_of(asked, rows[here])
        return scores

    def holds(self, name: Field) -> bool:
        """Whether any entry has words in a field."""
        return name in self._base.keywords or name in self._delta.postings

    @property
    def entries_per_chunk(self) -> float:
        """How many entries a chunk has on average; 1 where there are no contexts."""
        rows = len(self._base) + len(self._delta)
        return rows / max(1, sum(one.chunks for one in self._families)) if rows else 1.0

    def chunk_entries(self, entry_ids: Ids) -> Ids:
        """Give the own entry of the chunk that each entry belongs to; 0 for one not here."""
        found = np.zeros(len(entry_ids), np.int64)
        for ids, families in zip(self._id_columns, self._families, strict=True):
            if len(ids):
                rows, here = _rows_of(ids, entry_ids)
                found[here] = ids[families.heads(rows[here])]
        return found

    @cached_property
    def standing(self) -> EntryMask | None:
        """The entries whose vectors stand for chunks (``ChunkGroups.standing``); ``None``: all."""
        found = [one.standing() for one in self._families]
        if all(one is None for one in found):
            return None
        base, delta = (
            np.ones(len(ids), np.bool_) if one is None else one
            for one, ids in zip(found, self._id_columns, strict=True)
        )
        return EntryMask(base, delta)

    def entries_of_chunks(
        self,
        entry_ids: Ids,
        levels: Iterable[Level] | None = None,
        among: EntryMask | None = None,
    ) -> tuple[Ids, Ids]:
        """Give all entries of chunks named by their own, and whose place each belongs to.

        ``levels`` leaves out entries of others, and ``among`` those that it does not let through.
        """
        codes = None if levels is None else np.array([level_code(one) for one in levels])
        members, owners = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        columns = (self._base.levels, self._delta.rows.levels)
        masks = (None, None) if among is None else (among.base, among.delta)
        for ids, families, own, mask in zip(
            self._id_columns, self._families, columns, masks, strict=True
        ):
            if len(ids):
                rows, here = _rows_of(ids, entry_ids)
                inside, owner = families.members(rows[here])
                kept = np.ones(len(inside), np.bool_) if mask is None else mask[inside]
                if codes is not None:
                    kept = kept & np.isin(own[inside], codes)
                inside, owner = inside[kept], owner[kept]
                members.append(ids[inside])
                owners.append(np.flatnonzero(here)[owner])
        return np.concatenate(members), np.concatenate(owners)

    def idf(self, token_ids: Sequence[int], name: Field) -> NDArray[np.float32]:
        """Give the inverse document frequency of tokens among the live entries."""
        return self._words.idf(name, np.array(token_ids, dtype=np.int64))

    def tokens_of(self, entry_ids: Ids, name: Field) -> TokenColumn:
        """Give the tokens of entries in reading order; none for one that is not here."""
        index = self._base.keywords.get(name)
        columns = (index.column if index else None, self._delta.rows.tokens.get(name))
        located = [_rows_of(ids, entry_ids) for ids in self._id_columns]
        rows, here = located[0]
        if columns[0] is not None and here.all():
            return columns[0].take(rows)
        flat = [np.zeros(0, np.uint32)] * len(entry_ids)
        for (rows, here), column in zip(located, columns, strict=True):
            if column is None:
                continue
            places = np.flatnonzero(here)
            starts, ends = column.offsets[rows[places]], column.offsets[rows[places] + 1]
            spans = zip(places.tolist(), starts.tolist(), ends.tolist(), strict=True)
            for place, start, end in spans:
                flat[place] = column.flat[start:end]
        offsets = np.zeros(len(flat) + 1, dtype=np.int64)
        np.cumsum([len(one) for one in flat], out=offsets[1:])
        return TokenColumn(np.concatenate(flat) if flat else np.zeros(0, np.uint32), offsets)

    @property
    def _id_columns(self) -> tuple[Ids, Ids]:
        """The entry ids of the segment and of the delta."""
        return self._base.entry_ids, self._delta.rows.entry_ids

    @cached_property
    def _families(self) -> tuple[ChunkGroups, ChunkGroups]:
        """The chunks of the segment and of the delta."""
        return ChunkGroups(self._base.levels), ChunkGroups(self._delta.rows.levels)

    @cached_property
    def _words(self) -> BM25Scorer:
        """What scores by words."""
        return BM25Scorer(self._base, self._delta, self._removed, self._alive)

    @cached_property
    def _alive(self) -> Bools:
        """Which rows of the segment can still be found."""
        alive = np.ones(len(self._base), dtype=np.bool_)
        alive[self._removed.rows] = False
        return alive

    @cached_property
    def _level_codes(self) -> set[int]:
        """The level codes that occur."""
        codes = np.unique(np.concatenate([self._base.levels, self._delta.rows.levels]))
        return set(codes.tolist())

    def _candidates(
        self,
        rows: Ids,
        scores: NDArray[np.float32],
        added: Ids,
        added_scores: NDArray[np.float32],
        depth: int,
    ) -> Candidates:
        """Merge two ranked lists of rows into one of entries."""
        base, delta = self._base, self._delta.rows
        if not len(added):
            # One ranked list needs no merging, and its ties are by row, which is by entry id.
            rows, scores = rows[: max(depth, 0)], scores[: max(depth, 0)]
            return Candidates(
                base.entry_ids[rows],
                base.document_ids[rows],
                base.chunk_indexes[rows],
                base.levels[rows],
                scores,
            )
        ids = np.concatenate([base.entry_ids[rows], delta.entry_ids[added]])
        both = np.concatenate([scores, added_scores])
        order = np.lexsort((ids, -both))[: max(depth, 0)]
        documents = np.concatenate([base.document_ids[rows], delta.document_ids[added]])
        chunks = np.concatenate([base.chunk_indexes[rows], delta.chunk_indexes[added]])
        levels = np.concatenate([base.levels[rows], delta.levels[added]])
        return Candidates(ids[order], documents[order], chunks[order], levels[order], both[order])


def _rows_of(ids: Ids, wanted: Ids) -> tuple[Ids, Bools]:
    """Find entries among ascending ids; those that are not there get row 0 and False."""
    if not len(ids):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    rows = np.minimum(np.searchsorted(ids, wanted), len(ids) - 1)
    here: Bools = ids[rows] == wanted
    return np.where(here, rows, 0), here


def _among(values: NDArray[Any], allowed: Ids) -> Bools:
    """Say of each value whether it is allowed."""
    return lookup_mask(values.astype(np.int64, copy=False), allowed)
