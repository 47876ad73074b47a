"""Ablation: what each field, each kind of vector and each kind of context contributes.

Variants are search configurations that differ in one respect.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ragkit.errors import ModelError, RagkitError
from ragkit.evaluation.experiments import Experiment
from ragkit.evaluation.measuring import Evaluation, measure
from ragkit.evaluation.metrics import PairedDifference, main_metric, paired_difference
from ragkit.evaluation.search_config import SearchConfig
from ragkit.indexes.bm25 import FIELD_WEIGHTS
from ragkit.indexing.progress import JobCancelled, Reporter
from ragkit.options import Contexts, Fusion, Mode, QuestionMerge, Rerank, SearchOptions
from ragkit.retrieval.candidates import WRITTEN, field_weights, levels_of_chunks
from ragkit.types import Field, Level

KEYWORDS, VECTORS, GRID = "Keywords", "Vectors", "Contexts"
"""The names of the tables."""

_MODEL, _TEXT, _RERANKER = "model contexts", "texts alone", "a reranker"

_Row: TypeAlias = tuple[str, str, dict[str, Any], tuple[str, ...]]
"""Name, label, changed options and requirements of a variant."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A search configuration that differs in one respect, with its requirements.

    ``first`` names the variant that it is compared with; it is empty for that variant itself.
    """

    table: str
    name: str
    label: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    first: str = ""

    @property
    def title(self) -> str:
        """The head of its row in a table."""
        return self.label if self.table == GRID else f"{self.name}  {self.label}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The evaluation of a variant with its cost, or the reason why there is none.

    ``difference`` is the one to the variant ``first``, by the main metric. ``tokens`` and
    ``seconds`` are the cost of models for its contexts and reranking, and ``index_bytes`` is the
    size of the vectors and tokens that it searches.
    """

    variant: Variant
    evaluation: Evaluation | None = None
    reason: str = ""
    difference: PairedDifference | None = None
    tokens: int = 0
    seconds: float = 0.0
    index_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Ablation:
    """The outcomes of variants over a question set; ``partial``: later variants are missing."""

    name: str
    outcomes: tuple[Outcome, ...]
    partial: bool = False
    notices: tuple[str, ...] = ()


_BOTH = (Level.CONTEXT, Level.QUESTION)
_SAME_WEIGHT = (
    (Field.TEXT, 1.0),
    (Field.TITLE, -1.0),  # The text field has the title's words as well.
    *((name, 1.0) for name in WRITTEN),
)


def _fields(*names: Field) -> tuple[tuple[Field, float], ...]:
    return tuple((name, FIELD_WEIGHTS[name]) for name in (Field.TEXT, Field.TITLE, *names))


def keyword_variants() -> list[Variant]:
    """Return keyword searches: the text alone, with each other field, and with all."""
    every = _fields(Field.CONTEXT, Field.QUESTIONS, Field.KEYWORDS)
    rows: list[_Row] = [
        ("F0", "text", {"field_weights": ((Field.TEXT, 1.0),)}, ()),
        ("F1", "text + context", {"field_weights": _fields(Field.CONTEXT)}, (_MODEL,)),
        ("F2", "text + questions", {"field_weights": _fields(Field.QUESTIONS)}, (_MODEL,)),
        ("F3", "text + keywords", {"field_weights": _fields(Field.KEYWORDS)}, (_MODEL,)),
        ("F3b", "all, the same weight", {"field_weights": _SAME_WEIGHT}, (_MODEL,)),
        ("F4", "all, weighted", {"field_weights": every}, (_MODEL,)),
        ("F5", "all, weighted, reranked", {"field_weights": every, "rerank": Rerank.MODEL},
         (_MODEL, _RERANKER)),
    ]  # fmt: skip
    return _variants(KEYWORDS, rows, mode=Mode.KEYWORD, contexts=Contexts.MODEL)


def vector_variants() -> list[Variant]:
    """Return vector searches: of chunks, with their contexts or questions, and with all."""
    rows: list[_Row] = [
        ("V0", "text", {"vector_levels": ()}, ()),
        ("V1", "text + context", {"vector_levels": (Level.CONTEXT,)}, (_MODEL,)),
        ("V1b", "context for its chunk", {"question_merge": QuestionMerge.CONTEXT}, (_MODEL,)),
        ("V2", "text + questions", {"vector_levels": (Level.QUESTION,)}, (_MODEL,)),
        ("V3", "all, best rank", {"vector_levels": _BOTH, "question_merge": QuestionMerge.BEST},
         (_MODEL,)),
        ("V4", "all, sum of inverse ranks",
         {"vector_levels": _BOTH, "question_merge": QuestionMerge.SUM}, (_MODEL,)),
        ("V5", "all, best rank, reranked", {"vector_levels": _BOTH, "rerank": Rerank.MODEL},
         (_MODEL, _RERANKER)),
    ]  # fmt: skip
    return _variants(VECTORS, rows, mode=Mode.VECTOR, contexts=Contexts.MODEL)


