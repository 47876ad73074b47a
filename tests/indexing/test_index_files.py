"""Index files are caches: without them, or with wrong ones, the same is found."""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from small_library import HANDBOOK, add, find, open_library, paths, sync, without_times, write_files

from ragkit.catalog import Catalog
from ragkit.health.findings import Depth
from ragkit.indexes.local import backend, keyword, late_checks, live_rows, packed
from ragkit.indexes.local.files import generations, number_of
from ragkit.indexes.tokenizer import TOKENIZER_VERSION
from ragkit.indexing import ingest
from ragkit.models.hashing import HashEmbedder

_QUESTIONS = ("refund", "OAuth token expires", "Tomaten", "検索システム", "refund_policy_id")


def _answers(library):
    return [without_times(find(library, question))["results"] for question in _QUESTIONS]


def _opened(place):
    library = open_library(place)
    answers = _answers(library)
    assert library.embedder.passages == []
    notices = [note for one in _QUESTIONS for note in find(library, one).notices]
    library.close()
    return answers, notices


def _generations(place):
    return sorted(path for path in place.glob("indexes/*/chunk/*/generation-*"))


def test_deleted_index_files_change_no_result_and_need_no_embedding(place):
    before, _ = _opened(place)
    assert _generations(place)
    shutil.rmtree(place / "indexes")
    after, notices = _opened(place)
    assert after == before
    assert notices == []
    assert _generations(place)
    assert _opened(place)[0] == before


