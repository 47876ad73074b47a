"""Library: collections, the folders that are read, a place to drop files, and every document."""

from __future__ import annotations

import time
from collections.abc import Mapping

import streamlit as st

from pages.parts.common import browser, dialog, frame, markup, state
from pages.parts.library import (
    collection_dialogs,
    dialogs,
    drop_zone,
    embedder_choice,
    upload_tray,
)
from pages.parts.library import source_tables as tables
from ragkit.catalog.records import Counts, DocumentRecord, SourceRecord
from ragkit.formatting import plural
from ragkit.library import Library
from ragkit.types import Status

_SEEN, _WHOLE = "library_seen", "library_whole"
# The tables follow while documents are indexed, though not at each of them.
_REDRAW_SECONDS = 5.0


def draw() -> None:
    """Draw the whole page."""
    library = frame.begin()
    browser.listen(lambda values: act(library, values))
    with st.container(key="page-wide"):
        collection = collection_dialogs.choose(library)
        if library.collections.leaving():
            collection_dialogs.leaving(library)
        left, right = st.columns([4, 9], gap="large")
        with left, st.container(key="sources"):
            sources(library, collection)
            embedder_choice.draw(library)
        with right, st.container(key="documents"):
            drop_zone.draw(library, collection)
            st.session_state[_WHOLE] = True
            # A container of its own: a part that reruns alone must not move the others.
            with st.container(key="news"):
                live(library, collection)
            documents(library, collection)
    dialogs.draw(library, collection)
    collection_dialogs.draw(library)
    embedder_choice.draw_dialog(library)


def act(library: Library, values: Mapping[str, str]) -> None:
    """Handle a click on a link or button in the table or among the uploads."""
    number = int(values.get("id", "0"))
    if values.get("rk") == "open":
        state.go("pages/document.py", id=number)
    elif values.get("rk") == "reindex":
        library.documents.retry([number])
    elif values.get("rk") == "remove":
        dialog.ask("documents", [number])


# -- sources -----------------------------------------------------------------------------------


def sources(library: Library, collection: str) -> None:
    """Draw the folders that are read, and a form to add one."""
    st.html("<h2>Folders</h2>")
    with st.form("add-folder", border=False, clear_on_submit=False):
        st.text_input(
            "Folder",
            key=dialogs.BOX,
            label_visibility="collapsed",
            placeholder="/home/you/Documents",
            help="ragkit reads the folder and follows its changes. It never changes a file in it.",
        )
        with st.container(horizontal=True):
            st.form_submit_button(
                "Add folder", type="primary", on_click=dialogs.add_typed, args=(library, collection)
            )
            st.form_submit_button("Browse …", on_click=dialogs.browse, args=(library,))
    dialogs.draw_refusal(library, collection)
    folders = library.sources.list(collection)
    for source in folders:
        with st.container(key=f"source-{source.id}"):
            st.html(tables.source_html(source, library.sources.elsewhere(source)))
            if source.state == "held":
                st.button(
                    "Remove them", key=f"gone-{source.id}",
                    on_click=_sync, args=(library, source), kwargs={"accept_removals": True},
                    help="Removes the documents whose files are gone.",
                )  # fmt: skip
            with st.container(horizontal=True, gap="small"):
                st.button(
                    "Check now", key=f"sync-{source.id}", type="tertiary",
                    on_click=_sync, args=(library, source),
                    help="Looks for new, changed and removed files.",
                )  # fmt: skip
                st.button(
                    "Re-index", key=f"reread-{source.id}", type="tertiary",
                    on_click=_sync, args=(library, source), kwargs={"reread": True},
                    help="Reads every file again. Documents can be searched meanwhile.",
                )  # fmt: skip
                st.button(
                    "Remove …",
                    key=f"remove-{source.id}",
                    type="tertiary",
                    on_click=dialog.ask,
                    args=("source", source.id),
                )


def _sync(
    library: Library, source: SourceRecord, reread: bool = False, accept_removals: bool = False
) -> None:
    library.sources.sync(source, reread=reread, accept_removals=accept_removals)


# -- progress --------------------------------------------------------------------------------


