"""What a library keeps between calls: the active embedder, facets and field names."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager

import pytest
from small_library import HANDBOOK, add, find, paths, sync, write_files

from ragkit.library import Library
from ragkit.settings import load_settings

_SWITCH = """
import sys
from ragkit.library import Library
from ragkit.models.hashing import HashEmbedder
from ragkit.settings import load_settings

library = Library.open(load_settings(library=sys.argv[1], models={"embedder": "hash"}))
other = library.catalog.embedders.ensure(HashEmbedder(16).fingerprint, "hash", 16)
with library.catalog.connections.write() as connection:
    connection.execute("UPDATE embedder_choice SET active = ?, previous = active", (other,))
"""


@pytest.fixture
def library(tmp_path):
    settings = load_settings(library=tmp_path / "library", models={"embedder": "hash"})
    opened = Library.open(settings, create=True)
    add(opened, write_files(tmp_path / "files", HANDBOOK))
    yield opened
    opened.close()


@contextmanager
def statements(library):
    """The SQL that this thread runs meanwhile."""
    seen: list[str] = []
    connection = library.catalog.connections.get()
    connection.set_trace_callback(seen.append)
    try:
        yield seen
    finally:
        connection.set_trace_callback(None)


# -- the active embedder -----------------------------------------------------------------------


def test_a_warm_search_asks_nothing_extra_for_the_embedder(library):
    options = library.options()
    library.search("refund", options)
    with statements(library) as seen:
        library.search("refund", options)
    assert len(seen) == 1
    assert "FROM collections c WHERE c.name" in seen[0]
    with statements(library) as seen:
        library.search("another question", options)
    assert not any(sql.lstrip().startswith("SELECT active") for sql in seen)
    assert sum("embedder_choice" in sql for sql in seen) == 1


def test_another_process_makes_another_embedder_active(library, monkeypatch):
    opened = []

    def opens(name, fingerprint, dimensions, models, name_now):
        from ragkit.models.hashing import HashEmbedder

        opened.append(dimensions)
        return HashEmbedder(dimensions)

    monkeypatch.setattr("ragkit.library.services.open_known", opens)
    options = library.options()
    before = library.services()
    assert paths(library.search("refund", options))
    run = subprocess.run(
        [sys.executable, "-c", _SWITCH, str(library.paths.root)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert before.embedder.dimensions == 32
    library.search("refund", options)
    assert opened == [16]
    assert library.services() is not before
    assert library.embedder.dimensions == 16
    library.search("refund", options)
    assert opened == [16]


# -- facets and field names --------------------------------------------------------------------


def test_facets_and_field_names_are_read_once_for_a_version(library):
    facets, names = library.documents.facets("default"), library.documents.field_names()
    assert dict(facets.values("path")) == {"handbook/": 2, "notes/": 2, "data/": 1}
    assert "framework" in names
    with statements(library) as seen:
        assert library.documents.facets("default") is facets
        assert library.documents.field_names(["default"]) == names
        assert find(library, "framework:legal refund").results
    assert seen
    assert not any("FROM documents d, json_each(d.metadata) m" in s for s in seen)
    assert not any("d.format, d.language, d.path, d.metadata" in sql for sql in seen)


def test_a_change_is_seen(library, tmp_path):
    assert "colour" not in library.documents.field_names()
    text = "---\ncolour: red\n---\n# Red\n\nA red page.\n"
    write_files(tmp_path / "files", {"new/red.md": text})
    sync(library)
    assert "colour" in library.documents.field_names()
    assert dict(library.documents.facets("default").values("path"))["new/"] == 1


def test_a_moved_file_is_seen(library, tmp_path):
    assert dict(library.documents.facets("default").values("path"))["notes/"] == 2
    (tmp_path / "files" / "other").mkdir()
    (tmp_path / "files/notes/garten.txt").rename(tmp_path / "files/other/garten.txt")
    sync(library)
    assert dict(library.documents.facets("default").values("path"))["other/"] == 1
