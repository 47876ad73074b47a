"""Documents whose files are gone all at once: kept until a person says that they may go."""

from __future__ import annotations

import shutil

import pytest
from small_library import (
    do,
    find,
    make_older,
    paths,
    statuses,
    sync,
    write_files,
)

from ragkit.indexing.progress import Reporter
from ragkit.indexing.sync import sync_source

NOTES = {f"notes/{number:02}.md": f"The heron number {number} stands.\n" for number in range(20)}
OTHERS = {f"others/{number:02}.md": f"The ibis number {number} walks.\n" for number in range(30)}


@pytest.fixture
def folder(tmp_path):
    write_files(tmp_path / "files", {**NOTES, **OTHERS})
    make_older(tmp_path / "files")
    return tmp_path / "files"


def source_of(library):
    [source] = library.sources.list()
    return source


def lies_on_another_drive(library, *names):
    """Note of some files that they were seen on another device than that of the folder."""
    with library.catalog.connections.write() as connection:
        for name in names:
            connection.execute(
                "UPDATE documents SET stamp = '999999' || substr(stamp, instr(stamp, ':')) "
                "WHERE path = ?",
                (name,),
            )


@pytest.mark.parametrize("limited", [{}, {"paths": ["notes"]}])
def test_a_large_share_of_a_source_is_not_removed_at_once(filled, folder, limited):
    shutil.rmtree(folder / "notes")
    write_files(folder, {"new.md": "A puffin flies.\n"})
    job = do(filled, "sync", source_id=source_of(filled).id, **limited)
    assert "20 of 50 files are missing; a drive may be disconnected." in job.message
    assert "removed," not in job.message
    assert source_of(filled).state == "held"
    assert set(statuses(filled)) >= {*NOTES, *OTHERS}
    assert paths(find(filled, "heron number 7", mode="keyword"))[0] in NOTES
    sync(filled)
    assert paths(find(filled, "puffin", mode="keyword")) == ["new.md"]
    assert source_of(filled).state == "held"


def test_one_document_fewer_is_removed_without_a_question(filled, folder):
    (folder / "notes/00.md").rename(folder / "notes/kept.md")
    sync(filled)
    for name in list(NOTES)[1:]:
        (folder / name).unlink()
    assert sync(filled).message == "19 removed, 31 unchanged."
    assert source_of(filled).state == "ready"


def test_the_hold_ends_by_itself_when_the_files_are_back(filled, folder, tmp_path):
    (folder / "notes").rename(tmp_path / "elsewhere")
    before = {one.path: one.id for one in filled.documents.list()}
    sync(filled)
    (tmp_path / "elsewhere").rename(folder / "notes")
    # Whatever is looked at, all of the source is.
    do(filled, "sync", source_id=source_of(filled).id, paths=["others/00.md"])
    assert (source_of(filled).state, source_of(filled).reason) == ("ready", "")
    assert {one.path: one.id for one in filled.documents.list()} == before


def test_removals_go_when_a_person_says_so(filled, folder):
    shutil.rmtree(folder / "notes")
    sync(filled)
    filled.jobs.wait(filled.sources.sync(source_of(filled), accept_removals=True))
    assert set(statuses(filled)) == set(OTHERS)
    assert (source_of(filled).state, source_of(filled).reason) == ("ready", "")
    assert paths(find(filled, "heron", mode="keyword")) == []


def test_an_emptied_folder_may_be_said_to_be_empty(filled, folder):
    shutil.rmtree(folder)
    folder.mkdir()
    assert "The folder is empty: 50 of 50 files are missing" in sync(filled).message
    assert len(filled.documents.list()) == 50
    filled.jobs.wait(filled.sources.sync(source_of(filled), accept_removals=True))
    assert filled.documents.list() == []


def test_a_drive_that_is_no_longer_mounted_below_a_source_removes_nothing(filled, folder):
    lies_on_another_drive(filled, "notes/03.md", "notes/04.md", "others/05.md")
    (folder / "notes/03.md").unlink()
    (folder / "notes/04.md").unlink()
    (folder / "others/06.md").unlink()
    # The drive was mounted on notes, and others/05.md is on it still, with its old number.
    with filled.catalog.connections.write() as connection:
        connection.execute("UPDATE documents SET stamp = '' WHERE path = 'others/05.md'")
    job = sync(filled)
    assert job.message.startswith("1 removed, 47 unchanged. 2 of 50 files are missing")
    assert source_of(filled).state == "held"
    assert {"notes/03.md", "notes/04.md"} <= set(statuses(filled))
    assert "others/06.md" not in statuses(filled)


def test_a_stray_file_on_an_empty_mount_point_removes_nothing(filled, folder):
    lies_on_another_drive(filled, *NOTES, *OTHERS)
    shutil.rmtree(folder)
    write_files(folder, {"notes/03.md": "A stray file.\n"})
    job = sync(filled)
    assert job.message.startswith("1 indexed. 49 of 50 files are missing")
    assert len(filled.documents.list()) == 50


def test_a_drive_with_another_number_after_a_restart_holds_nothing(filled, folder):
    lies_on_another_drive(filled, *NOTES)
    (folder / "notes/03.md").unlink()
    assert sync(filled).message == "1 removed, 49 unchanged."
    assert source_of(filled).state == "ready"
    (folder / "notes/04.md").unlink()
    assert sync(filled).message == "1 removed, 48 unchanged."


def test_files_that_are_ignored_from_now_on_are_removed_without_a_question(filled, folder):
    write_files(folder, {".ragkitignore": "notes\n"})
    assert sync(filled).message == "20 removed, 30 unchanged."


def test_a_moved_folder_is_no_removal(filled, folder):
    (folder / "notes").rename(folder / "archive")
    assert "20 moved" in sync(filled).message
    assert source_of(filled).state == "ready"
    assert {path.partition("/")[0] for path in statuses(filled)} == {"archive", "others"}


def test_a_source_that_is_removed_by_hand_goes_with_its_documents(filled, folder):
    shutil.rmtree(folder / "notes")
    sync(filled)
    do(filled, "remove_source", source_id=source_of(filled).id)
    assert filled.documents.list() == []


def test_a_dry_run_names_what_would_be_held(filled, folder):
    shutil.rmtree(folder / "notes")
    report = sync_source(filled.writer(), source_of(filled), Reporter(), dry_run=True)
    assert report.removed == ()
    assert report.held.startswith("20 of 50 files are missing")
    assert source_of(filled).state == "ready"
