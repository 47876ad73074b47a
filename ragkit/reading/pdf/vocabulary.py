"""Repairs words broken by line ends or narrow gaps, with the other words of the document."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise

from ragkit.reading.pdf.contents import Line
from ragkit.reading.pdf.lines import NARROW

HYPHENS = ("-", "\u2010", "\u00ad")
_LETTERS = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_SHORTEST_PART = 4
_BROKEN = re.compile(rf"[^\W\d_]+(?:{NARROW}[^\W\d_]+)+")


class Vocabulary:
    """The words of one document with their numbers of unbroken occurrences."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._compounds: set[tuple[str, str]] = set()
        self._words = Counter(chain.from_iterable(self._unbroken(lines)))

    def _unbroken(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Yield the words of each line without parts of broken ones, and keep the compounds."""
        ended = False
        for line in lines:
            text = line.casefold()
            words = _LETTERS.findall(text)
            first, ended = int(ended), text.endswith(HYPHENS)
            yield words[first : len(words) - ended] if first or ended else words
            if "-" in text[:-1]:
                compounds = (word.split("-") for word in _COMPOUND.findall(text))
                self._compounds.update(pair for parts in compounds for pair in pairwise(parts))

    def knows(self, word: str) -> bool:
        """Return whether a word occurs somewhere unbroken."""
        return self._words[word.casefold()] > 0

    def mended(self, pages: Sequence[list[Line]]) -> Sequence[list[Line]]:
        """Join words broken by narrow gaps ("finan cial"); the other narrow gaps become spaces.

        ``pages`` are those of whose lines this was made; parts of words no longer count as words.
        """
        lines = (line.text for page in pages for line in page if NARROW in line.text)
        broken = [part for text in lines for part in _BROKEN.findall(text)]
        if not broken:
            return pages
        self._words.subtract(part for text in broken for part in text.casefold().split(NARROW))
        return [[self._mended(line) for line in page] for page in pages]

    def _mended(self, line: Line) -> Line:
        if NARROW not in line.text:
            return line
        return line._replace(text=_BROKEN.sub(self._mend, line.text))

    def _mend(self, broken: re.Match[str]) -> str:
        """Return the parts of what may be one word, joined if the document has it, or its singular.

        They are not if all parts are words of the document that are more frequent.
        """
        parts = broken.group().split(NARROW)
        whole = "".join(parts)
        if whole.isupper() or "".join(parts[1:]).islower():
            word = whole.casefold()
            known = max(self._words[word], self._words[word.removesuffix("s")])
            if known > min(self._words[part.casefold()] for part in parts):
                return whole
        return " ".join(parts)

    def keeps_hyphen(self, left: str, right: str) -> bool:
        """Return whether the hyphen at a line's end is part of a compound word.

        It is if the document has the compound elsewhere, or both parts but not the joined word.
        """
        left, right = left.casefold(), right.casefold()
        if (left, right) in self._compounds:
            return True
        if self.knows(left + right):
            return False
        return all(len(part) >= _SHORTEST_PART and self._words[part] > 1 for part in (left, right))
