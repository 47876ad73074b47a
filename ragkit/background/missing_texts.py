"""The texts of a document that lack a vector, made again from what the catalog stores of it."""

from __future__ import annotations

from collections.abc import Iterator, Set

from ragkit.background.context_entries import context_texts
from ragkit.catalog import Catalog
from ragkit.catalog.integrity import StoredDocument
from ragkit.chunking.embedding_texts import text_hash
from ragkit.health.consistency import embedded_texts


def missing_texts(catalog: Catalog, document_id: int, wanted: Set[bytes]) -> dict[bytes, str]:
    """Those of the ``wanted`` texts that can be made again, by their names.

    A text is left out when the document was made by older rules: reading its file again mends it.
    """
    with catalog.connections.read():
        stored = catalog.integrity.stored(document_id)
        if stored is None:
            return {}
        found = {}
        for text in (*(one[2] for one in embedded_texts(stored)), *_contexts(catalog, stored)):
            name = text_hash(text)
            if name in wanted:
                found[name] = text
    return found


def _contexts(catalog: Catalog, stored: StoredDocument) -> Iterator[str]:
    """What models and people wrote about its chunks, as it is embedded."""
    written = catalog.contexts.of_document(stored.id)
    for record in stored.chunks:
        known = written.get(record.chunk.index)
        if known is not None:
            yield from (text for _level, text in context_texts(known.answer, record))
