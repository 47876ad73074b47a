"""The text of a document as HTML: outline, a window of the text, chunks, a page. Pure."""

from __future__ import annotations

import base64
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from pages.parts.common.markup import attributes, document_url, excerpt, marked, name, number, text
from pages.parts.document.context_text import about_chunk
from ragkit.catalog.records import ChunkRecord, ContextRecord, DocumentRecord
from ragkit.reading.pdf_page import PageImage
from ragkit.types import Markup, Page, Section

WINDOW = 24_000
MOST_OUTLINE = 400


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a text that is shown."""

    start: int
    end: int


def window_around(place: int, length: int, size: int = WINDOW) -> Window:
    """A stretch of the text with a third of its room before the place."""
    start = max(0, min(place - size // 3, length - size))
    return Window(start, min(length, start + size))


def snapped(value: str, window: Window) -> Window:
    """The same window, begun and ended at line breaks where some are near."""
    start, end = window.start, window.end
    if start:
        found = value.rfind("\n", max(0, start - 500), start)
        start = found + 1 if found >= 0 else start
    if end < len(value):
        found = value.find("\n", end, end + 500)
        end = found if found >= 0 else end
    return Window(start, end)


def also_see(similar: Sequence[tuple[DocumentRecord, float]]) -> str:
    """The documents most like this one, as links; empty when there are none."""
    if not similar:
        return ""
    items = []
    for record, score in similar:
        data = attributes(href=document_url(record.id), data_rk="open", data_id=record.id)
        said = text(f"{record.path}: {score:.2f} alike in meaning (1 is the same)")
        items.append(
            f'<li><a target="_self" style="--level:0" title="{said}"{data}>'
            f"<bdi>{name((record.title or record.path)[:160])}</bdi></a></li>"
        )
    return (
        '<nav class="rk-outline" id="also-see" aria-label="Also see">'
        f'<p class="rk-soft">Also see</p><ol>{"".join(items)}</ol></nav>'
    )


def outline(
    sections: Sequence[Section], document_id: int, place: int, window: Window, find: str
) -> str:
    """The headings of a document as links; those in the window scroll, others load."""
    shown = [one for one in sections if one.title][:MOST_OUTLINE]
    if not shown:
        return '<p class="rk-soft">This document has no headings.</p>'
    here = bisect_right([one.start for one in shown], place) - 1
    items = []
    for index, section in enumerate(shown):
        near = window.start <= section.start < window.end
        data = attributes(
            href=document_url(document_id, None, find),
            data_rk="anchor" if near else "at",
            data_place=f"rk-section-{section.index}" if near else None,
            data_offset=section.start,
            data_id=document_id,
            aria_current="true" if index == here else None,
        )
        level = max(0, min(5, len(section.path) - 1))
        items.append(
            f'<li><a target="_self" style="--level:{level}"{data}>'
            f"<bdi>{name(section.title[:160])}</bdi></a></li>"
        )
    rest = sum(1 for one in sections if one.title) - len(shown)
    tail = f'<p class="rk-soft">and {number(rest)} more</p>' if rest > 0 else ""
    return f'<nav class="rk-outline" aria-label="Outline"><ol>{"".join(items)}</ol>{tail}</nav>'


def body(
    value: str,
    window: Window,
    here: tuple[int, int] | None,
    sections: Sequence[Section],
    highlights: Sequence[tuple[int, int]],
    markup: str,
) -> str:
    """A window of the stored text, with the passage that was asked for on a band.

    ``highlights`` are offsets into the whole text.
    """
    if here:
        here = _with_indent(value, here)
    cuts = {window.start, window.end}
    anchors = {one.start: one.index for one in sections if window.start <= one.start < window.end}
    cuts.update(anchors)
    if here:
        cuts.update(min(max(one, window.start), window.end) for one in here)
    edges = sorted(cuts)
    parts = []
    first = True
    for start, end in pairwise(edges):
        if start in anchors:
            parts.append(f'<span class="rk-anchor" id="rk-section-{anchors[start]}"></span>')
        inner = marked(value, highlights, start, end)
        if here and here[0] <= start < here[1]:
            identity = ' id="rk-here"' if first else ""
            kind = "rk-here rk-block" if _whole_lines(value, here) else "rk-here"
            inner = f'<span class="{kind}"{identity}>{inner}</span>'
            first = False
        parts.append(inner)
    kind = " rk-code" if markup == Markup.CODE else ""
    return f'<div class="rk-text{kind}" dir="auto">{"".join(parts)}</div>'


def _with_indent(value: str, here: tuple[int, int]) -> tuple[int, int]:
    """The same passage from the beginning of its line, when only spaces stand before it."""
    line = value.rfind("\n", 0, here[0]) + 1
    return (line, here[1]) if not value[line : here[0]].strip() else here


def _whole_lines(value: str, here: tuple[int, int]) -> bool:
    """Whether a passage begins and ends with lines, so that it can be shown as a block."""
    start, end = here
    begins = start == 0 or value[start - 1 : start] == "\n"
    return begins and (end >= len(value) or "\n" in value[end - 1 : end + 1])


def chunk_list(
    chunks: Sequence[ChunkRecord],
    value: str,
    document_id: int,
    here: int | None,
    find: str,
    contexts: Mapping[int, ContextRecord],
) -> str:
    """Chunks with what situates each in the index: where it stands, and what was written of it."""
    items = []
    for record in chunks:
        chunk = record.chunk
        own = value[chunk.start : chunk.end]
        pages = ""
        if chunk.pages:
            first, last = chunk.pages
            pages = f" · p. {first}" if first == last else f" · p. {first}–{last}"
        current = ' aria-current="true"' if chunk.index == here else ""
        data = attributes(
            href=document_url(document_id, chunk.index, find),
            data_rk="open",
            data_id=document_id,
            data_chunk=chunk.index + 1,
        )
        context = f'<p class="rk-context" dir="auto">{text(record.context[:600])}</p>'
        written = about_chunk(contexts.get(chunk.index), chunk.index)
        items.append(
            f'<div class="rk-chunk" id="rk-chunk-{chunk.index}"{current}>'
            f'<a target="_self"{data}>Chunk {chunk.index + 1}</a>'
            f'<span class="rk-soft"> · {number(len(own.split()))} words{pages}</span>{context}'
            f'<p dir="auto">{excerpt(own, (), 180)}</p>{written}</div>'
        )
    return "".join(items)


def sheet(image: PageImage, number_: int, label: str) -> str:
    """A page of the file as a picture, with the passage marked on it."""
    source = base64.b64encode(image.png).decode("ascii")
    frames = "".join(
        f'<span class="rk-frame" style="left:{100 * one.left:.3f}%;top:{100 * one.top:.3f}%;'
        f"width:{100 * (one.right - one.left):.3f}%;"
        f'height:{100 * (one.bottom - one.top):.3f}%"></span>'
        for one in image.rectangles
    )
    return (
        f'<div class="rk-sheet" data-page="{number_}"><img alt="Page {text(label)}" '
        f'width="{image.width}" height="{image.height}" '
        f'src="data:image/png;base64,{source}">{frames}</div>'
    )


def page_of(pages: Sequence[Page], place: int) -> Page | None:
    """The page on which a place of the text stands."""
    index = bisect_right([page.start for page in pages], place) - 1
    return pages[index] if pages and index >= 0 else None


def page_name(page: Page, total: int) -> str:
    """``page 3 of 12``, with the file's own label where it differs."""
    own = f" (“{page.label}”)" if page.label and page.label != str(page.number) else ""
    return f"page {page.number} of {total}{own}"
