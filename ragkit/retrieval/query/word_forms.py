"""Questions in other languages of Latin letters: their function words, and other forms of words.

Documents are indexed with the stems of English, whatever they are written in. So a question that is
clearly in another language is asked without its function words, and a word that the library does
not have as it stands is asked in the forms that it has; in languages of many forms, every word is.
A verb that a question takes apart ("Wie richte ich eine Firewall ein?") is asked in one word, as
documents have it: "einrichten", "eingerichtet", "Einrichtung". ``question_words`` has by language
what is stated of it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from ragkit.catalog import Catalog
from ragkit.indexes.analyzer import STOP_WORDS
from ragkit.indexes.bm25 import idf_of
from ragkit.indexes.languages import stem
from ragkit.indexes.protocol import EntryIndex
from ragkit.indexes.tokenizer import fold, index_tokens
from ragkit.retrieval.query.question_words import LANGUAGES
from ragkit.retrieval.query.question_words.english import ENGLISH
from ragkit.retrieval.query.question_words.language import Language, SeparableVerbs
from ragkit.retrieval.query.question_words.russian import RUSSIAN
from ragkit.retrieval.query_segmentation.asking import asks
from ragkit.types import Field

LONGEST_JUDGED = 500
"""Characters of the longest text whose language is told; of a longer one, ask its beginning."""

_LETTERS = re.compile(r"[^\W\d_]+")
_FEWEST = 2
_MOST_LETTERS = 2_000
_LONGEST_WITH_VERB = 300
_SHORTEST_STEM = 3
_SHORTEST_ROOT = 2
_MOST_TOKENS = 600
_OTHER_FORM = 0.8
"""How much a form counts that a text has instead of the one that was asked."""
_BEHIND_SUBJECT = (
    r"(?<!\w)(?P<verb>[^\W\d_]{{3,20}})\s+(?P<subject>{subjects})\b[^.?!;:]{{0,200}}?"
    r"(?<=[\s,])(?P<particle>{particles})(?=\s*(?:[,.?!;:]|$))"
)
_BEHIND_VERB = r"(?<!\w)(?P<verb>[^\W\d_]{{4,20}})\s+(?P<particle>{particles})(?!\w)"


class SeparableVerb(NamedTuple):
    """``words`` are what a verb is with its particle, infinitives first.

    ``before`` and ``behind`` are what the question has before and behind the particle, without the
    verb itself.
    """

    words: tuple[str, ...]
    before: str
    behind: str

    def question(self, word: str) -> str:
        """Return the question with a word in the place of the particle, where infinitives stand."""
        return f"{self.before}{word}{self.behind}"


@lru_cache(maxsize=64)
def foreign_language(text: str) -> str:
    """Return the language of a question if it is clearly one of these, and not English, or ``""``.

    Two different function words speak for a language, and more than for English or another.
    """
    if len(text) > LONGEST_JUDGED:
        return ""
    words = set(_LETTERS.findall(fold(text).casefold()))
    votes = {name: len(words & own) for name, own in _function_words().items()}
    best = max(votes, key=lambda name: votes[name])
    others = [count for name, count in votes.items() if name != best]
    most = votes[best]
    clear = most >= _FEWEST and most > max(others) and most > len(words & STOP_WORDS)
    return best if clear else ""


def is_function_word(word: str) -> bool:
    """Return whether a word, with or without its accents, is one of a foreign language."""
    plain = fold(word).casefold()
    return any(plain in words for words in _function_words().values())


def function_tokens(stemmer: str) -> frozenset[str]:
    """Return the tokens of a language's function words, by its stemmer; none of English."""
    words = _function_words().get(stemmer, ())
    return frozenset(token for word in words for token in index_tokens(word))


def without_function_words(text: str, tokens: Sequence[str], language: str = "") -> tuple[str, ...]:
    """Return a question's tokens without those of its function words."""
    language = language or foreign_language(text)
    if language in _function_words():
        words = _function_words()[language] | _shared_words(language)
        words = words.intersection(_LETTERS.findall(fold(text).casefold()))
        left_out = frozenset(token for word in words for token in index_tokens(word))
    else:
        left_out = _function_tokens(RUSSIAN)
        if asks(text):
            left_out |= _function_tokens(ENGLISH)
    return tuple(token for token in tokens if token not in left_out) or tuple(tokens)


