"""Kept runs: an evaluation with all that made it, and what differs between two of them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ragkit import __version__
from ragkit.catalog import Catalog
from ragkit.catalog.runs import QuestionValues, RunDraft, RunRecord
from ragkit.errors import EvaluationError
from ragkit.evaluation.run import Evaluation
from ragkit.evaluation.search_config import ColumnSettings, as_text, names
from ragkit.options import SearchOptions

MAIN_METRICS = ("pass@10", "ndcg@10", "token_recall")
"""By what runs are compared when nobody says: the first of these that there is."""

_DRAWS = 20_000
_EXACT = 14
_SEED = 20_240_602
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class MetricChange:
    """How a metric's mean changed over the questions of both runs.

    ``p`` is how often chance alone would make a change as large, by a paired randomisation test.
    """

    name: str
    before: float
    after: float
    p: float


@dataclass(frozen=True, slots=True)
class QuestionChange:
    """How a question fared before and after, by the metric that was compared."""

    key: str
    question: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two runs; ``better`` and ``worse`` are by ``metric``, largest first.

    ``questions`` counts those that both asked; only they are compared.
    """

    before: RunRecord
    after: RunRecord
    metric: str
    questions: int
    metrics: tuple[MetricChange, ...]
    better: tuple[QuestionChange, ...]
    worse: tuple[QuestionChange, ...]
    notices: tuple[str, ...]


def keep(catalog: Catalog, found: Evaluation, collection_id: int | None = None) -> RunRecord:
    """Keep an evaluation in a catalog; ``collection_id`` names the collection that was asked."""
    column = found.column
    version = 0 if collection_id is None else catalog.collections.version(collection_id)
    draft = RunDraft(
        collection_id, found.name, in_words(column), as_text(column), settings_of(column),
        version, found.generation, __version__, revision(), len(found.asked), found.questions,
        found.documents, found.chunks, found.tokens, found.seconds,
        tuple((one.name, one.value, one.low, one.high) for one in found.metrics),
        tuple((one.name, one.p50, one.p95) for one in found.stages),
        found.notices,
    )  # fmt: skip
    values = [
        QuestionValues(key, text, {name: of[key] for name, of in found.values.items() if key in of})
        for key, text in found.asked.items()
    ]
    return catalog.runs.keep(draft, values)


def in_words(column: ColumnSettings) -> str:
    """A column's settings in words: its mode, and whatever differs from what is usual."""
    usual = ColumnSettings(SearchOptions(collections=column.options.collections))
    return names([column, usual])[0] if column != usual else column.options.mode.label


def settings_of(column: ColumnSettings) -> dict[str, Any]:
    """All settings of a column as JSON values."""
    found: dict[str, Any] = {}
    for one in fields(SearchOptions):
        value = getattr(column.options, one.name)
        if one.name != "filters" and not (value is None and one.name.startswith(("vec", "field"))):
            found[one.name] = list(value) if isinstance(value, tuple) else value
    return {**found, "chunked": column.chunked}


