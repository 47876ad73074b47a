"""Experiments: a published question set goes through the real library."""

from __future__ import annotations

import pytest

from ragkit.errors import EvaluationError
from ragkit.evaluation.corpus import Excerpt, Question, QuestionSet, Row
from ragkit.evaluation.ephemeral_library import EphemeralLibrary
from ragkit.evaluation.experiments import ephemeral_experiment
from ragkit.evaluation.measuring import measure
from ragkit.evaluation.restriction import read_filter
from ragkit.evaluation.row_documents import RowsAs
from ragkit.evaluation.search_config import SearchConfig
from ragkit.indexing.progress import Reporter
from ragkit.options import SearchOptions
from ragkit.settings import load_settings

ROWS = (
    Row("tide", "/src/tide_gauge.rs", "fn read_level() reports how high the water stands"),
    Row("wind", "/src/tide_gauge.rs", "fn read_speed() reports the wind"),
    Row("cake", "", "A recipe for apple cake with cinnamon"),
    Row("copy", "", "A recipe  for apple CAKE with cinnamon"),
    Row("long", "Lighthouse", "The lamp turns slowly. " * 150 + "Its keeper is called Ebba."),
    Row("blank", "", "  "),
)


def question_set(**changed):
    values = {
        "name": "small",
        "rows": ROWS,
        "questions": (
            Question("q1", "What does read_level report?"),
            Question("q2", "apple cake"),
            Question("q3", "What is the keeper of the lighthouse called?"),
        ),
        "judgments": {"q1": {"tide": 1}, "q2": {"copy": 1}, "q3": {"long": 1}},
    }
    return QuestionSet(**{**values, **changed})


def evaluated(root, questions, options=None, **how):
    with ephemeral_experiment(questions, load_settings(), root, **how) as experiment:
        return measure(experiment, SearchConfig(options or SearchOptions()))


def test_rows_are_found_by_their_questions(tmp_path):
    found = evaluated(tmp_path / "library", question_set())
    assert (found.questions, found.documents) == (3, 4)
    assert found.chunks == 7
    values = {metric.name: metric.value for metric in found.metrics}
    assert values["recall@5"] == 1.0
    # Both copies of the cake are counted, though a search shows one of them.
    assert found.values["mrr"] == {"q1": 1.0, "q2": 0.5, "q3": 1.0}
    assert found.notices == ("1 rows of the corpus hold no text and are left out.",)
    stages = [stage.name for stage in found.stages]
    assert stages[0] == "total"
    assert {"vector", "keyword", "fusion"} <= set(stages)
    assert all(0 <= stage.p50 <= stage.p95 for stage in found.stages)


def test_whole_rows_are_one_chunk_each(tmp_path):
    found = evaluated(tmp_path / "library", question_set(), whole_rows=True)
    assert found.chunks == 5


def test_contents_that_are_the_same_pass(tmp_path):
    given = question_set(same={"cake": "cake", "copy": "cake"})
    found = evaluated(tmp_path / "library", given)
    assert found.values["pass@5"] == {"q1": 1.0, "q2": 1.0, "q3": 1.0}


def test_a_question_with_a_bad_filter_is_said_and_finds_nothing(tmp_path):
    questions = (Question("q1", "after:2025-13-45 read_level"), Question("q2", "apple cake"))
    found = evaluated(tmp_path / "library", question_set(questions=questions))
    assert found.values["hit@10"] == {"q1": 0.0, "q2": 1.0}
    assert "1 questions have an invalid filter and found nothing: q1." in found.notices
    alone = question_set(questions=questions[:1])
    with pytest.raises(EvaluationError, match="No question could be searched"):
        evaluated(tmp_path / "other", alone)


def test_questions_are_asked_under_their_filters_of_files(tmp_path):
    text = "The revenue of the group grew in this year."
    rows = tuple(
        Row(f"{year}{part}", "", f"{text} {part} {year}", f"/reports/{year}.pdf")
        for year in (2020, 2021)
        for part in ("North", "South")
    )
    questions = tuple(
        Question(f"q{number}", "revenue of the group", written, read_filter(written))
        for number, written in enumerate(("path:reports/2021", "type:docx", ""), start=1)
    )
    judgments = {one.id: {"2021North": 1, "2021South": 1} for one in questions}
    given = QuestionSet("filed", rows, questions, judgments)
    found = evaluated(tmp_path / "library", given)
    assert found.documents == 2
    assert found.values["recall@5"] == {"q1": 1.0, "q2": 0.0, "q3": 1.0}
    assert found.values["precision@5"]["q1"] == 0.4
    assert found.values["ndcg@10"]["q1"] == 1.0
    assert found.filters == {"q1": "path:reports/2021", "q2": "type:docx"}


def test_rows_apart_have_a_path_each(tmp_path):
    rows = [Row(str(at), "", f"The lamp number {at}", "../a\\lamp.txt") for at in range(3)]
    library = EphemeralLibrary(tmp_path, load_settings())
    library.add_rows(rows, Reporter(), rows_as=RowsAs.APART)
    paths = [one.path for one in library.catalog.documents.list()]
    library.close()
    assert sorted(paths) == ["a/lamp 2.txt", "a/lamp 3.txt", "a/lamp.txt"]


def test_what_is_judged_is_what_a_search_with_the_same_candidates_finds(tmp_path):
    rows = tuple(
        Row(str(at), "", f"The lamp of keeper {at} burns{' oil' * (at % 7)}.") for at in range(60)
    )
    given = question_set(rows=rows, questions=(Question("q1", "lamp oil"),), judgments={})
    with ephemeral_experiment(given, load_settings(), tmp_path) as experiment:
        options = SearchOptions(
            collections=(experiment.collection,), candidates=5, limit=3, per_document=0
        )
        ranking = experiment.scorer.observe(given.questions[0], SearchConfig(options))
        answer = experiment.engine.search("lamp oil", options)
        shown = experiment.scorer.places.ranking(
            (one.document.id, one.matched_chunks[0].index) for one in answer.results
        )
    assert len(shown) == 3
    assert ranking[:3] == shown
    assert len(ranking) == 5


def test_passages_are_held_against_excerpts(tmp_path):
    folder = tmp_path / "set"
    (folder / "docs").mkdir(parents=True)
    text = "The harbour opens at six.\n\n" + "Nothing to see here, move along. " * 400
    (folder / "docs" / "port.txt").write_text(f"\ufeff{text}", "utf-8")
    sentence = "The harbour opens at six."
    given = QuestionSet(
        "spans",
        questions=(Question("q1", "When does the harbour open?"),),
        excerpts={"q1": (Excerpt("port", 1, 26, sentence), Excerpt("gone", 0, 25, "x" * 25))},
        folder=folder,
    )
    options = SearchOptions(per_document=0, limit=1, chunk_aware=False)
    found = evaluated(tmp_path / "library", given, options)
    values = {metric.name: metric.value for metric in found.metrics}
    assert values["token_recall"] == 0.5
    assert 0 < values["token_precision"] < 0.1
    assert values["token_iou"] < values["token_precision"]
    assert found.notices == ("1 excerpt does not occur in the text as it was read.",)
