"""Listing: documents by their dates: what filters alone name, or what is found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.indexes.rows import Ids
from ragkit.options import Filters
from ragkit.retrieval.grouping import Group, Grouping
from ragkit.retrieval.hits import Hit
from ragkit.retrieval.query.scope import Scope
from ragkit.types import Level

_NEAR_BEST = 0.5
_NONE = np.zeros(0, np.int64)


def by_date(
    catalog: Catalog, grouping: Grouping, limit: int, *, oldest_first: bool = False
) -> Grouping:
    """Order the groups that come near the best by the dates of their documents."""
    groups = grouping.groups
    best = groups[0].score if groups else 0.0
    good = [own for own in groups if own.score >= _NEAR_BEST * best]
    ids = {own.document_id for own in good}
    dated = catalog.filters.by_date(ids, oldest_first=oldest_first)
    places = {document: place for place, document in enumerate(dated)}
    good.sort(key=lambda own: places.get(own.document_id, len(places)))
    return replace(grouping, groups=tuple(good[:limit]))


def listed_documents(
    catalog: Catalog,
    scopes: Sequence[tuple[CollectionRecord, Scope]],
    limit: int,
    *,
    oldest_first: bool,
) -> tuple[list[Group], Ids]:
    """Return groups of the newest documents of scopes, each by its first chunk, and ids of all.

    The oldest, if these come first.
    """
    documents = [
        catalog.filters.documents(collection.id, Filters())
        if scope.document_ids is None
        else scope.document_ids
        for collection, scope in scopes
    ]
    entries = [scope.own_entries for _, scope in scopes]
    left_out = [scope.without_chunk_ids for _, scope in scopes]
    gone = np.concatenate([_NONE, *(ids for ids in left_out if ids is not None)])
    among = [np.setdiff1d(ids, gone) for ids in entries if ids is not None]
    if len(among) == len(scopes) and among:
        allowed = np.concatenate(among).tolist()
        there = catalog.entries.documents_of(allowed)
        documents = [np.intersect1d(own, there) for own in documents]
    else:
        allowed = None
    every = np.concatenate([_NONE, *documents])
    first = catalog.filters.by_date(every.tolist(), limit, oldest_first=oldest_first)
    chunks = catalog.entries.first_chunks(first, allowed, gone.tolist())
    hits = [
        Hit(chunks[document][0], document, chunks[document][1], Level.CHUNK, 0.0, ())
        for document in first
        if document in chunks
    ]
    return [Group(hit.document_id, (hit,)) for hit in hits], np.unique(every)
