"""Highlighting: the words of a text that a query matched, by the indexes' tokenizer."""

from __future__ import annotations

import re
import string
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import Any, TypeAlias

from ragkit.indexes.tokenizer import (
    TokenSpan,
    query_tokens,
    token_spans,
    tokenize,
    without_stop_words,
)
from ragkit.retrieval.query.date_forms import date_forms
from ragkit.retrieval.query.parser import without_filters
from ragkit.retrieval.query.subject import subject_of
from ragkit.retrieval.query.word_forms import (
    foreign_language,
    with_infinitive,
    without_function_words,
)

LONGEST_HIGHLIGHTED = 200_000
"""Characters of one text in which words are looked for; the rest is left plain."""

_Spans: TypeAlias = tuple[tuple[int, int], ...]

_CACHED_SPANS = 16_384
_MOST_MET = 150_000
_LONGEST_CACHED = 160
_MOST_WORDS = 200

# No word runs over white space or any of these, so that what is between two of them can be
# taken alone. A full-width comma behind anything but a letter may belong to a number.
_PIECE = re.compile(
    r"(?:[^\s。、！？；，「」『』]|(?<![\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af])，)+"
)
_BORDER = re.compile("[。、！？；，「」『』]")
# But for a number: "1 234,50".
_SPACED = re.compile(r"(?<!\S)\S{0,20}?\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,8},\d\S{0,20}(?!\S)")
_MAYBE_SPACED = re.compile(r"\d{4,}\.\d+")
# Direction marks and joiners count to the word before them; a mark must not close over them.
_UNSEEN = (
    "\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff"
)
# Stems whose second letter is not that of every word that has them: dying, lying, tying.
_CHANGED = {"die": "dy", "lie": "ly", "tie": "ty"}
_CHANGED_ONES = frozenset(_CHANGED.values())
_NONE: frozenset[str] = frozenset()
_WITHOUT_MARKS = str.maketrans("", "", string.punctuation + " ")
_AROUND_WORDS = ".,;:!?()[]{}\"'`*_<>-"
_SENTENCE_START = re.compile(r"(?:[.!?]['\")\]]?\s+|[。！？]|\n\s*)(?=\S)")
_WORD_START = re.compile(r"(?<=\s)\S")
_SPACE = re.compile(r"\s")
_IDENTIFIER, _IDENTIFIER_END = re.compile("[A-Za-z0-9_]{2,}"), re.compile("[A-Za-z0-9_]{2,}$")
_LONGEST_IDENTIFIER = 80


