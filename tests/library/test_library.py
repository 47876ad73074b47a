"""The facade: what pages and commands ask of a library."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from small_library import (
    HANDBOOK,
    SHARED,
    add,
    find,
    open_library,
    paths,
    statuses,
    sync,
    write_files,
)

from ragkit.background.job_handlers import work_off
from ragkit.catalog.records import JobState
from ragkit.errors import LibraryBusyError, LibraryError, NotFoundError, SourceError
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library
from ragkit.options import Fusion, Mode
from ragkit.settings import load_settings
from ragkit.types import Status


def test_an_uploaded_file_is_found(library):
    [stored] = library.uploads.add("notes/walrus.md", io.BytesIO(b"# Walrus\n\nIt sleeps.\n"))
    assert stored.path == "notes/walrus.md"
    job = library.jobs.wait(library.sources.sync(library.sources.uploads()))
    assert job.message == "1 indexed."
    assert paths(find(library, "walrus")) == ["notes/walrus.md"]
    [source] = library.sources.list()
    assert source.kind == "uploads"
    assert Path(source.root).is_relative_to(library.paths.root)


# -- folders ---------------------------------------------------------------------------------


def test_folders_that_cannot_be_added_are_refused_with_a_reason(library, tmp_path):
    write_files(tmp_path / "files", {"a.md": "text", "inner/b.md": "text"})
    for folder, said in (
        (tmp_path / "nowhere", "is not a folder"),
        (tmp_path / "files" / "a.md", "is not a folder"),
        (tmp_path, "contains the library itself"),
        (library.paths.uploads, "belongs to the library itself"),
        (Path("/"), "contains the library itself"),
    ):
        with pytest.raises(SourceError, match=said):
            library.sources.add_folder(folder)
    library.sources.add_folder(tmp_path / "files")
    with pytest.raises(SourceError, match="is already in this collection"):
        library.sources.add_folder(tmp_path / "files" / "inner")
    assert len(library.sources.list()) == 1


def test_a_folder_added_twice_is_one_source_whatever_way_it_is_written(library, tmp_path):
    files = write_files(tmp_path / "files", {"a.md": "text"})
    (tmp_path / "link").symlink_to(files)
    first = library.sources.add_folder(files)
    assert library.sources.add_folder(tmp_path / "files" / ".." / "files") == first
    assert library.sources.add_folder(tmp_path / "link") == first
    elsewhere = library.sources.add_folder(files, "other")
    assert elsewhere.id != first.id
    assert [one.collection for one in library.sources.list()] == ["default", "other"]
    assert [one.collection for one in library.sources.list("other")] == ["other"]
    assert library.sources.list("nowhere") == []


def test_a_folder_takes_over_the_one_inside_it_without_reading_its_files_again(library, tmp_path):
    files = {"b.md": "# Alpha\n\nA walrus.\n", "inner/b.md": "# Beta\n\nA narwhal.\n"}
    outer = write_files(tmp_path / "files", files)
    add(library, outer / "inner")
    [before] = library.documents.list()
    job = add(library, outer)
    assert job.message == "1 indexed, 1 moved, 1 unchanged."
    [source] = library.sources.list()
    assert (source.root, source.documents, source.state) == (str(outer), 2, "ready")
    assert statuses(library) == dict.fromkeys(files, "indexed")
    [after] = [one for one in library.documents.list() if one.path == "inner/b.md"]
    assert (after.id, after.changed_at) == (before.id, before.changed_at)
    assert paths(find(library, "narwhal")) == ["inner/b.md"]


def test_a_folder_with_several_of_a_collection_inside_is_refused(library, tmp_path):
    outer = write_files(tmp_path / "files", {"one/a.md": "A walrus.\n", "two/b.md": "A narwhal.\n"})
    for folder in ("one", "two"):
        add(library, outer / folder)
    with pytest.raises(SourceError) as raised:
        library.sources.add_folder(outer)
    assert str(raised.value) == (
        f"{outer} contains folders that are already in this collection: {outer / 'one'}, "
        f"{outer / 'two'}. Remove all but one of them first; that one then becomes the whole "
        "folder."
    )
    assert library.sources.add_folder(outer, "other").root == str(outer)
    assert library.documents.counts("default").documents == 2


def test_allowed_roots_are_kept_to(tmp_path):
    allowed = write_files(tmp_path / "allowed" / "in", {"a.md": "text"})
    other = write_files(tmp_path / "other", {"a.md": "text"})
    (tmp_path / "allowed" / "link").symlink_to(other)
    roots = {"allowed_roots": [str(tmp_path / "allowed")]}
    library = open_library(tmp_path / "library", sources=roots)
    assert library.sources.add_folder(allowed).root == str(allowed)
    for folder in (other, tmp_path / "allowed" / "link", tmp_path / "allowed" / ".." / "other"):
        with pytest.raises(SourceError, match="not in an allowed folder"):
            library.sources.add_folder(folder)
    library.close()


# -- looking ---------------------------------------------------------------------------------


def test_what_a_library_tells_of_itself(library, tmp_path):
    add(library, write_files(tmp_path / "files", HANDBOOK))
    assert [one.name for one in library.collections.list()] == ["default"]
    assert (library.documents.counts().indexed, library.documents.counts("default").indexed) == (
        5,
        5,
    )
    assert library.documents.counts("nowhere").documents == 0
    assert [one.path for one in library.documents.list(containing="GARTEN")] == ["notes/garten.txt"]
    assert len(library.documents.list(limit=2)) == 2
    assert (
        library.documents.list(limit=2) + library.documents.list(limit=9, offset=2)
        == library.documents.list()
    )
    assert library.documents.list(status=Status.FAILED) == []
    with pytest.raises(NotFoundError):
        library.documents.list("nowhere")
    record = library.documents.list(containing="refunds")[0]
    detail = library.documents.get(record.id)
    assert detail.record == record
    assert detail.text.startswith("# Refunds")
    assert detail.sections[0].start == 0
    assert detail.sections[-1].end == len(detail.text) == record.characters
    assert len(detail.chunks) == record.chunks
    with pytest.raises(NotFoundError):
        library.documents.get(10**9)
    facets = library.documents.facets("default")
    assert dict(facets.values("path")) == {"handbook/": 2, "notes/": 2, "data/": 1}
    assert sum(count for _, count in facets.values("type")) == 5
    assert library.documents.facets("nowhere").values("type") == ()


def test_options_come_from_the_settings_and_what_is_asked_for(tmp_path):
    library = open_library(
        tmp_path / "library", collection="work", search={"mode": "keyword", "limit": 3}
    )
    options = library.options()
    assert (options.mode, options.limit, options.collections) == (Mode.KEYWORD, 3, ("work",))
    changed = library.options(mode=Mode.VECTOR, fusion=None, limit=7)
    assert (changed.mode, changed.fusion, changed.limit) == (Mode.VECTOR, options.fusion, 7)
    assert library.options(fusion=Fusion.RRF).fusion is Fusion.RRF
    library.close()


def test_a_library_is_opened_only_where_there_is_one(tmp_path):
    with pytest.raises(LibraryError, match="There is no library") as caught:
        Library.open(load_settings(library=tmp_path / "none"))
    assert "ragkit add" in caught.value.cure
    assert not (tmp_path / "none").exists()
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LibraryError, match="cannot be created"):
        Library.open(load_settings(library=tmp_path / "file" / "library"), create=True)


# -- one writer ------------------------------------------------------------------------------


def test_two_writers_one_works_and_the_other_waits(library, tmp_path):
    add(library, write_files(tmp_path / "files", HANDBOOK))
    write_files(tmp_path / "files", {"new.md": "# New\n\nA lighthouse.\n"})
    job = library.jobs.add("sync")
    with writer_lock(library.paths.lock, "worker"):
        with pytest.raises(LibraryBusyError, match="is being written by the worker"):
            work_off(library.writer(), job)
        done: list[object] = []
        waiting = threading.Thread(target=lambda: done.append(library.jobs.wait(job)))
        waiting.start()
        time.sleep(0.5)
        assert done == []
        assert paths(find(library, "refund thirty"))[0] == "handbook/refunds.md"
    waiting.join(30)
    assert [one.state for one in done] == [JobState.DONE]
    assert "new.md" in statuses(library)


def test_a_job_that_a_worker_does_is_waited_for(library, tmp_path):
    add(library, write_files(tmp_path / "files", HANDBOOK))
    code = (
        "import sys, time\nfrom ragkit.library import Library\n"
        "from ragkit.settings import load_settings\n"
        "from ragkit.indexing.writer import writer_lock\n"
        "from ragkit.background.job_handlers import run_job\n"
        "library = Library.open(load_settings(library=sys.argv[1], models={'embedder': 'hash'}))\n"
        "with writer_lock(library.paths.lock, 'worker'):\n"
        "    print('ready', flush=True)\n"
        "    while (job := library.catalog.jobs.claim()) is None:\n        time.sleep(0.02)\n"
        "    run_job(library.writer(), job)\n    time.sleep(0.5)\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(library.paths.root)], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "ready\n"
    assert library.worker.state().running
    job = sync(library)
    assert other.poll() is None
    assert job.state is JobState.DONE
    assert "5 unchanged" in job.message or "5 indexed" in job.message
    assert other.wait(20) == 0
    other.stdout.close()
    assert not library.worker.state().running


def test_readers_find_whole_documents_while_a_sync_runs(library, tmp_path):
    """Each document holds one word twice, in two chunks: both are found, or none."""
    filler = " ".join(f"filler{number}" for number in range(400))
    files = {
        f"{n}.md": f"# Doc {n}\n\nmarker a{n}.\n\n{filler}\n\nmarker z{n}.\n" for n in range(30)
    }
    folder = write_files(tmp_path / "files", files)
    job = library.sources.sync(library.sources.add_folder(folder))
    reader = Library.open(library.settings)
    seen, problems = set(), []
    stop = threading.Event()

    looking = threading.Thread(target=_looking(reader, stop, seen, problems))
    looking.start()
    library.jobs.wait(job)
    stop.set()
    looking.join(30)
    reader.close()
    assert problems == []
    assert len(find(library, "marker", mode="keyword", limit=50).results) == 30


def _looking(reader, stop, seen, problems):
    def look() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            answer = find(reader, f"marker {number}", mode="keyword", limit=50)
            seen.add(len(answer.results))
            for one in answer.results:
                text = reader.documents.get(one.document.id).text
                whole = all(text[p.start : p.end] == p.text for p in one.passages)
                if not whole or one.document.chunks < 2:
                    problems.append(one)

    return look


# -- files that break readers ----------------------------------------------------------------


@pytest.mark.slow
def test_every_awkward_file_ends_with_a_status_and_a_reason(tmp_path):
    folder = SHARED / "awkward_files"
    if not folder.is_dir():
        pytest.skip("../shared/data/awkward_files is not there")
    library = open_library(tmp_path / "library")
    started = time.monotonic()
    job = add(library, folder)
    assert job.state is JobState.DONE
    records = library.documents.list()
    assert len(records) > 20
    for record in records:
        assert record.status in (Status.INDEXED, Status.SKIPPED, Status.FAILED), record.path
        assert record.status is Status.INDEXED or len(record.reason) > 10, record.path
        assert "Traceback" not in record.reason
        assert str(folder) not in record.reason
    assert sum(one.status is Status.INDEXED for one in records) > 10
    assert time.monotonic() - started < 30 + len(records)
    library.close()
