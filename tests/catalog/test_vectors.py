"""The choice of an embedder, and which texts have no vector of it."""

from __future__ import annotations

import pytest

from ragkit.catalog.vectors import MissingVectors
from ragkit.types import Level

pytestmark = pytest.mark.usefixtures("counted")


def _other(shelf):
    return shelf.catalog.embedders.ensure("other-4", "other", 4)


def test_the_first_choice_stays(shelf):
    embedders = shelf.catalog.embedders
    assert (embedders.choice(), embedders.active_id(), embedders.change_token()) == (None, None, ())
    embedders.choose_first(shelf.embedder_id)
    embedders.choose_first(_other(shelf), "third")
    choice = embedders.choice()
    assert (choice.active.name, choice.active.fingerprint) == ("hashing", "fingerprint")
    assert (choice.previous, choice.target, choice.paused) == (None, "", False)
    assert not embedders.revert()


def test_it_switches_only_when_no_vector_is_missing(shelf):
    embedders, vectors = shelf.catalog.embedders, shelf.catalog.vectors
    embedders.choose_first(shelf.embedder_id)
    document = shelf.put("a.md", "apple pie", "banana bread")
    other = _other(shelf)
    embedders.set_target("other")
    assert not embedders.switch(other)
    embedders.set_target_id("other", other)
    names = vectors.texts_missing(document, other)
    assert vectors.missing(other) == MissingVectors(len(names), 1)
    assert vectors.texts_in_all() == len(names)
    first, *rest = sorted(names)
    vectors.put(other, {first: bytes(8)}, renew=False)
    assert vectors.missing(other).texts == len(rest) > 0
    assert not embedders.switch(other)
    assert embedders.switch(other, rest)
    choice = embedders.choice()
    assert (choice.active.name, choice.previous.name, choice.target) == ("other", "hashing", "")
    assert embedders.revert()
    assert embedders.choice().active.name == "hashing"
    assert embedders.choice().previous.name == "other"


def test_a_move_that_was_stopped_does_not_switch(shelf):
    embedders = shelf.catalog.embedders
    embedders.choose_first(shelf.embedder_id)
    other = _other(shelf)
    embedders.set_target("other")
    embedders.set_target_id("other", other)
    embedders.set_target("")
    assert not embedders.switch(other)
    assert embedders.choice().active.name == "hashing"


def test_entries_that_get_a_vector_are_put_anew_in_their_order(shelf):
    vectors = shelf.catalog.vectors
    shelf.put("a.md", "apple pie", "banana bread", with_vectors=False)
    kept = shelf.put("b.md", "cherry cake")
    before = shelf.rows((Level.CHUNK,), embedder_id=shelf.embedder_id)
    version = shelf.version
    [document] = vectors.documents_missing(shelf.embedder_id)
    names = vectors.texts_missing(document, shelf.embedder_id)
    made = dict.fromkeys(names, b"\x00\x3c" * before.vectors.shape[1])
    vectors.put(shelf.embedder_id, made, renew=True)
    after = shelf.rows((Level.CHUNK,), embedder_id=shelf.embedder_id)
    assert shelf.version == version + 1
    assert after.has_vector.all()
    moved = after.document_ids != kept
    assert after.chunk_indexes[moved].tolist() == [0, 1]
    assert (after.entry_ids[moved] > before.entry_ids.max()).all()
    assert sorted(shelf.catalog.entries.removed_since(shelf.collection_id, version)) == sorted(
        before.entry_ids[before.document_ids == document]
    )
    words = {field: column.flat.size for field, column in after.tokens.items()}
    assert words == {field: column.flat.size for field, column in before.tokens.items()}
    assert vectors.missing(shelf.embedder_id).documents == 0


def test_entries_are_looked_at_again_only_where_one_lacked_its_vector(shelf):
    vectors, embedder = shelf.catalog.vectors, shelf.embedder_id
    shelf.put("a.md", "first")
    assert vectors.is_complete(embedder)
    with shelf.catalog.connections.write() as connection:
        connection.execute("DELETE FROM vectors")
    assert vectors.is_complete(embedder)
    assert vectors.missing(embedder) == MissingVectors(0, 0)
    assert vectors.texts_in_all() == 1
    assert shelf.catalog.integrity.without_vectors(embedder) == {1: 1}
    assert not vectors.is_complete(_other(shelf))
    document = shelf.put("b.md", "second", "third", with_vectors=False)
    assert not vectors.is_complete(embedder)
    names = vectors.texts_missing(document, embedder)
    vectors.put(embedder, dict.fromkeys(names, bytes(8)), renew=True)
    assert vectors.is_complete(embedder)


def test_what_lost_its_vector_is_missing_once_every_entry_is_looked_at_again(shelf):
    vectors, embedder = shelf.catalog.vectors, shelf.embedder_id
    document = shelf.put("a.md", "first")
    assert vectors.is_complete(embedder)
    with shelf.catalog.connections.write() as connection:
        connection.execute("DELETE FROM vectors")
    assert vectors.documents_missing(embedder) == []
    vectors.recheck(embedder)
    assert not vectors.is_complete(embedder)
    assert vectors.documents_missing(embedder) == [document]
    assert vectors.missing(embedder) == MissingVectors(1, 1)
    assert vectors.texts_in_all() == 1
