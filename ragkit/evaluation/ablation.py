"""Ablation: what each field, each kind of vector and each kind of context contributes.

Variants are searches that differ in one thing. A variant that cannot be evaluated says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ragkit.errors import ModelError, RagkitError
from ragkit.evaluation.experiments import Evaluation, Experiment, measure
from ragkit.evaluation.metrics import main_metric
from ragkit.evaluation.search_config import SearchConfig
from ragkit.indexing.progress import JobCancelled, Reporter
from ragkit.options import Contexts, Fusion, Mode, QuestionMerge, Rerank, SearchOptions
from ragkit.retrieval.candidates import FIELD_WEIGHTS, WRITTEN
from ragkit.types import Field, Level

KEYWORDS, VECTORS, GRID = "Keywords", "Vectors", "Contexts"
"""The tables."""

_SHOWN = (("pass@5", "pass@10", "pass@20"), ("ndcg@10", "mrr", "recall@10"),
          ("token_recall", "token_precision", "token_iou"))  # fmt: skip
_MODEL, _TEXT, _RERANKER = "model contexts", "texts alone", "a reranker"

_Row: TypeAlias = tuple[str, str, dict[str, Any], tuple[str, ...]]
"""A name, a label, changed options, and what is needed."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A search that differs in one thing: what it changes, and what it needs for that."""

    table: str
    name: str
    label: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The head of its row in a table."""
        return self.label if self.table == GRID else f"{self.name}  {self.label}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The evaluation of a variant, or else why there is none."""

    variant: Variant
    evaluation: Evaluation | None = None
    reason: str = ""

    @property
    def means(self) -> dict[str, float]:
        """The mean of each metric."""
        metrics = self.evaluation.metrics if self.evaluation else ()
        return {metric.name: metric.value for metric in metrics}


@dataclass(frozen=True, slots=True)
class Ablation:
    """The outcomes of all variants over a question set. ``partial``: later ones are missing."""

    name: str
    outcomes: tuple[Outcome, ...]
    partial: bool = False
    notices: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """The metrics that tables show."""
        names = {name for outcome in self.outcomes for name in outcome.means}
        return next((shown for shown in _SHOWN if shown[0] in names), tuple(sorted(names)[:3]))

    @property
    def metric(self) -> str:
        """The most informative metric."""
        return main_metric(self.shown) if self.shown else ""

    def tables(self) -> dict[str, list[Outcome]]:
        """Group the outcomes by table, in order."""
        tables: dict[str, list[Outcome]] = {}
        for outcome in self.outcomes:
            tables.setdefault(outcome.variant.table, []).append(outcome)
        return tables


_SAME_WEIGHT = (
    (Field.TEXT, 1.0),
    (Field.TITLE, -1.0),  # A title's words stand in the text twice.
    *((name, 1.0) for name in WRITTEN),
)


def _fields(*names: Field) -> tuple[tuple[Field, float], ...]:
    return tuple((name, FIELD_WEIGHTS[name]) for name in (Field.TEXT, Field.TITLE, *names))


def keyword_variants() -> list[Variant]:
    """Return keyword searches: the text alone, with each other field, and with all."""
    every = (Field.CONTEXT, Field.QUESTIONS, Field.KEYWORDS)
    base = {"mode": Mode.KEYWORD, "contexts": Contexts.MODEL}
    rows: list[_Row] = [
        ("F0", "text", {"field_weights": ((Field.TEXT, 1.0),)}, ()),
        ("F1", "text + context", {"field_weights": _fields(Field.CONTEXT)}, (_MODEL,)),
        ("F2", "text + questions", {"field_weights": _fields(Field.QUESTIONS)}, (_MODEL,)),
        ("F3", "text + keywords", {"field_weights": _fields(Field.KEYWORDS)}, (_MODEL,)),
        ("F3b", "all, the same weight", {"field_weights": _SAME_WEIGHT}, (_MODEL,)),
        ("F4", "all, weighted", {"field_weights": _fields(*every)}, (_MODEL,)),
        ("F5", "all, weighted, reranked",
         {"field_weights": _fields(*every), "rerank": Rerank.MODEL}, (_MODEL, _RERANKER)),
    ]  # fmt: skip
    return [
        Variant(KEYWORDS, name, label, {**base, **changes}, needs)
        for name, label, changes, needs in rows
    ]


