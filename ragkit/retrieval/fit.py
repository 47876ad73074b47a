"""How well results fit a question, in absolute terms: what decides whether anything is close.

A score orders a list, and a part of it is relative to the best of that list; so the best of any
list looks good. The fit of a result does not depend on the others: it is the mean of two shares,

- coverage: how much of the question's words the best chunk holds, weighted by their rarity; a
  word with a digit counts twice, because a number that is missing is mostly the one asked for,
- the cosine of question and chunk, 0 where it is negative.

Without a vector it is the coverage alone, and in scripts of which the built-in embedder knows no
words, since all texts in them have high cosines. How the limits were chosen: docs/decisions.md.
They hold for the built-in embedder; with vectors of another, whose cosines lie elsewhere, nothing
is judged weak.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress
from typing import TYPE_CHECKING

import numpy as np

from ragkit.indexes.analyzer import HAN
from ragkit.indexes.protocol import EntryIndex, IndexKind, IndexSearch
from ragkit.indexes.rows import Bools, Ids, distinct, positions_in, united
from ragkit.indexes.tokenizer import fold, fold_with_offsets, index_tokens, word_pattern
from ragkit.options import Mode
from ragkit.results import Result
from ragkit.retrieval.candidates import WRITTEN
from ragkit.retrieval.figures import exact_tokens
from ragkit.retrieval.grouping import Group, Grouping
from ragkit.retrieval.hits import Hit
from ragkit.retrieval.proximity import Scores
from ragkit.retrieval.query.date_forms import with_date_forms
from ragkit.retrieval.query.encoding import Query
from ragkit.retrieval.query.word_forms import has_other_letters
from ragkit.types import Field

if TYPE_CHECKING:
    from ragkit.retrieval.query_segmentation.topics import Topic

WEAK = 0.25
"""A result with less fit is no answer, where words and meaning were compared."""

WEAK_BY_WORDS = 0.34
"""The same where words alone count."""

_BACKGROUND = 0.15
"""How much more alike texts of another language are by the built-in vectors, whatever they say."""

_LONGEST_JUDGED = 2000
_MOST_NAMED, _LONGEST_NAMED = 12, 40
_MEASURES = frozenset(
    ("many", "much", "long", "often", "far", "old", "big", "large", "high", "late", "soon")
)
"""After "how" they ask for a figure, and need not be in what answers."""

_ASKED_BY = """
wie wo wann warum wer wen wem was welche welcher welches wieviel combien comment quand quel quelle
quels quelles qui quoi pourquoi que quien quienes cual cuales cuando cuanto cuanta cuantos cuantas
donde come quando quanto quanta quanti quante dove perche quale quali quem qual quais quantos
quantas onde hoe hoeveel waar wanneer waarom welke ile kiedy gdzie dlaczego jak jaka jaki jakie kto
co kolik kdy kde proc kdo hur nar var vem vad varfor hvor hvornar hvem hvad hva hvorfor
"""
_ASKING = frozenset(_ASKED_BY.split())
"""With them a question begins in other languages, without their accents."""

_MODALS = frozenset(("may", "might", "must", "shall"))
_BEFORE_MONTH = frozenset(
    ("in", "of", "on", "since", "until", "till", "before", "after", "by", "last", "next")
)

_WORDS = re.compile(r"\w+")
_NUMBER_COUNTS = 2.0
_UNKNOWN = 0


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a question that are searched for, as they are written, with their tokens."""

    by_word: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, text: str, asked: Collection[str]) -> Words:
        """Find the words of a text of which a token was asked for; stop words are none."""
        text = text[:_LONGEST_JUDGED]
        folded, starts, ends = fold_with_offsets(text)
        matches = list(word_pattern(ascii_only=folded.isascii()).finditer(folded))
        written = [text[starts[match.start()] : ends[match.end() - 1]] for match in matches]
        words = {}
        for place, match in enumerate(matches):
            tokens = frozenset(exact_tokens(index_tokens(match.group())))
            if not tokens.isdisjoint(asked) and not _only_asks(written, place):
                words[written[place]] = tokens
        return cls(words)

    def without(self, held: Collection[str]) -> tuple[str, ...]:
        """Return the words of which no token is held, in the question's order."""
        missing = [word for word, tokens in self.by_word.items() if tokens.isdisjoint(held)]
        return tuple(
            word if len(word) <= _LONGEST_NAMED else f"{word[:_LONGEST_NAMED]}…"
            for word in missing[:_MOST_NAMED]
        )


