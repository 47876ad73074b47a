"""The names of columns for passages that begin in the middle of a table."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from ragkit.catalog.documents import Documents
from ragkit.chunking.units import header_above
from ragkit.results import Passage

_LOOKED_AT = 20_000
"""Characters before a passage, and from the start of its section on, that are looked at.

The rows of a longer table are taken to go back to the one at the start of the section.
"""


def table_headers(
    documents: Documents, passages: Sequence[tuple[int, Passage]], whole: Container[int]
) -> Iterator[str]:
    """Yield the header line of the table that each passage begins inside; empty if in none.

    Passages come with the ids of their documents, of which those in ``whole`` are read whole.
    """
    places = [
        (document, passage.start)
        for document, passage in passages
        if passage.start and passage.text.startswith("|")
    ]
    headers: dict[tuple[int, int], str] = {}
    if places:
        sections = documents.section_starts(places)
        spans = []
        for document, start in places:
            section = sections.get((document, start), 0)
            spans.append((document, max(section, start - _LOOKED_AT), start))
            spans.append((document, section, min(section + _LOOKED_AT, start)))
        slices = documents.slices(spans, whole)
        for place, near, far in zip(places, slices[::2], slices[1::2], strict=True):
            headers[place] = _header(near, far)
    for document, passage in passages:
        yield headers.get((document, passage.start), "")


def _header(near: str, far: str) -> str:
    """Return the header of the rows before a passage, or of those at the start of its section."""
    first = header_above(far[: far.rfind("\n") + 1])
    if len(near) < _LOOKED_AT:
        return first
    return header_above(near[near.find("\n") + 1 :], first)