def language_of_forms(text: str, language: str) -> str:
    """Return the stemmer of the language in whose forms a question's words are asked, or ``""``.

    ``language`` is the code of the one in which most of what is searched is written. It counts
    where one function word speaks for it and none for English, and where words have so many forms
    that a question seldom has the one of the text.
    """
    if named := foreign_language(text):
        return named
    words = set(_LETTERS.findall(fold(text[:LONGEST_JUDGED]).casefold()))
    stemmer = _by_code().get(language, "")
    english = len(words & STOP_WORDS - _shared_words(stemmer))
    if not english and not words.isdisjoint(_function_words().get(stemmer, ())):
        return stemmer
    return "" if english >= _FEWEST or not _has_many_forms(stemmer) else stemmer


def has_other_letters(text: str) -> bool:
    """Return whether most letters of a text are not Latin."""
    letters = [letter for letter in fold(text[:_MOST_LETTERS]) if letter.isalpha()]
    return 2 * sum(map(str.isascii, letters)) < len(letters)


def is_foreign(text: str, stemmer: str, language: str) -> bool:
    """Return whether a question is in another language than English.

    ``stemmer`` is that of its forms; without one, letters do or the language of most of what is
    searched, whose code is given, unless the question has a function word of English.
    """
    if stemmer or has_other_letters(text):
        return True
    words = set(_LETTERS.findall(fold(text[:LONGEST_JUDGED]).casefold()))
    return language not in ("", *ENGLISH.codes) and words.isdisjoint(STOP_WORDS)


def known_forms(catalog: Catalog, text: str, stemmer: str) -> dict[str, tuple[str, ...]]:
    """Return other forms of a question's words that the vocabulary has, by the words' own tokens.

    In languages of few forms, those of words that it does not have as they stand.
    """
    functions = _function_words().get(stemmer, frozenset())
    words = dict.fromkeys(_LETTERS.findall(fold(text[:LONGEST_JUDGED]).casefold()))
    tokens_of = {word: index_tokens(word) for word in words if word not in functions}
    own_of = {word: tokens[0] for word, tokens in tokens_of.items() if len(tokens) == 1}
    known: Collection[str] = ()
    if not _has_many_forms(stemmer):
        known = catalog.entries.token_ids(list(own_of.values()))
    forms: dict[str, tuple[str, ...]] = {}
    for word, own in own_of.items():
        found = [] if own in known else _forms(catalog, word, stemmer)
        if others := tuple(form for form in found if form != own):
            forms[own] = others
    return forms


def separable_verb(question: str, stemmer: str) -> SeparableVerb | None:
    """Return the verb of a question that is parted from its particle, if any."""
    language = _by_stemmer().get(stemmer)
    verbs = language.separable_verbs if language else None
    if verbs is None or len(question) > _LONGEST_WITH_VERB:
        return None
    found = _parted(verbs).search(question)
    root = _root(verbs, found) if found else ""
    if found is None or len(root) < _SHORTEST_ROOT:
        return None
    verb, particle = found["verb"].lower(), found["particle"].lower()
    # Of "we" a verb of German or Dutch is the infinitive.
    forms = [*([verb] if verb.endswith("n") else []), *verbs.forms(root)]
    words = dict.fromkeys(f"{particle}{form}" for form in forms)
    start, end = found.span("verb")
    before = question[:start] + question[end : found.start("particle")]
    return SeparableVerb(tuple(words), before, question[found.end() :])


def with_infinitive(question: str, stemmer: str) -> str:
    """Return a question with its separable verb in one word, the likeliest; or as it is."""
    verb = separable_verb(question, stemmer)
    return verb.question(verb.words[0]) if verb else question


def with_joined_verb(
    catalog: Catalog, question: str, stemmer: str
) -> tuple[str, dict[str, tuple[str, ...]]]:
    """Return a question with its separable verb in one word that the vocabulary has.

    Other forms of it that the vocabulary has are returned by its token, as in ``known_forms``.
    """
    verb = separable_verb(question, stemmer)
    if verb is None:
        return question, {}
    found = (_forms(catalog, fold(word).casefold(), stemmer) for word in verb.words)
    known = dict.fromkeys(chain.from_iterable(found))
    for word in verb.words:
        own = index_tokens(word)
        if len(own) == 1 and own[0] in known:
            others = tuple(token for token in known if token != own[0])
            return verb.question(word), {own[0]: others} if others else {}
    return question, {}