@cache
def revision() -> str:
    """The commit of the source tree that runs, or nothing when this is no working copy of it."""
    git, here = shutil.which("git"), Path(__file__).resolve()
    if git is None:
        return ""

    def said(*command: str) -> str | None:
        try:
            run = subprocess.run(
                [git, "-C", str(here.parent), *command],
                capture_output=True,
                text=True,
                timeout=5,
                check=False,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return run.stdout.strip() if run.returncode == 0 else None

    # A virtual environment may lie in somebody's repository without being a part of it.
    if said("ls-files", "--error-unmatch", here.name) is None:
        return ""
    changed = said("status", "--porcelain", "--untracked-files=no", "--", str(here.parents[1]))
    commit = said("rev-parse", "--short=12", "HEAD") or ""
    return f"{commit}+changes" if commit and changed else commit


# -- comparing -----------------------------------------------------------------------------------


def difference(
    catalog: Catalog, before: int, after: RunRecord, metric: str | None = None
) -> Difference:
    """Compare a run with an earlier one, question by question.

    Raises:
        NotFoundError: there is no such run.
        EvaluationError: the two have no question in common, or not that metric.
    """
    earlier = catalog.runs.get(before)
    old = {(one.key, one.question): one.values for one in catalog.runs.values(before)}
    new = {(one.key, one.question): one.values for one in catalog.runs.values(after.id)}
    both = [one for one in new if one in old]
    if not both:
        raise EvaluationError(
            f"Run {before} asked none of these questions.", "Compare runs of one question set."
        )
    shared = [name for name, *_ in after.run.metrics if name in earlier.run.means]
    chosen = metric or main_metric(shared)
    if chosen not in shared:
        raise EvaluationError(
            f"The runs do not share a metric {chosen}.", f"They share {', '.join(shared)}."
        )
    changes = [
        QuestionChange(key, text, old[key, text][chosen], new[key, text][chosen])
        for key, text in both
        if chosen in old[key, text] and chosen in new[key, text]
    ]
    moved = sorted(changes, key=lambda one: (-abs(one.after - one.before), one.key))
    return Difference(
        earlier,
        after,
        chosen,
        len(both),
        tuple(_changed(name, [(old[one], new[one]) for one in both]) for name in shared),
        tuple(one for one in moved if one.after - one.before > _SAME),
        tuple(one for one in moved if one.before - one.after > _SAME),
        tuple(_notices(earlier, after, len(both))),
    )


def main_metric(known: Sequence[str]) -> str:
    """The metric that tells most of those that there are; empty when there is none."""
    return next((one for one in MAIN_METRICS if one in known), known[0] if known else "")


def paired_p(differences: Sequence[float]) -> float:
    """How often chance makes as large a mean of paired differences: from 0 to 1.

    A two-sided randomisation test: were both settings the same, each difference could as well
    have the other sign. It asks about the mean, which is what tables show, and needs nothing of
    the values' distribution; most questions do not change at all, and those a signed-rank test
    would drop. All signs are tried for up to 14 changes, else 20,000 draws, always the same.
    """
    moved = np.array([one for one in differences if abs(one) > _SAME])
    if not len(moved):
        return 1.0
    seen = abs(float(moved.sum())) - _SAME
    if len(moved) <= _EXACT:
        codes = np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1
        return float(np.mean(np.abs((1 - 2 * codes) @ moved) >= seen))
    random = np.random.default_rng(_SEED)
    signs = random.integers(0, 2, (_DRAWS, len(moved))) * 2 - 1
    as_large = int(np.count_nonzero(np.abs(signs @ moved) >= seen))
    return (as_large + 1) / (_DRAWS + 1)


def _changed(
    name: str, pairs: Sequence[tuple[Mapping[str, float], Mapping[str, float]]]
) -> MetricChange:
    known = [(old[name], new[name]) for old, new in pairs if name in old and name in new]
    before, after = (
        float(np.mean(column)) if known else 0.0 for column in zip(*known, strict=True)
    )
    return MetricChange(name, before, after, paired_p([new - old for old, new in known]))


def _notices(before: RunRecord, after: RunRecord, both: int) -> list[str]:
    """What else differs, so that nobody takes it for the settings' doing."""
    old, new = before.run, after.run
    found = []
    if old.question_set != new.question_set:
        found.append(f'Run {before.id} is of another set, "{old.question_set}".')
    for run, name in ((old, before.id), (new, after.id)):
        if run.asked > both:
            found.append(f"{run.asked - both} questions of run {name} are not in the other.")
        if run.partial:
            found.append(f"Run {name} was stopped before its end.")
    if old.collection_id == new.collection_id and old.version != new.version:
        found.append("The collection has changed in between.")
    if (old.ragkit, old.revision) != (new.ragkit, new.revision):
        found.append(
            f"Run {before.id} was made by ragkit {old.ragkit} {old.revision}".rstrip() + "."
        )
    return found
