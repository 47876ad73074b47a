"""Metrics of rankings by ir-measures, with bootstrap confidence intervals and paired tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Rankings: TypeAlias = Mapping[str, Sequence[str]]
"""For each question's id, the ids of the results, best first."""

Judgments: TypeAlias = Mapping[str, Mapping[str, int]]
"""For each question's id, the relevance of result ids."""

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
"""The metrics by name, with their names in ir-measures."""

JUDGED = "judged@10"
"""The share of the first ten results that were judged; others count as not relevant."""

HEADLINES = ("ndcg@10", "mrr", "recall@10", "hit@1")
"""The metrics that a small table shows."""

MAIN_METRICS = ("pass@10", "ndcg@10", "token_recall")
"""The metrics by which runs are compared by default: the first one that is available."""

PASS_AT = (5, 10, 20)

SAME = 1e-9
"""Values that differ by at most this are equal."""

_JUDGED_DEPTH = 10
_RESAMPLES = 1000
_BOOTSTRAP_SEED = 20_240_601
_CONFIDENCE = 0.95
_PERMUTATIONS = 20_000
_PERMUTATION_SEED = 20_240_602


@dataclass(frozen=True, slots=True)
class Metric:
    """A mean over questions with its 95 % confidence interval."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class TypeFigures:
    """The metrics of the questions of one type; ``kind`` is empty for questions without one."""

    kind: str
    questions: int
    metrics: tuple[Metric, ...]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A mean of differences with its 95 % interval; ``p`` as by :func:`paired_p`."""

    value: float
    low: float
    high: float
    p: float


def main_metric(names: Sequence[str]) -> str:
    """Return the most informative of some metrics, or ``""``."""
    return next((name for name in MAIN_METRICS if name in names), names[0] if names else "")


def score(rankings: Rankings, judgments: Judgments) -> Values:
    """Compute every metric for every judged question; 0 if nothing was found."""
    import ir_measures

    measures = {}
    for name, theirs in MEASURES.items():
        # The parser of ir-measures fails on Python 3.14.
        kind, _, cutoff = theirs.partition("@")
        measure = getattr(ir_measures, kind)
        measures[name] = measure @ int(cutoff) if cutoff else measure
    judged = {
        question: {row: int(relevance) for row, relevance in rows.items()}
        for question, rows in judgments.items()
        if question in rankings
    }
    # Ranks serve as scores, so that there are no ties.
    run = {
        question: {row: float(len(ranking) - rank) for rank, row in enumerate(ranking)}
        for question, ranking in rankings.items()
        if ranking
    }
    values: Values = {name: dict.fromkeys(judged, 0.0) for name in MEASURES}
    names = {str(measure): name for name, measure in measures.items()}
    for metric in ir_measures.iter_calc(list(measures.values()), judged, run):
        values[names[str(metric.measure)]][metric.query_id] = float(metric.value)
    return values


def judged_share(rankings: Rankings, judgments: Judgments) -> Values:
    """Compute the judged share of each question's first 10 results; 1 without results."""
    shares: dict[str, float] = {}
    for question, ranking in rankings.items():
        first = ranking[:_JUDGED_DEPTH]
        judged = sum(row in judgments[question] for row in first)
        shares[question] = judged / len(first) if first else 1.0
    return {JUDGED: shares}


def pass_at(
    rankings: Rankings, judgments: Judgments, same: Mapping[str, str], depths: Sequence[int]
) -> Values:
    """Compute for each question the share of its right rows among the first ``depths`` results.

    Rows with the same content count as one result, because a search shows them once.
    """
    values: Values = {f"pass@{depth}": {} for depth in depths}
    for question, ranking in rankings.items():
        right = [same.get(row, row) for row, grade in judgments[question].items() if grade > 0]
        distinct = list(dict.fromkeys(same.get(row, row) for row in ranking))
        for depth in depths:
            first = set(distinct[:depth])
            values[f"pass@{depth}"][question] = sum(row in first for row in right) / len(right)
    return values


def summarise(values: Values) -> list[Metric]:
    """Average each metric over the questions, with deterministic confidence intervals."""
    return [
        _metric(name, list(of_question.values()))
        for name, of_question in values.items()
        if of_question
    ]


def _metric(name: str, values: Sequence[float]) -> Metric:
    """Return the mean with its percentile bootstrap interval."""
    from scipy.stats import bootstrap

    mean = low = high = float(np.mean(values))
    # A single value cannot be resampled.
    if len(values) > 1:
        low, high = bootstrap(
            (values,), np.mean, confidence_level=_CONFIDENCE, method="percentile",
            n_resamples=_RESAMPLES, rng=np.random.default_rng(_BOOTSTRAP_SEED),
        ).confidence_interval  # fmt: skip
    return Metric(name, mean, float(low), float(high))


def paired_p(differences: Sequence[float]) -> float:
    """Return the p-value of a mean of paired differences by a two-sided permutation test.

    If both settings were equal, each difference could as well have the other sign. The test is of
    the mean, as shown in tables, and makes no assumption about the distribution; a signed-rank test
    would drop unchanged questions, which are most. It is exact for up to 14 changes, and uses the
    same 20,000 draws otherwise.
    """
    from scipy.stats import permutation_test

    changes = [difference for difference in differences if abs(difference) > SAME]
    if len(changes) < 2:
        return 1.0

    def total(values: np.ndarray, axis: int) -> Any:
        # Rounded, so that sums that differ only in their last bits are ties.
        return np.round(np.sum(values, axis=axis), 9)

    test = permutation_test(
        (changes,), total, permutation_type="samples", n_resamples=_PERMUTATIONS,
        rng=np.random.default_rng(_PERMUTATION_SEED),
    )  # fmt: skip
    return float(test.pvalue)


def paired_difference(
    before: Mapping[str, float], after: Mapping[str, float]
) -> PairedDifference | None:
    """Compare the values of questions in both; return ``None`` if there are none."""
    differences = [after[key] - value for key, value in before.items() if key in after]
    if not differences:
        return None
    mean = _metric("", differences)
    return PairedDifference(mean.value, mean.low, mean.high, paired_p(differences))


def figures_by_type(values: Values, kinds: Mapping[str, str]) -> tuple[TypeFigures, ...]:
    """Average each metric over the questions of each type, sorted by type, unnamed last.

    ``kinds`` maps a question's id to its type. Returns ``()`` if there is only one type.
    """
    asked = {key: kinds.get(key, "") for of_question in values.values() for key in of_question}
    counts = Counter(asked.values())
    if len(counts) < 2:
        return ()
    return tuple(
        TypeFigures(
            kind,
            counts[kind],
            tuple(
                summarise(
                    {
                        name: {key: value for key, value in of.items() if asked[key] == kind}
                        for name, of in values.items()
                    }
                )
            ),
        )
        for kind in sorted(counts, key=unnamed_last)
    )


def unnamed_last(kind: str) -> tuple[bool, str]:
    """Return a key to sort question types by."""
    return not kind, kind
