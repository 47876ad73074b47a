"""``ragkit eval``: how well search answers the questions of a set."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from ragkit.errors import EvaluationError, OllamaError, RagkitError, SettingsError
from ragkit.indexing.progress import Reporter
from ragkit.library import Library
from ragkit.options import SEARCH_OPTIONS, Expansion, Mode, SearchOptions
from ragkit.surfaces import render_evaluation as render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.eval_options import (
    EvalRequest,
    OpenExperiment,
    open_experiment,
    takes_request,
)
from ragkit.surfaces.cli.options import (
    AssignOption,
    FusionOption,
    JsonOption,
    ModeOption,
    RerankOption,
    assigned,
    flag,
    open_library,
)
from ragkit.versions import __version__

if TYPE_CHECKING:
    from ragkit.catalog.runs import RunRecord
    from ragkit.evaluation.ablation import Ablation
    from ragkit.evaluation.measuring import Evaluation
    from ragkit.evaluation.runs import Difference
    from ragkit.library.evaluation import RunService

_FLOOR = re.compile(r"([a-z_]+(?:@\d+)?)=(\d+(?:\.\d+)?)")


@takes_request
def evaluate_questions(
    request: EvalRequest,
    mode: ModeOption = None,
    fusion: FusionOption = None,
    results: Annotated[int | None, flag(SEARCH_OPTIONS["limit"], "--results")] = None,
    expansion: Annotated[Expansion | None, flag(SEARCH_OPTIONS["expansion"])] = None,
    per_document: Annotated[int | None, flag(SEARCH_OPTIONS["per_document"])] = None,
    rerank: RerankOption = None,
    option: AssignOption = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC=VALUE", help="Fail below this value: ndcg@10=0.70. Repeatable."
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Save a --corpus run in the library, too.")
    ] = False,
    against: Annotated[
        int | None, typer.Option(metavar="RUN", help="Compare with a saved run.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="Metric by which questions count as better or worse.")
    ] = None,
    runs: Annotated[bool, typer.Option("--runs", help="Only list the saved runs.")] = False,
    answers: Annotated[
        bool, typer.Option("--answers", help="Evaluate the answers, not the order of results.")
    ] = False,
    model: Annotated[
        str, typer.Option("--model", metavar="NAME", help="With --answers: the model that writes.")
    ] = "",
    no_model: Annotated[
        bool,
        typer.Option("--no-model", help="With --answers: only quote the documents."),
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Evaluate search with a question set of the library.

    Or with a published set (--corpus), which is indexed into a temporary library. Runs with the
    library's own question sets are saved in it; --against compares with one of them.
    """
    if runs:
        _list_runs(open_library(request.library, None), request.collection, json_=json_)
        return
    floors = _floors(fail_under or [])
    # Better now than after everything has been asked.
    _refuse_unknown_metrics([*floors, *filter(None, [metric])])
    changes = {
        "mode": mode, "fusion": fusion, "limit": results, "expansion": expansion,
        "per_document": per_document, "rerank": rerank,
    }  # fmt: skip
    if answers:
        if keep or against is not None or metric or fail_under or request.contexts:
            _refuse_with_answers()
        with console.progress_bar() as watch, open_experiment(request, Reporter(watch)) as opened:
            options = assigned(opened.options(**changes), option)
            _evaluate_answers(opened, options, None if no_model else model, Reporter(watch), json_)
        return
    if against is not None:
        earlier = open_library(request.library, request.collection).runs.get(against).run.means
        if metric and metric not in earlier:
            raise EvaluationError(
                f"Run {against} does not have the metric {metric}.", f"It has {', '.join(earlier)}."
            )
    with (
        console.progress_bar() as watch,
        open_experiment(request, Reporter(watch), plain=request.contexts is not None) as opened,
    ):
        options = assigned(opened.options(**changes), option)
        evaluation, table = _evaluate(request, opened, options, mode, Reporter(watch))
    record = comparison = failure = None
    keep = keep or request.corpus is None
    if keep or against is not None:
        try:
            # The library that was asked keeps the run, or else the person's own.
            home = opened.library or open_library(request.library, request.collection, create=True)
            name = home.settings.collection if opened.library else None
            record, comparison = _keep(home.runs, evaluation, name, against, metric, keep=keep)
        except RagkitError as error:
            failure = error
    _put(evaluation, table, record, comparison, json_=json_)
    if failure is not None:
        console.say(f"This run could not be saved{' and compared' * (against is not None)}.")
        raise failure
    if evaluation.partial or (table is not None and table.partial):
        raise typer.Exit(console.STOPPED)
    _check(evaluation, floors)


def _refuse_with_answers() -> NoReturn:
    raise SettingsError(
        "--keep, --against, --metric, --fail-under and --contexts do not go with --answers.",
        "Leave them out.",
    )


