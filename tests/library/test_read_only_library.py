"""A library that may not be written can be searched, and says why nothing else can be done."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from ragkit.catalog.judgments import Origin
from ragkit.errors import CatalogError
from ragkit.library import Library
from ragkit.paths import LibraryPaths
from ragkit.settings import Settings

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="file modes of Unix")
_NOBODY = 65534


def _open(root: Path, *, create: bool = False) -> Library:
    return Library.open(Settings(library=root, models={"embedder": "hash"}), create=create)


@contextmanager
def _without_rights() -> Iterator[None]:
    """Run the block as somebody whom file modes bind."""
    if os.getuid() != 0:
        yield
        return
    os.setresuid(_NOBODY, _NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that everybody may read; those of pytest are for their owner alone."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def _make(root: Path, *, killed: bool) -> LibraryPaths:
    """Make a library with one file and take the right to write it away, log and all if killed."""
    (root / "files").mkdir()
    (root / "files" / "heron.md").write_text("# Heron\n\nThe heron wades slowly.\n")
    library = _open(root / "made", create=True)
    library.sources.add_folder(root / "files")
    library.jobs.wait(library.jobs.add("sync"))
    (heron,) = library.documents.list()
    library.judgments.add("default", "Who wades?", heron.id, 2, origin=Origin.SEARCH)
    library.searches.note("Who wades?", library.search("Who wades?"), library.options(), door="api")
    if killed:
        shutil.copytree(root / "made", root / "library")
        Path(root, "library", "catalog.sqlite-shm").unlink()
    library.close()
    if not killed:
        shutil.copytree(root / "made", root / "library")
    paths = LibraryPaths(root / "library")
    for path in (paths.root, *paths.root.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    return paths


def _lose_nothing(paths: LibraryPaths) -> None:
    pass


def _lose_indexes(paths: LibraryPaths) -> None:
    paths.root.chmod(0o755)
    shutil.rmtree(paths.indexes)
    paths.root.chmod(0o555)


@pytest.mark.parametrize("killed", [False, True])
@pytest.mark.parametrize("lose", [_lose_nothing, _lose_indexes])
def test_a_read_only_library_is_searched(place, killed, lose: Callable[[LibraryPaths], None]):
    paths = _make(place, killed=killed)
    lose(paths)
    before = {path: path.stat().st_mtime_ns for path in paths.root.rglob("*")}
    with _without_rights():
        for create in (False, True):
            with _open(paths.root, create=create) as library:
                answer = library.search("heron wades")
                assert [result.document.path for result in answer.results] == ["heron.md"]
                assert library.documents.counts().indexed == 1
                library.searches.note("heron", answer, library.options(), door="page")
                assert library.searches.trouble.endswith("noted: Permission denied.")
                assert [one.question for one in library.searches.log()] == ["Who wades?"]
                assert not library.worker.state().running
                findings = {finding.name: finding for finding in library.health.check()}
                assert findings["embedder"].ok
                with pytest.raises(CatalogError, match="cannot be written") as caught:
                    library.jobs.add("sync")
                assert "permissions" in caught.value.cure
    assert {path: path.stat().st_mtime_ns for path in paths.root.rglob("*")} == before


def test_a_read_only_library_is_measured_and_nothing_is_kept(place):
    paths = _make(place, killed=False)
    # What it imports may lie where nobody else may read.
    with _open(place / "made") as library:
        library.ablations.run("default", tables=["contexts"])
        assert library.ablations.kept("default") is not None
    with _without_rights(), _open(paths.root) as library:
        figures = library.ablations.run("default", tables=["contexts"])
        measured = [cell.name for cell in figures.cells if not cell.reason]
        assert len(measured) == 8
        assert figures.questions == "1 question rated on the pages"
        assert library.ablations.kept("default") is None


def test_a_transaction_that_was_cut_off_is_undone_in_a_copy(place):
    paths = _make(place, killed=False)
    busy = place / "busy.sqlite"
    shutil.copyfile(paths.catalog, busy)
    with closing(sqlite3.connect(busy, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE filler (a)")
        connection.executemany("INSERT INTO filler VALUES (?)", [("x" * 3000,)] * 200)
        connection.execute("UPDATE documents SET path = 'half.md'")
        paths.root.chmod(0o755)
        paths.catalog.chmod(0o644)
        for ending in ("", "-journal"):
            shutil.copyfile(f"{busy}{ending}", f"{paths.catalog}{ending}")
    for path in (Path(f"{paths.catalog}-journal"), paths.catalog):
        path.chmod(0o444)
    paths.root.chmod(0o555)
    with _without_rights(), _open(paths.root) as library:
        (result,) = library.search("heron wades").results
        assert result.document.path == "heron.md"
        assert all(finding.ok for finding in library.health.verify())


def test_files_that_nobody_here_may_look_at_are_found_and_not_said_to_be_gone(place):
    paths = _make(place, killed=False)
    (place / "files").chmod(0o700)
    with _without_rights(), _open(paths.root) as library:
        (result,) = library.search("heron wades").results
        assert (result.document.path, result.missing) == ("heron.md", False)
    (place / "files" / "heron.md").unlink()
    with _open(paths.root) as library:
        (result,) = library.search("heron wades").results
        assert (result.document.path, result.missing) == ("heron.md", True)
        # A drive that comes back changes nothing in the library, whose answer is kept meanwhile.
        (place / "files" / "heron.md").write_text("Back.", "utf-8")
        (result,) = library.search("heron wades").results
        assert not result.missing
        (place / "files" / "heron.md").unlink()
        (result,) = library.search("heron wades").results
        assert result.missing


def test_a_read_only_library_of_an_earlier_version_is_searched(place, monkeypatch):
    paths = _make(place, killed=False)

    def m999_more(connection):
        connection.execute("CREATE TABLE more (a)")

    from ragkit.catalog import read_only, schema

    more = (*schema.MIGRATIONS, m999_more)
    monkeypatch.setattr(schema, "MIGRATIONS", more)
    monkeypatch.setattr(read_only, "MIGRATIONS", more)
    data = paths.catalog.read_bytes()
    with _without_rights(), _open(paths.root) as library:
        assert library.catalog.integrity.version() == len(more)
        assert library.search("heron wades").results
    assert paths.catalog.read_bytes() == data
