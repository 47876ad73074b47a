"""Evaluations, kept runs and their differences as text and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ragkit.formatting import local_time

if TYPE_CHECKING:
    from ragkit.catalog.judgments import JudgmentRecord
    from ragkit.catalog.runs import RunRecord
    from ragkit.evaluation.answers import AnswerFigures, Figures, Share
    from ragkit.evaluation.judging import Placed
    from ragkit.evaluation.measuring import Evaluation
    from ragkit.evaluation.question_sets import JudgedQuestion, JudgedSet
    from ragkit.evaluation.runs import Difference

_MOST_QUESTIONS = 10
_SIGNIFICANT = 0.05
_SHARES = {
    "first": "right place in the first sentence",
    "three": "right place in the first three",
    "document": "right document in the first sentence",
    "silent": "no answer, though there is one",
    "refused": "no answer where there is none",
    "exact": "sentences that occur as shown",
}


def evaluation_as_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return an evaluation as a JSON object, without the values of single questions."""
    from ragkit.evaluation.runs import settings_of

    value = asdict(evaluation)
    del value["values"]
    return {**value, "options": settings_of(evaluation.config), "asked": len(evaluation.asked)}


def evaluation_as_text(evaluation: Evaluation) -> list[str]:
    """Return tables of the metrics, of the metrics by question type, and of times."""
    from ragkit.evaluation.metrics import HEADLINES

    seconds = evaluation.index_seconds
    indexed = f", indexed in {seconds:.1f} s" if seconds else ""
    lines = [
        f"{evaluation.name}: {len(evaluation.asked)} questions, {evaluation.documents} documents, "
        f"{evaluation.chunks} chunks{indexed}",
        "",
        f"{'metric':<18}{'value':>8}   95 % interval",
    ]
    lines += [
        f"{metric.name:<18}{metric.value:>8.4f}   {metric.low:.4f} to {metric.high:.4f}"
        for metric in evaluation.metrics
    ]
    if evaluation.kinds:
        names = [name for name in HEADLINES if name in evaluation.values]
        heads = "".join(f"{name:>11}" for name in names)
        lines += ["", f"{'kind of question':<18}{'questions':>9}{heads}"]
    for figures in evaluation.kinds:
        means = {metric.name: metric.value for metric in figures.metrics}
        cells = "".join(f"{means[name]:>11.4f}" for name in names)
        lines.append(f"{figures.kind[:17] or 'not named':<18}{figures.questions:>9}{cells}")
    lines += ["", f"{'stage, ms':<18}{'p50':>8}{'p95':>9}"]
    lines += [f"{stage.name:<18}{stage.p50:>8.2f}{stage.p95:>9.2f}" for stage in evaluation.stages]
    return lines


# -- answers -------------------------------------------------------------------------------------


def answers_as_json(figures: AnswerFigures) -> dict[str, Any]:
    """Return the figures of answers as a JSON object; shares are ``{count, of, value}``."""
    written = figures.written
    return {
        "name": figures.name,
        "questions": figures.questions,
        "unanswerable": figures.unanswerable,
        "quick": _shares_as_json(figures.quick),
        "written": None
        if written is None
        else {
            "model": written.model,
            **_shares_as_json(written),
            "holding": _share_as_json(written.holding),
            "findings": dict(written.findings),
            "dropped": written.dropped,
            "failed": written.failed,
            "failure": written.failure,
        },
        "notices": list(figures.notices),
        "partial": figures.partial,
    }


def _shares_as_json(figures: Figures) -> dict[str, Any]:
    return {name: _share_as_json(getattr(figures, name)) for name in _SHARES}


def _share_as_json(share: Share) -> dict[str, Any]:
    return {"count": share.count, "of": share.of, "value": share.value}


def answers_as_text(figures: AnswerFigures) -> list[str]:
    """Return a table of the figures of answers, with a column for quick and written ones."""
    answerable = figures.questions - figures.unanswerable
    written = figures.written
    lines = [
        f"{figures.name}: {answerable} questions with an answer, {figures.unanswerable} without",
        "",
        f"{'':<46}{'quick':>16}" + (f"{'written':>16}" if written else ""),
    ]
    columns = [figures.quick, *([written] if written else [])]
    for name, words in _SHARES.items():
        cells = "".join(f"{_share_as_text(getattr(column, name)):>16}" for column in columns)
        lines.append(f"{words:<46}{cells}")
    if written:
        findings = ", ".join(
            f"{kind.replace('_', ' ')} {count}" for kind, count in sorted(written.findings.items())
        )
        lines += [
            "",
            f"{written.model} wrote: {_share_as_text(written.holding)} sentences passed the "
            f"checks; findings: {findings or 'none'}; invalid citations: {written.dropped}; "
            f"failed: {written.failed}",
        ]
        if written.failure:
            lines.append(f"The last failure: {written.failure}")
    return lines


def _share_as_text(share: Share) -> str:
    value = "" if share.value is None else f"{share.value:.3f} "
    return f"{value}({share.count}/{share.of})"


