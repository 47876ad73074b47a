"""Judgments and votes in the catalog: the last word on a place holds, and can be taken back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragkit.catalog import Catalog
from ragkit.catalog.judgments import JudgmentDraft, Origin
from ragkit.catalog.schema import MIGRATIONS

ONE = JudgmentDraft("refund?", 7, "a.md", "hash", 3, 9, "within", 2, Origin.SEARCH)


def grades(catalog, shelf, **which):
    return [one.judged.grade for one in catalog.judgments.current(shelf.collection_id, **which)]


def test_a_judgment_comes_back_as_it_was_given(catalog, shelf):
    given = replace(ONE, question_set="s", key="q1", kind="number", at=12.5, origin=Origin.IMPORT)
    (identity,) = catalog.judgments.add(shelf.collection_id, [given])
    (found,) = catalog.judgments.current(shelf.collection_id)
    assert (found.id, found.judged) == (identity, given)
    assert not given.whole
    assert replace(given, start=0, end=0).whole


def test_the_last_judgment_of_a_place_holds_until_it_is_taken_back(catalog, shelf):
    catalog.judgments.add(shelf.collection_id, [ONE])
    (second,) = catalog.judgments.add(shelf.collection_id, [replace(ONE, grade=0)])
    assert grades(catalog, shelf) == [0]
    assert catalog.judgments.remove([second]) == 1
    assert grades(catalog, shelf) == [2]
    assert catalog.judgments.remove([second, 999]) == 0


def test_other_places_questions_and_sets_are_apart(catalog, shelf):
    catalog.judgments.add(
        shelf.collection_id,
        [
            ONE,
            replace(ONE, start=4, grade=1),
            replace(ONE, document_id=8, grade=0),
            replace(ONE, question="other?", grade=1),
            replace(ONE, question_set="s", grade=0),
        ],
    )
    assert grades(catalog, shelf, question_set="", question="refund?") == [2, 1, 0]
    assert grades(catalog, shelf, question_set="") == [2, 1, 0, 1]
    assert grades(catalog, shelf, question="nobody asked") == []
    assert catalog.judgments.sets(shelf.collection_id) == {"": (2, 4), "s": (1, 1)}
    assert catalog.judgments.remove_set(shelf.collection_id, "s") == 1
    assert catalog.judgments.sets(shelf.collection_id) == {"": (2, 4)}


def test_the_last_one_is_looked_for_where_it_was_made(catalog, shelf):
    judgments = catalog.judgments
    assert judgments.last(shelf.collection_id, [Origin.SEARCH]) is None
    judgments.add(shelf.collection_id, [ONE, replace(ONE, origin=Origin.IMPORT, grade=1)])
    last = judgments.last(shelf.collection_id, [Origin.SEARCH, Origin.COMPARE])
    assert last.judged.grade == 2


def test_all_are_kept_or_none(catalog, shelf):
    with pytest.raises(Exception, match="half a character"):
        catalog.judgments.add(shelf.collection_id, [ONE, replace(ONE, question="\ud800")])
    assert grades(catalog, shelf) == []


def test_judgments_outlive_their_document_but_not_their_collection(catalog, shelf):
    document = shelf.put("notes.md")
    catalog.judgments.add(shelf.collection_id, [replace(ONE, document_id=document)])
    catalog.judgments.vote(shelf.collection_id, "q", ["a", "b"], 0)
    catalog.documents.remove([document])
    assert grades(catalog, shelf) == [2]
    catalog.collections.delete(shelf.collection_id)
    assert catalog.connections.rows("SELECT * FROM judgments") == []
    assert catalog.connections.rows("SELECT * FROM votes") == []


def test_judging_changes_nothing_that_is_searched(catalog, shelf):
    shelf.put("notes.md")
    before = (shelf.version, shelf.entry_ids())
    catalog.judgments.add(shelf.collection_id, [ONE])
    assert (shelf.version, shelf.entry_ids()) == before


def test_two_connections_may_judge_while_a_writer_is_at_work(library_paths, catalog, shelf):
    other = Catalog.open(library_paths.catalog)
    catalog.judgments.add(shelf.collection_id, [ONE])
    shelf.put("notes.md")
    other.judgments.add(shelf.collection_id, [replace(ONE, grade=1)])
    assert grades(catalog, shelf) == [1]
    other.close()


def test_votes_are_kept_in_order_and_taken_back(catalog, shelf):
    first = catalog.judgments.vote(shelf.collection_id, "q", ["mode:keyword", "mode:ü"], 1)
    catalog.judgments.vote(shelf.collection_id, "q", ["a", "b"], None)
    found = catalog.judgments.votes(shelf.collection_id)
    assert [(one.settings, one.winner) for one in found] == [
        (("mode:keyword", "mode:ü"), 1),
        (("a", "b"), None),
    ]
    catalog.judgments.remove_vote(first)
    assert [one.winner for one in catalog.judgments.votes(shelf.collection_id)] == [None]


def test_a_library_of_before_gets_the_tables(library_paths, monkeypatch):
    number = next(i for i, step in enumerate(MIGRATIONS) if step.__name__.endswith("_judgments"))
    monkeypatch.setattr("ragkit.catalog.schema.MIGRATIONS", MIGRATIONS[:number])
    old = Catalog.open(library_paths.catalog, create=True)
    assert old.connections.rows("SELECT 1 FROM sqlite_master WHERE name = 'judgments'") == []
    old.close()
    monkeypatch.undo()
    opened = Catalog.open(library_paths.catalog)
    collection = opened.collections.ensure("default").id
    assert opened.judgments.add(collection, [ONE]) == [1]
    opened.close()


def test_a_set_says_which_models_wrote_it(catalog, shelf):
    written = replace(ONE, question_set="w", origin=Origin.MODEL, writer="b:1")
    catalog.judgments.add(
        shelf.collection_id,
        [
            ONE,
            written,
            replace(written, question="other?", writer="a:1"),
            replace(written, start=4),
        ],
    )
    assert catalog.judgments.writers(shelf.collection_id) == {"w": ("a:1", "b:1")}
    assert catalog.judgments.writers(shelf.collection_id + 1) == {}
