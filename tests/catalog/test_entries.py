from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import DIMENSIONS, Shelf, digest, entry, vector_bytes

from ragkit.catalog import entry_rows
from ragkit.catalog.records import NumberedTokens
from ragkit.indexes.rows import EntryRows, join
from ragkit.types import FIELD_CODES, LEVEL_CODES, Field, Level

pytestmark = pytest.mark.usefixtures("counted")


def _words(catalog, rows: EntryRows, field: Field) -> list[list[str]]:
    vocabulary = dict(catalog.connections.rows("SELECT id, token FROM vocabulary"))
    column = rows.tokens[field]
    return [
        [vocabulary[int(one)] for one in column.flat[start:end]]
        for start, end in zip(column.offsets[:-1], column.offsets[1:], strict=True)
    ]


def test_rows_hold_exactly_what_was_put(catalog, shelf):
    entries = (
        entry("one two two", 0, tokens={Field.TEXT: ["one", "two", "two"], Field.CONTEXT: ["top"]}),
        entry("", 1, tokens={}),
        entry(
            "three", 2, tokens={Field.TEXT: ["three"], Field.KEYWORDS: [], Field.QUESTIONS: ["q"]}
        ),
        entry(
            "whole", 0, level=Level.SECTION, tokens={Field.CONTEXT: ["two", "café", "\U0001f600"]}
        ),
    )
    vectors = {digest(text): vector_bytes(text) for text in ("one two two", "whole")}
    document_id = shelf.put("a.md", "x", entries=entries, vectors=vectors)
    rows = shelf.rows(embedder_id=shelf.embedder_id)
    assert rows.entry_ids.tolist() == [1, 2, 3, 4]
    assert rows.entry_ids.dtype == np.int64
    assert rows.document_ids.tolist() == [document_id] * 4
    assert rows.levels.tolist() == [LEVEL_CODES[Level.CHUNK]] * 3 + [LEVEL_CODES[Level.SECTION]]
    assert rows.levels.dtype == np.int8
    assert rows.chunk_indexes.tolist() == [0, 1, 2, 0]
    assert rows.chunk_indexes.dtype == np.int32
    assert rows.has_vector.tolist() == [True, False, False, True]
    assert rows.vectors.dtype == np.float16
    assert rows.vectors[0].tobytes() == vector_bytes("one two two")
    assert rows.vectors[3].tobytes() == vector_bytes("whole")
    assert not rows.vectors[1:3].any()
    assert sorted(rows.tokens) == [Field.CONTEXT, Field.QUESTIONS, Field.TEXT]
    assert _words(catalog, rows, Field.TEXT) == [["one", "two", "two"], [], ["three"], []]
    assert _words(catalog, rows, Field.CONTEXT) == [["top"], [], [], ["two", "café", "\U0001f600"]]
    assert _words(catalog, rows, Field.QUESTIONS) == [[], [], ["q"], []]


def test_only_the_levels_that_are_asked_for_come(catalog, shelf):
    entries = (
        entry("chunk"),
        entry("section", level=Level.SECTION),
        entry("document", level=Level.DOCUMENT),
    )
    vectors = {digest(name): vector_bytes(name) for name in ("chunk", "section", "document")}
    shelf.put("a.md", "x", entries=entries, vectors=vectors)
    rows = shelf.rows([Level.SECTION, Level.DOCUMENT], embedder_id=shelf.embedder_id)
    assert rows.entry_ids.tolist() == [2, 3]
    assert _words(catalog, rows, Field.TEXT) == [["section"], ["document"]]
    assert rows.vectors[0].tobytes() == vector_bytes("section")
    assert rows.has_vector.all()
    assert len(shelf.rows([Level.QUESTION])) == len(shelf.rows([])) == 0
    assert catalog.entries.count(shelf.collection_id) == 3
    assert catalog.entries.count(shelf.collection_id, [Level.CHUNK]) == 1