class Highlighter:
    """Finds the words of one query in any number of texts.

    Stop words are passed over unless the query has no others. Caches the words that it has met:
    make one for each query. Safe to share between threads.
    """

    def __init__(
        self,
        query_tokens: Collection[str],
        query_words: Sequence[str] | Callable[[], Sequence[str]] = (),
        forms: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """``query_words`` may be a function, which is called when they are needed.

        ``forms`` are tokens that are other forms of a word, each with the token of the word.
        """
        self._query_tokens = tuple(query_tokens)
        self._query_words = query_words
        self.forms = dict(forms)
        self._met: set[str] = set()
        self._hits: dict[str, tuple[_Spans, frozenset[str]]] = {}
        self._texts: dict[str, set[str]] = {}
        self._guard = threading.Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return Highlighter, (self._query_tokens, self._query_words, self.forms)

    @cached_property
    def _tokens(self) -> frozenset[str]:
        asked = set(self._query_tokens)
        # The letter of a code, as in "E2044", is in any text.
        asked -= {token[0] for token in asked if token[1:].isdigit() and token[0].isalpha()}
        # Sorted, so that a set's order can never show.
        return frozenset(without_stop_words(sorted(asked)))

    @cached_property
    def _words(self) -> list[tuple[str, frozenset[str]]]:
        words = self._query_words
        words = words() if callable(words) else words
        tokens_of = {word: set(tokenize(word)) for word in words[:_MOST_WORDS]}
        for form, own in self.forms.items():
            for tokens in tokens_of.values():
                tokens.update([form] if own in tokens else ())
        return [(word, self._tokens & tokens) for word, tokens in tokens_of.items()]

    def spans(self, text: str) -> _Spans:
        """Return the slices of a text to highlight: in order, apart from each other."""
        text = text[:LONGEST_HIGHLIGHTED]
        hits = self._pieces_hit(text)
        if not hits:
            return ()
        spans: list[tuple[int, int]] = []
        for piece, offset in _places(text, hits):
            spans.extend([(offset + start, offset + end) for start, end in self._hits[piece][0]])
        return merge_spans(spans)

    def terms(self, text: str) -> tuple[str, ...]:
        """Return those of the query's words that the text has, in the query's order."""
        matched: set[str] = set()
        for piece in self._pieces_hit(text[:LONGEST_HIGHLIGHTED]):
            matched |= self._hits[piece][1]
        return tuple(word for word, tokens in self._words if not matched.isdisjoint(tokens))

    def _pieces_hit(self, text: str) -> set[str]:
        """Return the pieces of a text that have a token of the query."""
        if not self._tokens:
            return set()
        with self._guard:
            hits = self._texts.get(text)
            if hits is None:
                pieces = set(text.split() if _only_spaces(text) else _PIECE.findall(text))
                if any(map(_MAYBE_SPACED.fullmatch, self._tokens)):
                    pieces.update(_SPACED.findall(text))
                for piece in _with_tokens(pieces, self._tokens) - self._met:
                    self._look(piece)
                hits = self._texts[text] = pieces.intersection(self._hits)
        return hits

    def _look(self, piece: str) -> None:
        """Find the query's tokens in a piece of text, and cache them."""
        self._met.add(piece)
        short = len(piece) <= _LONGEST_CACHED
        matched = self._tokens.intersection(tokenize(piece))
        if not matched:
            return
        all_spans = _token_spans(piece) if short else token_spans(piece)
        seen = len(piece.rstrip(_UNSEEN))
        spans = [
            (span.start, min(span.end, seen) if span.end == len(piece) else span.end)
            for span in all_spans
            if span.token in matched
        ]
        self._hits[piece] = (merge_spans(spans), matched)


def highlight(text: str, query_tokens: Collection[str]) -> _Spans:
    """Return the slices of a text whose tokens are among the query's, merged where they touch."""
    return Highlighter(query_tokens).spans(text)


def question_words(question: str) -> tuple[str, ...]:
    """Return the words of a question as they are written: identifiers whole, Chinese in pairs."""
    words: list[str] = []
    last_start, last_end = -1, -1
    for span in sorted(token_spans(question), key=lambda span: (span.start, -span.end)):
        if span.end <= last_end and span.start >= last_start:
            continue
        last_start, last_end = span.start, span.end
        words.append(question[span.start : span.end])
    return tuple(dict.fromkeys(words))


def whole_identifiers(text: str, spans: Iterable[tuple[int, int]]) -> _Spans:
    """Extend spans inside an identifier, as in ``page_token``, to the whole of it."""
    whole = []
    for start, end in spans:
        before = _IDENTIFIER_END.search(text, max(start - _LONGEST_IDENTIFIER, 0), start + 1)
        after = _IDENTIFIER.match(text, end - 1, end + _LONGEST_IDENTIFIER)
        whole.append((before.start() if before else start, after.end() if after else end))
    return merge_spans(whole)


def merge_spans(spans: Iterable[tuple[int, int]]) -> _Spans:
    """Join spans that overlap or touch, and sort them."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def highlight_question(
    text: str, question: str, forms: Mapping[str, str] = MappingProxyType({})
) -> _Spans:
    """Return the spans of a text that hold a word of a question; its filters are no words.

    A question with an invalid filter is taken as it is. ``forms`` are other forms of words, each
    with the token of the word; those of words of other questions are left out.
    """
    asked = without_filters(question)
    words = subject_of(with_infinitive(asked, foreign_language(asked)))
    tokens = without_function_words(asked, query_tokens(words))
    others = (form for form, own in forms.items() if own in tokens)
    return highlight(text, (*tokens, *date_forms(words), *others))


def best_window(text: str, highlights: Sequence[tuple[int, int]], width: int) -> tuple[int, int]:
    """Choose a slice of at most ``width`` characters with the most highlighted text.

    It begins with a sentence, also where its end then has no room, or else with a word, and ends
    with a word where the text has spaces. The first of equally good places is taken; without
    highlights, the beginning.
    """
    if len(text) <= width:
        return 0, len(text)
    first, last = _densest(highlights, width)
    high = min(first, len(text) - width)
    low = max(min(last - width, high), 0)
    start = low
    if low > 0:
        # Without its beginning, such as "must not", a sentence can say the opposite.
        before = max(min(low, first - width // 2), 0)
        sentences = [match.end() for match in _SENTENCE_START.finditer(text, before, high + 1)]
        if not before:
            sentences.insert(0, 0)
        aim = min(max(first - max(width - (last - first), 0) // 2, low), high)
        word = _WORD_START.search(text, aim, first + 1)
        start = sentences[-1] if sentences else word.start() if word else aim
    inside = [end for _, end in highlights if end <= start + width]
    shown = min(last, max(inside, default=last))
    return start, _word_end(text, start, min(start + width, len(text)), shown)


def _only_spaces(text: str) -> bool:
    """Return whether nothing but white space divides a text into pieces."""
    return text.isascii() or not _BORDER.search(text)


def _places(text: str, pieces: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yield certain pieces of a text with their offsets."""
    if not _only_spaces(text):
        for match in _PIECE.finditer(text):
            if match.group() in pieces:
                yield match.group(), match.start()
        pieces = [piece for piece in pieces if _SPACE.search(piece)]
    for piece in pieces:
        at = text.find(piece)
        while at >= 0:
            end = at + len(piece)
            alone = (at == 0 or text[at - 1].isspace()) and text[end : end + 1].strip() == ""
            if alone:
                yield piece, at
            at = text.find(piece, end if alone else at + 1)


class _PieceCache:
    """Pieces of text that any query has met, by their tokens. Shared between threads.

    What a search shows are mostly words seen before: finding those of a query among them
    takes two set operations instead of a look at each.
    """

    def __init__(self) -> None:
        self.met: set[str] = set()
        self.by_token: dict[str, set[str]] = {}
        # Taking a piece apart is what costs, and most are never asked for: they wait until a
        # question has a token that begins like something in them. Plain words by two letters.
        self._words: dict[str, set[str]] = {}
        self._others: dict[str, str] = {}

    def add(self, piece: str) -> None:
        """Add a piece."""
        word = piece.strip(_AROUND_WORDS)
        if not piece.isascii():
            self._take_apart(piece)
        elif word.isalpha() and (word.islower() or word.istitle()):
            self._words.setdefault(word[:2].lower(), set()).add(piece)
        else:
            self._others[piece] = _spellings(piece)
        # Last, so that no thread takes a piece for known before its tokens are.
        self.met.add(piece)

    def having(self, pieces: set[str], tokens: Collection[str]) -> set[str]:
        """Return those of the pieces, all met before, that have one of the tokens."""
        beginnings = {token[:2] for token in tokens}
        beginnings.update(_CHANGED[token] for token in tokens if token in _CHANGED)
        longer = {token[: _certain(token)] for token in tokens}.union(beginnings & _CHANGED_ONES)
        begins = re.compile("|".join(map(re.escape, sorted(longer)))).search
        for piece in self._others.keys() & pieces:
            waits = self._others.get(piece)
            if waits is not None and begins(waits):
                self._take_apart(piece)
                self._others.pop(piece, None)
        for beginning in beginnings:
            waiting = self._words.get(beginning, set())
            for piece in pieces & waiting:
                self._take_apart(piece)
                waiting.discard(piece)
        having: set[str] = set()
        for token in tokens:
            having |= pieces & self.by_token.get(token, _NONE)
        return having

    def _take_apart(self, piece: str) -> None:
        for token in tokenize(piece):
            self.by_token.setdefault(token, set()).add(piece)


def _spellings(piece: str) -> str:
    """Return all ways in which the tokens of an ASCII piece may be spelled in it."""
    lower = piece.lower().replace("\\", "/")
    # "5,000" has the token "5000", "5,25" the token "5.25", "2'O-methyl" the token "2o-methyl".
    together = lower.translate(_WITHOUT_MARKS)
    return f"{lower} {together} {lower.replace(',', '.')} {lower.replace(chr(39), '')}"


def _certain(token: str) -> int:
    """Return how many letters of a token are those of every word that has it.

    Stemming changes what is left of a word's end: of short words all but two letters.
    """
    return 4 if len(token) > 4 else 3 if len(token) == 4 else 2


_cache = [_PieceCache()]


def _with_tokens(pieces: set[str], tokens: Collection[str]) -> set[str]:
    """Return the pieces that have one of the tokens, and those too long to be cached."""
    cache = _cache[0]
    if len(cache.met) > _MOST_MET:
        cache = _cache[0] = _PieceCache()
    long: set[str] = set()
    for piece in pieces - cache.met:
        if len(piece) <= _LONGEST_CACHED:
            cache.add(piece)
        else:
            long.add(piece)
    return long | cache.having(pieces, tokens)


@lru_cache(maxsize=_CACHED_SPANS)
def _token_spans(piece: str) -> tuple[TokenSpan, ...]:
    """Return the tokens of a short piece of text with their offsets."""
    return tuple(token_spans(piece))


def _densest(highlights: Sequence[tuple[int, int]], width: int) -> tuple[int, int]:
    """Return the stretch of at most ``width`` characters with the most highlighted ones."""
    best, most, inside, left = (0, 0), 0, 0, 0
    for start, end in highlights:
        inside += end - start
        while end - highlights[left][0] > width and highlights[left][0] < start:
            inside -= highlights[left][1] - highlights[left][0]
            left += 1
        if inside > most:
            most, best = inside, (highlights[left][0], end)
    return best


def _word_end(text: str, start: int, end: int, last: int) -> int:
    """Return the end of the last word in a slice, but not before ``last``."""
    if end == len(text) or text[end].isspace():
        return end
    border = max(last, start + 1)
    spaces = [match.start() for match in _SPACE.finditer(text, border, end)]
    return spaces[-1] if spaces else end
