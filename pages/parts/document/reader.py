"""A document as HTML: outline, text, chunks with their contexts, a page. Pure functions."""

from __future__ import annotations

import base64
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pages.parts.common.markup import (
    action,
    attributes,
    document_url,
    excerpt,
    marked,
    moment,
    name,
    number,
    page_range,
    plural,
    text,
)
from ragkit.catalog.records import (
    RECORDED,
    ChunkRecord,
    ContextAnswer,
    ContextRecord,
    ContextStatus,
    DocumentRecord,
)
from ragkit.reading.pdf_page import PageImage
from ragkit.types import Markup, Page, Section

WINDOW = 24_000
MOST_OUTLINE = 400
_STATUS_WORDS = {
    ContextStatus.PENDING: "waits to be written",
    ContextStatus.COMPLETE: "written",
    ContextStatus.FAILED: "failed",
    ContextStatus.TRUNCATED: "written from a part of the prompt",
}
_ON_CARD, _ON_PAGE = 320, 1500
_MOST_ITEMS = 12


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a text that is shown."""

    start: int
    end: int


def window_around(place: int, length: int, size: int = WINDOW) -> Window:
    """Return a window of the text with a third of its size before ``place``."""
    start = max(0, min(place - size // 3, length - size))
    return Window(start, min(length, start + size))


def snapped(value: str, window: Window) -> Window:
    """Extend a window to line breaks, where some are near."""
    start, end = window.start, window.end
    if start:
        line_break = value.rfind("\n", max(0, start - 500), start)
        start = line_break + 1 if line_break >= 0 else start
    if end < len(value):
        line_break = value.find("\n", end, end + 500)
        end = line_break if line_break >= 0 else end
    return Window(start, end)


def also_see(similar: Sequence[tuple[DocumentRecord, float]]) -> str:
    """Return links to the documents most like this one; empty when there are none."""
    if not similar:
        return ""
    items = []
    for record, score in similar:
        data = attributes(href=document_url(record.id), data_rk="open", data_id=record.id)
        title = text(f"{record.path}: {score:.2f} alike in meaning (1 is the same)")
        items.append(
            f'<li><a target="_self" style="--level:0" title="{title}"{data}>'
            f"<bdi>{name((record.title or record.path)[:160])}</bdi></a></li>"
        )
    return (
        '<nav class="rk-outline" id="also-see" aria-label="Also see">'
        f'<p class="rk-soft">Also see</p><ol>{"".join(items)}</ol></nav>'
    )


def outline(
    sections: Sequence[Section], document_id: int, place: int, window: Window, find: str
) -> str:
    """Return the headings of a document as links; those in the window scroll, others load."""
    titled = [section for section in sections if section.title]
    shown = titled[:MOST_OUTLINE]
    if not shown:
        return '<p class="rk-soft">This document has no headings.</p>'
    current = bisect_right([section.start for section in shown], place) - 1
    items = []
    for index, section in enumerate(shown):
        near = window.start <= section.start < window.end
        data = attributes(
            href=document_url(document_id, None, find),
            data_rk="anchor" if near else "at",
            data_place=f"rk-section-{section.index}" if near else None,
            data_offset=section.start,
            data_id=document_id,
            aria_current="true" if index == current else None,
        )
        level = max(0, min(5, len(section.path) - 1))
        items.append(
            f'<li><a target="_self" style="--level:{level}"{data}>'
            f"<bdi>{name(section.title[:160])}</bdi></a></li>"
        )
    rest = len(titled) - len(shown)
    tail = f'<p class="rk-soft">and {number(rest)} more</p>' if rest > 0 else ""
    return f'<nav class="rk-outline" aria-label="Outline"><ol>{"".join(items)}</ol>{tail}</nav>'


def body(
    value: str,
    window: Window,
    passage: tuple[int, int] | None,
    sections: Sequence[Section],
    highlights: Sequence[tuple[int, int]],
    markup: str,
) -> str:
    """Return a window of the stored text, with the requested ``passage`` highlighted.

    ``highlights`` are offsets into the whole text.
    """
    if passage:
        passage = _with_indent(value, passage)
    cuts = {window.start, window.end}
    anchors = {
        section.start: section.index
        for section in sections
        if window.start <= section.start < window.end
    }
    cuts.update(anchors)
    if passage:
        cuts.update(min(max(offset, window.start), window.end) for offset in passage)
    parts = []
    first = True
    for start, end in pairwise(sorted(cuts)):
        if start in anchors:
            parts.append(f'<span class="rk-anchor" id="rk-section-{anchors[start]}"></span>')
        inner = marked(value, highlights, start, end)
        if passage and passage[0] <= start < passage[1]:
            identity = ' id="rk-here"' if first else ""
            kind = "rk-here rk-block" if _whole_lines(value, passage) else "rk-here"
            inner = f'<span class="{kind}"{identity}>{inner}</span>'
            first = False
        parts.append(inner)
    kind = " rk-code" if markup == Markup.CODE else ""
    return f'<div class="rk-text{kind}" dir="auto">{"".join(parts)}</div>'


def _with_indent(value: str, passage: tuple[int, int]) -> tuple[int, int]:
    """Extend a passage to the start of its line, when only spaces precede it."""
    line = value.rfind("\n", 0, passage[0]) + 1
    return (line, passage[1]) if not value[line : passage[0]].strip() else passage


def _whole_lines(value: str, passage: tuple[int, int]) -> bool:
    """Return whether a passage starts and ends with lines, so that it can be shown as a block."""
    start, end = passage
    begins = start == 0 or value[start - 1 : start] == "\n"
    return begins and (end >= len(value) or "\n" in value[end - 1 : end + 1])


def chunk_list(
    chunks: Sequence[ChunkRecord],
    value: str,
    document_id: int,
    current: int | None,
    find: str,
    contexts: Mapping[int, ContextRecord],
) -> str:
    """Return chunks with their structural and written contexts."""
    items = []
    for record in chunks:
        chunk = record.chunk
        own = value[chunk.start : chunk.end]
        pages = f" · {page_range(*chunk.pages)}" if chunk.pages else ""
        mark = ' aria-current="true"' if chunk.index == current else ""
        data = attributes(
            href=document_url(document_id, chunk.index, find),
            data_rk="open",
            data_id=document_id,
            data_chunk=chunk.index + 1,
        )
        context = f'<p class="rk-context" dir="auto">{text(record.context[:600])}</p>'
        written = chunk_context(contexts.get(chunk.index), chunk.index)
        items.append(
            f'<div class="rk-chunk" id="rk-chunk-{chunk.index}"{mark}>'
            f'<a target="_self"{data}>Chunk {chunk.index + 1}</a>'
            f'<span class="rk-soft"> · {number(len(own.split()))} words{pages}</span>{context}'
            f'<p dir="auto">{excerpt(own, (), 180)}</p>{written}</div>'
        )
    return "".join(items)


# -- contexts --------------------------------------------------------------------------------


def author_label(answer: ContextAnswer) -> str:
    """Return a label of who wrote a context, with the model's name on hover."""
    if answer.by_person:
        label, more = "written by you", "You wrote this. No model changes it."
    elif answer.model == RECORDED:
        label, more = "recorded with the sample", "It came with the sample documents, in a file."
    else:
        model = f"Model: {answer.model}. " if answer.model else ""
        label, more = "written by a model", f"{model}It may be wrong; the passage below is not it."
    return f'<span class="rk-by" tabindex="0" role="note" title="{text(more)}">{label}</span>'


