"""Evaluations, kept runs and what differs between two of them, as text and as JSON."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ragkit.library import Library
from ragkit.surfaces.cli import console

if TYPE_CHECKING:
    from ragkit.catalog.runs import RunRecord
    from ragkit.evaluation.run import Evaluation
    from ragkit.evaluation.runs import Difference

_MOST_QUESTIONS = 10
_CERTAIN = 0.05


def evaluation_as_json(found: Evaluation) -> dict[str, Any]:
    """Everything but the values of single questions."""
    from ragkit.evaluation.runs import settings_of

    shown = asdict(found)
    for name in ("values", "asked"):
        del shown[name]
    return {**shown, "options": settings_of(found.column), "asked": len(found.asked)}


def evaluation_as_text(found: Evaluation) -> list[str]:
    """A table of the metrics and one of the times."""
    indexed = f", indexed in {found.index_seconds:.1f} s" if found.index_seconds else ""
    lines = [
        f"{found.name}: {len(found.asked)} questions, {found.documents} documents, "
        f"{found.chunks} chunks{indexed}",
        "",
        f"{'metric':<18}{'value':>8}   95 % interval",
    ]
    lines += [
        f"{one.name:<18}{one.value:>8.4f}   {one.low:.4f} to {one.high:.4f}"
        for one in found.metrics
    ]
    lines += _kinds_as_text(found)
    lines += ["", f"{'stage, ms':<18}{'p50':>8}{'p95':>9}"]
    lines += [f"{one.name:<18}{one.p50:>8.2f}{one.p95:>9.2f}" for one in found.stages]
    return lines


def _kinds_as_text(found: Evaluation) -> list[str]:
    """A table of the main metrics by kind of question, where there are kinds."""
    from ragkit.evaluation.metrics import HEADLINES

    if not found.kinds:
        return []
    names = [one for one in HEADLINES if one in found.values]
    heads = "".join(f"{one:>11}" for one in names)
    lines = ["", f"{'kind of question':<18}{'questions':>9}{heads}"]
    for one in found.kinds:
        means = {metric.name: metric.value for metric in one.metrics}
        shown = "".join(f"{means[name]:>11.4f}" for name in names)
        lines.append(f"{one.kind[:17] or 'not named':<18}{one.questions:>9}{shown}")
    return lines


def put_runs(library: Library, collection: str | None, *, json_: bool) -> None:
    """List the kept runs, newest first."""
    from ragkit.evaluation.ablation_output import rows_as_text

    of = library.catalog.collections.get(collection).id if collection else None
    found = library.catalog.runs.all(of)
    names = {one.id: one.name for one in library.collections()}
    if json_:
        for one in found:
            console.put_json(run_as_json(one, names))
        return
    if not found:
        console.say("No run is kept yet: ragkit eval asks a question set and keeps what it finds.")
        return
    heads = ["run", "when", "asked of", "set", "questions", "metric", "value", "p50 ms", "settings"]
    rows = [heads, *(_listed(one, names) for one in found)]
    for line in rows_as_text(rows):
        console.put(line)


def run_as_json(one: RunRecord, names: dict[int, str]) -> dict[str, Any]:
    """A kept run, without the values of its questions."""
    run = asdict(one.run)
    known = one.run.collection_id
    return {"run": one.id, "collection": names.get(known) if known else None, **run,
            "partial": one.run.partial}  # fmt: skip


def difference_as_json(told: Difference) -> dict[str, Any]:
    """What differs, with every question that changed."""
    return {
        "run": told.before.id,
        "metric": told.metric,
        "questions": told.questions,
        "metrics": [asdict(one) for one in told.metrics],
        "better": [asdict(one) for one in told.better],
        "worse": [asdict(one) for one in told.worse],
        "notices": list(told.notices),
    }


def difference_as_text(told: Difference) -> list[str]:
    """A table of the metrics before and now, and the questions that changed most."""
    old = told.before.run
    lines = [
        f"against run {told.before.id} ({_when(told.before)}, {old.name}), "
        f"{told.questions} questions of both",
        "",
        f"{'metric':<18}{'before':>8}{'now':>9}{'change':>9}{'p':>8}",
    ]
    for one in told.metrics:
        sure = "  *" if one.p < _CERTAIN else ""
        lines.append(
            f"{one.name:<18}{one.before:>8.4f}{one.after:>9.4f}"
            f"{one.after - one.before:>+9.4f}{one.p:>8.3f}{sure}"
        )
    lines += ["", "p: paired randomisation test, two-sided; * below 0.05"]
    for name, changes in (("better", told.better), ("worse", told.worse)):
        lines += ["", f"{name}, by {told.metric}: {len(changes)}"]
        for changed in changes[:_MOST_QUESTIONS]:
            asked = " ".join(changed.question.split())[:80]
            lines.append(f"  {changed.before:.3f} to {changed.after:.3f}  {changed.key}  {asked}")
        if len(changes) > _MOST_QUESTIONS:
            lines.append(f"  … and {len(changes) - _MOST_QUESTIONS} more (--json has all)")
    return lines


def _listed(one: RunRecord, names: dict[int, str]) -> list[str]:
    from ragkit.evaluation.runs import main_metric

    run = one.run
    metric = main_metric(list(run.means))
    total = next((p50 for name, p50, _ in run.stages if name == "total"), None)
    asked = f"{run.asked} of {run.questions}, stopped" if run.partial else f"{run.asked}"
    home = names.get(run.collection_id, "?") if run.collection_id else "--corpus"
    return [
        str(one.id), _when(one), home, run.question_set, asked, metric,
        f"{run.means[metric]:.4f}" if metric else "", f"{total:.1f}" if total else "", run.name,
    ]  # fmt: skip


def _when(one: RunRecord) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(one.run.at))
