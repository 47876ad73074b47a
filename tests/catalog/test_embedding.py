"""The choice of an embedder, and what lacks a vector of it."""

from __future__ import annotations

from ragkit.catalog.embedding import Lacking
from ragkit.types import Level


def _other(shelf):
    return shelf.catalog.vectors.embedder_id("other-4", "other", 4)


def test_the_first_choice_stays(shelf):
    embedding = shelf.catalog.embedding
    assert (embedding.choice(), embedding.active_id(), embedding.pulse()) == (None, None, ())
    embedding.begin(shelf.embedder_id)
    embedding.begin(_other(shelf), "third")
    choice = embedding.choice()
    assert (choice.active.name, choice.active.fingerprint) == ("hashing", "fingerprint")
    assert (choice.previous, choice.target, choice.paused) == (None, "", False)
    assert not embedding.go_back()


def test_it_switches_only_when_nothing_lacks(shelf):
    embedding = shelf.catalog.embedding
    embedding.begin(shelf.embedder_id)
    document = shelf.put("a.md", "apple pie", "banana bread")
    other = _other(shelf)
    embedding.set_target("other")
    assert not embedding.switch(other)
    embedding.found_target("other", other)
    names = embedding.lacking_texts(document, other)
    assert embedding.lacking(other) == Lacking(len(names), 1, len(names))
    first, *rest = sorted(names)
    embedding.put(other, {first: bytes(8)}, renew=False)
    assert embedding.lacking(other).texts == len(rest) > 0
    assert not embedding.switch(other)
    assert embedding.switch(other, rest)
    choice = embedding.choice()
    assert (choice.active.name, choice.previous.name, choice.target) == ("other", "hashing", "")
    assert embedding.go_back()
    assert embedding.choice().active.name == "hashing"
    assert embedding.choice().previous.name == "other"


def test_a_move_that_was_stopped_does_not_switch(shelf):
    embedding = shelf.catalog.embedding
    embedding.begin(shelf.embedder_id)
    other = _other(shelf)
    embedding.set_target("other")
    embedding.found_target("other", other)
    embedding.set_target("")
    assert not embedding.switch(other)
    assert embedding.choice().active.name == "hashing"


def test_entries_that_get_a_vector_are_put_anew_in_their_order(shelf):
    embedding = shelf.catalog.embedding
    shelf.put("a.md", "apple pie", "banana bread", with_vectors=False)
    kept = shelf.put("b.md", "cherry cake")
    before = shelf.rows((Level.CHUNK,), embedder_id=shelf.embedder_id)
    version = shelf.version
    [document] = embedding.lacking_documents(shelf.embedder_id)
    names = embedding.lacking_texts(document, shelf.embedder_id)
    vectors = dict.fromkeys(names, b"\x00\x3c" * before.vectors.shape[1])
    embedding.put(shelf.embedder_id, vectors, renew=True)
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
    assert embedding.lacking_since(shelf.embedder_id, 0) == 0
    assert embedding.last_entry() == after.entry_ids.max()
