"""Documents of recent answers come first."""

from __future__ import annotations

from context_library import Model, backfill
from small_library import (
    find,
)

from ragkit.background.recent_hits import RecentHits


def test_found_documents_come_first_then_the_newest(library):
    library.contexts.note_hits(find(library, "Tomaten", mode="keyword"))
    model = Model()
    backfill(library, model).work()
    assert model.asked[0].chunk_text.startswith("Die Tomaten")
    assert not RecentHits(library.paths).waiting
    newest = sorted(library.documents.list(), key=lambda one: one.changed_at, reverse=True)
    titles = [one.title for one in newest if one.path != "notes/garten.txt"]
    assert [one.document_title for one in model.asked[1:]] == titles


def test_notes_of_found_documents_are_bounded_and_never_fail(library):
    notes = RecentHits(library.paths)
    assert notes.take() == []
    notes.add([])
    assert not notes.waiting
    notes.add([3, 1])
    notes.add([2, 3])
    assert notes.take() == [2, 3, 1]
    for _ in range(5000):
        notes.add(range(100_000, 100_010))
    assert (library.paths.root / "found.txt").stat().st_size < 70_000
    (library.paths.root / "found.txt").write_text("not numbers\n\u0663 7\n", "utf-8")
    assert notes.take() == [7]
