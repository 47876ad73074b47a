"""What stands on pages and answers nothing: titles, headings, and menus of links."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ragkit.answers import Source
from ragkit.indexes.tokenizer import index_tokens
from ragkit.results import Passage, Result

_LONGEST_OF_TITLE, _LONGEST_NUMBER = 200, 16
_FEWEST_TERMS, _LONGEST_TERM, _MOST_TERM_WORDS = 6, 60, 4
_LINK = re.compile(r"!?\[[^\[\]]{0,300}\]\((?:[^()]|\([^()]{0,300}\)){0,600}\)")
_NOTE_LINK = re.compile(r"!?\[\[[^\[\]\n]{1,300}\]\]")
_WORD = re.compile(r"\w+")
_CLAUSE = re.compile(
    r"(?:§+|art(?:icle|ikel|[íi]culo|igo|icolo|\.)?|section|clause|abschnitt)\s?\d{1,3}[a-z]?\b[.:]?"
    r"(?:\s[^.!?:;\n]{1,80})?",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Titles:
    """The headings of a result by their letters, with their lengths, and the words of its title.

    ``longest`` is the length of the longest of them. ``title`` has none for a document without
    pages, which repeats its title nowhere.
    """

    headings: Mapping[str, int]
    longest: int
    title: frozenset[str]

    @classmethod
    def of(cls, result: Result) -> Titles:
        """Collect them from what is shown of a document."""
        paths = {
            path
            for passage in result.passages
            for path in (passage.heading_path, *(path for _, path in passage.headings))
        }
        last = (path[-1] for path in paths if path)
        document = result.document
        headings = {_letters(heading): len(heading) for heading in last}
        return cls(
            headings,
            max(headings.values(), default=0),
            frozenset(index_tokens(document.title)) if document.pages else frozenset(),
        )

    def __contains__(self, source: Source) -> bool:
        """Return whether a sentence is a heading, also one of contents, or a line of the title.

        Clauses of contracts ("§ 4 Deposit") are headings also where nothing else tells.
        """
        if self._is_heading(source) or self._is_of_title(source.text):
            return True
        return _CLAUSE.fullmatch(source.text.strip()) is not None

    def _is_heading(self, source: Source) -> bool:
        """Return whether a text has the letters of a heading, or one more: of an appendix."""
        length, own = len(source.text), "".join(source.heading_path[-1:])
        if length > _LONGEST_NUMBER + max(len(own), self.longest):
            return False
        letters, of_own = _letters(source.text), _letters(own)
        for each in (letters, letters[1:]):
            known = len(own) if each == of_own else self.headings.get(each)
            if len(each) > 1 and known is not None and abs(length - known) <= _LONGEST_NUMBER:
                return True
        return False

    def _is_of_title(self, text: str) -> bool:
        """Return whether lines of a page are of the title's words and codes, without an end."""
        if not self.title or len(text) > _LONGEST_OF_TITLE or text.rstrip()[-1:] in ".!?。！？":
            return False
        words = [token for token in index_tokens(text) if token.isalpha() and len(token) > 2]
        return bool(words) and sum(word in self.title for word in words) > len(words) / 2


def of_term_lists(sources: Sequence[Source], passage: Passage) -> list[bool]:
    """Return which sentences of a passage are terms below each other, such as those of an index.

    They are a few words each, without an end, and nothing but blank lines is between them.
    """
    listed = [False] * len(sources)
    run: list[int] = []
    for at, source in enumerate(sources):
        if not _is_term(source):
            run = []
            continue
        before = passage.text[sources[at - 1].end - passage.start : source.start - passage.start]
        run = [*run, at] if run and before.isspace() and before.count("\n") > 1 else [at]
        if len(run) >= _FEWEST_TERMS:
            for row in run:
                listed[row] = True
    return listed


def _is_term(source: Source) -> bool:
    text = source.text
    if source.header or not text[-1:].isalnum():
        return False
    return len(text) <= _LONGEST_TERM and len(_WORD.findall(text)) <= _MOST_TERM_WORDS


def is_only_links(text: str) -> bool:
    """Return whether a line has more links than words beside them, as menus of web pages have.

    A link between notes is often a name in a sentence: those make a line a menu without words only.
    """
    if "](" not in text and "]]" not in text:
        return False
    beside, links = _LINK.subn(" ", text)
    words = len(_WORD.findall(_NOTE_LINK.sub(" ", beside)))
    return words < max(links, 1)


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text)).casefold()
