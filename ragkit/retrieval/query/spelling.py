"""Spelling: words that no document has, and the nearest words that documents have.

Only plain words are looked at, in small letters or long names: never identifiers, numbers, words
with capitals inside, or quoted ones, nor what the built-in embedder knows as a word of its own or
as a form of one, or what is nearly a stop word. The nearest word is one letter away (added, left
out, another, or two that changed places), two in a long word with the same first letter; among
several, the one with the same letters, in another order or doubled, then with the same first
letter, then whose stem occurs in more chunks.

The embedder knows words of English. In documents of another language, a word that differs by a
letter is as likely another word ("kochen", "Wochen"); so it must have the same letters, or be long
and lack a letter or have one too many.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import compress, groupby
from typing import NamedTuple

import numpy as np

from ragkit.catalog import Catalog
from ragkit.indexes.analyzer import STOP_WORDS
from ragkit.indexes.protocol import EntryIndex
from ragkit.indexes.tokenizer import fold, index_tokens
from ragkit.models.factory import local_embedder
from ragkit.results import Spelling
from ragkit.retrieval.query.compounds import apart_or_within
from ragkit.retrieval.query.filter_syntax import quotations
from ragkit.retrieval.query.word_forms import is_function_word
from ragkit.types import Field

_SHORTEST, _SHORTEST_NAME, _LONG = 5, 7, 9
_LONG_ABROAD = 8
_SHORTEST_STEM = 4
_ENDING = 2
_NEIGHBOURS, _TRIED = 20, 5
_CHUNKS_READ = (slice(0, 10), slice(10, 40))
_MOST_WORDS, _LONGEST_TEXT = 4, 500
# Nothing of an identifier, address, path or hyphenated word beside it.
_WORD = re.compile(r"(?<![\w:/.@#$_'’-])[^\W\d_]+(?![\w/@$_'’-]|[.:]\w)")
_LETTERS = re.compile(r"[^\W\d_]+")
_VOWELS = frozenset("aeiou")
# What the English stemmer takes off: all but 0.1 % of the words in texts of many kinds end so
# (docs/decisions.md).
_ENDINGS = """
    abilities ability able abled ables abling ably al aled aling alism alities ality alization
    alizations alize alized alizer alizes alizing ally als ance ances ancies ancy ant antly ants ate
    ated ately ateness ates ating ation ational ationally ations ative atively atives ator ators d e
    eability eable eably eal eally eate eated eating eation eations ed edly eds eement eements eer
    eered eering eers eful efully efulness eic eing eities eity elis ely ement emented ements ence
    ences encies ency eness ent ented enting ently ents eous eously er erative ered ering erings
    erly ers es ess ful fully fulness ibilities ibility ible ibles ibly ic ical icality ically icals
    icate icated icates icating ication ications icative icator iced icing icities icity ics ies
    ilities ility ing ingly ings ion ional ionalism ionality ionally ionals ioned ioning ions is ism
    isms ist ists ities itis ity ive ively iveness ives ivities ivity ization izations ize ized izer
    izers izes izing l li ly ment mented menting ments ness nesses or ors ous ously ousness s y
