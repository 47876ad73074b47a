"""The sentences of found passages, each a span of its document's stored text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ragkit.answers import Source
from ragkit.chunking.units import text_units
from ragkit.results import DocumentRef, Passage

_WORD = r"[^\W\d_a-z][^\W\d]*"
_NAME = re.compile(rf"(?:{_WORD}[.,&'’-]?[^\S\n]+){{1,7}}{_WORD}\.?(?=[^\S\n]*\n\s*\n\s*\S)")
"""A line of capitalised words by itself, such as the name of a company at the top of a letter."""


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