def form_weights(
    forms: Mapping[str, Sequence[str]], ids: Mapping[str, int], indexes: Iterable[EntryIndex]
) -> dict[int, float]:
    """Return how much tokens count of words that have other forms: together as one word.

    A word is as rare as all its forms together; other forms than the one that was asked count a
    little less.
    """
    weights: dict[int, float] = {}
    indexes = list(indexes) if forms else []
    rows = sum(index.entries for index in indexes)
    for own, others in forms.items():
        tokens = [token for token in (own, *others) if token in ids]
        token_ids = [ids[token] for token in tokens]
        held = sum(
            (index.document_frequencies(token_ids, Field.TEXT) for index in indexes),
            np.zeros(len(tokens), np.int64),
        )
        # As many rows as would have one of them if they were independent.
        together = rows * (1 - np.prod(1 - held / max(rows, 1)))
        shares = idf_of(rows, np.array(together)) / idf_of(rows, held)
        for token, id_, share in zip(tokens, token_ids, shares.tolist(), strict=True):
            weights[id_] = share if token == own else share * _OTHER_FORM
    return weights


def _forms(catalog: Catalog, word: str, stemmer: str) -> list[str]:
    """Return the tokens of the vocabulary that are forms of a folded word."""
    import Stemmer

    # One of its own each time, since it keeps state between calls.
    stemming = Stemmer.Stemmer(stemmer, 0)
    stemmed = stemming.stemWord(word)
    if len(stemmed) < _SHORTEST_STEM:
        return []
    beginning = stemmed[: max(_SHORTEST_STEM, len(stemmed) - 1)]
    near = catalog.entries.tokens_from(beginning, _MOST_TOKENS)
    language = _by_stemmer().get(stemmer)
    endings = language.accented_endings.split() if language else ()
    written = [(token, word) for token in near for word in _written(token, endings)]
    stems = stemming.stemWords([word for _, word in written])
    found = {
        token
        for (token, word), own in zip(written, stems, strict=True)
        if stemmed in (word, fold(own))
    }
    return [token for token in near if token in found]


def _written(token: str, accented_endings: Iterable[str]) -> Iterator[str]:
    """Yield the words that a token may be of: itself, and with what tokens have lost of an ending.

    They have lost accents, and what the stems of English are without.
    """
    yield token
    for ending in accented_endings:
        plain = fold(ending)
        if token.endswith(plain):
            yield token.removesuffix(plain) + ending
    longer = (f"{token}e", f"{token}s", *([f"{token[:-1]}y"] if token.endswith("i") else ()))
    yield from (word for word in longer if stem(word) == token)


def _root(verbs: SeparableVerbs, found: re.Match[str]) -> str:
    """Return what of a verb is in all its forms, or nearly."""
    verb = found["verb"].lower()
    if not verbs.subjects:
        return re.sub(f"{verbs.ending}$", "", verb, count=1)
    endings = verbs.subjects[fold(found["subject"]).lower()]
    return verb.removesuffix(next(filter(verb.endswith, endings), ""))


@cache
def _parted(verbs: SeparableVerbs) -> re.Pattern[str]:
    """Return a pattern for a verb and its particle."""
    particles = "|".join(sorted(verbs.particles.split(), key=len, reverse=True))
    written = _BEHIND_SUBJECT if verbs.subjects else _BEHIND_VERB
    pattern = written.format(particles=particles, subjects="|".join(verbs.subjects))
    return re.compile(pattern, re.IGNORECASE)


@cache
def _by_stemmer() -> Mapping[str, Language]:
    return {language.stemmer: language for language in LANGUAGES if language.stemmer}


@cache
def _by_code() -> Mapping[str, str]:
    """Return the stemmers of languages that have one, by code."""
    return {code: language.stemmer for language in LANGUAGES for code in language.codes}


def _has_many_forms(stemmer: str) -> bool:
    return stemmer in _by_stemmer() and _by_stemmer()[stemmer].has_many_forms


@cache
def _function_words() -> Mapping[str, frozenset[str]]:
    """Return the function words of languages other than English, by stemmer."""
    named = _by_stemmer().items()
    return {name: frozenset(of.function_words.split()) for name, of in named if of.function_words}


@cache
def _shared_words(stemmer: str) -> frozenset[str]:
    """Return the function words of a language that are words of English, too, by its stemmer."""
    language = _by_stemmer().get(stemmer)
    return frozenset(language.shared_words.split() if language else ())


@cache
def _function_tokens(language: Language) -> frozenset[str]:
    return frozenset(index_tokens(language.function_words))