def grid_variants(*, rrf: bool = True) -> list[Variant]:
    """Return each search mode without context, with structural context and with model contexts."""
    contexts = (
        ("none", "no", Contexts.STRUCTURAL, (_TEXT,)),
        ("structural", "structural", Contexts.STRUCTURAL, ()),
        ("model", "model", Contexts.MODEL, (_MODEL,)),
    )
    modes: list[tuple[str, dict[str, Any]]] = [
        ("vector", {"mode": Mode.VECTOR}),
        ("keyword", {"mode": Mode.KEYWORD}),
        ("weighted", {"mode": Mode.HYBRID, "fusion": Fusion.WEIGHTED}),
    ]
    modes += [("rrf", {"mode": Mode.HYBRID, "fusion": Fusion.RRF})] if rrf else []
    rows: list[_Row] = [
        (f"{name} × {search}", f"{label} context, {search}", {"contexts": stored, **mode}, needs)
        for name, label, stored, needs in contexts
        for search, mode in modes
    ]
    # Each mode is compared with itself without any context.
    return [
        replace(variant, first="" if _TEXT in variant.needs else f"none × {search}")
        for variant, (search, _mode) in zip(_variants(GRID, rows), modes * 3, strict=True)
    ]


def _variants(table: str, rows: Sequence[_Row], **base: Any) -> list[Variant]:
    return [
        Variant(table, name, label, {**base, **changes}, needs, rows[0][0] if number else "")
        for number, (name, label, changes, needs) in enumerate(rows)
    ]


TABLES: Mapping[str, Callable[[], list[Variant]]] = {
    "keywords": keyword_variants,
    "vectors": vector_variants,
    "contexts": grid_variants,
}
"""The variants of each table, by its name on the command line."""


def ablate(
    variants: Sequence[Variant],
    experiment: Experiment,
    plain: Experiment | None = None,
    base: SearchOptions | None = None,
    reporter: Reporter | None = None,
) -> Ablation:
    """Evaluate variants; ``plain`` is the same set with only its bare texts indexed.

    ``base`` holds the options that variants do not change. After a cancellation, the result has the
    outcomes so far.

    Raises:
        JobCancelled: it was cancelled before the first answer.
    """
    counts = experiment.contexts
    written = counts.complete + counts.truncated
    outcomes: list[Outcome] = []
    partial = False
    for number, variant in enumerate(variants, start=1):
        chosen = plain if _TEXT in variant.needs else experiment
        reason = ""
        if _MODEL in variant.needs and not written:
            reason = (
                "there are no model contexts: ragkit contextualize writes, --contexts replays them"
            )
        elif chosen is None:
            reason = "a set of files with excerpts cannot be indexed as bare texts"
        if reason or chosen is None:
            outcomes.append(Outcome(variant, None, reason))
            continue
        config = SearchConfig(replace(base or SearchOptions(), **variant.changes))
        first = not any(outcome.evaluation for outcome in outcomes)
        phase = f"Asking: {variant.name} ({number} of {len(variants)})"
        try:
            evaluation = measure(chosen, config, reporter, phase=phase)
        except (JobCancelled, KeyboardInterrupt):
            if first:
                raise
            partial = True
            break
        except RagkitError as error:
            no_model = isinstance(error, ModelError) and _RERANKER in variant.needs
            prefix = "No model reranks: " if no_model else ""
            outcomes.append(Outcome(variant, None, f"{prefix}{error}"))
            continue
        partial = evaluation.partial
        # Figures of only some questions are not comparable with those of all.
        if first or not partial:
            outcomes.append(_outcome(variant, chosen, evaluation, outcomes))
        if partial:
            break
    evaluations = [outcome.evaluation for outcome in outcomes if outcome.evaluation]
    notices = list(dict.fromkeys(notice for each in evaluations for notice in each.notices))
    if 0 < written < counts.chunks:
        notices.append(f"{written} of {counts.chunks} chunks have a model context.")
    if partial:
        notices.append(f"Stopped: {len(outcomes)} of {len(variants)} cells were measured.")
    return Ablation(experiment.name, tuple(outcomes), partial, tuple(notices))


def _outcome(
    variant: Variant, experiment: Experiment, evaluation: Evaluation, before: Sequence[Outcome]
) -> Outcome:
    """Return the outcome of a variant: its evaluation, difference and cost."""
    of_first = next(
        (outcome.evaluation for outcome in before if outcome.variant.name == variant.first), None
    )
    metric = main_metric(list(evaluation.values))
    difference = None
    if of_first is not None and metric in of_first.values:
        difference = paired_difference(of_first.values[metric], evaluation.values[metric])
    tokens, seconds = evaluation.grading_tokens, evaluation.grading_seconds
    if _MODEL in variant.needs:
        tokens, seconds = tokens + experiment.tokens, seconds + experiment.seconds
    size = _index_bytes(experiment, evaluation.options)
    return Outcome(variant, evaluation, "", difference, tokens, seconds, size)


def _index_bytes(experiment: Experiment, options: SearchOptions) -> int:
    """Return the size in bytes of the parts of the chunk index that these options search."""
    index = experiment.indexes.current(experiment.catalog.collections.get(experiment.collection))
    levels = () if options.mode is Mode.KEYWORD else (Level.CHUNK, *levels_of_chunks(options))
    fields = () if options.mode is Mode.VECTOR else tuple(field_weights(index, options))
    return index.size(levels, fields)
