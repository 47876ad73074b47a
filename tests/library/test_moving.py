"""A whole library goes to a server and back: the same rows, ids and answers."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from several_machines import held, write_notes

import ragkit
from ragkit.catalog import Catalog, transfer
from ragkit.errors import LibraryBusyError, LibraryError
from ragkit.indexing.writer import writer_lock
from ragkit.library.moving import move_library, settings_of_copy
from ragkit.settings import load_settings

_KILLED = """
import os, signal, sys
from pathlib import Path
from ragkit.library.moving import move_library, settings_of_copy
from ragkit.settings import load_settings
folder, to, at = sys.argv[1], sys.argv[2], int(sys.argv[3])
settings = load_settings(library=Path(folder))
def watch(progress):
    if progress.done >= at:
        os.kill(os.getpid(), signal.SIGKILL)
move_library(settings, settings_of_copy(settings, to, None), watch=watch)
"""


@pytest.fixture
def folder(tmp_path):
    """The folder of a library with documents, an upload, a removal and a strange text."""
    with ragkit.open(tmp_path / "library", create=True) as library:
        for notes in write_notes(tmp_path, 2, 6):
            library.sources.add_folder(notes)
        strange = tmp_path / "documents" / "folder 0" / "strange.md"
        strange.write_text("# Odd\n\nNaïve \u0416 \U0001f600 café and a \u2028 break.\n", "utf-8")
        with strange.open("rb") as stream:
            library.uploads.add("dropped.md", stream)
        library.jobs.wait(library.sources.sync())
        (tmp_path / "documents" / "folder 0" / "whale 0 0.md").unlink()
        library.jobs.wait(library.sources.sync(accept_removals=True))
        library.catalog.set_meta("note", {"of": "a page"})
    return tmp_path / "library"


def _move(folder, to, backend="", **options):
    settings = load_settings(library=folder, backend=backend or None)
    return move_library(settings, settings_of_copy(settings, str(to), None), **options)


def _tables(catalog):
    return {
        table.name: (table.count(catalog.connections), table.checksum(catalog.connections))
        for table in transfer.tables()
        if table.name != "sources"
    }


def _next_ids(catalog):
    """The ids that the next collection, job-free, and the next change would have."""
    collection = catalog.collections.ensure("one more")
    with catalog.connections.write() as transaction:
        row = transaction.execute("INSERT INTO lineage (token) VALUES ('x') RETURNING version")
        return collection.id, row.fetchone()[0]


def test_a_library_goes_to_a_server_and_back(folder, database, tmp_path):
    with ragkit.open(folder) as library:
        expected, before = held(library), _tables(library.catalog)
        assert before["entries"][0] > 20
        assert before["removed_entries"][0] > 0
    moved = _move(folder, database)
    assert moved.rows["documents"] == before["documents"][0]
    assert moved.uploads == 1
    with ragkit.open(moved.folder, backend=database) as library:
        assert held(library) == expected
        assert _tables(library.catalog) == before
        assert library.catalog.get_meta("note") == {"of": "a page"}
        sources = library.sources.list()
        assert {source.machine for source in sources} == {library.paths.machine}
        done = library.jobs.wait(library.sources.sync())
        assert done.message.startswith("Nothing new")
        # The uploaded file lies elsewhere now, which was noted.
        before |= {"documents": _tables(library.catalog)["documents"]}
    back = _move(moved.folder, tmp_path / "back", database)
    assert back.rows == moved.rows
    with ragkit.open(tmp_path / "back") as library, ragkit.open(folder) as original:
        assert held(library) == expected
        assert _tables(library.catalog) == before
        assert {source.machine for source in library.sources.list()} == {""}
        assert _next_ids(library.catalog)[0] == _next_ids(original.catalog)[0]
        library.jobs.wait(library.sources.sync())
        assert all(finding.ok for finding in library.health.verify())


def test_no_id_is_given_out_twice(folder, database):
    with ragkit.open(folder) as library:
        library.catalog.collections.delete(library.catalog.collections.ensure("gone").id)
    _move(folder, database)
    there = Catalog.open_server(database)
    with ragkit.open(folder) as library:
        assert _next_ids(there) == _next_ids(library.catalog)
    there.close()


@pytest.mark.parametrize("at", [60, 100_000])
def test_a_killed_copy_goes_on_and_is_no_library_before(folder, database, at):
    """Killed in the middle, and while the tables are compared."""
    with ragkit.open(folder) as library:
        expected, before = held(library), _tables(library.catalog)
        total = sum(rows for rows, _checksum in before.values())
    command = [sys.executable, "-P", "-c", _KILLED, str(folder), database, str(min(at, total))]
    killed = subprocess.run(command, env=dict(os.environ), capture_output=True)
    assert killed.returncode == -9, killed.stderr
    with pytest.raises(LibraryError, match="copy of a library that was not finished"):
        ragkit.open(folder.with_name("library-server"), backend=database)
    moved = _move(folder, database)
    with ragkit.open(moved.folder, backend=database) as library:
        assert _tables(library.catalog) == before
        assert held(library) == expected


def test_what_is_there_is_never_overwritten(folder, database, tmp_path):
    with ragkit.open(tmp_path / "other", create=True) as library:
        library.collections.add("mine")
    with pytest.raises(LibraryError, match="already"):
        _move(folder, tmp_path / "other")
    _move(folder, database)
    with pytest.raises(LibraryError, match="already"):
        _move(folder, database)
    with writer_lock(folder / "writer.lock", "worker"), pytest.raises(LibraryBusyError):
        _move(folder, tmp_path / "new")


def test_a_change_between_two_attempts_is_seen(folder, database):
    command = [sys.executable, "-P", "-c", _KILLED, str(folder), database, "100"]
    subprocess.run(command, env=dict(os.environ), capture_output=True)
    with ragkit.open(folder) as library:
        document = library.catalog.connections.column("SELECT min(id) FROM documents")[0]
        with library.catalog.connections.write() as connection:
            connection.execute("UPDATE documents SET title = 'other' WHERE id = ?", (document,))
        expected = _tables(library.catalog)
    with pytest.raises(LibraryError, match=r"not the same yet \(documents\)"):
        _move(folder, database)
    moved = _move(folder, database, restart=True)
    with ragkit.open(moved.folder, backend=database) as library:
        assert _tables(library.catalog) == expected
