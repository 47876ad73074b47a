"""Queries: parsed, their words looked up in the vocabulary, their vectors made.

Vectors are made within a time limit: an embedder that is away never holds up a search.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord
from ragkit.errors import QueryError, RagkitError
from ragkit.indexes.protocol import EntryIndex, IndexQuery
from ragkit.indexes.tokenizer import query_tokens
from ragkit.models.base import Embedder
from ragkit.models.factory import is_remote, local_embedder
from ragkit.models.wordllama import WordLlamaEmbedder
from ragkit.options import Filters, Mode, SearchOptions
from ragkit.results import Spelling
from ragkit.retrieval.query.date_forms import date_forms
from ragkit.retrieval.query.filter_syntax import format_filter, keeping, strictly
from ragkit.retrieval.query.han_variants import han_variants
from ragkit.retrieval.query.parser import (
    LONGEST_QUERY,
    ParsedQuery,
    parse_query,
    without_filters,
)
from ragkit.retrieval.query.spelling import respelled_text
from ragkit.retrieval.query.subject import subject_of
from ragkit.retrieval.query.word_forms import (
    form_weights,
    is_foreign,
    known_forms,
    language_of_forms,
    with_joined_verb,
    without_function_words,
)
from ragkit.retrieval.turns import TURNS

logger = logging.getLogger(__name__)

LONGEST_WAIT = 2.5
"""Seconds that a search waits for a server that answered when it was last asked."""

LONGEST_WAIT_IN_TROUBLE = 0.3
"""Seconds that a search waits for one that did not."""

_ALL = Filters()
_LONGEST_JUDGED = 500
# What must be in a text for more than its words to count.
_MAY_HOLD_SYNTAX = re.compile(
    r'[:"“„«「\u200e\u200f\u202a-\u202e\u2066-\u2069]|(?<!\S)-\S|(?<!\S)(?:NOT|OR)\s'
)
_CUT = "The question is very long; only its beginning was asked."
_NO_WORDS = "There are no words to search for."

Spell: TypeAlias = Callable[[str, Mapping[str, int]], tuple[Spelling, ...]]
"""Returns what is meant by words of a text whose tokens are not among the known ones."""

Vectors = Sequence[NDArray[np.float32] | None]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Query(IndexQuery):
    """A query, parsed and encoded.

    ``text`` is what is searched for and ``tokens`` its words, ``known`` the ids of those that the
    library knows, ``forms`` those that are other forms of a word, with the token of its own; all of
    ``filters`` must hold, and what ``parsed`` requires and excludes.
    ``mode`` is the one asked for, or by keywords where ``trouble`` says why there is no vector.
    ``note`` is for the trace, ``notices`` are for the person. ``spelled`` are words of the question
    for which ``text`` has others. ``vector_share`` says how much of the text the vector knows, and
    ``foreign`` that it is not in English.
    """

    text: str = ""
    tokens: tuple[str, ...] = ()
    known: Mapping[str, int] = field(default_factory=dict)
    forms: Mapping[str, str] = field(default_factory=dict)
    collections: tuple[CollectionRecord, ...] = ()
    parsed: ParsedQuery = field(default_factory=lambda: ParsedQuery(""))
    filters: tuple[Filters, ...] = ()
    mode: Mode = Mode.HYBRID
    trouble: str = ""
    note: str = ""
    notices: tuple[str, ...] = ()
    spelled: tuple[Spelling, ...] = ()
    vector_share: float = 1.0
    foreign: bool = False

    @property
    def lists(self) -> bool:
        """True when it has no words, only filters that name documents."""
        return not self.text and (bool(self.filters) or self.parsed.restricts)


@dataclass(frozen=True, slots=True)
class _Words:
    """A query's own tokens, other forms of its words by the token of the word, and its language."""

    own: tuple[str, ...]
    forms: Mapping[str, tuple[str, ...]]
    foreign: bool

    @property
    def tokens(self) -> tuple[str, ...]:
        """All of them, its own first."""
        return (*self.own, *(form for forms in self.forms.values() for form in forms))

    @property
    def own_of(self) -> dict[str, str]:
        """The token of the word of which each other form is one."""
        return {form: own for own, forms in self.forms.items() for form in forms}

    def searched(self, ids: Mapping[str, int]) -> Iterator[str]:
        """Yield its tokens, with the forms of a word in its place if the word has no id."""
        for token in self.own:
            yield from self.forms.get(token, ()) if token not in ids else (token,)

    def known_in(self, ids: Mapping[str, int]) -> Mapping[str, int]:
        """Return ids with those of words that are known in another form alone."""
        others = {own: ids[forms[0]] for own, forms in self.forms.items() if own not in ids}
        return {**ids, **others}


