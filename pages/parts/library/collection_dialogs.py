"""Collections on the Library page: choosing, making, renaming, their settings and deleting."""

from __future__ import annotations

import streamlit as st

from pages.parts.common import browser, collection_picker, dialog, markup, state
from pages.parts.common.markup import text
from pages.parts.common.option_controls import changed, search_controls
from pages.parts.library import prompt_dialog
from ragkit.catalog.records import CollectionContents
from ragkit.errors import RagkitError
from ragkit.formatting import plural
from ragkit.library import Library
from ragkit.library.collections import Leaving
from ragkit.option_codec import dump_options

_UNDO_SECONDS = 15
_BOX, _NEXT = "library_collection", "library_next_collection"
_NAME = "collection_name"
NEW, RENAME, CHUNKS, DELETE = "new-collection", "rename", "chunk-sizes", "delete-collection"
SEARCH, _OPTION = "search-settings", "collection_option_"
_MANAGE = "manage-collection"
STATUS, TABLE_PAGE = "library_status", "library_page"
_MENU = {
    "Search settings …": SEARCH,
    "Chunk sizes …": CHUNKS,
    "Context prompts …": prompt_dialog.PROMPTS,
    "Rename …": RENAME,
    "Delete …": DELETE,
}


def choose(library: Library) -> str:
    """Draw the head of the page with what can be done to collections; return the chosen one."""
    collections = library.collections
    active = st.session_state.get(state.ACTIVE, library.settings.collection)
    next_collection = st.session_state.pop(_NEXT, None)
    if next_collection is not None and collections.has(next_collection):
        st.session_state[_BOX] = next_collection
    elif not collections.has(st.session_state.get(_BOX, "")):
        st.session_state.pop(_BOX, None)
    with st.container(horizontal=True, vertical_alignment="center", key="library-head"):
        st.html("<h1>Library</h1>", width="content")
        chosen = collection_picker.draw(
            library,
            _BOX,
            active,
            then=first_page,
            width=240,
            label_visibility="collapsed",
            help="A collection is searched on its own.",
        )
        st.button("New collection", key=NEW, on_click=dialog.ask, args=(NEW,))
        st.menu_button(
            "Manage", list(_MENU), key=_MANAGE, disabled=not collections.count(), on_click=_ask,
            args=(chosen,),
        )  # fmt: skip
    if chosen != st.session_state.get(state.ACTIVE):
        st.session_state[state.ACTIVE] = chosen
        st.session_state.pop(state.COLLECTION, None)
    return chosen


def _ask(collection: str) -> None:
    """Open the dialog that was chosen from the menu."""
    state.forget(_OPTION)
    dialog.ask(_MENU[st.session_state[_MANAGE]], collection)


def first_page() -> None:
    """Go to the first page of the table: it lists other documents now."""
    st.session_state[TABLE_PAGE] = 1


def draw(library: Library) -> None:
    """Draw the dialog about a collection that is open, if one is."""
    kind, *about = dialog.current()
    if kind == NEW:
        _new(library)
    elif kind == RENAME:
        _rename(library, about[0])
    elif kind == SEARCH:
        _search(library, about[0])
    elif kind == CHUNKS:
        _chunks(library, about[0])
    elif kind == prompt_dialog.PROMPTS:
        prompt_dialog.draw(library, about[0])
    elif kind == DELETE:
        _delete(library, about[0])


@dialog.titled(NEW, "New collection")
def _new(library: Library) -> None:
    st.caption("Folders and uploads of a collection are searched apart from those of others.")
    with st.form("form-new-collection", border=False):
        st.text_input("Name", max_chars=80, key=_NAME)
        dialog.submits("Create", NEW, lambda: _show(library.collections.add(_typed()).name))


@dialog.titled(RENAME, "Rename collection")
def _rename(library: Library, before: str) -> None:
    st.caption("Documents, ratings and settings stay with it.")
    with st.form("form-rename", border=False):
        st.text_input("Name", value=before, max_chars=80, key=_NAME)
        dialog.submits(
            "Rename", RENAME, lambda: _show(library.collections.rename(before, _typed()).name)
        )


@dialog.titled(SEARCH, "Search settings")
def _search(library: Library, collection: str) -> None:
    """Set how a collection is searched, unless a search itself says otherwise."""
    st.caption(
        f"How {markup.as_label(collection)} is searched, on every page and by commands. A search "
        "can still choose otherwise."
    )
    own = bool(library.collections.get(collection).settings.get("search"))
    search_controls(library.options(collections=(collection,)), _OPTION)
    with st.container(horizontal=True):
        st.button(
            "Save", type="primary", key="search-settings-save",
            on_click=dialog.ends(lambda: _save_search(library, collection)),
        )  # fmt: skip
        st.button(
            "Use the library's settings", key="search-settings-reset", disabled=not own,
            on_click=dialog.ends(lambda: _save_search(library, collection, reset=True)),
        )  # fmt: skip


