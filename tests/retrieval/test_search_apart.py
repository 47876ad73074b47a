"""No question crosses from one collection into another, whatever its filters."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from support import Shelf

from ragkit.catalog import Catalog
from ragkit.indexes.local.backend import LocalBackend
from ragkit.models.hashing import HashEmbedder
from ragkit.options import Expansion, Filters, Fusion, Granularity, Mode, SearchOptions
from ragkit.paths import LibraryPaths
from ragkit.retrieval.search import SearchEngine

# Each is its own stem, since the shelf keeps words as they are written.
_WORDS = ("plum", "fig", "kiwi", "nut", "corn", "leek")
_PIECES = st.lists(
    st.lists(st.sampled_from(_WORDS), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=4
)
_LIBRARY = st.lists(st.tuples(st.booleans(), st.integers(0, 5), _PIECES), max_size=8)
_FILTERS = st.builds(
    Filters,
    types=st.sampled_from([(), ("md",), ("markdown", "txt")]),
    paths=st.sampled_from([(), ("0",), ("a/",)]),
    headings=st.sampled_from([(), ("top",), ("nowhere",)]),
    documents=st.lists(st.integers(1, 9), max_size=3).map(tuple),
    after=st.sampled_from(["", "2000", "2999"]),
)
_OPTIONS = st.builds(
    SearchOptions,
    mode=st.sampled_from(Mode),
    fusion=st.sampled_from(Fusion),
    limit=st.integers(1, 5),
    candidates=st.integers(1, 5),
    filters=_FILTERS,
    granularity=st.sampled_from(Granularity),
    chunk_aware=st.booleans(),
    expansion=st.sampled_from(Expansion),
    per_document=st.integers(0, 2),
    near_duplicates=st.booleans(),
    mmr_lambda=st.sampled_from([None, 0.5]),
)


@settings(max_examples=60, deadline=None)
@given(_LIBRARY, st.lists(st.sampled_from(_WORDS), min_size=1, max_size=3), _OPTIONS)
def test_collections_are_strictly_apart(documents, words, options):
    with tempfile.TemporaryDirectory() as place:
        paths = LibraryPaths(Path(place))
        paths.create()
        catalog = Catalog.open(paths.catalog, create=True)
        mine, theirs = Shelf(catalog, "mine", "/mine"), Shelf(catalog, "theirs", "/theirs")
        owned = set()
        for is_mine, number, pieces in documents:
            shelf = mine if is_mine else theirs
            document = shelf.put(f"a/{number}.md", *pieces)
            if is_mine:
                owned.add(document)
        embedder = HashEmbedder(4)
        embedder.fingerprint = "fingerprint"
        engine = SearchEngine(catalog, LocalBackend(catalog.entries, paths, embedder), embedder)
        from dataclasses import replace

        answer = engine.search(" ".join(words), replace(options, collections=("mine",)))
        allowed = set(catalog.filters.documents(mine.collection_id, options.filters).tolist())
        for result in answer.results:
            assert result.document.id in owned & allowed
            assert result.document.collection == "mine"
            text = catalog.documents.text(result.document.id)
            assert result.passages
            assert all(text[p.start : p.end] == p.text for p in result.passages)
        if options.per_document == 1 and options.chunk_aware:
            ids = [one.document.id for one in answer.results]
            assert len(ids) == len(set(ids)) <= options.limit
        if options.mode is Mode.KEYWORD and options.granularity is Granularity.CHUNK:
            has = {
                document
                for document in owned & allowed
                if set(words) & set(catalog.documents.text(document).split())
            }
            if options.filters.headings == ("nowhere",):
                has = set()
            shown = {one.document.id for one in answer.results}
            assert shown <= has
            assert bool(shown) == bool(has)
        catalog.close()
