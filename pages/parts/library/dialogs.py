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
from ragkit.errors import RagkitError, SourceError, UnconfirmedError
from ragkit.formatting import plural
from ragkit.library import Library

BOX = "folder_path"
"""The box for a folder's path."""

_SAID = "folder_said"


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
        if source is None:
            dialog.close()
        else:
            confirm_removal(library, source)
    elif kind == "documents":
        confirm_documents(library, list(library.documents.records(about[0]).values()))


def add_typed(library: Library, collection: str) -> None:
    """Add the folder whose path is in the box, or have the page say why that is not possible."""
    typed = st.session_state.get(BOX) or ""
    said: tuple[str, Path | None] | None = None
    try:
        if not typed.strip():
            raise SourceError("Type the path of a folder first.")
        folder = folder_chooser.typed_folder(typed)
        if is_file(folder):
            said = f"{markup.path(str(folder))} is a file.", folder
        else:
            add_folder(library, collection, folder)
    except RagkitError as error:
        said = markup.text(str(error)), None
    st.session_state[_SAID] = ((collection, typed), said)


def draw_refusal(library: Library, collection: str) -> None:
    """Draw why the folder in the box was not added, for as long as it is there."""
    about, said = st.session_state.get(_SAID, (None, None))
    if said is None or about != (collection, st.session_state.get(BOX) or ""):
        return
    html, file = said
    st.html(f'<p class="rk-notice rk-warn">{html}</p>')
    if file is not None:
        st.button(
            f"Add its folder {markup.as_label(str(file.parent))} instead",
            key="add-its-folder", on_click=_add_its_folder, args=(library, collection, file.parent),
        )  # fmt: skip


def is_file(path: Path) -> bool:
    """Return whether a path is that of a file that can be seen."""
    with suppress(OSError):
        return path.is_file()
    return False


def _add_its_folder(library: Library, collection: str, folder: Path) -> None:
    """Put a folder into the box, and add it."""
    st.session_state[BOX] = str(folder)
    add_typed(library, collection)


def browse(library: Library) -> None:
    """Open the chooser, at the folder that is typed if there is one."""
    allowed = folder_chooser.roots(library.settings.sources.allowed_roots)
    folder_chooser.begin_at(st.session_state.get(BOX) or "", allowed)
    dialog.ask("folder")


def add_folder(library: Library, collection: str, folder: Path, *, confirmed: bool = False) -> None:
    """Add a folder as a source and read it, or ask whether it is meant.

    Raises:
        RagkitError: when it cannot be added.
    """
    try:
        source = library.sources.add_folder(folder, collection, confirmed=confirmed)
    except UnconfirmedError as error:
        dialog.ask("unsure", folder, error.message)
        return
    library.sources.sync(source)
    folder_chooser.forget()


@dialog.titled("unsure", "Add this folder?")
def confirm_folder(library: Library, collection: str, folder: Path, why: str) -> None:
    """Ask for confirmation of a folder outside the home folder."""
    st.html(f"<p>{markup.name(why)} Every readable file in it becomes part of this library.</p>")
    dialog.answers(
        "Add folder", "Cancel", "unsure",
        lambda: add_folder(library, collection, folder, confirmed=True),
    )  # fmt: skip


@dialog.titled("folder", "Choose a folder", width="medium")
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
    st.button(
        "Add this folder", type="primary", key="browse-add", disabled=not may,
        on_click=dialog.ends(lambda: add_folder(library, collection, current)),
    )  # fmt: skip


# -- removal ---------------------------------------------------------------------------------


@dialog.titled("source", "Remove from the library?")
def confirm_removal(library: Library, source: SourceRecord) -> None:
    """Ask for confirmation, with what will be lost."""
    st.html(tables.source_html(source) + f"<p>{tables.loss(source)}</p>")
    dialog.answers("Remove", "Cancel", "remove-source", lambda: library.sources.remove(source.id))


@dialog.titled("documents", "Remove documents?")
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
    dialog.answers(
        "Remove", "Cancel", "remove-documents",
        lambda: library.documents.remove([record.id for record in removable]),
        disabled=not removable,
    )  # fmt: skip
