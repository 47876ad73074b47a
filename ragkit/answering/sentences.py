"""The sentences of found passages, each a span of its document's stored text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ragkit.answers import Source
from ragkit.chunking.units import header_above, text_units
from ragkit.results import DocumentRef, Passage, Result

_WORD = r"[^\W\d_a-z][^\W\d]*"
_NAME = re.compile(rf"(?:{_WORD}[.,&'’-]?[^\S\n]+){{1,7}}{_WORD}\.?(?=[^\S\n]*\n\s*\n\s*\S)")
"""A line of capitalised words by itself, such as the name of a company at the top of a letter."""

_ENDS = (re.compile(r"[.!?؟]\s|[。！？]|\n(?=\s*[\n|*+•-])"), re.compile(r"\n"))
_LONGEST_END = 2_000


def sentences_of(passage: Passage, document: DocumentRef) -> Iterator[Source]:
    """Yield the sentences, rows and lines of code of a passage, in order.

    Headings are left out; each sentence has the path of those above it, or the name that
    a document without headings begins with.
    """
    path, changes = passage.heading_path, list(reversed(passage.headings))
    code = document.format == "code"
    if not (passage.start or path or code) and (name := _NAME.match(passage.text)):
        path = (name.group(),)
    for unit in text_units(passage.text, code=code, above=passage.header):
        while changes and changes[-1][0] <= passage.start + unit.start:
            path = changes.pop()[1]
        if unit.kind == "heading":
            continue
        yield Source(
            text=passage.text[unit.start : unit.end],
            start=passage.start + unit.start,
            end=passage.start + unit.end,
            document=document,
            heading_path=path,
            page=passage.page_at(passage.start + unit.start),
            header=unit.header,
        )


def part_to_read(passage: Passage, result: Result, most: int) -> Passage:
    """Return a passage if it has at most that many characters, else the part at its best chunk."""
    if len(passage.text) <= most:
        return passage
    spans = [chunk.span for chunk in result.matched_chunks if chunk.span is not None]
    starts = (span.start for span in spans if passage.start <= span.start < passage.end)
    at = next(starts, passage.start) - passage.start
    first = max(0, min(at - most // 4, len(passage.text) - most))
    if first:
        # From the next sentence or row on, or else line.
        borders = (end.search(passage.text, first, first + most // 4) for end in _ENDS)
        first = next((border.end() for border in borders if border), first)
    text = passage.text[first : first + most]
    if first + most < len(passage.text):
        text = _whole(text)
    start = passage.start + first
    return replace(
        passage,
        start=start,
        end=start + len(text),
        text=text,
        highlights=(),
        header=header_above(passage.text[:first], passage.header),
    )


def _whole(text: str) -> str:
    """Return a text that goes on, up to the end of its last sentence or row, or else line."""
    tail = max(0, len(text) - _LONGEST_END)
    for end in _ENDS:
        if ends := [found.end() for found in end.finditer(text, tail)]:
            return text[: ends[-1]]
    return text if tail else ""
