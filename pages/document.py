"""Document: one document as it is indexed, scrolled to the requested passage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from pages.parts.common import browser, frame, markup, open_in_os, state
from pages.parts.common.markup import action, name
from pages.parts.document import cited, context_dialog, outcomes, pdf_view, reader, sheet_tabs
from pages.parts.library import source_tables as tables
from pages.parts.rendering.pictures import pictures_of
from ragkit.catalog.context_records import ContextStatus
from ragkit.catalog.records import ChunkRecord
from ragkit.errors import RagkitError
from ragkit.formatting import byte_size, page_word, plural
from ragkit.library import DocumentDetail, Library
from ragkit.retrieval.highlight import highlight_question
from ragkit.surfaces.addresses import span_of
from ragkit.types import Page, Status

_WIDER = "document_wider"
_MOST_CHUNKS = 40


@dataclass(frozen=True, slots=True)
class Request:
    """The parameters of the address. ``chunk`` counts from 0; ``at`` is the offset of a heading.

    ``span`` is the one sentence to mark, and ``said`` its fingerprint (``addresses.mark_of``).
    """

    id: int
    chunk: int | None
    find: str
    at: int | None
    sheet: str
    span: cited.Span | None
    said: str

    @property
    def visit(self) -> tuple[int, int | None]:
        """The document and chunk: the key under which the session keeps how much text is shown."""
        return self.id, self.chunk


@dataclass(frozen=True, slots=True)
class Shown:
    """The part of a document to show: the requested ``place`` and the text around it.

    The ``window`` lies within the ``whole``, which is the text or one sheet of it. The
    ``sentence``, if there is one, is the only thing that is marked. ``forms`` are other forms of
    the words that are marked.
    """

    chunk: ChunkRecord | None
    sentence: cited.Span | None
    place: int
    whole: reader.Window
    window: reader.Window
    forms: Mapping[str, str]


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
            if request.find:
                st.html(markup.back_link(request.find))
            else:
                st.page_link("pages/search.py", label="Search")
            return
        show(library, detail, request)
        context_dialog.draw(library, request.id)


def from_address() -> Request | None:
    """Read ``?id=12&chunk=3&find=words&at=900`` or ``?id=12&span=900-960``.

    ``None`` when no document is named.
    """
    values = st.query_params
    if not values.get("id", "").isdecimal():
        return None
    chunk, at = values.get("chunk", ""), values.get("at", "")
    return Request(
        int(values["id"]),
        int(chunk) - 1 if chunk.isdecimal() and int(chunk) > 0 else None,
        values.get("find", "")[:300],
        int(at) if at.isdecimal() else None,
        values.get("sheet", ""),
        span_of(values.get("span", "")),
        values.get("said", ""),
    )


def show(library: Library, detail: DocumentDetail, request: Request) -> None:
    """Draw head, outline, similar documents, text or page, and chunks."""
    record, chunk = detail.record, _chunk(detail, request)
    sentence, notice = cited.find(detail.text, record.format, request.span, request.said)
    sheets = sheet_tabs.sheets_of(record)
    forms = library.engine.word_forms(request.find, record.collection) if request.find else {}
    counts = sheet_tabs.count_matches(sheets, detail.text, request.find, forms)
    if sentence is not None:
        place = sentence[0]
    elif request.at is not None:
        place = min(request.at, len(detail.text))
    else:
        place, end = (chunk.chunk.start, chunk.chunk.end) if chunk else (0, len(detail.text))
        if sheets:
            place = sheet_tabs.place_in(sheets, counts, request.sheet, place, end)
    sheet = next((each for each in reversed(sheets) if each.start <= place), None)
    file = Path(record.root, record.path)
    is_pdf = record.format == "pdf" and bool(record.pages) and not detail.elsewhere
    head(detail, request, file, notice)
    if not detail.text and not is_pdf:
        return
    rendered, with_chunks = controls(is_pdf)
    as_pages = is_pdf and rendered
    shown = _shown(detail, request, sentence, place, sheet, forms)
    left, middle, *right = st.columns([3, 8, 4] if with_chunks else [3, 11], gap="medium")
    with left, st.container(key="outline"):
        # The pages of a PDF have no places to scroll to.
        near = reader.Window(0, 0) if as_pages else shown.window
        entries = (detail.sections, record.id, place, near, request.find, request.chunk)
        outline = reader.outline(*entries) if sheet is None else ""
        for part in (outline, reader.also_see(library.documents.similar(request.id))):
            if part:
                st.html(part)
    with middle, st.container(key="reading"):
        if sheet is not None:
            st.html(sheet_tabs.tabs(sheets, counts, sheet, record.id, request.find))
        decided(library, request, with_chunks)
        if as_pages:
            pdf_view.draw(pdf_view.Shown(detail, file, chunk, place, request.find, sentence, forms))
        else:
            words(library, detail, request, shown, rendered=rendered)
    for column in right:
        with column, st.container(key="chunks"):
            chunks(library, detail, request, place)


def head(detail: DocumentDetail, request: Request, file: Path, notice: str) -> None:
    """Draw title, path and notices."""
    record = detail.record
    # Outlook's mails are read as others are.
    kind = "msg" if record.path.casefold().endswith(".msg") else record.format
    facts = [name(record.path), *filter(None, [kind.upper()])]
    facts.append(plural(record.chunks, "chunk"))
    if record.pages:
        facts.append(plural(len(record.pages), page_word(record.format)))
    facts.append(byte_size(record.size))
    if record.date:
        facts.append(name(record.date[:10]))
    notes = [*filter(None, [notice]), *record.warnings]
    if record.reason or record.status is not Status.INDEXED:
        notes.insert(0, record.reason or tables.STATUS_WORDS[record.status])
    missing = bool(detail.elsewhere) or not file.is_file()
    if detail.elsewhere:
        notes.insert(0, f"The file is on {detail.elsewhere}. This is its text as indexed there.")
    elif missing:
        notes.insert(0, "The file is no longer where it was. This is the text as last indexed.")
    buttons = [action("copy-path", "Copy path", data_text=str(file))]
    opens = "" if missing else open_in_os.label_for(str(file))
    if opens:
        buttons.append(action("launch", opens, data_id=record.id))
    if request.find:
        buttons.insert(0, markup.back_link(request.find))
    st.html(
        f'<header class="rk-doc-head"><h1><bdi>{name(record.title or record.path)}</bdi></h1>'
        f'<div class="rk-doc-facts"><p class="rk-soft">{" · ".join(facts)}</p>'
        f'<div class="rk-foot">{"".join(buttons)}</div></div>{markup.notices(notes)}</header>'
    )


def controls(is_pdf: bool) -> tuple[bool, bool]:
    """Draw what changes the view; return whether to render, and to show chunks."""
    with st.container(horizontal=True, vertical_alignment="center", key="document-controls"):
        labels = ("Pages", "Text") if is_pdf else ("Rendered", "Source")
        views = dict(zip((state.RENDERED, state.AS_TEXT), labels, strict=True))
        state.start(document_view=state.RENDERED)
        view = st.segmented_control(
            "View", list(views), format_func=views.__getitem__, required=True,
            label_visibility="collapsed", key="document_view",
        )  # fmt: skip
        with_chunks = st.toggle(
            "Show chunks and contexts", key="with_chunks", persist_state="session",
            help="The chunks that are indexed, each with its context.",
        )  # fmt: skip
    return view != state.AS_TEXT, with_chunks


def _shown(
    detail: DocumentDetail,
    request: Request,
    sentence: cited.Span | None,
    place: int,
    sheet: Page | None,
    forms: Mapping[str, str],
) -> Shown:
    """Choose the part of the text or sheet to show; more of it once the person asked for more."""
    text, chunk = detail.text, _chunk(detail, request)
    whole = reader.Window(sheet.start, sheet.end) if sheet else reader.Window(0, len(text))
    steps = st.session_state.get(_WIDER, {}).get((*request.visit, place), (0, 0))
    window = reader.window_around(place, whole, *steps)
    window = reader.snapped(text[: whole.end], window, detail.sections)
    window = reader.with_fewer_rows(text, window, place, *steps)
    return Shown(chunk, sentence, place, whole, window, forms)


def _chunk(detail: DocumentDetail, request: Request) -> ChunkRecord | None:
    return next((record for record in detail.chunks if record.chunk.index == request.chunk), None)


def words(
    library: Library, detail: DocumentDetail, request: Request, shown: Shown, *, rendered: bool
) -> None:
    """Draw a window of the stored text, rendered or as it is written."""
    window, chunk = shown.window, shown.chunk
    key = (*request.visit, shown.place)
    if window.start > shown.whole.start:
        st.button("Show earlier text", key="earlier", type="tertiary",
                  on_click=_widen, args=(key, 1, 0))  # fmt: skip
    passage = (chunk.chunk.start, chunk.chunk.end) if chunk else None
    spans = []
    if shown.sentence is None:
        part = detail.text[window.start : window.end]
        spans = [
            (start + window.start, end + window.start)
            for start, end in highlight_question(part, request.find, shown.forms)
        ]
    picture = pictures_of(Path(detail.record.root), detail.record.path, here=not detail.elsewhere)
    links = library.documents.links(detail.record.id, detail.record.path)
    body = reader.body(
        detail, window, shown.sentence or passage, spans, rendered=rendered, picture=picture,
        links=links,
    )  # fmt: skip
    st.html(f'<div class="rk-cited">{body}</div>' if shown.sentence else body)
    if detail.text[window.end : shown.whole.end].strip():
        st.button("Show more text", key="later", type="tertiary",
                  on_click=_widen, args=(key, 0, 1))  # fmt: skip
    if spans:
        with st.container(key="matches"):
            st.html(reader.match_bar(len(spans)))
            browser.match_keys()
    section = next((each.index for each in detail.sections if each.start == shown.place), None)
    if request.at is not None and section is not None:
        browser.scroll_to("scroll", f"#rk-section-{section}", f"{key}-section")
    elif passage or shown.sentence:
        browser.scroll_to("scroll", "#rk-here", str(key))


def _widen(key: tuple[int, int | None, int], before: int, after: int) -> None:
    wider = st.session_state.setdefault(_WIDER, {})
    old = wider.get(key, (0, 0))
    wider[key] = (old[0] + before, old[1] + after)


@st.fragment
def decided(library: Library, request: Request, changing: bool) -> None:
    """Draw the decisions and actions; keep them up to date while contexts can be edited."""
    document_outcomes = library.contexts.outcomes(request.id)
    if document_outcomes:
        st.html(outcomes.outcomes(document_outcomes, request.id, request.find))
    if changing:
        browser.pulse("outcomes-pulse", 5)


# -- chunks and actions --------------------------------------------------------------------------


@st.fragment
def chunks(library: Library, detail: DocumentDetail, request: Request, place: int) -> None:
    """Draw the chunks around the place with their contexts, which may change meanwhile."""
    starts = [record.chunk.start for record in detail.chunks]
    before = sum(1 for start in starts if start <= place) - 1
    first = max(0, min(before - _MOST_CHUNKS // 2, len(starts) - _MOST_CHUNKS))
    near_by = detail.chunks[first : first + _MOST_CHUNKS]
    if not near_by:
        st.html('<p class="rk-soft">Nothing of this document is indexed.</p>')
        return
    total = len(detail.chunks)
    contexts = library.contexts.of_document(request.id)
    outcome, is_pending = context_dialog.outcome(library, request.id)
    with st.container(horizontal=True, vertical_alignment="center", key="chunks-head"):
        st.html(
            f'<p class="rk-soft">Chunks {first + 1}–{first + len(near_by)} of {total}</p>',
            width="content",
        )
        st.button(
            "Regenerate all", key="write-all-again", type="tertiary",
            on_click=context_dialog.write_again, args=(library, request.id),
            help="Have a model rewrite every context of this document, except those you edited.",
        )  # fmt: skip
    items = reader.chunk_list(
        near_by, detail.text, request.id, request.chunk, request.find, contexts,
        detail.record.format,
    )  # fmt: skip
    about = reader.about_contexts(
        library.contexts.cost(request.id), library.contexts.summary(request.id)
    )
    st.html(outcome + about + items)
    waiting = any(context.status is ContextStatus.PENDING for context in contexts.values())
    browser.pulse("chunks-pulse", 1 if is_pending or waiting else 5)


def act(library: Library, values: Mapping[str, str]) -> None:
    """Handle a click on a link or button of the page."""
    verb = values.get("rk", "")
    request = from_address()
    if context_dialog.act(library, values, request.id if request else None):
        return
    if verb == "launch":
        open_in_os.launch(library, int(values["id"]))


draw()
