"""Document: one document as it is indexed, scrolled to the requested passage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.common import browser, frame, markup, open_in_os, state
from pages.parts.common.markup import action, name, plural
from pages.parts.document import context_dialog, reader
from pages.parts.library import source_tables as tables
from ragkit.catalog.records import ChunkRecord, ContextStatus
from ragkit.errors import RagkitError
from ragkit.indexes.tokenizer import tokenize
from ragkit.library import DocumentDetail, Library
from ragkit.reading.pdf_page import PageImage, picture_of
from ragkit.retrieval.highlight import highlight
from ragkit.retrieval.query_parser import parse_query
from ragkit.types import Page, Status

_AT, _WIDER, _PAGE = "document_at", "document_wider", "document_page"
_MOST_CHUNKS = 40


@dataclass(frozen=True, slots=True)
class Request:
    """What the address names. ``chunk`` counts from 0."""

    id: int
    chunk: int | None
    find: str


def draw() -> None:
    """Draw the whole page."""
    library = frame.begin()
    browser.listen("document-actions", lambda values: act(library, values))
    request = from_address()
    with st.container(key="page-wide"):
        if request is None:
            st.html(
                markup.state(
                    "No document chosen", "Search for something, and open one of the results."
                )
            )
            st.page_link("pages/search.py", label="Search")
            return
        try:
            detail = library.documents.get(request.id)
        except RagkitError as error:
            st.html(markup.problem(error.message, error.cure))
            st.page_link("pages/search.py", label="Search")
            return
        show(library, detail, request)
        context_dialog.draw(library, request.id)


def from_address() -> Request | None:
    """Read ``?id=12&chunk=3&find=words``; ``None`` when no document is named."""
    values = st.query_params
    if not values.get("id", "").isdecimal():
        return None
    chunk = values.get("chunk", "")
    return Request(
        int(values["id"]),
        int(chunk) - 1 if chunk.isdecimal() and int(chunk) > 0 else None,
        values.get("find", "")[:300],
    )


def show(library: Library, detail: DocumentDetail, request: Request) -> None:
    """Draw head, outline, similar documents, text or page, and chunks."""
    record = detail.record
    chunk = _chunk(detail, request.chunk)
    at = st.session_state.get(_AT)
    place = at[1] if at and at[0] == _visit(request) else (chunk.chunk.start if chunk else 0)
    file = Path(record.root, record.path)
    is_pdf = record.format == "pdf" and bool(record.pages)
    as_pages, with_chunks = head(detail, request, file, is_pdf)
    window = _window(detail, request, place)
    left, middle, right = _columns(with_chunks)
    with left, st.container(key="outline"):
        st.html(reader.outline(detail.sections, record.id, place, window, request.find))
        similar = library.documents.similar(request.id)
        st.html(reader.also_see([(match.record, match.score) for match in similar]))
    with middle, st.container(key="reading"):
        if as_pages:
            pages(detail, request, chunk, place, file)
        elif detail.text:
            words(detail, request, chunk, window, place)
        else:
            st.html(markup.state("No text", record.reason or "This document has no text."))
    if right is not None:
        with right, st.container(key="chunks"):
            chunks(library, detail, request, place)


def _columns(
    with_chunks: bool,
) -> tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator | None]:
    if with_chunks:
        left, middle, right = st.columns([3, 8, 4], gap="medium")
        return left, middle, right
    left, middle = st.columns([3, 11], gap="medium")
    return left, middle, None


def head(detail: DocumentDetail, request: Request, file: Path, is_pdf: bool) -> tuple[bool, bool]:
    """Draw title, path, notices and controls; return whether to show pages and chunks."""
    record = detail.record
    facts = [name(record.path), record.format.upper(), plural(record.chunks, "chunk")]
    if record.pages:
        facts.append(plural(len(record.pages), "page"))
    facts.append(markup.size(record.size))
    if record.date:
        facts.append(name(record.date[:10]))
    notes = [*record.warnings]
    if record.status is not Status.INDEXED:
        notes.insert(0, record.reason or tables.STATUS_WORDS[record.status])
    missing = not file.is_file()
    if missing:
        notes.insert(0, "The file is no longer where it was. This is the text as last read.")
    buttons = [action("copy-path", "Copy path", data_text=str(file))]
    opens = "" if missing else open_in_os.label_for(str(file))
    if opens:
        buttons.append(action("launch", opens, data_id=record.id))
    if request.find:
        buttons.insert(0, action("back", "Back to the results", data_q=request.find))
    st.html(
        f'<header class="rk-doc-head"><h1><bdi>{name(record.title or record.path)}</bdi></h1>'
        f'<p class="rk-soft">{" · ".join(facts)}</p>{markup.notices(notes)}'
        f'<div class="rk-foot">{"".join(buttons)}</div></header>'
    )
    with st.container(horizontal=True, vertical_alignment="center", key="document-controls"):
        as_pages = False
        if is_pdf:
            view = st.segmented_control(
                "View", ["Pages", "Text"], default="Pages", required=True,
                label_visibility="collapsed", key=f"view-{record.id}",
            )  # fmt: skip
            as_pages = view != "Text"
        with_chunks = st.toggle(
            "Show chunks", key="with_chunks", persist_state="session",
            help="The pieces that are indexed, each with the context that situates it.",
        )  # fmt: skip
    return as_pages, with_chunks


def _chunk(detail: DocumentDetail, index: int | None) -> ChunkRecord | None:
    if index is None:
        return None
    return next((record for record in detail.chunks if record.chunk.index == index), None)


def _visit(request: Request) -> tuple[int, int | None]:
    return (request.id, request.chunk)


def _window(detail: DocumentDetail, request: Request, place: int) -> reader.Window:
    """Return the part of the text to show; wider once the person asked for more."""
    length = len(detail.text)
    window = reader.window_around(place, length)
    before, after = st.session_state.get(_WIDER, {}).get((*_visit(request), place), (0, 0))
    wider = reader.Window(max(0, window.start - before), min(length, window.end + after))
    return reader.snapped(detail.text, wider)


def words(
    detail: DocumentDetail,
    request: Request,
    chunk: ChunkRecord | None,
    window: reader.Window,
    place: int,
) -> None:
    """Draw a window of the stored text."""
    key = (*_visit(request), place)
    if window.start > 0:
        st.button("Show earlier text", key="earlier", type="tertiary",
                  on_click=_widen, args=(key, reader.WINDOW, 0))  # fmt: skip
    passage = (chunk.chunk.start, chunk.chunk.end) if chunk else None
    part = detail.text[window.start : window.end]
    spans = [
        (start + window.start, end + window.start) for start, end in _highlights(part, request.find)
    ]
    st.html(reader.body(detail.text, window, passage, detail.sections, spans, detail.record.markup))
    if window.end < len(detail.text):
        st.button("Show more text", key="later", type="tertiary",
                  on_click=_widen, args=(key, 0, reader.WINDOW))  # fmt: skip
    section = next((item.index for item in detail.sections if item.start == place), None)
    jumped = st.session_state.get(_AT, (None,))[0] == _visit(request)
    if jumped and section is not None:
        browser.scroll_to("scroll", f"#rk-section-{section}", f"{key}-section")
    elif passage:
        browser.scroll_to("scroll", "#rk-here", str(key))


def _highlights(part: str, find: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of the searched words in a text."""
    if not find:
        return ()
    try:
        words = parse_query(find).text
    except RagkitError:
        words = find
    return highlight(part, tokenize(words))


