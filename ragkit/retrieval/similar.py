"""Similar documents, by the vectors of whole documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragkit.catalog import Catalog
from ragkit.catalog.records import DocumentRecord
from ragkit.indexes.protocol import IndexBackend, IndexKind, IndexQuery
from ragkit.models.base import Embedder
from ragkit.types import Level

_COPIES = 20


@dataclass(frozen=True, slots=True)
class Similar:
    """A document and how alike it is: the cosine of the two documents' vectors."""

    record: DocumentRecord
    score: float


def similar_documents(
    catalog: Catalog, indexes: IndexBackend, embedder: Embedder, document_id: int, limit: int
) -> list[Similar]:
    """Return the documents of the same collection that are most like one, without copies of it.

    Raises:
        NotFoundError: when the document is gone.
    """
    record = catalog.documents.get(document_id)
    embedder_id = catalog.embedders.find(embedder.fingerprint)
    data = None if embedder_id is None else catalog.vectors.of_document(document_id, embedder_id)
    if data is None:
        return []
    index = indexes.current(catalog.collections.get(record.collection), Level.DOCUMENT)
    vector = np.frombuffer(data, "<f2").astype(np.float32)
    search = index.search([IndexQuery(vector=vector)])
    nearest = search.candidates(IndexKind.VECTOR, limit + _COPIES)
    scores = dict(zip(nearest.document_ids.tolist(), nearest.scores.tolist(), strict=True))
    records = catalog.documents.get_many(scores)
    others = [
        Similar(records[other], score)
        for other, score in scores.items()
        if other != document_id and other in records and records[other].hash != record.hash
    ]
    return others[:limit]
