"""Comparing: agreement and movement with exact values, columns in words, and a real library."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_library import HANDBOOK, add, open_library, write_files

from ragkit.errors import EvaluationError, ModelError, NotFoundError, QueryError
from ragkit.evaluation.comparison import (
    Movement,
    RankChange,
    aligned,
    compare,
    counts_of,
    movements,
    overlap,
    rank_biased_overlap,
)
from ragkit.evaluation.search_config import SearchConfig, as_text, from_text, names
from ragkit.library import Library
from ragkit.option_codec import apply_options, dump_options
from ragkit.options import Contexts, Expansion, Fusion, Granularity, IndexMode, Mode, SearchOptions
from ragkit.results import Answer, DocumentRef, Result
from ragkit.settings import load_settings
from ragkit.traces import Stage, Trace

WORDS = SearchConfig(SearchOptions(mode=Mode.KEYWORD))
MEANING = SearchConfig(SearchOptions(mode=Mode.VECTOR))


def answer(*documents, ms=1.0):
    found = tuple(
        Result(DocumentRef(one, f"{one}.md", f"Title {one}", "default", "text", 0, 1, ""), 0.5,
               (), ())
        for one in documents
    )  # fmt: skip
    return Answer("q", found, Trace((Stage("vector", ms, 0, 0), Stage("fusion", 2.0, 0, 0))))


# -- agreement -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "depth", "expected"),
    [
        ("abc", "cba", 3, 1.0),
        ("abc", "abd", 3, 2 / 3),
        ("abc", "xyz", 3, 0.0),
        ("abcd", "ab", 10, 0.5),
        ("abcd", "dcba", 2, 0.0),
        ("", "", 10, 1.0),
        ("a", "", 10, 0.0),
    ],
)
def test_overlap(one, other, depth, expected):
    assert overlap(one, other, depth) == pytest.approx(expected, abs=1e-12)
    assert overlap(other, one, depth) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # By hand: (0.1/0.9) * (1*0.9 + 1/2*0.81 + 3/3*0.729) + 3/3*0.729
        ("abc", "acb", 0.955),
        # (0.1/0.9) * (0*0.9 + 2/2*0.81) + 0.81
        ("ab", "ba", 0.9),
        # (0.1/0.9) * (0.9 + 0.81*1/2) + 0.81*1/2
        ("ab", "ax", 0.55),
        # s = 1, l = 2, X = 1, 1: (0.1/0.9) * (0.9 + 0.81/2 + 0.81*1*1/2) + (0/2 + 1/1)*0.81
        ("a", "ab", 1.0),
        # s = 1, l = 2, X = 0, 1: (0.1/0.9) * (0 + 0.81/2 + 0) + (1/2 + 0)*0.81
        ("b", "ab", 0.45),
        ("abc", "abc", 1.0),
        ("abc", "xyz", 0.0),
        ("", "", 1.0),
        ("", "abc", 0.0),
    ],
)
def test_rank_biased_overlap_by_hand(one, other, expected):
    assert rank_biased_overlap(one, other) == pytest.approx(expected, abs=1e-12)
    assert rank_biased_overlap(other, one) == pytest.approx(expected, abs=1e-12)


@given(st.permutations(range(12)), st.integers(0, 12), st.integers(0, 12), st.floats(0.1, 0.99))
def test_rank_biased_overlap_stays_in_bounds_and_knows_itself(order, short, long_, p):
    left, right = list(range(12))[:short], order[:long_]
    value = rank_biased_overlap(left, right, p)
    assert 0.0 <= value <= 1.0
    assert value == pytest.approx(rank_biased_overlap(right, left, p), abs=1e-12)
    assert rank_biased_overlap(right, right, p) == pytest.approx(1.0, abs=1e-9)


# -- movement ------------------------------------------------------------------------------------


def test_movement_counts_documents_not_results():
    assert movements("caxcb", "abac") == [
        Movement(RankChange.UP, 2),
        Movement(RankChange.DOWN, 1),
        Movement(RankChange.NEW),
        Movement(RankChange.AGAIN),
        Movement(RankChange.DOWN, 2),
    ]
    assert movements("ab", "ab") == [Movement(RankChange.SAME)] * 2
    assert movements("aab", "aab", reference_itself=True) == [
        Movement(RankChange.FIRST),
        Movement(RankChange.AGAIN),
        Movement(RankChange.FIRST),
    ]
    assert movements("", "ab") == []
    assert counts_of(["aab", "bc"]) == {"a": 1, "b": 2, "c": 1}


def test_columns_are_joined_by_document():
    found = aligned("q", [WORDS, MEANING], [answer(1, 2, 3), answer(3, 4, 1, ms=7.0)])
    first, second = found.columns
    assert (first.name, second.name) == ("Keyword", "Semantic")
    assert [one.movement.change for one in first.results] == [RankChange.FIRST] * 3
    assert [(one.rank, one.movement) for one in second.results] == [
        (1, Movement(RankChange.UP, 2)),
        (2, Movement(RankChange.NEW)),
        (3, Movement(RankChange.DOWN, 2)),
    ]
    assert [one.only for one in first.results] == [False, True, False]
    assert [one.only for one in second.results] == [False, True, False]
    assert ([one.id for one in first.gone], [one.id for one in second.gone]) == ([], [2])
    assert found.shared == (1, 3)
    assert found.depth == 10
    assert (first.overlap, first.rbo) == (1.0, 1.0)
    assert second.overlap == pytest.approx(2 / 3)
    assert second.rbo == pytest.approx(rank_biased_overlap([1, 2, 3], [3, 4, 1]))
    assert (first.ms, second.ms) == (3.0, 9.0)


def test_a_column_that_cannot_be_asked_says_why_and_hides_no_other():
    found = aligned("q", [MEANING, WORDS], [ModelError("No model.", "Mend it."), answer(1)])
    broken, second = found.columns
    assert broken.problem == "No model. Mend it."
    assert broken.results == ()
    assert [one.movement.change for one in second.results] == [RankChange.NEW]
    assert (second.overlap, second.rbo, second.results[0].only) == (0.0, 0.0, True)


# -- settings in words and in addresses ------------------------------------------------------------


def test_heads_say_the_mode_and_what_differs():
    assert names([WORDS, MEANING]) == ["Keyword", "Semantic"]
    without = SearchConfig(SearchOptions(contexts=Contexts.STRUCTURAL))
    assert names([SearchConfig(), without]) == [
        "Hybrid, with AI-written context",
        "Hybrid, without AI-written context",
    ]
    folded = SearchOptions(near_duplicates=True, semantic_threshold=0.95, mmr_lambda=0.7)
    loose = SearchOptions(per_document=0, fusion=Fusion.RRF, adaptive=False)
    assert names([SearchConfig(folded), SearchConfig(loose, chunked=True)]) == [
        "Hybrid, weighted sum of scores, adaptive weights, one result per document, "
        "near-duplicates hidden, paraphrases hidden from 0.95, diversified (MMR 0.7), "
        "searched as a whole",
        "Hybrid, reciprocal ranks (RRF), fixed weights, every chunk a result, "
        "near-duplicates shown, paraphrases shown, not diversified, topics searched separately",
    ]


def test_every_value_of_every_choice_has_words():
    for kind, name in ((Contexts, "contexts"), (Granularity, "granularity"),
                       (Expansion, "expansion"), (Fusion, "fusion"), (IndexMode, "index"),
                       (Mode, "mode")):  # fmt: skip
        heads = [names([SearchConfig(), SearchConfig(SearchOptions(**{name: one}))])[1]
                 for one in kind]  # fmt: skip
        assert len(set(heads)) == len(heads)
    levels = [SearchConfig(SearchOptions(granularity=one)) for one in Granularity]
    assert [one.split(", ", 1)[1] for one in names(levels)] == [
        "tables, lists and code",
        "chunks",
        "sections",
        "whole documents",
        "all levels",
    ]


def test_settings_go_into_an_address_and_back():
    options = SearchOptions(
        mode=Mode.KEYWORD,
        vector_weight=0.25,
        semantic_threshold=0.9,
        near_duplicates=True,
        adaptive=False,
        granularity=Granularity.SECTION,
        limit=7,
    )
    column = SearchConfig(options, chunked=True)
    text = as_text(column)
    assert text == (
        "mode:keyword,vector_weight:0.25,adaptive:false,limit:7,granularity:section,"
        "near_duplicates:true,semantic_threshold:0.9,chunked:true"
    )
    assert from_text(text) == (column, ())
    assert as_text(SearchConfig()) == "mode:hybrid"
    other = SearchConfig(embedder="ollama:nomic-embed-text:latest")
    assert as_text(other) == "mode:hybrid,embedder:ollama:nomic-embed-text:latest"
    assert from_text(as_text(other)) == (other, ())
    base = SearchOptions(collections=("papers",), mode=Mode.VECTOR)
    assert from_text("", base)[0].options == SearchOptions(collections=("papers",))


@pytest.mark.parametrize(
    "text",
    [
        "mode:telepathy", "limit:0", "limit:1e9", "limit:x", "vector_weight:nan",
        "vector_weight:-1", "mmr_lambda:2", "collections:secret", "filters:x", "adaptive:maybe",
        "__class__:x", "chunked:perhaps", "x" * 5000, "mode", "<script>:1",
    ],
)  # fmt: skip
def test_strange_addresses_are_named_and_change_nothing(text):
    column, strange = from_text(f"{text},near_duplicates:true")
    expected = SearchOptions(near_duplicates=len(text) < 1000)
    assert column == SearchConfig(expected)
    assert strange == (text[:80],)


def test_a_collection_s_own_settings_are_few_and_read_back():
    base = SearchOptions(limit=20)
    own = dump_options(SearchOptions(mode=Mode.VECTOR, limit=20, mmr_lambda=0.5), base)
    assert own == {"mode": "vector", "mmr_lambda": 0.5}
    assert apply_options(base, own) == SearchOptions(mode=Mode.VECTOR, limit=20, mmr_lambda=0.5)
    assert apply_options(
        base, {"mode": "odd", "limit": True, "gone": 1, "rrf_k": 30}
    ) == SearchOptions(limit=20, rrf_k=30)


# -- a real library ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("compare")
    opened = open_library(folder / "library")
    write_files(folder / "files", HANDBOOK)
    add(opened, folder / "files")
    yield opened
    opened.close()


def column(library, *, chunked=False, **changes):
    return SearchConfig(library.options(**changes), chunked)


def test_two_settings_are_asked_of_a_library(library):
    words = column(library, mode=Mode.KEYWORD)
    found = compare(library, "OAuth token", [words, column(library)])
    first, second = found.columns
    assert [one.result.document.path for one in first.results] == ["handbook/login.md"]
    assert second.results[0].movement == Movement(RankChange.SAME)
    assert {one.name for one in first.trace.stages} >= {"keyword", "fusion", "reconstruction"}
    assert "vector" in {one.name for one in second.trace.stages}
    assert first.results[0].result == library.search("OAuth token", words.options).results[0]
    assert compare(library, "OAuth token", [words, words]).columns[1].rbo == 1.0


def test_four_columns_and_a_question_in_pieces(library):
    columns = [
        column(library),
        column(library, granularity=Granularity.SECTION),
        column(library, per_document=0),
        column(library, chunked=True),
    ]
    text = "When does the OAuth token expire? And how much water do Tomaten need im Sommer?"
    found = compare(library, text, columns)
    assert [bool(one.results) for one in found.columns] == [True] * 4
    assert " hits → " in found.columns[3].notices[0]
    assert found.columns[3].trace.stages[0].name == "topics"


def test_a_column_is_asked_of_another_embedder_whose_vectors_are_kept(tmp_path):
    settings = load_settings(library=tmp_path / "library", models={"embedder": "hash"})
    library = Library.open(settings, create=True)
    add(library, write_files(tmp_path / "files", HANDBOOK))
    library.embedders.choose("wordllama")
    assert library.embedders.embed_missing() == ""
    options = library.options(mode=Mode.VECTOR)
    columns = [SearchConfig(options, embedder=one) for one in ("", "hash", "ollama:none:1b")]
    usual, other, unknown = compare(library, "When does the token expire?", columns).columns
    for found, engine in ((usual, library.engine), (other, library.services("hash").engine)):
        answer = engine.search("When does the token expire?", options)
        assert [one.result for one in found.results] == list(answer.results)
    assert [one.result.score for one in usual.results] != [
        one.result.score for one in other.results
    ]
    assert [usual.problem, other.problem] == ["", ""]
    assert unknown.results == ()
    assert "texts have no vector of ollama:none:1b" in unknown.problem
    assert "embedded by hash" in other.name
    library.close()


def test_what_cannot_be_compared_is_said(library):
    one = column(library)
    for columns in ([one], [one] * 5):
        with pytest.raises(EvaluationError, match="cannot be compared"):
            compare(library, "x", columns)
    with pytest.raises(QueryError):
        compare(library, "refund after:2025-13-45", [one, one])
    with pytest.raises(NotFoundError):
        compare(library, "refund", [one, column(library, collections=("none",))])
    assert compare(library, "", [one, one]).columns[0].results == ()


def test_a_collection_searches_as_it_was_told(library):
    collection = library.catalog.collections.get("default")
    library.catalog.collections.set_settings(
        collection.id, {"search": {"mode": "keyword", "limit": 3}}
    )
    try:
        assert (library.options().mode, library.options().limit) == (Mode.KEYWORD, 3)
        assert library.options(mode=Mode.VECTOR).mode is Mode.VECTOR
        assert library.options(collections=("default", "other")).mode is Mode.HYBRID
        assert library.options(collections=("other",)).mode is Mode.HYBRID
    finally:
        library.catalog.collections.set_settings(collection.id, {})
    assert library.options().mode is Mode.HYBRID
