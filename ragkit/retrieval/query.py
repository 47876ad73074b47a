"""A question made ready for the indexes: its filters read, its words known, its vector made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.indexes.protocol import IndexQuery
from ragkit.indexes.tokenizer import index_tokens, tokenize
from ragkit.models.base import Embedder
from ragkit.options import Filters, Mode, SearchOptions
from ragkit.retrieval.query_embedding import QuestionVectors, Vectors
from ragkit.retrieval.query_parser import ParsedQuestion, parse_question


@dataclass(frozen=True, slots=True)
class Plan:
    """A question made ready for the indexes. ``trouble`` says why it has no vector."""

    parsed: ParsedQuestion
    collections: tuple[CollectionRecord, ...]
    filters: tuple[Filters, ...]
    asked: IndexQuery
    tokens: tuple[str, ...]
    trouble: str = ""

    @property
    def note(self) -> str:
        """What the trace says of the question."""
        return "by words alone" if self.trouble else "words known to the library"

    @property
    def notices(self) -> tuple[str, ...]:
        """What whoever asked should know of the question."""
        trouble = (self.trouble,) if self.trouble else ()
        if self.parsed.cut:
            return ("The question is very long; only its beginning was asked.", *trouble)
        if not self.parsed.text:
            return ("The question holds no words to look for.",)
        return trouble

    def asking(self, options: SearchOptions) -> SearchOptions:
        """The options, with words alone where there is no vector."""
        return replace(options, mode=Mode.KEYWORD) if self.trouble else options


class Planner:
    """Makes questions ready. Safe to share between threads."""

    def __init__(self, catalog: Catalog, embedder: Embedder) -> None:
        self._catalog = catalog
        self._vectors = QuestionVectors(embedder)

    def plan(
        self, question: str, options: SearchOptions, named: Sequence[CollectionRecord]
    ) -> Plan:
        """Make one question ready; filters in it are read.

        Raises:
            QueryError: when a filter in the question makes no sense.
            NotFoundError: when a collection that it names is not there.
        """
        # Half characters, such as a badly decoded command line gives, stop some tokenizers.
        question = question.encode("utf-8", "replace").decode("utf-8")
        parsed = parse_question(question, self._fields(named) if ":" in question else ())
        return self.plans([parsed], options, named)[0]

    def plans(
        self,
        parsed: Sequence[ParsedQuestion],
        options: SearchOptions,
        named: Sequence[CollectionRecord],
    ) -> list[Plan]:
        """Make questions ready together; all ask ``named`` unless they name collections.

        Raises:
            NotFoundError: when a collection that one names is not there.
        """
        # Stop words are not indexed; a question of nothing else is still highlighted.
        tokens = [tuple(index_tokens(one.text) or tokenize(one.text)) for one in parsed]
        known = self._catalog.entries.token_ids([token for words in tokens for token in words])
        vectors: Vectors = [None] * len(parsed)
        trouble = ""
        if options.mode is not Mode.KEYWORD and any(one.text for one in parsed):
            vectors, trouble = self._vectors.of([one.text for one in parsed])
        plans = []
        for one, words, vector in zip(parsed, tokens, vectors, strict=True):
            own = tuple(self._catalog.collections.get(name) for name in one.collections)
            ids = [known[token] for token in words if token in known]
            filters = tuple(part for part in (options.filters, one.filters) if not part.empty)
            asked = IndexQuery(ids, vector if one.text else None)
            plans.append(Plan(one, own or tuple(named), filters, asked, words, trouble))
        return plans

    def _fields(self, named: Sequence[CollectionRecord]) -> list[str]:
        """The front-matter fields that may be filters."""
        fields = self._catalog.filters.field_names
        return sorted({name for collection in named for name in fields(collection)})