def _only_asks(words: Sequence[str], place: int) -> bool:
    """Return whether a word only forms the question, so that an answer need not have it.

    "How long", "who may", "quando"; not "in May", "May 2024".
    """
    word = words[place].casefold()
    if place == 0 and len(words) > 1 and fold(word) in _ASKING:
        return True
    before = words[place - 1].casefold() if place else ""
    after = words[place + 1] if place + 1 < len(words) else ""
    if word in _MEASURES:
        return before == "how"
    is_month = word == "may" and (
        before in _BEFORE_MONTH
        or before[:1].isdigit()
        or after[:1].isdigit()
        or (bool(before) and words[place] == "May")
    )
    return word in _MODALS and not is_month


@dataclass(frozen=True, slots=True)
class Fits:
    """How results fit, by their place, and which words nothing that is searched holds."""

    results: tuple[Result, ...]
    missing_terms: tuple[str, ...]

    @property
    def nothing_close(self) -> bool:
        """True when every result is weak, or there is none."""
        return all(result.weak for result in self.results)


def judge(
    results: Sequence[Result],
    groups: Sequence[Group],
    query: Query,
    indexes: Sequence[EntryIndex],
    *,
    calibrated: bool,
    written: bool,
) -> Fits:
    """Return the results with their fit and the words that each of their documents lacks.

    ``groups`` are those that the results were made of; ``indexes`` have their entries, and the
    words of their documents. ``calibrated`` says that the vectors are of the embedder for which the
    limits hold, ``written`` that words which a model wrote of a chunk count as its own.
    """
    words = Words.of(query.text, query.tokens)
    asked = _Asked.of(query) if words.by_word else _Asked()
    tokens = asked.tokens
    documents = np.array(sorted({result.document.id for result in results}), np.int64)
    there, holding = _holders(asked, documents, indexes, written=written)
    paired = list(_paired(results, groups))
    leads = np.array([group.hits[0].entry_id for _, group in paired], np.int64)
    by_words = _is_by_words(query)
    least = WEAK_BY_WORDS if by_words else WEAK
    quoted = _is_quoted(query)
    judged = []
    coverages = _coverages(leads, asked, indexes, written=written)
    held_by = {
        document: frozenset(compress(tokens, flags))
        for document, flags in zip(documents.tolist(), holding.T.tolist(), strict=True)
    }
    for (result, group), coverage in zip(paired, coverages, strict=True):
        held = held_by[result.document.id]
        is_judged = calibrated or by_words
        fit = _fit(group.hits[0], coverage, by_words, query.foreign) if is_judged else None
        weak = fit is not None and fit < least and not quoted
        lacking = words.without(held)
        judged.append(replace(result, fit=fit, weak=weak, missing_terms=lacking))
    return Fits(tuple(judged), words.without(frozenset(compress(tokens, there.tolist()))))


def weak_topics(
    topics: Sequence[Topic],
    groupings: Sequence[tuple[Query, Grouping]],
    indexes: Sequence[EntryIndex],
    *,
    calibrated: bool,
    written: bool,
) -> list[bool]:
    """Return for each topic of a long text whether all of its queries found nothing that fits.

    ``groupings`` are of every segment, in the order of the topics, then of their backgrounds.
    """
    count = sum(len(topic.segments) for topic in topics)
    of_segments, of_backgrounds = iter(groupings), iter(groupings[count:])
    weak = []
    for topic in topics:
        asked = [next(of_segments) for _segment in topic.segments]
        asked += [next(of_backgrounds) for segment in topic.segments if segment.background]
        # Lazily: most topics have something that fits, and few are asked about twice.
        weak.append(
            all(
                not grouping.hits
                or (
                    (calibrated or query.mode is Mode.KEYWORD)
                    and _is_weak(grouping.hits[0], query, indexes, written=written)
                )
                for query, grouping in asked
            )
        )
    return weak


def _is_weak(hit: Hit, query: Query, indexes: Sequence[EntryIndex], *, written: bool) -> bool:
    """Return whether a query's best hit has too little fit to be an answer, as in ``judge``."""
    asked = _Asked.of(query) if index_tokens(query.text) else _Asked()
    lead = np.array([hit.entry_id], np.int64)
    (coverage,) = _coverages(lead, asked, indexes, written=written)
    by_words = _is_by_words(query)
    fit = _fit(hit, coverage, by_words, query.foreign)
    return fit < (WEAK_BY_WORDS if by_words else WEAK)


