"""The Library page's dialogs.

``folder``; ``unsure`` with a path and the reason; ``source`` with its id; ``documents`` with ids.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import streamlit as st

from pages.parts.common import dialog, markup
from pages.parts.library import folder_chooser
from pages.parts.library import source_tables as tables
from ragkit.catalog.records import DocumentRecord, SourceRecord
from ragkit.errors import RagkitError, UnconfirmedError
from ragkit.formatting import plural
from ragkit.library import Library

BOX, WANTED = "folder_path", "folder_wanted"
"""The box for a folder's path, and whether its folder is to be added now."""


def draw(library: Library, collection: str) -> None:
    """Draw the dialog that is open, if one is."""
    kind, *about = dialog.current()
    if kind == "folder":
        choose_folder(library, collection)
    elif kind == "unsure":
        confirm_folder(library, collection, *about)
    elif kind == "source":
        here = library.sources.list(collection)
        source = next((item for item in here if item.id == about[0]), None)
        if source is not None:
            confirm_removal(library, source)
    elif kind == "documents":
        confirm_documents(library, list(library.documents.records(about[0]).values()))


def add_typed(library: Library, collection: str, typed: str) -> None:
    """Add a folder by the path that a person typed, or say why that is not possible."""
    if not typed.strip():
        st.html('<p class="rk-notice rk-warn">Type the path of a folder first.</p>')
        return
    try:
        folder = folder_chooser.typed_folder(typed)
    except RagkitError as error:
        st.html(f'<p class="rk-notice rk-warn">{markup.text(str(error))}</p>')
        return
    if is_file(folder):
        st.html(f'<p class="rk-notice rk-warn">{markup.path(str(folder))} is a file.</p>')
        st.button(
            f"Add its folder {markup.as_label(str(folder.parent))} instead",
            key="add-its-folder", on_click=_want, args=(folder.parent,),
        )  # fmt: skip
        return
    add_folder(library, collection, str(folder))


def is_file(path: Path) -> bool:
    """Return whether a path is that of a file that can be seen."""
    with suppress(OSError):
        return path.is_file()
    return False


def _want(folder: Path) -> None:
    """Put a folder into the box, and have the page add it."""
    st.session_state.update({BOX: str(folder), WANTED: True})


def browse(library: Library) -> None:
    """Open the chooser, at the folder that is typed if there is one."""
    allowed = folder_chooser.roots(library.settings.sources.allowed_roots)
    folder_chooser.begin_at(st.session_state.get(BOX) or "", allowed)
    dialog.ask("folder")


def add_folder(library: Library, collection: str, path: str, *, confirmed: bool = False) -> None:
    """Add a folder as a source and read it; ask or say why when that is not possible."""
    try:
        source = library.sources.add_folder(Path(path), collection, confirmed=confirmed)
        library.sources.sync(source)
    except UnconfirmedError as error:
        dialog.ask("unsure", path, error.message)
        st.rerun()
    except RagkitError as error:
        st.html(markup.notices([str(error)]))
        return
    folder_chooser.forget()
    dialog.close()
    st.rerun()


@st.dialog("Add this folder?", on_dismiss=dialog.close)
def confirm_folder(library: Library, collection: str, path: str, why: str) -> None:
    """Ask for confirmation of a folder outside the home folder."""
    st.html(f"<p>{markup.name(why)} Every readable file in it becomes part of this library.</p>")
    if dialog.answers("Add folder", "Cancel", "unsure"):
        add_folder(library, collection, path, confirmed=True)


@st.dialog("Choose a folder", on_dismiss=dialog.close, width="medium")
def choose_folder(library: Library, collection: str) -> None:
    """Browse the folders of this machine."""
    watched = [source.root for source in library.sources.list() if source.kind == "folder"]
    allowed = folder_chooser.roots(library.settings.sources.allowed_roots)
    current = folder_chooser.draw(allowed, watched)
    if current is None:
        return
    may = folder_chooser.may_add(current, allowed)
    if not may:
        st.caption("This folder cannot be added as a whole. Choose one inside it.")
    if st.button("Add this folder", type="primary", key="browse-add", disabled=not may):
        add_folder(library, collection, str(current))


# -- removal ---------------------------------------------------------------------------------


@st.dialog("Remove from the library?", on_dismiss=dialog.close)
def confirm_removal(library: Library, source: SourceRecord) -> None:
    """Ask for confirmation, with what will be lost."""
    st.html(tables.source_html(source) + f"<p>{tables.loss(source)}</p>")
    if dialog.answers("Remove", "Cancel", "remove-source"):
        library.sources.remove(source.id)
        dialog.close()
        st.rerun()


@st.dialog("Remove documents?", on_dismiss=dialog.close)
def confirm_documents(library: Library, chosen: list[DocumentRecord]) -> None:
    """Ask for confirmation; files of a watched folder stay, since they would come back."""
    uploads = {source.id for source in library.sources.list() if source.kind == "uploads"}
    removable = [record for record in chosen if record.source_id in uploads]
    kept = len(chosen) - len(removable)
    if removable:
        st.html(
            f"<p>{plural(len(removable), 'uploaded file')} will be deleted from the library and "
            "from disk. This cannot be undone.</p>"
        )
    if kept:
        st.html(
            f"<p>{plural(kept, 'file')} of a watched folder cannot be removed here. Delete the "
            "file, or list it in a <code>.ragkitignore</code> file in the folder.</p>"
        )
    if dialog.answers("Remove", "Cancel", "remove-documents", disabled=not removable):
        library.documents.remove([record.id for record in removable])
        dialog.close()
        st.rerun()
