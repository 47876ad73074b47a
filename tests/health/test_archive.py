from __future__ import annotations

import hashlib
import io
import json
import shutil
import sqlite3
import struct
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from health_library import hits, work

from ragkit.errors import LibraryBusyError, LibraryError, LibraryFormatError
from ragkit.health import archive, archive_import
from ragkit.health.archive import export_library
from ragkit.health.archive_import import import_library
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library
from ragkit.settings import Settings

_UPLOAD = "Protokoll 2024 – Überblick.md"


def _settings(root: Path, **more) -> Settings:
    return Settings(library=root, **{"models": {"embedder": "hash"}, **more})


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A library with a folder and an upload, and an archive of it; nothing here is changed."""
    root = tmp_path_factory.mktemp("made")
    (root / "files").mkdir()
    (root / "files" / "guide.md").write_text("# Guide\n\nOAuth tokens are signed.\n")
    (root / "files" / "long.txt").write_text("About repair and care.\n\n" * 100)
    library = Library.open(_settings(root / "lib"), create=True)
    library.sources.add_folder(root / "files")
    library.uploads.add(_UPLOAD, io.BytesIO("# Protokoll\n\nDas Budget wächst.\n".encode()))
    work(library, "sync")
    library.jobs.add("compact")
    report = export_library(library.settings, library.paths, library.catalog, root / "a.zip")
    assert (report.documents, report.uploads, report.notes) == (3, 1, ())
    assert report.size == (root / "a.zip").stat().st_size
    yield root, library
    library.close()


@pytest.fixture
def good(made) -> Path:
    return made[0] / "a.zip"


def _rewritten(good: Path, target: Path, change) -> Path:
    """A copy of an archive whose members and manifest ``change`` has had its way with."""
    with zipfile.ZipFile(good) as source:
        members = {name: source.read(name) for name in source.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    change(members, manifest)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as written:
        for name, data in members.items():
            written.writestr(name, data)
        if manifest is not None:
            written.writestr("manifest.json", json.dumps(manifest))
    return target


def _list(manifest: dict, name: str, data: bytes) -> None:
    digest = hashlib.blake2b(data, digest_size=32).hexdigest()
    manifest["files"][name] = {"size": len(data), "hash": digest, "mtime_ns": 0}


def _put(members: dict, manifest: dict, name: str, data: bytes) -> None:
    members[name] = data
    _list(manifest, name, data)


def _refused(file: Path, directory: Path) -> str:
    """The sentence with which an archive is refused; nothing of it must stay."""
    with pytest.raises(LibraryError) as caught:
        import_library(file, directory, _settings(directory))
    assert not directory.exists()
    return str(caught.value)


# -- there and back ----------------------------------------------------------------------------


def test_an_imported_library_answers_the_same_without_a_model_call(made, good, tmp_path):
    _, library = made
    report = import_library(good, tmp_path / "new", _settings(tmp_path / "new"))
    assert (report.documents, report.uploads, report.notes) == (3, 1, ())
    moved = Library.open(_settings(tmp_path / "new"))

    asked, embed = [], moved.embedder.embed_passages
    # Questions are embedded, one at a time; nothing of a document may be.
    moved.embedder.embed_passages = lambda texts: asked.extend(texts) or embed(texts)
    for question in ("tokens", "Budget wächst", "repair", 'type:md "OAuth tokens"'):
        assert hits(moved, question) == hits(library, question)
        assert hits(moved, question)
    assert sorted(asked) == ['"OAuth tokens"', "Budget wächst", "repair", "tokens"]
    assert all(one.ok for one in moved.health.verify())
    assert moved.catalog.jobs.open() == []
    assert moved.catalog.jobs.worker() is None
    moved.close()


def test_uploads_lie_in_the_new_place_and_a_sync_finds_nothing_new(made, good, tmp_path):
    import_library(good, tmp_path / "new", _settings(tmp_path / "new"))
    moved = Library.open(_settings(tmp_path / "new"))
    uploads = moved.sources.uploads()
    assert Path(uploads.root) == moved.paths.collection_uploads(1)
    old = made[0] / "lib" / "uploads" / "1" / _UPLOAD
    new = Path(uploads.root, _UPLOAD)
    assert new.read_bytes() == old.read_bytes()
    assert new.stat().st_mtime_ns == old.stat().st_mtime_ns
    job = moved.jobs.wait(moved.sources.sync(uploads))
    assert job.message == "Nothing new, 1 unchanged."
    moved.close()


def test_an_archive_of_the_import_holds_the_same(good, tmp_path):
    import_library(good, tmp_path / "new", _settings(tmp_path / "new"))
    moved = Library.open(_settings(tmp_path / "new"))
    again = tmp_path / "b.zip"
    export_library(moved.settings, moved.paths, moved.catalog, again)
    with zipfile.ZipFile(good) as one, zipfile.ZipFile(again) as other:
        assert sorted(one.namelist()) == sorted(other.namelist())
        assert not [name for name in other.namelist() if "index" in name]
    moved.close()


def test_an_empty_library_goes_there_and_back(tmp_path):
    library = Library.open(_settings(tmp_path / "lib"), create=True)
    report = export_library(library.settings, library.paths, library.catalog, tmp_path / "e.zip")
    assert (report.documents, report.uploads) == (0, 0)
    import_library(tmp_path / "e.zip", tmp_path / "new", library.settings)
    moved = Library.open(_settings(tmp_path / "new"))
    assert moved.documents.counts().documents == 0
    moved.close()
    library.close()


def test_an_empty_library_may_be_imported_into(good, tmp_path):
    Library.open(_settings(tmp_path / "new"), create=True).close()
    import_library(good, tmp_path / "new", _settings(tmp_path / "new"))
    moved = Library.open(_settings(tmp_path / "new"))
    assert moved.documents.counts().indexed == 3
    moved.close()


def test_other_settings_are_said_and_not_taken_over(good, tmp_path):
    settings = _settings(tmp_path / "new", chunking={"words": 200, "overlap": 50})
    notes = import_library(good, tmp_path / "new", settings).notes
    assert len(notes) == 2
    assert notes[0].startswith("It was made with chunking.words = 320; here it is 200.")


# -- exporting ---------------------------------------------------------------------------------


def test_a_file_that_is_there_is_replaced_only_when_asked(made, tmp_path):
    _, library = made
    target = tmp_path / "a.zip"
    target.write_text("mine")
    parts = (library.settings, library.paths, library.catalog, target)
    with pytest.raises(LibraryError, match="already exists"):
        export_library(*parts)
    assert target.read_text() == "mine"
    export_library(*parts, overwrite=True)
    assert zipfile.is_zipfile(target)
    assert [one.name for one in tmp_path.iterdir()] == ["a.zip"]


def test_an_export_that_fails_leaves_nothing(made, tmp_path, monkeypatch):
    _, library = made

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive, "_add", full)
    with pytest.raises(LibraryError, match="no space left"):
        export_library(library.settings, library.paths, library.catalog, tmp_path / "a.zip")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(LibraryError, match="could not be written"):
        export_library(
            library.settings, library.paths, library.catalog, tmp_path / "none" / "a.zip"
        )


def test_lost_uploads_odd_names_and_links_are_left_out_and_said(made, tmp_path):
    shutil.copytree(made[0] / "lib", tmp_path / "lib")
    library = Library.open(_settings(tmp_path / "lib"))
    uploads = library.paths.collection_uploads(1)
    with library.catalog.connections.write() as connection:
        connection.execute("UPDATE sources SET root = ? WHERE kind = 'uploads'", (str(uploads),))
    (uploads / _UPLOAD).unlink()
    (uploads / "what?.md").write_text("odd")
    (uploads / "secret").symlink_to("/etc/passwd")
    parts = (library.settings, library.paths, library.catalog, tmp_path / "b.zip")
    report = export_library(*parts)
    assert report.uploads == 0
    assert sorted(note.split("'")[0].split("1/")[0] for note in report.notes) == [
        "",
        "The uploaded file ",
    ]
    import_library(tmp_path / "b.zip", tmp_path / "new", library.settings)
    library.close()


# -- refusing ----------------------------------------------------------------------------------


def test_a_library_with_contents_is_never_overwritten(made, good):
    root, library = made
    before = hits(library, "tokens")
    with pytest.raises(LibraryError, match="There is already a library in"):
        import_library(good, root / "lib", library.settings)
    assert hits(library, "tokens") == before


def test_a_directory_with_other_files_is_left_alone(good, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("mine")
    with pytest.raises(LibraryError, match="contains other files"):
        import_library(good, tmp_path / "home", _settings(tmp_path / "home"))
    assert [one.name for one in (tmp_path / "home").iterdir()] == ["letter.txt"]


def test_nothing_is_imported_while_another_process_writes(good, tmp_path):
    Library.open(_settings(tmp_path / "new"), create=True).close()
    settings = _settings(tmp_path / "new")
    with writer_lock(tmp_path / "new" / "writer.lock", "worker"), pytest.raises(LibraryBusyError):
        import_library(good, tmp_path / "new", settings)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 0.999])
def test_a_truncated_archive_is_refused(good, tmp_path, share):
    data = good.read_bytes()
    file = tmp_path / "cut.zip"
    file.write_bytes(data[: int(len(data) * share)])
    assert "not a complete archive" in _refused(file, tmp_path / "new")


def test_other_files_and_none_are_refused(tmp_path):
    assert "File not found" in _refused(tmp_path / "none.zip", tmp_path / "new")
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as other:
        other.writestr("photo.jpg", b"x")
    assert "its manifest is missing" in _refused(tmp_path / "other.zip", tmp_path / "new")


def test_every_changed_byte_is_noticed(good, tmp_path):
    data = bytearray(good.read_bytes())
    file = tmp_path / "changed.zip"
    for place in range(200, len(data), len(data) // 15):
        changed = bytearray(data)
        changed[place] ^= 0x55
        file.write_bytes(changed)
        try:
            import_library(file, tmp_path / "new", _settings(tmp_path / "new"))
        except LibraryError:
            assert not (tmp_path / "new").exists()
            continue
        # A byte that means nothing, such as a date: what was imported must be whole.
        moved = Library.open(_settings(tmp_path / "new"))
        assert all(one.ok for one in moved.health.verify())
        moved.close()
        shutil.rmtree(tmp_path / "new")


def test_a_name_that_is_no_text_any_more_is_noticed(good, tmp_path):
    data = bytearray(good.read_bytes())
    with zipfile.ZipFile(good) as archive:
        named = next(one for one in archive.infolist() if not one.filename.isascii())
    # The name stands 30 bytes after the beginning of its own header.
    name = named.filename.encode()
    place = named.header_offset + 30 + next(n for n, byte in enumerate(name) if byte > 0x7F)
    data[place + 1] ^= 0x80
    file = tmp_path / "changed.zip"
    file.write_bytes(data)
    assert "not a complete archive" in _refused(file, tmp_path / "new")


@pytest.mark.parametrize(
    "name",
    [
        "../evil.txt",
        "/etc/evil",
        "uploads/../../evil",
        "uploads/1/../../../evil",
        "uploads/1/..",
        "uploads/1/.. /evil",
        "uploads/1/a\\..\\..\\evil",
        "uploads/1/C:evil",
        "uploads/x/evil",
        "uploads/1",
        "uploads/1/",
        "uploads/1//evil",
        "indexes/1/chunk/generation-0000000009/manifest.json",
        "writer.lock",
        "catalog.sqlite-wal",
    ],
)
def test_a_name_that_no_library_has_is_refused(good, tmp_path, name):
    def change(members, manifest):
        _put(members, manifest, name, b"evil")

    file = _rewritten(good, tmp_path / "evil.zip", change)
    assert "contains the unexpected file" in _refused(file, tmp_path / "new")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["evil.zip"]


def test_a_link_in_an_archive_is_refused(good, tmp_path):
    data = b"/etc/passwd"
    file = tmp_path / "link.zip"
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(file, "w") as written:
        manifest = json.loads(source.read("manifest.json"))
        for name in source.namelist():
            if name != "manifest.json":
                written.writestr(name, source.read(name))
        info = zipfile.ZipInfo("uploads/1/link")
        info.external_attr = 0o120777 << 16
        written.writestr(info, data)
        _list(manifest, "uploads/1/link", data)
        written.writestr("manifest.json", json.dumps(manifest))
    assert "contains the unexpected file 'uploads/1/link'" in _refused(file, tmp_path / "new")


def test_a_bomb_is_refused_before_it_is_unpacked(good, tmp_path, monkeypatch):
    monkeypatch.setattr(archive_import, "_SMALL_BYTES", 1_000_000)

    def change(members, manifest):
        _put(members, manifest, "uploads/1/bomb", bytes(80_000_000))

    file = _rewritten(good, tmp_path / "bomb.zip", change)
    assert "it would unpack to 0.1 GB" in _refused(file, tmp_path / "new")


def test_a_bomb_that_lies_about_its_size_is_refused(good, tmp_path):
    data = bytes(5_000_000)

    def change(members, manifest):
        members["uploads/1/bomb"] = data
        _list(manifest, "uploads/1/bomb", data[:1000])

    file = _rewritten(good, tmp_path / "lie.zip", change)
    assert "is not that of the manifest" in _refused(file, tmp_path / "new")
    # The same lie in the archive's own directory.
    raw = file.read_bytes().replace(struct.pack("<L", 5_000_000), struct.pack("<L", 1000))
    file.write_bytes(raw)
    assert _refused(file, tmp_path / "new")


def test_a_library_larger_than_the_disk_is_refused(good, tmp_path, monkeypatch):
    monkeypatch.setattr(archive_import, "_SPARE_BYTES", 10**18)
    assert "the disk has" in _refused(good, tmp_path / "new")


def test_a_newer_archive_is_refused_with_the_cure(good, tmp_path):
    def change(members, manifest):
        manifest["archive_version"] = 2

    file = _rewritten(good, tmp_path / "newer.zip", change)
    with pytest.raises(LibraryFormatError, match="Update ragkit"):
        import_library(file, tmp_path / "new", _settings(tmp_path / "new"))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda members, manifest: manifest.clear(), "its manifest is invalid"),
        (lambda members, manifest: manifest.update(files=[1]), "its manifest is invalid"),
        (lambda members, manifest: manifest.update(format="tar"), "not an archive of a library"),
        (lambda members, manifest: members.pop("settings.json"), "not those of its manifest"),
        (
            lambda members, manifest: members.update({"uploads/1/x": b""}),
            "not those of its manifest",
        ),
        (
            lambda members, manifest: members.update(
                {"settings.json": members["settings.json"][:-1] + b"]"}
            ),
            "settings.json is damaged",
        ),
    ],
)
def test_a_manifest_that_does_not_fit_is_refused(good, tmp_path, change, said):
    assert said in _refused(_rewritten(good, tmp_path / "x.zip", change), tmp_path / "new")


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE collections SET settings = 'no JSON'", "collections.settings"),
        ("UPDATE documents SET metadata = '[1]'", "documents.metadata"),
        ("UPDATE chunks SET heading_path = '{'", "chunks.heading_path"),
        ("CREATE TRIGGER evil AFTER INSERT ON jobs BEGIN DELETE FROM texts; END", "triggers"),
        ("CREATE VIEW evil AS SELECT 1", "views"),
        ("CREATE TABLE more (x)", "other tables"),
        ("UPDATE documents SET path = '../../../home/letter' WHERE id = 1", "outside its folders"),
        ("UPDATE documents SET path = '/etc/passwd' WHERE id = 1", "outside its folders"),
        ("DELETE FROM collections", "does not hold together"),
        ("PRAGMA user_version = 999", "version 999"),
    ],
)
def test_a_catalog_that_ragkit_did_not_write_is_refused(good, tmp_path, statement, said):
    def change(members, manifest):
        file = tmp_path / "catalog"
        file.write_bytes(members["catalog.sqlite"])
        with closing(sqlite3.connect(file)) as connection:
            connection.execute(statement)
            connection.commit()
            connection.execute("PRAGMA journal_mode = DELETE")
        _put(members, manifest, "catalog.sqlite", file.read_bytes())
        file.unlink()

    assert said in _refused(_rewritten(good, tmp_path / "x.zip", change), tmp_path / "new")


def test_a_catalog_that_is_no_database_is_refused(good, tmp_path):
    def change(members, manifest):
        _put(members, manifest, "catalog.sqlite", b"SQLite format 3\0" + bytes(5000))

    assert _refused(_rewritten(good, tmp_path / "x.zip", change), tmp_path / "new")
