"""A lost or torn catalog never passes for a sound, empty library."""

from __future__ import annotations

import io
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from ragkit.catalog.marker import read_marker
from ragkit.errors import LibraryError, RagkitError
from ragkit.library import Library
from ragkit.paths import LibraryPaths
from ragkit.settings import Settings

_ANIMALS = ("heron", "walrus", "ibis", "lynx", "otter")


def _open(root: Path, *, create: bool = False) -> Library:
    return Library.open(Settings(library=root, models={"embedder": "hash"}), create=create)


def _names(library: Library) -> list[str]:
    return sorted(record.path for record in library.documents.list())


def _found(library: Library) -> list[list[str]]:
    answers = (library.search(f"the {animal} wades", mode="keyword") for animal in _ANIMALS)
    return [[result.document.path for result in answer.results] for answer in answers]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library as a killed process leaves it: with a log, and an upload; nothing here is changed.

    ``killed`` has its log, ``closed`` has been closed.
    """
    root = tmp_path_factory.mktemp("made")
    (root / "files").mkdir()
    for animal in _ANIMALS:
        (root / "files" / f"{animal}.md").write_text(f"# {animal}\n\nThe {animal} wades slowly.\n")
    library = _open(root / "closed", create=True)
    library.sources.add_folder(root / "files")
    library.uploads.add("note.md", io.BytesIO(b"# Note\n\nAn uploaded note.\n"))
    library.jobs.wait(library.jobs.add("sync"))
    library.search("wades")
    shutil.copytree(root / "closed", root / "killed")
    library.close()
    return root


@pytest.fixture
def killed(made: Path, tmp_path: Path) -> LibraryPaths:
    return LibraryPaths(Path(shutil.copytree(made / "killed", tmp_path / "library")))


@pytest.fixture
def closed(made: Path, tmp_path: Path) -> LibraryPaths:
    return LibraryPaths(Path(shutil.copytree(made / "closed", tmp_path / "library")))


def _log(paths: LibraryPaths) -> Path:
    return Path(f"{paths.catalog}-wal")


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _without_tables(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")


@pytest.mark.parametrize("create", [False, True])
@pytest.mark.parametrize("lose", [Path.unlink, _empty, _without_tables, Path.mkdir])
def test_a_lost_catalog_is_damage_and_no_new_library(closed, lose, create):
    if lose is Path.mkdir:
        closed.catalog.unlink()
    lose(closed.catalog)
    with pytest.raises(LibraryError) as caught:
        _open(closed.root, create=create)
    assert "ragkit recover" in caught.value.cure
    with pytest.raises(LibraryError):
        _open(closed.root, create=create)


@pytest.mark.parametrize("kept", ["marker", "uploads", "indexes"])
def test_each_sign_of_a_library_alone_tells_that_its_catalog_is_lost(closed, kept):
    closed.catalog.unlink()
    if kept != "marker":
        closed.marker.unlink()
    for name in {"uploads", "indexes"} - {kept}:
        shutil.rmtree(closed.root / name)
    with pytest.raises(LibraryError, match=r"The catalog of .* is missing, but there is"):
        _open(closed.root, create=True)
    assert not closed.catalog.exists()


def test_a_catalog_without_tables_is_not_made_a_library_unless_asked_for(tmp_path):
    paths = LibraryPaths(tmp_path / "library")
    paths.create()
    with closing(sqlite3.connect(paths.catalog)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    before = paths.catalog.read_bytes()
    with pytest.raises(LibraryError, match="There is no library"):
        _open(paths.root)
    assert paths.catalog.read_bytes() == before
    _open(paths.root, create=True).close()
    _open(paths.root).close()


def test_what_is_empty_on_purpose_opens(tmp_path):
    library = _open(tmp_path / "library", create=True)
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.md").write_text("# A\n\nwords\n")
    source = library.sources.add_folder(tmp_path / "files")
    library.jobs.wait(library.sources.sync(source))
    library.jobs.wait(library.sources.remove(source.id))
    library.close()
    for create in (False, True):
        with _open(tmp_path / "library", create=create) as again:
            assert _names(again) == []


def test_after_closing_the_one_file_is_the_library(made, tmp_path):
    paths = LibraryPaths(tmp_path / "alone")
    paths.create()
    shutil.copy(made / "closed" / "catalog.sqlite", paths.catalog)
    assert not (made / "closed" / "catalog.sqlite-wal").exists()
    with _open(paths.root) as alone:
        assert len(_names(alone)) == 6


def test_closing_does_not_wait_for_a_reader(closed):
    reader, library = _open(closed.root), _open(closed.root)
    with reader.catalog.connections.read() as connection:
        connection.execute("SELECT * FROM documents").fetchone()
        library.jobs.wait(library.jobs.add("sync"))
        library.close()
        assert len(_names(reader)) == 6
    reader.close()
    assert not _log(closed).exists()


def test_the_marker_says_what_the_library_held_and_a_library_without_one_gets_it(closed):
    marker = read_marker(closed)
    assert (marker.documents, marker.sources, marker.judgments) == (6, 2, 0)
    assert marker.full
    closed.marker.unlink()
    _open(closed.root, create=True).close()
    again = read_marker(closed)
    assert (again.identity, again.documents) == (marker.identity, 6)
    assert closed.marker.stat().st_mode & 0o777 == 0o600


def _sound(paths: LibraryPaths, answers: list[list[str]]) -> bool:
    """Open a damaged library: it answers as before, or says what to do; never another answer.

    Returns whether it opened.
    """
    try:
        with _open(paths.root) as library:
            assert len(_names(library)) == 6
            assert _found(library) == answers
    except RagkitError as error:
        return not error.cure
    return True


@pytest.fixture(scope="module")
def answers(made: Path, tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    root = Path(shutil.copytree(made / "killed", tmp_path_factory.mktemp("sound") / "library"))
    with _open(root) as library:
        found = _found(library)
    assert all(names[0] == f"{animal}.md" for names, animal in zip(found, _ANIMALS, strict=True))
    return found


def _cut(data: bytearray, place: int) -> None:
    del data[place:]


def _zero(data: bytearray, place: int) -> None:
    data[place : place + 4096] = bytes(len(data[place : place + 4096]))


def _flip(data: bytearray, place: int) -> None:
    data[place] ^= 1 << place % 8


def _rubbish(data: bytearray, place: int) -> None:
    data[place : place + 64] = random.Random(place).randbytes(len(data[place : place + 64]))


_DAMAGES = (_cut, _zero, _flip, _rubbish)


def _damaged_at(file: Path, damage: Callable[[bytearray, int], None], places: int) -> list[bytes]:
    """The contents of a file after damage at so many places, the first and last byte among them."""
    whole = file.read_bytes()
    damaged = []
    for number in range(places):
        data = bytearray(whole)
        damage(data, (len(whole) - 1) * number // (places - 1))
        damaged.append(bytes(data))
    return damaged


@pytest.mark.parametrize("damage", _DAMAGES)
def test_a_torn_log_is_said_and_never_an_empty_library(killed, answers, damage, tmp_path):
    refused = 0
    for number, data in enumerate(_damaged_at(_log(killed), damage, 12)):
        paths = LibraryPaths(Path(shutil.copytree(killed.root, tmp_path / str(number))))
        _log(paths).write_bytes(data)
        refused += not _sound(paths, answers)
    assert refused >= 8


@pytest.mark.parametrize("lose", [Path.unlink, _empty, Path.mkdir])
def test_a_lost_log_is_said_and_never_an_empty_library(killed, answers, lose):
    if lose is Path.mkdir:
        _log(killed).unlink()
    lose(_log(killed))
    assert not _sound(killed, answers)


@pytest.mark.parametrize("damage", _DAMAGES)
def test_a_torn_catalog_is_said_or_found_and_never_an_empty_library(closed, damage, tmp_path):
    """A flipped bit in a text is no error to SQLite: verify finds it, or it was in no text."""
    for number, data in enumerate(_damaged_at(closed.catalog, damage, 12)):
        paths = LibraryPaths(Path(shutil.copytree(closed.root, tmp_path / str(number))))
        paths.catalog.write_bytes(data)
        said: RagkitError | None = None
        try:
            with _open(paths.root) as library:
                well = all(finding.ok for finding in library.health.verify())
                assert len(_names(library)) == 6 or not well, number
        except RagkitError as error:
            said = error
        assert said is None or said.cure


@pytest.mark.parametrize(
    "name", ["library.json", "writer.lock", "writer.json", "catalog.sqlite-shm"]
)
@pytest.mark.parametrize("damage", _DAMAGES)
def test_damage_of_the_files_beside_the_catalog_changes_no_answer(
    killed, answers, damage, name, tmp_path
):
    file = killed.root / name
    file.touch()
    for number, data in enumerate(_damaged_at(file, damage, 4) if file.read_bytes() else [b"x"]):
        paths = LibraryPaths(Path(shutil.copytree(killed.root, tmp_path / str(number))))
        (paths.root / name).write_bytes(data)
        assert _sound(paths, answers)
    paths = LibraryPaths(Path(shutil.copytree(killed.root, tmp_path / "folder")))
    (paths.root / name).unlink()
    (paths.root / name).mkdir()
    assert _sound(paths, answers) or name == "catalog.sqlite-shm"