def _evaluate_answers(
    opened: OpenExperiment,
    options: SearchOptions,
    model: str | None,
    reporter: Reporter,
    json_: bool,
) -> None:
    """Answer the questions, with a model if one is available and wanted, and print the figures."""
    from ragkit.evaluation.answers import Write, measure_answers

    experiment, service = opened.experiment, opened.answers
    options = replace(options, collections=(experiment.collection,))
    write: Write | None = None
    notice = "" if model is not None else "No written answers were asked for."
    if model is not None:
        try:
            model = service.model(model)
            write = partial(service.write, model=model)
        except OllamaError as error:
            if model:
                raise
            notice = f"No written answers: {error}"
    figures = measure_answers(
        experiment.name,
        experiment.answers,
        lambda question, filters: experiment.engine.search(
            question, replace(options, filters=filters)
        ),
        service.quick,
        experiment.text_of,
        write=write,
        model=model or "",
        reporter=reporter,
    )
    if json_:
        console.put_json({"version": __version__, **render.answers_as_json(figures)})
    else:
        console.put("\n".join(render.answers_as_text(figures)))
    for line in (*experiment.notices, *figures.notices, *filter(None, [notice])):
        console.say(line)
    if figures.partial:
        raise typer.Exit(console.STOPPED)


def _list_runs(library: Library, collection: str | None, *, json_: bool) -> None:
    """Print the kept runs, newest first."""
    records = library.runs.list(collection)
    names = {record.id: record.name for record in library.collections.list()}
    if json_:
        for record in records:
            console.put_json(render.run_as_json(record, names))
    elif records:
        console.put("\n".join(render.runs_as_text(records, names)))
    else:
        console.say("No saved runs yet. ragkit eval makes one.")


def _evaluate(
    request: EvalRequest,
    opened: OpenExperiment,
    options: SearchOptions,
    mode: Mode | None,
    reporter: Reporter,
) -> tuple[Evaluation, Ablation | None]:
    """Evaluate once and, with recorded contexts, every kind of context in every mode."""
    from ragkit.evaluation.ablation import ablate, grid_variants
    from ragkit.evaluation.measuring import measure
    from ragkit.evaluation.search_config import SearchConfig

    table = None
    if request.contexts is not None:
        variants = [
            variant
            for variant in grid_variants(rrf=False)
            if mode is None or variant.changes["mode"] is mode
        ]
        table = ablate(variants, opened.experiment, opened.plain, options, reporter)
        if table.partial:
            last = [outcome.evaluation for outcome in table.outcomes if outcome.evaluation][-1]
            return last, table
    return measure(opened.experiment, SearchConfig(options), reporter), table


def _keep(
    runs: RunService,
    evaluation: Evaluation,
    collection: str | None,
    against: int | None,
    metric: str | None,
    *,
    keep: bool,
) -> tuple[RunRecord | None, Difference | None]:
    """Save a run if ``keep``, and compare it with an earlier one if there is one."""
    record = runs.keep(evaluation, collection)
    try:
        comparison = None if against is None else runs.compare(against, record.id, metric)
    finally:
        if not keep:
            runs.remove(record.id)
    return record if keep else None, comparison


def _put(
    evaluation: Evaluation,
    table: Ablation | None,
    record: RunRecord | None,
    comparison: Difference | None,
    *,
    json_: bool,
) -> None:
    from ragkit.evaluation.ablation_figures import as_values, figures_of
    from ragkit.surfaces.render_ablation import ablation_as_text

    figures = figures_of(table) if table is not None else None
    if json_:
        value = {"version": __version__, **render.evaluation_as_json(evaluation)}
        if figures is not None:
            value["table"] = as_values(figures)["cells"]
        if record is not None:
            value["run"] = record.id
        if comparison is not None:
            value["against"] = render.difference_as_json(comparison)
        console.put_json(value)
    else:
        lines = render.evaluation_as_text(evaluation)
        if figures is not None:
            lines += ["", *ablation_as_text(figures)]
        if comparison is not None:
            lines += ["", *render.difference_as_text(comparison)]
        console.put("\n".join(lines))
    for notice in (*evaluation.notices, *(comparison.notices if comparison else ())):
        console.say(notice)
    if record is not None:
        console.say(f"Saved as run {record.id}.")


def _floors(written: list[str]) -> dict[str, float]:
    floors = {}
    for text in written:
        match = _FLOOR.fullmatch(text.lower())
        if match is None:
            raise SettingsError(
                f"--fail-under {text} is not a metric and a number.",
                "Use METRIC=VALUE, such as ndcg@10=0.70.",
            )
        floors[match[1]] = float(match[2])
    return floors


def _refuse_unknown_metrics(names: Iterable[str]) -> None:
    """Refuse names that no set of questions has as a metric.

    Raises:
        SettingsError: there is one.
    """
    from ragkit.evaluation.metrics import JUDGED, MEASURES, PASS_AT
    from ragkit.evaluation.scorers import score_spans
    from ragkit.results import Answer
    from ragkit.traces import Trace

    of_passages = score_spans(Answer("", (), Trace()), {})
    known = {*MEASURES, JUDGED, *(f"pass@{depth}" for depth in PASS_AT), *of_passages}
    for name in names:
        _refuse_metric(name, known)


def _refuse_metric(name: str, known: Collection[str]) -> None:
    if name not in known:
        raise SettingsError(f"Unknown metric: {name}.", f"Available: {', '.join(sorted(known))}.")


def _check(evaluation: Evaluation, floors: dict[str, float]) -> None:
    """Fail when a metric is below its floor."""
    values = {metric.name: metric.value for metric in evaluation.metrics}
    for name in floors:
        _refuse_metric(name, values)
    low = [f"{name} is {values[name]:.4f}" for name in floors if values[name] < floors[name]]
    if low:
        raise EvaluationError(
            f"Below the limit: {', '.join(low)}.", "Compare with the settings of an earlier run."
        )
