"""Ablation: what each field, each kind of vector and each kind of context is worth.

Cells are searches that differ in one thing. A cell that cannot be run says why.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ragkit.errors import ModelError, RagkitError
from ragkit.evaluation.experiments import Experiment
from ragkit.evaluation.run import Evaluation, measure
from ragkit.evaluation.runs import main_metric
from ragkit.evaluation.search_config import ColumnSettings
from ragkit.indexing.progress import JobCancelled, Reporter
from ragkit.options import Contexts, Fusion, Mode, QuestionMerge, Rerank, SearchOptions
from ragkit.retrieval.candidates import FIELD_WEIGHTS, WRITTEN
from ragkit.types import Field, Level

KEYWORDS, VECTORS, GRID = "Keywords", "Vectors", "Contexts"
"""The tables."""

_SHOWN = (("pass@5", "pass@10", "pass@20"), ("ndcg@10", "mrr", "recall@10"),
          ("token_recall", "token_precision", "token_iou"))  # fmt: skip
_MODEL, _TEXT, _RERANKER = "model contexts", "texts alone", "a reranker"


@dataclass(frozen=True, slots=True)
class Plan:
    """A cell before it is run: how it searches, and what it needs for that."""

    table: str
    name: str
    label: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell that was run, or else why it was not."""

    plan: Plan
    found: Evaluation | None = None
    reason: str = ""

    @property
    def means(self) -> dict[str, float]:
        """The mean of each metric."""
        return {one.name: one.value for one in self.found.metrics} if self.found else {}


@dataclass(frozen=True, slots=True)
class Ablation:
    """All cells of a question set. ``partial``: it was stopped, and later cells are not there."""

    name: str
    cells: tuple[Cell, ...]
    partial: bool = False
    notices: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """The metrics that tables show."""
        known = {name for one in self.cells for name in one.means}
        return next((names for names in _SHOWN if names[0] in known), tuple(sorted(known)[:3]))

    @property
    def metric(self) -> str:
        """The metric that tells most."""
        return main_metric(self.shown) if self.shown else ""

    def tables(self) -> dict[str, list[Cell]]:
        """The cells by table, in order."""
        found: dict[str, list[Cell]] = {}
        for one in self.cells:
            found.setdefault(one.plan.table, []).append(one)
        return found


_SAME_WEIGHT = (
    (Field.TEXT, 1.0),
    (Field.TITLE, -1.0),  # A title's words stand in the text twice.
    *((one, 1.0) for one in WRITTEN),
)


def _fields(*names: Field) -> tuple[tuple[Field, float], ...]:
    return tuple((one, FIELD_WEIGHTS[one]) for one in (Field.TEXT, Field.TITLE, *names))


def keyword_plans() -> list[Plan]:
    """The text's words, with each other field, and with all."""
    every = (Field.CONTEXT, Field.QUESTIONS, Field.KEYWORDS)
    base = {"mode": Mode.KEYWORD, "contexts": Contexts.MODEL}
    rows: list[tuple[str, str, dict[str, Any], tuple[str, ...]]] = [
        ("F0", "text", {"field_weights": ((Field.TEXT, 1.0),)}, ()),
        ("F1", "text + context", {"field_weights": _fields(Field.CONTEXT)}, (_MODEL,)),
        ("F2", "text + questions", {"field_weights": _fields(Field.QUESTIONS)}, (_MODEL,)),
        ("F3", "text + keywords", {"field_weights": _fields(Field.KEYWORDS)}, (_MODEL,)),
        ("F3b", "all, the same weight", {"field_weights": _SAME_WEIGHT}, (_MODEL,)),
        ("F4", "all, weighted", {"field_weights": _fields(*every)}, (_MODEL,)),
        ("F5", "all, weighted, reranked",
         {"field_weights": _fields(*every), "rerank": Rerank.MODEL}, (_MODEL, _RERANKER)),
    ]  # fmt: skip
    return [Plan(KEYWORDS, name, label, {**base, **of}, needs) for name, label, of, needs in rows]


