"""Kept runs come back as they were, and go with their collection."""

from __future__ import annotations

import pytest

from ragkit.catalog import Catalog
from ragkit.catalog.runs import QuestionValues, RunDraft
from ragkit.catalog.schema import MIGRATIONS
from ragkit.errors import NotFoundError


def draft(collection_id=None, **changed):
    values = {
        "collection_id": collection_id, "question_set": "judged", "name": "Words only",
        "address": "mode:keyword", "settings": {"mode": "keyword", "limit": 10}, "version": 3,
        "generation": "g1", "ragkit": "0.1", "revision": "abc", "asked": 1, "questions": 2,
        "documents": 5, "chunks": 7, "tokens": 900, "seconds": 1.5,
        "metrics": (("ndcg@10", 0.5, 0.25, 0.75),), "stages": (("total", 3.0, 4.5),),
        "notices": ("Stopped.",), "at": 12.5,
    }  # fmt: skip
    return RunDraft(**{**values, **changed})


VALUES = [QuestionValues("q1", "Wo ist das Öl?", {"ndcg@10": 0.5})]


def test_a_run_comes_back_as_it_was(catalog):
    kept = catalog.runs.keep(draft(), VALUES)
    assert kept.run == draft()
    assert (kept.run.partial, kept.run.means) == (True, {"ndcg@10": 0.5})
    assert catalog.runs.values(kept.id) == VALUES
    assert catalog.runs.get(kept.id) == kept


def test_runs_are_listed_by_collection_and_newest_first(catalog):
    mine, other = (catalog.collections.ensure(one).id for one in ("mine", "other"))
    ids = [catalog.runs.keep(draft(one), VALUES).id for one in (mine, other, None, mine)]
    assert [one.id for one in catalog.runs.all()] == ids[::-1]
    assert [one.id for one in catalog.runs.all(mine)] == [ids[3], ids[0]]
    catalog.runs.remove(ids[3])
    assert [one.id for one in catalog.runs.all(mine)] == [ids[0]]
    with pytest.raises(NotFoundError, match=f"There is no run {ids[3]}"):
        catalog.runs.get(ids[3])
    assert catalog.runs.values(ids[3]) == []


def test_runs_go_with_their_collection(catalog):
    kept = catalog.runs.keep(draft(catalog.collections.ensure("mine").id), VALUES)
    with catalog.connections.write() as connection:
        connection.execute("DELETE FROM collections WHERE name = 'mine'")
    assert catalog.runs.all() == []
    assert catalog.runs.values(kept.id) == []


def test_all_or_nothing_is_kept(catalog):
    twice = [QuestionValues("q1", "a", {}), QuestionValues("q1", "b", {})]
    with pytest.raises(Exception, match=r"(?i)unique"):
        catalog.runs.keep(draft(), twice)
    assert catalog.runs.all() == []


def test_a_library_of_before_gets_the_tables(library_paths, monkeypatch):
    number = next(i for i, step in enumerate(MIGRATIONS) if step.__name__.endswith("_runs"))
    monkeypatch.setattr("ragkit.catalog.schema.MIGRATIONS", MIGRATIONS[:number])
    old = Catalog.open(library_paths.catalog, create=True)
    with old.connections.write() as connection:
        connection.execute("INSERT INTO collections (name, created_at) VALUES ('default', 0)")
    old.close()
    monkeypatch.undo()
    opened = Catalog.open(library_paths.catalog)
    collection = opened.collections.get("default").id
    assert opened.runs.keep(draft(collection), VALUES).id == 1
    opened.close()