def _widen(key: tuple[int, int | None, int], before: int, after: int) -> None:
    wider = st.session_state.setdefault(_WIDER, {})
    old = wider.get(key, (0, 0))
    wider[key] = (old[0] + before, old[1] + after)


# -- pages of a PDF ------------------------------------------------------------------------------


def pages(
    detail: DocumentDetail, request: Request, chunk: ChunkRecord | None, place: int, file: Path
) -> None:
    """Draw a page as a picture, with the passage marked on it."""
    record = detail.record
    first = _first_page(detail, request, chunk, place)
    if first is None:
        return
    turned = st.session_state.get(_PAGE)
    key = (*_visit(request), place)
    current = turned[1] if turned and turned[0] == key else first.number
    page = record.pages[min(max(current, 1), len(record.pages)) - 1]
    with st.container(horizontal=True, vertical_alignment="center", key="turn"):
        st.button("Previous page", key="previous", disabled=page.number <= 1,
                  on_click=_turn, args=(key, page.number - 1))  # fmt: skip
        st.html(f'<span class="rk-soft">{name(reader.page_name(page, len(record.pages)))}</span>',
                width="content")  # fmt: skip
        st.button("Next page", key="next", disabled=page.number >= len(record.pages),
                  on_click=_turn, args=(key, page.number + 1))  # fmt: skip
    passage = _on_page(detail, chunk, page)
    try:
        image = _picture(str(file), record.hash, page.number, passage)
    except RagkitError as error:
        st.html(markup.problem(error.message, error.cure))
        st.html(
            f'<div class="rk-text">{markup.marked(detail.text, (), page.start, page.end)}</div>'
        )
        return
    if passage and not image.rectangles:
        st.html(markup.notices(["The passage could not be found on the picture of this page."]))
    st.html(reader.sheet(image, page.number, page.label or str(page.number)))
    if image.rectangles:
        browser.scroll_to("scroll", ".rk-frame", f"{key}-{page.number}")


