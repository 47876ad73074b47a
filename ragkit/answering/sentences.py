"""The sentences of found passages, each a span of its document's stored text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragkit.answers import Source
from ragkit.chunking.units import text_units
from ragkit.results import DocumentRef, Passage, Result


def sentences_of(passage: Passage, document: DocumentRef) -> Iterator[Source]:
    """Yield the sentences, rows and lines of code of a passage, in order, headings left out."""
    for unit in text_units(passage.text, code=document.format == "code"):
        if unit.kind == "heading":
            continue
        yield Source(
            text=passage.text[unit.start : unit.end],
            start=passage.start + unit.start,
            end=passage.start + unit.end,
            document=document,
            heading_path=passage.heading_path,
            page=passage.page,
        )


def found_sentences(results: Sequence[Result]) -> Iterator[Source]:
    """Yield the sentences of all passages of some results, in their order."""
    for result in results:
        for passage in result.passages:
            yield from sentences_of(passage, result.document)