def card_context(record: ContextRecord | None) -> str:
    """Return the written context of a card's best passage; empty when there is none."""
    if record is None or not record.answer.context:
        return ""
    shown = excerpt(record.answer.context, (), _ON_CARD)
    return f'<p class="rk-context rk-written" dir="auto">{author_label(record.answer)} {shown}</p>'


def chunk_context(record: ContextRecord | None, index: int) -> str:
    """Return a chunk's written context with its details and actions."""
    answer = record.answer if record else ContextAnswer("")
    parts = []
    if answer.context:
        shown = excerpt(answer.context, (), _ON_PAGE)
        parts.append(
            f'<p class="rk-context rk-written" dir="auto">{author_label(answer)} {shown}</p>'
        )
    if record is None or not answer.context or record.status is not ContextStatus.COMPLETE:
        parts.append(_context_status(record, bool(answer.context)))
    if record is not None:
        facts = "".join(f"<dt>{term}</dt><dd>{value}</dd>" for term, value in _facts(record))
        parts.append(
            f'<details class="rk-why"><summary>What is known of it</summary><dl class="rk-facts">'
            f"{facts}</dl></details>"
        )
    place = f"the context of chunk {index + 1}"
    edit = "Edit" if answer.context else "Write it yourself"
    buttons = action(
        "edit-context", edit, data_chunk=index, aria_label=f"{edit}: {place}"
    ) + action("write-again", "Write again", data_chunk=index, aria_label=f"Write again: {place}")
    return f'{"".join(parts)}<div class="rk-foot">{buttons}</div>'


