"""Checks: what is lost, torn or extra is found, and its fix named."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from health_library import (
    TEXTS,
    chunk_indexes,
    finding_of,
    fixes_of,
    hits,
    open_health_library,
    sql,
    work,
)

from ragkit.catalog.records import JobState
from ragkit.errors import ModelError, NotFoundError
from ragkit.health.checks import check_library
from ragkit.health.findings import Depth
from ragkit.indexes.local.files import generations
from ragkit.library import Library
from ragkit.settings import Settings
from ragkit.types import ALL_COLLECTIONS


def test_a_sound_library_has_no_fault_at_any_depth(library):
    for depth in Depth:
        assert [one for one in library.health.check(depth) if not one.ok] == []
    names = {one.name for one in library.health.verify()}
    assert {"catalog", "contents", "indexes", "vectors", "words", "embedder"} <= names
    entries = library.catalog.entries.count(ALL_COLLECTIONS)
    assert finding_of(library, "indexes").count == entries
    assert f"{entries}, {entries} and {entries}" in finding_of(library, "indexes").sentence


def test_an_empty_library_is_well(tmp_path):
    opened = open_health_library(tmp_path)
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
    work(library, "sync", source_id=library.sources.add_folder(other, "second").id)
    sql(library, "DELETE FROM texts WHERE document_id = 1")
    assert "contents" in fixes_of(library)
    assert all(one.ok for one in library.health.verify(collection="second"))
    with pytest.raises(NotFoundError):
        library.health.verify(collection="third")


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
    wanted = hits(library, "tokens café maintenance")
    sql(library, damage)
    assert fixes_of(library, Depth.CHECK)["contents"] == "reread"
    assert fixes_of(library)["contents"] == "reread"
    said = work(library, "reread")
    assert said.startswith("Re-indexed 1 damaged document")
    assert fixes_of(library) == {}
    assert hits(library, "tokens café maintenance") == wanted


def test_a_damaged_document_whose_folder_is_away_is_not_said_to_be_read(library):
    folder = Path(library.sources.list()[0].root)
    away = folder.rename(folder.with_name("away"))
    sql(library, "DELETE FROM texts WHERE document_id = 1")
    said = work(library, "reread")
    assert said.startswith(f"1 damaged document cannot be read now. The folder {folder} is not")
    away.rename(folder)
    assert work(library, "reread") == "Re-indexed 1 damaged document."
    assert fixes_of(library) == {}


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
    sql(library, damage)
    bad = fixes_of(library)
    assert bad["contents"] == "reread"
    work(library, "reread")
    assert fixes_of(library) == {}


def test_contents_of_a_document_that_is_not_indexed_are_extra(library):
    sql(library, "UPDATE documents SET status = 'failed' WHERE id = 2")
    assert fixes_of(library)["contents"] == "reread"
    work(library, "reread")
    assert fixes_of(library) == {}
    assert library.documents.counts().indexed == len(TEXTS)


def test_rows_without_their_document_are_found(library):
    sql(library, "DELETE FROM documents WHERE id = 1", references=False)
    assert "orphaned row" in finding_of(library, "catalog").sentence
    assert not finding_of(library, "catalog").ok


def test_a_damaged_catalog_file_is_found(library, tmp_path):
    query = "SELECT rootpage FROM sqlite_master WHERE name = 'documents_by_hash'"
    page = library.catalog.connections.row(query)[0] - 1
    library.catalog.integrity.settle()
    library.close()
    with library.paths.catalog.open("rb+") as file:
        file.seek(page * 4096 + 3000)
        file.write(os.urandom(1096))
    opened = open_health_library(tmp_path)
    found = [one for one in opened.health.verify() if one.name == "catalog"]
    assert [one.ok for one in found] == [False]
    assert "damaged" in found[0].sentence
    assert found[0].fix
    opened.close()


def test_lost_vectors_are_counted_and_come_back(library):
    wanted = hits(library, "tokens")
    sql(library, "DELETE FROM vectors")
    finding = finding_of(library, "embedder", Depth.CHECK)
    assert (finding.ok, finding.fix) == (False, "reread")
    assert finding.count == library.catalog.entries.count(ALL_COLLECTIONS)
    work(library, "reread")
    assert fixes_of(library) == {}
    assert hits(library, "tokens") == wanted


def test_vectors_of_a_wrong_length_are_found_and_replaced(library):
    hash_ = library.catalog.connections.row("SELECT text_hash FROM vectors LIMIT 1")[0]
    sql(library, "UPDATE vectors SET data = zeroblob(6) WHERE text_hash = ?", hash_)
    assert fixes_of(library, Depth.CHECK)["vectors"] == "reread"
    work(library, "reread")
    assert fixes_of(library) == {}


def test_settings_that_name_another_embedder_are_told_what_moves_to_it(library, tmp_path):
    library.close()
    other = Library.open(Settings(library=tmp_path / "lib", models={"embedder": "wordllama"}))
    finding = finding_of(other, "embedder", Depth.GLANCE)
    assert (finding.ok, finding.fix) == (True, "")
    assert "has a vector of hash" in finding.sentence
    assert "run ragkit embedder wordllama to switch to it" in finding.sentence
    work(other, "sync")
    assert fixes_of(other) == {}
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
    assert finding_of(library, "indexes").count == library.catalog.entries.count(ALL_COLLECTIONS)


def test_orphaned_vectors_are_dropped_by_compacting_and_others_kept(library):
    kept = library.catalog.connections.row("SELECT COUNT(*) FROM vectors")[0]
    embedder = library.catalog.embedders.ensure("another", "another", 4)
    hash_ = library.catalog.connections.row("SELECT text_hash FROM vectors LIMIT 1")[0]
    insert = "INSERT INTO vectors VALUES (?, ?, zeroblob(8))"
    sql(library, insert, b"nobody's text...", embedder)
    sql(library, insert, hash_, embedder)
    finding = finding_of(library, "vectors")
    assert (finding.ok, finding.count, finding.fix) == (True, 1, "compact")
    assert "dropped 1 vector, 0 old contexts and" in work(library, "compact")
    assert finding_of(library, "vectors").count == 0
    assert library.catalog.connections.row("SELECT COUNT(*) FROM vectors")[0] == kept + 1


def test_words_that_no_vocabulary_has_are_found_and_mended(library):
    sql(library, "DELETE FROM vocabulary WHERE token = 'hour'")
    assert fixes_of(library) == {"words": "reread"}
    library.close()
    again = Library.open(library.settings)
    work(again, "reread")
    assert fixes_of(again) == {}
    assert hits(again, "hour")[0][0] == "guide.md"
    again.close()


@pytest.mark.parametrize("name", ["rows.npz", "manifest.json"])
def test_a_changed_index_file_is_found_and_built_again(library, name):
    wanted = hits(library, "tokens repair")
    file = generations(chunk_indexes(library))[-1] / name
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    assert fixes_of(library, Depth.CHECK) == {"indexes": "rebuild_indexes"}
    assert "Built the indexes of 1 collection:" in work(library, "rebuild_indexes")
    assert fixes_of(library) == {}
    again = Library.open(library.settings)
    assert hits(again, "tokens repair") == wanted
    again.close()


def test_an_index_that_cannot_be_written_fails_the_job_and_the_old_one_stays(library, monkeypatch):
    def full(*_arguments, **_named):
        raise OSError("no space left")

    work(library, "sync")
    before = generations(chunk_indexes(library))
    monkeypatch.setattr("ragkit.indexes.local.backend.write_generation", full)
    job = library.jobs.wait(library.jobs.add("rebuild_indexes"))
    assert job.state is JobState.FAILED
    assert job.message == (
        'The index of "default" could not be written. Check the free disk space and the log.'
    )
    assert generations(chunk_indexes(library)) == before != []
    assert fixes_of(library) == {}


def test_a_missing_index_is_no_fault_and_is_said(library):
    shutil.rmtree(library.paths.indexes)
    finding = finding_of(library, "indexes")
    assert finding.ok
    assert f"0 of {library.catalog.entries.count(ALL_COLLECTIONS)} entries" in finding.sentence


def test_an_index_that_lost_a_removal_record_is_found(library, folder):
    work(library, "rebuild_indexes")
    document = library.documents.list(containing="guide.md")[0]
    library.catalog.documents.remove([document.id])
    assert fixes_of(library) == {}
    sql(library, "DELETE FROM removed_entries")
    assert fixes_of(library, Depth.GLANCE) == {"indexes": "rebuild_indexes"}
    work(library, "rebuild_indexes")
    assert fixes_of(library) == {}


def test_an_index_with_other_vectors_or_words_is_found_only_by_verify(library):
    hash_ = library.catalog.connections.row("SELECT text_hash FROM entries WHERE level = 2")[0]
    other = np.full(32, 32**-0.5, "<f2").tobytes()
    sql(library, "UPDATE vectors SET data = ? WHERE text_hash = ?", other, hash_)
    assert fixes_of(library, Depth.CHECK) == {}
    assert "vectors differ from the catalog" in finding_of(library, "indexes").sentence
    work(library, "rebuild_indexes")
    assert fixes_of(library) == {}
    sql(library, "INSERT INTO vocabulary VALUES (0, 'zero')")
    sql(library, "UPDATE entry_tokens SET ids = zeroblob(4) WHERE entry_id = 1 AND field = 0")
    assert "words (text) differ" in finding_of(library, "indexes").sentence


def test_an_index_newer_than_the_catalog_is_found(library):
    sql(library, "UPDATE collections SET version = 0")
    assert "newer than the catalog" in finding_of(library, "indexes", Depth.GLANCE).sentence


def test_a_living_entry_that_is_recorded_as_removed_is_found_and_mended(library):
    sql(library, "INSERT INTO removed_entries VALUES (1, 1000, 1)")
    assert fixes_of(library)["removals"] == "reread"
    work(library, "reread")
    assert "removals" not in fixes_of(library)


def test_a_lost_upload_is_found(library):
    import io

    library.uploads.add("dropped.md", io.BytesIO(b"# Dropped\n\nText.\n"))
    work(library, "sync")
    assert fixes_of(library) == {}
    Path(library.sources.uploads().root, "dropped.md").unlink()
    finding = finding_of(library, "uploads")
    assert not finding.ok
    assert "dropped.md" in finding.sentence


def test_one_check_that_fails_does_not_stop_the_others(library):
    connection = library.catalog.connections.get()
    connection.execute("PRAGMA foreign_keys = OFF")
    connection.execute("DROP TABLE removed_entries")
    found = library.health.verify()
    assert {one.name for one in found if not one.ok} >= {"removals"}
    assert {one.name for one in found if one.ok} >= {"contents", "vectors", "words"}


def test_check_library_takes_parts(library):
    found = check_library(library.health._parts(), Depth.GLANCE)
    assert [one.name for one in found][:2] == ["worker", "jobs"]


@pytest.mark.parametrize("key", ["tokenizer_version", "format_version"])
@pytest.mark.parametrize("depth", Depth)
def test_an_index_of_an_older_version_is_no_failure(library, key, depth):
    library.search("tokens")
    manifest = generations(chunk_indexes(library))[-1] / "manifest.json"
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**content, key: type(content[key])(1)}))
    library.close()
    again = Library.open(library.settings)
    finding = finding_of(again, "indexes", depth)
    assert (finding.ok, finding.fix) == (True, "rebuild_indexes")
    assert finding.sentence == (
        "1 index of an older version of ragkit: the next search makes it anew from the catalog."
    )
    assert not again.search("tokens").notices
    assert finding_of(again, "indexes", depth).fix == ""
    again.close()
