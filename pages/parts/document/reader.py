"""A document as HTML: outline, text, chunks with their contexts. Pure functions."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pages.parts import rendering
from pages.parts.common.markup import (
    action,
    attributes,
    document_link,
    excerpt,
    name,
    number,
    text,
)
from pages.parts.document.similar import similar_list
from pages.parts.rendering.canvas import Anchor, Picture
from ragkit.catalog.context_records import (
    RECORDED,
    ContextAnswer,
    ContextCost,
    ContextRecord,
    ContextStatus,
)
from ragkit.catalog.records import ChunkRecord
from ragkit.catalog.summaries import SummaryRecord
from ragkit.formatting import duration, local_time, page_range, plural
from ragkit.library import DocumentDetail
from ragkit.library.document_links import DocumentLinks
from ragkit.retrieval.similar import SimilarDocuments
from ragkit.surfaces.addresses import document_url
from ragkit.types import Section

WINDOW, ROWS = 24_000, 180
_NEAR_SECTION = 6_000
MOST_OUTLINE = 400
_STATUS_WORDS = {
    ContextStatus.PENDING: "waiting",
    ContextStatus.COMPLETE: "written",
    ContextStatus.FAILED: "failed",
    ContextStatus.TRUNCATED: "truncated: written from part of the prompt",
}
_ON_CARD, _ON_PAGE = 320, 1500
_ROW = re.compile(r"^\|", re.M)
_MOST_ITEMS = 12


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a text that is shown."""

    start: int
    end: int