def vector_plans() -> list[Plan]:
    """A chunk's own vector, with those of its context or questions, and with all."""
    base = {"mode": Mode.VECTOR, "contexts": Contexts.MODEL}
    both = (Level.CONTEXT, Level.QUESTION)
    rows: list[tuple[str, str, dict[str, Any], tuple[str, ...]]] = [
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
    return [Plan(VECTORS, name, label, {**base, **of}, needs) for name, label, of, needs in rows]


def grid_plans(*, rrf: bool = True) -> list[Plan]:
    """No context, where a chunk stands, and what a model wrote; for each way of searching."""
    contexts: tuple[tuple[str, str, dict[str, Any], tuple[str, ...]], ...] = (
        ("none", "no", {"contexts": Contexts.STRUCTURAL}, (_TEXT,)),
        ("structural", "structural", {"contexts": Contexts.STRUCTURAL}, ()),
        ("model", "model", {"contexts": Contexts.MODEL}, (_MODEL,)),
    )
    ways: list[tuple[str, dict[str, Any]]] = [
        ("vector", {"mode": Mode.VECTOR}),
        ("keyword", {"mode": Mode.KEYWORD}),
        ("weighted", {"mode": Mode.HYBRID, "fusion": Fusion.WEIGHTED}),
    ]
    ways += [("rrf", {"mode": Mode.HYBRID, "fusion": Fusion.RRF})] if rrf else []
    return [
        Plan(
            GRID,
            f"{context} × {way}",
            f"{'no' if context == 'none' else context} context, {way}",
            {**of, **how},
            needs,
        )
        for context, said, of, needs in contexts
        for way, how in ways
    ]


def ablate(
    plans: Sequence[Plan],
    trial: Experiment,
    plain: Experiment | None = None,
    base: SearchOptions | None = None,
    reporter: Reporter | None = None,
    *,
    timed: bool = False,
) -> Ablation:
    """Run cells over a trial; ``plain`` is the same set with only its texts indexed.

    ``base`` holds what cells do not change. When it is stopped, the cells so far are the result.

    Raises:
        JobCancelled: it was stopped before the first answer.
    """
    cells: list[Cell] = []
    partial = False
    for plan in plans:
        on = plain if _TEXT in plan.needs else trial
        reason = _lacking(plan, trial, plain)
        if reason or on is None:
            cells.append(Cell(plan, None, reason))
            continue
        column = ColumnSettings(replace(base or SearchOptions(), **plan.changes))
        try:
            found = measure(on, column, reporter, timed=timed, phase=f"Asking: {plan.name}")
        except (JobCancelled, KeyboardInterrupt):
            if not any(one.found for one in cells):
                raise
            partial = True
            break
        except RagkitError as error:
            of_model = isinstance(error, ModelError) and _RERANKER in plan.needs
            lacks = "no model reranks: " if of_model else ""
            cells.append(Cell(plan, None, f"{lacks}{error}"))
            continue
        # Figures of some of the questions cannot stand beside those of all.
        if found.partial:
            partial = True
            cells += [Cell(plan, found)] if not any(one.found for one in cells) else []
            break
        cells.append(Cell(plan, found))
    return Ablation(trial.name, tuple(cells), partial, _notices(cells, trial, partial, len(plans)))


def _lacking(plan: Plan, trial: Experiment, plain: Experiment | None) -> str:
    """Why a cell cannot be run; empty when it can."""
    have = trial.contexts.complete + trial.contexts.truncated
    if _MODEL in plan.needs and not have:
        return "no model contexts are there: ragkit contextualize writes them, --contexts replays"
    if _TEXT in plan.needs and plain is None:
        return "texts without titles and headings can be indexed only from --corpus"
    return ""


def _notices(
    cells: Sequence[Cell], trial: Experiment, partial: bool, planned: int
) -> tuple[str, ...]:
    found = dict.fromkeys(notice for one in cells if one.found for notice in one.found.notices)
    stand = trial.contexts
    have = stand.complete + stand.truncated
    if 0 < have < stand.chunks:
        found[f"{have} of {stand.chunks} chunks have a model context."] = None
    if partial:
        found[f"Stopped: {len(cells)} of {planned} cells were looked at."] = None
    return tuple(found)