class QueryEncoder:
    """Parses and encodes queries. Safe to share between threads."""

    def __init__(
        self,
        catalog: Catalog,
        embedder: Embedder,
        index_of: Callable[[CollectionRecord], EntryIndex],
    ) -> None:
        self._catalog = catalog
        self._index_of = index_of
        self._embedder = QueryEmbedder(embedder)
        self._language: tuple[object, str] | None = None

    def parse(
        self,
        text: str,
        options: SearchOptions,
        collections: Sequence[CollectionRecord],
        spell: Spell | None = None,
    ) -> Query:
        """Encode one query; filters in it are read.

        Raises:
            QueryError: a filter in the query is invalid, or names a collection that is not among
                ``collections``.
        """
        # Half characters, such as a badly decoded command line gives, stop some tokenizers.
        text = text.encode("utf-8", "replace").decode("utf-8")
        if _MAY_HOLD_SYNTAX.search(text):
            parsed = parse_query(text, self._fields(collections))
        else:
            parsed = ParsedQuery(text[:LONGEST_QUERY].strip(), cut=len(text) > LONGEST_QUERY)
        return self.encode([parsed], options, collections, spell)[0]

    def encode(
        self,
        parsed: Sequence[ParsedQuery],
        options: SearchOptions,
        collections: Sequence[CollectionRecord],
        spell: Spell | None = None,
    ) -> list[Query]:
        """Encode a batch of queries, which search ``collections``, or those of them that they name.

        Of a single one, ``spell`` is asked what is meant by words that nothing searched has.

        Raises:
            QueryError: when one names a collection that is not among ``collections``.
        """
        words = [self._words(query.text, collections) for query in parsed]
        ids = self._catalog.entries.token_ids([token for each in words for token in each.tokens])
        spelled: tuple[Spelling, ...] = ()
        if spell is not None and words[0].own:
            asked_for = subject_of(parsed[0].text)
            spelled = spell(asked_for, words[0].known_in(ids))
            if spelled:
                parsed = [replace(parsed[0], text=respelled_text(parsed[0].text, spelled))]
                words = [self._words(parsed[0].text, collections)]
                ids = self._catalog.entries.token_ids(words[0].tokens)
        vectors: Vectors = [None] * len(parsed)
        trouble = ""
        if options.mode is not Mode.KEYWORD and any(query.text for query in parsed):
            vectors, trouble = self._embedder.embed([query.text for query in parsed])
        queries = []
        for query, asked, vector in zip(parsed, words, vectors, strict=True):
            filters = tuple(part for part in (options.filters, query.filters) if part != _ALL)
            lists = bool(filters or query.suggestion) or query.restricts
            searched = self._narrowed(collections, query.collections)
            notice = _CUT if query.cut else "" if query.text or lists else _NO_WORDS
            queries.append(
                Query(
                    token_ids=[ids[token] for token in asked.searched(ids) if token in ids],
                    weights=form_weights(asked.forms, ids, map(self._index_of, searched)),
                    vector=vector if query.text else None,
                    text=query.text,
                    tokens=asked.tokens,
                    forms=asked.own_of,
                    known=ids,
                    collections=searched,
                    parsed=query,
                    filters=filters,
                    mode=Mode.KEYWORD if trouble else options.mode,
                    trouble=trouble,
                    note="by words alone" if trouble else "words known to the library",
                    notices=(
                        *query.notices,
                        *filter(None, (notice, trouble)),
                        *(self._on_lenient(query.filters, searched) if query.text else ()),
                    ),
                    spelled=spelled,
                    vector_share=self._embedder.known_share(query.text),
                    foreign=asked.foreign,
                )
            )
        return queries

    def forms(self, text: str, collections: Sequence[CollectionRecord]) -> Mapping[str, str]:
        """Return other forms of a question's words as ``Query`` has them; filters are no words."""
        return self._words(without_filters(text), collections).own_of

    def _on_lenient(
        self, filters: Filters, collections: Sequence[CollectionRecord]
    ) -> Iterator[str]:
        """Yield a notice for each filter that lets documents without such a value through."""
        for name, values in keeping(filters):
            thing = "programming language" if name == "language" else name
            named = Filters(fields=tuple((name, value) for value in values))
            find = self._catalog.filters.documents
            if any(len(find(collection.id, named)) for collection in collections):
                strict = format_filter(name, [strictly(name, value) for value in values])
                yield f"Documents that name no {thing} are searched too; {strict} leaves them out."
            else:
                listed = ", ".join(values)
                yield (
                    f'No document names the {thing} "{listed}"; those that name none were searched.'
                )

    def _words(self, text: str, collections: Sequence[CollectionRecord]) -> _Words:
        """Return what to search for; stop words are not indexed, but a query of them has them."""
        entries, forms = self._catalog.entries, dict[str, tuple[str, ...]]()
        language = self._language_of(collections)
        stemmer = language_of_forms(text, language)
        joined, of_verb = with_joined_verb(self._catalog, text, stemmer)
        about = subject_of(joined)
        own = without_function_words(text, query_tokens(about), stemmer)
        if stemmer:
            forms = known_forms(self._catalog, about, stemmer)
        forms |= of_verb
        forms |= han_variants(self._catalog, about)
        days = list(date_forms(text))
        tokens = (*own, *entries.token_ids(days)) if days else own
        return _Words(tokens, forms, is_foreign(text, stemmer, language))

    def _language_of(self, collections: Sequence[CollectionRecord]) -> str:
        """Return the language in which most documents of collections are written, or ``""``."""
        key = tuple((record.id, record.version) for record in collections)
        # Another thread may put that of other collections there in between.
        known = self._language
        if known is None or known[0] != key:
            self._language = known = key, self._catalog.documents.main_language(collections)
        return known[1]

    def _narrowed(
        self, collections: Sequence[CollectionRecord], names: Sequence[str]
    ) -> tuple[CollectionRecord, ...]:
        """Return the collections, or those of them that a query names."""
        if names and any(record.is_everything for record in collections):
            return tuple(map(self._catalog.collections.get, names))
        records = {record.name: record for record in collections}
        for name in names:
            if name not in records:
                self._catalog.collections.get(name)
                raise QueryError(
                    f'The collection "{name}" is not among those chosen: {", ".join(records)}.',
                    "Choose it, or all collections, beside the question (--collection NAME).",
                )
        return tuple(map(records.__getitem__, names)) or tuple(collections)

    def _fields(self, collections: Sequence[CollectionRecord]) -> Sequence[str]:
        """Return the names of front-matter fields that can be filtered by."""
        return self._catalog.filters.field_names(collections)


