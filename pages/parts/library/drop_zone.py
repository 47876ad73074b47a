"""A place to drop files and folders; they are stored at once and soon forgotten by the session.

A drop may come while the one before it is on its way or being stored. An uploader that got files
is therefore kept until they are stored and for a while after that, since more may be coming to it;
only a new and empty one can be seen meanwhile.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from pages.parts.common import markup, state
from pages.parts.common.markup import plural
from ragkit.errors import RagkitError
from ragkit.library import Library

# How long an uploader that has been dropped on is kept after the last file has come.
_LINGERS_SECONDS = 60.0
_TAKES = (
    "Markdown, text, HTML, PDF, Word, PowerPoint, Excel, CSV, EPUB, mail, notebooks, JSON, code"
)


@dataclass
class Dropped:
    """What is known of an uploader that got files: for which collection, and when the last came."""

    collection: str
    last: float

    def is_due(self, now: float) -> bool:
        """Whether nothing has come for a while; ``now`` is ``time.monotonic()``."""
        return self.last <= now - _LINGERS_SECONDS


@dataclass
class Uploaders:
    """The uploaders of a session: the newest takes files, earlier ones may still be getting some.

    ``stored`` has the ids of those of their files that are on disk.
    """

    newest: int = 0
    earlier: dict[int, Dropped] = field(default_factory=dict)
    stored: set[str] = field(default_factory=set)

    def arrived(self, number: int, collection: str) -> None:
        """Note that files came to one of them; the newest gives way to an empty one."""
        first = self.earlier.get(number)
        self.earlier[number] = Dropped(first.collection if first else collection, time.monotonic())
        if number == self.newest:
            self.newest += 1

    def waiting(self, files: Sequence[UploadedFile]) -> list[UploadedFile]:
        """Those of the files that are not on disk yet."""
        return [file for file in files if file.file_id not in self.stored]

    def let_go(self, waiting: set[int]) -> None:
        """Forget those that nothing came to for a while; where files wait, a while begins anew."""
        now = time.monotonic()
        for number in waiting & self.earlier.keys():
            if self.earlier[number].is_due(now):
                self.earlier[number].last = now
        self.earlier = {n: one for n, one in self.earlier.items() if not one.is_due(now)}

    def is_due(self) -> bool:
        """Whether one is to be let go, or its files are to be tried again."""
        now = time.monotonic()
        return any(one.is_due(now) for one in self.earlier.values())


def draw(library: Library, collection: str) -> None:
    """Draw the place, and store what was dropped."""
    state.start(**{state.UPLOADERS: Uploaders()})
    uploaders: Uploaders = st.session_state[state.UPLOADERS]
    # All in this container: what stands below must keep its place for its own redrawing.
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
    """Whether the place should be drawn again although nothing was dropped."""
    uploaders: Uploaders | None = st.session_state.get(state.UPLOADERS)
    return uploaders is not None and uploaders.is_due()


def _files(uploaders: Uploaders, number: int, collection: str) -> list[UploadedFile]:
    return st.file_uploader(
        "Drop files or folders here",
        accept_multiple_files=True,
        key=f"files_{number}",
        help=_TAKES,
        on_change=uploaders.arrived,
        args=(number, collection),
    )


def _store(
    library: Library, collection: str, files: Sequence[UploadedFile], stored: set[str]
) -> None:
    """Write files to disk and ask for them to be read; says why when that fails.

    Another drop ends the run that this is part of: each is noted in ``stored`` when it is there.
    """
    if not files:
        return
    try:
        with st.spinner(f"Storing {plural(len(files), 'file')} …"):
            for file in files:
                library.sources.upload(file.name, file, collection)
                stored.add(file.file_id)
            library.sources.sync(library.sources.uploads(collection))
    except RagkitError as error:
        st.html(markup.problem(error.message, error.cure))
