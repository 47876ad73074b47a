"""The sentences of found passages, each a span of its document's stored text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ragkit.answers import Source
from ragkit.chunking.units import text_units
from ragkit.results import DocumentRef, Passage, Result


def sentences_of(passage: Passage, document: DocumentRef) -> Iterator[Source]:
    """Yield the sentences, rows and lines of code of a passage, in order.

    Headings are left out; those inside of the passage are in the path of what follows them.
    """
    path = passage.heading_path
    for unit in text_units(passage.text, code=document.format == "code"):
        if unit.kind == "heading":
            path = _under(path, passage.text[unit.start : unit.end])
            continue
        yield Source(
            text=passage.text[unit.start : unit.end],
            start=passage.start + unit.start,
            end=passage.start + unit.end,
            document=document,
            heading_path=path,
            page=passage.page,
            header=passage.text[slice(*unit.header)] if unit.header else "",
        )


def _under(path: tuple[str, ...], heading: str) -> tuple[str, ...]:
    """Return the path of what follows a heading; a line that names a speaker changes none."""
    title = heading.lstrip("#")
    level = len(heading) - len(title)
    return (*path[: level - 1], title.strip()) if level else path


def found_sentences(results: Sequence[Result]) -> Iterator[Source]:
    """Yield the sentences of all passages of some results, in their order."""
    for result in results:
        for passage in result.passages:
            yield from sentences_of(passage, result.document)