def _first_page(
    detail: DocumentDetail, request: Request, chunk: ChunkRecord | None, place: int
) -> Page | None:
    """Return the page of ``place``; of a passage on several, the page with most searched words."""
    first = reader.page_of(detail.record.pages, place)
    if chunk is None or chunk.chunk.start != place:
        return first
    spread = [
        page
        for page in detail.record.pages
        if page.start < chunk.chunk.end and page.end > chunk.chunk.start
    ]
    return max(
        spread,
        key=lambda page: len(_highlights(_on_page(detail, chunk, page), request.find)),
        default=first,
    )


def _on_page(detail: DocumentDetail, chunk: ChunkRecord | None, page: Page) -> str:
    """Return the part of the chunk that is on a page."""
    if chunk is None:
        return ""
    start, end = max(chunk.chunk.start, page.start), min(chunk.chunk.end, page.end)
    return detail.text[start:end] if start < end else ""


@st.cache_data(show_spinner="Drawing the page …", max_entries=60)
def _picture(file: str, content: str, number: int, passage: str) -> PageImage:  # noqa: ARG001
    return picture_of(Path(file), number, passage)


def _turn(key: tuple[int, int | None, int], number: int) -> None:
    st.session_state[_PAGE] = (key, number)


# -- chunks and actions --------------------------------------------------------------------------


@st.fragment
def chunks(library: Library, detail: DocumentDetail, request: Request, place: int) -> None:
    """Draw the chunks around the place with their contexts, which may change meanwhile."""
    starts = [record.chunk.start for record in detail.chunks]
    near = sum(1 for start in starts if start <= place) - 1
    first = max(0, min(near - _MOST_CHUNKS // 2, len(starts) - _MOST_CHUNKS))
    shown = detail.chunks[first : first + _MOST_CHUNKS]
    if not shown:
        st.html('<p class="rk-soft">Nothing of this document is indexed.</p>')
        return
    total = len(detail.chunks)
    contexts = library.contexts.of_document(request.id)
    outcome, is_pending = context_dialog.outcome(library, request.id)
    with st.container(horizontal=True, vertical_alignment="center", key="chunks-head"):
        st.html(
            f'<p class="rk-soft">Chunks {first + 1}–{first + len(shown)} of {total}</p>',
            width="content",
        )
        st.button(
            "Write all again", key="write-all-again", type="tertiary",
            on_click=context_dialog.write_again, args=(library, request.id),
            help="Have a model write every context of this document anew. Yours stay.",
        )  # fmt: skip
    items = reader.chunk_list(shown, detail.text, request.id, request.chunk, request.find, contexts)
    st.html(outcome + items)
    waiting = any(context.status is ContextStatus.PENDING for context in contexts.values())
    browser.pulse("chunks-pulse", 1 if is_pending or waiting else 5)


def act(library: Library, values: Mapping[str, str]) -> None:
    """Handle a click on a link or button of the page."""
    verb = values.get("rk", "")
    request = from_address()
    if context_dialog.act(library, values, request.id if request else None):
        return
    if verb == "open" and request is not None:
        st.session_state.pop(_AT, None)
        st.query_params["chunk"] = values["chunk"]
    elif verb in ("at", "anchor") and request is not None:
        st.session_state[_AT] = (_visit(request), int(values["offset"]))
    elif verb == "back":
        st.session_state[state.QUESTION] = values["q"]
        state.go("pages/search.py", q=values["q"])
    elif verb == "launch":
        open_in_os.launch(library, int(values["id"]))


draw()
