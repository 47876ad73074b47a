"""Document: one document as it is indexed, scrolled to the requested passage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from pages.parts.common import browser, frame, markup, open_in_os
from pages.parts.common.markup import action, name, plural
from pages.parts.document import context_dialog, pdf_view, reader
from pages.parts.library import source_tables as tables
from pages.parts.rendering.pictures import pictures_of
from ragkit.catalog.records import ChunkRecord, ContextStatus
from ragkit.errors import RagkitError
from ragkit.library import DocumentDetail, Library
from ragkit.retrieval.highlight import highlight_question
from ragkit.types import Status

_AT, _WIDER = "document_at", "document_wider"
_MOST_CHUNKS = 40


@dataclass(frozen=True, slots=True)
class Request:
    """What the address names. ``chunk`` counts from 0."""

    id: int
    chunk: int | None
    find: str

    @property
    def visit(self) -> tuple[int, int | None]:
        """The document and chunk, by which what the person moved to since is kept."""
        return self.id, self.chunk


def draw() -> None:
    """Draw the whole page."""
    library = frame.begin()
    browser.listen(lambda values: act(library, values))
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
    chunk = next((one for one in detail.chunks if one.chunk.index == request.chunk), None)
    at = st.session_state.get(_AT)
    place = at[1] if at and at[0] == request.visit else (chunk.chunk.start if chunk else 0)
    file = Path(record.root, record.path)
    is_pdf = record.format == "pdf" and bool(record.pages)
    view, with_chunks = head(detail, request, file, is_pdf)
    window = _window(detail, request, place)
    left, middle, *right = st.columns([3, 8, 4] if with_chunks else [3, 11], gap="medium")
    with left, st.container(key="outline"):
        st.html(reader.outline(detail.sections, record.id, place, window, request.find))
        similar = library.documents.similar(request.id)
        st.html(reader.also_see([(match.record, match.score) for match in similar]))
    with middle, st.container(key="reading"):
        if view == "Pages":
            pdf_view.draw(pdf_view.Shown(detail, file, chunk, place, request.find, request.visit))
        elif detail.text:
            words(detail, request, chunk, window, place, rendered=view != "Source")
        else:
            st.html(markup.state("No text", record.reason or "This document has no text."))
    for column in right:
        with column, st.container(key="chunks"):
            chunks(library, detail, request, place)


def head(detail: DocumentDetail, request: Request, file: Path, is_pdf: bool) -> tuple[str, bool]:
    """Draw title, path, notices and controls; return the view and whether to show chunks."""
    record = detail.record
    facts = [name(record.path), record.format.upper(), plural(record.chunks, "chunk")]
    if record.pages:
        facts.append(plural(len(record.pages), "page"))
    facts.append(markup.size(record.size))
    if record.date:
        facts.append(name(record.date[:10]))
    notes = [*record.warnings]
    if record.reason or record.status is not Status.INDEXED:
        notes.insert(0, record.reason or tables.STATUS_WORDS[record.status])
    missing = not file.is_file()
    if missing:
        notes.insert(0, "The file is no longer where it was. This is the text as last indexed.")
    buttons = [action("copy-path", "Copy path", data_text=str(file))]
    opens = "" if missing else open_in_os.label_for(str(file))
    if opens:
        buttons.append(action("launch", opens, data_id=record.id))
    if request.find:
        buttons.insert(0, markup.back_link(request.find))
    st.html(
        f'<header class="rk-doc-head"><h1><bdi>{name(record.title or record.path)}</bdi></h1>'
        f'<p class="rk-soft">{" · ".join(facts)}</p>{markup.notices(notes)}'
        f'<div class="rk-foot">{"".join(buttons)}</div></header>'
    )
    with st.container(horizontal=True, vertical_alignment="center", key="document-controls"):
        views = ["Pages", "Text"] if is_pdf else ["Rendered", "Source"]
        view = st.segmented_control(
            "View", views, default=views[0], required=True,
            label_visibility="collapsed", key=f"view-{record.id}",
        )  # fmt: skip
        with_chunks = st.toggle(
            "Show chunks and contexts", key="with_chunks", persist_state="session",
            help="The chunks that are indexed, each with its context.",
        )  # fmt: skip
    return view or views[0], with_chunks


def _window(detail: DocumentDetail, request: Request, place: int) -> reader.Window:
    """Return the part of the text to show; wider once the person asked for more."""
    length = len(detail.text)
    window = reader.window_around(place, length)
    before, after = st.session_state.get(_WIDER, {}).get((*request.visit, place), (0, 0))
    wider = reader.Window(max(0, window.start - before), min(length, window.end + after))
    return reader.snapped(detail.text, wider, detail.sections)


def words(
    detail: DocumentDetail,
    request: Request,
    chunk: ChunkRecord | None,
    window: reader.Window,
    place: int,
    *,
    rendered: bool,
) -> None:
    """Draw a window of the stored text, rendered or as it is written."""
    key = (*request.visit, place)
    if window.start > 0:
        st.button("Show earlier text", key="earlier", type="tertiary",
                  on_click=_widen, args=(key, reader.WINDOW, 0))  # fmt: skip
    passage = (chunk.chunk.start, chunk.chunk.end) if chunk else None
    part = detail.text[window.start : window.end]
    spans = [
        (start + window.start, end + window.start)
        for start, end in highlight_question(part, request.find)
    ]
    picture = pictures_of(Path(detail.record.root), detail.record.path)
    st.html(reader.body(detail, window, passage, spans, rendered=rendered, picture=picture))
    if window.end < len(detail.text):
        st.button("Show more text", key="later", type="tertiary",
                  on_click=_widen, args=(key, 0, reader.WINDOW))  # fmt: skip
    if spans:
        with st.container(key="matches"):
            st.html(reader.match_bar(len(spans)))
            browser.match_keys("match-keys")
    section = next((item.index for item in detail.sections if item.start == place), None)
    jumped = st.session_state.get(_AT, (None,))[0] == request.visit
    if jumped and section is not None:
        browser.scroll_to("scroll", f"#rk-section-{section}", f"{key}-section")
    elif passage:
        browser.scroll_to("scroll", "#rk-here", str(key))


def _widen(key: tuple[int, int | None, int], before: int, after: int) -> None:
    wider = st.session_state.setdefault(_WIDER, {})
    old = wider.get(key, (0, 0))
    wider[key] = (old[0] + before, old[1] + after)


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
            "Regenerate all", key="write-all-again", type="tertiary",
            on_click=context_dialog.write_again, args=(library, request.id),
            help="Have a model rewrite every context of this document, except those you edited.",
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
        st.session_state[_AT] = (request.visit, int(values["offset"]))
    elif verb == "launch":
        open_in_os.launch(library, int(values["id"]))


draw()
