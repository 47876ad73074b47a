"""Pages of PDFs as JSON, for the viewer of the Document page.

``/_ragkit/pdf/12`` returns the labels and sizes of the pages of document 12, ``/_ragkit/pdf/12/3``
its third page, and ``/_ragkit/pdf/12/find?words=…`` how often these words occur on each page.
"""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from ragkit.errors import NotFoundError, RagkitError
from ragkit.library import DocumentDetail
from ragkit.reading.pdf import ocr_files
from ragkit.reading.pdf.contents import sound
from ragkit.reading.pdf.page import PageImage, picture_of, sizes_of
from ragkit.reading.pdf.page_words import Cut, Rectangle
from ragkit.retrieval.highlight import highlight_question
from ragkit.surfaces.addresses import span_of
from ragkit.surfaces.http.shared import NO_STORE, SharedLibrary, query_number
from ragkit.types import Page

_WIDTHS = (800, 1200, 1800, 2400)
_MOST_AT_ONCE = 2
_MOST_PICTURES = 40
_MOST_DOCUMENTS = 4
_AROUND = 1500


def routes(library: SharedLibrary) -> list[Route]:
    """Return the routes of the viewer."""
    pages = PdfPages(library)
    handlers = (("", pages.outline), ("/find", pages.find), ("/{number:int}", pages.page))
    return [Route(f"/_ragkit/pdf/{{id:int}}{path}", _answering(work)) for path, work in handlers]


def _answering(work: Callable[[Request], dict[str, Any]]) -> Callable[[Request], JSONResponse]:
    def answer(request: Request) -> JSONResponse:
        try:
            return JSONResponse(work(request), headers=NO_STORE)
        except RagkitError as error:
            problem = {"problem": error.message, "cure": error.cure}
            return JSONResponse(problem, error.http_status, headers=NO_STORE)

    return answer


class PdfPages:
    """Answers the viewer. Safe to share between threads."""

    def __init__(self, library: SharedLibrary) -> None:
        self._library = library
        self._turns = threading.BoundedSemaphore(_MOST_AT_ONCE)
        # Caches are keyed by the file's hash, so a changed file is read again.
        self._document = lru_cache(_MOST_DOCUMENTS)(self._read)
        self._picture = lru_cache(_MOST_PICTURES)(self._draw)
        self._sizes = lru_cache(_MOST_DOCUMENTS)(self._measure)

    def outline(self, request: Request) -> dict[str, Any]:
        """Return every page's label, width and height in points.

        If the file cannot be read, sizes are ``None``; each page then says why.
        """
        detail = self._detail(request)
        record = detail.record
        try:
            sizes = self._sizes(_file(detail), record.hash)
        except RagkitError:
            sizes = ()
        return {
            "pages": [
                {"label": page.label or str(page.number), "size": _at(sizes, page.number)}
                for page in record.pages
            ]
        }

    def page(self, request: Request) -> dict[str, Any]:
        """Return a page as a picture with its words and their boxes.

        ``frames`` are boxes around the passage, ``marks`` slices of the words that match the
        question. A page that cannot be drawn is returned as its text, with the ``problem``.
        """
        detail = self._detail(request)
        number, given = request.path_params["number"], request.query_params
        page = next((page for page in detail.record.pages if page.number == number), None)
        if page is None:
            raise NotFoundError(f"There is no page {number}.")
        span = span_of(given.get("span", ""))
        width = query_number(request, "width") or 0
        passage = (
            sentence_on(detail, page, span) if span
            else Cut(passage_on(detail, page, query_number(request, "chunk") or 0))
        )  # fmt: skip
        try:
            image = self._picture(
                _file(detail), detail.record.hash, number, passage,
                next((step for step in _WIDTHS if step >= width), _WIDTHS[-1]),
            )  # fmt: skip
        except RagkitError as error:
            text = detail.text[page.start : page.end]
            return {"problem": error.message, "cure": error.cure, "text": text}
        text = "".join(word for word, _ in image.words)
        find = given.get("find", "")[:300]
        forms = (
            self._library.get().engine.word_forms(find, detail.record.collection) if find else {}
        )
        return {
            "picture": "data:image/png;base64," + base64.b64encode(image.png).decode("ascii"),
            "size": [image.width, image.height],
            "words": [[word, *_edges(box)] for word, box in image.words],
            "frames": [_edges(box) for box in image.rectangles],
            "marks": highlight_question(text, find, forms),
        }

    def find(self, request: Request) -> dict[str, Any]:
        """Return how often the words occur on each page, in this order and in any case."""
        detail = self._detail(request)
        return {"counts": counts(detail, request.query_params.get("words", "")[:300])}

    def _detail(self, request: Request) -> DocumentDetail:
        version = request.query_params.get("version", "")[:64]
        detail = self._document(int(request.path_params["id"]), version)
        if detail.record.format != "pdf":
            raise NotFoundError("This document has no pages.")
        return detail

    def _read(self, number: int, _version: str) -> DocumentDetail:
        return self._library.get().documents.get(number)

    def _draw(
        self, file: Path, content_hash: str, number: int, passage: Cut, width: int
    ) -> PageImage:
        data = ocr_files.recognised(self._library.get().paths.ocr, content_hash)
        page = ocr_files.page_of(data, number - 1)
        words = sound(page.words) if page else None
        recognised = tuple((word, Rectangle(*edges)) for word, edges in words or ())
        with self._turns:
            return picture_of(file, number, passage, recognised, width=width)

    def _measure(self, file: Path, _hash: str) -> tuple[tuple[float, float], ...]:
        return sizes_of(file)


def passage_on(detail: DocumentDetail, page: Page, chunk: int) -> str:
    """Return the part of a chunk, numbered from 1, that is on a page; empty if none is."""
    record = next((stored for stored in detail.chunks if stored.chunk.index == chunk - 1), None)
    if record is None:
        return ""
    return detail.text[max(record.chunk.start, page.start) : min(record.chunk.end, page.end)]


def sentence_on(detail: DocumentDetail, page: Page, span: tuple[int, int]) -> Cut:
    """Return the part of a sentence that is on a page, with the page's text around it."""
    start, end = max(span[0], page.start), min(span[1], page.end)
    if start >= end:
        return Cut("")
    text = detail.text
    before = text[max(page.start, start - _AROUND) : start]
    return Cut(text[start:end], before, text[end : min(page.end, end + _AROUND)])


def counts(detail: DocumentDetail, words: str) -> list[int]:
    """Return how often the words occur on each page, ignoring case and spacing."""
    sought = _plain(words)
    if not sought:
        return []
    return [_plain(detail.text[p.start : p.end]).count(sought) for p in detail.record.pages]


def _plain(text: str) -> str:
    # The bars between table cells are not on the page.
    return " ".join(text.lower().replace(" | ", " ").split())


def _file(detail: DocumentDetail) -> Path:
    return Path(detail.record.root, detail.record.path)


def _at(sizes: tuple[tuple[float, float], ...], number: int) -> tuple[float, float] | None:
    return sizes[number - 1] if 0 < number <= len(sizes) else None


def _edges(box: Rectangle) -> list[float]:
    return [round(edge, 5) for edge in (box.left, box.top, box.right, box.bottom)]
