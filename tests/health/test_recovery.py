"""Backups of the catalog, going back to one, and what is saved of a damaged one."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from health_library import work

from ragkit.answers import Turn
from ragkit.catalog.copies import backups, keep_backup, write_copy
from ragkit.catalog.records import JobState
from ragkit.errors import CatalogError, LibraryBusyError, LibraryError, LibraryFormatError
from ragkit.health.findings import Depth
from ragkit.health.recovery import recover, restore, unknown_uploads
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library
from ragkit.paths import LibraryPaths
from ragkit.settings import Settings

_ANIMALS = ("heron", "walrus", "ibis", "lynx", "otter")
_ALL = sorted([*(f"{animal}.md" for animal in _ANIMALS), "note.md"])


def _open(root: Path, *, create: bool = False) -> Library:
    return Library.open(Settings(library=root, models={"embedder": "hash"}), create=create)


def _judge(library: Library, question: str) -> None:
    connections = library.catalog.connections
    with connections.write() as connection:
        connection.execute(
            "INSERT INTO judgments (collection_id, question, document_id, path, content_hash, "
            "start, stop, quote, grade, origin, at) VALUES (1, ?, 1, 'x', '', 0, 1, '', 2, '', 0)",
            (question,),
        )
    library.threads.add(library.threads.begin(question, ["default"]).id, Turn(question, question))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed library of five files and an upload, with one backup; nothing here is changed."""
    root = tmp_path_factory.mktemp("made")
    (root / "files").mkdir()
    for animal in _ANIMALS:
        text = f"# {animal}\n\nThe {animal} wades slowly.\n" + f"More of the {animal}. " * 300
        (root / "files" / f"{animal}.md").write_text(text)
    with _open(root / "library", create=True) as library:
        library.sources.add_folder(root / "files")
        library.uploads.add("note.md", io.BytesIO(b"# Note\n\nAn uploaded note.\n"))
        work(library, "sync")
        _judge(library, "before the backup")
        assert re.search(r": \d{3} kB\.$", work(library, "backup"))
        _judge(library, "after the backup")
    return root


@pytest.fixture
def paths(made: Path, tmp_path: Path) -> LibraryPaths:
    return LibraryPaths(Path(shutil.copytree(made / "library", tmp_path / "library")))


def _go_on(paths: LibraryPaths) -> Library:
    """What the commands do after the catalog was replaced."""
    library = _open(paths.root, create=True)
    library.health.read_what_is_lost()
    for kind in ("adopt_uploads", "reread", "sync"):
        work(library, kind)
    return library


def _whole(library: Library) -> bool:
    names = sorted(record.path for record in library.documents.list())
    found = [library.search(f"the {animal} wades").results[0].document.path for animal in _ANIMALS]
    well = [finding for finding in library.health.verify() if not finding.ok]
    assert not well
    return names == _ALL and found == [f"{animal}.md" for animal in _ANIMALS]


def _questions(library: Library) -> list[str]:
    """The questions that were judged, which are those of the threads."""
    judged = library.catalog.connections.column("SELECT question FROM judgments ORDER BY id")
    threads = [library.threads.get(one.id) for one in library.threads.list()]
    assert sorted(turn.question for one in threads for turn in one.turns) == sorted(judged)
    return judged


