"""Words that a PDF breaks, at the ends of lines or by gaps, are made whole by its other words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

HYPHENS = ("-", "\u2010", "\u00ad")
_LETTERS = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_EDGE = "()[]{}\"'.,;:!?\u201c\u201d\u2018\u2019|"
_SHORTEST_PART = 4
_SHORTEST_BROKEN = 5
_LONG = 3
"""Shorter parts of words are words of their own too often."""
_WORDS_OF_ONE_LETTER = frozenset("aieouyàáéèóыияоукваs")


class Vocabulary:
    """The words of one document, as often as they stand there whole."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._words = Counter[str]()
        self._compounds: set[tuple[str, str]] = set()
        ended = False
        for line in lines:
            text = line.casefold()
            words = _LETTERS.findall(text)
            first, ended = int(ended), text.endswith(HYPHENS)
            # The parts of a broken word are none.
            self._words.update(words[first : len(words) - ended])
            if "-" in text[:-1]:
                compounds = (word.split("-") for word in _COMPOUND.findall(text))
                self._compounds.update(pair for parts in compounds for pair in pairwise(parts))

    def knows(self, word: str) -> bool:
        """Return whether a word stands somewhere whole."""
        return word.casefold() in self._words

    def keeps_hyphen(self, left: str, right: str) -> bool:
        """Return whether the hyphen at a line's end belongs to the word that it breaks.

        It does where the document has the compound, or both parts as words and not the whole.
        """
        left, right = left.casefold(), right.casefold()
        if (left, right) in self._compounds:
            return True
        if left + right in self._words:
            return False
        return all(len(part) >= _SHORTEST_PART and self._words[part] > 1 for part in (left, right))

    def mended(self, texts: Sequence[str]) -> list[str]:
        """Join the words that gaps break ("finan cial") where the whole is known.

        A document with parts that are no words anywhere else breaks its words: in such a one,
        words are joined as well of which one part is a word ("of fice").
        """
        found = Counter(parts for text in texts for parts in self._broken(text.casefold()))
        if not found:
            return list(texts)
        used = Counter[str]()
        for parts, times in found.items():
            for part in set(parts):
                used[part] += times
        strange = {
            parts: [part for part in parts if self._words[part] <= used[part]] for parts in found
        }
        if not any(len(few) == len(parts) and _are_long(few) for parts, few in strange.items()):
            return list(texts)
        joined = {parts for parts, few in strange.items() if few and max(map(len, few)) >= _LONG}
        longest_first = sorted(joined, key=len, reverse=True)
        pattern = re.compile(
            rf"(?<![^\W_])(?:{'|'.join(' '.join(parts) for parts in longest_first)})(?![^\W_])",
            re.I,
        )
        return [pattern.sub(_without_gaps, text) for text in texts]

    def _broken(self, text: str) -> Iterator[tuple[str, ...]]:
        """Yield neighbours that together are a word."""
        words = self._words
        tokens = [token.strip(_EDGE) for token in text.split(" ")]
        pairs = ((one, two) for one, two in pairwise(tokens) if one + two in words)
        yield from filter(_may_join, pairs)
        threes = zip(tokens, tokens[1:], tokens[2:], strict=False)
        yield from filter(_may_join, (parts for parts in threes if "".join(parts) in words))


def _may_join(parts: tuple[str, ...]) -> bool:
    """Return whether parts of a word may be of one that a gap has broken."""
    if not all(parts) or parts[0] in _WORDS_OF_ONE_LETTER:
        return False
    return sum(map(len, parts)) >= _SHORTEST_BROKEN


def _are_long(parts: Sequence[str]) -> bool:
    return all(len(part) >= _LONG for part in parts)


def _without_gaps(parts: re.Match[str]) -> str:
    """Join the parts of a word, but not of several that begin with capitals."""
    first, *rest = parts.group().split(" ")
    whole = first + "".join(rest)
    return whole if whole.isupper() or "".join(rest).islower() else parts.group()
