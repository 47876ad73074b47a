"""Listing: the documents that filters alone name, newest first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.indexes.rows import Ids
from ragkit.options import Filters
from ragkit.retrieval.grouping import Group
from ragkit.retrieval.ranking import Hit
from ragkit.retrieval.scope import Scope
from ragkit.types import Level


def newest_documents(
    catalog: Catalog, scopes: Sequence[tuple[CollectionRecord, Scope]], limit: int
) -> tuple[list[Group], Ids]:
    """Return groups of the newest documents of scopes, each by its first chunk, and ids of all."""
    documents = [
        catalog.filters.documents(collection.id, Filters())
        if scope.document_ids is None
        else scope.document_ids
        for collection, scope in scopes
    ]
    entries = [scope.entries_at(Level.CHUNK) for _, scope in scopes]
    among = [ids for ids in entries if ids is not None]
    if len(among) == len(scopes) and among:
        allowed = np.concatenate(among).tolist()
        there = catalog.entries.documents_of(allowed)
        documents = [np.intersect1d(own, there) for own in documents]
    else:
        allowed = None
    every = np.concatenate([np.zeros(0, np.int64), *documents])
    newest = catalog.filters.newest_first(every.tolist(), limit)
    chunks = catalog.entries.first_chunks(newest, allowed)
    hits = [
        Hit(chunks[document][0], document, chunks[document][1], Level.CHUNK, 0.0, ())
        for document in newest
        if document in chunks
    ]
    return [Group(hit.document_id, (hit,)) for hit in hits], np.unique(every)
