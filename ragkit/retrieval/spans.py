"""Passages that were asked for by their place in a document, rather than found."""

from __future__ import annotations

from collections.abc import Sequence

from ragkit.catalog.records import ChunkRecord
from ragkit.results import Passage
from ragkit.types import Page, Section

LONGEST_PASSAGE = 100_000
"""Characters of a passage; more is read in several."""


def passage_at(
    start: int,
    text: str,
    chunks: Sequence[ChunkRecord],
    sections: Sequence[Section],
    pages: Sequence[Page],
    *,
    cut: bool,
) -> Passage:
    """Return the passage of a document whose text begins at ``start``.

    ``chunks``, ``sections`` and ``pages`` are the document's, in order. Of the chunks those count
    that it shows any of; where it shows none, the one before it.
    """
    end = start + len(text)
    shown = [
        passage.chunk.index
        for passage in chunks
        if passage.chunk.start < end and passage.chunk.end > start
    ]
    before = [passage.chunk.index for passage in chunks if passage.chunk.start <= start]
    first, last = (shown[0], shown[-1]) if shown else 2 * (max(before, default=0),)
    within = [section for section in sections if section.start < end and section.end > start]
    begun = [page.number for page in pages if page.start <= start]
    return Passage(
        start,
        end,
        text,
        heading_path=within[0].path if within else (),
        page=begun[-1] if begun else None,
        chunks=(first, last),
        cut=cut,
        later_pages=tuple((page.start, page.number) for page in pages if start < page.start < end),
        headings=tuple((max(section.start, start), section.path) for section in within)
        if len(within) > 1
        else (),
    )
