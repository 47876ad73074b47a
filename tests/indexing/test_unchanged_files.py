"""When a file counts as unchanged: what a sync reads again, and what only looks new."""

from __future__ import annotations

import os
import shutil
import threading
from dataclasses import replace

import pytest
from small_library import (
    HANDBOOK,
    add,
    do,
    find,
    paths,
    statuses,
    sync,
    write_files,
)
from support import document_draft

from ragkit.catalog.records import JobState
from ragkit.indexing.ingest import Ingest
from ragkit.indexing.progress import Reporter
from ragkit.indexing.sync import sync_source
from ragkit.indexing.writer import hash_file
from ragkit.types import Section


def test_an_edit_of_the_same_size_and_time_is_noticed(filled, folder):
    place = folder / "notes/garten.txt"
    before = place.stat()
    place.write_bytes(place.read_bytes().replace(b"Tomaten", b"Gurken!"))
    os.utime(place, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert place.stat().st_size == before.st_size
    assert sync(filled).message == "1 indexed, 4 unchanged."
    assert paths(find(filled, "Gurken", mode="keyword")) == ["notes/garten.txt"]
    assert paths(find(filled, "Tomaten", mode="keyword")) == []


def test_folders_that_change_names_are_noticed_though_their_files_look_alike(filled, folder):
    texts = {"p/n.md": "The first pelican.\n", "q/n.md": "The other penguin.\n"}
    write_files(folder, texts)
    for path in texts:
        os.utime(folder / path, ns=(10**18, 10**18))
    sync(filled)
    (folder / "p").rename(folder / "t")
    (folder / "q").rename(folder / "p")
    (folder / "t").rename(folder / "q")
    sync(filled)
    assert paths(find(filled, "pelican", mode="keyword")) == ["q/n.md"]
    assert paths(find(filled, "penguin", mode="keyword")) == ["p/n.md"]
    assert find(filled, "pelican", mode="keyword").results[0].passages[0].text.strip() == (
        "The first pelican."
    )


def test_a_restored_folder_is_hashed_and_nothing_is_read_or_embedded(filled, folder):
    before = {one.path: (one.id, one.changed_at) for one in filled.documents.list()}
    shutil.copytree(folder, folder.with_name("copy"))
    shutil.rmtree(folder)
    folder.with_name("copy").rename(folder)
    assert sync(filled).message == "Nothing new, 5 unchanged."
    assert {one.path: (one.id, one.changed_at) for one in filled.documents.list()} == before
    assert filled.embedder.passages == []
    [source] = filled.sources.list()
    report = sync_source(filled.writer(), source, Reporter(), dry_run=True)
    assert report.changed == ()


def test_reading_again_can_be_asked_for(filled, folder):
    before = {one.path: one.changed_at for one in filled.documents.list()}
    [source] = filled.sources.list()
    job = do(filled, "sync", source_id=source.id, paths=["notes"], reread=True)
    assert job.message == "2 indexed."
    after = {one.path: one.changed_at for one in filled.documents.list()}
    assert {path for path in after if after[path] != before[path]} == {
        "notes/garten.txt",
        "notes/memo.md",
    }
    assert filled.embedder.passages == []
    filled.jobs.wait(filled.sources.sync(source, reread=True))
    assert not set(after.values()) & {one.changed_at for one in filled.documents.list()}
    assert statuses(filled) == dict.fromkeys(HANDBOOK, "indexed")


@pytest.mark.parametrize("seconds", [10**10, -(10**10), 2**40, -(2**40)])
def test_a_date_beyond_2262_fails_no_other_file(filled, folder, seconds):
    write_files(folder, {"new/far.md": "A heron of the far future.\n", "new/near.md": "An ibis.\n"})
    os.utime(folder / "new/far.md", (0, seconds))
    assert sync(filled).state is JobState.DONE
    assert paths(find(filled, "heron", mode="keyword")) == ["new/far.md"]
    assert paths(find(filled, "ibis", mode="keyword")) == ["new/near.md"]
    assert sync(filled).message == "Nothing new, 7 unchanged."


def test_a_pipe_that_takes_the_place_of_a_file_is_left_alone(filled, folder):
    names = [f"new/{number:02}.md" for number in range(30)]
    write_files(folder, {name: f"Heron {name}.\n" for name in names})
    [source] = filled.sources.list()
    job_id = filled.sources.sync(source)
    swapped = threading.Event()

    def swap(progress):
        if progress.phase == "Reading" and not swapped.is_set():
            swapped.set()
            (folder / names[-1]).unlink()
            os.mkfifo(folder / names[-1])

    job = filled.jobs.wait(job_id, swap)
    assert job.state is JobState.DONE
    assert job.message == "29 indexed, 1 still being written, 5 unchanged."
    assert sync(filled).message == "1 removed, 34 unchanged."
    assert set(statuses(filled)) == {*HANDBOOK, *names[:-1]}


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": "Half a \ud800 character."},
        {"sections": (Section(0, 0, 2**70, 1, ("Top",)),)},
        {"title": "\udfff"},
    ],
)
def test_a_document_that_cannot_be_stored_fails_alone(filled, wrong):
    [source] = filled.sources.list()
    collection = filled.collections.get("default")
    ingest = Ingest(filled.writer(), source, collection, {}, Reporter())
    drafts = [
        document_draft(source.id, collection.id, name, (f"walrus {name}",), with_vectors=False)
        for name in ("1.md", "2.md", "3.md")
    ]
    drafts[1] = replace(drafts[1], **wrong)
    ingest._store(drafts)
    assert (ingest.tally.indexed, ingest.tally.failed) == (2, 1)
    records = {one.path: one for one in filled.documents.list()}
    assert [records[name].status.value for name in ("1.md", "2.md", "3.md")] == [
        "indexed",
        "failed",
        "indexed",
    ]
    assert "stored" in records["2.md"].reason


def test_a_disk_that_hangs_holds_up_no_other_folder(filled, folder, tmp_path, monkeypatch):
    other = write_files(tmp_path / "other", {"a.md": "A walrus sleeps.\n"})
    add(filled, other)
    write_files(folder, {"new.md": "A heron that cannot be read.\n"})
    write_files(other, {"b.md": "A puffin flies.\n"})
    never, hash_now = threading.Event(), hash_file

    def hang(path, *more):
        return never.wait(60) if path.is_relative_to(folder) else hash_now(path, *more)

    monkeypatch.setattr("ragkit.indexing.ingest.hash_file", hang)
    monkeypatch.setattr("ragkit.sources.opening.STALL_SECONDS", 2.0)
    job = sync(filled)
    never.set()
    assert job.state is JobState.DONE
    assert f"The folder {folder} is not responding." in job.message
    assert [source.state for source in filled.sources.list()] == ["offline", "ready"]
    assert paths(find(filled, "puffin", mode="keyword")) == ["b.md"]
    assert paths(find(filled, "Tomaten", mode="keyword")) == ["notes/garten.txt"]
    monkeypatch.undo()
    assert sync(filled).message == "1 indexed, 7 unchanged."
    assert [source.state for source in filled.sources.list()] == ["ready", "ready"]
