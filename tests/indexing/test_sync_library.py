"""What a sync does to a library: real files, the real pipeline."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace

import pytest
from small_library import (
    HANDBOOK,
    add,
    comparable,
    do,
    find,
    make_older,
    open_library,
    paths,
    statuses,
    sync,
    write_files,
)

from ragkit.catalog.records import JobState
from ragkit.errors import NotFoundError, QueryError, SourceError
from ragkit.indexing.progress import Reporter
from ragkit.indexing.sync import sync_source
from ragkit.sources.scan import scan_folder


def test_the_first_sync_indexes_every_file(library, folder):
    job = add(library, folder)
    assert job.state is JobState.DONE
    assert job.message == "5 indexed."
    assert statuses(library) == dict.fromkeys(HANDBOOK, "indexed")
    assert (
        library.documents.counts().chunks == sum(one.chunks for one in library.documents.list()) > 4
    )
    assert paths(find(library, "refund within thirty days"))[0] == "handbook/refunds.md"
    [source] = library.sources.list()
    assert (source.state, source.documents, source.failed) == ("ready", 5, 0)


def test_a_file_that_says_no_date_has_the_one_in_its_name(library, tmp_path):
    folder = write_files(
        tmp_path / "diary",
        {
            "2024-03-11.md": "Planted tomatoes.\n",
            "2024-03-12 Walk.md": "---\ndate: 2024-03-01\n---\nPlanted tomatoes again.\n",
            "undated.md": "Planted tomatoes at last.\n",
        },
    )
    add(library, folder)
    assert paths(find(library, "tomatoes date:2024-03-11")) == ["2024-03-11.md"]
    assert paths(find(library, "tomatoes date:2024-03")) == ["2024-03-11.md", "2024-03-12 Walk.md"]
    assert paths(find(library, "tomatoes date:2024-03-12")) == []

    (folder / "2024-03-11.md").rename(folder / "2025-01-07.md")
    sync(library)
    assert paths(find(library, "tomatoes date:2025-01")) == ["2025-01-07.md"]


def test_a_second_sync_reads_and_embeds_nothing(filled, folder, monkeypatch):
    embedder = filled.embedder
    before = {one.path: one for one in filled.documents.list()}
    versions = [one.version for one in filled.collections.list()]

    def never(*_args, **_more):
        raise AssertionError("no reader may be started")

    monkeypatch.setattr("ragkit.indexing.ingest.open_readers", never)
    monkeypatch.setattr("ragkit.indexing.ingest.hash_file", never)
    job = sync(filled)
    assert job.state is JobState.DONE
    assert job.message == "Nothing new, 5 unchanged."
    assert embedder.passages == []
    assert {one.path: one for one in filled.documents.list()} == before
    assert [one.version for one in filled.collections.list()] == versions


def test_a_file_with_a_new_time_and_the_same_bytes_is_not_read_again(filled, folder):
    os.utime(folder / "notes/garten.txt")
    before = {one.path: one.changed_at for one in filled.documents.list()}
    assert sync(filled).message == "Nothing new, 5 unchanged."
    assert {one.path: one.changed_at for one in filled.documents.list()} == before
    assert sync(filled).message == "Nothing new, 5 unchanged."
    assert filled.embedder.passages == []


def test_only_the_changed_chunks_of_a_changed_file_are_embedded(filled, folder):
    document = next(one.id for one in filled.documents.list() if one.path == "handbook/login.md")
    text = (folder / "handbook/login.md").read_text() + "\n## Keys\n\nA yubikey opens the door.\n"
    (folder / "handbook/login.md").write_text(text)
    make_older(folder / "handbook", 5)
    assert sync(filled).message == "1 indexed, 4 unchanged."
    assert any("yubikey" in one for one in filled.embedder.passages)
    assert not any("thirty days" in one for one in filled.embedder.passages)
    answer = find(filled, "yubikey", mode="keyword")
    assert paths(answer) == ["handbook/login.md"]
    assert answer.results[0].document.id == document


def test_what_a_changed_file_no_longer_says_is_not_found(filled, folder):
    (folder / "notes/garten.txt").write_text("Die Gurken sind reif.\n")
    make_older(folder / "notes", 5)
    sync(filled)
    assert paths(find(filled, "Gurken", mode="keyword")) == ["notes/garten.txt"]
    assert paths(find(filled, "Tomaten", mode="keyword")) == []


def test_a_renamed_file_keeps_its_vectors_and_is_found_under_its_new_name(filled, folder):
    (folder / "notes/garten.txt").rename(folder / "notes/garten-2025.txt")
    sync(filled)
    found = paths(find(filled, "Tomaten", mode="keyword"))
    assert found == ["notes/garten-2025.txt"]
    assert set(statuses(filled)) == {*HANDBOOK, "notes/garten-2025.txt"} - {"notes/garten.txt"}


def test_a_moved_file_is_the_same_document_and_nothing_is_embedded(filled, folder):
    before = {one.path: one.id for one in filled.documents.list()}
    (folder / "archive").mkdir()
    (folder / "notes/garten.txt").rename(folder / "archive/garten.txt")
    sync(filled)
    after = {one.path: one.id for one in filled.documents.list()}
    assert after["archive/garten.txt"] == before["notes/garten.txt"]
    assert filled.embedder.passages == []
    assert paths(find(filled, "Tomaten", mode="keyword")) == ["archive/garten.txt"]


def test_a_moved_file_is_found_by_its_folders_without_being_read(filled, folder, monkeypatch):
    assert paths(find(filled, "notes", mode="keyword")) == ["notes/garten.txt", "notes/memo.md"]
    before = filled.catalog.collections.version(1).number
    (folder / "old/Vegetable_plots").mkdir(parents=True)
    (folder / "notes/garten.txt").rename(folder / "old/Vegetable_plots/garten.txt")
    monkeypatch.setattr("ragkit.indexing.ingest.Ingest._read_file", None)
    sync(filled)
    assert filled.catalog.collections.version(1).number == before + 1
    assert paths(find(filled, "vegetable plot", mode="keyword")) == [
        "old/Vegetable_plots/garten.txt"
    ]
    assert paths(find(filled, "notes", mode="keyword")) == ["notes/memo.md"]


def test_deleted_files_go_and_new_files_come(filled, folder):
    (folder / "data/prices.csv").unlink()
    write_files(folder, {"new/ideas.md": "# Ideas\n\nA lighthouse for ducks.\n"})
    make_older(folder / "new")
    assert sync(filled).message == "1 indexed, 1 removed, 4 unchanged."
    assert paths(find(filled, "lighthouse", mode="keyword")) == ["new/ideas.md"]
    assert paths(find(filled, "buoy 1200", mode="keyword")) == []


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything"
)
def test_a_file_that_may_not_be_read_any_more_keeps_its_text_and_says_why(filled, folder):
    place = folder / "notes/garten.txt"
    place.write_text("Neu.\n")
    place.chmod(0)
    sync(filled)
    [record] = [one for one in filled.documents.list() if one.path == "notes/garten.txt"]
    assert record.status.value == "indexed"
    assert "permission" in record.reason.lower()
    place.chmod(0o600)


def test_a_file_that_becomes_unreadable_fails_with_a_reason_and_the_rest_stays(filled, folder):
    (folder / "notes/memo.md").write_bytes(b"%PDF-1.7\n" + bytes(range(256)) * 20)
    make_older(folder / "notes", 5)
    job = sync(filled)
    assert job.state is JobState.DONE
    [record] = [one for one in filled.documents.list() if one.path == "notes/memo.md"]
    assert record.status.value in ("failed", "skipped")
    assert record.reason.endswith(".")
    assert len(record.reason) > 10
    assert record.chunks == 0
    assert paths(find(filled, "検索システム", mode="keyword")) == []
    assert paths(find(filled, "Tomaten", mode="keyword")) == ["notes/garten.txt"]
    assert sync(filled).message == "Nothing new, 5 unchanged."


def test_a_failed_file_is_read_again_when_it_changes_or_when_asked_to(filled, folder):
    place = folder / "notes/memo.md"
    good = place.read_bytes()
    place.write_bytes(b"%PDF-1.7\n" + bytes(range(256)) * 20)
    make_older(folder / "notes", 5)
    sync(filled)
    [broken] = [one for one in filled.documents.list() if one.path == "notes/memo.md"]
    status = place.stat()
    job = do(filled, "retry", document_ids=[broken.id])
    assert job.state is JobState.DONE
    assert statuses(filled)["notes/memo.md"] == broken.status.value
    place.write_bytes(good)
    os.utime(place, (status.st_atime, status.st_mtime))
    do(filled, "retry", document_ids=[broken.id])
    assert statuses(filled)["notes/memo.md"] == "indexed"
    assert paths(find(filled, "検索システム", mode="keyword")) == ["notes/memo.md"]


def test_a_dry_run_names_the_changes_and_makes_none(filled, folder):
    (folder / "data/prices.csv").unlink()
    (folder / "notes/garten.txt").write_text("Anders als zuvor.\n")
    write_files(folder, {"new.md": "# New\n\nText.\n"})
    before = filled.paths.catalog.read_bytes()
    documents = filled.documents.list()
    [source] = filled.sources.list()
    report = sync_source(filled.writer(), source, Reporter(), dry_run=True)
    assert report.new == ("new.md",)
    assert report.changed == ("notes/garten.txt",)
    assert report.removed == ("data/prices.csv",)
    assert report.unchanged == 3
    assert report.indexed == 0
    assert filled.documents.list() == documents
    assert filled.sources.list() == [source]
    assert filled.paths.catalog.read_bytes() == before
    assert filled.embedder.passages == []


def test_an_empty_folder_is_said_to_be_empty(library, tmp_path):
    assert add(library, write_files(tmp_path / "nothing", {})).message == (
        "Nothing new: no files found."
    )


def test_a_folder_that_is_gone_deletes_nothing(filled, folder):
    folder.rename(folder.with_name("elsewhere"))
    assert sync(filled).message == (
        f"Nothing new. The folder {folder} is not there. Connect its drive, or put it back."
    )
    [source] = filled.sources.list()
    assert source.state == "offline"
    assert source.reason
    assert statuses(filled) == dict.fromkeys(HANDBOOK, "indexed")
    assert paths(find(filled, "Tomaten", mode="keyword")) == ["notes/garten.txt"]
    assert find(filled, "Tomaten", mode="keyword").results[0].missing
    folder.with_name("elsewhere").rename(folder)
    assert sync(filled).message == "Nothing new, 5 unchanged."
    assert filled.sources.list()[0].state == "ready"


def test_a_folder_that_is_suddenly_empty_deletes_nothing(filled, folder):
    for one in folder.iterdir():
        shutil.rmtree(one)
    assert "The folder is empty: 5 of 5 files are missing" in sync(filled).message
    assert filled.sources.list()[0].state == "held"
    assert statuses(filled) == dict.fromkeys(HANDBOOK, "indexed")


def test_removing_a_source_leaves_the_files_and_finds_nothing_more(filled, folder):
    [source] = filled.sources.list()
    job = do(filled, "remove_source", source_id=source.id)
    assert job.state is JobState.DONE
    assert job.message == f"Removed {source.root} with 5 documents."
    assert filled.documents.list() == []
    assert filled.sources.list() == []
    assert find(filled, "refund").results == ()
    assert (folder / "handbook/refunds.md").is_file()


def test_removing_an_upload_deletes_it_and_only_it(library, tmp_path):
    for name, text in (("one.txt", "A zebra runs."), ("two.txt", "A zebra rests.")):
        write_files(tmp_path, {name: text})
        with (tmp_path / name).open("rb") as stream:
            library.uploads.add(name, stream)
    library.jobs.wait(library.sources.sync(library.sources.uploads()))
    one = next(record for record in library.documents.list() if record.path == "one.txt")
    job = do(library, "remove_documents", document_ids=[one.id])
    assert job.message.startswith("Removed 1 document")
    assert statuses(library) == {"two.txt": "indexed"}
    assert paths(find(library, "zebra", mode="keyword")) == ["two.txt"]
    sync(library)
    assert statuses(library) == {"two.txt": "indexed"}


def test_a_document_of_a_watched_folder_cannot_be_removed_alone(filled, folder):
    one = filled.documents.list()[0]
    job = do(filled, "remove_documents", document_ids=[one.id])
    assert job.state is JobState.FAILED
    assert job.message.startswith(f"{one.path} is in a watched folder.")
    with pytest.raises(SourceError, match=f"{one.path} is in a watched folder"):
        filled.documents.remove([one.id])
    with pytest.raises(NotFoundError, match="no document 999"):
        filled.documents.remove([999])
    assert statuses(filled) == dict.fromkeys(HANDBOOK, "indexed")
    assert (folder / one.path).is_file()


def test_removing_a_collection_leaves_the_others(filled, folder, tmp_path):
    other = write_files(tmp_path / "other", {"a.md": "# Zebra\n\nA zebra runs.\n"})
    add(filled, other, "animals")
    assert paths(find(filled, "zebra", collections=("animals",))) == ["a.md"]
    job = do(filled, "remove_collection", collection="animals")
    assert job.message == 'Deleted the collection "animals".'
    assert [one.name for one in filled.collections.list()] == ["default"]
    with pytest.raises(NotFoundError, match="animals"):
        find(filled, "zebra", collections=("animals",))
    assert statuses(filled) == dict.fromkeys(HANDBOOK, "indexed")
    assert paths(find(filled, "Tomaten", mode="keyword")) == ["notes/garten.txt"]


def test_a_collection_made_again_is_empty(filled, folder):
    do(filled, "remove_collection", collection="default")
    filled.catalog.collections.ensure("default")
    assert find(filled, "refund").results == ()
    add(filled, folder)
    assert paths(find(filled, "refund within thirty days"))[0] == "handbook/refunds.md"


def test_a_job_for_what_is_not_there_fails_with_a_sentence(library):
    for kind, arguments in (
        ("sync", {"source_id": 99}),
        ("remove_source", {"source_id": 99}),
        ("remove_collection", {"collection": "nowhere"}),
        ("sync", {"collection": "nowhere"}),
    ):
        job = do(library, kind, **arguments)
        assert job.state is JobState.FAILED
        assert job.message.endswith(".")
        assert "Traceback" not in job.message
    with pytest.raises(QueryError, match='no job of the kind "dance"'):
        library.jobs.add("dance")


def test_the_same_bytes_under_two_names_are_two_documents_and_one_result(library, tmp_path):
    text = "# Walrus\n\nThe walrus sleeps on the ice all afternoon.\n"
    add(library, write_files(tmp_path / "files", {"b/copy.md": text, "a/first.md": text}))
    assert statuses(library) == {"a/first.md": "indexed", "b/copy.md": "indexed"}
    assert len(library.embedder.passages) == len(set(library.embedder.passages))
    answer = find(library, "walrus on the ice")
    assert len(answer.results) == 1
    shown = {*paths(answer), *answer.results[0].also_at}
    assert shown == {"a/first.md", "b/copy.md"}
    dedup = next(one for one in answer.trace.stages if one.name == "deduplication")
    assert "1 duplicates removed" in dedup.note


def test_a_library_of_changes_answers_like_a_fresh_one(filled, folder, tmp_path):
    (folder / "data/prices.csv").unlink()
    (folder / "notes/garten.txt").write_text("Die Gurken und Tomaten sind reif.\n")
    write_files(folder, {"new/ideas.md": "# Ideas\n\nA lighthouse for ducks, with a refund.\n"})
    make_older(folder, 5)
    sync(filled)
    fresh = open_library(tmp_path / "fresh")
    add(fresh, folder)
    filled.indexes.save(filled.catalog.collections.get("default"), always=True)
    filled.indexes.forget(filled.catalog.collections.get("default").id)
    for question in ("refund", "Tomaten", "OAuth token", "検索システム", "lighthouse"):
        for mode in ("hybrid", "keyword", "vector"):
            ours, theirs = (find(one, question, mode=mode) for one in (filled, fresh))
            assert sorted(paths(ours)) == sorted(paths(theirs))
            for one, other in zip(ours.results, theirs.results, strict=True):
                assert one.score == pytest.approx(other.score, abs=1e-6)
    fresh.close()


def test_two_fresh_libraries_of_the_same_files_answer_byte_for_byte_alike(folder, tmp_path):
    answers = []
    for name in ("one", "two"):
        library = open_library(tmp_path / name)
        add(library, folder)
        questions = ("refund", "Tomaten", "token C++")
        answers.append([comparable(find(library, one), ranks=False) for one in questions])
        library.close()
    assert answers[0] == answers[1]


def test_a_change_of_the_chunk_size_divides_everything_again(folder, tmp_path):
    words = " ".join(f"word{number}" for number in range(900))
    write_files(folder, {"long.txt": words})
    small = open_library(tmp_path / "library", chunking={"words": 60, "overlap": 10})
    add(small, folder)
    few = next(one.chunks for one in small.documents.list() if one.path == "long.txt")
    small.close()
    large = open_library(tmp_path / "library")
    assert sync(large).message.startswith("6 indexed")
    fewer = next(one.chunks for one in large.documents.list() if one.path == "long.txt")
    assert fewer < few
    large.close()


def test_cancelling_keeps_what_was_done(library, folder):
    job_id = library.sources.sync(library.sources.add_folder(folder))
    seen = []

    def watch(progress):
        seen.append(progress)
        library.catalog.jobs.cancel(job_id)

    job = library.jobs.wait(job_id, watch)
    assert job.state is JobState.CANCELLED
    assert seen
    assert set(statuses(library).values()) <= {"pending", "indexed"}
    sync(library)
    assert statuses(library) == dict.fromkeys(HANDBOOK, "indexed")


def test_progress_counts_up_to_the_number_of_files(library, folder):
    seen = []
    job_id = library.sources.sync(library.sources.add_folder(folder))
    library.jobs.wait(job_id, seen.append)
    reading = [one for one in seen if one.phase == "Reading"]
    assert reading[0].done == 0
    assert [one.done for one in reading] == sorted(one.done for one in reading)
    assert (reading[-1].done, reading[-1].total) == (5, 5)
    assert time.time() - reading[0].started_at < 60


def test_a_folder_that_is_too_deep_is_named_shortly(filled, folder, monkeypatch):
    deep = "/".join(["deep"] * 900)

    def scanned(*arguments, **options):
        return replace(scan_folder(*arguments, **options), unreadable=(deep,))

    monkeypatch.setattr("ragkit.indexing.sync.scan_folder", scanned)
    sync(filled)
    [source] = filled.sources.list()
    assert source.reason.startswith("1 folders could not be opened: deep/deep/")
    assert "…" in source.reason
    assert len(source.reason) < 150
