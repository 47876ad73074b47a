"""A library whose truth lies on a server, seen from folders of this machine."""

from __future__ import annotations

import io
import json
import platform
import shutil
import subprocess
import sys

import pytest

import ragkit
from ragkit.errors import LibraryError, SettingsError, SourceError
from ragkit.health.findings import Depth
from ragkit.health.recovery import recover
from ragkit.library.uploads import UploadState
from ragkit.paths import LibraryPaths
from ragkit.surfaces.render_status import status_as_json
from ragkit.types import ALL_COLLECTIONS

QUESTION = "which bird sings at night"


@pytest.fixture
def birds(tmp_path):
    """A folder with three notes."""
    folder = tmp_path / "birds"
    folder.mkdir()
    for name in ("nightingale", "sparrow", "owl"):
        sings = "sings at night" if name == "nightingale" else "is quiet"
        text = f"# The {name}\n\nThis bird is called {name}. The {name} {sings}.\n"
        (folder / f"{name}.md").write_text(text, "utf-8")
    return folder


def _found(library):
    return [
        (result.document.path, result.score)
        for result in library.search(QUESTION, candidates=50).results
    ]


def _index(library, folder):
    return library.jobs.wait(library.sources.sync(library.sources.add_folder(folder)))


def test_every_folder_of_a_library_on_a_server_answers_as_one_in_a_file(database, birds, tmp_path):
    with ragkit.open(tmp_path / "file", create=True) as library:
        _index(library, birds)
        expected = _found(library)
    with ragkit.open(tmp_path / "one", create=True, backend=database) as library:
        assert _index(library, birds).message.startswith("3 indexed")
        assert _found(library) == expected
    assert not LibraryPaths(tmp_path / "one").catalog.exists()
    # Another machine: a folder that does not exist yet, and that can be deleted at any time.
    for _ in range(2):
        with ragkit.open(tmp_path / "other", backend=database) as library:
            assert _found(library) == expected
        shutil.rmtree(tmp_path / "other")
    with ragkit.open(tmp_path / "one", backend=database) as library:
        (birds / "owl.md").unlink()
        library.jobs.wait(library.sources.sync(accept_removals=True))
        assert "owl.md" not in dict(_found(library))


def test_an_index_of_another_library_is_never_believed(postgres, birds, tmp_path):
    first, second = postgres.new_database(), postgres.new_database()
    with ragkit.open(tmp_path / "folder", create=True, backend=first) as library:
        _index(library, birds)
        assert _found(library)[0][0] == "nightingale.md"
        generations = list(library.paths.indexes.glob("*/*/*/*/manifest.json"))
    assert generations
    (birds / "nightingale.md").rename(birds / "robin.md")
    with ragkit.open(tmp_path / "elsewhere", create=True, backend=second) as library:
        _index(library, birds)
        expected = _found(library)
    # The same folder, with its index files of the first, serves the second; then the first again.
    with ragkit.open(tmp_path / "folder", backend=second) as library:
        assert _found(library) == expected
        assert expected[0][0] == "robin.md"
    with ragkit.open(tmp_path / "folder", backend=first) as library:
        assert _found(library)[0][0] == "nightingale.md"


def test_a_folder_serves_one_library_and_says_which(database, postgres, birds, tmp_path):
    with ragkit.open(tmp_path / "file", create=True) as library:
        _index(library, birds)
    with pytest.raises(LibraryError, match="holds a library of its own"):
        ragkit.open(tmp_path / "file", backend=database)
    with ragkit.open(tmp_path / "folder", create=True, backend=database) as library:
        uploads = library.sources.uploads()
        machine = library.paths.machine
    with pytest.raises(LibraryError, match="belongs to the library at postgresql://127"):
        ragkit.open(tmp_path / "folder", create=True)
    with pytest.raises(LibraryError, match="belongs to the library at postgresql://127"):
        recover(LibraryPaths(tmp_path / "folder"))
    assert not LibraryPaths(tmp_path / "folder").catalog.exists()
    # Its files would be taken for the other library's.
    with ragkit.open(tmp_path / "folder", backend=database) as library:
        assert library.paths.machine == machine == uploads.machine
        assert library.paths.collection_uploads(uploads.collection_id).is_dir()
        (library.paths.collection_uploads(uploads.collection_id) / "a.md").write_text("text")
    with pytest.raises(LibraryError, match="uploaded to another library"):
        ragkit.open(tmp_path / "folder", create=True, backend=postgres.new_database())