def _save_search(library: Library, collection: str, *, reset: bool = False) -> None:
    """Store the settings in the controls, or remove them all."""
    # Options of no collection are those of the settings file.
    usual = library.options(collections=())
    chosen = usual if reset else changed(library.options(collections=(collection,)), _OPTION)
    library.collections.set_search(collection, dump_options(chosen, usual))
    state.forget_options()


@dialog.titled(CHUNKS, "Chunk sizes")
def _chunks(library: Library, collection: str) -> None:
    """Set the sizes by which the documents of a collection are cut."""
    now = library.collections.chunking(collection)
    documents = library.documents.counts(collection).documents
    st.caption(
        "Small chunks find exact places, large ones keep more of what belongs together. Changing "
        f"this re-indexes {plural(documents, 'document')}; they can be searched meanwhile."
    )
    with st.form("form-chunks", border=False):
        st.number_input(
            "Words in a chunk, at most", 20, 5000, now.words, step=20, key=f"{CHUNKS}-words"
        )
        st.number_input(
            "Words repeated from the chunk before", 0, 2500, now.overlap, key=f"{CHUNKS}-overlap"
        )
        st.number_input(
            "Merge sections with fewer words than", 0, 5000, now.min_words,
            key=f"{CHUNKS}-min_words",
        )  # fmt: skip
        dialog.submits("Save and re-index", CHUNKS, lambda: _save_chunks(library, collection))


def _save_chunks(library: Library, collection: str) -> None:
    sizes = ("words", "overlap", "min_words")
    chosen = {name: int(st.session_state[f"{CHUNKS}-{name}"]) for name in sizes}
    library.collections.set_chunking(collection, chosen)
    _show(collection)


@dialog.titled(DELETE, "Delete collection?")
def _delete(library: Library, collection: str) -> None:
    """Ask for confirmation: by its name where something would be lost for good."""
    if library.collections.find(collection) is None:
        dialog.close()
        return
    contents = library.collections.contents(collection)
    st.html(loss(collection, contents))

    def delete() -> None:
        if contents.irreplaceable and _typed().strip() != collection:
            raise RagkitError(f"Nothing was deleted: the name is {collection}.")
        library.collections.delete(collection, after_seconds=_UNDO_SECONDS)
        _show("")

    if not contents.irreplaceable:
        dialog.answers("Delete", "Cancel", "delete", delete)
        return
    with st.form("form-delete", border=False):
        st.text_input("Type its name to delete it", key=_NAME)
        dialog.submits("Delete", "delete", delete, no="Cancel")


def loss(collection: str, contents: CollectionContents) -> str:
    """Return as HTML what deleting a collection removes and what it leaves."""
    goes = [plural(count, noun) for count, noun in contents.counted if count]
    *most, last = goes or [""]
    listed = f"{', '.join(most)} and {last}" if most else last
    its = f" with its {text(listed)}" if goes else ""
    sentences = []
    if contents.uploads:
        files = plural(contents.uploads, "uploaded file")
        sentences.append(f"{files} will be deleted from disk, too.")
    sentences.append("Files of its folders stay on disk.")
    sentences.append(f"You can undo this for {_UNDO_SECONDS} seconds; after that it is final.")
    return (
        f"<p><b><bdi>{markup.name(collection)}</bdi></b> will be deleted{its}.</p>"
        f"<p>{text(' '.join(sentences))}</p>"
    )


@st.fragment
def leaving(library: Library) -> None:
    """Draw the collections about to be deleted, each with a button that keeps it."""
    collections = library.collections.leaving()
    for collection in collections:
        with st.container(horizontal=True, vertical_alignment="center"):
            left = f" in {collection.seconds_left:.0f} s" if collection.seconds_left >= 1 else ""
            st.html(
                '<p class="rk-soft" role="status">Deleting '
                f"<bdi>{markup.name(collection.name)}</bdi>{left} …</p>",
                width="content",
            )
            if left:
                st.button("Undo", key=f"keep-{collection.job_id}",
                          on_click=_keep, args=(library, collection))  # fmt: skip
    browser.pulse("leaving-pulse", 1)
    if not collections or _NEXT in st.session_state:
        dialog.rerun_page()


def _keep(library: Library, collection: Leaving) -> None:
    """Undo the deletion of a collection, and show it."""
    if library.collections.keep(collection.job_id):
        _show(collection.name)
    else:
        st.toast(f"Too late: {markup.as_label(collection.name)} is being deleted.")


def _typed() -> str:
    """Return what is in the dialog's box for a name."""
    return str(st.session_state.get(_NAME) or "")


def _show(chosen: str) -> None:
    """Have the page show a collection."""
    st.session_state[_NEXT] = chosen
