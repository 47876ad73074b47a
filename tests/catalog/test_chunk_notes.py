"""What contexts note of chunks: kept in step with them, found by filters, filled by a migration."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import Shelf

from ragkit.catalog import Catalog, document_rows
from ragkit.catalog.chunk_notes import ChunkNotes, notes_of, topic_key
from ragkit.catalog.context_records import ContextAnswer, ContextDraft
from ragkit.catalog.records import SpeakerRecord
from ragkit.catalog.salvage import salvage
from ragkit.catalog.schema import MIGRATIONS
from ragkit.options import Filters
from ragkit.types import LEVEL_CODES, Level

PRICING = {
    "topic_summary": "Prices of refunds", "speakers": ["Ines Lima", "Rui"],
    "decisions": ["Prices stay"], "has_decision": True, "sentiment": "positive",
}  # fmt: skip
TASKS = {"topic_summary": "Chores", "has_action_item": True, "sentiment": "mixed"}


def note(shelf: Shelf, document_id: int, index: int, details: dict) -> int:
    document = shelf.catalog.documents.get(document_id)
    chunk = shelf.catalog.documents.chunks(document_id)[index].chunk
    answer = ContextAnswer("About it.", details=details, model="small:3b")
    draft = ContextDraft(document_id, document.hash, chunk, answer, {}, (), {})
    return shelf.catalog.contexts.put([draft], shelf.embedder_id)


@pytest.fixture
def noted(shelf: Shelf) -> Shelf:
    """Document 1 with a chunk on prices and one of chores, document 2 with one without notes."""
    shelf.put("a.md", "Ines Lima: we keep it.", "Somebody cleans.", hash="1")
    shelf.put("b.md", "Nothing is noted.", hash="2", metadata={"topic": "Boats"})
    note(shelf, 1, 0, PRICING)
    note(shelf, 1, 1, TASKS)
    return shelf


def chunks(shelf: Shelf, **filters) -> list[tuple[int, int]] | None:
    ids = shelf.catalog.filters.noted_entries(shelf.collection_id, Filters(**filters))
    if ids is None:
        return None
    rows = shelf.rows()
    at = {int(one): place for place, one in enumerate(rows.entry_ids)}
    return [
        (int(rows.document_ids[at[one]]), int(rows.chunk_indexes[at[one]])) for one in ids.tolist()
    ]


def documents(shelf: Shelf, **filters) -> list[int]:
    return shelf.catalog.filters.documents(shelf.collection_id, Filters(**filters)).tolist()


CASES = [
    ({"has": ("decision",)}, [(1, 0)]),
    ({"has": ("action",)}, [(1, 1)]),
    ({"has": ("action", "decision")}, [(1, 0), (1, 1)]),
    ({"topics": ("refund price",)}, []),
    ({"topics": ("Price of refund",)}, [(1, 0)]),
    ({"topics": ("REFUNDS", "chore")}, [(1, 0), (1, 1)]),
    ({"topics": ("the",)}, []),
    ({"topics": ("!",)}, []),
    ({"sentiments": ("mixed",)}, [(1, 1)]),
    ({"sentiments": ("Mixed", "positive")}, [(1, 0), (1, 1)]),
    ({"sentiments": ("negative",)}, []),
    ({"topics": ("refund",), "sentiments": ("mixed",)}, []),
    ({"topics": ("refund",), "sentiments": ("positive",), "has": ("decision",)}, [(1, 0)]),
]


@pytest.mark.parametrize(("filters", "expected"), CASES)
def test_filters_find_chunks_and_a_document_through_them(noted, filters, expected):
    assert chunks(noted, **filters) == expected
    alone = len(filters) == 1
    assert documents(noted, **filters) == ([1] if expected or not alone else [])


def test_a_field_of_front_matter_of_that_name_counts_for_all_chunks(noted):
    assert chunks(noted, topics=("boats",)) == [(2, 0)]
    assert documents(noted, topics=("BOATS", "refunds")) == [1, 2]


def test_filters_that_ask_for_no_chunk_restrict_none(noted):
    assert chunks(noted, types=("md",)) is None
    assert chunks(noted, has=("attachment",)) is None
    assert documents(noted, has=("nonsense",)) == []


def test_documents_of_which_every_chunk_passes(noted):
    both = Filters(sentiments=("mixed", "positive"))
    assert noted.catalog.filters.wholly_noted(noted.collection_id, both).tolist() == [1]
    one = Filters(sentiments=("mixed",))
    assert noted.catalog.filters.wholly_noted(noted.collection_id, one).tolist() == []


def test_notes_follow_their_contexts(noted):
    assert note(noted, 1, 0, {**TASKS, "sentiment": "negative"}) == 1
    assert chunks(noted, has=("decision",)) == []
    assert chunks(noted, sentiments=("negative",)) == [(1, 0)]
    note(noted, 1, 0, {})
    assert chunks(noted, sentiments=("negative",)) == []
    noted.catalog.contexts.ask_again(document_id=1)
    assert chunks(noted, sentiments=("mixed",)) == [(1, 1)], "the old context stays until then"
    noted.put("a.md", "Other text.", hash="3")
    assert chunks(noted, has=("action",)) == []
    assert documents(noted, has=("action",)) == []
    query = "SELECT COUNT(*) FROM chunk_notes"
    assert noted.catalog.connections.row(query) == (0,), "they go with the text"


def test_notes_follow_entries_that_get_their_vectors_later(noted):
    assert chunks(noted, has=("decision",)) == [(1, 0)]
    texts = noted.catalog.connections.column("SELECT text_hash FROM entries")
    later = noted.catalog.embedders.ensure("later", "later", 4)
    noted.catalog.vectors.put(later, {bytes(one): bytes(8) for one in texts}, renew=True)
    assert chunks(noted, has=("decision",)) == [(1, 0)]
    assert chunks(noted, has=("action",)) == [(1, 1)]


def test_what_passed_before_follows_each_change(noted):
    headings = noted.catalog.filters.entries_under
    filters = Filters(topics=("refund", "boats"))

    def found() -> tuple[list[tuple[int, int]], list[int], list[int], int]:
        return (
            sorted(chunks(noted, topics=filters.topics) or []),
            documents(noted, topics=filters.topics),
            noted.catalog.filters.wholly_noted(noted.collection_id, filters).tolist(),
            len(headings(noted.collection_id, ["b"])),
        )

    before = found()
    assert before == ([(1, 0), (2, 0)], [1, 2], [2], before[3])
    noted.catalog.documents.remove([2])
    assert found() == ([(1, 0)], [1], [], 0)
    again = noted.put("b.md", "Nothing is noted.", hash="2", metadata={"topic": "Boats"})
    assert found() == ([(1, 0), (again, 0)], [1, again], [again], before[3])
    note(noted, 1, 1, PRICING)
    assert found() == ([(1, 0), (1, 1), (again, 0)], [1, again], [1, again], before[3])


def test_entries_that_are_kept_are_bounded(noted, monkeypatch):
    monkeypatch.setattr(document_rows, "_MOST_BYTES_KEPT", 8)
    assert chunks(noted, topics=("refund",)) == [(1, 0)]
    assert chunks(noted, sentiments=("mixed", "positive")) == [(1, 0), (1, 1)]
    assert chunks(noted, topics=("refund",)) == [(1, 0)]
    with noted.catalog.filters._rows.at_present(noted.collection_id) as (rows, _):
        kept = [len(entries) for entries, _, _ in rows._entries.values()]
        assert sum(kept) == 1, "the two of sentiments have gone"
    monkeypatch.setattr(document_rows, "_MOST_KEPT", 1)
    assert chunks(noted, topics=("refund",)) == [(1, 0)]
    with noted.catalog.filters._rows.at_present(noted.collection_id) as (rows, _):
        assert len(rows._entries) == 1


def test_speakers_count_where_the_text_has_them_and_no_reader_knows_better(noted):
    assert documents(noted, speakers=("ines",)) == [1]
    assert documents(noted, speakers=("rui",)) == [], "the text has no such name"
    entries = noted.catalog.filters.entries_by_speaker(
        noted.collection_id, Filters(speakers=("lima",))
    )
    assert entries is not None
    assert len(entries) == 1
    spoken = [SpeakerRecord(LEVEL_CODES[Level.CHUNK], 0, "Max", "2026-01-01")]
    noted.put("chat.md", "Max asks for Ines Lima.", hash="4", speakers=tuple(spoken))
    note(noted, 3, 0, PRICING)
    assert documents(noted, speakers=("ines",)) == [1], "there she is only mentioned"


def test_details_of_any_form_are_read():
    odd = {"topic_summary": 3, "decisions": "x", "sentiment": ["a"], "speakers": [1, "Ines"]}
    assert notes_of(odd) == ChunkNotes(speakers=("Ines",))
    noted = notes_of({**PRICING, "action_items": ["Rui calls"]})
    assert noted.words.split("\n") == [
        "Prices of refunds", "decision", "Prices stay", "action item", "Rui calls",
    ]  # fmt: skip
    assert (noted.has_action, replace(noted, has_decision=False).words.count("Prices")) == (True, 1)
    assert (topic_key("Prices of refunds"), topic_key(" ")) == (" price refund ", "")


def test_a_migration_fills_them_from_the_contexts(library_paths, monkeypatch):
    others = tuple(one for one in MIGRATIONS if not one.__name__.endswith("_chunk_notes"))
    monkeypatch.setattr("ragkit.catalog.schema.MIGRATIONS", others)
    before = Catalog.open(library_paths.catalog, create=True)
    shelf = Shelf(before)
    shelf.put("a.md", "Ines Lima: we keep it.", hash="1")
    with before.connections.write() as connection:
        connection.execute(
            "INSERT INTO contexts (document_id, chunk_idx, status, context, details, changed_at) "
            "VALUES (1, 0, 'complete', 'x', ?, 0)",
            ('{"has_decision": true, "sentiment": "mixed", "speakers": ["Ines"]}',),
        )
    before.close()
    monkeypatch.undo()
    opened = Catalog.open(library_paths.catalog)
    now = Shelf(opened)
    assert chunks(now, has=("decision",), sentiments=("mixed",)) == [(1, 0)]
    assert documents(now, speakers=("Ines",)) == [1]
    opened.close()


def test_facets_count_documents_by_what_is_noted_of_them(noted):
    noted.put("c.eml", "More text.", hash="5", metadata={"attachments": ["x.pdf"]})
    note(noted, 3, 0, {**TASKS, "topic_summary": "chore"})
    facets = noted.catalog.filters.facets(noted.catalog.collections.all())
    assert facets.values("has") == (("action", 2), ("attachment", 1), ("decision", 1))
    assert facets.values("sentiment") == (("mixed", 2), ("positive", 1))
    assert facets.values("topic") == (("Chores", 2), ("Prices of refunds", 1))
    assert facets.by_filter["has"].divides(facets.documents)
    assert noted.catalog.notes.topics(noted.collection_id, 9) == ["Chores", "Prices of refunds"]


@pytest.mark.sqlite
def test_a_rescue_has_them_also_where_they_were_lost(noted, tmp_path):
    found = chunks(noted, topics=("refund", "chores"))
    with noted.catalog.connections.write() as connection:
        connection.execute("DELETE FROM chunk_notes WHERE decision = 1")
        connection.execute("UPDATE contexts SET details = '{' WHERE chunk_idx = 1")
    salvage(noted.catalog.connections.file, None, tmp_path / "saved.sqlite", tmp_path)
    saved = Catalog.open(tmp_path / "saved.sqlite")
    assert chunks(Shelf(saved), topics=("refund", "chores")) == found[:1] == [(1, 0)]
    assert saved.integrity.broken_references() == 0
    saved.close()


def test_a_moved_document_keeps_its_notes(noted):
    noted.catalog.documents.rename(1, "archive/a.md", ["archive"])
    assert chunks(noted, has=("decision", "action")) == [(1, 0), (1, 1)]
