"""A process that dies while it writes leaves each document wholly old or wholly new."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from support import Shelf

from ragkit.catalog import Catalog
from ragkit.types import Field

_TESTS = Path(__file__).resolve().parents[1]
_PATHS = [f"{number}.md" for number in range(8)]

_WRITE = f"""
import sys
sys.path.insert(0, {str(_TESTS)!r})
from pathlib import Path
from ragkit.catalog import Catalog
from support import Shelf
catalog = Catalog.open(Path(sys.argv[1]))
shelf = Shelf(catalog)
version = int(sys.argv[2])
print("ready", flush=True)
while True:
    version += 1
    for path in {_PATHS!r}:
        pieces = [
            f"v{{version}} {{path}} piece{{n}} " + f"word{{n}}v{{version}} " * 50
            for n in range(version % 7 + 1)
        ]
        shelf.put(path, *pieces, title=f"v{{version}}")
"""


def _check_whole(catalog: Catalog, shelf: Shelf) -> int:
    """Every part of each document is of the same version; gives how many documents there are."""
    vocabulary = dict(catalog.connections.rows("SELECT id, token FROM vocabulary"))
    rows = shelf.rows(embedder_id=shelf.embedder_id)
    assert rows.has_vector.all()
    column = rows.tokens.get(Field.TEXT)
    documents = catalog.documents.list()
    for document in documents:
        text = catalog.documents.text(document.id)
        chunks = catalog.documents.chunks(document.id)
        version = int(document.title[1:])
        assert len(chunks) == document.chunks == version % 7 + 1
        assert [c.chunk.index for c in chunks] == list(range(len(chunks)))
        assert "".join(text[c.chunk.start : c.chunk.end] for c in chunks) == text
        assert catalog.documents.sections(document.id)[-1].end == len(text)
        places = (rows.document_ids == document.id).nonzero()[0]
        assert rows.chunk_indexes[places].tolist() == list(range(len(chunks)))
        for place, record in zip(places, chunks, strict=True):
            words = [
                vocabulary[int(one)]
                for one in column.flat[column.offsets[place] : column.offsets[place + 1]]
            ]
            assert words == text[record.chunk.start : record.chunk.end].split()
            assert words[0] == document.title
    assert len(rows) == sum(document.chunks for document in documents)
    return len(documents)


def test_a_killed_writer_leaves_whole_documents(library_paths):
    Catalog.open(library_paths.catalog, create=True).close()
    version = 0
    for delay in (0.02, 0.11, 0.23, 0.37):
        run = subprocess.Popen(
            [sys.executable, "-c", _WRITE, str(library_paths.catalog), str(version)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
        time.sleep(delay)
        run.kill()
        run.wait(10)
        run.stdout.close()
        catalog = Catalog.open(library_paths.catalog)
        assert catalog.connections.row("PRAGMA integrity_check") == ("ok",)
        shelf = Shelf(catalog)
        _check_whole(catalog, shelf)
        live = set(shelf.entry_ids())
        removed = set(catalog.entries.removed_since(shelf.collection_id, 0).tolist())
        newest = max(live | removed, default=0)
        assert live.isdisjoint(removed)
        assert live | removed == set(range(1, newest + 1))
        version = max((int(one.title[1:]) for one in catalog.documents.list()), default=0)
        catalog.close()
    catalog = Catalog.open(library_paths.catalog)
    assert len(catalog.documents.list()) == len(_PATHS)
    catalog.close()