"""
_STOPS = sorted(word for word in STOP_WORDS if len(word) > 3)

Slip = tuple[int, bool, bool]
"""Edits between two words; whether their letters differ, and whether the first ones do."""

_FARTHEST: Slip = (99, True, True)
_CLOSE: Slip = (1, False, True)


class _Stem(NamedTuple):
    """A token that may be meant; ``rarity`` is the negative number of chunks that have it."""

    slip: Slip
    rarity: int
    token: str
    id: int


class _Near(NamedTuple):
    """A word that may be meant."""

    slip: Slip
    word: str


def misspelled(
    catalog: Catalog, indexes: Sequence[EntryIndex], text: str, token_ids: Mapping[str, int]
) -> tuple[Spelling, ...]:
    """Return the words of a text that no chunk of ``indexes`` has, with their nearest.

    ``token_ids`` are those of its tokens that the vocabulary holds; documents that have gone, or
    are not searched, may have brought them there. Words without a near one are left out.
    """
    if len(text) > _LONGEST_TEXT:
        return ()
    there = _tokens_there(indexes, token_ids)
    quoted = quotations(text)
    spellings: dict[str, Spelling] = {}
    looked_at = 0
    for match in _WORD.finditer(text):
        word, at = match[0], match.start()
        if any(start <= at < end for start, end in quoted) or word in spellings:
            continue
        if not may_be_misspelled(word, first=not text[:at].strip()):
            continue
        if not there.isdisjoint(index_tokens(word)) or looked_at == _MOST_WORDS:
            continue
        looked_at += 1
        if near := nearest_word(catalog, indexes, word.lower()):
            near = near.capitalize() if word.istitle() else near
        elif not _is_common(word.lower()):
            near = apart_or_within(catalog, indexes, word)
        if near:
            spellings[word] = Spelling(word, near)
    return tuple(spellings.values())


def _tokens_there(indexes: Sequence[EntryIndex], token_ids: Mapping[str, int]) -> set[str]:
    """Return the tokens that a chunk has in any of its fields."""
    ids = list(token_ids.values())
    there = np.zeros(len(ids), np.bool_)
    for index in indexes if ids else ():
        # Nearly all are in the text, so that other fields need not be asked.
        for field in sorted(index.fields, key=Field.TEXT.__ne__):
            if not there.all():
                there |= index.document_frequencies(ids, field) > 0
    return set(compress(token_ids, there.tolist()))


def respelled_text(text: str, spellings: Sequence[Spelling]) -> str:
    """Return a text with misspelled words corrected, and numbers regrouped, except in quotes."""
    for spelling in spellings:
        quoted = quotations(text)
        is_word = spelling.word.isalpha()
        for match in (_WORD if is_word else re.compile(re.escape(spelling.word))).finditer(text):
            at = match.start()
            if match[0] == spelling.word and not any(start <= at < end for start, end in quoted):
                text = text[:at] + spelling.meant + text[match.end() :]
                break
    return text


def may_be_misspelled(word: str, *, first: bool) -> bool:
    """Return whether a word is plain enough to be corrected; a name only as the first word."""
    plain = word.islower() or (word.istitle() and (first or len(word) >= _SHORTEST_NAME))
    return word.isalpha() and plain and len(word) >= _SHORTEST


def nearest_word(catalog: Catalog, indexes: Sequence[EntryIndex], word: str) -> str:
    """Return the nearest word of the texts, in its lower-case form there; or nothing."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    tokens = index_tokens(word)
    if len(tokens) != 1 or _is_common(word) or is_function_word(word):
        return ""
    if process.extractOne(word, _STOPS, scorer=OSA.distance, score_cutoff=1):
        return ""
    most = 1 if len(word) < _LONG else 2
    plain = fold(word).casefold()
    # A slip near the end of a word leaves another stem.
    forms = dict.fromkeys((tokens[0], word, f"{word[:-1]}i" if word.endswith("y") else word))
    whole = [(form, most) for form in forms]
    # One within its ending hides the stem, which is then like the beginning of the word.
    begins = [(word[:end], 1) for end in range(len(word) - 1, _SHORTEST_STEM - 1, -1)]
    best = _Near(_FARTHEST, "")
    looked_at: set[str] = set()
    for looked_for in (whole, begins):
        for stem in _stems_near(catalog, indexes, looked_for):
            if stem.slip >= best.slip or stem.token in looked_at:
                continue
            looked_at.add(stem.token)
            if may_stand_for(stem.token, plain, most):
                best = min(best, _written(catalog, indexes, stem, plain, most))
        if best.slip <= _CLOSE:
            break
    return best.word


def _is_common(word: str) -> bool:
    """Return whether a word is one that the embedder knows, or an inflection of such a word."""
    pieces = local_embedder().pieces
    without_ending = (word[:end] for end in range(len(word) - 1, len(word) - 4, -1))
    return pieces(word) == 1 or any(
        index_tokens(ending) == index_tokens(word) and pieces(ending) == 1
        for ending in without_ending
    )


def _stems_near(
    catalog: Catalog, indexes: Sequence[EntryIndex], looked_for: Sequence[tuple[str, int]]
) -> list[_Stem]:
    """Return the likeliest tokens with up to so many edits of one of the forms, best first."""
    slips: dict[str, Slip] = {}
    for form, most in looked_for:
        for token, _ in catalog.entries.words_near(form, most):
            slips[token] = min(_slip(form, token), slips.get(token, _FARTHEST))
    close = sorted(slips, key=lambda token: (slips[token], -len(token)))[:_NEIGHBOURS]
    ids = catalog.entries.token_ids(close)
    counts = sum(
        (index.document_frequencies(list(ids.values()), Field.TEXT) for index in indexes),
        np.zeros(len(ids), np.int64),
    )
    stems = zip(ids.items(), counts.tolist(), strict=True)
    there = (_Stem(slips[stem[0]], -count, *stem) for stem, count in stems if count)
    return sorted(there)[:_TRIED]


