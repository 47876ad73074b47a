"""The sentences of found passages, each a span of its document's stored text."""

from __future__ import annotations

from collections.abc import Iterator

from ragkit.answers import Source
from ragkit.chunking.units import text_units
from ragkit.results import DocumentRef, Passage


def sentences_of(passage: Passage, document: DocumentRef) -> Iterator[Source]:
    """Yield the sentences, rows and lines of code of a passage, in order.

    Headings are left out; each sentence has the path of those above it.
    """
    path, changes = passage.heading_path, list(reversed(passage.headings))
    code = document.format == "code"
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
