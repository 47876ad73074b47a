"""Document: one document as the index sees it, with the passage that was asked for in sight."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.parts.common import browser, frame, markup, state
from pages.parts.common import open_in_os as programs
from pages.parts.common.markup import action, name, plural
from pages.parts.document import context_dialog as context_desk
from pages.parts.document import reader
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
class Asked:
    """What the address asks for. ``chunk`` counts from 0."""

    id: int
    chunk: int | None
    find: str


def draw() -> None:
    """The whole page."""
    frame.required()
    state.follow()
    library = frame.open_library()
    browser.listen("document-actions", lambda values: act(library, values))
    asked = from_address()
    with st.container(key="page-wide"):
        if asked is None:
            st.html(
                markup.state(
                    "No document chosen", "Search for something, and open one of the results."
                )
            )
            st.page_link("pages/search.py", label="Search")
            return
        try:
            detail = library.documents.get(asked.id)
        except RagkitError as error:
            st.html(markup.problem(error.message, error.cure))
            st.page_link("pages/search.py", label="Search")
            return
        show(library, detail, asked)
        context_desk.draw(library, asked.id)


def from_address() -> Asked | None:
    """Read ``?id=12&chunk=3&find=words``; ``None`` when no document is named."""
    values = st.query_params
    if not values.get("id", "").isdecimal():
        return None
    chunk = values.get("chunk", "")
    return Asked(
        int(values["id"]),
        int(chunk) - 1 if chunk.isdecimal() and int(chunk) > 0 else None,
        values.get("find", "")[:300],
    )


def show(library: Library, detail: DocumentDetail, asked: Asked) -> None:
    """Head, outline, what else to see, text or page, chunks."""
    record = detail.record
    chunk = _chunk(detail, asked.chunk)
    at = st.session_state.get(_AT)
    place = at[1] if at and at[0] == _visit(asked) else (chunk.chunk.start if chunk else 0)
    file = Path(record.root, record.path)
    is_pdf = record.format == "pdf" and bool(record.pages)
    as_pages, with_chunks = head(detail, asked, file, is_pdf)
    window = _window(detail, asked, place)
    left, middle, right = _columns(with_chunks)
    with left, st.container(key="outline"):
        st.html(reader.outline(detail.sections, record.id, place, window, asked.find))
        similar = library.documents.similar(asked.id)
        st.html(reader.also_see([(one.record, one.score) for one in similar]))
    with middle, st.container(key="reading"):
        if as_pages:
            pages(detail, asked, chunk, place, file)
        elif detail.text:
            words(detail, asked, chunk, window, place)
        else:
            st.html(markup.state("No text", record.reason or "This document has no text."))
    if right is not None:
        with right, st.container(key="chunks"):
            chunks(library, detail, asked, place)


def _columns(
    with_chunks: bool,
) -> tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator | None]:
    if with_chunks:
        left, middle, right = st.columns([3, 8, 4], gap="medium")
        return left, middle, right
    left, middle = st.columns([3, 11], gap="medium")
    return left, middle, None


def head(detail: DocumentDetail, asked: Asked, file: Path, is_pdf: bool) -> tuple[bool, bool]:
    """Title, place, state and controls; returns whether pages and chunks are to be shown."""
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
    opens = "" if missing else programs.label_for(str(file))
    if opens:
        buttons.append(action("launch", opens, data_id=record.id))
    if asked.find:
        buttons.insert(0, action("back", "Back to the results", data_q=asked.find))
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
    return next((one for one in detail.chunks if one.chunk.index == index), None)


def _visit(asked: Asked) -> tuple[int, int | None]:
    return (asked.id, asked.chunk)


def _window(detail: DocumentDetail, asked: Asked, place: int) -> reader.Window:
    """The part of the text to show; wider once the person asked for more."""
    length = len(detail.text)
    window = reader.window_around(place, length)
    before, after = st.session_state.get(_WIDER, {}).get((*_visit(asked), place), (0, 0))
    wider = reader.Window(max(0, window.start - before), min(length, window.end + after))
    return reader.snapped(detail.text, wider)


def words(
    detail: DocumentDetail,
    asked: Asked,
    chunk: ChunkRecord | None,
    window: reader.Window,
    place: int,
) -> None:
    """The stored text, a window at a time."""
    key = (*_visit(asked), place)
    if window.start > 0:
        st.button("Show earlier text", key="earlier", type="tertiary",
                  on_click=_widen, args=(key, reader.WINDOW, 0))  # fmt: skip
    here = (chunk.chunk.start, chunk.chunk.end) if chunk else None
    part = detail.text[window.start : window.end]
    found = [(start + window.start, end + window.start) for start, end in _found(part, asked.find)]
    st.html(reader.body(detail.text, window, here, detail.sections, found, detail.record.markup))
    if window.end < len(detail.text):
        st.button("Show more text", key="later", type="tertiary",
                  on_click=_widen, args=(key, 0, reader.WINDOW))  # fmt: skip
    section = next((one.index for one in detail.sections if one.start == place), None)
    jumped = st.session_state.get(_AT, (None,))[0] == _visit(asked)
    if jumped and section is not None:
        browser.scroll_to("scroll", f"#rk-section-{section}", f"{key}-section")
    elif here:
        browser.scroll_to("scroll", "#rk-here", str(key))


def _found(part: str, find: str) -> tuple[tuple[int, int], ...]:
    """Where the words that were searched for stand in a text."""
    if not find:
        return ()
    try:
        asked = parse_query(find).text
    except RagkitError:
        asked = find
    return highlight(part, tokenize(asked))


def _widen(key: tuple[int, int | None, int], before: int, after: int) -> None:
    wider = st.session_state.setdefault(_WIDER, {})
    old = wider.get(key, (0, 0))
    wider[key] = (old[0] + before, old[1] + after)


# -- pages of a PDF ------------------------------------------------------------------------------


def pages(
    detail: DocumentDetail, asked: Asked, chunk: ChunkRecord | None, place: int, file: Path
) -> None:
    """The real page as a picture, with the passage marked on it."""
    record = detail.record
    first = _first_page(detail, asked, chunk, place)
    if first is None:
        return
    turned = st.session_state.get(_PAGE)
    key = (*_visit(asked), place)
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
    detail: DocumentDetail, asked: Asked, chunk: ChunkRecord | None, place: int
) -> Page | None:
    """The page of the place; of a passage on several pages, that with most of what was asked."""
    first = reader.page_of(detail.record.pages, place)
    if chunk is None or chunk.chunk.start != place:
        return first
    spread = [
        page
        for page in detail.record.pages
        if page.start < chunk.chunk.end and page.end > chunk.chunk.start
    ]
    found = [len(_found(_on_page(detail, chunk, page), asked.find)) for page in spread]
    return spread[found.index(max(found))] if spread else first


def _on_page(detail: DocumentDetail, chunk: ChunkRecord | None, page: Page) -> str:
    """The part of the chunk that stands on a page."""
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
def chunks(library: Library, detail: DocumentDetail, asked: Asked, place: int) -> None:
    """The chunks around the place with their contexts, which may change while they are seen."""
    starts = [one.chunk.start for one in detail.chunks]
    near = sum(1 for start in starts if start <= place) - 1
    first = max(0, min(near - _MOST_CHUNKS // 2, len(starts) - _MOST_CHUNKS))
    shown = detail.chunks[first : first + _MOST_CHUNKS]
    if not shown:
        st.html('<p class="rk-soft">Nothing of this document is indexed.</p>')
        return
    total = len(detail.chunks)
    contexts = library.contexts.of_document(asked.id)
    said, to_come = context_desk.outcome(library, asked.id)
    with st.container(horizontal=True, vertical_alignment="center", key="chunks-head"):
        st.html(
            f'<p class="rk-soft">Chunks {first + 1}–{first + len(shown)} of {total}</p>',
            width="content",
        )
        st.button(
            "Write all again", key="write-all-again", type="tertiary",
            on_click=context_desk.write_again, args=(library, asked.id),
            help="Have a model write every context of this document anew. Yours stay.",
        )  # fmt: skip
    items = reader.chunk_list(shown, detail.text, asked.id, asked.chunk, asked.find, contexts)
    st.html(said + items)
    waiting = any(one.status is ContextStatus.PENDING for one in contexts.values())
    browser.pulse("chunks-pulse", 1 if to_come or waiting else 5)


def act(library: Library, values: Mapping[str, str]) -> None:
    """Do what a link or button of the page asks for."""
    verb = values.get("rk", "")
    asked = from_address()
    if context_desk.act(library, values, asked.id if asked else None):
        return
    if verb == "open" and asked is not None:
        st.session_state.pop(_AT, None)
        st.query_params["chunk"] = values["chunk"]
    elif verb in ("at", "anchor") and asked is not None:
        st.session_state[_AT] = (_visit(asked), int(values["offset"]))
    elif verb == "back":
        st.session_state[state.QUESTION] = values["q"]
        state.go("pages/search.py", q=values["q"])
    elif verb == "launch":
        try:
            record = library.documents.get(int(values["id"])).record
            programs.open_file(Path(record.root, record.path))
        except RagkitError as error:
            st.toast(str(error))


draw()