@st.fragment
def live(library: Library, collection: str) -> None:
    """Draw the progress and the outcome of each dropped file, updated while the tab is visible."""
    now = library.jobs.progress()
    folders = library.sources.list(collection)
    states = [(folder.id, folder.state, folder.reason) for folder in folders]
    seen = (collection, library.documents.counts(collection), states, now is None)
    before, drawn_at = st.session_state.get(_SEEN, (None, 0.0))
    whole = st.session_state.pop(_WHOLE, False)
    with st.container(horizontal=True, vertical_alignment="center", key="live"):
        if now is None:
            checked = max((folder.scanned_at or 0.0 for folder in folders), default=0)
            recognised = library.jobs.recognition().sentence
            st.html(tables.last_line(library.jobs.last(collection), checked or None, recognised))
        else:
            job, progress = now
            waiting = len(library.jobs.open())
            st.html(tables.progress_line(job, progress, waiting))
            st.button(
                "Cancel", key="cancel-job", type="tertiary",
                on_click=frame.click(library.jobs.cancel), args=(job.id,),
            )  # fmt: skip
    upload_tray.draw(library, collection)
    browser.pulse("live-pulse", 1 if now else 3)
    if whole:
        st.session_state[_SEEN] = (seen, time.monotonic())
        return
    settled = now is None or time.monotonic() - drawn_at >= _REDRAW_SECONDS
    if (seen != before and settled) or drop_zone.is_due():
        # The tables have changed, or an uploader can be dropped: draw the page again.
        dialog.rerun_page()


# -- documents -----------------------------------------------------------------------------------


def documents(library: Library, collection: str) -> None:
    """Draw the table of documents with their actions."""
    counts = library.documents.counts(collection)
    if not counts.documents:
        now = library.jobs.progress()
        is_reading = now is not None and library.jobs.is_about(now[0], collection)
        st.html(
            markup.state("Reading …", "The first documents appear here in a moment.")
            if is_reading
            else markup.state("No documents yet", "Add a folder or drop files.")
        )
        return
    status, containing = _table_filters(counts)
    total = counts.documents if status is None else getattr(counts, status.value)
    # Of those that match a name, only the first are listed.
    part = state.page_of(0 if containing else total, tables.PAGE, collection_dialogs.TABLE_PAGE)
    records = library.documents.list(
        collection,
        status=status,
        containing=containing,
        limit=tables.PAGE,
        offset=part.start,
    )
    uploads = {s.id for s in library.sources.list(collection) if s.kind == "uploads"}
    st.html(tables.documents_table(records, uploads))
    if len(records) == tables.PAGE and containing:
        st.caption(f"The first {tables.PAGE} are shown. Type more of the name.")
    _about_all(library, collection, records if status or containing else [], uploads)


def _table_filters(counts: Counts) -> tuple[Status | None, str]:
    choices = tables.status_choices(counts)
    with st.container(horizontal=True, vertical_alignment="center", key="table-filters"):
        picked: str | None = state.EVERY_STATUS
        if st.session_state.get(collection_dialogs.STATUS) not in choices:
            st.session_state[collection_dialogs.STATUS] = state.EVERY_STATUS
        if len(choices) > 2:
            picked = st.segmented_control(
                "Status",
                list(choices),
                format_func=choices.__getitem__,
                required=True,
                label_visibility="collapsed",
                key=collection_dialogs.STATUS,
                on_change=collection_dialogs.first_page,
            )
        containing = st.text_input(
            "Filter by name",
            key="table_text",
            placeholder="Filter by name",
            label_visibility="collapsed",
            type="search",
            width=220,
        )
    status = Status(picked) if picked and picked != state.EVERY_STATUS else None
    return status, (containing or "").strip()


def _about_all(
    library: Library, collection: str, shown: list[DocumentRecord], uploads: set[int]
) -> None:
    """Draw the actions on all documents shown, and on all that failed."""
    failed = [] if shown else [record.id for record in library.documents.failed(collection)]
    removable = [record.id for record in shown if record.source_id in uploads]
    with st.container(horizontal=True, key="about-all"):
        if failed:
            st.button(f"Re-index {plural(len(failed), 'failed file')}", key="retry-failed",
                      on_click=frame.click(library.documents.retry), args=(failed,))  # fmt: skip
        if shown:
            st.button(f"Re-index these {len(shown)}", key="retry-shown", type="tertiary",
                      on_click=frame.click(library.documents.retry),
                      args=([record.id for record in shown],))  # fmt: skip
        if removable:
            st.button(f"Remove {plural(len(removable), 'upload')} …", key="remove-shown",
                      type="tertiary", on_click=dialog.ask,
                      args=("documents", removable))  # fmt: skip


draw()
