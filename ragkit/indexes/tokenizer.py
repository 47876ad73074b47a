"""Tokens of documents and queries alike, and their places in the original text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from ragkit.indexes.analyzer import STOP_WORDS, Piece, analyse, content_tokens, tokens_of
from ragkit.indexes.normalise import fold, fold_with_offsets, word_pattern
from ragkit.versions import TOKENIZER_VERSION

__all__ = [
    "TOKENIZER_VERSION",
    "TokenSpan",
    "index_tokens",
    "token_spans",
    "tokenize",
    "without_stop_words",
]

_CACHED_WORDS = 200_000
_LONGEST_CACHED = 64


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """A token and the slice ``[start, end)`` of the original text that it was made of."""

    token: str
    start: int
    end: int


def tokenize(text: str) -> list[str]:
    """Return the tokens of a text, in reading order.

    An identifier comes whole first and then in parts; a run of Chinese, Japanese, Korean or Thai
    comes as overlapping pairs. No word is dropped: stop words are kept.
    """
    folded = fold(text)
    words = word_pattern(folded).findall(folded)
    return list(chain.from_iterable(map(_tokens_of.__getitem__, words)))


def index_tokens(text: str) -> list[str]:
    """Return the tokens to index and to search for: those of ``tokenize`` without stop words.

    A query of stop words alone has none, so that its vector alone answers it.
    """
    folded = fold(text)
    words = word_pattern(folded).findall(folded)
    return list(chain.from_iterable(map(_index_tokens_of.__getitem__, words)))


def token_spans(text: str) -> list[TokenSpan]:
    """Return the tokens of a text with their offsets in it; the same tokens as ``tokenize``.

    Spans may overlap, as an identifier's do with those of its parts. Meant for the few passages
    that are shown: far slower than ``tokenize`` on text that is not ASCII.
    """
    folded, starts, ends = fold_with_offsets(text)
    spans = []
    for match in word_pattern(folded).finditer(folded):
        at = match.start()
        for piece in _pieces_of[match.group()]:
            first, last = at + piece.start, at + piece.end - 1
            spans.append(TokenSpan(piece.token, starts[first], ends[last]))
    return spans


def without_stop_words(tokens: Iterable[str]) -> list[str]:
    """Return the tokens without English stop words, unless there are no others."""
    kept = list(tokens)
    content = [token for token in kept if token not in STOP_WORDS]
    return content or kept


class _PieceCache(dict[str, Sequence[Piece]]):
    """The pieces of words seen before; emptied when full."""

    def __missing__(self, word: str) -> Sequence[Piece]:
        pieces = analyse(word)
        if len(word) <= (_LONGEST_CACHED if word.isascii() else _LONGEST_CACHED // 4):
            if len(self) >= _CACHED_WORDS:
                self.clear()
            self[word] = pieces
        return pieces


class _TokenCache(dict[str, Sequence[str]]):
    """The tokens of words seen before; emptied when full."""

    def __init__(self, make: Callable[[str], Sequence[str]]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, word: str) -> Sequence[str]:
        tokens = self._make(word)
        if len(word) <= (_LONGEST_CACHED if word.isascii() else _LONGEST_CACHED // 4):
            if len(self) >= _CACHED_WORDS:
                self.clear()
            self[word] = tokens
        return tokens


_pieces_of = _PieceCache()
_tokens_of = _TokenCache(tokens_of)
_index_tokens_of = _TokenCache(content_tokens)
