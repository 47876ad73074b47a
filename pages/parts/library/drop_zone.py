"""A place to drop files and folders, which are stored at once and soon released by the session.

A drop may arrive while the one before it is being sent or stored. An uploader that received files
is therefore kept until they are stored and for a while after that, since more may follow; only a
new and empty one is visible meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages.parts.common import markup, state
from ragkit.errors import RagkitError
from ragkit.formatting import plural
from ragkit.library import Library

# How long an uploader that received files is kept after the last one.
_LINGERS_SECONDS = 60.0
_TAKES = (
    "PDF, Office, OpenDocument, Markdown, text, web pages, e-books, mail, chats, notes, calendars, "
    "captions, notebooks, data, code, and zip files of these"
)


@dataclass
class Dropped:
    """An uploader that received files: for which collection, and when the last one arrived."""

    collection: str
    last: float

    def is_due(self, now: float) -> bool:
        """Return whether nothing has arrived for a while; ``now`` is ``time.monotonic()``."""
        return self.last <= now - _LINGERS_SECONDS


@dataclass
class Uploaders:
    """The uploaders of a session: the newest takes files, earlier ones may still receive some.

    ``stored`` holds the ids of their files that are on disk.
    """

    newest: int = 0
    earlier: dict[int, Dropped] = field(default_factory=dict)
    stored: set[str] = field(default_factory=set)

    def arrived(self, number: int, collection: str) -> None:
        """Record that one received files; a new empty one replaces the newest."""
        first = self.earlier.get(number)
        self.earlier[number] = Dropped(first.collection if first else collection, time.monotonic())
        if number == self.newest:
            self.newest += 1

    def waiting(self, files: Sequence[UploadedFile]) -> list[UploadedFile]:
        """Return the files that have not been written to disk yet."""
        return [file for file in files if file.file_id not in self.stored]

    def let_go(self, waiting: set[int]) -> None:
        """Drop uploaders that received nothing for a while; waiting files restart the time."""
        now = time.monotonic()
        for number in waiting & self.earlier.keys():
            if self.earlier[number].is_due(now):
                self.earlier[number].last = now
        self.earlier = {
            number: dropped for number, dropped in self.earlier.items() if not dropped.is_due(now)
        }

    def is_due(self) -> bool:
        """Return whether an uploader can be dropped, or its files should be tried again."""
        now = time.monotonic()
        return any(dropped.is_due(now) for dropped in self.earlier.values())


def draw(library: Library, collection: str) -> None:
    """Draw the drop zone, and store what was dropped."""
    state.start(**{state.UPLOADERS: Uploaders()})
    uploaders: Uploaders = st.session_state[state.UPLOADERS]
    # All in this container: the elements below must keep their position for their own reruns.
    with st.container(key="drop"):
        # The newest is last, so that those before it keep their places on the page.
        held = {
            number: _files(uploaders, number, collection)
            for number in (*sorted(uploaders.earlier), uploaders.newest)
        }
        uploaders.stored &= {file.file_id for files in held.values() for file in files}
        for number, dropped in uploaders.earlier.items():
            waiting = uploaders.waiting(held[number])
            _store(library, dropped.collection, waiting, uploaders.stored)
    uploaders.let_go({number for number, files in held.items() if uploaders.waiting(files)})


def is_due() -> bool:
    """Return whether the page should rerun although nothing was dropped."""
    uploaders: Uploaders | None = st.session_state.get(state.UPLOADERS)
    return uploaders is not None and uploaders.is_due()


def _files(uploaders: Uploaders, number: int, collection: str) -> list[UploadedFile]:
    return st.file_uploader(
        "Drop files, folders or zip files here",
        accept_multiple_files=True,
        key=f"files_{number}",
        help=_TAKES,
        on_change=uploaders.arrived,
        args=(number, collection),
    )


def _store(
    library: Library, collection: str, files: Sequence[UploadedFile], stored: set[str]
) -> None:
    """Write files to disk and queue them for indexing; show the error if that fails.

    Another drop ends the current run: each file is added to ``stored`` once it is on disk.
    """
    if not files:
        return
    try:
        with st.spinner(f"Storing {plural(len(files), 'file')} …"):
            for file in files:
                library.uploads.add(file.name, file, collection)
                stored.add(file.file_id)
            library.sources.sync(library.sources.uploads(collection))
    except RagkitError as error:
        st.html(markup.problem(error.message, error.cure))
