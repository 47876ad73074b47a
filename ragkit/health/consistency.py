"""Checks whether a document's parts are consistent, and an index agrees with the catalog."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ragkit.catalog.entries import OTHER_HISTORY
from ragkit.catalog.integrity import StoredDocument
from ragkit.catalog.records import CollectionRecord
from ragkit.chunking.structural_context import document_name
from ragkit.errors import IndexCorruptError
from ragkit.health.findings import Depth, Parts
from ragkit.indexes.bm25 import Bm25Parameters
from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.local.files import generations
from ragkit.indexes.local.generation import open_newest
from ragkit.indexes.rows import EntryRows, Ids, RowSlices, TokenColumn
from ragkit.indexes.tokenizer import TOKENIZER_VERSION
from ragkit.indexing.preparation import EmbeddedText, embedded_texts
from ragkit.types import INDEXED_LEVELS, LEVEL_CODES, Level

_COMPARED = frozenset(LEVEL_CODES[level] for level in INDEXED_LEVELS)


@dataclass(frozen=True, slots=True)
class IndexState:
    """How an index on disk compares with the catalog. ``fault`` is empty if they agree.

    ``entries`` counts those of the catalog, ``found`` those of the index, and ``vectors`` those of
    the index with a vector, if they were counted. ``missing``: there is no index yet, or only one
    that an older version made (``outdated``), which the next search replaces.
    """

    entries: int = 0
    found: int = 0
    vectors: int = 0
    missing: bool = False
    outdated: bool = False
    fault: str = ""


def fault_of(document: StoredDocument, fingerprint: str | None) -> str:
    """Return the first fault in how a document is stored, or ``""``.

    The texts of its entries are compared only if the document has this pipeline fingerprint.
    """
    return (
        _span_fault(document)
        or _chunk_fault(document)
        or (_entry_fault(document) if document.pipeline_fingerprint == fingerprint else "")
    )


def _span_fault(document: StoredDocument) -> str:
    position = 0
    for section in document.sections:
        if section.start != position or section.end < section.start:
            return "its sections do not join"
        position = section.end
    if document.sections and position != len(document.text):
        return "its sections do not reach its end"
    return ""


def _chunk_fault(document: StoredDocument) -> str:
    text, position = document.text, 0
    for number, record in enumerate(document.chunks):
        chunk = record.chunk
        if chunk.index != number or not 0 <= chunk.start < chunk.end <= len(text):
            return f"chunk {number} does not lie in its text"
        if not 0 <= chunk.section < len(document.sections):
            return f"chunk {number} lies in no section"
        if text[position : chunk.start].strip():
            return f"text before chunk {number} lies in no chunk"
        position = max(position, chunk.end)
    if text[position:].strip():
        return "its last text lies in no chunk"
    return ""


def _entry_fault(document: StoredDocument) -> str:
    stored = [
        (entry.level, entry.position, entry.text_hash)
        for entry in document.entries
        if entry.level in _COMPARED
    ]
    expected = [
        (LEVEL_CODES[entry.level], entry.chunks[0].index, entry.text_hash)
        for entry in stored_texts(document)
    ]
    if sorted(stored) == sorted(expected):
        return ""
    if len(stored) != len(expected):
        return f"it has {len(stored)} entries, not {len(expected)}"
    return "its entries are of another text"


def stored_texts(document: StoredDocument) -> list[EmbeddedText]:
    """Return the texts of all entries that a document should have, except model contexts."""
    name = document_name(document.title, document.markup, document.path)
    chunks = [record.chunk for record in document.chunks]
    contexts = [record.context for record in document.chunks]
    titles = [section.title for section in document.sections]
    blocks = [block for block in document.blocks if block.chunk < len(chunks)]
    return embedded_texts(name, document.text, chunks, contexts, blocks, titles)


def compare_index(parts: Parts, collection: CollectionRecord, level: Level) -> IndexState:
    """Compare the newest generation of an index, brought up to date, with the catalog.

    The depth decides what is compared: the numbers of entries at a glance; their ids and the
    checksums of the files in a check; also every vector and word to verify. Nothing is changed.
    """
    catalog, levels = parts.catalog, INDEXED_LEVELS[level]
    folder = parts.index_folder(collection, level)
    try:
        generation = open_newest(
            folder,
            fingerprint=parts.embedder.fingerprint if parts.embedder else None,
            tokenizer_version=TOKENIZER_VERSION,
            parameters=Bm25Parameters(),
            checksums=parts.depth is not Depth.GLANCE,
        )
        outdated = generation is None and bool(generations(folder))
    except IndexCorruptError as error:
        return IndexState(fault=error.message)
    with catalog.connections.read():
        count = catalog.entries.count(collection.id, levels)
        if generation is None:
            return IndexState(entries=count, missing=count > 0, outdated=outdated)
        manifest = generation.manifest
        if not catalog.entries.holds(manifest.version):
            return IndexState(count, fault=OTHER_HISTORY)
        if manifest.version > catalog.collections.version(collection.id):
            return IndexState(count, fault=f"{generation.name} is newer than the catalog.")
        if parts.depth is Depth.GLANCE:
            removed = catalog.entries.removed_since(collection.id, manifest.collection_version)
            added = catalog.entries.count_after(collection.id, levels, manifest.max_entry_id)
            gone = int(np.isin(removed, generation.segment.entry_ids).sum())
            indexed = len(generation.segment) - gone + added
            return IndexState(count, indexed, fault=_other_number(indexed, count, generation.name))
        ids = catalog.integrity.entry_ids(collection.id, levels)
        fingerprint, dimensions = manifest.fingerprint, generation.segment.vectors.dimensions
        since = catalog.entries.changes(
            collection.id,
            levels,
            fingerprint=fingerprint,
            dimensions=dimensions,
            since=manifest.version,
            after=manifest.max_entry_id,
        )
        index = generation.index().remove(since.removed, since.version)
        index = index.upsert(since.added, since.version)
        fault = _difference(index.entry_ids(), ids, generation.name)
        if not fault and parts.depth is Depth.VERIFY:
            with catalog.entries.everything(
                collection.id, levels, fingerprint=fingerprint, dimensions=dimensions
            ) as everything:
                fault = _contents_fault(index, everything.rows, generation.name)
    return IndexState(len(ids), index.entries, index.vector_entries, fault=fault)


def _other_number(count: int, expected: int, name: str) -> str:
    if count != expected:
        return f"{name} has {count} entries, the catalog has {expected}."
    return ""


def _difference(ids: Ids, expected: Ids, name: str) -> str:
    if fault := _other_number(len(ids), len(expected), name):
        return fault
    if not np.array_equal(ids, expected):
        return f"{name} has other entries than the catalog."
    return ""


def _contents_fault(index: CollectionIndex, everything: RowSlices, name: str) -> str:
    """Compare the contents of an index and the catalog slice by slice; their ids are equal."""
    last = 0
    for expected in everything.slices:
        first, last = last, int(expected.entry_ids[-1])
        if fault := _slice_fault(index.between(first, last), expected, name):
            return fault
    return ""


def _slice_fault(actual: EntryRows, expected: EntryRows, name: str) -> str:
    for column in ("document_ids", "levels", "chunk_indexes", "content_keys"):
        if not np.array_equal(getattr(actual, column), getattr(expected, column)):
            return f"{name}: {column.replace('_', ' ')} differ from the catalog."
    # An index leaves out vectors that are zero or not finite.
    vectors = expected.vectors
    usable = expected.has_vector & np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)
    if not np.array_equal(actual.has_vector, usable):
        return f"{name}: other entries have vectors than in the catalog."
    if not np.array_equal(actual.vectors[usable], vectors[usable]):
        return f"{name}: vectors differ from the catalog."
    empty = TokenColumn.of([()] * len(expected))
    for field in {*actual.tokens, *expected.tokens}:
        a, b = (rows.tokens.get(field) or empty for rows in (actual, expected))
        if not (np.array_equal(a.offsets, b.offsets) and np.array_equal(a.flat, b.flat)):
            return f"{name}: words ({field.value}) differ from the catalog."
    return ""
