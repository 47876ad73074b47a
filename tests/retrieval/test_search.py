"""The engine on a small real library."""

from __future__ import annotations

import json
import random

import pytest
from small_library import (
    HANDBOOK,
    add,
    comparable,
    find,
    open_library,
    paths,
    sync,
    without_times,
    write_files,
)

from ragkit.catalog import Catalog
from ragkit.errors import NotFoundError, QueryError
from ragkit.indexes.local.backend import LocalBackend
from ragkit.options import Filters, Fusion, Granularity, Mode, QuestionMerge, SearchOptions
from ragkit.retrieval import candidates
from ragkit.retrieval.highlight import Highlighter
from ragkit.retrieval.levels import SEARCHED_LEVELS
from ragkit.retrieval.search import AnswerCache, SearchEngine

_LONG = "\n\n".join(
    f"## Part {number}\n\n" + f"The turbine of part {number} turns. " * 40 for number in range(60)
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    place = tmp_path_factory.mktemp("engine")
    files = write_files(
        place / "files",
        {
            **HANDBOOK,
            "long.md": f"# Turbines\n\n{_LONG}\n",
            **{f"short/{n}.md": f"# Mill {n}\n\nA mill has one turbine.\n" for n in range(15)},
        },
    )
    opened = open_library(place / "library")
    add(opened, files)
    other = write_files(
        place / "other", {"secret.md": "# Refund of the secret\n\nA secret refund, OAuth token.\n"}
    )
    add(opened, other, "private")
    yield opened
    opened.close()


def test_each_mode_finds_and_says_how(library):
    for mode, indexes in (
        (Mode.HYBRID, {"vector", "keyword"}),
        (Mode.KEYWORD, {"keyword"}),
        (Mode.VECTOR, {"vector"}),
    ):
        answer = find(library, "refund thirty days", mode=mode)
        assert paths(answer)[0] == "handbook/refunds.md"
        named = {
            part.index
            for result in answer.results
            for chunk in result.matched_chunks
            for part in chunk.contributions
        }
        assert indexes <= named
        if mode is not Mode.HYBRID:
            assert named == indexes


@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
def test_the_parts_of_every_score_add_up_to_it(library, mode, fusion):
    chunks = 0
    for question in ("refund thirty days", "turbine part 7", "OAuth token", "refund_policy_id"):
        answer = find(library, question, mode=mode, fusion=fusion, limit=30)
        for result in answer.results:
            assert result.score == max(one.score for one in result.matched_chunks)
            for chunk in (*result.matched_chunks, *result.more):
                chunks += 1
                parts = chunk.contributions
                assert chunk.score == pytest.approx(sum(one.value for one in parts), abs=1e-12)
                assert 0.0 <= chunk.score <= 1.0 + 1e-9
                for one in parts:
                    assert one.value == pytest.approx(one.weight * one.normalised, abs=1e-12)
        scores = [result.score for result in answer.results]
        assert scores == sorted(scores, reverse=True)
    assert chunks > 5


def test_the_trace_counts_what_goes_in_and_comes_out(library):
    answer = find(library, "turbine mill", limit=5)
    stages = {one.name: one for one in answer.trace.stages}
    assert list(stages) == [
        "question", "filters", "vector", "keyword", "fusion", "deduplication", "reconstruction",
        "fit",
    ]  # fmt: skip
    collection = library.catalog.collections.get("default")
    total = library.indexes.current(collection).entries
    assert stages["filters"].count_out == total
    assert stages["vector"].count_in == stages["keyword"].count_in == total
    assert stages["vector"].count_out <= library.options().candidates
    found = stages["vector"].count_out + stages["keyword"].count_out
    assert stages["fusion"].count_in == found
    assert stages["fusion"].count_out <= found
    assert stages["deduplication"].count_in == stages["fusion"].count_out
    assert stages["deduplication"].count_out <= stages["deduplication"].count_in
    assert stages["reconstruction"].count_out == len(answer.results) == 5
    assert all(one.ms >= 0 for one in answer.trace.stages)
    assert answer.trace.ms == pytest.approx(sum(one.ms for one in answer.trace.stages))


def test_the_limit_counts_documents(library):
    for limit in (1, 3, 12):
        answer = find(library, "turbine", limit=limit)
        assert len(answer.results) == limit
        assert len(set(paths(answer))) == limit


def test_a_document_that_fills_the_candidates_leaves_room_for_others(library):
    """The long document alone has more matching chunks than there are candidates."""
    long = next(one for one in library.documents.list("default") if one.path == "long.md")
    assert long.chunks > 20
    answer = find(library, "turbine", mode="keyword", candidates=5, limit=10)
    assert len(answer.results) == 10
    assert len(set(paths(answer))) == 10
    assert sum(one.name == "fusion" for one in answer.trace.stages) > 1


def test_passages_are_slices_of_the_stored_text(library):
    for question in ("turbine part 7", "refund", "検索システム"):
        for result in find(library, question).results:
            text = library.documents.get(result.document.id).text
            last = 0
            for passage in result.passages:
                assert passage.start >= last
                assert text[passage.start : passage.end] == passage.text
                last = passage.end
                for start, end in passage.highlights:
                    assert 0 <= start < end <= len(passage.text)
            shown = set(result.shown_chunks)
            assert {one.index for one in result.matched_chunks} <= shown
            assert shown <= set(range(result.document.chunks))


def test_the_same_question_gives_the_same_bytes(library):
    collection = library.catalog.collections.get("default")
    for question in ("refund", "turbine mill part", "Tomaten im Sommer", "検索システムの評価"):
        first = comparable(find(library, question))
        fresh = SearchEngine(library.catalog, library.indexes, library.embedder)
        assert comparable(fresh.search(question, library.options())) == first
        library.indexes.forget(collection.id)
        again = LocalBackend(library.catalog.entries, library.paths, library.embedder)
        engine = SearchEngine(library.catalog, again, library.embedder)
        assert comparable(engine.search(question, library.options())) == first


def test_a_repeated_question_is_remembered_until_the_library_changes(tmp_path):
    library = open_library(tmp_path / "library")
    add(library, write_files(tmp_path / "files", {"a.md": "# Owl\n\nAn owl sees at night.\n"}))
    first = find(library, "owl")
    assert find(library, "owl") is first
    assert find(library, "owl", limit=3) is not first
    assert len(library.embedder.queries) == 2
    write_files(tmp_path / "files", {"b.md": "# Owls\n\nTwo owls see more.\n"})
    sync(library)
    second = find(library, "owl")
    assert second is not first
    assert set(paths(second)) == {"a.md", "b.md"}
    library.close()


def test_collections_are_apart_unless_several_are_named(library):
    assert "secret.md" not in paths(find(library, "secret refund"))
    private = find(library, "secret refund", collections=("private",))
    assert paths(private) == ["secret.md"]
    both = find(library, "secret refund", collections=("default", "private"))
    assert {"secret.md", "handbook/refunds.md"} <= set(paths(both))
    by_words = find(library, "refund collection:private", collections=("default", "private"))
    assert {one.document.collection for one in by_words.results} == {"private"}
    with pytest.raises(QueryError, match="not among those chosen: default") as outside:
        find(library, "refund collection:private")
    assert outside.value.cure.startswith("Choose it, or all collections,")
    with pytest.raises(NotFoundError, match="nowhere") as caught:
        find(library, "refund", collections=("nowhere",))
    assert "private" in caught.value.cure
    with pytest.raises(NotFoundError):
        find(library, "refund collection:nowhere")


def test_a_framework_keeps_what_names_none_unless_it_is_asked_strictly(library):
    kept = find(library, "refund framework:legal")
    assert paths(kept)[0] == "handbook/refunds.md"
    assert "handbook/login.md" in paths(kept)
    assert kept.notices == (
        "Documents that name no framework are searched too; framework:=legal leaves them out.",
    )
    assert paths(find(library, "refund framework:vue,=legal")) == ["handbook/refunds.md"]
    # Alone it lists what names it; what is excluded names it too.
    assert paths(find(library, "framework:legal")) == ["handbook/refunds.md"]
    assert "handbook/login.md" in paths(find(library, "refund -framework:legal"))
    assert "handbook/refunds.md" not in paths(find(library, "refund -framework:legal"))
    unknown = find(library, "refund framework:lego")
    assert unknown.notices == (
        'No document names the framework "lego"; those that name none were searched.',
    )
    strict = find(library, "refund framework:=lego")
    assert (strict.results, strict.suggestion) == ((), "refund")
    assert strict.notices == ('No documents with framework "lego".',)


def test_filters_in_the_question_and_beside_it_both_hold(library):
    assert paths(find(library, "refund type:md path:handbook/")) == [
        "handbook/refunds.md", "handbook/login.md",
    ]  # fmt: skip
    beside = find(library, "refund", filters=Filters(paths=("handbook/",)))
    assert set(paths(beside)) == {"handbook/refunds.md", "handbook/login.md"}
    both = find(library, "refund path:login", filters=Filters(paths=("handbook/",)))
    assert paths(both) == ["handbook/login.md"]
    assert paths(find(library, "refund framework:=legal")) == ["handbook/refunds.md"]
    assert paths(find(library, "refund tag:money after:2025-01 before:2026")) == [
        "handbook/refunds.md"
    ]
    under = find(library, 'token in:"OAuth"')
    assert paths(under) == ["handbook/login.md"]


def test_filters_that_match_nothing_give_an_empty_answer_with_counts(library):
    for question in ("refund type:docx", "refund path:nowhere/", "refund tag:x after:2090"):
        answer = find(library, question)
        assert answer.results == ()
        stages = {one.name: one for one in answer.trace.stages}
        assert stages["filters"].count_out == 0
        assert stages["vector"].count_out == stages["keyword"].count_out == 0


def test_an_unknown_filter_is_named_and_its_words_are_searched_for(library):
    answer = find(library, "refund colour:red")
    assert answer.notices == ('There is no filter "colour:", so its words were searched for.',)
    assert paths(answer)[0] == "handbook/refunds.md"


@pytest.mark.parametrize("question", ["", "   ", "\n"])
def test_a_question_without_words_finds_nothing_and_says_so(library, question):
    answer = find(library, question)
    assert answer.results == ()
    assert answer.notices == ("There are no words to search for.",)


@pytest.mark.parametrize(
    "question", ['"', "'", "“", "the of and", "?", "***", "\x00", "😀", "\ud800", "% _", "a" * 5000]
)
def test_odd_questions_are_answered(library, question):
    answer = find(library, question)
    json.dumps(without_times(answer))
    assert answer.query == question


def test_a_question_of_a_megabyte_is_cut_and_answered(library):
    question = "refund thirty days " * 55_000
    answer = find(library, question)
    assert paths(answer)[0] == "handbook/refunds.md"
    assert answer.notices == ("The question is very long; only its beginning was asked.",)
    assert answer.trace.ms < 5000


@pytest.mark.parametrize(
    ("question", "path"),
    [
        ("検索システム", "notes/memo.md"),
        ("評価", "notes/memo.md"),
        ("refund_policy_id", "handbook/refunds.md"),
        ("C++", "handbook/login.md"),
        ("v2.0.1", "handbook/refunds.md"),
        ("TOMATEN", "notes/garten.txt"),
    ],
)
def test_identifiers_and_other_scripts_are_found_by_their_words(library, question, path):
    assert paths(find(library, question, mode="keyword"))[0] == path
    assert paths(find(library, question))[0] == path


def test_words_that_no_document_has_find_nothing_by_keywords(library):
    answer = find(library, "xylophonist zzyzx", mode="keyword")
    assert answer.results == ()


@pytest.mark.parametrize(
    "granularity", [Granularity.SECTION, Granularity.DOCUMENT, Granularity.AUTO]
)
def test_coarser_levels_are_searched(library, granularity):
    answer = find(library, "refund thirty days", granularity=granularity)
    assert paths(answer)[0] == "handbook/refunds.md"
    levels = {
        one.level for result in answer.results for one in result.wholes or result.matched_chunks
    }
    assert levels <= set(SEARCHED_LEVELS[granularity])
    assert answer.results[0].passages
    for result in answer.results:
        text = library.documents.get(result.document.id).text
        assert [text[p.start : p.end] for p in result.passages] == [p.text for p in result.passages]


def test_a_document_may_have_several_results_when_asked_to(library):
    one = find(library, "turbine part", per_document=1, limit=20)
    assert len(set(paths(one))) == len(one.results)
    three = find(library, "turbine part", per_document=3, limit=20)
    counts = {path: paths(three).count(path) for path in paths(three)}
    assert max(counts.values()) == counts["long.md"] == 3
    flat = find(library, "turbine part", chunk_aware=False, per_document=0, limit=20)
    assert paths(flat).count("long.md") > 3


def test_min_score_drops_weak_hits(library):
    all_of_them = find(library, "turbine refund", limit=50)
    edge = all_of_them.results[3].score
    some = find(library, "turbine refund", limit=50, min_score=edge)
    assert 0 < len(some.results) < len(all_of_them.results)
    assert all(chunk.score >= edge for one in some.results for chunk in one.matched_chunks)


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.VECTOR])
@pytest.mark.parametrize("fusion", Fusion)
@pytest.mark.parametrize("merge", QuestionMerge)
def test_min_similarity_removes_exactly_what_is_less_alike(library, mode, fusion, merge):
    apart = {"chunk_aware": False, "per_document": 0, "limit": 200, "mode": mode}
    exact = find(library, "turbine refund", **apart).results
    cosine = {
        (one.document.id, one.matched_chunks[0].index): part.raw
        for one in exact
        for part in one.matched_chunks[0].contributions
        if part.index == "vector"
    }
    edge = sorted(cosine.values())[len(cosine) // 2]
    apart |= {"fusion": fusion, "question_merge": merge}
    every = find(library, "turbine refund", **apart)
    some = find(library, "turbine refund", **apart, min_similarity=edge)
    expected = [
        (one.document.id, one.matched_chunks[0].index, one.score)
        for one in every.results
        if cosine.get((one.document.id, one.matched_chunks[0].index), 0.0) >= edge
    ]
    assert [(one.document.id, one.matched_chunks[0].index, one.score) for one in some.results] == (
        expected
    )
    assert 0 < len(expected) < len(every.results)
    (stage,) = (one for one in some.trace.stages if one.name == "fusion")
    assert stage.note.endswith(" unlike removed")
    assert find(library, "turbine refund", **apart, min_similarity=1).results == ()


def test_min_similarity_says_that_it_has_no_effect_on_keyword_search(library):
    by_words = find(library, "turbine refund", mode=Mode.KEYWORD, min_similarity=0.9)
    assert paths(by_words) == paths(find(library, "turbine refund", mode=Mode.KEYWORD))
    assert by_words.notices == (
        "Minimum similarity has no effect here: keyword search compares no vectors.",
    )


def test_what_is_quoted_word_for_word_leads_to_its_text(tmp_path):
    about = (
        "# Chain of the anchor\n\nA locker for the chain lies aft. The chain of each anchor is "
        "kept dry, and each locker has a spare. Keep an anchor, a chain and a locker.\n"
    )
    saying = "Ingrid wrote that we keep the spare anchor chain in the aft locker. "
    notes = "We paint the mast in June and wash the sails. " * 8
    files = {"about.md": about, "crew.md": f"# Notes\n\n{notes}\n\n{saying}{notes}\n"}
    library = open_library(tmp_path / "library")
    add(library, write_files(tmp_path / "files", files))
    quoted = "we keep the spare anchor chain in the aft locker"
    assert paths(find(library, quoted, verbatim_weight=0))[0] == "about.md"
    answer = find(library, quoted)
    assert paths(answer)[0] == "crew.md"
    parts = {part.index: part for part in answer.results[0].matched_chunks[0].contributions}
    assert parts["verbatim"].raw == 1.0
    # In other order it is no quotation.
    other = find(library, "in the aft locker the chain, anchor and spare we keep")
    for result in other.results:
        assert "verbatim" not in {part.index for part in result.matched_chunks[0].contributions}
    library.close()


def test_a_document_and_its_export_in_another_format_are_one_result(tmp_path):
    rng = random.Random(4)
    nouns = [
        "ferry",
        "pier",
        "lamp",
        "rope",
        "quay",
        "crane",
        "tide",
        "herring",
        "barge",
        "sluice",
        "anchor",
        "mast",
    ]
    parts = [
        " ".join(f"The {a} is moved to the {b} before the {c}." for a, b, c in
                 (rng.sample(nouns, 3) for _ in range(40)))
        for _ in range(6)
    ]  # fmt: skip
    parts[3] += " Nobody may feed the seals of the outer harbour from the gangway."
    files = {
        "plan.md": "# Plan\n\n" + "\n\n".join(f"## Part {n}\n\n{p}" for n, p in enumerate(parts)),
        "export/plan.html": "<h1>Plan</h1>" + "".join(f"<p>{part}</p>" for part in parts),
        "plan.txt": "\n\n".join(parts),
        "seals.txt": "Seals of the outer harbour are counted in May.",
    }
    library = open_library(tmp_path / "library")
    add(library, write_files(tmp_path / "files", files))
    answer = find(library, "who may feed the seals of the outer harbour?")
    copies = {"plan.md", "export/plan.html", "plan.txt"}
    assert [{shown.document.path, *shown.also_at} & copies for shown in answer.results] in (
        [copies, set()],
        [set(), copies],
    )
    library.close()


def test_deduplication_options_fold_what_is_nearly_the_same(tmp_path):
    text = "The ferry to the island leaves at nine from the second pier, every day but Sunday. " * 8
    files = {
        "a.md": f"# Ferry\n\n{text}",
        "b.md": f"# Ferry\n\n{text.upper()}",
        "c.md": f"# Ferry\n\n{text} Dogs travel free.",
        "d.md": "# Bread\n\nFlour, water, salt and a ferry of time.",
    }
    library = open_library(tmp_path / "library")
    add(library, write_files(tmp_path / "files", files))
    exact = find(library, "ferry to the island")
    # Equal scores go by the order of reading, so either copy may stand for both.
    [shown] = [one for one in exact.results if one.document.path in ("a.md", "b.md")]
    assert {shown.document.path, *shown.also_at} == {"a.md", "b.md"}
    assert {*paths(exact), "a.md", "b.md"} == {"a.md", "b.md", "c.md", "d.md"}
    near = find(library, "ferry to the island", near_duplicates=True)
    assert len(near.results) == 2
    assert {paths(near)[0], *near.results[0].also_at} == {"a.md", "b.md", "c.md"}
    alike = find(library, "ferry to the island", semantic_threshold=0.95)
    assert len(alike.results) == 2
    varied = find(library, "ferry to the island", mmr_lambda=0.3)
    assert paths(varied)[1] == "d.md"
    library.close()


def test_a_search_writes_nothing(library):
    find(library, "warm")
    before = library.paths.catalog.read_bytes()
    find(library, "a question never asked before: turbine")
    assert library.paths.catalog.read_bytes() == before


def test_a_reader_answers_while_another_connection_writes(library):
    other = Catalog.open(library.paths.catalog)
    with other.connections.write() as connection:
        connection.execute("UPDATE documents SET title = 'X' WHERE path = 'handbook/refunds.md'")
        answer = find(library, "refund during a write")
        assert answer.results[0].document.title == "Refunds"
        connection.execute("UPDATE documents SET title = 'Refunds' WHERE title = 'X'")
    other.close()


def test_options_are_hashable_and_checked_for_their_defaults(library):
    options = library.options()
    assert hash(options) == hash(library.options())
    assert options.collections == ("default",)
    assert isinstance(options, SearchOptions)


def test_a_search_takes_no_text_apart_until_somebody_looks(library, monkeypatch):
    looked = []
    spans = Highlighter.spans
    monkeypatch.setattr(
        Highlighter, "spans", lambda self, text: looked.append(text) or spans(self, text)
    )
    answer = library.search("a refund after thirty days and a turbine", library.options())
    assert answer.results
    assert looked == []
    passages = [passage for result in answer.results for passage in result.passages]
    assert any(len(passage.highlights) for passage in passages)
    assert looked


def test_words_beside_vectors_give_the_same_answer(library, monkeypatch):
    alone = library.search("is a refund like a turbine", library.options())
    monkeypatch.setattr(candidates, "_WORTH_A_THREAD", 0)
    monkeypatch.setattr(candidates, "_processors", lambda: 2)
    monkeypatch.setattr(library.engine, "_answers", AnswerCache())
    both = library.search("is a refund like a turbine", library.options())
    assert both.results == alone.results
    stages = {one.name: one for one in both.trace.stages}
    assert stages["vector"].note.endswith("; beside keyword")
    assert stages["keyword"].count_out == next(
        one.count_out for one in alone.trace.stages if one.name == "keyword"
    )
