"""The list of threads on the home: opened, renamed, taken away as Markdown, deleted and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from pages.parts.common import dialog, frame, markup
from pages.parts.common.markup import action, attributes, name, text
from ragkit.answers import Thread, ThreadSummary
from ragkit.formatting import plural
from ragkit.library import Library
from ragkit.surfaces.http.thread_file import address_of

_SHOWN, _LONGEST = 8, 80
_DELETED, _RENAME = "thread_deleted", "rename-thread"


def threads_list(threads: Sequence[ThreadSummary], deleted: Thread | None = None) -> str:
    """Return the threads as links, each with its tools; empty where there are none."""
    if not threads and deleted is None:
        return ""
    gone = ""
    if deleted is not None:
        undo = action("thread-undo", "Undo", style="rk-inline")
        title = f"<bdi>{name(deleted.title)}</bdi>"
        gone = f'<p class="rk-soft" role="status">Deleted “{title}”. {undo}</p>'
    rows = "".join(
        f'<li><a class="rk-home-name"{_opens(thread)}><bdi>{name(thread.title)}</bdi></a>'
        f'<span class="rk-soft">{plural(thread.turns, "question")} · '
        f"{text(markup.ago(thread.changed_at))}</span>"
        f'<span class="rk-home-tools">{_tools(thread)}</span></li>'
        for thread in threads[:_SHOWN]
    )
    return (
        '<section class="rk-threads" aria-label="Threads">'
        '<div class="rk-home-title"><h2>Threads</h2></div>'
        f"{gone}<ul>{rows}</ul></section>"
    )


def drawn(library: Library) -> str:
    """Return the list as it is now."""
    return threads_list(library.threads.list(), st.session_state.get(_DELETED))


def act(library: Library, values: Mapping[str, str]) -> bool:
    """Handle a click on a tool of the list; returns whether it was one."""
    verb, thread_id = values.get("rk", ""), int(values.get("thread") or 0)
    with frame.toasted():
        if verb == "thread-rename":
            dialog.ask(_RENAME, thread_id, library.threads.get(thread_id).title)
        elif verb == "thread-delete":
            st.session_state[_DELETED] = library.threads.delete(thread_id)
        elif verb == "thread-undo":
            deleted: Thread | None = st.session_state.pop(_DELETED, None)
            if deleted is not None:
                library.threads.restore(deleted)
        else:
            return False
    return True


def settle() -> None:
    """Drop the deleted thread: it can no longer be restored."""
    st.session_state.pop(_DELETED, None)


def draw_dialog(library: Library) -> None:
    """Draw the dialog that renames a thread, if it is open."""
    verb, *about = dialog.current()
    if verb == _RENAME:
        _rename(library, *about)


@dialog.titled(_RENAME, "Rename thread")
def _rename(library: Library, thread_id: int, title: str) -> None:
    key = f"thread-name-{thread_id}"
    given = st.text_input("Name", value=title, max_chars=_LONGEST, key=key)
    dialog.answers(
        "Rename", "Cancel", _RENAME,
        lambda: library.threads.rename(thread_id, st.session_state[key] or title),
        disabled=not (given or "").strip(),
    )  # fmt: skip


def _opens(thread: ThreadSummary) -> str:
    return attributes(href=f"./?thread={thread.id}", target="_self", title=thread.title)


def _tools(thread: ThreadSummary) -> str:
    def values(what: str) -> str:
        return attributes(
            class_="rk-home-tool", title=what, aria_label=f"{what}: {thread.title}",
            data_thread=thread.id,
        )  # fmt: skip

    return (
        f'<button type="button" data-rk="thread-rename"{values("Rename")}>✎</button>'
        f"<a download{attributes(href=address_of(thread.id))}{values('Export as Markdown')}>↓</a>"
        f'<button type="button" data-rk="thread-delete"{values("Delete")}>×</button>'
    )
