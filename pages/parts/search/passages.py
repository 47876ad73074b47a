"""The passages of a card: excerpts first, the whole on demand, gaps between. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pages.parts.common.markup import action, folded, marked, merged, name, number
from ragkit.catalog.records import ContextRecord
from ragkit.results import MatchedChunk, Passage, Result
from ragkit.retrieval.highlight import best_window

LONGEST_PASSAGE = 12_000
_FIRST_EXCERPT, _NEXT_EXCERPT, _EXCERPTS = 420, 200, 2
_HEADINGS = re.compile(r"\s*(?:(?:#{1,6} [^\n]*|[^\n]{1,120}\n[=~^-]{3,})\n\s*)+")


@dataclass(frozen=True, slots=True)
class Extra:
    """What the person opened in a card, fetched from the stored document.

    ``gaps`` maps (first, last) chunk indexes to the text between; ``more`` the index of a
    further matched chunk to its text. ``opens`` is the label of the button that opens the file,
    or empty. ``judge`` is the HTML of the buttons that judge the result. ``context`` is what was
    written of the best chunk.
    """

    gaps: Mapping[tuple[int, int], str] = field(default_factory=dict)
    more: Mapping[int, str] = field(default_factory=dict)
    opens: str = ""
    judge: str = ""
    context: ContextRecord | None = None


NOTHING = Extra()


def heading_path(path: Sequence[str]) -> str:
    """``Guide › Auth › OAuth`` as HTML."""
    return " › ".join(f"<bdi>{name(one[:120])}</bdi>" for one in path)


def passages(result: Result, number_: int, extra: Extra) -> str:
    """The text of a result, short first."""
    if not result.passages:
        return ""
    whole = _whole(result, number_, extra)
    if len(result.passages) == 1 and len(result.passages[0].text) <= _FIRST_EXCERPT:
        return f'<div class="rk-passages">{whole}</div>'
    words = sum(len(passage.text.split()) for passage in result.passages)
    opened = " open" if extra.gaps else ""
    return (
        f'<div class="rk-passages"><div class="rk-short">{_short(result)}</div>'
        f'<details class="rk-full"{opened}><summary>'
        f'<span class="rk-closed">Read the passages here · {number(words)} words</span>'
        f'<span class="rk-opened">Show less</span></summary>{whole}</details></div>'
    )


def _short(result: Result) -> str:
    """The best matched chunks as excerpts, in reading order, with marks between them."""
    windows: list[tuple[int, int, Passage]] = []
    ranked = result.matched_chunks or (MatchedChunk(0, 0.0),)
    for chunk in ranked:
        size = _NEXT_EXCERPT if windows else _FIRST_EXCERPT
        found = _excerpt_of(result, chunk, size)
        if found and all(found[1] <= start or found[0] >= end for start, end, _ in windows):
            windows.append(found)
        if len(windows) == _EXCERPTS:
            break
    parts = []
    for start, end, passage in sorted(windows, key=lambda one: one[:2]):
        lead = (
            "… "
            if start > passage.start and not _heads(passage.text, start - passage.start)
            else ""
        )
        tail = " …" if end < passage.end else ""
        body = marked(passage.text, passage.highlights, start - passage.start, end - passage.start)
        body = body.strip("\n").rstrip() if _code(result) else folded(body)
        style = f"rk-passage{_code(result)}"
        parts.append(f'<blockquote class="{style}" dir="auto">{lead}{body}{tail}</blockquote>')
    return '<p class="rk-between" aria-hidden="true">…</p>'.join(parts)


def _code(result: Result) -> str:
    """The style of a passage whose columns matter."""
    return " rk-code" if result.document.format == "code" else ""


def _heads(value: str, start: int) -> bool:
    """Whether only headings stand before this place."""
    return not value[:start].strip() or _HEADINGS.fullmatch(value, 0, start) is not None


def _excerpt_of(result: Result, chunk: MatchedChunk, size: int) -> tuple[int, int, Passage] | None:
    """Where in the document's text the excerpt of a matched chunk starts and ends."""
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
    spans_ = [(a - offset, b - offset) for a, b in passage.highlights]
    start, end = best_window(value, merged(spans_, 0, len(value)), size)
    headings = _HEADINGS.match(value, start)
    if headings and end - headings.end() > size // 3:
        start = headings.end()
    return first + start, first + end, passage


def _whole(result: Result, number_: int, extra: Extra) -> str:
    """All passages in reading order, with the gaps between them."""
    gaps = {first: (first, last) for first, last in result.gaps}
    parts: list[str] = []
    previous = -1
    for passage in result.passages:
        due = [first for first in sorted(gaps) if previous < first <= passage.chunks[0]]
        parts += [_gap(result, number_, gaps.pop(first), extra) for first in due]
        previous = passage.chunks[0]
        page = f'<span class="rk-page">p. {passage.page}</span>' if passage.page else ""
        trail = heading_path(passage.heading_path)
        if (trail or page) and len(result.passages) > 1:
            parts.append(f'<p class="rk-headings">{" · ".join(filter(None, (trail, page)))}</p>')
        parts.append(_passage(passage, _code(result)))
    parts += [_gap(result, number_, gap, extra) for _, gap in sorted(gaps.items())]
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
    """``chunks 4–7 omitted``, counted from 1."""
    return (
        f"chunk {first + 1} omitted" if first == last else f"chunks {first + 1}–{last + 1} omitted"
    )


def _gap(result: Result, number_: int, gap: tuple[int, int], extra: Extra) -> str:
    first, last = gap
    if gap in extra.gaps:
        body = marked(extra.gaps[gap], (), 0, LONGEST_PASSAGE)
        return f'<blockquote class="rk-passage rk-exact rk-filled" dir="auto">{body}</blockquote>'
    button = action(
        "gap", "show", style="rk-inline", data_id=result.document.id, data_result=number_,
        data_first=first, data_last=last, aria_label=f"Show {gap_words(first, last)[:-8]}",
    )  # fmt: skip
    return f'<p class="rk-gap">… {gap_words(first, last)} … {button}</p>'
