"""Long questions on small real libraries."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_library import HANDBOOK, add, open_library, write_files

from ragkit.errors import NotFoundError, QueryError
from ragkit.library import Library
from ragkit.options import ChunkedOptions, Contexts, CutMethod, Dedup, Granularity, Merge, Mode
from ragkit.retrieval.multi_query import IndexMode, query_per_chunk
from ragkit.retrieval.stages import StageTimer
from ragkit.settings import ChunkedSettings, load_settings

SAMPLE = Path(__file__).resolve().parents[2] / "sample_data" / "library"
LONG = "conversations/2026-03-14-ines-and-rui.md"

TRAVEL = "Which train goes to Lisbon in May, and is the hotel near the station cheap?"
BUG = "The parser raises a timeout error when the remote socket is closed. Why?"
RECIPE = "How long must the dough rest before the bread is baked with flour and salt?"
FILES = {
    "travel/lisbon.md": "# Lisbon\n\nThe train to Lisbon leaves in May. The hotel is cheap.\n",
    "travel/station.md": "# Stations\n\nThe hotel near the station of Lisbon.\n",
    "code/parser.md": "# Parser\n\nA timeout error of the parser: the remote socket is closed.\n",
    "code/sockets.md": "# Sockets\n\n## Remote\n\nA closed socket raises.\n\n"
    + "## Timeout\n\n" + "The timeout error of a socket. " * 200,
    "food/bread.md": "# Bread\n\nThe dough must rest. Bake bread with flour and salt.\n",
    "food/copy-of-bread.md": "# Bread\n\nThe dough must rest. Bake bread with flour and salt.\n",
}  # fmt: skip


def chat(*said: str) -> str:
    return "\n\n".join(
        f"**{'Ann' if n % 2 else 'Bob'}** · 10:{n:02}\n{t}" for n, t in enumerate(said)
    )


THREE = chat(*[TRAVEL] * 4, *[BUG] * 4, *[RECIPE] * 4)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    place = tmp_path_factory.mktemp("chunked")
    opened = open_library(place / "library")
    add(opened, write_files(place / "files", {**HANDBOOK, **FILES}))
    add(opened, write_files(place / "other", {"secret.md": "# Bread\n\nSecret dough.\n"}), "apart")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """The sample library as it ships, with the embedder that ships."""
    place = tmp_path_factory.mktemp("sample")
    opened = Library.open(load_settings(library=place / "library"), create=True)
    add(opened, SAMPLE)
    yield opened
    opened.close()


def paths(answer) -> list[str]:
    return [one.result.document.path for one in answer.results]


def ask(library, text, **changes):
    return library.search_chunked(text, chunked=library.chunked_options(**changes))


@pytest.mark.parametrize(("limit", "candidates"), [(2, 20), (5, 20), (7, 28)])
def test_the_more_is_shown_the_deeper_each_piece_looks(sample, limit, candidates):
    answer = ask(sample, "buoy\n\nboat\n\nharbour\n\nstation\n\nsensor " * 40, limit=limit)
    (vector,) = (stage for stage in answer.trace.stages if stage.name == "vector")
    assert vector.count_out == answer.segments * candidates


def test_a_conversation_finds_documents_of_all_its_topics_and_one_question_does_not(sample):
    record = next(one for one in sample.documents.list() if one.path == LONG)
    text = sample.documents.get(record.id).text
    answer = ask(sample, text, exclude=frozenset({record.id}))
    folders = {path.partition("/")[0] for path in paths(answer)}
    assert "recipes/carvalho-kitchen.epub" in paths(answer)
    assert "code/drift_check.ipynb" in paths(answer)
    travel = {"notes/japan-trip-2026.md", "handbook/travel-and-expenses.md"}
    assert travel & set(paths(answer))
    assert len(folders) >= 3
    assert LONG not in paths(answer)
    whole = sample.search(text, sample.options(limit=6)).results
    first = [one.document.path for one in whole if one.document.path != LONG][:5]
    assert not {"recipes/carvalho-kitchen.epub", "code/drift_check.ipynb"} <= set(first)


def test_each_topic_has_its_documents_and_each_result_its_topics(library):
    answer = ask(library, THREE, limit=3)
    (travel, bug, recipe) = (one.topic.name for one in answer.topics)
    assert "train" in travel
    assert "timeout" in bug
    assert "bread" in recipe
    first = {one.result.document.path: one.topics for one in answer.results}
    assert set(first) <= {*FILES}
    assert {path.partition("/")[0] for path in first} == {"travel", "code", "food"}
    for number, one in enumerate(answer.topics):
        best = one.documents[0][0]
        assert next(
            found.topics for found in answer.results if found.result.document.id == best
        ).count(number)
        scores = [score for _document, score in one.documents]
        assert scores == sorted(scores, reverse=True)
    assert answer.segments == 3
    assert answer.summary == (
        f"3 segments → {answer.hits} hits → {answer.documents} documents → 3 shown"
    )
    assert answer.hits <= 15


def test_more_topics_than_results_still_have_one_each(library):
    answer = ask(library, THREE, limit=1)
    assert len(answer.results) == 3
    shown = {number for one in answer.results for number in one.topics}
    assert shown == {0, 1, 2}
    varied = library.search_chunked(
        THREE, library.options(mmr_lambda=0.5), library.chunked_options(limit=1)
    )
    assert {number for one in varied.results for number in one.topics} == {0, 1, 2}
    by_score = ask(library, THREE, limit=1, merge=Merge.SCORE)
    assert {number for one in by_score.results for number in one.topics} == {0, 1, 2}


def test_four_lines_on_four_matters_are_four_topics(sample):
    lines = (
        "Ann: When does the ferry to Porto leave?",
        "Bob: The build fails with a TypeError in the parser.",
        "Cem: Can you send me the bread recipe?",
        "Dora: My invoice of March is still unpaid.",
    )
    topics = [one.topic.name for one in ask(sample, "\n".join(lines)).topics]
    assert topics == ["ferry, Porto leave", "build fails, TypeError, parser", "bread recipe",
                      "invoice, March, unpaid"]  # fmt: skip


def test_a_topic_that_nothing_fits_says_so_and_takes_no_place(sample):
    text = (
        "Ann: Also, the refund for order 2291 never arrived.\n"
        "Dora: Which dentist did you recommend for wisdom teeth?"
    )
    answer = ask(sample, text)
    assert [one.weak for one in answer.topics] == [False, True]
    assert not answer.nothing_close
    assert answer.topics[1].documents
    assert {number for one in answer.results for number in one.topics} == {0}
    nowhere = ask(sample, "Which dentist did you recommend for wisdom teeth?")
    assert nowhere.nothing_close
    assert nowhere.results


def test_scores_are_the_sums_of_their_parts(library):
    roles = f"user: Hello.\nagent: Yes?\nuser: {BUG}\nuser: {RECIPE}"
    for text in (THREE, roles):
        answer = ask(library, text, whole_weight=0.5)
        assert answer.results
        for one in answer.results:
            for chunk in one.result.matched_chunks:
                assert chunk.score == pytest.approx(sum(p.value for p in chunk.contributions))


def test_the_same_text_gives_the_same_answer(library):
    one, two = ask(library, THREE), ask(library, THREE)
    assert one.results == two.results
    assert one.topics == two.topics


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.sampled_from([TRAVEL, BUG, RECIPE, "refund", "検索", "", "?!"]), max_size=6),
    st.sampled_from([Mode.HYBRID, Mode.KEYWORD, Mode.VECTOR]),
    st.sampled_from([Granularity.CHUNK, Granularity.AUTO]),
    st.sampled_from([Contexts.MODEL, Contexts.STRUCTURAL]),
)
def test_asking_together_is_asking_one_by_one(library, texts, mode, granularity, contexts):
    options = library.options(mode=mode, granularity=granularity, contexts=contexts)
    batch = library.engine.find(texts, options, StageTimer())
    singles = [library.engine.find([text], options, StageTimer())[0] for text in texts]
    assert [grouping for _, grouping in batch] == [grouping for _, grouping in singles]
    assert [query.token_ids for query, _ in batch] == [query.token_ids for query, _ in singles]


def test_segments_are_embedded_and_searched_together(library):
    clock = StageTimer()
    library.engine.find([TRAVEL, BUG, RECIPE], library.options(), clock)
    assert [stage.name for stage in clock.stages] == [
        "question", "filters", "vector", "keyword", "fusion", "deduplication",
    ]  # fmt: skip


def test_a_collection_is_kept_apart(library):
    assert "secret.md" not in paths(ask(library, THREE, limit=50))
    options = library.options(collections=("apart",))
    answer = library.search_chunked(THREE, options)
    assert paths(answer) == ["secret.md"]
    with pytest.raises(NotFoundError):
        library.search_chunked(THREE, library.options(collections=("nowhere",)))


def test_twins_are_one_result_that_names_the_other(library):
    answer = ask(library, THREE, limit=20)
    breads = [one for one in answer.results if "bread" in one.result.document.path]
    assert len(breads) == 1
    assert len(breads[0].result.also_at) == 1


def test_what_two_topics_find_and_is_nearly_the_same_can_be_shown_once(tmp_path):
    alike = "The {} ferry to the island leaves at nine from the second pier, and dogs travel free. "
    with open_library(tmp_path / "library") as library:
        files = {"a.md": f"# A\n\n{alike.format('blue') * 6}",
                 "b.md": f"# B\n\n{alike.format('pale') * 6}",
                 "c.md": "# C\n\nBread, flour and a slow dough."}  # fmt: skip
        add(library, write_files(tmp_path / "files", files))
        text = "When does the blue ferry leave?\n\nIs the pale ferry free for dogs?"
        chunked = library.chunked_options(hits_per_segment=1, limit=1, method=CutMethod.ADAPTIVE)

        def found(**changes):
            return library.search_chunked(text, library.options(**changes), chunked)

        both = found()
        assert sorted((paths(both)[at], one.topics) for at, one in enumerate(both.results)) == [
            ("a.md", (0,)), ("b.md", (1,))]  # fmt: skip
        for changes in ({"near_duplicates": True}, {"semantic_threshold": 0.9}):
            (once,) = found(**changes).results
            assert once.topics == (0, 1)
            assert {once.result.document.path, *once.result.also_at} == {"a.md", "b.md"}


def test_several_hits_of_a_document_or_a_section_can_be_kept(library):
    text = chat(*[BUG] * 4, "the timeout error of a socket " * 12)
    one = ask(library, text, limit=20)
    assert len(paths(one)) == len(set(paths(one)))
    two = paths(ask(library, text, limit=20, per_document=2, hits_per_segment=20))
    assert max(two.count(path) for path in two) == 2
    sections = paths(ask(library, text, limit=20, dedup=Dedup.SECTION, hits_per_segment=20))
    every = paths(ask(library, text, limit=50, dedup=Dedup.NONE, hits_per_segment=50))
    assert sections.count("code/sockets.md") < every.count("code/sockets.md")
    assert sections.count("code/sockets.md") == 2


def test_weak_hits_are_left_out_by_their_score(library):
    chunked = library.chunked_options(limit=20, whole_weight=0.5)
    strong = library.search_chunked(THREE, library.options(min_score=0.4), chunked)
    every = library.search_chunked(THREE, library.options(), chunked)
    kept = [path for path, one in zip(paths(every), every.results, strict=True)
            if one.result.score >= 0.4]  # fmt: skip
    assert sorted(paths(strong)) == sorted(kept)
    assert 0 < len(kept) < len(every.results)
    assert library.search_chunked(THREE, library.options(min_score=1.0)).results == ()


def vector_cosine(chunk) -> float:
    return next((part.raw for part in chunk.contributions if part.index == "vector"), 0.0)


def test_hits_unlike_the_text_are_left_out_by_their_cosine(library):
    every = ask(library, BUG, limit=20, dedup=Dedup.NONE, hits_per_segment=50)
    cosines = [vector_cosine(one.result.matched_chunks[0]) for one in every.results]
    edge = sorted(cosines)[len(cosines) // 2]
    changed = {"limit": 20, "dedup": Dedup.NONE, "hits_per_segment": 50}
    alike = ask(library, BUG, **changed, min_similarity=edge)
    kept = [one for one, cosine in zip(every.results, cosines, strict=True) if cosine >= edge]
    assert [one.result.matched_chunks[0] for one in alike.results] == [
        one.result.matched_chunks[0] for one in kept
    ]
    assert 0 < len(kept) < len(every.results)
    options = library.options(min_similarity=edge)
    assert library.search_chunked(BUG, options, library.chunked_options(**changed)).results == (
        alike.results
    )
    assert ask(library, THREE, min_similarity=1.0).results == ()
    by_words = library.options(mode=Mode.KEYWORD, min_similarity=1.0)
    assert library.search_chunked(BUG, by_words).results
    assert library.search_chunked(BUG, by_words).notices == (
        "Minimum similarity has no effect here: keyword search compares no vectors.",
    )


def test_variety_reorders_the_merged_list(library):
    options = library.options(mmr_lambda=0.3)
    chunked = library.chunked_options(limit=4)
    varied = library.search_chunked(THREE, options, chunked)
    plain = library.search_chunked(THREE, library.options(), chunked)
    assert len(varied.results) == 4
    assert paths(varied) != paths(plain)
    kept = library.search_chunked(THREE, library.options(mmr_lambda=1.0), chunked)
    best = library.search_chunked(THREE, library.options(), replace(chunked, merge=Merge.SCORE))
    assert paths(kept)[0] == paths(best)[0]


def test_the_whole_text_can_ask_too(library):
    answer = ask(library, THREE, whole_weight=1.0, limit=10)
    assert [len(one.topics) for one in answer.results].count(0) < len(answer.results)
    assert all(number < 3 for one in answer.results for number in one.topics)


def test_segments_by_size_and_whole(library):
    whole = ask(library, THREE, method=CutMethod.WHOLE)
    assert (whole.segments, len(whole.topics)) == (1, 1)
    fixed = ask(library, THREE, method=CutMethod.FIXED, segment_tokens=60, overlap_tokens=5)
    assert fixed.segments > 3


def test_an_approximate_index_is_said_not_to_be_there(library):
    assert ask(library, THREE, mode=IndexMode.ANN).notices == (
        "There is no approximate index: collections are searched exactly.",
    )
    assert ask(library, THREE).notices == ()
    assert paths(ask(library, THREE, mode=IndexMode.ANN)) == paths(ask(library, THREE))


@pytest.mark.parametrize("text", ["", "  \n\t ", "\x00\u200b"])
def test_an_empty_text_says_so_or_finds_nothing(library, text):
    answer = ask(library, text)
    assert answer.results == ()
    if not text.strip():
        assert answer.notices == ("The text holds nothing to ask.",)
        assert answer.summary == "0 segments → 0 hits → 0 documents → 0 shown"


def test_two_megabytes_in_one_line_are_answered(library):
    answer = ask(library, "bread dough flour " * 120_000)
    assert "food/bread.md" in paths(answer) or "food/copy-of-bread.md" in paths(answer)
    assert answer.notices == ("The text is very long; only its beginning was asked.",)


def test_a_message_a_thousand_times_asks_as_once(library):
    many = ask(library, chat(*[RECIPE] * 1000))
    assert paths(many)[:1] == paths(ask(library, RECIPE))[:1]
    assert many.segments <= 60


def test_names_from_right_to_left_and_half_characters_do_no_harm(library):
    text = f"**אבגד** · 10:00\n{RECIPE}\n\n**\u202eمريم\u202c** · 10:01\n{BUG} \ud800"
    assert {"food", "code"} <= {path.partition("/")[0] for path in paths(ask(library, text))}


@pytest.mark.parametrize(
    "wrong",
    [{"limit": 0}, {"hits_per_segment": 0}, {"per_document": -1}, {"min_similarity": 2.0},
     {"whole_weight": -1.0}],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(wrong):
    with pytest.raises(QueryError):
        ChunkedOptions(**wrong)


def test_settings_become_options(tmp_path):
    given = ChunkedSettings(top_k=7, merge="score", dedup_strategy="section", segment_tokens=99)
    options = given.options(hits_per_segment=3, limit=None)
    assert (options.limit, options.merge, options.dedup) == (7, Merge.SCORE, Dedup.SECTION)
    assert (options.segment_tokens, options.hits_per_segment) == (99, 3)
    assert ChunkedSettings().options() == ChunkedOptions()
    file = tmp_path / "ragkit.toml"
    file.write_text("[chunked]\ntop_k = 9\nmode = 'exact'\nnprobe = 4\n")
    assert load_settings(file).chunked.top_k == 9
    named = load_settings(file).chunked.options(overfetch=2)
    assert (named.mode, named.nprobe, named.overfetch) == (IndexMode.EXACT, 4, 2)


@pytest.mark.parametrize(
    ("search", "long", "note"),
    [
        (IndexMode.AUTO, IndexMode.AUTO, r"exact: \d+ vectors"),
        (IndexMode.EXACT, IndexMode.AUTO, "exact: asked for"),
        (IndexMode.ANN, IndexMode.EXACT, "exact: asked for"),
        (IndexMode.EXACT, IndexMode.ANN, "exact: there is no approximate index"),
    ],
)
def test_how_vectors_are_searched_is_the_long_question_s_own(library, search, long, note):
    options = library.options(index=search)
    answer = library.search_chunked(THREE, options, library.chunked_options(mode=long))
    [said] = [one.note for one in answer.trace.stages if one.name == "vector"]
    assert re.fullmatch(note, said)


def test_the_function_works_on_a_library_with_its_defaults(library):
    assert paths(query_per_chunk(library, THREE)) == paths(library.search_chunked(THREE))


def test_questions_that_are_asked_as_one_are_counted(library):
    assert library.search("Who bakes the bread? When does the train leave?").questions == 2
    assert library.search("Who bakes the bread? How are you?").questions == 1
    assert library.search("bread").questions == 1


@pytest.mark.parametrize("dedup", [Dedup.NONE, Dedup.SECTION, Dedup.DOCUMENT])
def test_what_a_better_result_shows_already_takes_no_place(tmp_path, dedup):
    ledger = "quarterly ledger account invoice payment balance credit debit audit branch office "
    files = {
        "garden.md": "# Garden\n\nPrune the tomato in the shade after frost. Tomato frost prune "
        "shade. The pump bearing needs torque. Pump bearing torque newton.\n",
        "notes.md": "# Notes\n\n## One\n\nPrune the tomato in the shade after frost.\n\n## Two\n\n"
        f"The pump bearing needs torque of newton metres.\n\n## Three\n\n{ledger * 18}\n",
    } | {f"ledger{number}.md": f"# Ledger {number}\n\n{ledger * 14}\n" for number in range(6)}
    text = "How do I prune a tomato in the shade? What torque does the pump bearing need?"
    with open_library(tmp_path / "library") as library:
        add(library, write_files(tmp_path / "files", files))
        options = library.options(granularity=Granularity.AUTO)
        chunked = library.chunked_options(
            dedup=dedup, per_document=0, limit=10, hits_per_segment=50
        )
        answer = library.search_chunked(text, options, chunked)
        shown = [
            (one.result.document.path, chunk.level, chunk.index)
            for one in answer.results
            for chunk in one.result.matched_chunks
        ]
    assert {path for path, _, _ in shown} >= {"garden.md", "notes.md"}
    garden = next(one for one in answer.results if one.result.document.path == "garden.md")
    assert garden.topics == (0, 1)