def test_without_an_embedder_every_row_is_there_without_a_vector(shelf):
    shelf.put()
    rows = shelf.rows(dimensions=7)
    assert rows.vectors.shape == (2, 7)
    assert not rows.has_vector.any()
    other = shelf.catalog.embedders.ensure("other", "other", 7)
    assert not shelf.rows(embedder_id=other, dimensions=7).has_vector.any()


def test_rows_after_an_id_are_the_newer_ones(catalog, shelf):
    shelf.put("a.md", "one", "two")
    shelf.put("b.md", "three")
    rows = shelf.rows(embedder_id=shelf.embedder_id, after=2)
    assert rows.entry_ids.tolist() == [3]
    assert _words(catalog, rows, Field.TEXT) == [["three"]]
    assert rows.vectors[0].tobytes() == vector_bytes("three")
    assert len(shelf.rows(after=3)) == 0


def test_an_empty_collection_has_empty_rows(catalog, shelf):
    rows = shelf.rows(embedder_id=shelf.embedder_id)
    assert len(rows) == 0
    assert rows.vectors.shape == (0, DIMENSIONS)
    assert rows.tokens == {}


def test_rows_of_one_collection_hold_nothing_of_another(catalog, shelf):
    other = Shelf(catalog, "other")
    mine, theirs = shelf.put("a.md", "shared", "mine"), other.put("a.md", "shared", "theirs")
    assert set(shelf.rows().document_ids.tolist()) == {mine}
    assert set(other.rows().document_ids.tolist()) == {theirs}
    rows = other.rows(embedder_id=other.embedder_id)
    assert _words(catalog, rows, Field.TEXT) == [["shared"], ["theirs"]]
    assert rows.has_vector.all()


def test_entry_ids_are_never_used_again(catalog, shelf):
    seen: set[int] = set()
    for round_ in range(5):
        shelf.put("a.md", *[f"text {round_} {n}" for n in range(3)])
        ids = shelf.entry_ids()
        assert seen.isdisjoint(ids)
        assert min(ids) > max(seen, default=0)
        seen.update(ids)
        if round_ % 2:
            catalog.documents.remove([1, *catalog.documents.get_many(range(20))])
    catalog.collections.delete(shelf.collection_id)
    fresh = Shelf(catalog)
    fresh.put("a.md", "new")
    assert min(fresh.entry_ids()) > max(seen)


def test_a_transaction_that_fails_uses_up_no_visible_entry(catalog, shelf, monkeypatch):
    shelf.put("a.md", "one")
    monkeypatch.setattr(
        "ragkit.catalog.document_writing.put_entries",
        lambda *_: (_ for _ in ()).throw(OSError("no")),
    )
    with pytest.raises(OSError, match="no"):
        shelf.put("a.md", "two")
    assert shelf.entry_ids() == [1]
    assert catalog.entries.removed_since(shelf.collection_id, 0).tolist() == []


def test_what_was_removed_since_a_version_is_exact(catalog, shelf):
    first = shelf.put("a.md", "one", "two")  # version 1, entries 1, 2
    shelf.put("b.md", "three")  # version 2, entry 3
    shelf.put("a.md", "four")  # version 3, entry 4; 1, 2 go
    catalog.documents.remove([first])  # version 4; 4 goes
    expected = {0: [1, 2, 4], 1: [1, 2, 4], 2: [1, 2, 4], 3: [4], 4: []}
    for version, gone in expected.items():
        found = catalog.entries.removed_since(shelf.collection_id, version)
        assert (sorted(found.tolist()), found.dtype) == (gone, np.int64)
    catalog.entries.forget_removed(shelf.collection_id, 3)
    assert catalog.entries.removed_since(shelf.collection_id, 0).tolist() == [4]
    assert catalog.entries.removed_since(999, 0).tolist() == []