# -- question sets -------------------------------------------------------------------------------


def sets_as_json(
    sets: Mapping[str, tuple[int, int]], writers: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """Return question sets as ``ragkit judgments list --json`` prints them."""
    values = []
    for name, (questions, places) in sets.items():
        value: dict[str, Any] = {"set": name, "questions": questions, "judgments": places}
        if models := list(writers.get(name, ())):
            value["written_by"] = models
        values.append(value)
    return values


def judged_as_json(judged: JudgedSet) -> dict[str, Any]:
    """Return a question set with its judgments at their current places."""
    return {
        "set": judged.name,
        "questions": [_question_as_json(question) for question in judged.asked],
        "notices": list(judged.notices),
    }


def _question_as_json(question: JudgedQuestion) -> dict[str, Any]:
    return {
        "question": question.text,
        "kind": question.kind,
        "written_by": question.writer,
        "filter": question.filter,
        "judgments": [_placed_as_json(placed) for placed in question.judgments],
    }


def _placed_as_json(placed: Placed) -> dict[str, Any]:
    span = placed.span
    return {
        "id": placed.record.id,
        "document": placed.document_id,
        "path": placed.path,
        "grade": placed.grade,
        "span": {"start": span.start, "end": span.end} if span else None,
        "state": placed.state.value,
        "why": placed.why,
    }


def judgment_as_json(record: JudgmentRecord) -> dict[str, Any]:
    """Return a judgment as a JSON object."""
    judged = record.judged
    return {
        "id": record.id,
        "question": judged.question,
        "document": judged.document_id,
        "path": judged.path,
        "grade": judged.grade,
        "span": None if judged.whole else {"start": judged.start, "end": judged.end},
    }


# -- kept runs -----------------------------------------------------------------------------------


def run_as_json(record: RunRecord, collections: dict[int, str]) -> dict[str, Any]:
    """Return a kept run as a JSON object, without values of single questions.

    ``collections`` are the names of collections by id.
    """
    collection = record.run.collection_id
    return {
        "run": record.id,
        "collection": collections.get(collection) if collection else None,
        **asdict(record.run),
        "partial": record.run.partial,
    }


def runs_as_text(records: Sequence[RunRecord], collections: dict[int, str]) -> list[str]:
    """Return a table of kept runs; ``collections`` are the names of collections by id."""
    from ragkit.evaluation.metrics import main_metric

    rows = [
        ["run", "when", "asked of", "set", "questions", "metric", "value", "p50 ms", "settings"]
    ]
    for record in records:
        run = record.run
        metric = main_metric(list(run.means))
        total = next((p50 for name, p50, _ in run.stages if name == "total"), None)
        asked = f"{run.asked} of {run.questions}, stopped" if run.partial else f"{run.asked}"
        collection = collections.get(run.collection_id, "?") if run.collection_id else "--corpus"
        value = f"{run.means[metric]:.4f}" if metric else ""
        rows.append(
            [str(record.id), local_time(run.at), collection, run.question_set, asked, metric, value,
             f"{total:.1f}" if total else "", run.name]
        )  # fmt: skip
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for identity, *row in rows:
        others = (text.rjust(width) for text, width in zip(row, widths[1:], strict=True))
        lines.append("  ".join([identity.ljust(widths[0]), *others]).rstrip())
    return lines


def difference_as_json(difference: Difference) -> dict[str, Any]:
    """Return the difference of two runs as a JSON object, with every question that changed."""
    value = asdict(difference)
    del value["before"], value["after"]
    return {"run": difference.before.id, **value}


def difference_as_text(difference: Difference) -> list[str]:
    """Return a table of the metrics of two runs, and the questions that changed most."""
    before = difference.before
    lines = [
        f"against run {before.id} ({local_time(before.run.at)}, {before.run.name}), "
        f"{difference.questions} questions of both",
        "",
        f"{'metric':<18}{'before':>8}{'now':>9}{'change':>9}{'p':>8}",
    ]
    for metric in difference.metrics:
        star = "  *" if metric.p < _SIGNIFICANT else ""
        lines.append(
            f"{metric.name:<18}{metric.before:>8.4f}{metric.after:>9.4f}"
            f"{metric.after - metric.before:>+9.4f}{metric.p:>8.3f}{star}"
        )
    lines += ["", "p: paired randomisation test, two-sided; * below 0.05"]
    for name, changes in (("better", difference.better), ("worse", difference.worse)):
        lines += ["", f"{name}, by {difference.metric}: {len(changes)}"]
        for change in changes[:_MOST_QUESTIONS]:
            question = " ".join(change.question.split())[:80]
            lines.append(f"  {change.before:.3f} to {change.after:.3f}  {change.key}  {question}")
        if len(changes) > _MOST_QUESTIONS:
            lines.append(f"  … and {len(changes) - _MOST_QUESTIONS} more (--json has all)")
    return lines
