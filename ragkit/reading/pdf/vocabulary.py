"""Repairs words broken by line ends or gaps, with the other words of the document."""

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
"""Shorter parts of words are too often words themselves."""
_OFTEN = 3
_WORDS_OF_ONE_LETTER = frozenset("aieouyàáéèóыияоукваs")


class Vocabulary:
    """The words of one document with their numbers of unbroken occurrences."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._words = Counter[str]()
        self._compounds: set[tuple[str, str]] = set()
        ended = False
        for line in lines:
            text = line.casefold()
            words = _LETTERS.findall(text)
            first, ended = int(ended), text.endswith(HYPHENS)
            # Parts of a broken word do not count as words.
            self._words.update(words[first : len(words) - ended])
            if "-" in text[:-1]:
                compounds = (word.split("-") for word in _COMPOUND.findall(text))
                self._compounds.update(pair for parts in compounds for pair in pairwise(parts))

    def knows(self, word: str) -> bool:
        """Return whether a word occurs somewhere unbroken."""
        return word.casefold() in self._words

    def keeps_hyphen(self, left: str, right: str) -> bool:
        """Return whether the hyphen at a line's end is part of a compound word.

        It is if the document has the compound elsewhere, or both parts but not the joined word.
        """
        left, right = left.casefold(), right.casefold()
        if (left, right) in self._compounds:
            return True
        if left + right in self._words:
            return False
        return all(len(part) >= _SHORTEST_PART and self._words[part] > 1 for part in (left, right))

    def mended(self, texts: Sequence[str]) -> list[str]:
        """Join words broken by gaps ("finan cial") that occur unbroken elsewhere.

        Nothing is joined unless all parts of some broken word occur nowhere else. If they are long,
        a word is also joined if only one of its parts is not a word ("of fice"). If they are not,
        they must be together more than twice ("ob ject"), and only such words are joined.
        """
        broken = Counter(parts for text in texts for parts in self._broken(text.casefold()))
        if not broken:
            return list(texts)
        used = Counter[str]()
        for parts, times in broken.items():
            for part in set(parts):
                used[part] += times
        strange = {
            parts: [part for part in parts if self._words[part] <= used[part]] for parts in broken
        }
        alone = {parts for parts, few in strange.items() if len(few) == len(parts)}
        if any(min(map(len, parts)) >= _LONG for parts in alone):
            joined = {
                parts for parts, few in strange.items() if few and max(map(len, few)) >= _LONG
            }
        else:
            joined = alone if any(broken[parts] >= _OFTEN for parts in alone) else set()
        if not joined:
            return list(texts)
        longest_first = sorted(joined, key=len, reverse=True)
        pattern = re.compile(
            rf"(?<![^\W_])(?:{'|'.join(' '.join(parts) for parts in longest_first)})(?![^\W_])",
            re.I,
        )
        return [pattern.sub(_without_gaps, text) for text in texts]

    def _broken(self, text: str) -> Iterator[tuple[str, ...]]:
        """Yield pairs and triples of neighbouring tokens that together are a known word."""
        words = self._words
        tokens = [token.strip(_EDGE) for token in text.split(" ")]
        pairs = ((first, second) for first, second in pairwise(tokens) if first + second in words)
        yield from filter(_may_join, pairs)
        threes = zip(tokens, tokens[1:], tokens[2:], strict=False)
        yield from filter(_may_join, (parts for parts in threes if "".join(parts) in words))


def _may_join(parts: tuple[str, ...]) -> bool:
    """Return whether neighbouring tokens may be the parts of one broken word."""
    if not all(parts) or parts[0] in _WORDS_OF_ONE_LETTER:
        return False
    return sum(map(len, parts)) >= _SHORTEST_BROKEN


def _without_gaps(parts: re.Match[str]) -> str:
    """Join the parts of a word, unless a later part begins with a capital letter."""
    first, *rest = parts.group().split(" ")
    whole = first + "".join(rest)
    return whole if whole.isupper() or "".join(rest).islower() else parts.group()
