"""What a person opened in a card: the text of gaps and of further matches. Pure."""

from __future__ import annotations

from collections.abc import Collection

from pages.parts.search.passages import Extra
from ragkit.library import DocumentDetail
from ragkit.results import Result


def gap_text(result: Result, detail: DocumentDetail, gap: tuple[int, int]) -> str:
    """The stored text of a gap: what lies between the passages around it."""
    first, last = gap
    before = [passage.end for passage in result.passages if passage.chunks[1] < first]
    after = [passage.start for passage in result.passages if passage.chunks[0] > last]
    chunks = [one.chunk for one in detail.chunks if first <= one.chunk.index <= last]
    if not chunks:
        return ""
    start = max(before, default=chunks[0].start)
    end = min(after, default=chunks[-1].end)
    return detail.text[start:end]


def opened(
    result: Result,
    detail: DocumentDetail | None,
    gaps: Collection[tuple[int, int, int]],
    more: Collection[int],
    opens: str,
) -> Extra:
    """Gather what is open in one result; ``gaps`` are (document, first, last)."""
    if detail is None:
        return Extra(opens=opens)
    identity = result.document.id
    wanted = [gap for gap in result.gaps if (identity, *gap) in gaps]
    texts = {one.chunk.index: detail.text[one.chunk.start : one.chunk.end] for one in detail.chunks}
    further = result.more if identity in more else ()
    return Extra(
        {gap: gap_text(result, detail, gap) for gap in wanted},
        {one.index: texts[one.index] for one in further if one.index in texts},
        opens,
    )
