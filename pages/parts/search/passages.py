"""The passages of a card: excerpts first, the whole on demand, gaps between. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pages.parts.common.markup import action, folded, marked, merged, name, number
from ragkit.catalog.records import ContextRecord
from ragkit.library import DocumentDetail
from ragkit.results import MatchedChunk, Passage, Result
from ragkit.retrieval.highlight import best_window

LONGEST_PASSAGE = 12_000
_FIRST_EXCERPT, _NEXT_EXCERPT, _EXCERPTS = 420, 200, 2
_HEADINGS = re.compile(r"\s*(?:(?:#{1,6} [^\n]*|[^\n]{1,120}\n[=~^-]{3,})\n\s*)+")


@dataclass(frozen=True, slots=True)
class ExpandedContent:
    """What a card shows beyond its result: what the person expanded, and what the page adds.

    ``gaps`` maps (first, last) chunk indexes to the text between; ``more`` maps the index of a
    further matched chunk to its text. ``opens`` is the label of the button that opens the file,
    or empty. ``judge`` is the HTML of the buttons that judge the result. ``context`` is the
    written context of the best chunk.
    """

    gaps: Mapping[tuple[int, int], str] = field(default_factory=dict)
    more: Mapping[int, str] = field(default_factory=dict)
    opens: str = ""
    judge: str = ""
    context: ContextRecord | None = None


COLLAPSED = ExpandedContent()


def expand(
    result: Result,
    detail: DocumentDetail | None,
    gaps: Collection[tuple[int, int, int]],
    more: Collection[int],
    opens: str,
) -> ExpandedContent:
    """Collect the expanded parts of a result from its stored document.

    ``gaps`` are (document, first, last); ``more`` are ids of documents whose further matches are
    shown. ``detail`` is ``None`` when nothing is expanded or the document is gone.
    """
    if detail is None:
        return ExpandedContent(opens=opens)
    document_id = result.document.id
    chunks = {record.chunk.index: record.chunk for record in detail.chunks}
    further = result.more if document_id in more else ()
    return ExpandedContent(
        {gap: gap_text(result, detail, gap) for gap in result.gaps if (document_id, *gap) in gaps},
        {
            match.index: detail.text[chunks[match.index].start : chunks[match.index].end]
            for match in further
            if match.index in chunks
        },
        opens,
    )


def gap_text(result: Result, detail: DocumentDetail, gap: tuple[int, int]) -> str:
    """Return the stored text of a gap: what lies between the passages around it."""
    first, last = gap
    before = [passage.end for passage in result.passages if passage.chunks[1] < first]
    after = [passage.start for passage in result.passages if passage.chunks[0] > last]
    chunks = [record.chunk for record in detail.chunks if first <= record.chunk.index <= last]
    if not chunks:
        return ""
    start = max(before, default=chunks[0].start)
    end = min(after, default=chunks[-1].end)
    return detail.text[start:end]


def heading_path(path: Sequence[str]) -> str:
    """Return ``Guide › Auth › OAuth`` as HTML."""
    return " › ".join(f"<bdi>{name(title[:120])}</bdi>" for title in path)


def passages(result: Result, number_: int, expanded: ExpandedContent) -> str:
    """Return the text of a result, collapsed to excerpts when it is long."""
    if not result.passages:
        return ""
    whole = _whole(result, number_, expanded)
    if len(result.passages) == 1 and len(result.passages[0].text) <= _FIRST_EXCERPT:
        return f'<div class="rk-passages">{whole}</div>'
    words = sum(len(passage.text.split()) for passage in result.passages)
    opened = " open" if expanded.gaps else ""
    return (
        f'<div class="rk-passages"><div class="rk-short">{_short(result)}</div>'
        f'<details class="rk-full"{opened}><summary>'
        f'<span class="rk-closed">Read the passages here · {number(words)} words</span>'
        f'<span class="rk-opened">Show less</span></summary>{whole}</details></div>'
    )


def _short(result: Result) -> str:
    """Return the best matched chunks as excerpts, in reading order, with marks between them."""
    windows: list[tuple[int, int, Passage]] = []
    ranked = result.matched_chunks or (MatchedChunk(0, 0.0),)
    for chunk in ranked:
        size = _NEXT_EXCERPT if windows else _FIRST_EXCERPT
        window = _excerpt_of(result, chunk, size)
        if window and all(window[1] <= start or window[0] >= end for start, end, _ in windows):
            windows.append(window)
        if len(windows) == _EXCERPTS:
            break
    parts = []
    for start, end, passage in sorted(windows, key=lambda window: window[:2]):
        is_cut = start > passage.start and not _heads(passage.text, start - passage.start)
        lead = "… " if is_cut else ""
        tail = " …" if end < passage.end else ""
        body = marked(passage.text, passage.highlights, start - passage.start, end - passage.start)
        body = body.strip("\n").rstrip() if _code(result) else folded(body)
        style = f"rk-passage{_code(result)}"
        parts.append(f'<blockquote class="{style}" dir="auto">{lead}{body}{tail}</blockquote>')
    return '<p class="rk-between" aria-hidden="true">…</p>'.join(parts)


def _code(result: Result) -> str:
    """Return the style of a passage whose columns matter, or an empty string."""
    return " rk-code" if result.document.format == "code" else ""


def _heads(value: str, start: int) -> bool:
    """Return whether only headings precede this offset."""
    return not value[:start].strip() or _HEADINGS.fullmatch(value, 0, start) is not None


def _excerpt_of(result: Result, chunk: MatchedChunk, size: int) -> tuple[int, int, Passage] | None:
    """Return start and end in the document's text of a matched chunk's excerpt."""
    inside = [p for p in result.passages if p.chunks[0] <= chunk.index <= p.chunks[1]]
    if not inside:
        return None
    passage = inside[0]
    first, last = (chunk.span.start, chunk.span.end) if chunk.span else (passage.start, passage.end)
    first, last = max(first, passage.start), min(last, passage.end)
    if first >= last:
        return None
    value = passage.text[first - passage.start : last - passage.start]
    headings = _HEADINGS.match(value)
    if headings and len(value) - headings.end() > _NEXT_EXCERPT // 2:
        first += headings.end()
        value = value[headings.end() :]
    offset = first - passage.start
    spans = [(a - offset, b - offset) for a, b in passage.highlights]
    start, end = best_window(value, merged(spans, 0, len(value)), size)
    headings = _HEADINGS.match(value, start)
    if headings and end - headings.end() > size // 3:
        start = headings.end()
    return first + start, first + end, passage


def _whole(result: Result, number_: int, expanded: ExpandedContent) -> str:
    """Return all passages in reading order, with the gaps between them."""
    gaps = {first: (first, last) for first, last in result.gaps}
    parts: list[str] = []
    previous = -1
    for passage in result.passages:
        due = [first for first in sorted(gaps) if previous < first <= passage.chunks[0]]
        parts += [_gap(result, number_, gaps.pop(first), expanded) for first in due]
        previous = passage.chunks[0]
        page = f'<span class="rk-page">p. {passage.page}</span>' if passage.page else ""
        trail = heading_path(passage.heading_path)
        if (trail or page) and len(result.passages) > 1:
            parts.append(f'<p class="rk-headings">{" · ".join(filter(None, (trail, page)))}</p>')
        parts.append(_passage(passage, _code(result)))
    parts += [_gap(result, number_, gap, expanded) for _, gap in sorted(gaps.items())]
    return "".join(parts)


def _passage(passage: Passage, style: str) -> str:
    body = marked(passage.text, passage.highlights, 0, LONGEST_PASSAGE)
    cut = ""
    if passage.cut or len(passage.text) > LONGEST_PASSAGE:
        cut = '<p class="rk-soft">… cut here; open the document for the rest.</p>'
    chunks = f"{passage.chunks[0] + 1}-{passage.chunks[1] + 1}"
    return (
        f'<blockquote class="rk-passage rk-exact{style}" dir="auto" data-chunks="{chunks}">'
        f"{body}</blockquote>{cut}"
    )


def gap_words(first: int, last: int) -> str:
    """Return ``chunks 4–7 omitted``, counted from 1."""
    return (
        f"chunk {first + 1} omitted" if first == last else f"chunks {first + 1}–{last + 1} omitted"
    )


def _gap(result: Result, number_: int, gap: tuple[int, int], expanded: ExpandedContent) -> str:
    first, last = gap
    if gap in expanded.gaps:
        body = marked(expanded.gaps[gap], (), 0, LONGEST_PASSAGE)
        return f'<blockquote class="rk-passage rk-exact rk-filled" dir="auto">{body}</blockquote>'
    button = action(
        "gap", "show", style="rk-inline", data_id=result.document.id, data_result=number_,
        data_first=first, data_last=last, aria_label=f"Show {gap_words(first, last)[:-8]}",
    )  # fmt: skip
    return f'<p class="rk-gap">… {gap_words(first, last)} … {button}</p>'