@dataclass(frozen=True, slots=True)
class _Asked:
    """The distinct tokens of a query, their ids, and its words and days in other forms.

    Of each such form ``forms`` has the place among the tokens, and those of the tokens for which it
    stands; a form itself need not be there.
    """

    tokens: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()
    forms: tuple[tuple[int, list[int]], ...] = ()

    @classmethod
    def of(cls, query: Query) -> _Asked:
        tokens = tuple(dict.fromkeys(query.tokens))
        places = {token: place for place, token in enumerate(tokens)}
        standing = tuple(
            (places[form], [places[token] for token in own if token in places])
            for form, own in with_date_forms(query.forms, query.text).items()
            if form in places
        )
        return cls(tokens, tuple(query.known.get(token, _UNKNOWN) for token in tokens), standing)

    def factors(self) -> Scores:
        """Return how much each token counts, besides its rarity: (n,).

        A Chinese character does not count beside the pairs that have it: it is in other words too.
        """
        counts = [_NUMBER_COUNTS if any(map(str.isdigit, token)) else 1.0 for token in self.tokens]
        factors = np.array(counts)
        in_pairs = {unit for token in self.tokens if len(token) == 2 for unit in token}
        alone = [token in in_pairs and HAN.match(token) is not None for token in self.tokens]
        factors[np.flatnonzero(alone)] = 0.0
        factors[[form for form, _own in self.forms]] = 0.0
        return factors


def _paired(results: Sequence[Result], groups: Sequence[Group]) -> Iterator[tuple[Result, Group]]:
    """Yield each result with its group; a group whose document is gone has no result."""
    left = iter(groups)
    for result in results:
        yield result, next(group for group in left if group.document_id == result.document.id)


def _is_by_words(query: Query) -> bool:
    """Return whether words alone say how a result fits: no vectors, or other letters than Latin."""
    return query.mode is Mode.KEYWORD or has_other_letters(query.text)


def _is_quoted(query: Query) -> bool:
    """Return whether a question has no words but phrases that whatever is found must have."""
    conditions = chain.from_iterable(query.parsed.required)
    phrases = " ".join(condition.phrase for condition in conditions)
    words, quoted = (set(_WORDS.findall(text.casefold())) for text in (query.text, phrases))
    return bool(quoted) and words <= quoted


def _fit(hit: Hit, coverage: float, by_words: bool, foreign: bool) -> float:
    if by_words:
        return coverage
    return (coverage + max(hit.cosine - _BACKGROUND * foreign, 0.0)) / 2


def _fields(index: EntryIndex, *, written: bool) -> list[Field]:
    """Return the fields whose words count: the text, and if ``written`` a model's fields."""
    return [Field.TEXT, *(field for field in WRITTEN if written and field in index.fields)]


def _holders(
    asked: _Asked, documents: Ids, indexes: Sequence[EntryIndex], *, written: bool
) -> tuple[Bools, Bools]:
    """Return which tokens any entry has, and which documents have each, over all collections."""
    ids = asked.ids
    there = np.zeros(len(ids), np.bool_)
    holding = np.zeros((len(ids), len(documents)), np.bool_)
    for index in indexes if ids else ():
        fields = _fields(index, written=written)
        for field in fields:
            if not there.all():
                there |= index.document_frequencies(ids, field) > 0
        holding |= index.holders(ids, documents, fields)
    for form, own in asked.forms:
        there[own] |= there[form]
        holding[own] |= holding[form]
    return there, holding


def _coverages(
    entries: Ids, asked: _Asked, indexes: Sequence[EntryIndex], *, written: bool
) -> list[float]:
    """Return the share of the tokens, weighted by idf, that each entry or its folders hold."""
    best = np.zeros(len(entries))
    ids, factors = asked.ids, asked.factors()
    ascending = distinct(np.array(ids, np.int64))
    number_of = np.searchsorted(ascending, ids)
    for index in indexes if ids else ():
        weights = index.idf(ids, Field.TEXT) * factors
        held = np.zeros((len(entries), len(ascending)), np.bool_)
        counting = (*_fields(index, written=written), Field.FOLDERS)
        for field in index.fields.intersection(counting):
            column = index.get(entries, field)
            numbers, present = positions_in(ascending, column.flat)
            rows = np.repeat(np.arange(len(entries)), column.lengths)
            held[rows[present], numbers[present]] = True
        of_token = held[:, number_of]
        for form, own in asked.forms:
            of_token[:, own] |= of_token[:, [form]]
        best = np.maximum(best, of_token @ weights / (weights.sum() or 1.0))
    return [float(share) for share in best]


def found_documents(grouping: Grouping, searches: Sequence[IndexSearch], mode: Mode) -> Ids:
    """Return the documents that hold a word of the question or were found (``Answer``)."""
    holding: Ids = np.zeros(0, np.int64)
    if mode is not Mode.VECTOR:
        holding = united(search.documents(IndexKind.KEYWORD) for search in searches)
    if not len(holding) and mode is not Mode.KEYWORD:
        holding = united(search.documents(IndexKind.VECTOR) for search in searches)
    ranked = np.array(sorted({hit.document_id for hit in grouping.hits}), np.int64)
    _places, present = positions_in(holding, ranked)
    # Few or none: most of what is ranked holds a word.
    return holding if present.all() else united([holding, ranked[~present]])