def test_three_backups_are_kept_and_a_damaged_catalog_drops_none(paths):
    with _open(paths.root) as library:
        connection = library.catalog.connections.get()
        for kept in backups(paths):
            kept.file.unlink()
        names = [f"catalog-2020010{day}-120000.sqlite" for day in (1, 2, 3)]
        for name in names:
            write_copy(connection, paths.backups / name)
        newest = keep_backup(paths, connection)
        kept = backups(paths)
        assert kept[0] == newest
        assert [one.file.name for one in kept[1:]] == [names[2], names[1]]
        assert all(one.file.stat().st_mode & 0o777 == 0o600 for one in kept)
    with paths.catalog.open("r+b") as file:
        file.seek(paths.catalog.stat().st_size // 2 // 4096 * 4096)
        file.write(b"\xa5" * 40960)
    with closing(sqlite3.connect(paths.catalog)) as damaged, pytest.raises(CatalogError):
        keep_backup(paths, damaged)
    assert backups(paths) == kept
    assert sorted(file.name for file in paths.backups.iterdir()) == sorted(
        one.file.name for one in kept
    )


def test_a_backup_goes_to_a_file_and_overwrites_nothing(paths, tmp_path):
    with _open(paths.root) as library:
        assert "Wrote" in work(library, "backup", file=str(tmp_path / "mine.sqlite"))
        job = library.jobs.wait(library.jobs.add("backup", file=str(tmp_path / "mine.sqlite")))
        assert job.state is JobState.FAILED
    paths.catalog.unlink()
    restore(paths, tmp_path / "mine.sqlite")
    with _go_on(paths) as library:
        assert _whole(library)
        assert _questions(library) == ["before the backup", "after the backup"]


def test_a_migration_keeps_a_backup_of_before(paths, monkeypatch):
    from ragkit.catalog import schema

    def m999_more(connection):
        connection.execute("CREATE TABLE more (a)")

    for kept in backups(paths):
        kept.file.unlink()
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, m999_more))
    with _open(paths.root):
        assert len(backups(paths)) == 1
    with _open(paths.root):
        assert len(backups(paths)) == 1


def _gone(paths: LibraryPaths) -> None:
    paths.catalog.unlink()


def _emptied(paths: LibraryPaths) -> None:
    paths.catalog.write_bytes(b"")


def _headless(paths: LibraryPaths) -> None:
    with paths.catalog.open("r+b") as file:
        file.write(bytes(4096))


