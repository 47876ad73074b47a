"""Stored runs: evaluations with everything that they depend on, and their differences."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ragkit.catalog import Catalog
from ragkit.catalog.runs import QuestionValues, RunDraft, RunRecord
from ragkit.errors import EvaluationError
from ragkit.evaluation.measuring import Evaluation
from ragkit.evaluation.metrics import SAME, TypeFigures, figures_by_type, main_metric, paired_p
from ragkit.evaluation.search_config import SearchConfig, as_text, names
from ragkit.options import SearchOptions
from ragkit.versions import __version__


def keep(catalog: Catalog, evaluation: Evaluation, collection_id: int | None = None) -> RunRecord:
    """Store an evaluation in a catalog; ``collection_id`` is the collection that was searched."""
    config = evaluation.config
    version = 0 if collection_id is None else catalog.collections.version(collection_id).number
    draft = RunDraft(
        collection_id, evaluation.name, in_words(config), as_text(config), settings_of(config),
        version, evaluation.generation, __version__, revision(), len(evaluation.asked),
        evaluation.questions, evaluation.documents, evaluation.chunks, evaluation.tokens,
        evaluation.seconds,
        tuple((m.name, m.value, m.low, m.high) for m in evaluation.metrics),
        tuple((stage.name, stage.p50, stage.p95) for stage in evaluation.stages),
        evaluation.notices,
    )  # fmt: skip
    values = [
        QuestionValues(
            key,
            text,
            {name: of[key] for name, of in evaluation.values.items() if key in of},
            evaluation.filters.get(key, ""),
        )
        for key, text in evaluation.asked.items()
    ]
    return catalog.runs.keep(draft, values)


def in_words(config: SearchConfig) -> str:
    """Describe a search configuration by its mode and its other differences from the defaults."""
    default = SearchConfig(SearchOptions(collections=config.options.collections))
    return names([config, default])[0] if config != default else config.options.mode.label


def settings_of(config: SearchConfig) -> dict[str, Any]:
    """Return all settings of a search configuration as JSON values."""
    settings: dict[str, Any] = {}
    for option in fields(SearchOptions):
        name, value = option.name, getattr(config.options, option.name)
        if name != "filters" and not (value is None and name.startswith(("vec", "field"))):
            settings[name] = list(value) if isinstance(value, tuple) else value
    return {**settings, "chunked": config.chunked}


@cache
def revision() -> str:
    """Return the commit of the running source tree, or ``""`` outside a working copy."""
    git, file = shutil.which("git"), Path(__file__).resolve()
    if git is None:
        return ""

    def run(*command: str) -> str | None:
        try:
            process = subprocess.run(
                [git, "-C", str(file.parent), *command],
                capture_output=True,
                text=True,
                timeout=5,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return process.stdout.strip() if process.returncode == 0 else None

    # A virtual environment may be inside a repository without being part of it.
    if run("ls-files", "--error-unmatch", file.name) is None:
        return ""
    changed = run("status", "--porcelain", "--untracked-files=no", "--", str(file.parents[1]))
    commit = run("rev-parse", "--short=12", "HEAD") or ""
    return f"{commit}+changes" if commit and changed else commit


def figures_of_run(
    catalog: Catalog, run_id: int, kinds: Mapping[str, str], metric: str
) -> tuple[TypeFigures, ...]:
    """Average one metric of a stored run by question type; ``kinds``: types by question text."""
    kept = catalog.runs.values(run_id)
    values = {metric: {row.key: row.values[metric] for row in kept if metric in row.values}}
    return figures_by_type(values, {row.key: kinds.get(row.question, "") for row in kept})


# -- comparing -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MetricChange:
    """The change of a metric's mean over the questions of both runs.

    ``p`` is the p-value of a paired permutation test.
    """

    name: str
    before: float
    after: float
    p: float


@dataclass(frozen=True, slots=True)
class QuestionChange:
    """The values of the compared metric for a question in both runs, and its filter, if any."""

    key: str
    question: str
    before: float
    after: float
    filter: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """How two runs differ; ``better`` and ``worse`` are sorted by the change of ``metric``.

    Only the questions of both runs are compared; ``questions`` is their number.
    """

    before: RunRecord
    after: RunRecord
    metric: str
    questions: int
    metrics: tuple[MetricChange, ...]
    better: tuple[QuestionChange, ...]
    worse: tuple[QuestionChange, ...]
    notices: tuple[str, ...]


def difference(
    catalog: Catalog, before: int, after: RunRecord, metric: str | None = None
) -> Difference:
    """Compare a run with an earlier one, question by question.

    A question with another filter counts as another question.

    Raises:
        NotFoundError: there is no such run.
        EvaluationError: the runs share no question, or lack the metric.
    """
    earlier = catalog.runs.get(before)
    old_rows = {(row.key, row.question): row for row in catalog.runs.values(before)}
    new_rows = {(row.key, row.question): row for row in catalog.runs.values(after.id)}
    asked = [question for question in new_rows if question in old_rows]
    both = [
        question for question in asked if old_rows[question].filter == new_rows[question].filter
    ]
    if not both:
        under = " under the same filters" if asked else ""
        raise EvaluationError(
            f"Run {before} has none of these questions{under}.",
            "Compare runs of one question set.",
        )
    old = {question: old_rows[question].values for question in both}
    new = {question: new_rows[question].values for question in both}
    shared = [name for name, *_ in after.run.metrics if name in earlier.run.means]
    chosen = metric or main_metric(shared)
    if chosen not in shared:
        raise EvaluationError(
            f"Not both runs have the metric {chosen}.", f"Both have {', '.join(shared)}."
        )
    changes = [
        QuestionChange(
            key, text, old[key, text][chosen], new[key, text][chosen], new_rows[key, text].filter
        )
        for key, text in both
        if chosen in old[key, text] and chosen in new[key, text]
    ]
    changes.sort(key=lambda change: (-abs(change.after - change.before), change.key))
    return Difference(
        earlier,
        after,
        chosen,
        len(both),
        tuple(
            _metric_change(name, [(old[question], new[question]) for question in both])
            for name in shared
        ),
        tuple(change for change in changes if change.after - change.before > SAME),
        tuple(change for change in changes if change.before - change.after > SAME),
        tuple(_notices(earlier, after, len(both), len(asked) - len(both))),
    )


def _metric_change(
    name: str, pairs: Sequence[tuple[Mapping[str, float], Mapping[str, float]]]
) -> MetricChange:
    values = [(old[name], new[name]) for old, new in pairs if name in old and name in new]
    if not values:
        return MetricChange(name, 0.0, 0.0, 1.0)
    before, after = (float(np.mean(side)) for side in zip(*values, strict=True))
    return MetricChange(name, before, after, paired_p([new - old for old, new in values]))


def _notices(before: RunRecord, after: RunRecord, both: int, refiltered: int) -> list[str]:
    """Return sentences on other differences between the runs than the settings."""
    old, new = before.run, after.run
    notices = []
    if old.question_set != new.question_set:
        notices.append(f'Run {before.id} is of another set, "{old.question_set}".')
    if refiltered:
        notices.append(f"{refiltered} questions had other filters and are not compared.")
    for run, name in ((old, before.id), (new, after.id)):
        if run.asked > both + refiltered:
            missing = run.asked - both - refiltered
            notices.append(f"{missing} questions of run {name} are not in the other.")
        if run.partial:
            notices.append(f"Run {name} was stopped before its end.")
    if old.collection_id == new.collection_id and old.version != new.version:
        notices.append("The collection has changed in between.")
    if (old.ragkit, old.revision) != (new.ragkit, new.revision):
        notices.append(
            f"Run {before.id} was made by ragkit {old.ragkit} {old.revision}".rstrip() + "."
        )
    return notices
