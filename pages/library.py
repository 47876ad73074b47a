"""Library: the folders that are read, the status of each file, and a place to drop more."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from pages.parts.common import browser, frame, markup, state
from pages.parts.common.markup import plural
from pages.parts.library import dialogs, drop_zone, embedder_choice
from pages.parts.library import source_tables as tables
from ragkit.catalog.records import Counts, DocumentRecord
from ragkit.library import Library
from ragkit.types import Status

_PAGE = 200
_SEEN, _WHOLE = "library_seen", "library_whole"


def draw() -> None:
    """Draw the whole page."""
    library = frame.begin()
    with st.container(key="page-wide"):
        collection = choose_collection(library)
        left, right = st.columns([4, 9], gap="large")
        with left, st.container(key="sources"):
            sources(library, collection)
            embedder_choice.draw(library)
        with right, st.container(key="documents"):
            drop_zone.draw(library, collection)
            documents(library, collection)
            # Last, and moved up by the theme: a part that reruns alone must not move the others.
            st.session_state[_WHOLE] = True
            live(library)
    dialogs.draw(library, collection)
    embedder_choice.draw_dialog(library)


# -- the collection --------------------------------------------------------------------------------


def choose_collection(library: Library) -> str:
    """Return the chosen collection; typing a new name creates one."""
    names = [collection.name for collection in library.collections.list()]
    active = st.session_state.get(state.ACTIVE, library.settings.collection)
    choices = sorted({*names, active})
    with st.container(horizontal=True, vertical_alignment="center", key="library-head"):
        st.html("<h1>Library</h1>", width="content")
        chosen = st.selectbox(
            "Collection",
            choices,
            index=choices.index(active),
            accept_new_options=True,
            width=240,
            label_visibility="collapsed",
            help="A collection is searched on its own. Type a name to make a new one.",
            key="library_collection",
        )
    chosen = (chosen or active).strip()[:80] or active
    if chosen != st.session_state.get(state.ACTIVE):
        st.session_state[state.ACTIVE] = chosen
        st.session_state.pop(state.COLLECTION, None)
    return chosen


# -- sources -----------------------------------------------------------------------------------


def sources(library: Library, collection: str) -> None:
    """Draw the folders that are read, and a form to add one."""
    st.html("<h2>Folders</h2>")
    with st.form("add-folder", border=False, clear_on_submit=False):
        path = st.text_input(
            "Folder",
            key="folder_path",
            label_visibility="collapsed",
            placeholder="/home/you/Documents",
            help="ragkit reads it, keeps up with it, and never changes anything in it.",
        )
        with st.container(horizontal=True):
            add = st.form_submit_button("Add folder", type="primary")
            st.form_submit_button("Browse …", on_click=dialogs.ask, args=("folder",))
    if add:
        dialogs.add_folder(library, collection, path)
    folders = library.sources.list(collection)
    if not folders:
        st.html('<p class="rk-soft">No folder yet. Add one above, or drop files at the right.</p>')
    for source in folders:
        with st.container(key=f"source-{source.id}"):
            st.html(tables.source_html(source))
            with st.container(horizontal=True, gap="small"):
                if st.button("Sync now", key=f"sync-{source.id}", type="tertiary"):
                    library.sources.sync(source)
                    st.rerun()
                st.button(
                    "Remove …",
                    key=f"remove-{source.id}",
                    type="tertiary",
                    on_click=dialogs.ask,
                    args=("source", source.id),
                )


# -- progress --------------------------------------------------------------------------------


@st.fragment
def live(library: Library) -> None:
    """Draw the progress of reading, updated only while visible."""
    now = library.jobs.progress()
    counts = library.documents.counts()
    seen = (counts, now is None)
    changed = st.session_state.get(_SEEN) != seen
    st.session_state[_SEEN] = seen
    whole = st.session_state.pop(_WHOLE, False)
    with st.container(horizontal=True, vertical_alignment="center", key="live"):
        if now is None:
            recent = library.jobs.recent(1)
            st.html(tables.last_line(recent[0] if recent else None))
        else:
            job, progress = now
            waiting = len(library.jobs.open())
            st.html(tables.progress_line(job, progress, waiting))
            st.button(
                "Cancel", key="cancel-job", type="tertiary",
                on_click=library.jobs.cancel, args=(job.id,),
            )  # fmt: skip
    browser.pulse("live-pulse", 1 if now else 3)
    if (changed or drop_zone.is_due()) and not whole:
        # The tables have changed, or an uploader can be dropped: draw the page again.
        st.rerun(scope="app")


# -- documents -----------------------------------------------------------------------------------


def documents(library: Library, collection: str) -> None:
    """Draw the table of documents with their actions."""
    counts = library.documents.counts(collection)
    if not counts.documents:
        working = library.jobs.progress() is not None
        st.html(
            markup.state(
                "No documents yet" if not working else "Reading …",
                "Add a folder at the left, or drop files above."
                if not working
                else "The first documents appear here in a moment.",
            )
        )
        return
    status, containing = _table_filters(counts)
    total = _total(counts, status)
    page = 1
    if total > _PAGE and not containing:
        page = st.pagination(-(-total // _PAGE), key=f"page-{collection}-{status}")
    records = library.documents.list(
        collection,
        status=status,
        containing=containing,
        limit=_PAGE,
        offset=(page - 1) * _PAGE,
    )
    chosen = _table(records, f"{collection}-{status}-{containing}-{page}")
    _about(library, chosen)
    failed = counts.failed
    if failed and st.button(f"Read {plural(failed, 'failed file')} again", key="retry-failed"):
        again = library.documents.list(collection, status=Status.FAILED)
        library.documents.retry([record.id for record in again])
        st.rerun()


def _table_filters(counts: Counts) -> tuple[Status | None, str]:
    choices = tables.status_choices(counts)
    with st.container(horizontal=True, vertical_alignment="center", key="table-filters"):
        labels = list(choices)
        picked: str | None = labels[0]
        if len(labels) > 2:
            picked = st.segmented_control(
                "Status",
                labels,
                default=labels[0],
                label_visibility="collapsed",
                key=f"status-{'|'.join(labels)}",
            )
        containing = st.text_input(
            "Find a document",
            key="table_text",
            placeholder="Part of a name",
            label_visibility="collapsed",
            type="search",
            width=220,
        )
    return choices.get(picked or labels[0]), (containing or "").strip()


def _total(counts: Counts, status: Status | None) -> int:
    if status is None:
        return counts.documents
    return int(getattr(counts, status.value))


def _table(records: list[DocumentRecord], key: str) -> list[DocumentRecord]:
    """Draw the table; return the selected documents."""
    frame = pd.DataFrame(
        tables.rows(records),
        columns=["Document", "Status", "Reason", "Chunks", "Size", "Changed"],
    )
    frame["Changed"] = pd.to_datetime(frame["Changed"], unit="s")
    if not frame["Reason"].any():
        frame = frame.drop(columns="Reason")
    event = st.dataframe(
        frame,
        hide_index=True,
        key=f"documents-{key}",
        on_select="rerun",
        selection_mode="multi-row",
        height=min(560, 38 + 35 * max(1, len(records))),
        column_config={
            "Document": st.column_config.TextColumn(width=230),
            "Status": st.column_config.TextColumn(width=70),
            "Reason": st.column_config.TextColumn(width=215),
            "Chunks": st.column_config.NumberColumn(width=62),
            "Size": st.column_config.TextColumn(width=68),
            "Changed": st.column_config.DatetimeColumn(format="YYYY-MM-DD", width=95),
        },
        alt="Documents with their status, reason, chunks, size and change",
    )
    selected: Mapping[str, list[int]] = event.get("selection", {})
    return [records[row] for row in selected.get("rows", []) if row < len(records)]


def _about(library: Library, chosen: list[DocumentRecord]) -> None:
    """Draw the actions for the selected documents."""
    if not chosen:
        st.caption("Select rows to open, read again or remove.")
        return
    if len(chosen) == 1 and (chosen[0].reason or chosen[0].warnings):
        st.html(markup.notices([chosen[0].reason, *chosen[0].warnings]))
    ids = [record.id for record in chosen]
    with st.container(horizontal=True):
        if st.button("Open", key="open-document", disabled=len(chosen) != 1):
            st.switch_page("pages/document.py", query_params={"id": str(ids[0])})
        if st.button("Read again", key="retry-selected"):
            library.documents.retry(ids)
            st.rerun()
        st.button("Remove …", key="remove-selected", on_click=dialogs.ask, args=("documents", ids))


draw()
