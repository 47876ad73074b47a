"""Scopes: the documents and entries that a query may find, from its filters, phrases, exclusions.

A phrase is looked up in the keyword index and then verified in the text: its words must be side by
side, in any case and with any accents; of what is between two of them, only letters and digits
count. A document that has it in its title or headings holds it too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.indexes.protocol import EntryIndex
from ragkit.indexes.rows import Ids, TokenColumn, distinct, united
from ragkit.indexes.tokenizer import fold, index_tokens
from ragkit.options import Filters
from ragkit.retrieval.query.encoding import Query
from ragkit.retrieval.query.parser import Condition
from ragkit.types import Field

_NONE = np.zeros(0, np.int64), np.zeros(0, np.int64)
_SPACELESS = re.compile("[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff]")
_AT_ONCE = 2000
_EDGES = " \t.,;:!?"


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """What a search of one collection may return; ``None`` does not restrict. Ids ascend.

    ``chunk_ids`` are own entries of chunks and restrict only these and their blocks, to those that
    hold a phrase or of which a context notes something; ``without_chunk_ids`` are left out.
    """

    document_ids: Ids | None = None
    entry_ids: Ids | None = None
    chunk_ids: Ids | None = None
    without_chunk_ids: Ids | None = None

    @property
    def own_entries(self) -> Ids | None:
        """The ids of entries that chunks may be found by; ``None``: all."""
        present = [ids for ids in (self.entry_ids, self.chunk_ids) if ids is not None]
        return reduce(_common, present) if present else None

    def among(self, documents: Ids) -> Scope:
        """Return the scope restricted to some documents."""
        own = self.document_ids
        return replace(self, document_ids=documents if own is None else _common(own, documents))


def scope_of(
    catalog: Catalog, index: EntryIndex, collection: CollectionRecord, query: Query
) -> Scope:
    """Return the scope of a query in a collection, whose ``index`` of chunks has its words."""
    documents: list[Ids] = []
    entries: list[Ids] = []
    of_chunks: list[Ids] = []
    for part in query.filters:
        whole = replace(part, headings=())
        documents.append(catalog.filters.documents(collection.id, whole, unsaid=not query.lists))
        if part.headings:
            entries.append(catalog.filters.entries_under(collection.id, part.headings))
        by_speaker = catalog.filters.entries_by_speaker(collection.id, part)
        if by_speaker is not None:
            entries.append(by_speaker)
        noted = catalog.filters.noted_entries(collection.id, part)
        if noted is not None:
            of_chunks.append(noted)
    chunks: list[Ids | None] = []
    for alternatives in query.parsed.required:
        matches = [_meeting(catalog, index, collection, condition) for condition in alternatives]
        documents.append(united(own for own, _ in matches))
        if any(condition.filters.of_chunks for condition in alternatives):
            either = zip(alternatives, matches, strict=True)
            passing = [
                _own_entries(catalog, collection, condition, *ids) for condition, ids in either
            ]
            of_chunks.append(united(passing))
            continue
        of_phrases = [own for _, own in matches if own is not None]
        chunks.append(united(of_phrases) if len(of_phrases) == len(matches) else None)
    of_phrases = [own for own in chunks if own is not None]
    if chunks and len(of_phrases) == len(chunks):
        # Each phrase may be in a different chunk of the document.
        of_chunks.append(united(of_phrases))
    without: list[Ids] = []
    if query.parsed.excluded:
        there = catalog.filters.documents(collection.id, Filters())
        gone = [
            _excluded(catalog, index, collection, condition) for condition in query.parsed.excluded
        ]
        documents.append(_without(there, united(own for own, _ in gone)))
        without = [ids for _, ids in gone if ids is not None]
    return Scope(
        reduce(_common, documents) if documents else None,
        reduce(_common, entries) if entries else None,
        reduce(_common, of_chunks) if of_chunks else None,
        united(without) if without else None,
    )


# Ids ascend and are distinct: nothing has to be sorted, nor made distinct by hashing.


def _common(ids: Ids, other: Ids) -> Ids:
    return ids[np.isin(ids, other, assume_unique=True)]


def _without(ids: Ids, other: Ids) -> Ids:
    return ids[np.isin(ids, other, assume_unique=True, invert=True)]


def _own_entries(
    catalog: Catalog,
    collection: CollectionRecord,
    condition: Condition,
    documents: Ids,
    with_phrase: Ids | None,
) -> Ids:
    """Return own entries of the chunks that meet a condition; what documents meet, all theirs do.

    ``documents`` and ``with_phrase`` are what ``_meeting`` found of it.
    """
    if with_phrase is not None:
        return with_phrase
    noted = catalog.filters.noted_entries(collection.id, condition.filters)
    return catalog.entries.of_documents(documents.tolist()) if noted is None else noted


def _excluded(
    catalog: Catalog, index: EntryIndex, collection: CollectionRecord, condition: Condition
) -> tuple[Ids, Ids | None]:
    """Return the documents that a condition excludes, and the own entries of chunks of others."""
    noted = catalog.filters.noted_entries(collection.id, condition.filters)
    if noted is None:
        return _meeting(catalog, index, collection, condition)[0], None
    return catalog.filters.wholly_noted(collection.id, condition.filters), noted


def _meeting(
    catalog: Catalog, index: EntryIndex, collection: CollectionRecord, condition: Condition
) -> tuple[Ids, Ids | None]:
    """Return the documents that meet a condition, and the own entries of chunks with its phrase."""
    if condition.phrase:
        entries, documents = entries_with(catalog, index, collection, condition)
        return distinct(documents), entries
    filters = condition.filters
    documents = catalog.filters.documents(collection.id, replace(filters, headings=()))
    if filters.headings:
        under = catalog.filters.entries_under(collection.id, filters.headings)
        documents = _common(documents, catalog.entries.documents_of(under.tolist()))
    return documents, None


def entries_with(
    catalog: Catalog, index: EntryIndex, collection: CollectionRecord, condition: Condition
) -> tuple[Ids, Ids]:
    """Return own entries of the chunks that hold a phrase, or forms of a word, and their documents.

    They are ids (n,) each; those of entries ascend.
    """
    tokens = index_tokens(condition.phrase)
    token_ids = catalog.entries.token_ids(tokens)
    if not all(token in token_ids for token in tokens):
        return _NONE
    ids = [token_ids[token] for token in tokens]
    if ids:
        entries, documents = index.holding(ids)
        if not condition.exact and len(ids) == 1:
            return entries, documents
    else:
        entries = catalog.entries.chunk_ids(collection.id)
    holds = phrase_finder(condition.phrase)
    held: list[tuple[int, int]] = []
    # A few at a time: a phrase of common words may be anywhere in a gigabyte of text.
    for at in range(0, len(entries), _AT_ONCE):
        batch = entries[at : at + _AT_ONCE]
        if condition.phrase.isascii() and len(ids) > 1:
            batch = batch[side_by_side(index.get(batch, Field.TEXT), ids)]
        held += _holding(catalog, batch, holds)
    entries, documents = np.array(held, np.int64).reshape(-1, 2).T
    return entries, documents


def _holding(
    catalog: Catalog, entries: Ids, holds: Callable[[str], bool]
) -> Iterator[tuple[int, int]]:
    """Yield (entry, document) of the chunks whose text or context holds a phrase."""
    for chunk in catalog.chunk_texts(entries.tolist(), whole=True):
        if holds(chunk.text) or holds(chunk.context):
            yield chunk.entry, chunk.document


def side_by_side(texts: TokenColumn, tokens: Sequence[int]) -> Ids:
    """Return the rows in which the tokens follow each other in this order."""
    flat = texts.flat
    at = np.flatnonzero(flat[: max(len(flat) - len(tokens) + 1, 0)] == tokens[0])
    for step, token in enumerate(tokens[1:], start=1):
        at = at[flat[at + step] == token]
    rows = np.searchsorted(texts.offsets, at, side="right") - 1
    return np.unique(rows[at + len(tokens) <= texts.offsets[rows + 1]])


def phrase_finder(phrase: str) -> Callable[[str], bool]:
    """Return a function that says whether a text holds a phrase, in any case, with any accents."""
    pattern = phrase_pattern(phrase)

    def holds(text: str) -> bool:
        # Folding leaves ASCII as it is: between ASCII, what is found unfolded is there.
        lower = text.lower()
        found = pattern.search(lower)
        if found and lower[max(found.start() - 1, 0) : found.end() + 1].isascii():
            return True
        return not text.isascii() and pattern.search(fold(text).casefold()) is not None

    return holds


def phrase_pattern(phrase: str) -> re.Pattern[str]:
    """Return the pattern of a phrase in a text that is folded and without case."""
    words = fold(phrase).casefold().strip(_EDGES).split()
    pattern = r"[\W_]+".join(map(_written, words))
    first, last = words[0][0], words[-1][-1]
    if first.isalnum() and not _SPACELESS.match(first):
        # Looking behind comes after the word, which is then searched for as plain text.
        start = re.escape(first if _SPACELESS.search(words[0]) else words[0])
        pattern = rf"{start}(?<!\w{start}){pattern.removeprefix(start)}"
    after = r"(?!\w)" if last.isalnum() and not _SPACELESS.match(last) else ""
    return re.compile(pattern + after)


def _written(word: str) -> str:
    """Return the pattern of a folded word; in scripts without spaces, lines break anywhere."""
    return (r"\s*" if _SPACELESS.search(word) else "").join(map(re.escape, word))