def _slip(word: str, meant: str) -> Slip:
    """Return how far a word is from another; the same letters are in another order or doubled."""
    from rapidfuzz.distance import OSA

    same = sorted(word) == sorted(meant) or _undoubled(word) == _undoubled(meant)
    return OSA.distance(word, meant), not same, word[:1] != meant[:1]


def _undoubled(word: str) -> str:
    return "".join(letter for letter, _ in groupby(word))


def _written(
    catalog: Catalog, indexes: Sequence[EntryIndex], stem: _Stem, plain: str, most: int
) -> _Near:
    """Return the form of a stem, as some chunks write it, that is nearest to a folded word."""
    from rapidfuzz.distance import OSA

    is_latin = plain.isascii()
    # Endings differ: most words of a text are dismissed by what they begin with, and by length.
    start = stem.token[: max(len(stem.token) - _ENDING, 1)]
    shortest, longest = len(plain) - most - len(start), len(plain) + most - len(start)
    first = re.escape(start)
    # Looking behind comes after it, which is then searched for as plain text.
    begins = re.compile(
        rf"{first}(?<![^\W\d_]{first})[^\W\d_]{{{max(shortest, 0)},{longest}}}(?![^\W\d_])"
    )
    for index in indexes:
        entries = index.holding([stem.id])[0]
        for read in _CHUNKS_READ:
            texts = list(_texts(catalog, entries[read].tolist()))
            words = {
                (found, document)
                for text, document in texts
                for found in begins.findall(fold(text).casefold())
                if OSA.distance(found, plain) <= (most if found[0] == plain[0] else 1)
            }
            known = _in_english(catalog, words) if is_latin else frozenset()
            near = [
                _Near(_slip(plain, found), found)
                for found, document in words
                if (document in known or _is_surely_meant(plain, found))
                and index_tokens(found) == [stem.token]
            ]
            if near:
                return _accented(min(near), [text for text, _ in texts])
    return _Near(_FARTHEST, "")


def _accented(near: _Near, texts: Sequence[str]) -> _Near:
    """Return a word as the first of the texts that has it writes it."""
    words = (word for text in texts for word in _LETTERS.findall(text))
    return near._replace(
        word=next((word for word in words if fold(word).casefold() == near.word), near.word)
    )


def _is_surely_meant(word: str, meant: str) -> bool:
    """Return whether a word is another misspelled, although nobody knows whether it is one."""
    slip = _slip(word, meant)
    if is_function_word(meant) or slip[2]:
        return False
    return not slip[1] or (slip[0] == 1 and len(word) >= _LONG_ABROAD and len(word) != len(meant))


def _texts(catalog: Catalog, entries: Sequence[int]) -> Iterator[tuple[str, int]]:
    """Yield chunks with their headings, without capitals, and the id of each one's document."""
    for chunk in catalog.chunk_texts(entries):
        yield f"{chunk.context}\n{chunk.text}".lower(), chunk.document


def _in_english(catalog: Catalog, words: Iterable[tuple[str, int]]) -> frozenset[int]:
    """Return which documents of words are English, as those of unknown language are taken for."""
    documents = {document for _, document in words}
    languages = catalog.documents.languages(documents)
    return frozenset(each for each in documents if languages.get(each, "") in ("", "en"))


def may_stand_for(stem: str, word: str, most: int) -> bool:
    """Return whether a word within ``most`` edits (OSA) of ``word`` can have this stem.

    Both are folded and without capitals. Stems of other scripts may stand for anything.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    if not stem.isascii():
        return True
    forms = (begin + ending for begin in _beginnings(stem) for ending in _endings())
    return process.extractOne(word, forms, scorer=OSA.distance, score_cutoff=most) is not None


@cache
def _endings() -> tuple[str, ...]:
    return ("", *_ENDINGS.split())


def _beginnings(stem: str) -> Iterator[str]:
    """Yield what a stem's words begin with: "copi" and "copy", "stop" and "stopp"."""
    yield stem
    last = stem[-1]
    if last in "iel":
        yield stem[:-1]
        yield f"{stem[:-1]}y"
    if last not in _VOWELS:
        yield stem + last
