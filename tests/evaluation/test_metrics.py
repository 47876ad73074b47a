"""Metrics: a ranking scored by hand, content equality, intervals, paired tests, types."""

from __future__ import annotations

from itertools import product
from math import log2

import numpy as np
import pytest

from ragkit.evaluation.metrics import (
    MEASURES,
    figures_by_type,
    main_metric,
    paired_p,
    pass_at,
    score,
    summarise,
)

JUDGMENTS = {"q1": {"a": 1, "b": 2, "z": 0}, "q2": {"c": 1}, "q3": {"d": 1}, "q4": {"e": 1}}
RANKINGS = {
    "q1": ["z", "b", "x", "a"],
    "q2": [f"n{i}" for i in range(6)] + ["c"],
    "q3": [],
}


def test_a_ranking_worked_out_by_hand():
    values = score(RANKINGS, JUDGMENTS)
    assert set(values) == set(MEASURES)
    ideal = 2 / log2(2) + 1 / log2(3)
    expected = {
        "ndcg@10": [(2 / log2(3) + 1 / log2(5)) / ideal, 1 / log2(8), 0.0],
        "mrr": [1 / 2, 1 / 7, 0.0],
        "precision@5": [2 / 5, 0.0, 0.0],
        "precision@10": [2 / 10, 1 / 10, 0.0],
        "recall@5": [1.0, 0.0, 0.0],
        "recall@10": [1.0, 1.0, 0.0],
        "recall@20": [1.0, 1.0, 0.0],
        "recall@100": [1.0, 1.0, 0.0],
        "hit@1": [0.0, 0.0, 0.0],
        "hit@10": [1.0, 1.0, 0.0],
    }
    for name, numbers in expected.items():
        found = [values[name][question] for question in ("q1", "q2", "q3")]
        assert found == pytest.approx(numbers, abs=1e-6), name
        assert "q4" not in values[name]


def test_a_right_row_passes_when_any_row_of_its_content_is_found():
    same = {"a": "a", "a2": "a"}
    rankings = {"q1": ["x", "a2", "y", "z", "v", "b"]}
    values = pass_at(rankings, {"q1": {"a": 1, "b": 1, "c": 0}}, same, (1, 5, 10))
    assert values == {"pass@1": {"q1": 0.0}, "pass@5": {"q1": 0.5}, "pass@10": {"q1": 1.0}}


def test_rows_of_one_content_take_one_place():
    same = {"a": "a", "a2": "a", "a3": "a"}
    rankings = {"q1": ["a2", "a", "a3", "x", "b"]}
    values = pass_at(rankings, {"q1": {"b": 1}}, same, (2, 3))
    assert values == {"pass@2": {"q1": 0.0}, "pass@3": {"q1": 1.0}}


def test_intervals_hold_the_mean_and_are_the_same_each_time():
    values = {"recall@5": {str(i): float(i % 4 == 0) for i in range(400)}, "mrr": {}}
    (metric,) = summarise(values)
    assert metric.name == "recall@5"
    assert metric.value == 0.25
    # The normal approximation of the interval is 0.25 ± 1.96 · sqrt(0.25 · 0.75 / 400).
    assert metric.low == pytest.approx(0.25 - 0.0424, abs=0.01)
    assert metric.high == pytest.approx(0.25 + 0.0424, abs=0.01)
    assert summarise(values) == [metric]


def test_one_question_has_an_interval_of_no_width():
    (metric,) = summarise({"mrr": {"q": 0.5}})
    assert (metric.value, metric.low, metric.high) == (0.5, 0.5, 0.5)


def exact_p(values):
    """The same test, by trying every combination of signs one by one."""
    seen = abs(sum(values)) - 1e-9
    signs = list(product((1, -1), repeat=len(values)))
    large = [s for s in signs if abs(sum(a * b for a, b in zip(s, values, strict=True))) >= seen]
    return len(large) / len(signs)


@pytest.mark.parametrize(
    "values", [[0.2] * 5, [0.5, -0.1, 0.3], [0.1, -0.1], [0.3, 0.0, 0.0, 0.4, 0.1, -0.2]]
)
def test_few_changes_are_tested_exactly(values):
    assert paired_p(values) == pytest.approx(exact_p(values))


def test_many_changes_are_drawn_and_always_the_same():
    random = np.random.default_rng(7)
    clear = (0.1 + 0.1 * random.standard_normal(40)).tolist()
    noise = (0.1 * random.standard_normal(40)).tolist()
    assert paired_p(clear) == paired_p(clear) < 0.001
    assert paired_p(noise) > 0.05
    assert paired_p([0.0] * 30) == paired_p([]) == 1.0


def test_the_draws_agree_with_the_exact_test():
    values = [0.4, 0.1, -0.2, 0.3, 0.2, -0.1, 0.25, 0.15, -0.3, 0.05, -0.25, 0.35, -0.15, 0.1, -0.4]
    assert paired_p(values) == pytest.approx(exact_p(values), abs=0.01)


def test_the_metric_that_tells_most():
    assert main_metric(["mrr", "ndcg@10", "pass@10"]) == "pass@10"
    assert main_metric(["token_iou", "token_recall"]) == "token_recall"
    assert (main_metric(["mrr"]), main_metric([])) == ("mrr", "")


def test_each_kind_has_the_mean_of_its_questions():
    values = {"mrr": {"a": 1.0, "b": 0.5, "c": 0.0}, "hit@1": {"a": 1.0, "b": 0.0, "c": 0.0}}
    exact, unnamed = figures_by_type(values, {"a": "exact", "b": "exact", "elsewhere": "number"})
    assert (exact.kind, exact.questions) == ("exact", 2)
    assert [(one.name, one.value) for one in exact.metrics] == [("mrr", 0.75), ("hit@1", 0.5)]
    assert (exact.metrics[0].low, exact.metrics[0].high) == (0.5, 1.0)
    assert (unnamed.kind, unnamed.questions) == ("", 1)
    assert [one.value for one in unnamed.metrics] == [0.0, 0.0]


@pytest.mark.parametrize("kinds", [{}, {"a": "number", "b": "number"}])
def test_one_kind_alone_tells_nothing_more(kinds):
    assert figures_by_type({"mrr": {"a": 1.0, "b": 0.5}}, kinds) == ()
    assert figures_by_type({}, kinds) == ()
