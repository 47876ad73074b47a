"""Dropping files on the Library page: stored whenever they come, tried again when that failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from running import html, run
from streamlit.testing.v1 import AppTest

from pages.parts.library.drop_zone import Uploaders
from ragkit.indexing.writer import writer_lock


@pytest.fixture
def app(library) -> Iterator[AppTest]:
    opened = run(library, "library")
    with writer_lock(library.paths.lock, "test"):
        yield opened


def drop(app: AppTest, uploader: int, name: str) -> None:
    app.file_uploader(key=f"files_{uploader}").set_value(
        [(name, f"Words of {name}".encode(), "text/plain")]
    )
    app.run()
    assert not app.exception


def keys(app: AppTest) -> list[str]:
    return [str(one.key) for one in app.file_uploader]


def stored(library, collection: str = "default") -> set[str]:
    folder = Path(library.sources.uploads(collection).root)
    return {path.name for path in folder.rglob("*") if path.is_file()}


@contextmanager
def nothing_can_be_stored(library) -> Iterator[None]:
    """A file where uploads are written first."""
    temporary = library.paths.temporary
    temporary.rmdir()
    temporary.write_text("in the way")
    yield
    temporary.unlink()
    temporary.mkdir()


def test_an_uploader_that_got_files_can_still_get_some(app, library):
    drop(app, 0, "first.txt")
    assert keys(app) == ["files_0", "files_1"]
    # On its way to the first one before the second was there.
    drop(app, 0, "late.txt")
    drop(app, 1, "second.txt")
    assert stored(library) == {"first.txt", "late.txt", "second.txt"}
    assert keys(app) == ["files_0", "files_1", "files_2"]


def test_a_file_is_stored_once_however_often_the_page_is_drawn(app, library):
    drop(app, 0, "first.txt")
    (Path(library.sources.uploads().root) / "first.txt").unlink()
    app.run()
    assert stored(library) == set()


def test_files_that_could_not_be_stored_are_tried_again_for_their_collection(app, library):
    for collection in ("default", "other"):
        library.sources.uploads(collection)
    app.run()
    with nothing_can_be_stored(library):
        drop(app, 0, "kept.txt")
        assert "kept.txt could not be stored" in html(app)
        app.selectbox(key="library_collection").select("other").run()
        assert "kept.txt could not be stored" in html(app)
    app.run()
    assert "could not be stored" not in html(app)
    assert stored(library) == {"kept.txt"}
    assert stored(library, "other") == set()


def test_an_uploader_is_let_go_once_nothing_comes(monkeypatch):
    now = 1_000.0
    monkeypatch.setattr("pages.parts.library.drop_zone.time.monotonic", lambda: now)
    uploaders = Uploaders()
    uploaders.arrived(0, "default")
    uploaders.arrived(1, "default")
    now += 59
    uploaders.arrived(1, "default")
    assert not uploaders.is_due()
    now += 2
    assert uploaders.is_due()
    uploaders.let_go(waiting=set())
    assert (list(uploaders.earlier), uploaders.newest) == ([1], 2)


def test_files_that_wait_are_not_let_go(monkeypatch):
    now = 1_000.0
    monkeypatch.setattr("pages.parts.library.drop_zone.time.monotonic", lambda: now)
    uploaders = Uploaders()
    uploaders.arrived(0, "default")
    now += 61
    uploaders.let_go(waiting={0})
    assert list(uploaders.earlier) == [0]
    # The next try is after a while again, not at once.
    assert not uploaders.is_due()
    now += 61
    assert uploaders.is_due()
