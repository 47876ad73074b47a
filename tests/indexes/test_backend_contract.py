"""What every index backend must do, against one that works everything out one by one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from entry_source import DIMENSIONS, Embedder, Kept, Source
from hypothesis import given, settings
from hypothesis import strategies as st
from index_rows import each
from qdrant_edge_client import edge_server, index_of, memory_server
from reference_backend import ReferenceBackend, ReferenceIndex

from ragkit.catalog import Catalog
from ragkit.indexes.local.backend import LocalBackend
from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.local.generation import build_graph_of, open_newest, write_generation
from ragkit.indexes.local.hnsw import GraphParameters
from ragkit.indexes.protocol import (
    Candidates,
    EntryFilter,
    EntryIndex,
    IndexBackend,
    IndexKind,
    IndexQuery,
    VectorSearch,
)
from ragkit.indexes.qdrant.backend import QdrantBackend
from ragkit.indexes.qdrant.index import QdrantIndex
from ragkit.indexes.rows import EntryRows, RowSlices, TokenColumn, join
from ragkit.options import IndexMode
from ragkit.paths import LibraryPaths
from ragkit.types import FIELD_CODES, INDEXED_LEVELS, LEVEL_CODES, Field, Level, Version

VOCABULARY, PATTERNS = 30, 50
NAMES = {"fingerprint": "hash-1", "tokenizer_version": "1", "version": Version(1)}
TITLED = {Field.TEXT: 1.75, Field.TITLE: -0.5}
GROUP = (Level.CHUNK, Level.CONTEXT, Level.QUESTION, Level.QUESTION)


def make_rows(ids: range, *, several: bool = False, seed: int = 0) -> EntryRows:
    """Rows whose content depends on their id alone; four chunks or groups of entries a document.

    All texts are as long, so that no statistic depends on when an entry came. With ``several``,
    each chunk has a context and two questions, but for each fifth, which stands alone.
    """
    levels, texts, titles, vectors = [], [], [], []
    for entry_id in ids:
        group, place = divmod(entry_id, len(GROUP)) if several else (entry_id, 0)
        levels.append(LEVEL_CODES[Level.CHUNK if group % 5 == 4 else GROUP[place]])
        own = levels[-1] == LEVEL_CODES[Level.CHUNK] and entry_id % 9 != 1
        random = np.random.default_rng([seed, entry_id])
        texts.append((random.zipf(1.5, 6) % VOCABULARY + 3).tolist() if own else [])
        titles.append([3 + group % 4, 5] if own else [])
        # Some share a vector, so that there are ties.
        pattern = np.random.default_rng([seed, entry_id % PATTERNS]).standard_normal(DIMENSIONS)
        vectors.append(pattern / np.linalg.norm(pattern))
    numbers = np.array(ids, np.int64)
    return EntryRows(
        numbers,
        numbers // 16,
        np.array(levels, np.int8),
        (numbers % 16).astype(np.int32),
        (numbers % 13).astype(np.uint64) << np.uint64(60),
        np.array(vectors, np.float16).reshape(len(ids), DIMENSIONS),
        numbers % 7 != 0,
        {Field.TEXT: TokenColumn.of(texts), Field.TITLE: TokenColumn.of(titles)},
    )


def built(rows: EntryRows, _folder: Path) -> CollectionIndex:
    return CollectionIndex.build(rows)


def saved(rows: EntryRows, folder: Path) -> CollectionIndex:
    write_generation(folder, RowSlices.of(rows), **NAMES)
    generation = open_newest(folder)
    assert generation is not None
    return generation.index()


def with_graph(rows: EntryRows, folder: Path) -> CollectionIndex:
    build_graph_of(write_generation(folder, RowSlices.of(rows), **NAMES), GraphParameters(16, 80))
    generation = open_newest(folder)
    assert generation is not None
    return generation.index()


def changed(rows: EntryRows, _folder: Path) -> CollectionIndex:
    """Half the documents at first, some of them of other content; others that went later."""
    size = len(rows)
    first, second = np.arange(size // 2 // 16 * 16), np.arange(size // 2 // 16 * 16, size)
    last = int(rows.entry_ids[-1]) if size else 0
    strange = make_rows(range(last + 1, last + 33), seed=9)
    outdated = rows.take(first)
    outdated.vectors[:16] = outdated.vectors[:16][::-1]
    index = CollectionIndex.build(join([outdated, strange]))
    index = index.remove(strange.entry_ids, 1)
    return index.upsert(rows.take(first[:16]), 2).upsert(rows.take(second), 3)


def on_core(rows: EntryRows, folder: Path) -> QdrantIndex:
    """Half the entries at first, and some that went later; of one it was known too late."""
    first, second = np.arange(len(rows) // 2), np.arange(len(rows) // 2, len(rows))
    strange = make_rows(range(1, 16), seed=9)
    index = index_of(join([strange, rows.take(first)]), edge_server(folder), Version(1))
    unwritten = int(rows.entry_ids[-1]) + 1
    late = join([rows.take(second), make_rows(range(unwritten, unwritten + 1))])
    index.points.retire([unwritten], 2)
    return index.changed([late], strange.entry_ids, Version(2))


def reference(rows: EntryRows, _folder: Path) -> ReferenceIndex:
    return ReferenceIndex.of(rows)


def through_tables(rows: EntryRows, catalog: Catalog) -> EntryRows:
    """Write rows into the tables of a catalog, and return what an index is made of them."""
    number = catalog.collections.ensure("rows").id
    source = catalog.collections.ensure_source(number, "folder", "/rows").id
    embedder = catalog.embedders.ensure("hash-1", "hash", DIMENSIONS)
    ids = rows.entry_ids.tolist()
    with catalog.connections.write() as connection:
        connection.executemany(
            "INSERT INTO documents (id, source_id, collection_id, path, status, changed_at) "
            "VALUES (?, ?, ?, ?, 'indexed', 0.0)",
            [(one, source, number, str(one)) for one in sorted(set(rows.document_ids.tolist()))],
        )
        connection.executemany(
            "INSERT INTO entries "
            "(id, collection_id, document_id, level, position, text_hash, content_key) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (one, number, document, level, place, str(one).encode(), key.to_bytes(8, "little"))
                for one, document, level, place, key in zip(
                    ids,
                    *(
                        column.tolist()
                        for column in (
                            rows.document_ids, rows.levels, rows.chunk_indexes, rows.content_keys
                        )
                    ),
                    strict=True,
                )
            ],
        )  # fmt: skip
        connection.executemany(
            "INSERT INTO vectors (text_hash, embedder_id, data) VALUES (?, ?, ?)",
            [
                (str(ids[row]).encode(), embedder, rows.vectors[row].astype("<f2").tobytes())
                for row in np.flatnonzero(rows.has_vector)
            ],
        )
        connection.executemany(
            "INSERT INTO entry_tokens VALUES (?, ?, ?)",
            [
                (ids[row], FIELD_CODES[field], words.tobytes())
                for field, column in rows.tokens.items()
                for row in range(len(ids))
                if len(words := column.part(slice(row, row + 1)).flat)
            ],
        )
    with catalog.entries.everything(
        number, tuple(Level), fingerprint="hash-1", dimensions=DIMENSIONS
    ) as snapshot:
        read = snapshot.rows.joined()
    catalog.close()
    return read


@dataclass(frozen=True)
class Made:
    """An index of some rows, the oracle of the same, and the share of the best that it finds."""

    index: EntryIndex
    oracle: ReferenceIndex
    rows: EntryRows
    recall: float
    vector_search: VectorSearch | None


BACKENDS: dict[str, tuple[Callable[[EntryRows, Path], EntryIndex], float]] = {
    "reference": (reference, 1.0),
    "local": (built, 1.0),
    "local, saved": (saved, 1.0),
    "local, with a graph": (with_graph, 0.9),
    "local, changed": (changed, 1.0),
    "qdrant core": (on_core, 1.0),
    "postgres": (built, 1.0),
}
ANN = VectorSearch(IndexMode.ANN, nprobe=1, overfetch=4)


@pytest.fixture(scope="module", params=[False, True], ids=["one entry", "several entries"])
def several(request) -> bool:
    return request.param


@functools.cache
def oracle_of(several: bool) -> ReferenceIndex:
    """The oracle of all backends whose rows are made here."""
    return ReferenceIndex.of(make_rows(range(16, 208), several=several))


@pytest.fixture(scope="module", params=BACKENDS)
def made(request, several, tmp_path_factory) -> Made:
    make, recall = BACKENDS[request.param]
    rows = make_rows(range(16, 208), several=several)
    folder = tmp_path_factory.mktemp("index")
    if request.param == "postgres":
        # What the index is made of comes from a server; what it must say, from a file.
        address = request.getfixturevalue("postgres").new_database()
        catalog = Catalog.open(folder / "catalog.sqlite", create=True)
        index = make(through_tables(rows, Catalog.open_server(address, create=True)), folder)
        rows = through_tables(rows, catalog)
        oracle = ReferenceIndex.of(rows)
    else:
        index, oracle = make(rows, folder), oracle_of(several)
    return Made(index, oracle, rows, recall, ANN if recall < 1.0 else None)


def queries() -> list[IndexQuery]:
    vectors = np.random.default_rng(5).standard_normal((4, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    tokens = [[4], [5, 9, 9, 12, 999], [], [6, 3, 4, 11]]
    found = [IndexQuery(ids, vector) for ids, vector in zip(tokens, vectors, strict=True)]
    weighted = IndexQuery([7, 4, 4], weights={4: 0.5, 9: 1.25})
    return [*found, IndexQuery([7, 4]), IndexQuery([3], np.zeros(DIMENSIONS, np.float32)), weighted]


FILTERS = {
    "none": None,
    "documents": EntryFilter(document_ids=np.array([2, 5, 9, 10**9])),
    "most documents": EntryFilter(document_ids=np.arange(2, 13)),
    "entries": EntryFilter(entry_ids=np.array([20, 33, 48, 49, 50, 51, 10**9])),
    "both": EntryFilter(np.array([3, 4]), np.arange(40, 66)),
    "chunks of own": EntryFilter(chunk_ids=np.array([20, 21, 33, 40, 48, 49, 10**9])),
    "without chunks": EntryFilter(without_chunk_ids=np.arange(20, 45)),
    "all at once": EntryFilter(
        np.arange(2, 9), chunk_ids=np.arange(10, 70), without_chunk_ids=np.arange(30, 40)
    ),
    "no document": EntryFilter(document_ids=np.zeros(0, np.int64)),
    "chunks": EntryFilter(levels=(Level.CHUNK,)),
    "chunks and questions": EntryFilter(levels=(Level.CHUNK, Level.QUESTION)),
    "no level of it": EntryFilter(levels=(Level.SECTION,)),
    "representatives": EntryFilter(representatives=True),
    "representatives of documents": EntryFilter(np.array([2, 3, 8]), representatives=True),
}


def columns(found: Candidates) -> dict[int, tuple[int, ...]]:
    """What is known of each entry, by its id."""
    names = ("document_ids", "parent_ids", "chunk_indexes", "levels")
    values = zip(*(getattr(found, name).tolist() for name in names), strict=True)
    return dict(zip(found.entry_ids.tolist(), values, strict=True))


def assert_agree(found: Candidates, everything: Candidates, depth: int, recall: float) -> None:
    """Candidates are the best of all that may be found, in order, with their scores."""
    scores = dict(zip(everything.entry_ids.tolist(), everything.scores.tolist(), strict=True))
    ids = found.entry_ids.tolist()
    best = everything.scores[:depth].tolist()
    assert len(set(ids)) == len(ids) == len(best)
    keys = list(zip((-found.scores).tolist(), ids, strict=True))
    assert keys == sorted(keys)
    expected = np.array([scores[one] for one in ids])
    assert (np.abs(found.scores - expected) <= np.maximum(2e-6, 1e-5 * np.abs(expected))).all()
    least = best[-1] - 2e-6 if best else 0.0
    assert sum(score >= least for score in found.scores.tolist()) >= recall * len(best)
    known = columns(everything)
    assert columns(found) == {entry_id: known[entry_id] for entry_id in ids}


ASKED = {
    "vectors": (IndexKind.VECTOR, None),
    "words of texts": (IndexKind.KEYWORD, None),
    "words of titles": (IndexKind.KEYWORD, {Field.TITLE: 2.0}),
    "words of two fields": (IndexKind.KEYWORD, TITLED),
}


@functools.cache
def oracle_says(oracle: ReferenceIndex, name: str, asked: str) -> tuple[int, list[Candidates]]:
    """How many entries pass a filter, and all candidates of each query in order."""
    kind, weights = ASKED[asked]
    search = oracle.search(queries(), FILTERS[name], weights)
    return search.passing, each(search.candidates(kind, 10_000), len(queries()))


@pytest.mark.parametrize("asked", ASKED)
def test_candidates_are_the_best_that_the_filter_lets_through(made: Made, asked: str):
    kind, weights = ASKED[asked]
    for name, entry_filter in FILTERS.items():
        search = made.index.search(queries(), entry_filter, weights, made.vector_search)
        passing, everything = oracle_says(made.oracle, name, asked)
        assert search.passing == passing
        for depth in (0, 1, 7, 10_000):
            recall = made.recall if kind is IndexKind.VECTOR and depth == 7 else 1.0
            recall = 0.0 if made.recall < 1.0 and depth == 1 else recall
            found = each(search.candidates(kind, depth), len(queries()))
            for one, other in zip(found, everything, strict=True):
                assert_agree(one, other, depth, recall)


@pytest.mark.parametrize("asked", ASKED)
def test_any_entry_has_its_score_and_an_unknown_one_none(made: Made, asked: str):
    kind, weights = ASKED[asked]
    entry_ids = np.array([207, 16, 10**9, 20, 0, 200, 36, 52, 51, 17])
    asked_by = np.array([0, 0, 0, 2, 2, 3, 3, 3, 4, 5])
    for entry_filter in FILTERS.values():
        search = made.index.search(queries(), entry_filter, weights)
        oracle = made.oracle.search(queries(), entry_filter, weights)
        expected = oracle.scores(kind, entry_ids, asked_by)
        scores = search.scores(kind, entry_ids, asked_by)
        assert scores.dtype == np.float32
        assert scores.tolist() == pytest.approx(expected.tolist(), abs=2e-6, rel=1e-5)
        assert scores[[2, 4]].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("name", ["none", "most documents", "representatives"])
@pytest.mark.parametrize("kind", IndexKind)
def test_a_batch_says_to_the_last_bit_what_each_query_alone_says(made: Made, name, kind):
    entry_ids = np.arange(10, 60)
    asked_by = np.repeat(np.arange(len(queries())), len(entry_ids))
    together = made.index.search(queries(), FILTERS[name], None, made.vector_search)
    scores = together.scores(kind, np.tile(entry_ids, len(queries())), asked_by)
    found = each(together.candidates(kind, 20), len(queries()))
    for query, one, own in zip(queries(), found, scores.reshape(-1, 50), strict=True):
        alone = made.index.search([query], FILTERS[name], None, made.vector_search)
        same = alone.candidates(kind, 20)
        assert same.entry_ids.tolist() == one.entry_ids.tolist()
        assert same.scores.tolist() == one.scores.tolist()
        assert alone.scores(kind, entry_ids).tolist() == own.tolist()


def test_no_query_finds_nothing(made: Made):
    for kind in IndexKind:
        found = made.index.search([]).candidates(kind, 5)
        assert (len(found.entry_ids), len(found.queries)) == (0, 0)


def test_its_size_is_that_of_the_asked_levels_and_fields(made: Made):
    index, oracle = made.index, made.oracle
    asked = [((Level.CHUNK,), ()), ((), (Field.TEXT,)), ((Level.QUESTION, Level.CONTEXT), ())]
    sizes = [index.size(levels, fields) for levels, fields in asked]
    assert (sizes[0], sizes[2]) == (oracle.size(*asked[0]), oracle.size(*asked[2]))
    assert sizes[1] >= oracle.size(*asked[1])
    assert index.size((), ()) == 0
    together = index.size((Level.CHUNK, Level.QUESTION, Level.CONTEXT), (Field.TEXT,))
    assert together == sum(sizes)
    assert index.size((), (Field.TEXT, Field.TITLE)) > sizes[1]


def test_tokens_come_back_in_reading_order(made: Made):
    entry_ids = np.array([190, 16, 10**9, 47, 36])
    for field in (Field.TEXT, Field.TITLE, Field.QUESTIONS):
        found, expected = (one.get(entry_ids, field) for one in (made.index, made.oracle))
        assert found.offsets.tolist() == expected.offsets.tolist()
        assert found.flat.tolist() == expected.flat.tolist()
    assert len(made.index.get(np.zeros(0, np.int64), Field.TEXT)) == 0
    assert made.index.fields >= made.oracle.fields


def test_the_rarity_of_tokens_counts_what_is_there(made: Made):
    tokens = [4, 9, 999, 4]
    for field in (Field.TEXT, Field.TITLE):
        assert made.index.idf(tokens, field).tolist() == pytest.approx(
            made.oracle.idf(tokens, field).tolist(), rel=1e-5
        )


def test_documents_are_those_that_a_query_finds_and_that_hold_its_tokens(made: Made):
    later = [
        one.upsert(make_rows(range(32, 48), seed=3), Version(7)).remove(
            [*range(64, 80), 1], Version(8)
        )
        for one in (made.index, made.oracle)
    ]
    documents = np.array([9, 2, 5, 10**6, 3, 0, 7])
    for index, oracle in ((made.index, made.oracle), later):
        for fields in ([Field.TEXT], [Field.TEXT, Field.TITLE]):
            holding = index.holders([4, 0, 999, 9], documents, fields)
            assert holding.tolist() == oracle.holders([4, 0, 999, 9], documents, fields).tolist()
        for field in (Field.TEXT, Field.TITLE, Field.QUESTIONS):
            counts, expected = (
                one.document_frequencies([4, 0, 999, 9], field).tolist() for one in (index, oracle)
            )
            assert counts == expected
        counts = index.document_frequencies(range(35), Field.TEXT)
        rare = np.flatnonzero(counts * 4 <= index.entries).tolist()
        assert index.documents == oracle.documents
        assert index.spread(rare) == oracle.spread(rare)
        for least in (1, 4, 10):
            opened, expected = (one.openings(rare, least) for one in (index, oracle))
            assert [ids.tolist() for ids in opened] == [ids.tolist() for ids in expected]
            for field in (Field.TEXT, Field.TITLE, Field.QUESTIONS):
                having, expected = (
                    one.throughout([*rare, 5], field, least) for one in (index, oracle)
                )
                assert [ids.tolist() for ids in having] == [ids.tolist() for ids in expected]
        # Some chunks have no titles where each is an entry of its own.
        titled = index.throughout([5], Field.TITLE, 4)[0]
        assert bool(len(titled)) == (index.entries_per_chunk > 1)
    asked = np.array([*range(1, 60), 10**6], np.int64)
    keys = made.index.content_keys(asked)
    assert keys.tolist() == made.oracle.content_keys(asked).tolist()
    assert keys[-1] == 0
    assert made.index.holders([], documents, [Field.TEXT]).shape == (0, 7)
    assert made.index.holders([4], np.zeros(0, np.int64), [Field.TEXT]).shape == (1, 0)
    for tokens in ([4], [4, 9], [9, 4, 4], [4, 999], []):
        having, expected = (one.holding(tokens) for one in (made.index, made.oracle))
        assert [ids.tolist() for ids in having] == [ids.tolist() for ids in expected]
    for entry_filter in FILTERS.values():
        search = made.index.search(queries(), entry_filter)
        oracle = made.oracle.search(queries(), entry_filter)
        for kind in IndexKind:
            assert search.documents(kind).tolist() == oracle.documents(kind).tolist()


def test_it_is_known_of_which_levels_a_chunk_has_vectors(made: Made, several: bool):
    later = [
        one.upsert(make_rows(range(32, 48), seed=3, several=several), Version(7)).remove(
            range(64, 80), Version(8)
        )
        for one in (made.index, made.oracle)
    ]
    own = made.rows.entry_ids[made.rows.levels == LEVEL_CODES[Level.CHUNK]]
    entry_ids = np.array([10**9, 0, *own[::-1]])
    for index, oracle in ((made.index, made.oracle), later):
        for level in (Level.CHUNK, Level.CONTEXT, Level.QUESTION):
            having = index.with_vectors(entry_ids, level)
            assert having.tolist() == oracle.with_vectors(entry_ids, level).tolist()
        assert bool(index.with_vectors(entry_ids, Level.QUESTION).any()) == several


@pytest.mark.parametrize("since", [0, 16, 200, 207, 10**6])
def test_a_scan_gives_what_came_since(made: Made, since: int):
    found = made.index.scan(since)
    expected = made.rows.take(np.flatnonzero(made.rows.entry_ids > since))
    for name in (
        "entry_ids",
        "document_ids",
        "levels",
        "chunk_indexes",
        "content_keys",
        "has_vector",
    ):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert found.vectors[found.has_vector].tolist() == expected.vectors[found.has_vector].tolist()
    for field, column in expected.tokens.items():
        if len(column.flat):
            assert found.tokens[field].offsets.tolist() == column.offsets.tolist()
            assert found.tokens[field].flat.tolist() == column.flat.tolist()
    assert made.index.entries == len(made.rows)
    assert (made.index.entries_per_chunk > 1) == (made.oracle.entries_per_chunk > 1)


def found_by(index: EntryIndex, kind: IndexKind, vector_search: VectorSearch | None = None):
    search = index.search(queries(), None, TITLED, vector_search)
    return each(search.candidates(kind, 10_000), len(queries()))


def test_what_is_upserted_replaces_and_what_is_removed_hides(made: Made):
    others = make_rows(range(32, 48), seed=3)
    others = replace(others, tokens={**others.tokens, Field.TEXT: TokenColumn.of([[8] * 6] * 16)})
    gone = [*range(64, 80), *range(200, 204), 10**9]
    later, oracle = (
        one.upsert(others, Version(7)).remove(gone, Version(8)) for one in (made.index, made.oracle)
    )
    assert (later.version, later.entries) == (Version(8), len(made.rows) - 20)
    for kind in IndexKind:
        before = found_by(made.index, kind)
        for one, other in zip(found_by(later, kind), found_by(oracle, kind), strict=True):
            assert_agree(one, other, 10_000, 1.0)
        ids = np.array([200, 35, 64])
        scores = [one.search(queries()[:1]).scores(kind, ids).tolist() for one in (later, oracle)]
        assert scores[0] == pytest.approx(scores[1], abs=2e-6)
        # Who holds the index of before keeps it as it was.
        for one, other in zip(found_by(made.index, kind), before, strict=True):
            assert one.scores.tolist() == other.scores.tolist()
    assert later.get(np.array([200, 35]), Field.TEXT).flat.tolist() == [8] * 6
    assert later.scan(0).entry_ids.tolist() == oracle.scan(0).entry_ids.tolist()


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.lists(st.integers(0, 12), max_size=4), st.integers(0, 4)),
        max_size=6,
    ),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_changes_in_any_order_lead_where_the_oracle_leads(changes, several):
    index: EntryIndex = CollectionIndex.build(make_rows(range(16, 80), several=several))
    oracle = ReferenceIndex.of(make_rows(range(16, 80), several=several))
    last = 80
    for version, (added, removed, replaced) in enumerate(changes, 1):
        ids = [one for group in removed for one in range(16 + 4 * group, 20 + 4 * group)]
        rows = make_rows(range(last, last + 4 * added), several=several)
        again = make_rows(range(16 + 4 * replaced, 20 + 4 * replaced), several=several, seed=2)
        last += 4 * added
        index = index.remove(ids, version).upsert(rows, version).upsert(again, version)
        oracle = oracle.remove(ids, version).upsert(rows, version).upsert(again, version)
    assert index.entries == oracle.entries
    assert index.scan(0).entry_ids.tolist() == oracle.scan(0).entry_ids.tolist()
    for kind in IndexKind:
        for one, other in zip(found_by(index, kind), found_by(oracle, kind), strict=True):
            assert_agree(one, other, 10_000, 1.0)


@pytest.fixture(params=["reference", "local", "qdrant core", "qdrant client"])
def backend(request, tmp_path) -> tuple[IndexBackend, Source]:
    source = Source()
    if request.param == "reference":
        return ReferenceBackend(source, DIMENSIONS), source
    if request.param != "local":
        open_server = edge_server if request.param == "qdrant core" else memory_server
        return QdrantBackend(source, Embedder(), open_server(tmp_path)), source
    paths = LibraryPaths(tmp_path / "library")
    paths.create()
    return LocalBackend(source, paths, Embedder()), source


ONE, TWO = Kept(1, "one"), Kept(2, "two")


def ids_in(backend: IndexBackend, collection: Kept, level: Level = Level.CHUNK) -> list[int]:
    return backend.current(collection, level).scan().entry_ids.tolist()


def test_collections_and_levels_are_strictly_apart(backend):
    indexes, source = backend
    sections = replace(
        make_rows(range(90, 94)), levels=np.full(4, LEVEL_CODES[Level.SECTION], np.int8)
    )
    source.change(1, join([make_rows(range(10, 40)), sections]), [])
    source.change(2, make_rows(range(40, 80)), [])
    assert ids_in(indexes, ONE) == list(range(10, 40))
    assert ids_in(indexes, ONE, Level.SECTION) == list(range(90, 94))
    assert ids_in(indexes, TWO) == list(range(40, 80))
    assert [ids_in(indexes, TWO, level) for level in (Level.SECTION, Level.DOCUMENT)] == [[], []]
    # A token is as rare as it is in the collection that is asked.
    for collection, rows in ((ONE, make_rows(range(10, 40))), (TWO, make_rows(range(40, 80)))):
        alone = ReferenceIndex.of(rows)
        index = indexes.current(collection)
        assert index.idf([4, 9], Field.TEXT).tolist() == pytest.approx(
            alone.idf([4, 9], Field.TEXT).tolist(), rel=1e-5
        )
        for kind in IndexKind:
            for one, other in zip(found_by(index, kind), found_by(alone, kind), strict=True):
                assert_agree(one, other, 10_000, 1.0)


def test_the_current_index_is_that_of_the_source(backend):
    indexes, source = backend
    assert indexes.current(ONE).entries == 0
    source.change(1, make_rows(range(10, 30)), [])
    first = indexes.current(ONE)
    assert (first.entries, first.version) == (20, Version(1, "a1"))
    indexes.save(ONE, always=True)
    source.change(1, make_rows(range(30, 40)), [12, 13])
    expected = [10, 11, *range(14, 40)]
    assert ids_in(indexes, ONE) == expected
    assert first.entries == 20
    for again in (indexes.rebuild, lambda one: indexes.forget(one.id), indexes.save):
        again(ONE)
        assert ids_in(indexes, ONE) == expected
    assert indexes.pop_notice(ONE) == ""
    assert isinstance(indexes.generation(ONE), str)
    assert set(INDEXED_LEVELS) == {Level.CHUNK, Level.SECTION, Level.DOCUMENT, Level.BLOCK}


def test_a_server_says_to_the_last_bit_what_a_file_says(postgres, several, tmp_path):
    rows = make_rows(range(16, 208), several=several)
    file = Catalog.open(tmp_path / "catalog.sqlite", create=True)
    server = Catalog.open_server(postgres.new_database(), create=True)
    one, other = (CollectionIndex.build(through_tables(rows, each)) for each in (file, server))
    for entry_filter in FILTERS.values():
        for kind, weights in ASKED.values():
            found, same = (
                index.search(queries(), entry_filter, weights).candidates(kind, 10_000)
                for index in (one, other)
            )
            assert found.entry_ids.tolist() == same.entry_ids.tolist()
            assert found.scores.tolist() == same.scores.tolist()
            assert columns(found) == columns(same)
