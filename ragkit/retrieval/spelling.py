"""Spelling: words that no document has, and the nearest words that documents have.

Only plain words are looked at, in small letters or long names: never identifiers, numbers, words
with capitals inside, or quoted ones, nor what the built-in embedder knows as a word of its own, or
what is nearly a stop word. The nearest word is one letter away (added, left out, another, or
two that changed places), two in a long word; among several, with the same first letter, then the
one that stands in more chunks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ragkit.catalog import Catalog
from ragkit.indexes.analyzer import STOP_WORDS
from ragkit.indexes.protocol import EntryIndex
from ragkit.indexes.tokenizer import index_tokens
from ragkit.models.factory import local_embedder
from ragkit.results import Spelling
from ragkit.types import Field

_SHORTEST, _SHORTEST_NAME, _LONG = 5, 7, 9
_NEIGHBOURS, _TRIED, _CHUNKS_READ = 20, 3, 5
_MOST_WORDS, _LONGEST_TEXT = 4, 500
# Nothing of an identifier, address, path or hyphenated word beside it.
_WORD = re.compile(r"(?<![\w:/.@#$_'’-])[^\W\d_]+(?![\w/@$_'’-]|[.:]\w)")
_STOPS = sorted(word for word in STOP_WORDS if len(word) > 3)
_QUOTED = re.compile(r'"[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」')


def misspelled(
    catalog: Catalog, indexes: Sequence[EntryIndex], text: str, known: Mapping[str, int]
) -> tuple[Spelling, ...]:
    """Return the words of a text that are not among the ``known`` tokens, with their nearest.

    ``indexes`` are those of chunks that are searched. Words without a near one are left out.
    """
    if len(text) > _LONGEST_TEXT:
        return ()
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    found: dict[str, Spelling] = {}
    looked_at = 0
    for match in _WORD.finditer(text):
        word, at = match[0], match.start()
        if any(start <= at < end for start, end in quoted) or word in found:
            continue
        if not may_be_misspelled(word, first=not text[:at].strip()):
            continue
        if any(token in known for token in index_tokens(word)) or looked_at == _MOST_WORDS:
            continue
        looked_at += 1
        near = nearest_word(catalog, indexes, word.lower())
        if near:
            found[word] = Spelling(word, near.capitalize() if word.istitle() else near)
    return tuple(found.values())


def respelled_text(text: str, spellings: Sequence[Spelling]) -> str:
    """Return a text with words in the spelling that is meant, but for quoted ones."""
    for one in spellings:
        quoted = [match.span() for match in _QUOTED.finditer(text)]
        for match in _WORD.finditer(text):
            at = match.start()
            if match[0] == one.word and not any(start <= at < end for start, end in quoted):
                text = text[:at] + one.meant + text[match.end() :]
                break
    return text


def may_be_misspelled(word: str, *, first: bool) -> bool:
    """Return whether a word is plain enough to be corrected; names are none, but for the first."""
    plain = word.islower() or (word.istitle() and (first or len(word) >= _SHORTEST_NAME))
    return word.isalpha() and plain and len(word) >= _SHORTEST


def nearest_word(catalog: Catalog, indexes: Sequence[EntryIndex], word: str) -> str:
    """Return the nearest word of the texts, as it stands there in small letters; or nothing."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    tokens = index_tokens(word)
    if len(tokens) != 1 or local_embedder().pieces(word) == 1:
        return ""
    if process.extractOne(word, _STOPS, scorer=OSA.distance, score_cutoff=1):
        return ""
    most = 1 if len(word) < _LONG else 2
    # A slip near the end of a word leaves another stem.
    forms = dict.fromkeys((tokens[0], word, f"{word[:-1]}i" if word.endswith("y") else word))
    nearest: dict[str, int] = {}
    for form in forms:
        for token, distance in catalog.entries.words_near(form, most):
            nearest[token] = min(distance, nearest.get(token, distance))
    close = sorted(nearest.items(), key=lambda each: each[1])[:_NEIGHBOURS]
    ids = catalog.entries.token_ids([token for token, _ in close])
    counts = sum(
        (index.document_frequencies(list(ids.values()), Field.TEXT) for index in indexes),
        np.zeros(len(ids), np.int64),
    )
    count_of = dict(zip(ids, counts.tolist(), strict=True))
    ranked = sorted(
        (distance, token[:1] != word[:1], -count_of[token], token)
        for token, distance in close
        if count_of.get(token, 0)
    )
    for _, _, _, token in ranked[:_TRIED]:
        texts = _texts_with(catalog, indexes, ids[token])
        # Most words of a text are dismissed by their first letter.
        begins = re.compile(rf"(?<![^\W\d_]){re.escape(token[0])}[^\W\d_]+")
        words = Counter(one for text in texts for one in begins.findall(text))
        written: list[tuple[int, str]] = [
            (-times, one)
            for one, times in words.items()
            if OSA.distance(one, word, score_cutoff=most) <= most and index_tokens(one) == [token]
        ]
        if written:
            return min(written)[1]
    return ""


def _texts_with(catalog: Catalog, indexes: Sequence[EntryIndex], token_id: int) -> Iterator[str]:
    """Yield some chunks that hold a token, with their headings, without capitals."""
    for index in indexes:
        entries = index.holding([token_id])[:_CHUNKS_READ]
        rows = catalog.entries.chunk_spans(entries.tolist())
        texts = catalog.documents.slices([row[1:4] for row in rows])
        for (*_, context), text in zip(rows, texts, strict=True):
            yield f"{context}\n{text}".lower()
