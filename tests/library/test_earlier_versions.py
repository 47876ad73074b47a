"""A library of any earlier schema opens, is migrated, holds the same and finds the same.

``version_N.sql`` is a whole catalog, written out as SQL by the program whose schema had N
migrations. (No program that still runs had two or three: there it is the one with four, without
the last migrations, whose tables held nothing. Of 8 and 9 there is none: they came with 10.) The
texts are those of ``version_7.sql``. None of these files is ever written again.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ragkit.catalog.schema import MIGRATIONS, migrate
from ragkit.health.checks import verify_library
from ragkit.health.findings import Parts
from ragkit.library import Library
from ragkit.paths import LibraryPaths
from ragkit.settings import load_settings

_HERE = Path(__file__).parent
_VERSIONS = (*range(1, 8), 10)
_FOUND = {
    "refund after 30 days": ["refunds.md", "planning.txt", "garantie.md"],
    "decode_frame brightness": ["decode.py"],
    "Garantie Lieferung": ["garantie.md", "refunds.md", "planning.txt", "decode.py"],
    "who sends the new instructions with every parcel": [
        "planning.txt",
        "refunds.md",
        "garantie.md",
    ],
}
"""What each of those programs found: documents in order, without those that scored nothing."""


@pytest.fixture(params=_VERSIONS)
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of a library of that version."""
    paths = LibraryPaths(tmp_path / "library")
    paths.create()
    with closing(sqlite3.connect(paths.catalog)) as connection:
        connection.executescript((_HERE / f"version_{request.param}.sql").read_text("utf-8"))
        assert connection.execute("PRAGMA user_version").fetchone() == (request.param,)
    return paths.root


def texts_of(file: Path) -> dict[str, str]:
    query = "SELECT path, text FROM documents JOIN texts ON document_id = documents.id"
    with closing(sqlite3.connect(file)) as connection:
        return dict(connection.execute(query).fetchall())


def test_every_version_before_has_its_library():
    assert len(MIGRATIONS) >= 7
    assert set(_HERE.glob("version_*.sql")) == {_HERE / f"version_{n}.sql" for n in _VERSIONS}


def test_it_is_migrated_and_finds_the_same(root: Path):
    before = texts_of(root / "catalog.sqlite")
    assert len(before) == 4
    library = Library.open(load_settings(library=root, models={"embedder": "hash"}))
    found = {
        question: [one.document.path for one in library.search(question).results if one.score > 0]
        for question in _FOUND
    }
    assert found == _FOUND
    parts = Parts(library.settings, library.paths, library.catalog, library.embedder)
    ill = {one.name: one.sentence for one in verify_library(parts) if not one.ok}
    library.close()
    assert set(ill) <= {"folders"}, "the folder of the notes is not there"
    assert texts_of(root / "catalog.sqlite") == before


def tables_of(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    query = "SELECT name, sql FROM sqlite_master WHERE name NOT GLOB 'sqlite_*' ORDER BY name"
    return [(name, " ".join(sql.split())) for name, sql in connection.execute(query)]


def test_its_tables_are_those_of_a_new_library(root: Path):
    new = sqlite3.connect(":memory:", isolation_level=None)
    old = sqlite3.connect(root / "catalog.sqlite", isolation_level=None)
    with closing(new), closing(old):
        migrate(new)
        migrate(old)
        assert tables_of(old) == tables_of(new)
        assert old.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
        assert old.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert old.execute("PRAGMA foreign_key_check").fetchall() == []