def test_no_password_is_shown(tmp_path, monkeypatch):
    address = "postgresql://someone:s3cret@127.0.0.1:1/nowhere?password=s3cret"
    with pytest.raises(LibraryError) as caught:
        ragkit.open(tmp_path / "folder", backend=address)
    assert "does not answer" in str(caught.value)
    assert "s3cret" not in f"{caught.value} {caught.value.cure} {caught.value.__cause__}"
    settings = ragkit.load_settings(backend=address)
    assert "s3cret" not in f"{settings!r} {settings.model_dump_json()}"
    with pytest.raises(SettingsError, match="needs a PostgreSQL address") as refused:
        ragkit.load_settings(backend="mysql://someone:s3cret@host/x")
    assert "s3cret" not in str(refused.value)


def test_a_machine_reads_its_own_folders_and_those_that_all_share(database, birds, tmp_path):
    shared = {"sources": {"shared_roots": [str(birds)]}}
    with (
        ragkit.open(tmp_path / "one", create=True, backend=database) as one,
        ragkit.open(tmp_path / "other", backend=database) as other,
        ragkit.open(tmp_path / "third", backend=database, **shared) as third,
    ):
        own = one.sources.add_folder(birds, "own")
        assert own.machine == one.paths.machine
        assert (one.writer().reads(own), other.writer().reads(own)) == (True, False)
        one.catalog.jobs.heartbeat(1, 1.0, "idle", {"host": "attic"})
        with pytest.raises(SourceError, match=r"folder of another machine \(attic\)"):
            other.sources.add_folder(birds, "own")
        assert third.sources.add_folder(birds, "own").machine == ""
        common = third.sources.add_folder(birds, "common")
        assert all(each.writer().reads(common) for each in (one, other, third))
        assert one.sources.add_folder(birds, "common").machine == ""


def test_a_job_about_files_elsewhere_waits_for_the_machine_that_has_them(database, birds, tmp_path):
    with (
        ragkit.open(tmp_path / "one", create=True, backend=database) as one,
        ragkit.open(tmp_path / "other", backend=database) as other,
    ):
        source = one.sources.add_folder(birds)
        every = other.sources.sync()
        done = other.jobs.wait(every)
        assert done.message == "1 folder left to other machines."
        assert one.sources.list()[0].state == "new"
        left = other.jobs.open()
        assert [job.arguments for job in left] == [{"source_id": source.id}]
        assert one.jobs.wait(left[0].id).message.startswith("3 indexed")
        one.catalog.jobs.heartbeat(1, 1.0, "idle", {"host": "attic"})
        document = other.documents.list()[0].id
        assert other.documents.get(document).elsewhere == "attic"
        assert other.sources.elsewhere(other.sources.list()[0]) == "attic"
        assert one.documents.get(document).elsewhere == ""
        assert one.sources.elsewhere(source) == ""
        note = json.loads(other.paths.server.read_text("utf-8"))
        assert note["id"] == other.paths.machine != one.paths.machine


def test_what_stood_in_the_way_of_a_file_is_said_of_a_server(database, birds, tmp_path):
    with ragkit.open(tmp_path / "one", create=True, backend=database) as one:
        _index(one, birds)
        findings = {finding.name: finding for finding in one.health.check(Depth.CHECK)}
        assert "pg_dump" in findings["backups"].sentence
        assert findings["machines"].sentence.startswith("The library lies on postgresql://127")
        assert all(finding.ok for finding in findings.values())
        with pytest.raises(LibraryError, match="not copied by ragkit"):
            one.export(tmp_path / "archive.zip")
        other = ragkit.open(tmp_path / "other", backend=database)
        other.catalog.jobs.heartbeat(1, 1.0, "idle", {"host": "attic", "folder": "/there"})
        findings = [finding.sentence for finding in one.health.check()]
        assert "Another worker is idle: attic, /there." in findings
        other.close()


def test_the_same_batch_stored_again_changes_nothing(database, birds, tmp_path):
    with ragkit.open(tmp_path / "one", create=True, backend=database) as library:
        _index(library, birds)
        expected = _found(library)
        entries = library.catalog.entries.count(ALL_COLLECTIONS)
        for _ in range(2):
            library.jobs.wait(library.sources.sync(reread=True))
            assert library.documents.counts().documents == 3
            assert library.catalog.entries.count(ALL_COLLECTIONS) == entries
            assert _found(library) == expected
        vectors = library.catalog.connections.column("SELECT COUNT(*) FROM vectors")[0]
        texts = library.catalog.connections.column("SELECT COUNT(DISTINCT text_hash) FROM entries")[
            0
        ]
        assert vectors == texts


