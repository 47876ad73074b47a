"""Sources as clients show them: a number, a title, and the address of the sentence in ragkit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ragkit.answering.plain_text import without_marks, without_unseen
from ragkit.answers import Source
from ragkit.formatting import escape_markdown, shortened
from ragkit.results import Answer
from ragkit.surfaces.addresses import source_url

_LONGEST_TITLE = 200
_LONGEST_PASSAGE = 4000
_ANGLES = str.maketrans("<>", "‹›")
_PARAGRAPHS = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Cited:
    """A source with its number; ``passage`` is the text around it, as escaped Markdown."""

    number: int
    source: Source
    url: str
    title: str
    passage: str

    @property
    def mark(self) -> str:
        """How the text cites it."""
        return f"[{self.number}]"

    def as_annotation(self, start: int) -> dict[str, Any]:
        """Return OpenAI's annotation; ``start`` is the offset of the mark in the text."""
        place = {"start_index": start, "end_index": start + len(self.mark)}
        about = {"url": self.url, "title": self.title, **place}
        return {"type": "url_citation", "url_citation": about}

    def as_event(self) -> dict[str, Any]:
        """Return Open WebUI's event for a source with its passage.

        With a ``source_url``, it does not fetch an icon for the address from a third party.
        """
        page = {} if self.source.page is None else {"page": self.source.page - 1}
        about = {"source": self.url, "source_url": self.url, "name": self.title, **page}
        source = {"name": self.title, "url": self.url}
        data = {"source": source, "document": [self.passage], "metadata": [about]}
        return {"type": "source", "data": data}


class Citations:
    """The sources of a text, numbered from 1 in the order in which it cites them."""

    def __init__(self, base: str, answer: Answer) -> None:
        """``base`` is the address of ragkit's pages, ``answer`` has the passages."""
        self._base = base
        self._answer = answer
        self._numbers: dict[tuple[str, int, int], int] = {}
        self.all: list[Cited] = []

    def number(self, source: Source) -> int:
        """Return the number of a source; a new source gets the next one."""
        # Without the question: front ends send addresses to third parties to get an icon.
        url = source_url(source)
        number = self._numbers.setdefault((url, source.start, source.end), len(self.all) + 1)
        if number > len(self.all):
            url = f"{self._base}/{url}" if source.document else url
            title = shortened(without_marks(without_unseen(source.place)), _LONGEST_TITLE)
            passage = _shown(self._passage(source))
            self.all.append(Cited(number, source, url, title.translate(_ANGLES), passage))
        return number

    def as_list(self) -> Iterator[str]:
        """Yield a line for each source: its number, its title as a link, the sentence."""
        for cited in self.all:
            text = escape_markdown(cited.source.text)
            yield f"{cited.number}. [{escape_markdown(cited.title)}](<{cited.url}>): “{text}”"

    def _passage(self, source: Source) -> str:
        """Return the passage that a source is in, or the source alone."""
        document = source.document
        for result in self._answer.results:
            if document is None or result.document.id != document.id:
                continue
            for passage in result.passages:
                if passage.start <= source.start and source.end <= passage.end:
                    first = max(0, source.start - passage.start - _LONGEST_PASSAGE // 2)
                    return passage.text[first : first + _LONGEST_PASSAGE]
        return source.text


def _shown(text: str) -> str:
    """Return a text of several paragraphs as escaped Markdown, which loads nothing."""
    paragraphs: Sequence[str] = _PARAGRAPHS.split(text.strip())
    return "\n\n".join(escape_markdown(without_unseen(paragraph)) for paragraph in paragraphs)