@dataclass
class _Request:
    """Texts that are being embedded in a thread of their own."""

    done: threading.Event = field(default_factory=threading.Event)
    vectors: NDArray[np.float32] | None = None
    trouble: str = ""


class QueryEmbedder:
    """Embeds queries. Safe to share between threads.

    A server is asked in a thread, so that a search can go on without it: the first that waits in
    vain waits ``longest`` seconds, those after it not at all while that call is under way, and
    ``LONGEST_WAIT_IN_TROUBLE`` afterwards, until the server answers again.
    """

    def __init__(self, embedder: Embedder, longest: float = LONGEST_WAIT) -> None:
        self._embedder = embedder
        self._remote = is_remote(embedder.name)
        self._longest = longest
        self._guard = threading.Lock()
        self._trouble = ""
        self._latest: _Request | None = None

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, str]:
        """Return the vector of each text, (d,), and ``""``; or ``None`` for each, and why."""
        if not self._remote:
            try:
                return list(self._embedder.embed_queries(texts)), ""
            except RagkitError as error:
                return [None] * len(texts), _notice(str(error))
        with self._guard:
            latest, trouble = self._latest, self._trouble
            if trouble and latest is not None and not latest.done.is_set():
                return [None] * len(texts), trouble
            self._latest = current = _Request()
        thread = threading.Thread(
            target=self._request, args=(current, list(texts)), name="ragkit-question", daemon=True
        )
        thread.start()
        waited = LONGEST_WAIT_IN_TROUBLE if trouble else self._longest
        with TURNS.aside():
            is_done = current.done.wait(waited)
        if not is_done:
            with self._guard:
                # Whoever asks while this call is under way gets no vector, and this sentence.
                self._trouble = trouble = trouble or _notice(
                    f"Ollama has not answered within {waited:g} s."
                )
            return [None] * len(texts), trouble
        if current.vectors is None:
            return [None] * len(texts), current.trouble
        return list(current.vectors), ""

    def known_share(self, text: str) -> float:
        """Return the share of a text that the embedder knows, 1 if it cannot tell."""
        if text.isascii() or self._embedder.name != WordLlamaEmbedder.name:
            return 1.0
        return local_embedder().known_share(text[:_LONGEST_JUDGED])

    def _request(self, current: _Request, texts: list[str]) -> None:
        try:
            vectors = self._embedder.embed_queries(texts)
            if vectors.shape == (len(texts), self._embedder.dimensions):
                current.vectors = vectors
            else:
                current.trouble = _notice(
                    f"{self._embedder.name} returned vectors of another length."
                )
        except RagkitError as error:
            current.trouble = _notice(str(error))
        except Exception:
            logger.exception("a question could not be embedded")
            current.trouble = _notice("Something unexpected happened. See the log.")
        with self._guard:
            self._trouble = current.trouble
            current.done.set()


def _notice(why: str) -> str:
    return f"These results are by words alone: {why}"
