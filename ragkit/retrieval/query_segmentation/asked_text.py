"""What of a text is asked: its words at their places, without front matter and Markdown's marks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragkit.chunking.structure import front_matter_end
from ragkit.reading.markdown import fenced_lines

_FENCE = re.compile(r" {0,3}(?:`{3,}|~{3,})")
_UNASKED = re.compile(
    # An HTML comment. Possessive groups would say it shorter; Python before 3.11.5 misreads them.
    r"<!--[^<-]*(?:(?!<!--|-->)[<-][^<-]*)*-->"
    # The marks before a heading, and a line of marks alone: below a heading or a table's head.
    r"|^ {0,3}#{1,6}(?=[ \t])|^[ \t]*[-=*_+|:~][-=*_+|:~ \t]+$"
    # Where a link leads, and where a link that is named elsewhere leads.
    r"|(?<=\])\((?:<[^<>\n]{0,1000}>|[^()\s]{0,1000}(?:\([^()\s]{0,300}\)[^()\s]{0,300})?)"
    r"(?:[ \t]+\"[^\"\n]{0,300}\")?\)"
    r"|^ {0,3}\[(?!\^)[^\[\]\n]{1,300}\]:[ \t]*<?(?:\w+:|[/.#])\S*(?:[ \t]+[\"'(][^\n]*)?$",
    re.MULTILINE,
)
_INK = re.compile(r"\S")


def blanks_for(text: str) -> str:
    """Return a space for every character of a text that is not white space, which stays."""
    return _INK.sub(" ", text)


def asked_text(text: str) -> str:
    """Return a text with blanks for what is not asked; everything else stays in its place.

    Not asked are front matter, HTML comments, the fences of code, where links lead, and the marks
    of headings and tables. Inside code all is asked.
    """
    parts: list[str] = []
    at = 0
    for start, end in _unasked(text, front_matter_end(text)):
        parts += [text[at:start], blanks_for(text[start:end])]
        at = end
    return "".join([*parts, text[at:]])


def _unasked(text: str, begin: int) -> Iterator[tuple[int, int]]:
    """Yield the spans that are not asked, in order."""
    yield 0, begin
    prose = begin
    for offset, line, fenced in fenced_lines(text[begin:]):
        if not fenced:
            continue
        start = begin + offset
        yield from _marks(text, prose, start)
        prose = start + len(line)
        if _FENCE.match(line):
            yield start, prose
    yield from _marks(text, prose, len(text))


def _marks(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for mark in _UNASKED.finditer(text, start, end):
        yield mark.span()