def _halved(paths: LibraryPaths) -> None:
    os.truncate(paths.catalog, paths.catalog.stat().st_size // 2)


def _holed(paths: LibraryPaths) -> None:
    """Every seventh page is rubbish."""
    with paths.catalog.open("r+b") as file:
        for page in range(5, paths.catalog.stat().st_size // 4096, 7):
            file.seek(page * 4096)
            file.write(b"\xa5" * 4096)


def _half_written(paths: LibraryPaths) -> None:
    """What a process leaves that was killed in a transaction without a log."""
    busy, left = paths.catalog.with_name("busy.sqlite"), {}
    paths.catalog.rename(busy)
    with closing(sqlite3.connect(busy, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("CREATE TABLE filler (a)")
        rows = ((os.urandom(3000),) for _ in range(200))
        connection.executemany("INSERT INTO filler VALUES (?)", rows)
        connection.execute("UPDATE documents SET title = 'half'")
        for ending in ("", "-journal"):
            left[ending] = Path(f"{busy}{ending}").read_bytes()
    assert left["-journal"]
    busy.unlink()
    for ending, data in left.items():
        Path(f"{paths.catalog}{ending}").write_bytes(data)


@pytest.mark.parametrize("replace", [restore, recover])
def test_a_journal_of_the_catalog_of_before_is_not_applied_to_the_one_in_its_place(paths, replace):
    _half_written(paths)
    done = replace(paths)
    assert not Path(f"{paths.catalog}-journal").exists()
    if replace is recover:
        assert done.sentences == ("The catalog is intact; nothing was changed.",)
    with _go_on(paths) as library:
        assert _whole(library)
        assert sorted(record.path for record in library.documents.list()) == _ALL
        assert "half" not in [record.title for record in library.documents.list()]
        assert ("after the backup" in _questions(library)) == (replace is recover)


_DAMAGES = (_gone, _emptied, _headless, _halved, _holed)


@pytest.mark.parametrize("damage", _DAMAGES)
def test_restore_brings_everything_of_the_backup_back(paths, damage):
    damage(paths)
    done = restore(paths)
    assert (done.aside is None) == (damage is _gone)
    with _go_on(paths) as library:
        assert _whole(library)
        assert _questions(library) == ["before the backup"]


@pytest.mark.parametrize("damage", _DAMAGES)
@pytest.mark.parametrize("with_backup", [True, False])
def test_recover_brings_the_documents_back(made, paths, damage, with_backup):
    if not with_backup:
        shutil.rmtree(paths.backups)
    damage(paths)
    done = recover(paths)
    assert done.sentences
    with _go_on(paths) as library:
        if not library.catalog.collections.roots():
            library.sources.add_folder(made / "files")
        known = {source.kind for source in library.sources.list()}
        if "folder" not in known:
            library.sources.add_folder(made / "files")
            work(library, "sync")
        assert _whole(library)
        if with_backup:
            assert "before the backup" in _questions(library)


def test_recover_keeps_a_sound_catalog_that_is_older_than_its_marker(paths):
    backup = backups(paths)[0].file
    with _open(paths.root) as library:
        work(library, "sync")
    shutil.copyfile(backup, paths.catalog)
    with pytest.raises(CatalogError, match="has lost what was saved last"):
        _open(paths.root)
    assert recover(paths).sentences == ("The catalog is intact; nothing was changed.",)
    with _go_on(paths) as library:
        assert _whole(library)


def test_recover_leaves_the_catalog_of_a_newer_version_alone(paths):
    with closing(sqlite3.connect(paths.catalog)) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = paths.catalog.read_bytes()
    with pytest.raises(LibraryFormatError, match=r"written by a newer ragkit \(catalog version 99"):
        recover(paths)
    assert paths.catalog.read_bytes() == before


def test_restore_and_recover_refuse_while_somebody_writes(paths):
    with writer_lock(paths.lock, "worker"):
        for work in (restore, recover):
            with pytest.raises(LibraryBusyError):
                work(paths)
    with pytest.raises(LibraryError, match="There is no backup"):
        restore(paths, paths.root / "none.sqlite")
    paths.marker.with_name("odd.sqlite").write_bytes(b"no catalog")
    with pytest.raises(CatalogError, match="not an intact catalog"):
        restore(paths, paths.marker.with_name("odd.sqlite"))
    with _open(paths.root) as library:
        assert _whole(library)


def test_an_upload_without_a_row_is_found_and_adopted(paths):
    with _open(paths.root) as library:
        (paths.collection_uploads(1) / "lost.md").write_text("# Lost\n\nA lost zebra.\n")
        (paths.uploads / "77").mkdir()
        (paths.uploads / "77" / "other.md").write_text("# Other\n\nAnother zebra.\n")
        assert [file.name for file in unknown_uploads(library.catalog, paths)] == [
            "lost.md",
            "other.md",
        ]
        finding = next(one for one in library.health.check(Depth.CHECK) if one.name == "uploads")
        assert (finding.ok, finding.fix) == (False, "adopt_uploads")
        assert work(library, "adopt_uploads").startswith("Read 2 uploaded files")
        assert library.search("lost zebra").results[0].document.path == "lost.md"
        assert library.search("zebra", collections="uploads 77").results
        assert unknown_uploads(library.catalog, paths) == []


def test_uploads_that_no_sync_reads_are_no_problem(paths):
    with _open(paths.root) as library:
        (paths.collection_uploads(1) / "notes.tmp").write_text("Half a zebra.\n")
        (paths.collection_uploads(1) / "link.md").symlink_to(paths.marker)
        (paths.uploads / "77" / "venv").mkdir(parents=True)
        (paths.uploads / "77" / "venv" / "other.md").write_text("# Other\n\nAnother zebra.\n")
        assert unknown_uploads(library.catalog, paths) == []
        assert work(library, "adopt_uploads").startswith("Read 0 uploaded files")
        assert [one.name for one in library.collections.list()] == ["default"]


_VICTIM = """
import sys
from pathlib import Path
from ragkit.health.recovery import recover, restore
from ragkit.library import Library
from ragkit.paths import LibraryPaths
from ragkit.settings import Settings
root = Path(sys.argv[1])
print("ready", flush=True)
while True:
    restore(LibraryPaths(root))
    recover(LibraryPaths(root))
    with Library.open(Settings(library=root, models={"embedder": "hash"})) as library:
        library.jobs.wait(library.jobs.add("backup"))
"""


def test_a_kill_while_copies_are_made_and_put_in_place_loses_nothing(paths):
    for number in range(6):
        victim = subprocess.Popen(
            [sys.executable, "-c", _VICTIM, str(paths.root)], stdout=subprocess.PIPE
        )
        assert victim.stdout is not None
        victim.stdout.readline()
        time.sleep(0.15 + number * 0.37 % 0.9)
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        victim.stdout.close()
        try:
            _open(paths.root, create=True).close()
        except CatalogError:
            restore(paths)
        with _open(paths.root) as library:
            assert sorted(record.path for record in library.documents.list()) == _ALL
            assert "before the backup" in _questions(library)
        assert backups(paths)
