from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from ragkit.background.job_handlers import run_job
from ragkit.catalog.records import ContextAnswer, JobState
from ragkit.errors import ModelError, NotFoundError
from ragkit.health import repair as compaction
from ragkit.health.checks import Depth, check_library
from ragkit.health.environment import last_errors
from ragkit.health.repair import KEPT_VERSIONS, remove_leftovers
from ragkit.indexes.local.files import generations
from ragkit.indexes.local.generation import open_newest
from ragkit.indexing.lock import writer_lock
from ragkit.library import Library
from ragkit.settings import Settings

_TEXTS = {
    "guide.md": "# Guide\n\nOAuth tokens are signed.\n\n## Refresh\n\nThey live for an hour.\n",
    "notes/été.md": "# Été\n\nLe café est fermé le lundi. 日本語の文書もある。\n",
    "long.txt": "A paragraph about maintenance and repair.\n\n" * 200,
    "code.py": "def add(first, second):\n    return first + second\n",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A library of four files that is made once and copied for each test."""
    root = tmp_path_factory.mktemp("made")
    for name, text in _TEXTS.items():
        place = root / "files" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    opened = _open(root)
    _work(opened, "sync", source_id=opened.sources.add_folder(root / "files").id)
    assert opened.documents.counts().indexed == len(_TEXTS)
    opened.close()
    return root


@pytest.fixture
def folder(made, tmp_path):
    return Path(shutil.copytree(made / "files", tmp_path / "files"))


@pytest.fixture
def library(made, folder, tmp_path):
    """A real library of four files."""
    shutil.copytree(made / "lib", tmp_path / "lib")
    opened = _open(tmp_path)
    _sql(opened, "UPDATE sources SET root = ?", str(folder))
    yield opened
    opened.close()


def _open(tmp_path: Path) -> Library:
    chosen = {"library": tmp_path / "lib", "models": {"embedder": "hash"}}
    return Library.open(Settings(**chosen), create=True)


def _work(library: Library, kind: str, **arguments) -> str:
    job = library.jobs.wait(library.jobs.add(kind, **arguments))
    assert job.state is JobState.DONE, job.message
    return job.message


def _sql(library: Library, statement: str, *parameters, references: bool = True) -> None:
    connection = library.catalog.connections.get()
    connection.execute(f"PRAGMA foreign_keys = {'ON' if references else 'OFF'}")
    connection.execute(statement, parameters)
    connection.execute("PRAGMA foreign_keys = ON")


def _bad(library: Library, depth: Depth = Depth.VERIFY) -> dict[str, str]:
    """The mends of what is not well, by name."""
    found = library.health.verify() if depth is Depth.VERIFY else library.health.check(depth)
    return {one.name: one.fix for one in found if not one.ok}


def _finding(library: Library, name: str, depth: Depth = Depth.VERIFY):
    found = library.health.verify() if depth is Depth.VERIFY else library.health.check(depth)
    return next(one for one in found if one.name == name)


def _hits(library: Library, question: str) -> list[tuple]:
    found = library.search(question).results
    return [(one.document.path, one.score, [p.text for p in one.passages]) for one in found]


# -- a sound library ---------------------------------------------------------------------------


def test_a_sound_library_has_no_fault_at_any_depth(library):
    for depth in Depth:
        assert [one for one in library.health.check(depth) if not one.ok] == []
    names = {one.name for one in library.health.verify()}
    assert {"catalog", "contents", "indexes", "vectors", "words", "embedder"} <= names
    entries = library.documents.counts().entries
    assert _finding(library, "indexes").count == entries
    assert f"{entries}, {entries} and {entries}" in _finding(library, "indexes").sentence


def test_an_empty_library_is_well(tmp_path):
    opened = _open(tmp_path)
    for depth in Depth:
        assert all(one.ok for one in opened.health.check(depth))
    opened.close()


def test_looking_changes_nothing(library):
    def state():
        files = sorted(p for p in library.paths.indexes.rglob("*") if p.is_file())
        return [(p, p.stat().st_mtime_ns) for p in files], library.catalog.connections.row(
            "SELECT total_changes()"
        )[0]

    before = state()
    library.health.check(Depth.CHECK)
    library.health.verify()
    assert state() == before


def test_one_collection_can_be_looked_at_alone(library, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("# Another\n\nText.\n")
    _work(library, "sync", source_id=library.sources.add_folder(other, "second").id)
    _sql(library, "DELETE FROM texts WHERE document_id = 1")
    assert "contents" in _bad(library)
    assert all(one.ok for one in library.health.verify(collection="second"))
    with pytest.raises(NotFoundError):
        library.health.verify(collection="third")


# -- torn documents ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM texts WHERE document_id = 1",
        "DELETE FROM chunks WHERE document_id = 1",
        "DELETE FROM entries WHERE document_id = 1",
        "DELETE FROM entries WHERE document_id = 1 AND level = 2",
        "UPDATE chunks SET stop = 99999 WHERE document_id = 1",
        "UPDATE sections SET start = -1 WHERE document_id = 1",
        "UPDATE texts SET text = text || 'x' WHERE document_id = 1",
        "UPDATE entries SET collection_id = 77 WHERE document_id = 1 AND level = 2",
    ],
)
def test_a_document_with_missing_or_misplaced_parts_is_found_and_mended(library, damage):
    wanted = _hits(library, "tokens café maintenance")
    _sql(library, damage)
    assert _bad(library, Depth.CHECK)["contents"] == "reread"
    assert _bad(library)["contents"] == "reread"
    said = _work(library, "reread")
    assert said.startswith("Torn: 1 document;")
    assert _bad(library) == {}
    assert _hits(library, "tokens café maintenance") == wanted


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE texts SET text = upper(text) WHERE document_id = (SELECT max(id) FROM documents)",
        "UPDATE entries SET text_hash = zeroblob(16) WHERE id = 1",
        "UPDATE entries SET level = 0 WHERE id = 1",
        "DELETE FROM entries WHERE level = 0 AND document_id = 1",
        "UPDATE chunks SET context = 'elsewhere' WHERE document_id = 1",
        "UPDATE chunks SET section = 50 WHERE document_id = 1",
        "UPDATE sections SET stop = stop - 1 WHERE document_id = 1",
        "UPDATE documents SET title = 'Another' WHERE path = 'guide.md'",
    ],
)
def test_entries_of_another_text_are_found_and_mended(library, damage):
    _sql(library, damage)
    bad = _bad(library)
    assert bad["contents"] == "reread"
    _work(library, "reread")
    assert _bad(library) == {}


def test_contents_of_a_document_that_is_not_indexed_are_extra(library):
    _sql(library, "UPDATE documents SET status = 'failed' WHERE id = 2")
    assert _bad(library)["contents"] == "reread"
    _work(library, "reread")
    assert _bad(library) == {}
    assert library.documents.counts().indexed == len(_TEXTS)


def test_rows_without_their_document_are_found(library):
    _sql(library, "DELETE FROM documents WHERE id = 1", references=False)
    assert "belong to nothing: " in _finding(library, "catalog").sentence
    assert not _finding(library, "catalog").ok


def test_a_damaged_catalog_file_is_found(library, tmp_path):
    query = "SELECT rootpage FROM sqlite_master WHERE name = 'documents_by_hash'"
    page = library.catalog.connections.row(query)[0] - 1
    library.catalog.integrity.settle()
    library.close()
    with library.paths.catalog.open("rb+") as file:
        file.seek(page * 4096 + 3000)
        file.write(os.urandom(1096))
    opened = _open(tmp_path)
    found = [one for one in opened.health.verify() if one.name == "catalog"]
    assert [one.ok for one in found] == [False]
    assert "damaged" in found[0].sentence
    assert found[0].fix
    opened.close()


# -- vectors and words -------------------------------------------------------------------------


def test_lost_vectors_are_counted_and_come_back(library):
    wanted = _hits(library, "tokens")
    _sql(library, "DELETE FROM vectors")
    finding = _finding(library, "embedder", Depth.GLANCE)
    assert (finding.ok, finding.fix) == (False, "reread")
    assert finding.count == library.documents.counts().entries
    _work(library, "reread")
    assert _bad(library) == {}
    assert _hits(library, "tokens") == wanted


def test_vectors_of_a_wrong_length_are_found_and_replaced(library):
    hash_ = library.catalog.connections.row("SELECT text_hash FROM vectors LIMIT 1")[0]
    _sql(library, "UPDATE vectors SET data = zeroblob(6) WHERE text_hash = ?", hash_)
    assert _bad(library, Depth.CHECK)["vectors"] == "reread"
    _work(library, "reread")
    assert _bad(library) == {}


def test_settings_that_name_another_embedder_are_told_what_moves_to_it(library, tmp_path):
    library.close()
    other = Library.open(Settings(library=tmp_path / "lib", models={"embedder": "wordllama"}))
    finding = _finding(other, "embedder", Depth.GLANCE)
    assert (finding.ok, finding.fix) == (True, "")
    assert "has a vector of hash" in finding.sentence
    assert "ragkit embedder wordllama moves the library to it" in finding.sentence
    _work(other, "sync")
    assert _bad(other) == {}
    other.close()


def test_without_an_embedder_the_rest_is_still_looked_at(library, monkeypatch):
    def refuse(*known):
        raise ModelError("The model is gone.", "Install it again.")

    monkeypatch.setattr("ragkit.library.services.open_known", refuse)
    library = Library(library.settings, library.paths, library.catalog)
    bad = [one for one in library.health.verify() if not one.ok]
    assert [(one.name, one.sentence) for one in bad] == [
        ("embedder", "The model is gone. Install it again.")
    ]
    assert _finding(library, "indexes").count == library.documents.counts().entries


def test_orphaned_vectors_are_dropped_by_compacting_and_others_kept(library):
    kept = library.catalog.connections.row("SELECT COUNT(*) FROM vectors")[0]
    embedder = library.catalog.embedders.ensure("another", "another", 4)
    hash_ = library.catalog.connections.row("SELECT text_hash FROM vectors LIMIT 1")[0]
    insert = "INSERT INTO vectors VALUES (?, ?, zeroblob(8))"
    _sql(library, insert, b"nobody's text...", embedder)
    _sql(library, insert, hash_, embedder)
    finding = _finding(library, "vectors")
    assert (finding.ok, finding.count, finding.fix) == (True, 1, "compact")
    assert "dropped 1 vector, 0 old contexts and" in _work(library, "compact")
    assert _finding(library, "vectors").count == 0
    assert library.catalog.connections.row("SELECT COUNT(*) FROM vectors")[0] == kept + 1


def test_words_that_no_vocabulary_has_are_found_and_mended(library):
    _sql(library, "DELETE FROM vocabulary WHERE token = 'hour'")
    assert _bad(library) == {"words": "reread"}
    library.close()
    again = Library.open(library.settings)
    _work(again, "reread")
    assert _bad(again) == {}
    assert _hits(again, "hour")[0][0] == "guide.md"
    again.close()


# -- indexes -----------------------------------------------------------------------------------


def _chunk_indexes(library: Library) -> Path:
    number = library.collections.list()[0].id
    return library.paths.index(number, "chunk", library.embedder.fingerprint)


@pytest.mark.parametrize("name", ["vectors.faiss", "entry_ids.npy", "manifest.json"])
def test_a_changed_index_file_is_found_and_built_again(library, name):
    wanted = _hits(library, "tokens repair")
    file = generations(_chunk_indexes(library))[-1] / name
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    assert _bad(library, Depth.CHECK) == {"indexes": "rebuild_indexes"}
    assert "Built the indexes of 1 collection:" in _work(library, "rebuild_indexes")
    assert _bad(library) == {}
    again = Library.open(library.settings)
    assert _hits(again, "tokens repair") == wanted
    again.close()


def test_an_index_that_cannot_be_written_fails_the_job_and_the_old_one_stays(library, monkeypatch):
    def full(*_arguments, **_named):
        raise OSError("no space left")

    _work(library, "sync")
    before = generations(_chunk_indexes(library))
    monkeypatch.setattr("ragkit.indexes.local.backend.write_generation", full)
    job = library.jobs.wait(library.jobs.add("rebuild_indexes"))
    assert job.state is JobState.FAILED
    assert job.message == (
        'The index of "default" could not be written. '
        "Check the disk's free space; the log says more."
    )
    assert generations(_chunk_indexes(library)) == before != []
    assert _bad(library) == {}


def test_a_missing_index_is_no_fault_and_is_said(library):
    shutil.rmtree(library.paths.indexes)
    finding = _finding(library, "indexes")
    assert finding.ok
    assert f"{library.documents.counts().entries} entries, of which 0" in finding.sentence


def test_an_index_that_lost_a_removal_record_is_found(library, folder):
    _work(library, "rebuild_indexes")
    document = library.documents.list(containing="guide.md")[0]
    library.catalog.documents.remove([document.id])
    assert _bad(library) == {}
    _sql(library, "DELETE FROM removed_entries")
    assert _bad(library, Depth.GLANCE) == {"indexes": "rebuild_indexes"}
    _work(library, "rebuild_indexes")
    assert _bad(library) == {}


def test_an_index_with_other_vectors_or_words_is_found_only_by_verify(library):
    hash_ = library.catalog.connections.row("SELECT text_hash FROM entries WHERE level = 2")[0]
    other = np.full(32, 32**-0.5, "<f2").tobytes()
    _sql(library, "UPDATE vectors SET data = ? WHERE text_hash = ?", other, hash_)
    assert _bad(library, Depth.CHECK) == {}
    assert "vectors are not those of the catalog" in _finding(library, "indexes").sentence
    _work(library, "rebuild_indexes")
    assert _bad(library) == {}
    _sql(library, "INSERT INTO vocabulary VALUES (0, 'zero')")
    _sql(library, "UPDATE entry_tokens SET ids = zeroblob(4) WHERE entry_id = 1 AND field = 0")
    assert "words (text) are not" in _finding(library, "indexes").sentence


def test_an_index_newer_than_the_catalog_is_found(library):
    _sql(library, "UPDATE collections SET version = 0")
    assert "newer than the catalog" in _finding(library, "indexes", Depth.GLANCE).sentence


def test_a_living_entry_that_is_recorded_as_removed_is_found_and_mended(library):
    _sql(library, "INSERT INTO removed_entries VALUES (1, 1000, 1)")
    assert _bad(library)["removals"] == "reread"
    _work(library, "reread")
    assert "removals" not in _bad(library)


# -- compacting --------------------------------------------------------------------------------


def test_compacting_merges_and_leaves_one_generation(library, folder):
    for number in range(3):
        (folder / "guide.md").write_text(f"# Guide\n\nVersion {number} of the tokens.\n")
        _work(library, "sync")
        _work(library, "rebuild_indexes")
    wanted = _hits(library, "tokens version")
    _work(library, "compact")
    for level in ("chunk", "section", "document"):
        found = generations(library.paths.index(1, level, library.embedder.fingerprint))
        assert len(found) == 1
        newest = open_newest(found[0].parent)
        assert newest.manifest.collection_version == library.catalog.collections.version(1)
    assert _hits(library, "tokens version") == wanted
    assert _bad(library) == {}


def test_removals_that_readers_may_need_stay_on_record(library, folder, monkeypatch):
    reader = Library.open(library.settings)
    assert _hits(reader, "signed")
    (folder / "guide.md").write_text("# Guide\n\nNothing of that any more.\n")
    _work(library, "sync")
    _work(library, "compact")
    assert KEPT_VERSIONS == 1000
    assert library.catalog.integrity.removals() > 0
    assert all("signed" not in text for _, _, texts in _hits(reader, "signed") for text in texts)
    reader.close()


def test_a_reader_that_stands_on_forgotten_removals_is_never_wrong(library, folder, monkeypatch):
    reader = Library.open(library.settings)
    assert _hits(reader, "signed")
    monkeypatch.setattr(compaction, "KEPT_VERSIONS", 0)
    (folder / "guide.md").unlink()
    _work(library, "sync")
    _work(library, "compact")
    assert library.catalog.integrity.removals() == 0
    assert "guide.md" not in {path for path, _, _ in _hits(reader, "signed")}
    assert _hits(reader, "signed") == _hits(library, "signed")
    assert _bad(library) == {}
    reader.close()


def test_compacting_an_emptied_collection_leaves_no_index(library, folder):
    source = library.sources.list()[0]
    _work(library, "remove_source", source_id=source.id)
    _work(library, "compact")
    assert generations(_chunk_indexes(library)) == []
    assert library.catalog.connections.row("SELECT COUNT(*) FROM vectors")[0] == 0
    assert _bad(library) == {}
    _work(library, "sync", source_id=library.sources.add_folder(folder).id)
    assert _bad(library) == {}
    assert _hits(library, "signed")[0][0] == "guide.md"


def test_compacting_forgets_old_contexts(library, monkeypatch):
    monkeypatch.setattr("ragkit.catalog.contexts._LEAST_REMEMBERED", 1)
    # At least twice as many as there are chunks are kept.
    kept = 2 * library.documents.counts().chunks + 1
    for number in range(kept + 3):
        library.catalog.contexts.remember(b"%d" % number, ContextAnswer("Old.", model="m"))
    assert "3 old contexts" in _work(library, "compact")
    assert len(library.catalog.contexts.newest_remembered([b"2", b"3"])) == 1
    assert "0 old contexts" in _work(library, "compact")


def test_compacting_gives_room_back(library, monkeypatch):
    monkeypatch.setattr(compaction, "_SPARE_BYTES", 100_000)
    with library.catalog.connections.write() as connection:
        connection.executemany(
            "INSERT INTO vectors VALUES (?, 1, ?)",
            [(number.to_bytes(16, "big"), bytes(4000)) for number in range(1000)],
        )
    before = library.catalog.integrity.space()[0]
    said = _work(library, "compact")
    assert "dropped 1000 vectors" in said
    size, spare = library.catalog.integrity.space()
    assert size < before - 3_000_000
    assert spare == 0
    assert library.paths.catalog.stat().st_size == size
    assert _bad(library) == {}


def test_compacting_leaves_the_catalog_when_the_disk_is_nearly_full(library, monkeypatch):
    from collections import namedtuple

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10, 9, 1))
    monkeypatch.setattr(compaction, "_SPARE_BYTES", 0)
    monkeypatch.setattr(compaction, "_SPARE_SHARE", -1.0)
    assert "too little room" in _work(library, "compact")
    finding = next(one for one in library.health.check() if one.name == "disk")
    assert (finding.ok, finding.count) == (False, 1)


def test_old_leftovers_go_and_what_is_being_written_stays(library):
    old, new = library.paths.temporary / "upload-1", library.paths.temporary / "upload-2"
    dead = library.paths.indexes / "999"
    making = _chunk_indexes(library) / ".making-x"
    for path in (old, new):
        path.write_text("half")
    for path in (dead, making):
        path.mkdir()
    finding = _finding(library, "leftovers")
    assert (finding.ok, finding.count, finding.fix) == (True, 4, "compact")
    for path in (old, dead, making):
        os.utime(path, (time.time() - 7200,) * 2)
    assert remove_leftovers(library.writer()) == 3
    assert [path.exists() for path in (old, dead, making, new)] == [False] * 3 + [True]


def test_a_link_among_the_leftovers_is_not_followed(library, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine")
    link = library.paths.temporary / "link"
    link.symlink_to(precious)
    os.utime(link, (1, 1), follow_symlinks=False)
    remove_leftovers(library.writer())
    assert not link.is_symlink()
    assert (precious / "file").read_text() == "mine"


# -- what surrounds it -------------------------------------------------------------------------


def _beat(library: Library, *, pid: int, state: str = "idle", started: float = 0.0) -> None:
    library.catalog.jobs.heartbeat(pid, started, state, {"role": "worker"})


def test_a_worker_that_died_is_told_from_one_that_stopped(library):
    _beat(library, pid=2_000_000_000, state="stopped")
    assert _finding(library, "worker", Depth.GLANCE).ok
    _beat(library, pid=2_000_000_000, state="working")
    finding = _finding(library, "worker", Depth.GLANCE)
    assert (finding.ok, finding.fix) == (False, "worker")
    assert "stopped without saying so" in finding.sentence


def test_jobs_that_nobody_does_are_said(library):
    library.jobs.add("compact")
    finding = _finding(library, "worker", Depth.GLANCE)
    assert (finding.ok, finding.fix, finding.count) == (False, "worker", 1)


def test_a_worker_that_holds_the_lock_and_is_silent_is_found(library):
    import psutil

    own = psutil.Process()
    with writer_lock(library.paths.lock, "worker"):
        _beat(library, pid=own.pid, started=own.create_time())
        assert _finding(library, "worker", Depth.GLANCE).sentence.endswith("is idle.")
        _sql(library, "UPDATE worker SET heartbeat = heartbeat - 100")
        finding = _finding(library, "worker", Depth.GLANCE)
        assert not finding.ok
        assert "has not answered for 100 seconds" in finding.sentence
        _beat(library, pid=own.pid, started=own.create_time() - 1000)
        assert not _finding(library, "worker", Depth.GLANCE).ok


def test_a_command_that_writes_is_named(library):
    with writer_lock(library.paths.lock, "command"):
        finding = _finding(library, "worker", Depth.GLANCE)
    assert finding.ok
    assert finding.sentence == f"The command (process {os.getpid()}) is writing."


def test_a_failed_job_is_said_until_one_of_its_kind_succeeds(library):
    jobs = library.catalog.jobs
    jobs.finish(jobs.add("sync"), JobState.FAILED, "The disk is full.")
    finding = _finding(library, "jobs", Depth.GLANCE)
    assert (finding.ok, finding.fix) == (False, "sync")
    assert "The disk is full." in finding.sentence
    jobs.finish(jobs.add("sync"), JobState.DONE)
    assert _finding(library, "jobs", Depth.GLANCE).ok


def test_an_offline_source_is_said_and_nothing_of_it_is_torn(library, folder):
    folder.rename(folder.with_name("elsewhere"))
    _work(library, "sync")
    finding = _finding(library, "sources", Depth.GLANCE)
    assert (finding.ok, finding.fix, finding.count) == (False, "sync", len(_TEXTS))
    assert _bad(library) == {}


def test_a_watched_source_says_how_it_is_watched(library):
    number = library.sources.list()[0].id
    notes = {"watched": {str(number): {"mode": "polling", "reason": "Too many folders."}}}
    library.catalog.jobs.heartbeat(1, 1.0, "stopped", notes)
    finding = _finding(library, "sources", Depth.GLANCE)
    assert finding.ok
    assert "Too many folders." in finding.sentence


def test_files_that_could_not_be_read_can_be_tried_again(library, folder):
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    _work(library, "sync")
    finding = _finding(library, "documents", Depth.GLANCE)
    assert (finding.ok, finding.count, finding.fix) == (True, 1, "retry")
    (folder / "bad.pdf").unlink()
    job = library.health.fix("retry")
    library.jobs.wait(job)
    assert _finding(library, "documents", Depth.GLANCE).count == 0


def test_a_lost_upload_is_found(library):
    import io

    library.sources.upload("dropped.md", io.BytesIO(b"# Dropped\n\nText.\n"))
    _work(library, "sync")
    assert _bad(library) == {}
    Path(library.sources.uploads().root, "dropped.md").unlink()
    finding = _finding(library, "uploads")
    assert not finding.ok
    assert "dropped.md" in finding.sentence


def test_only_recent_errors_of_the_log_count(library):
    log = library.paths.logs / "worker.log"
    old = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(time.time() - 90_000))
    new = time.strftime("%Y-%m-%d %H:%M:%S")
    log.write_bytes(
        f"{old},001 ERROR long ago\n{new},002 INFO fine\nno date ERROR x\n".encode() + b"\xff\n"
    )
    assert last_errors(log, time.time() - 86_400) == []
    with log.open("a") as stream:
        stream.write(f"{new},003 ERROR job 7 stopped\n")
    assert last_errors(log, time.time() - 86_400) == [f"{new},003 ERROR job 7 stopped"]
    finding = _finding(library, "log", Depth.GLANCE)
    assert (finding.ok, finding.count) == (False, 1)
    assert last_errors(library.paths.logs / "none.log", 0) == []


def test_one_check_that_fails_does_not_stop_the_others(library):
    connection = library.catalog.connections.get()
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("DROP TABLE removed_entries")
    found = library.health.verify()
    assert {one.name for one in found if not one.ok} >= {"removals"}
    assert {one.name for one in found if one.ok} >= {"contents", "vectors", "words"}


def test_a_mend_that_is_only_words_asks_for_nothing(library):
    assert library.health.fix("stop process 5") is None
    assert library.catalog.jobs.open() == []


def test_an_unknown_collection_fails_the_job_with_a_sentence(library):
    writer = library.writer()
    library.jobs.add("compact", collection="nowhere")
    result = run_job(writer, library.catalog.jobs.claim())
    assert result.state is JobState.FAILED
    assert "nowhere" in result.message


def test_check_library_takes_parts(library):
    found = check_library(library.health._parts(), Depth.GLANCE)
    assert [one.name for one in found][:2] == ["worker", "jobs"]