def test_status_says_where_the_library_lies_and_who_makes_its_backups(database, birds, tmp_path):
    with ragkit.open(tmp_path / "one", create=True, backend=database) as library:
        _index(library, birds)
        address = library.health.server
        assert library.health.backups() == []
        assert status_as_json(library)["server"] == address
    assert address == f"postgresql://127.0.0.1/{database.rpartition('/')[2]}"
    command = [sys.executable, "-m", "ragkit", "status", "--backend", database]
    done = subprocess.run(
        [*command, "--library", tmp_path / "one"], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert f"Server     {address}" in lines
    assert "Backups    Backups of the catalog are made where its server runs (pg_dump)." in lines


def test_what_was_dropped_is_listed_where_it_was_dropped(database, tmp_path):
    with (
        ragkit.open(tmp_path / "one", create=True, backend=database) as one,
        ragkit.open(tmp_path / "other", backend=database) as other,
    ):
        for library, name in ((one, "one.md"), (other, "other.md")):
            library.uploads.add(name, io.BytesIO(f"# Notes of {name}\n\nText.\n".encode()))
            library.jobs.wait(library.sources.sync(library.sources.uploads()))
        for library, name in ((one, "one.md"), (other, "other.md")):
            lines = library.uploads.lines("default")
            assert [(line.name, line.state) for line in lines] == [(name, UploadState.INDEXED)]
            assert library.documents.counts().indexed == 2
        one.uploads.dismiss("default")
        assert one.uploads.lines("default") == []
        assert len(other.uploads.lines("default")) == 1
        # A document is removed by the machine that has its file, and waits for it.
        document = next(each for each in one.documents.list() if each.path == "other.md")
        place = f"{platform.node()}, {tmp_path / 'other'}"
        assert one.documents.get(document.id).elsewhere == place
        job = one.jobs.add("remove_documents", document_ids=[document.id])
        assert one.jobs.progress()[1].phase == f"Waiting for {place}"
        assert other.jobs.progress()[1].phase == ""
        findings = one.health.check(Depth.CHECK)
        assert {finding.name for finding in findings if not finding.ok} <= {"worker"}
        said = [finding.sentence for finding in findings if finding.name == "sources"]
        assert any(line.startswith(f"Files uploaded on {place}:") for line in said)
        other.catalog.jobs.heartbeat(1, 1.0, "idle", {"host": "attic"})
        assert one.jobs.progress()[1].phase == ""
        assert one.documents.get(document.id).elsewhere == "attic"
        assert other.jobs.wait(job).message == "Removed 1 document."
        assert not list(other.paths.uploads.rglob("other.md"))
        assert one.documents.counts().indexed == 1


def test_uploads_that_another_machine_removes_are_deleted_where_they_lie(database, tmp_path):
    with (
        ragkit.open(tmp_path / "one", create=True, backend=database) as one,
        ragkit.open(tmp_path / "other", backend=database) as other,
    ):
        for collection in ("kept", "gone"):
            one.uploads.add("a.md", io.BytesIO(b"# Notes\n\nText.\n"), collection)
            source = one.sources.uploads(collection)
            one.jobs.wait(one.sources.sync(source))
            job = other.jobs.add("remove_source", source_id=source.id)
            if collection == "gone":
                job = other.jobs.add("remove_collection", collection=collection)
            assert other.jobs.wait(job).state.value == "done"
            if collection == "kept":
                # Something came since: it is not what was removed.
                one.uploads.add("b.md", io.BytesIO(b"# More\n\nText.\n"), collection)
            (left,) = one.jobs.open()
            assert left.kind == "remove_uploads"
            assert other.jobs.progress()[1].phase.startswith("Waiting for ")
            one.jobs.wait(left.id)
            assert (one.paths.uploads / source.root).exists() == (collection == "kept")
        assert one.collections.names() == ["kept"]


def test_commands_take_the_address_and_say_where_the_library_lies(database, tmp_path):
    def ragkit_says(*arguments):
        command = [sys.executable, "-P", "-m", "ragkit", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        return done.returncode, done.stdout, done.stderr

    here = ("--library", str(tmp_path / "one"), "--backend", database)
    code, _out, err = ragkit_says("status", *here)
    assert (code, err.partition(" in ")[0]) == (3, "ragkit: There is no library")
    assert ragkit_says("collections", "new", "birds", *here)[0] == 0
    code, out, _err = ragkit_says("status", *here)
    assert code == 0
    assert f"Server     postgresql://127.0.0.1/{database.rpartition('/')[2]}" in out
    code, _out, err = ragkit_says("backup", *here)
    assert (code, "pg_dump" in err) == (3, True)
    code, _out, err = ragkit_says("restore", "--yes", *here)
    assert (code, "on a server" in err) == (3, True)
