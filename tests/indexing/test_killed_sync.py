"""A process that is killed while it indexes: the next sync finishes, and nothing is half there."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from small_library import comparable, find, open_library, statuses, sync, write_files

from ragkit.catalog.records import JobState
from ragkit.types import Status

_INDEX = """
import sys
from pathlib import Path
from ragkit.library import Library
from ragkit.settings import load_settings
import ragkit.indexing.pipeline
from ragkit.indexing import ingest
from ragkit.models.hashing import HashEmbedder
ingest._BATCH_CHARACTERS = 20_000
# Files are read in the order of their paths: of candidates that tie, the earlier ones are taken.
settings = load_settings(
    library=sys.argv[1], models={"embedder": "hash"}, reading={"processes": 1}
)
library = Library.open(settings, create=True)
library.embedders.pin(HashEmbedder(256))
job = library.sources.sync(library.sources.add_folder(Path(sys.argv[2])))
print("go", flush=True)
library.jobs.wait(job)
print("done", flush=True)
"""
_QUESTIONS = ("lighthouse", "lighthouse number 17", "k21 boats and ropes", "file 9 more")


def _files():
    # The first chunks are of different lengths: ties would go by ids, which differ here.
    text = "# File {0}\n\nThe lighthouse of harbour {0} has number {0}.\n\n{1}\n\n{2}\n"
    chapters = (f"## Chapter {c}\n\n" + f"Boats and ropes of kind {c}. " * 60 for c in range(5))
    more = "\n\n".join(chapters)
    return {
        f"{n % 7}/{n:02}.md": text.format(n, "more " * (60 + n), more.replace("kind", f"k{n}"))
        for n in range(60)
    }


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("killed") / "files", _files())


@pytest.fixture(scope="module")
def fresh(folder, tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("fresh") / "library")
    library.jobs.wait(library.sources.sync(library.sources.add_folder(folder)))
    assert set(statuses(library).values()) == {"indexed"}
    answers = [comparable(find(library, question), ranks=False) for question in _QUESTIONS]
    library.close()
    return answers


def _check_whole(library):
    """Whatever is indexed is so completely."""
    entries = library.catalog.connections.rows(
        "SELECT document_id, COUNT(*) FROM entries WHERE level = 2 GROUP BY document_id"
    )
    counted = dict(entries)
    for record in library.documents.list():
        detail = library.documents.get(record.id)
        assert len(detail.chunks) == record.chunks == counted.get(record.id, 0)
        if record.status is Status.INDEXED:
            assert detail.text.startswith("# File")
            assert record.chunks > 0
        else:
            assert (record.status, detail.text) == (Status.PENDING, "")
    for result in find(library, "lighthouse", limit=100).results:
        text = library.documents.get(result.document.id).text
        assert all(text[p.start : p.end] == p.text for p in result.passages)


def test_killed_at_any_instant_a_library_is_whole_and_finishes(folder, fresh, tmp_path):
    place = tmp_path / "library"
    indexed = []
    for delay in (0.05, 0.5, 0.8):
        run = subprocess.Popen(
            [sys.executable, "-c", _INDEX, str(place), str(folder)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert run.stdout.readline() == "go\n"
        time.sleep(delay)
        run.kill()
        run.wait(10)
        run.stdout.close()
        library = open_library(place)
        assert library.catalog.connections.row("PRAGMA integrity_check") == ("ok",)
        _check_whole(library)
        indexed.append(library.documents.counts().indexed)
        library.close()
    assert indexed == sorted(indexed), "what was done must not be done again"
    library = open_library(place)
    job = sync(library)
    assert job.state is JobState.DONE
    assert statuses(library) == dict.fromkeys(_files(), "indexed")
    assert library.catalog.jobs.open() == []
    collection = library.catalog.collections.get("default")
    library.indexes.save(collection, always=True)
    library.indexes.forget(collection.id)
    _check_whole(library)
    for question, answer in zip(_QUESTIONS, fresh, strict=True):
        assert comparable(find(library, question), ranks=False) == answer
    library.close()
