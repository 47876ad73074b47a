"""Similar documents, by the vectors of whole documents; copies of one are listed once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from rapidfuzz import fuzz

from ragkit.catalog import Catalog
from ragkit.catalog.records import DocumentRecord
from ragkit.indexes.protocol import IndexBackend, IndexKind, IndexQuery
from ragkit.models.base import Embedder
from ragkit.models.factory import is_brought
from ragkit.types import Level

_COPIES = 20
_COPY_COSINE, _COPY_RATIO, _COMPARED, _SHORT = 0.95, 95.0, 4000, 500
_DISTANT = "distant"
_WORDS = ((0.85, "very similar"), (0.65, "similar"), (0.45, "somewhat similar"), (-1.0, _DISTANT))


@dataclass(frozen=True, slots=True)
class Similar:
    """A document and how alike it is: the cosine of the two documents' vectors, and that in words.

    ``words`` is empty for embedders of which it is not known how their cosines lie. ``copies`` have
    the same text, or nearly.
    """

    record: DocumentRecord
    score: float
    words: str = ""
    copies: tuple[DocumentRecord, ...] = ()

    @property
    def likeness(self) -> str:
        """Words and number: "similar, 0.72"."""
        return ", ".join(filter(None, (self.words, f"{self.score:.2f}")))


@dataclass(frozen=True, slots=True)
class SimilarDocuments:
    """What is like a document, the most similar first, and the copies of the document itself."""

    documents: tuple[Similar, ...] = ()
    copies: tuple[DocumentRecord, ...] = ()

    @property
    def close(self) -> tuple[Similar, ...]:
        """The documents without the distant ones, which are only the nearest that there are."""
        return tuple(similar for similar in self.documents if similar.words != _DISTANT)


def similar_documents(
    catalog: Catalog, indexes: IndexBackend, embedder: Embedder, document_id: int, limit: int
) -> SimilarDocuments:
    """Return the documents of its collection that are most like a document.

    Raises:
        NotFoundError: when the document is gone.
    """
    record = catalog.documents.get(document_id)
    embedder_id = catalog.embedders.find(embedder.fingerprint)
    data = None if embedder_id is None else catalog.vectors.of_document(document_id, embedder_id)
    if data is None:
        return SimilarDocuments()
    index = indexes.current(catalog.collections.get(record.collection), Level.DOCUMENT)
    vector = np.frombuffer(data, "<f2").astype(np.float32)
    nearest = index.search([IndexQuery(vector=vector)]).candidates(
        IndexKind.VECTOR, limit + _COPIES
    )
    scores = dict(zip(nearest.document_ids.tolist(), nearest.scores.tolist(), strict=True))
    records = catalog.documents.get_many(scores)
    twins = _Twins(catalog)
    own: list[DocumentRecord] = []
    chosen: list[Similar] = []
    for other, score in scores.items():
        if other == document_id or other not in records:
            continue
        candidate = records[other]
        if score >= _COPY_COSINE and twins.are(record, candidate):
            own.append(candidate)
            continue
        # Copies are nearly as alike to a third.
        near = [
            at for at, similar in enumerate(chosen) if similar.score - score <= 1 - _COPY_COSINE
        ]
        at = next((at for at in near if twins.are(chosen[at].record, candidate)), None)
        if at is not None:
            chosen[at] = replace(chosen[at], copies=(*chosen[at].copies, candidate))
        elif len(chosen) < limit:
            words = "" if is_brought(embedder.name) else _in_words(score)
            chosen.append(Similar(candidate, score, words))
    return SimilarDocuments(tuple(chosen), tuple(own))


class _Twins:
    """Which documents have nearly the same text: by lengths and beginnings, read when needed."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._texts: dict[int, str] = {}

    def are(self, document: DocumentRecord, other: DocumentRecord) -> bool:
        if document.hash == other.hash:
            return True
        shorter, longer = sorted((document.characters, other.characters))
        if 100 * shorter < _COPY_RATIO * longer:
            return False
        texts = self._beginning(document), self._beginning(other)
        # Short pages of one pattern differ in a name, which is all that they say.
        alike = _COPY_RATIO if shorter >= _SHORT else 100.0
        return fuzz.ratio(*texts, score_cutoff=alike) > 0

    def _beginning(self, record: DocumentRecord) -> str:
        if record.id not in self._texts:
            (text,) = self._catalog.documents.slices([(record.id, 0, _COMPARED)])
            self._texts[record.id] = " ".join(text.casefold().split())
        return self._texts[record.id]


def _in_words(score: float) -> str:
    return next(words for least, words in _WORDS if score >= least)