def window_around(place: int, whole: Window, before: int = 0, after: int = 0) -> Window:
    """Return a window with a third of its size before ``place``, within the ``whole``.

    It grows by this many windows ``before`` and ``after``.
    """
    start = max(whole.start, min(place - WINDOW // 3, whole.end - WINDOW))
    end = start + WINDOW * (1 + after)
    return Window(max(whole.start, start - WINDOW * before), min(whole.end, end))


def snapped(value: str, window: Window, sections: Sequence[Section] = ()) -> Window:
    """Extend a window to where a section or block begins and ends, or else to line breaks."""
    start, end = window.start, window.end
    if start:
        section = section_start(sections, start)
        if start - section <= _NEAR_SECTION:
            start = section
        else:
            start = _before(value, "\n\n", start, 3000) or _before(value, "\n", start, 500) or start
    if end < len(value):
        block = value.find("\n\n", end, end + 3000)
        line_break = value.find("\n", end, end + 500)
        end = block if block >= 0 else line_break if line_break >= 0 else end
    return Window(start, end)


def with_fewer_rows(
    value: str, window: Window, place: int, before: int = 0, after: int = 0
) -> Window:
    """Cut a window in the middle of a long table: its rows are short, but costly to draw."""
    rows = [match.start() for match in _ROW.finditer(value, window.start, window.end)]
    near = bisect_left(rows, place)
    first, last = near - ROWS // 3 - ROWS * before, near + ROWS + ROWS * after
    return Window(
        rows[first] if first > 0 else window.start,
        rows[last] if last < len(rows) else window.end,
    )


def section_start(sections: Sequence[Section], offset: int) -> int:
    """Return where the section that holds an offset begins; 0 when there are none."""
    index = bisect_right([section.start for section in sections], offset) - 1
    return sections[index].start if index >= 0 else 0


def _before(value: str, mark: str, offset: int, most: int) -> int:
    """Return the offset after the last ``mark`` at most ``most`` characters before; 0 for none."""
    at = value.rfind(mark, max(0, offset - most), offset)
    return at + len(mark) if at >= 0 else 0


def also_see(similar: SimilarDocuments) -> str:
    """Return links to the documents most like this one; empty where there are none."""
    listed = similar_list(similar)
    if not listed:
        return ""
    return (
        '<section class="rk-more" id="also-see" aria-label="Similar documents">'
        f"<h2>Similar documents</h2>{listed}</section>"
    )


def outline(
    sections: Sequence[Section],
    document_id: int,
    place: int,
    window: Window,
    find: str,
    chunk: int | None = None,
) -> str:
    """Return the headings of a document as links, empty where there are none.

    Those in the window scroll, others load.

    The links keep the words searched for and the ``chunk``, which counts from 0.
    """
    titled = [section for section in sections if section.title]
    shown = titled[:MOST_OUTLINE]
    if not shown:
        return ""
    current = bisect_right([section.start for section in shown], place) - 1
    items = []
    for index, section in enumerate(shown):
        near = window.start <= section.start < window.end
        data = attributes(
            href=document_url(document_id, chunk, find, at=section.start),
            data_rk="anchor" if near else None,
            data_place=f"rk-section-{section.index}" if near else None,
            aria_current="true" if index == current else None,
        )
        level = max(0, min(5, len(section.path) - 1))
        items.append(
            f'<li><a target="_self" style="--level:{level}"{data}>'
            f"<bdi>{name(section.title, 160)}</bdi></a></li>"
        )
    rest = len(titled) - len(shown)
    tail = f'<p class="rk-soft">and {number(rest)} more</p>' if rest > 0 else ""
    return f'<nav class="rk-outline" aria-label="Outline"><ol>{"".join(items)}</ol>{tail}</nav>'


def body(
    detail: DocumentDetail,
    window: Window,
    passage: tuple[int, int] | None,
    highlights: Sequence[tuple[int, int]],
    *,
    rendered: bool = True,
    picture: Picture | None = None,
    links: DocumentLinks | None = None,
) -> str:
    """Return a window of the stored text, with the requested ``passage`` framed.

    ``highlights`` are offsets into the whole text.
    """
    record, span = detail.record, (window.start, window.end)
    anchors = {
        section.start: Anchor(f"rk-section-{section.index}", max(len(section.path), 1))
        for section in detail.sections
        if window.start <= section.start < window.end
    }
    if not rendered:
        return rendering.source_view(
            detail.text, span, highlights, passage=passage, anchors=anchors
        )
    return rendering.blocks(
        detail.text, span, highlights,
        rendering.kind_of(record.format, record.path, record.markup),
        passage=passage, anchors=anchors, picture=picture, links=links,
        since=section_start(detail.sections, window.start),
    )  # fmt: skip


def match_bar(count: int) -> str:
    """Return the buttons that move between the matched words; empty when there are none."""
    if not count:
        return ""
    buttons = "".join(
        f'<button type="button" data-match="{step}" aria-label="{label} match"'
        f' title="{label} match ({key})">{arrow}</button>'
        for step, label, key, arrow in ((-1, "Previous", "p", "↑"), (1, "Next", "n", "↓"))
    )
    return (
        '<div class="rk-matches" role="group" aria-label="Matches">'
        f'<span role="status">{matches(count)}</span>{buttons}</div>'
    )


def matches(count: int) -> str:
    """Return ``1 match``, ``2 matches``."""
    return f"{number(count)} {'match' if count == 1 else 'matches'}"


def chunk_list(
    chunks: Sequence[ChunkRecord],
    value: str,
    document_id: int,
    current: int | None,
    find: str,
    contexts: Mapping[int, ContextRecord],
    file_format: str = "",
) -> str:
    """Return chunks with their structural and written contexts."""
    items = []
    for record in chunks:
        chunk = record.chunk
        own = value[chunk.start : chunk.end]
        pages = f" · {page_range(*chunk.pages, file_format)}" if chunk.pages else ""
        mark = ' aria-current="true"' if chunk.index == current else ""
        link = document_link(document_id, chunk.index, find, f"Chunk {chunk.index + 1}")
        context = f'<p class="rk-context" dir="auto">{text(record.context[:600])}</p>'
        written = chunk_context(contexts.get(chunk.index), chunk.index)
        items.append(
            f'<div class="rk-chunk" id="rk-chunk-{chunk.index}"{mark}>'
            f'{link}<span class="rk-soft"> · {number(len(own.split()))} words{pages}</span>'
            f'{context}<p dir="auto">{excerpt(own, 180)}</p>{written}</div>'
        )
    return "".join(items)


# -- contexts --------------------------------------------------------------------------------


def author_label(answer: ContextAnswer) -> str:
    """Return a label of who wrote a context, with the model's name on hover."""
    if answer.by_person:
        label, more = "Edited by you", "You wrote this. No model changes it."
    elif answer.model == RECORDED:
        label, more = "AI context (from the sample)", "It came with the sample documents."
    else:
        model = f"Model: {answer.model}. " if answer.model else ""
        label, more = (
            "AI context",
            f"{model}It may be wrong. The passage below is from the document.",
        )
    return f'<span class="rk-by" tabindex="0" role="note" title="{text(more)}">{label}</span>'


def card_context(record: ContextRecord | None) -> str:
    """Return the written context of a card's best passage; empty when there is none."""
    if record is None or not record.answer.context:
        return ""
    shown = excerpt(record.answer.context, _ON_CARD)
    return f'<p class="rk-context rk-written" dir="auto">{author_label(record.answer)} {shown}</p>'


def chunk_context(record: ContextRecord | None, index: int) -> str:
    """Return a chunk's written context with its details and actions."""
    answer = record.answer if record else ContextAnswer("")
    parts = []
    if answer.context:
        shown = excerpt(answer.context, _ON_PAGE)
        parts.append(
            f'<p class="rk-context rk-written" dir="auto">{author_label(answer)} {shown}</p>'
        )
    if record is None or not answer.context or record.status is not ContextStatus.COMPLETE:
        parts.append(_context_status(record, bool(answer.context)))
    if record is not None:
        facts = "".join(f"<dt>{term}</dt><dd>{value}</dd>" for term, value in _facts(record))
        parts.append(
            f'<details class="rk-why"><summary>Details</summary><dl class="rk-facts">'
            f"{facts}</dl></details>"
        )
    place = f"context of chunk {index + 1}"
    buttons = action(
        "edit-context", "Edit context", data_chunk=index, aria_label=f"Edit {place}"
    ) + action("write-again", "Regenerate", data_chunk=index, aria_label=f"Regenerate {place}")
    return f'{"".join(parts)}<div class="rk-foot">{buttons}</div>'


def about_contexts(cost: ContextCost, summary: SummaryRecord | None) -> str:
    """Return the cost of a document's contexts, and the summary that they are written with."""
    parts = []
    if summary is not None and summary.summary:
        label = author_label(ContextAnswer(summary.summary, model=summary.model))
        parts.append(
            '<details class="rk-why" id="document-summary"><summary>Summary of the document'
            f'</summary><p class="rk-context rk-written" dir="auto">{label} '
            f"{excerpt(summary.summary, _ON_PAGE)}</p></details>"
        )
    elif summary is not None:
        parts.append(
            '<p class="rk-error-text">The document could not be summarised; its contexts were '
            f"written without. {name(summary.error)}</p>"
        )
    if cost.tokens:
        spent = f"{plural(cost.tokens, 'token')}, {duration(cost.seconds)}"
        parts.append(f'<p class="rk-soft" id="contexts-cost">Contexts cost {text(spent)}.</p>')
    return "".join(parts)


def _context_status(record: ContextRecord | None, written: bool) -> str:
    """Return why a chunk has no context, or not yet a new one."""
    if record is None:
        return '<p class="rk-soft">No AI context yet.</p>'
    if record.status is ContextStatus.FAILED:
        return (
            f'<p class="rk-error-text">The context could not be written. {name(record.error)}</p>'
        )
    if record.status is ContextStatus.TRUNCATED:
        return '<p class="rk-soft">The prompt was truncated: the model saw only part of it.</p>'
    kept = " Searches use the old one until then." if written else ""
    if record.status is ContextStatus.PENDING:
        return f'<p class="rk-soft">Waiting to be regenerated.{kept}</p>'
    return ""


def _facts(record: ContextRecord) -> list[tuple[str, str]]:
    answer = record.answer
    state = [_STATUS_WORDS[record.status], local_time(record.changed_at)]
    facts = [("State", text(" · ".join(state)))]
    if answer.model and not answer.by_person:
        facts.append(("Model", name(answer.model)))
    facts.append(("Attempts", number(record.attempts)))
    if answer.seconds and not answer.by_person:
        cost = f"{answer.seconds:.1f} s · {plural(answer.tokens, 'token')}"
        facts.append(("Cost", text(cost)))
    if answer.keywords:
        facts.append(("Keywords", text(", ".join(answer.keywords[:_MOST_ITEMS]))))
    if answer.questions:
        items = "".join(f"<li>{text(question)}</li>" for question in answer.questions[:_MOST_ITEMS])
        facts.append(("Questions it answers", f"<ul>{items}</ul>"))
    facts += [(text(key.replace("_", " ").capitalize()), value) for key, value in _details(answer)]
    if record.error:
        facts.append(("Last error", name(record.error)))
    return facts


def _details(answer: ContextAnswer) -> list[tuple[str, str]]:
    """Return a model's other notes about a conversation, as labels and text."""

    def words(value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list | tuple):
            return ", ".join(str(item) for item in value[:_MOST_ITEMS])
        if isinstance(value, dict):
            return ", ".join(f"{key} ({item})" for key, item in value.items())
        return str(value)

    shown = ((key, words(value)) for key, value in answer.details.items())
    return [(key, text(value[:300])) for key, value in shown if value]
