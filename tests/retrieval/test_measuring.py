"""The metrics of a search: scores, and what the candidates were found by and as."""

from __future__ import annotations

import logging
from collections import Counter

import numpy as np
import pytest
from small_library import HANDBOOK, add, find, open_library, write_files

from ragkit.indexes.protocol import Candidates, IndexKind
from ragkit.options import ChunkedOptions, SearchOptions
from ragkit.retrieval.hits import Part, Ranking
from ragkit.retrieval.measuring import measured, spread
from ragkit.types import LEVEL_CODES, Level


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    place = tmp_path_factory.mktemp("measured")
    opened = open_library(place / "library")
    add(opened, write_files(place / "files", HANDBOOK))
    yield opened
    opened.close()


@pytest.mark.parametrize("count", [1, 2, 3, 10, 151])
def test_a_spread_has_the_quartiles(count):
    scores = np.random.default_rng(count).random(count)
    found = spread(scores)
    assert found.count == count
    numbers = [found.low, found.lower, found.median, found.upper, found.high]
    assert numbers == pytest.approx(np.quantile(scores, [0, 0.25, 0.5, 0.75, 1]).tolist())
    assert spread(np.zeros(0)) is None


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
@pytest.mark.parametrize("granularity", ["chunk", "auto"])
def test_all_candidates_are_counted_by_what_found_them(library, mode, granularity):
    wanted = {"mode": mode, "granularity": granularity}
    # All that is found has a result of its own, and nothing takes the place of anything.
    every = find(library, "refund thirty days", per_document=0, limit=200, **wanted)
    metrics = find(library, "refund thirty days", **wanted).trace.metrics
    count = metrics.candidates.count
    assert sum(metrics.sources.values()) == sum(metrics.levels.values()) == count > 0
    if mode != "hybrid":
        assert metrics.sources == {mode: count}
    elif granularity == "chunk":
        ranks = [
            {part.index for part in one.contributions if part.rank}
            for result in every.results
            for one in result.matched_chunks
        ]
        named = Counter("both" if len(by) == 2 else min(by) for by in ranks)
        # Those that add nothing, and duplicates, are candidates as well.
        assert named <= Counter(metrics.sources)
        assert named["both"] > 0
    assert {*metrics.levels} == (
        {"chunk"} if granularity == "chunk" else {"chunk", "section", "document"}
    )


def test_scores_are_those_of_the_candidates_and_of_the_results(library):
    answer = find(library, "refund thirty days", limit=2)
    shown = [result.score for result in answer.results]
    metrics = answer.trace.metrics
    assert (metrics.shown.count, metrics.shown.low, metrics.shown.high) == (
        2, min(shown), max(shown),
    )  # fmt: skip
    assert metrics.candidates.high == max(shown)
    assert metrics.candidates.count > 2
    assert find(library, "type:md").trace.metrics is None
    nothing = find(library, "zzyzx", mode="keyword").trace.metrics
    assert (nothing.candidates, nothing.shown, nothing.sources, nothing.levels) == (
        None, None, {}, {},
    )  # fmt: skip


def test_a_candidate_counts_as_what_its_vector_was_and_named_documents_bring_some():
    codes = {level: LEVEL_CODES[level] for level in Level}
    chunk = codes[Level.CHUNK]
    rows = np.arange(5)
    ranks = {"vector": [1, 2, 3, 0, 0], "keyword": [0, 1, 0, 2, 0]}
    parts = tuple(
        Part(kind, np.ones(1), np.array(of_kind), np.zeros(5), np.zeros(5))
        for kind, of_kind in ranks.items()
    )
    ranking = Ranking(
        1, np.zeros(5, np.int64), rows * 10, rows, rows, np.full(5, chunk), parts
    )  # fmt: skip
    ids = np.array([0, 10, 20])
    levels = np.array([chunk, codes[Level.CONTEXT], codes[Level.QUESTION]])
    by_vector = Candidates(np.zeros(3, np.int64), ids, ids, ids, ids, levels, np.ones(3))
    metrics = measured([(ranking, {IndexKind.VECTOR: by_vector})], ())
    assert metrics.sources == {"vector": 2, "both": 1, "keyword": 1, "named": 1}
    assert metrics.levels == {"chunk": 3, "context": 1, "question": 1}


def test_each_search_is_one_line_of_the_log_without_its_question(library, caplog):
    question = "how long may a refund zanzibar take"
    with caplog.at_level(logging.INFO, "ragkit"):
        answer = library.search(question)
        library.search(question)
    (line,) = caplog.messages
    metrics = answer.trace.metrics
    assert line.startswith(f"search: {len(answer.results)} of {answer.total_documents} documents, ")
    assert f"candidates {metrics.candidates.count}, score " in line
    assert f"found by {', '.join(f'{name} {n}' for name, n in metrics.sources.items())}" in line
    assert "zanzibar" not in line
    assert "refund" not in line


def test_a_long_text_is_one_line_too(library, caplog):
    text = "The refund takes thirty days.\n\nAn OAuth token ends after an hour.\n\n" * 3
    with caplog.at_level(logging.INFO, "ragkit"):
        answer = library.search_chunked(text, SearchOptions(), ChunkedOptions())
    (line,) = caplog.messages
    counted = (answer.segments, answer.hits, answer.documents, len(answer.results))
    words = [word.rstrip("s,") for word in line.split()]
    for count, word in zip(counted, ("segment", "hit", "document", "shown"), strict=True):
        assert str(count) == words[words.index(word) - 1]
    assert answer.trace.metrics.shown.count == len(answer.results)
    assert answer.trace.metrics.candidates.count >= answer.hits
    assert "OAuth" not in line
