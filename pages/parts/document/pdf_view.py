"""The pages of a PDF: which one to open at, and the viewer, which asks the server for the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from pages.parts.common import browser
from pages.parts.document.cited import Span
from ragkit.catalog.records import ChunkRecord
from ragkit.library import DocumentDetail
from ragkit.retrieval.highlight import highlight_question


@dataclass(frozen=True, slots=True)
class Shown:
    """A PDF and the place in it that was requested.

    ``place`` is an offset into its text, and ``find`` the words searched for, with their other
    ``forms``. Where there is a ``sentence``, nothing else is marked.
    """

    detail: DocumentDetail
    file: Path
    chunk: ChunkRecord | None
    place: int
    find: str
    sentence: Span | None = None
    forms: Mapping[str, str] = field(default_factory=dict)


def draw(shown: Shown) -> None:
    """Draw the viewer, at the page of the passage."""
    record, chunk, sentence = shown.detail.record, shown.chunk, shown.sentence
    js = browser.script(__file__, "pdf_viewer.js")
    viewer = st.components.v2.component("ragkit_pdf", js=js, isolate_styles=False)
    with st.container(key="pdf"):
        viewer(
            key="pdf-viewer",
            data={
                "id": record.id,
                "version": f"{record.hash[:16]}-{len(shown.detail.chunks)}",
                "chunk": chunk.chunk.index + 1 if chunk else 0,
                "find": "" if sentence else shown.find,
                "span": f"{sentence[0]}-{sentence[1]}" if sentence else "",
                "first": first_page(shown),
                "passage": bool(sentence) or chunk is None or shown.place == chunk.chunk.start,
                "place": shown.place,
            },
        )


def first_page(shown: Shown) -> int:
    """Return where to open, by position from 1.

    That is the page of ``place``, where a sentence begins; of a passage on several pages, the one
    with most of the searched words and then most of its text; of a whole document, the page with
    most of the words.
    """
    pages, chunk = shown.detail.record.pages, shown.chunk
    text = shown.detail.text
    if shown.sentence is None and chunk is not None and chunk.chunk.start == shown.place:
        start, end = chunk.chunk.start, chunk.chunk.end
    elif shown.sentence is None and chunk is None and shown.place == 0 and shown.find:
        start, end = 0, len(text)
    else:
        return max(1, sum(1 for page in pages if page.start <= shown.place))

    def worth(position: int) -> tuple[int, int, int]:
        page = pages[position - 1]
        part = text[max(start, page.start) : max(start, min(end, page.end))]
        spans = highlight_question(part, shown.find, shown.forms) if part else ()
        words = {part[first:last].casefold() for first, last in spans}
        return len(words), len(spans), len(part.split()) if chunk else 0

    return max(range(1, len(pages) + 1), key=worth, default=1)
