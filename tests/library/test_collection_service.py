"""Collections are made, renamed, set and deleted, and what belongs to one goes with it."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest
from small_library import open_library

from ragkit.catalog.records import JobState
from ragkit.errors import NotFoundError, SettingsError
from ragkit.evaluation.judging import Judging
from ragkit.options import Mode


@pytest.fixture
def library(tmp_path):
    opened = open_library(tmp_path / "library")
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "long.md").write_text("# Herons\n\n" + "The heron stands in the river. " * 60)
    opened.jobs.wait(opened.sources.sync(opened.sources.add_folder(folder)))
    yield opened
    opened.close()


def test_names_are_free_short_and_on_one_line(library):
    assert library.collections.add("  Field   notes ").name == "Field notes"
    for name, taken in (
        ("DEFAULT", "default"),
        ("field notes", "Field notes"),
        ("All collections", "All collections"),
    ):
        with pytest.raises(SettingsError, match=f'There is already a collection "{taken}"'):
            library.collections.add(name)
    for name in ("", "  ", "x" * 81, "a\x07b"):
        with pytest.raises(SettingsError, match="has 1 to 80 characters on one line"):
            library.collections.add(name)
    # Persian parts its words by a character that is not printable, and families are joined.
    for name in ("\u0646\u0627\u0645\u0647\u200c\u0647\u0627", "\U0001f469\u200d\U0001f467"):
        assert library.collections.add(name).name == name
    assert library.collections.rename("Field notes", "FIELD notes").name == "FIELD notes"


@pytest.mark.parametrize("written", ["Cafe\u0301 notes", " Caf\u00e9  notes "])
def test_a_collection_is_found_by_the_name_that_it_was_made_with(library, written):
    assert library.collections.add(written).name == "Caf\u00e9 notes"
    assert library.collections.get(written).name == "Caf\u00e9 notes"
    assert library.collections.has(written)
    library.uploads.add("note.md", io.BytesIO(b"# Note\n\nThe bittern booms.\n"), written)
    job = library.jobs.wait(library.sources.sync(library.sources.uploads(written)))
    assert job.message == "1 indexed."
    [found] = library.search("bittern", collections=written).results
    assert (found.document.path, found.document.collection) == ("note.md", "Caf\u00e9 notes")
    assert library.documents.counts(written).indexed == 1
    thread = library.threads.begin("bittern?", written)
    assert library.threads.get(thread.id).collections == ("Caf\u00e9 notes",)
    deletion = library.collections.delete(written)
    assert not library.collections.has(written)
    assert library.jobs.wait(deletion).state is JobState.DONE


def test_a_name_as_it_was_stored_before_is_still_found(library):
    library.catalog.collections.ensure("Cafe\u0301")
    assert library.collections.get("Cafe\u0301").name == "Cafe\u0301"
    assert library.collections.find("Caf\u00e9") is None


@pytest.mark.parametrize("name", ["..", ".", "a/../b", "./a", "a/."])
def test_no_name_is_changed_by_being_part_of_an_address(library, tmp_path, name):
    with pytest.raises(SettingsError, match=r'has no part "\."'):
        library.collections.add(name)
    with pytest.raises(SettingsError, match=r'has no part "\."'):
        library.collections.rename("default", name)
    with pytest.raises(SettingsError, match=r'has no part "\."'):
        library.sources.add_folder(tmp_path / "papers", name)
    with pytest.raises(SettingsError, match=r'has no part "\."'):
        library.uploads.add("note.md", io.BytesIO(b"# Note"), name)
    assert library.collections.names() == ["default"]


def test_names_may_have_dots_and_slashes(library):
    for name in ("a/b", "v1.2", "...", ".hidden"):
        assert library.collections.add(name).name == name


def test_a_collection_that_has_another_name_already_stays_as_it_is(library, tmp_path):
    (tmp_path / "more").mkdir()
    library.catalog.collections.ensure("..")
    assert library.sources.add_folder(tmp_path / "more", "..").collection == ".."
    assert library.collections.rename("..", "dots").name == "dots"


def test_own_search_options_are_those_that_there_are(library):
    with pytest.raises(SettingsError, match='no search option "nope"'):
        library.collections.set_search("default", {"nope": 1})
    with pytest.raises(SettingsError, match="limit must be at least 1"):
        library.collections.set_search("default", {"limit": 0})
    assert library.collections.get("default").settings == {}
    library.collections.set_search("default", {"mode": Mode.KEYWORD, "limit": "3"})
    assert library.collections.get("default").settings["search"] == {"mode": "keyword", "limit": 3}
    options = library.options(collections="default")
    assert (options.mode, options.limit) == (Mode.KEYWORD, 3)


def test_renaming_keeps_ratings_settings_uploads_and_waiting_jobs(library):
    record = library.collections.get("default")
    document = library.documents.list()[0]
    Judging(library.catalog).judge(record.id, "heron", document.id, 2)
    library.collections.set_search("default", {"limit": 3})
    waiting = library.jobs.add("sync", collection="default")
    library.collections.rename("default", "Birds")
    with pytest.raises(NotFoundError):
        library.collections.get("default")
    assert library.options(collections=("Birds",)).limit == 3
    assert library.collections.contents("Birds").ratings == 1
    assert library.search("heron", collections=("Birds",)).results[0].document.path == "long.md"
    assert library.jobs.wait(waiting).message == "Nothing new, 1 unchanged."


def test_deleting_takes_uploads_ratings_and_indexes_and_leaves_files(library, tmp_path):
    library.uploads.add("note.md", io.BytesIO(b"# Note\n\nUploaded.\n"))
    library.jobs.wait(library.sources.sync(library.sources.uploads()))
    record = library.collections.get("default")
    Judging(library.catalog).judge(record.id, "heron", library.documents.list()[0].id, 2)
    contents = library.collections.contents("default")
    assert (contents.documents, contents.folders, contents.uploads, contents.ratings) == (
        2,
        1,
        1,
        1,
    )
    assert contents.irreplaceable
    uploads = Path(library.sources.uploads().root)
    job = library.jobs.wait(library.collections.delete("default"))
    assert job.message == 'Deleted the collection "default".'
    assert library.collections.list() == []
    assert library.documents.list() == []
    assert not uploads.exists()
    assert not library.paths.collection_indexes(record.id).exists()
    assert (tmp_path / "papers/long.md").is_file()
    assert library.uploads.lines("default") == []


def test_an_upload_that_is_not_read_yet_would_be_lost_as_well(library):
    [stored] = library.uploads.add("note.md", io.BytesIO(b"# Note\n\nUploaded.\n"))
    contents = library.collections.contents("default")
    assert (contents.documents, contents.uploads, contents.irreplaceable) == (1, 1, True)
    library.jobs.wait(library.sources.sync(library.sources.uploads()))
    contents = library.collections.contents("default")
    assert (contents.documents, contents.uploads) == (2, 1)
    (document,) = [each for each in library.documents.list() if each.path == stored.path]
    library.jobs.wait(library.documents.remove([document.id]))
    contents = library.collections.contents("default")
    assert (contents.documents, contents.uploads, contents.irreplaceable) == (1, 0, False)


def test_a_deletion_waits_and_can_be_taken_back(library):
    library.collections.add("Other")
    job = library.collections.delete("default", after_seconds=60)
    assert [record.name for record in library.collections.list()] == ["Other"]
    assert library.collections.names() == ["Other"]
    [leaving] = library.collections.leaving()
    assert (leaving.job_id, leaving.name) == (job, "default")
    assert 50 < leaving.seconds_left <= 60
    with pytest.raises(SettingsError, match="already"):
        library.collections.add("default")
    # Other jobs do not wait for it.
    other = library.jobs.add("sync", collection="Other")
    assert library.jobs.wait(other).state is JobState.DONE
    assert library.jobs.progress() is None
    assert library.collections.keep(job)
    assert {record.name for record in library.collections.list()} == {"default", "Other"}
    assert library.collections.names() == ["Other", "default"]
    assert library.collections.leaving() == ()
    assert [one.arguments["collection"] for one in library.jobs.open()] == ["default"]
    assert not library.collections.keep(job)


def test_a_deletion_that_is_due_is_done(library):
    job = library.collections.delete("default", after_seconds=0.01)
    time.sleep(0.02)
    assert library.jobs.wait(job).state is JobState.DONE
    assert not library.collections.keep(job)
    assert library.documents.list() == []


def test_chunk_sizes_of_a_collection_are_used_and_index_it_again(library):
    [before] = library.documents.list()
    job = library.collections.set_chunking("default", {"words": 60, "overlap": 10})
    assert library.jobs.wait(job).message == "1 indexed."
    [after] = library.documents.list()
    assert after.chunks > before.chunks
    assert library.collections.chunking("default").words == 60
    assert library.collections.set_chunking("default", {"words": 60}) is None
    with pytest.raises(SettingsError) as refused:
        library.collections.set_chunking("default", {"overlap": 50})
    assert refused.value.message == "Wrong settings: overlap must be at most half of words."
    library.jobs.wait(library.collections.set_chunking("default", {"words": 320, "overlap": 80}))
    assert "chunking" not in library.collections.get("default").settings
    assert library.documents.list()[0].chunks == before.chunks


def test_the_last_job_is_that_of_the_collection(library):
    assert library.jobs.last("default").message == "1 indexed."
    library.collections.add("Empty")
    assert library.jobs.last("Empty") is None
    library.jobs.wait(library.sources.sync())
    assert library.jobs.last("default").message == "1 indexed."
    assert library.jobs.last("Empty") is None