@pytest.mark.parametrize(
    ("damage", "files"),
    [("flip", 1), ("flip", 2), ("cut", 1), ("cut", 2), ("empty", 1), ("missing", 2),
     ("manifest", 1), ("garbage", 2)],
)  # fmt: skip
def test_damaged_index_files_are_made_again_with_a_notice(place, damage, files, monkeypatch):
    """Whether they are one, as those of a small index, or many."""
    if files > 1:
        shutil.rmtree(place / "indexes")
        monkeypatch.setattr(packed, "MOST_ROWS", 0)
    before, _ = _opened(place)
    newest = _generations(place)[-1]
    arrays = [*newest.rglob("*.np[yz]")]
    assert min(len(arrays), 2) == files
    file = max(arrays, key=lambda path: path.stat().st_size)
    data = bytearray(file.read_bytes())
    if damage == "flip":
        data[-1] ^= 0xFF
        file.write_bytes(data)
    elif damage == "cut":
        file.write_bytes(data[: len(data) // 2])
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "missing":
        file.unlink()
    elif damage == "manifest":
        manifest = newest / "manifest.json"
        told = json.loads(manifest.read_text("utf-8"))
        manifest.write_text(json.dumps({**told, "entries": told["entries"] + 1}), "utf-8")
    else:
        (newest / "manifest.json").write_bytes(b"\x00\xff not json")
    after, notices = _opened(place)
    assert after == before
    assert any("built again" in note for note in notices)
    assert not any("Traceback" in note or str(place) in note for note in notices)
    again, quiet = _opened(place)
    assert again == before
    assert quiet == []


def test_damage_of_files_that_are_mapped_is_found_beside_searches(place, monkeypatch):
    """Opening does not wait for their bytes; ``doctor`` checks them at once."""
    shutil.rmtree(place / "indexes")
    monkeypatch.setattr(packed, "MOST_ROWS", 0)
    monkeypatch.setattr(keyword, "_LEAST_MAPPED", 1)
    before, _ = _opened(place)
    file = _generations(place)[-1] / "keyword-text" / "data.csc.index.npy"
    data = bytearray(file.read_bytes())
    data[-1] ^= 0x80
    file.write_bytes(data)
    monkeypatch.setattr(late_checks, "BEGIN_SECONDS", 3600.0)
    with closing(open_library(place)) as library:
        assert find(library, "refund").notices == ()
        [found] = [one for one in library.health.check(Depth.CHECK) if not one.ok]
        assert "the bytes of keyword-text/data.csc.index.npy have changed" in found.sentence
    monkeypatch.setattr(late_checks, "BEGIN_SECONDS", 0.0)
    with closing(open_library(place)) as library:
        asked = (find(library, f"refund {number}") for number in itertools.count())
        until = time.monotonic() + 30
        told = next(one.notices for one in asked if one.notices or time.monotonic() > until)
        assert told[0].startswith("The index was built again from the catalog: The index gen")
        assert told[0].endswith("the bytes of keyword-text/data.csc.index.npy have changed.")
        assert _answers(library) == before
    assert _opened(place) == (before, [])


def test_no_process_waits_for_a_late_check():
    script = """
import time
from ragkit.indexes.local import late_checks
late_checks.BEGIN_SECONDS = 0.0
checks = late_checks.LateChecks()
checks.add(lambda: 1 / 0)
checks.add(lambda: print("begun", flush=True))
checks.add(lambda: time.sleep(600))
time.sleep(1)
"""
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert told.stdout == "begun\n"


def test_a_generation_of_another_embedder_is_not_used(place):
    library = open_library(place)
    other = HashEmbedder(16)
    library.embedders.pin(other)
    library.embedder.fingerprint = "another"
    answer = find(library, "refund", mode="keyword")
    assert paths(answer)[0] == "handbook/refunds.md"
    assert find(library, "refund", mode="vector").results == ()
    assert other.dimensions == 16
    library.close()


def test_an_index_that_does_not_hold_all_that_it_should_is_made_again(place):
    before, _ = _opened(place)
    catalog = Catalog.open(place / "catalog.sqlite")
    with catalog.connections.write() as connection:
        # As if a document had gone without leaving a record of its entries.
        connection.execute("DELETE FROM documents WHERE path = 'notes/garten.txt'")
    catalog.close()
    library = open_library(place)
    assert "notes/garten.txt" not in paths(find(library, "Tomaten"))
    assert "counts" in [one.name for one in library.health.check(Depth.CHECK) if not one.ok]
    library.catalog.integrity.count_entries()
    library.close()
    library = open_library(place)
    answer = find(library, "Tomatenbeete")
    assert any("some of its entries were missing" in notice for notice in answer.notices)
    assert "notes/garten.txt" not in paths(find(library, "Tomaten"))
    assert paths(find(library, "refund"))[0] == "handbook/refunds.md"
    library.close()
    assert before[2][0]["document"]["path"] == "notes/garten.txt"


def test_the_trace_names_the_generation(place):
    library = open_library(place)
    answer = find(library, "refund")
    [newest] = [path.name for path in _generations(place)][-1:]
    version = library.catalog.collections.get("default").version.number
    assert answer.trace.generation == f"default@{version}:{newest}"
    manifest = json.loads((_generations(place)[-1] / "manifest.json").read_text("utf-8"))
    assert manifest["tokenizer_version"] == TOKENIZER_VERSION
    assert manifest["fingerprint"] == library.embedder.fingerprint
    library.close()


def test_a_folder_that_cannot_be_written_is_no_hindrance(place):
    before, _ = _opened(place)
    shutil.rmtree(place / "indexes")
    (place / "indexes").write_bytes(b"not a folder")
    library = open_library(place, create=False)
    assert _answers(library) == before
    assert library.embedder.passages == []
    library.close()


def test_an_index_folder_that_may_not_be_read_costs_time_and_no_answer(tmp_path, monkeypatch):
    write_files(tmp_path / "files", HANDBOOK)
    with closing(open_library(tmp_path / "library")) as library:
        add(library, tmp_path / "files")
        expected = paths(find(library, "refund within thirty days"))
    folder = tmp_path / "library" / "indexes"

    def refusing(name):
        real = getattr(Path, name)

        def method(self, *more, **options):
            if folder in self.parents:
                raise PermissionError(13, "Permission denied", str(self))
            return real(self, *more, **options)

        monkeypatch.setattr(Path, name, method)

    for name in ("is_dir", "iterdir", "mkdir"):
        refusing(name)
    with closing(open_library(tmp_path / "library")) as library:
        answer = find(library, "refund within thirty days")
        assert paths(answer) == expected
        assert any("cannot be read (permission denied)" in notice for notice in answer.notices)
        write_files(tmp_path / "files", {"late.md": "A pelican comes late.\n"})
        assert sync(library).message == "1 indexed, 5 unchanged."
        assert paths(find(library, "pelican", mode="keyword")) == ["late.md"]
        assert "indexes" in [one.name for one in library.health.check() if not one.ok]


def test_a_long_sync_saves_the_index_as_it_grows(tmp_path, monkeypatch):
    """Whoever searches meanwhile has little to go through that is only in memory."""
    texts = {f"{number:02}.md": f"# Buoy {number}\n\nIt drifts.\n" for number in range(24)}
    files = write_files(tmp_path / "files", texts)
    for module, name, value in (
        (ingest, "_LEAST_UNSAVED", 4), (ingest, "_BATCH_CHARACTERS", 1),
        (backend, "SMALL_INDEX", 0), (live_rows, "_SMALLEST_MERGE", 2),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, value)
    with open_library(tmp_path / "library") as library:
        add(library, files)
        record = library.collections.get("default")
        folder = library.paths.index(record.id, "chunk", library.embedder.fingerprint)
        saved = generations(folder)
        rows = [len(packed.load_rows(path / packed.PACKED)[0]) for path in saved]
        assert len(library.search("buoy", limit=50).results) == 24
    # At 4 chunks, at 8, 13 and 20, each time by more than half as many new ones, and at the end.
    assert (len(saved), rows[-1], number_of(saved[-1].name)) == (2, 24, 5)