def test_base_rows_minus_removed_plus_new_is_always_what_is_live(catalog, shelf):
    """What an index does with ``removed_since`` and ``after`` gives the live entries."""
    generator = np.random.default_rng(7)
    shelf.put("0.md", "a", "b")
    base, version = shelf.entry_ids(), shelf.version
    for step in range(60):
        path = f"{generator.integers(6)}.md"
        known = catalog.files.known(shelf.source_id)
        if generator.random() < 0.3 and path in known:
            catalog.documents.remove([known[path].document_id])
        else:
            shelf.put(path, *[f"{step} {n}" for n in range(generator.integers(0, 4))])
        new = [int(one) for one in shelf.rows(after=max(base)).entry_ids]
        gone = set(catalog.entries.removed_since(shelf.collection_id, version).tolist())
        assert sorted((set(base) | set(new)) - gone) == shelf.entry_ids()


def test_rows_have_keys_of_their_texts(shelf):
    shelf.put("a.md", "Same", "other")
    shelf.put("b.md", "same")
    keys = [int.from_bytes(digest(text)[:8], "little") for text in ("same", "other", "same")]
    assert shelf.rows().content_keys.tolist() == keys


def test_token_ids_are_stable_and_shared(catalog, shelf):
    shelf.put("a.md", "alpha beta")
    first = catalog.entries.token_ids(["alpha", "beta", "gamma", "alpha"])
    assert sorted(first) == ["alpha", "beta"]
    shelf.put("b.md", "gamma alpha")
    catalog.documents.remove([1])
    after = catalog.entries.token_ids(["alpha", "beta", "gamma"])
    assert {token: after[token] for token in first} == first
    assert catalog.entries.token_ids([]) == {}
    assert catalog.entries.token_ids(["'; --", "%", '"']) == {}


def test_token_ids_after_a_transaction_that_was_rolled_back(catalog, shelf, monkeypatch):
    def fail(*_):
        raise RuntimeError("stopped")

    monkeypatch.setattr("ragkit.catalog.entry_writing.TokenIds.of", _then(fail))
    with pytest.raises(RuntimeError, match="stopped"):
        shelf.put("a.md", "alpha beta")
    monkeypatch.undo()
    assert catalog.entries.token_ids(["alpha", "beta"]) == {}
    shelf.put("b.md", "gamma delta")
    shelf.put("a.md", "alpha beta")
    assert _words(catalog, shelf.rows(), Field.TEXT) == [["gamma", "delta"], ["alpha", "beta"]]


def _then(after):
    """The real method, and then something that fails."""
    from ragkit.catalog.entry_writing import TokenIds

    real = TokenIds.of

    def both(*arguments):
        real(*arguments)
        after()

    return both


def test_a_second_process_of_the_same_library_gives_the_same_ids(catalog, shelf, library_paths):
    shelf.put("a.md", "alpha beta")
    other = type(catalog).open(library_paths.catalog)
    Shelf(other).put("b.md", "beta gamma")
    shelf.put("c.md", "gamma alpha delta")
    words = _words(catalog, shelf.rows(), Field.TEXT)
    assert words == [["alpha", "beta"], ["beta", "gamma"], ["gamma", "alpha", "delta"]]
    other.close()


def test_vectors_are_kept_by_text_and_embedder(catalog, shelf):
    shelf.put("a.md", "same", "other")
    known = catalog.vectors.existing([digest("same"), digest("new")], shelf.embedder_id)
    assert known == {digest("same")}
    shelf.put("b.md", "same", with_vectors=False)
    rows = shelf.rows(embedder_id=shelf.embedder_id)
    assert rows.has_vector.all()
    assert rows.vectors[0].tobytes() == rows.vectors[2].tobytes() == vector_bytes("same")
    second = catalog.embedders.ensure("second", "second", DIMENSIONS)
    assert catalog.vectors.existing([digest("same")], second) == set()
    assert catalog.vectors.existing([], shelf.embedder_id) == set()
    many = [digest(str(number)) for number in range(1700)]
    assert catalog.vectors.existing([*many, digest("other")], shelf.embedder_id) == {
        digest("other")
    }


