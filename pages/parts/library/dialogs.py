"""The Library page's dialogs. The open one is kept in the session: the page may rerun meanwhile."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from pages.parts.common import markup
from pages.parts.common.markup import as_label, plural
from pages.parts.library import source_tables as tables
from ragkit.catalog.records import DocumentRecord, SourceRecord
from ragkit.errors import RagkitError
from ragkit.library import Library

_BROWSE, _DIALOG = "browse_at", "library_dialog"
MOST_SHOWN = 300


def ask(kind: str, payload: object = None) -> None:
    """Open a dialog: ``folder``, ``source`` with its id, or ``documents`` with their ids."""
    st.session_state[_DIALOG] = (kind, payload)


def close() -> None:
    """Close the open dialog."""
    st.session_state.pop(_DIALOG, None)


def draw(library: Library, collection: str) -> None:
    """Draw the dialog that is open, if one is."""
    kind, payload = st.session_state.get(_DIALOG, ("", None))
    if kind == "folder":
        choose_folder(library, collection)
    elif kind == "source":
        source = next((item for item in library.sources.list() if item.id == payload), None)
        if source is not None:
            confirm_removal(library, source)
    elif kind == "documents":
        confirm_documents(library, list(library.documents.records(payload).values()))


def add_folder(library: Library, collection: str, path: str) -> None:
    """Add a folder as a source and read it; show why when that is not possible."""
    if not path.strip():
        st.html('<p class="rk-notice rk-warn">Write the path of a folder first.</p>')
        return
    try:
        library.sources.sync(library.sources.add_folder(Path(path.strip()), collection))
    except RagkitError as error:
        st.html(markup.notices([str(error)]))
        return
    st.session_state.pop(_BROWSE, None)
    close()
    st.rerun()


@st.dialog("Choose a folder", on_dismiss=close)
def choose_folder(library: Library, collection: str) -> None:
    """Walk through this machine's folders."""
    allowed = roots(library.settings.sources.allowed_roots)
    if not allowed:
        st.write("None of the allowed folders is there.")
        return
    current = Path(st.session_state.get(_BROWSE) or allowed[0])
    if not inside(current, allowed):
        current = allowed[0]
    st.text(str(current))
    st.caption(plural(files_in(current), "file") + " directly in it")
    above = parent(current, allowed)
    with st.container(height=320):
        if above is not None:
            st.button("Up", key="browse-up", on_click=_look_at, args=(above,), type="tertiary",
                      icon=":material/arrow_upward:")  # fmt: skip
        elif len(allowed) > 1:
            for root in allowed:
                st.button(str(root), key=f"root-{root}", on_click=_look_at, args=(root,))
        folders = subfolders(current, allowed)
        for place, folder in enumerate(folders):
            st.button(
                as_label(folder.name[:80]),
                key=f"browse-{place}-{folder.name}",
                on_click=_look_at,
                args=(folder,),
                type="tertiary",
                icon=":material/folder:",
            )
        if not folders:
            st.caption("No folders in here.")
    if st.button("Add this folder", type="primary", key="browse-add"):
        add_folder(library, collection, str(current))


def _look_at(folder: Path) -> None:
    st.session_state[_BROWSE] = str(folder)


def roots(allowed: Sequence[Path]) -> tuple[Path, ...]:
    """Return where the chooser may look: the allowed folders, or the person's home."""
    folders = [folder.expanduser().resolve() for folder in allowed] or [Path.home().resolve()]
    return tuple(folder for folder in folders if folder.is_dir())


def inside(folder: Path, allowed: Sequence[Path]) -> bool:
    """Return whether a folder, links followed, lies under one of the roots."""
    real = folder.resolve()
    return any(real.is_relative_to(root) for root in allowed)


def subfolders(folder: Path, allowed: Sequence[Path]) -> list[Path]:
    """Return the folders in a folder that may be opened, by name, without hidden ones."""
    folders = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or not entry.is_dir():
                    continue
                if inside(Path(entry.path), allowed):
                    folders.append(Path(entry.path))
    except OSError:
        return []
    return sorted(folders, key=lambda folder: (folder.name.casefold(), folder.name))[:MOST_SHOWN]


def parent(folder: Path, allowed: Sequence[Path]) -> Path | None:
    """Return the folder above, or ``None`` where the chooser may not look."""
    above = folder.parent
    return above if above != folder and inside(above, allowed) else None


def files_in(folder: Path) -> int:
    """Count the files directly in a folder, by which a person recognises it."""
    try:
        with os.scandir(folder) as entries:
            return sum(1 for entry in entries if entry.is_file())
    except OSError:
        return 0


# -- removal ---------------------------------------------------------------------------------


@st.dialog("Remove from the library?", on_dismiss=close)
def confirm_removal(library: Library, source: SourceRecord) -> None:
    """Ask for confirmation, with what will be lost."""
    st.html(tables.source_html(source) + f"<p>{tables.loss(source)}</p>")
    with st.container(horizontal=True):
        if st.button("Remove", type="primary", key="really-remove"):
            library.sources.remove(source.id)
            close()
            st.rerun()
        if st.button("Keep", key="keep", on_click=close):
            st.rerun()


@st.dialog("Remove documents?", on_dismiss=close)
def confirm_documents(library: Library, chosen: list[DocumentRecord]) -> None:
    """Ask for confirmation; files of a watched folder stay, since they would come back."""
    uploads = {source.id for source in library.sources.list() if source.kind == "uploads"}
    removable = [record for record in chosen if record.source_id in uploads]
    kept = len(chosen) - len(removable)
    if removable:
        st.html(
            f"<p>This deletes {plural(len(removable), 'dropped file')}, from the library and from "
            "disk. It cannot be undone.</p>"
        )
    if kept:
        st.html(
            f"<p>{plural(kept, 'file')} of a watched folder cannot be removed here. Delete the "
            "file itself, or name it in a <code>.ragkitignore</code> file in the folder.</p>"
        )
    with st.container(horizontal=True):
        if st.button("Remove", type="primary", key="really", disabled=not removable):
            library.documents.remove([record.id for record in removable])
            close()
            st.rerun()
        if st.button("Keep", key="keep-documents", on_click=close):
            st.rerun()