def _context_status(record: ContextRecord | None, written: bool) -> str:
    """Return why there is no context, or no new one yet."""
    if record is None:
        return '<p class="rk-soft">No model has written of this chunk yet.</p>'
    if record.status is ContextStatus.FAILED:
        return f'<p class="rk-error-text">Could not be written. {name(record.error)}</p>'
    if record.status is ContextStatus.TRUNCATED:
        return '<p class="rk-soft">The model saw only a part of the prompt.</p>'
    kept = " The old one is searched until then." if written else ""
    if record.status is ContextStatus.PENDING:
        return f'<p class="rk-soft">It waits to be written anew.{kept}</p>'
    return ""


def _facts(record: ContextRecord) -> list[tuple[str, str]]:
    answer = record.answer
    state = [_STATUS_WORDS[record.status], moment(record.changed_at)]
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
        facts.append(("Questions that it answers", f"<ul>{items}</ul>"))
    facts += [(text(key.replace("_", " ").capitalize()), value) for key, value in _details(answer)]
    if record.error:
        facts.append(("Last error", name(record.error)))
    return facts


def _details(answer: ContextAnswer) -> list[tuple[str, str]]:
    """Return what else a model wrote about a conversation, in words."""

    def words(value: Any) -> str:
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list | tuple):
            return ", ".join(str(item) for item in value[:_MOST_ITEMS])
        return str(value)

    shown = ((key, words(value)) for key, value in answer.details.items())
    return [(key, text(value[:300])) for key, value in shown if value]


# -- pages of a PDF ---------------------------------------------------------------------------


def sheet(image: PageImage, number_: int, label: str) -> str:
    """Return a page of the file as a picture, with the passage marked on it."""
    source = base64.b64encode(image.png).decode("ascii")
    frames = "".join(
        f'<span class="rk-frame" style="left:{100 * box.left:.3f}%;top:{100 * box.top:.3f}%;'
        f"width:{100 * (box.right - box.left):.3f}%;"
        f'height:{100 * (box.bottom - box.top):.3f}%"></span>'
        for box in image.rectangles
    )
    return (
        f'<div class="rk-sheet" data-page="{number_}"><img alt="Page {text(label)}" '
        f'width="{image.width}" height="{image.height}" '
        f'src="data:image/png;base64,{source}">{frames}</div>'
    )


def page_of(pages: Sequence[Page], place: int) -> Page | None:
    """Return the page that contains an offset of the text, or ``None``."""
    index = bisect_right([page.start for page in pages], place) - 1
    return pages[index] if pages and index >= 0 else None


def page_name(page: Page, total: int) -> str:
    """Return ``page 3 of 12``, with the file's own label where it differs."""
    own = f" (“{page.label}”)" if page.label and page.label != str(page.number) else ""
    return f"page {page.number} of {total}{own}"
