"""Similar documents, by the vectors of whole documents; copies of one are listed once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from ragkit.catalog import Catalog
from ragkit.catalog.records import DocumentRecord
from ragkit.indexes.protocol import IndexBackend, IndexKind, IndexQuery
from ragkit.models.base import Embedder, to_unit_length
from ragkit.models.factory import is_brought
from ragkit.types import Level

_COPIES = 20
_COPY_COSINE, _COPY_RATIO, _COMPARED, _SHORT = 0.95, 95.0, 4000, 500
_DISTANT = "distant"
_SIMILAR = ("very similar", "similar", "somewhat similar")
_LEAST = (0.85, 0.65, 0.45)
_LEAST_IN_FOREIGN = (0.92, 0.87, 0.8)
_LEAST_WITHOUT_COMMON = (0.6, 0.45, 0.3)
_FEWEST, _MOST = 10, 500
"""Of how many documents of a language it is known what they have in common."""


@dataclass(frozen=True, slots=True)
class Similar:
    """A document and how alike it is: the cosine of the two documents' vectors, and that in words.

    Any two documents of a language that the built-in embedder hardly knows have much in common for
    it, which is left out. ``words`` is empty for embedders of which it is not known how their
    cosines lie. ``copies`` have the same text, or nearly.
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
    if embedder_id is None:
        return SimilarDocuments()
    data = catalog.vectors.of_document(document_id, embedder_id)
    if data is None:
        return SimilarDocuments()
    index = indexes.current(catalog.collections.get(record.collection), Level.DOCUMENT)
    (vector,) = _rows([data])
    nearest = index.search([IndexQuery(vector=vector)]).candidates(
        IndexKind.VECTOR, limit + _COPIES
    )
    cosines = dict(zip(nearest.document_ids.tolist(), nearest.scores.tolist(), strict=True))
    records = catalog.documents.get_many(cosines)
    scores, least = cosines, _LEAST
    if not is_brought(embedder.name) and record.language not in ("", "en"):
        common, least = _common(catalog, record, embedder_id), _LEAST_IN_FOREIGN
        if common is not None:
            scores = _without(common, catalog, document_id, cosines, embedder_id)
            least = _LEAST_WITHOUT_COMMON
    twins = _Twins(catalog)
    own: list[DocumentRecord] = []
    chosen: list[Similar] = []
    for other, score in scores.items():
        if other == document_id or other not in records:
            continue
        candidate = records[other]
        if cosines[other] >= _COPY_COSINE and twins.are(record, candidate):
            own.append(candidate)
            continue
        # Copies are nearly as alike to a third.
        near = (
            at
            for at, similar in enumerate(chosen)
            if abs(cosines[similar.record.id] - cosines[other]) <= 1 - _COPY_COSINE
        )
        at = next((at for at in near if twins.are(chosen[at].record, candidate)), None)
        if at is not None:
            chosen[at] = replace(chosen[at], copies=(*chosen[at].copies, candidate))
        elif len(chosen) < limit:
            words = "" if is_brought(embedder.name) else _in_words(score, least)
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


def _common(
    catalog: Catalog, record: DocumentRecord, embedder_id: int
) -> NDArray[np.float32] | None:
    """Return what documents in the language of one have in common, (d,), if there are enough."""
    collection = catalog.collections.get(record.collection)
    data = catalog.vectors.of_language(collection.id, record.language, embedder_id, _MOST)
    return _rows(data).mean(axis=0) if len(data) >= _FEWEST else None


def _without(
    common: NDArray[np.float32],
    catalog: Catalog,
    document_id: int,
    others: Iterable[int],
    embedder_id: int,
) -> dict[int, float]:
    """Return how alike documents are to one without what is common, the most alike first."""
    data = {
        document: vector
        for document in (document_id, *others)
        if (vector := catalog.vectors.of_document(document, embedder_id)) is not None
    }
    left = to_unit_length(_rows(list(data.values())) - common)
    scores = dict(zip(data, (left @ left[0]).tolist(), strict=True))
    return dict(sorted(scores.items(), key=lambda scored: -scored[1]))


def _rows(data: Sequence[bytes]) -> NDArray[np.float32]:
    """Return vectors as the catalog has them, (n, d), of length 1."""
    return to_unit_length(
        np.stack([np.frombuffer(each, "<f2") for each in data]).astype(np.float32)
    )


def _in_words(score: float, least: Sequence[float]) -> str:
    return next(
        (words for words, bound in zip(_SIMILAR, least, strict=True) if score >= bound), _DISTANT
    )
