"""The jobs that tidy and repair."""

from __future__ import annotations

import os
import shutil
import time

from health_library import (
    chunk_indexes,
    finding_of,
    fixes_of,
    hits,
    work,
)

from ragkit.background.job_handlers import run_job
from ragkit.catalog.context_records import ContextAnswer
from ragkit.catalog.records import JobState
from ragkit.health import repair as compaction
from ragkit.health.repair import KEPT_VERSIONS, remove_leftovers
from ragkit.indexes.local.files import generations
from ragkit.indexes.local.generation import open_newest
from ragkit.library import Library


def test_compacting_merges_and_leaves_one_generation(library, folder):
    for number in range(3):
        (folder / "guide.md").write_text(f"# Guide\n\nVersion {number} of the tokens.\n")
        work(library, "sync")
        work(library, "rebuild_indexes")
    wanted = hits(library, "tokens version")
    work(library, "compact")
    for level in ("chunk", "section", "document"):
        found = generations(library.paths.index(1, level, library.embedder.fingerprint))
        assert len(found) == 1
        newest = open_newest(found[0].parent)
        assert newest.manifest.version == library.catalog.collections.version(1)
    assert hits(library, "tokens version") == wanted
    assert fixes_of(library) == {}


def test_removals_that_readers_may_need_stay_on_record(library, folder, monkeypatch):
    reader = Library.open(library.settings)
    assert hits(reader, "signed")
    (folder / "guide.md").write_text("# Guide\n\nNothing of that any more.\n")
    work(library, "sync")
    work(library, "compact")
    assert KEPT_VERSIONS == 1000
    assert library.catalog.integrity.removals() > 0
    assert all("signed" not in text for _, _, texts in hits(reader, "signed") for text in texts)
    reader.close()


def test_a_reader_that_stands_on_forgotten_removals_is_never_wrong(library, folder, monkeypatch):
    reader = Library.open(library.settings)
    assert hits(reader, "signed")
    monkeypatch.setattr(compaction, "KEPT_VERSIONS", 0)
    (folder / "guide.md").unlink()
    work(library, "sync")
    work(library, "compact")
    assert library.catalog.integrity.removals() == 0
    assert "guide.md" not in {path for path, _, _ in hits(reader, "signed")}
    assert hits(reader, "signed") == hits(library, "signed")
    assert fixes_of(library) == {}
    reader.close()


def test_compacting_an_emptied_collection_leaves_no_index(library, folder):
    source = library.sources.list()[0]
    work(library, "remove_source", source_id=source.id)
    work(library, "compact")
    assert generations(chunk_indexes(library)) == []
    assert library.catalog.connections.row("SELECT COUNT(*) FROM vectors")[0] == 0
    assert fixes_of(library) == {}
    work(library, "sync", source_id=library.sources.add_folder(folder).id)
    assert fixes_of(library) == {}
    assert hits(library, "signed")[0][0] == "guide.md"


def test_compacting_forgets_old_contexts(library, monkeypatch):
    monkeypatch.setattr("ragkit.catalog.contexts._LEAST_REMEMBERED", 1)
    # At least twice as many as there are chunks are kept.
    kept = 2 * library.documents.counts().chunks + 1
    for number in range(kept + 3):
        library.catalog.contexts.remember(b"%d" % number, ContextAnswer("Old.", model="m"))
    assert "3 old contexts" in work(library, "compact")
    assert len(library.catalog.contexts.newest_remembered([b"2", b"3"])) == 1
    assert "0 old contexts" in work(library, "compact")


def test_compacting_gives_room_back(library, monkeypatch):
    monkeypatch.setattr(compaction, "_SPARE_BYTES", 100_000)
    with library.catalog.connections.write() as connection:
        connection.executemany(
            "INSERT INTO vectors VALUES (?, 1, ?)",
            [(number.to_bytes(16, "big"), bytes(4000)) for number in range(1000)],
        )
    before = library.catalog.integrity.space()[0]
    said = work(library, "compact")
    assert "dropped 1,000 vectors" in said
    size, spare = library.catalog.integrity.space()
    assert size < before - 3_000_000
    assert spare == 0
    assert library.paths.catalog.stat().st_size == size
    assert fixes_of(library) == {}


def test_compacting_leaves_the_catalog_when_the_disk_is_nearly_full(library, monkeypatch):
    from collections import namedtuple

    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10, 9, 1))
    monkeypatch.setattr(compaction, "_SPARE_BYTES", 0)
    monkeypatch.setattr(compaction, "_SPARE_SHARE", -1.0)
    assert "not enough disk space" in work(library, "compact")
    finding = next(one for one in library.health.check() if one.name == "disk")
    assert (finding.ok, finding.count) == (False, 1)


def test_old_leftovers_go_and_what_is_being_written_stays(library):
    old, new = library.paths.temporary / "upload-1", library.paths.temporary / "upload-2"
    dead = library.paths.indexes / "999"
    making = chunk_indexes(library) / ".making-x"
    for path in (old, new):
        path.write_text("half")
    for path in (dead, making):
        path.mkdir()
    finding = finding_of(library, "leftovers")
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


def test_an_unknown_collection_fails_the_job_with_a_sentence(library):
    writer = library.writer()
    library.jobs.add("compact", collection="nowhere")
    result = run_job(writer, library.catalog.jobs.claim())
    assert result.state is JobState.FAILED
    assert "nowhere" in result.message