def vector_variants() -> list[Variant]:
    """Return vector searches: of chunks, with their contexts or questions, and with all."""
    base = {"mode": Mode.VECTOR, "contexts": Contexts.MODEL}
    both = (Level.CONTEXT, Level.QUESTION)
    rows: list[_Row] = [
        ("V0", "text", {"vector_levels": ()}, ()),
        ("V1", "text + context", {"vector_levels": (Level.CONTEXT,)}, (_MODEL,)),
        ("V1b", "context for its chunk", {"question_merge": QuestionMerge.CONTEXT}, (_MODEL,)),
        ("V2", "text + questions", {"vector_levels": (Level.QUESTION,)}, (_MODEL,)),
        ("V3", "all, best rank", {"vector_levels": both, "question_merge": QuestionMerge.BEST},
         (_MODEL,)),
        ("V4", "all, sum of inverse ranks",
         {"vector_levels": both, "question_merge": QuestionMerge.SUM}, (_MODEL,)),
        ("V5", "all, best rank, reranked", {"vector_levels": both, "rerank": Rerank.MODEL},
         (_MODEL, _RERANKER)),
    ]  # fmt: skip
    return [
        Variant(VECTORS, name, label, {**base, **changes}, needs)
        for name, label, changes, needs in rows
    ]


def grid_variants(*, rrf: bool = True) -> list[Variant]:
    """Return each mode with no context, with structural context, and with model contexts."""
    contexts: tuple[_Row, ...] = (
        ("none", "no", {"contexts": Contexts.STRUCTURAL}, (_TEXT,)),
        ("structural", "structural", {"contexts": Contexts.STRUCTURAL}, ()),
        ("model", "model", {"contexts": Contexts.MODEL}, (_MODEL,)),
    )
    modes: list[tuple[str, dict[str, Any]]] = [
        ("vector", {"mode": Mode.VECTOR}),
        ("keyword", {"mode": Mode.KEYWORD}),
        ("weighted", {"mode": Mode.HYBRID, "fusion": Fusion.WEIGHTED}),
    ]
    modes += [("rrf", {"mode": Mode.HYBRID, "fusion": Fusion.RRF})] if rrf else []
    return [
        Variant(
            GRID,
            f"{context} × {search}",
            f"{label} context, {search}",
            {**stored, **mode},
            needs,
        )
        for context, label, stored, needs in contexts
        for search, mode in modes
    ]


def ablate(
    variants: Sequence[Variant],
    experiment: Experiment,
    plain: Experiment | None = None,
    base: SearchOptions | None = None,
    reporter: Reporter | None = None,
    *,
    timed: bool = False,
) -> Ablation:
    """Evaluate variants; ``plain`` is the same set with only its texts indexed.

    ``base`` holds the options that variants do not change. When it is cancelled, the outcomes so
    far are the result.

    Raises:
        JobCancelled: it was cancelled before the first answer.
    """
    outcomes: list[Outcome] = []
    partial = False
    for variant in variants:
        chosen = plain if _TEXT in variant.needs else experiment
        reason = _missing(variant, experiment, plain)
        if reason or chosen is None:
            outcomes.append(Outcome(variant, None, reason))
            continue
        config = SearchConfig(replace(base or SearchOptions(), **variant.changes))
        try:
            evaluation = measure(
                chosen, config, reporter, timed=timed, phase=f"Asking: {variant.name}"
            )
        except (JobCancelled, KeyboardInterrupt):
            if not any(outcome.evaluation for outcome in outcomes):
                raise
            partial = True
            break
        except RagkitError as error:
            no_model = isinstance(error, ModelError) and _RERANKER in variant.needs
            prefix = "no model reranks: " if no_model else ""
            outcomes.append(Outcome(variant, None, f"{prefix}{error}"))
            continue
        # Figures of some of the questions cannot stand beside those of all.
        if evaluation.partial:
            partial = True
            if not any(outcome.evaluation for outcome in outcomes):
                outcomes.append(Outcome(variant, evaluation))
            break
        outcomes.append(Outcome(variant, evaluation))
    notices = _notices(outcomes, experiment, partial, len(variants))
    return Ablation(experiment.name, tuple(outcomes), partial, notices)


def _missing(variant: Variant, experiment: Experiment, plain: Experiment | None) -> str:
    """Return why a variant cannot be evaluated; empty when it can."""
    written = experiment.contexts.complete + experiment.contexts.truncated
    if _MODEL in variant.needs and not written:
        return "no model contexts are there: ragkit contextualize writes them, --contexts replays"
    if _TEXT in variant.needs and plain is None:
        return "texts without titles and headings can be indexed only from --corpus"
    return ""


def _notices(
    outcomes: Sequence[Outcome], experiment: Experiment, partial: bool, planned: int
) -> tuple[str, ...]:
    evaluations = [outcome.evaluation for outcome in outcomes if outcome.evaluation]
    notices = list(dict.fromkeys(notice for found in evaluations for notice in found.notices))
    counts = experiment.contexts
    written = counts.complete + counts.truncated
    if 0 < written < counts.chunks:
        notices.append(f"{written} of {counts.chunks} chunks have a model context.")
    if partial:
        notices.append(f"Stopped: {len(outcomes)} of {planned} cells were looked at.")
    return tuple(notices)
