"""Queries: parsed, their words looked up in the vocabulary, their vectors made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.indexes.protocol import IndexQuery
from ragkit.indexes.tokenizer import index_tokens, tokenize
from ragkit.models.base import Embedder
from ragkit.options import Filters, Mode, SearchOptions
from ragkit.retrieval.query_embedding import QueryEmbedder, Vectors
from ragkit.retrieval.query_parser import ParsedQuery, parse_query


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Query(IndexQuery):
    """A query, parsed and encoded.

    ``text`` is what is searched for and ``tokens`` its words; all of ``filters`` must hold.
    ``cut`` is True when it was longer than ``LONGEST_QUERY``; ``trouble`` says why there is no
    vector.
    """

    text: str = ""
    tokens: tuple[str, ...] = ()
    collections: tuple[CollectionRecord, ...] = ()
    filters: tuple[Filters, ...] = ()
    cut: bool = False
    trouble: str = ""

    @property
    def note(self) -> str:
        """What the trace says of it."""
        return "by words alone" if self.trouble else "words known to the library"

    @property
    def notices(self) -> tuple[str, ...]:
        """What the person should know of it."""
        trouble = (self.trouble,) if self.trouble else ()
        if self.cut:
            return ("The question is very long; only its beginning was asked.", *trouble)
        if not self.text:
            return ("The question holds no words to look for.",)
        return trouble

    def possible(self, options: SearchOptions) -> SearchOptions:
        """Return the options, by keywords alone where there is no vector."""
        return replace(options, mode=Mode.KEYWORD) if self.trouble else options


class QueryEncoder:
    """Parses and encodes queries. Safe to share between threads."""

    def __init__(self, catalog: Catalog, embedder: Embedder) -> None:
        self._catalog = catalog
        self._embedder = QueryEmbedder(embedder)

    def parse(
        self, text: str, options: SearchOptions, collections: Sequence[CollectionRecord]
    ) -> Query:
        """Encode one query; filters in it are read.

        Raises:
            QueryError: a filter in the query is invalid.
            NotFoundError: when a collection that it names is not there.
        """
        # Half characters, such as a badly decoded command line gives, stop some tokenizers.
        text = text.encode("utf-8", "replace").decode("utf-8")
        parsed = parse_query(text, self._fields(collections) if ":" in text else ())
        return self.encode([parsed], options, collections)[0]

    def encode(
        self,
        parsed: Sequence[ParsedQuery],
        options: SearchOptions,
        collections: Sequence[CollectionRecord],
    ) -> list[Query]:
        """Encode a batch of queries, which search ``collections`` unless they name some.

        Raises:
            NotFoundError: when a collection that one names is not there.
        """
        # Stop words are not indexed; a query of nothing else is still highlighted.
        tokens = [tuple(index_tokens(query.text) or tokenize(query.text)) for query in parsed]
        ids = self._catalog.entries.token_ids([token for words in tokens for token in words])
        vectors: Vectors = [None] * len(parsed)
        trouble = ""
        if options.mode is not Mode.KEYWORD and any(query.text for query in parsed):
            vectors, trouble = self._embedder.embed([query.text for query in parsed])
        get = self._catalog.collections.get
        return [
            Query(
                token_ids=[ids[token] for token in words if token in ids],
                vector=vector if query.text else None,
                text=query.text,
                tokens=words,
                collections=tuple(map(get, query.collections)) or tuple(collections),
                filters=tuple(part for part in (options.filters, query.filters) if not part.empty),
                cut=query.cut,
                trouble=trouble,
            )
            for query, words, vector in zip(parsed, tokens, vectors, strict=True)
        ]

    def _fields(self, collections: Sequence[CollectionRecord]) -> list[str]:
        """Return the front-matter fields that may be filters."""
        fields = self._catalog.filters.field_names
        return sorted({name for collection in collections for name in fields(collection)})