def test_a_vector_that_is_there_is_not_replaced(catalog, shelf):
    shelf.put("a.md", "same")
    shelf.put("b.md", "same", vectors={digest("same"): vector_bytes("quite another")})
    rows = shelf.rows(embedder_id=shelf.embedder_id)
    assert {one.tobytes() for one in rows.vectors} == {vector_bytes("same")}


def test_embedders_are_known_by_fingerprint(catalog):
    first = catalog.embedders.ensure("f1", "name", 4)
    assert catalog.embedders.ensure("f1", "renamed", 4) == first
    assert catalog.embedders.ensure("f2", "name", 4) != first
    assert catalog.embedders.find("f1") == first
    assert catalog.embedders.find("f3") is None


def test_pruning_drops_the_vectors_of_texts_that_are_gone(catalog, shelf):
    first = shelf.put("a.md", "only here", "shared")
    shelf.put("b.md", "shared")
    assert catalog.vectors.prune() == 0
    catalog.documents.remove([first])
    assert catalog.vectors.prune() == 1
    assert catalog.vectors.existing([digest("only here"), digest("shared")], shelf.embedder_id) == {
        digest("shared")
    }
    assert catalog.vectors.prune() == 0


def test_numbered_tokens_are_stored_as_the_words_they_stand_for(catalog, shelf):
    words = ("tree", "apple", "pear")
    numbered = NumberedTokens(words, np.array([1, 0, 1], dtype=np.uint32))
    none = NumberedTokens(words, np.zeros(0, dtype=np.uint32))
    entries = (
        replace(entry("a", 0), tokens={FIELD_CODES[Field.TEXT]: numbered}),
        replace(
            entry("b", 1),
            tokens={FIELD_CODES[Field.TEXT]: ["pear", "plum"], FIELD_CODES[Field.CONTEXT]: none},
        ),
    )
    shelf.put("a.md", "x", entries=entries)
    rows = shelf.rows()
    assert _words(catalog, rows, Field.TEXT) == [["apple", "tree", "apple"], ["pear", "plum"]]
    assert len(numbered) == 3
    kept = catalog.connections.rows("SELECT COUNT(*) FROM entry_tokens")
    assert kept[0][0] == 2


def test_entries_read_in_slices_are_the_same_rows(shelf, monkeypatch):
    """A chunk is read with its contexts, whose vectors have a share of its own."""
    levels = (Level.CHUNK, Level.CONTEXT, Level.QUESTION)
    texts = [(f"{level.value} {number}", number, level) for number in range(7) for level in levels]
    entries = tuple(entry(text, number, level=level) for text, number, level in texts)
    vectors = {digest(text): vector_bytes(text) for text, _, _ in texts}
    shelf.put("a.md", "x", entries=entries, vectors=vectors)
    whole = shelf.rows(levels, embedder_id=shelf.embedder_id)
    fingerprints = {"fingerprint": "fingerprint", "dimensions": DIMENSIONS}
    for size in (1, 4, 20, 21, 22):
        monkeypatch.setattr(entry_rows, "_SLICE", size)
        with shelf.catalog.entries.everything(
            shelf.collection_id, levels, **fingerprints
        ) as snapshot:
            parts = list(snapshot.rows.slices)
        assert snapshot.rows.count == 21
        assert snapshot.version.number == shelf.version
        assert {part.levels[0] for part in parts} == {LEVEL_CODES[Level.CHUNK]}
        assert len(parts) == {1: 7, 4: 5, 20: 1, 21: 1, 22: 1}[size]
        joined = join(parts)
        assert joined.entry_ids.tolist() == whole.entry_ids.tolist()
        assert joined.vectors.tobytes() == whole.vectors.tobytes()
        assert joined.tokens[Field.TEXT].flat.tolist() == whole.tokens[Field.TEXT].flat.tolist()
