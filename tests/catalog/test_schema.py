from __future__ import annotations

import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest

from ragkit.catalog import Catalog
from ragkit.catalog.connection import PUT_META
from ragkit.catalog.first_tables import m001_tables
from ragkit.catalog.schema import MIGRATIONS, migrate, migration_note
from ragkit.errors import CatalogError, LibraryError, LibraryFormatError


def test_a_fresh_catalog_is_at_the_newest_version_and_notes_each_migration(catalog):
    connection = catalog.connections.get()
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)
    notes = dict(connection.execute("SELECT key, value FROM meta").fetchall())
    assert notes["migration 001"].startswith("m001_tables ")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def _laid(connection):
    """All that lies in a catalog of the newest version, but for the numbers of its pages."""
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    columns = "type, name, tbl_name, sql"
    items = connection.execute(f"SELECT {columns} FROM sqlite_master ORDER BY type, name")
    laid = items.fetchall()
    assert len(laid) > 50
    rows = {
        name: connection.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall()
        for kind, name, *_ in laid
        if kind == "table" and name != "sqlite_sequence"  # A migration leaves a 0 there.
    }
    notes = [(key, note.partition(" ")[0]) for key, note in rows.pop("meta")]
    return laid, rows, notes


def test_a_new_catalog_is_what_all_migrations_make_of_the_first_tables(tmp_path):
    new, old = (sqlite3.connect(tmp_path / name, isolation_level=None) for name in ("new", "old"))
    with closing(new), closing(old):
        migrate(new)
        m001_tables(old)
        old.execute(PUT_META, migration_note("m001_tables"))
        old.execute("PRAGMA user_version = 1")
        migrate(old)
        assert _laid(new) == _laid(old)


def test_opening_again_changes_nothing(library_paths, catalog):
    before = catalog.connections.rows("SELECT * FROM meta ORDER BY key")
    again = Catalog.open(library_paths.catalog)
    assert again.connections.rows("SELECT * FROM meta ORDER BY key") == before
    again.close()


def test_a_newer_catalog_is_refused_and_left_alone(library_paths):
    Catalog.open(library_paths.catalog, create=True).close()
    with sqlite3.connect(library_paths.catalog) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    with pytest.raises(LibraryFormatError, match=r"newer ragkit .catalog version 999.") as caught:
        Catalog.open(library_paths.catalog)
    assert "Update ragkit" in caught.value.cure
    connection = sqlite3.connect(library_paths.catalog)
    assert connection.execute("PRAGMA user_version").fetchone() == (999,)
    connection.close()


def test_a_migration_that_fails_leaves_no_trace(library_paths, monkeypatch):
    def m002_broken(connection):
        connection.execute("CREATE TABLE half (a)")
        raise sqlite3.OperationalError("disk I/O error")

    Catalog.open(library_paths.catalog, create=True).close()
    monkeypatch.setattr("ragkit.catalog.schema.MIGRATIONS", (*MIGRATIONS, m002_broken))
    with pytest.raises(CatalogError, match="cannot be read or written"):
        Catalog.open(library_paths.catalog)
    monkeypatch.undo()
    opened = Catalog.open(library_paths.catalog)
    assert opened.connections.rows("SELECT 1 FROM sqlite_master WHERE name = 'half'") == []
    assert opened.connections.row("PRAGMA user_version") == (len(MIGRATIONS),)
    opened.close()


def test_a_library_that_is_not_there_is_not_made_by_looking(tmp_path):
    with pytest.raises(LibraryError, match="There is no library in") as caught:
        Catalog.open(tmp_path / "none" / "catalog.sqlite")
    assert "ragkit add" in caught.value.cure
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_a_plain_error(tmp_path):
    with pytest.raises(CatalogError, match="cannot be opened"):
        Catalog.open(tmp_path / "none" / "catalog.sqlite", create=True)


_OPEN = """
import sys, time
from pathlib import Path
from ragkit.catalog import Catalog
time.sleep(max(0, float(sys.argv[2]) - time.time()))
catalog = Catalog.open(Path(sys.argv[1]), create=True)
catalog.collections.ensure("default")
print(len(catalog.collections.all()))
"""


def test_processes_that_open_a_fresh_library_at_once_all_succeed(library_paths):
    at = str(time.time() + 2.0)
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", _OPEN, str(library_paths.catalog), at],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    ends = [(*run.communicate(timeout=60), run.returncode) for run in runs]
    assert [(code, out.strip()) for out, _, code in ends] == [(0, "1")] * len(runs), ends
    opened = Catalog.open(library_paths.catalog)
    assert opened.connections.rows("SELECT COUNT(*) FROM meta") == [(len(MIGRATIONS),)]
    opened.close()


def test_a_migration_that_is_added_in_between_is_made_up_for(library_paths, monkeypatch):
    without = tuple(step for step in MIGRATIONS if step.__name__ != "m010_retries")
    assert len(without) == len(MIGRATIONS) - 1
    monkeypatch.setattr("ragkit.catalog.schema.MIGRATIONS", without)
    Catalog.open(library_paths.catalog, create=True).close()
    monkeypatch.undo()
    opened = Catalog.open(library_paths.catalog)
    assert opened.connections.rows("SELECT document_id FROM retries") == []
    assert opened.connections.row("PRAGMA user_version") == (len(MIGRATIONS),)
    names = dict(opened.connections.rows("SELECT key, value FROM meta"))
    assert names["migration 010"].startswith("m010_retries ")
    assert names["migration 011"].startswith("m011_threads ")
    opened.close()
