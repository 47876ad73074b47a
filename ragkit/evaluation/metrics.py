"""What a ranking is worth, by ir-measures, with bootstrap confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

Rankings: TypeAlias = Mapping[str, Sequence[str]]
"""For each question's id, ids of what was found, best first."""

Judgments: TypeAlias = Mapping[str, Mapping[str, int]]
"""For each question's id, how relevant which ids are."""

Values: TypeAlias = dict[str, dict[str, float]]
"""For each metric, a number from 0 to 1 for each question's id."""

MEASURES: Mapping[str, str] = {
    "ndcg@10": "nDCG@10",
    "mrr": "RR",
    "precision@5": "P@5",
    "precision@10": "P@10",
    "recall@5": "R@5",
    "recall@10": "R@10",
    "recall@20": "R@20",
    "recall@100": "R@100",
    "hit@1": "Success@1",
    "hit@10": "Success@10",
}
"""The metrics by the names that people write, and as ir-measures calls them."""

HEADLINES = ("ndcg@10", "mrr", "recall@10", "hit@1")
"""The metrics that a small table shows."""

PASS_AT = (5, 10, 20)

_RESAMPLES = 1000
_SEED = 20_240_601
_CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Metric:
    """A mean over questions, and within what it lies with 95 % confidence."""

    name: str
    value: float
    low: float
    high: float


def score(rankings: Rankings, judgments: Judgments) -> Values:
    """Give every metric for every question that was judged; what was not found counts as 0."""
    import ir_measures

    measures = {name: ir_measures.parse_measure(own) for name, own in MEASURES.items()}
    judged = {
        question: {row: int(relevance) for row, relevance in rows.items()}
        for question, rows in judgments.items()
        if question in rankings
    }
    # Ranks as scores: the order given is the order judged, with no ties to break.
    run = {
        question: {row: float(len(found) - rank) for rank, row in enumerate(found)}
        for question, found in rankings.items()
        if found
    }
    values: Values = {name: dict.fromkeys(judged, 0.0) for name in MEASURES}
    names = {str(measure): name for name, measure in measures.items()}
    for one in ir_measures.iter_calc(list(measures.values()), judged, run):
        values[names[str(one.measure)]][one.query_id] = float(one.value)
    return values


def pass_at(
    rankings: Rankings, judgments: Judgments, same: Mapping[str, str], depths: Sequence[int]
) -> Values:
    """Give for each question which share of its right rows has its content among the first.

    Rows of the same content take one place together, as a search shows them once.
    """
    values: Values = {f"pass@{depth}": {} for depth in depths}
    for question, found in rankings.items():
        right = [same.get(row, row) for row, grade in judgments[question].items() if grade > 0]
        distinct = list(dict.fromkeys(same.get(row, row) for row in found))
        for depth in depths:
            first = set(distinct[:depth])
            values[f"pass@{depth}"][question] = sum(row in first for row in right) / len(right)
    return values


def summarise(values: Values) -> list[Metric]:
    """Average each metric over the questions; the same values give the same intervals."""
    return [_metric(name, list(found.values())) for name, found in values.items() if found]


def _metric(name: str, found: Sequence[float]) -> Metric:
    column = np.array(found)
    random = np.random.default_rng(_SEED)
    drawn = random.integers(0, len(column), (_RESAMPLES, len(column)))
    tail = (1 - _CONFIDENCE) / 2
    low, high = np.quantile(column[drawn].mean(axis=1), [tail, 1 - tail])
    return Metric(name, float(column.mean()), float(low), float(high))
