"""``ragkit eval``: how well questions are answered whose answers are known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from ragkit import __version__
from ragkit.errors import EvaluationError, SettingsError
from ragkit.library import Library
from ragkit.options import SEARCH_OPTIONS, Expansion, Mode, SearchOptions
from ragkit.surfaces.cli import console, eval_output
from ragkit.surfaces.cli.eval_options import (
    ContextsOption,
    CorpusOption,
    LimitOption,
    Opened,
    QrelsOption,
    QuestionsOption,
    RowsOption,
    SetOption,
    Wanted,
    WholeOption,
    base_options,
    opened,
    reporting,
)
from ragkit.surfaces.cli.options import (
    AssignOption,
    CollectionOption,
    FusionOption,
    JsonOption,
    LibraryOption,
    ModeOption,
    RerankOption,
    assigned,
    flag,
    open_library,
)

if TYPE_CHECKING:
    from ragkit.catalog.runs import RunRecord
    from ragkit.evaluation.ablation import Ablation
    from ragkit.evaluation.run import Evaluation
    from ragkit.evaluation.runs import Difference
    from ragkit.indexing.progress import Reporter

_FLOOR = re.compile(r"([a-z_]+(?:@\d+)?)=(\d+(?:\.\d+)?)")
_STOPPED = 130


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command(name="eval")(evaluate_questions)


def evaluate_questions(
    corpus: CorpusOption = None,
    question_set: SetOption = "",
    contexts: ContextsOption = None,
    questions: QuestionsOption = None,
    qrels: QrelsOption = None,
    limit: LimitOption = None,
    mode: ModeOption = None,
    fusion: FusionOption = None,
    results: Annotated[int | None, flag(SEARCH_OPTIONS["limit"], "--results")] = None,
    expansion: Annotated[Expansion | None, flag(SEARCH_OPTIONS["expansion"])] = None,
    per_document: Annotated[int | None, flag(SEARCH_OPTIONS["per_document"])] = None,
    rerank: RerankOption = None,
    option: AssignOption = None,
    whole_rows: WholeOption = False,
    rows: RowsOption = None,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=VALUE", help="Fail below it: ndcg@10=0.70. Repeatable."),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the run of a --corpus in the library as well.")
    ] = False,
    against: Annotated[
        int | None, typer.Option(metavar="RUN", help="Compare with a kept run.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(help="By which metric questions got better or worse.")
    ] = None,
    runs: Annotated[
        bool, typer.Option("--runs", help="List the kept runs and ask nothing.")
    ] = False,
    library: LibraryOption = None,
    collection: CollectionOption = None,
    json_: JsonOption = False,
) -> None:
    """Ask a question set and print the metrics: of the library, or of a published set.

    A published set (--corpus) is indexed into a temporary library. Runs over the library's own
    question sets are kept in it; --against compares with one of them.
    """
    wanted = Wanted(
        corpus, contexts, question_set, questions, qrels, limit, whole_rows, rows, library,
        collection,
    )  # fmt: skip
    if runs:
        eval_output.put_runs(open_library(library, None), collection, json_=json_)
        return
    floors = _floors(fail_under or [])
    changes = {
        "mode": mode, "fusion": fusion, "limit": results, "expansion": expansion,
        "per_document": per_document, "rerank": rerank,
    }  # fmt: skip
    if against is not None:
        # Better now than after everything has been asked.
        open_library(library, collection).catalog.runs.get(against)
    with reporting() as reporter, opened(wanted, reporter, plain=contexts is not None) as ready:
        options = assigned(base_options(wanted, ready, **changes), option)
        found, table = _asked(wanted, ready, options, mode, reporter)
    home = _home(ready, wanted, needed=keep or against is not None)
    record = _kept(home, ready, found) if home is not None else None
    told = None
    if home is not None and record is not None:
        told, record = _compared(home, record, against, metric, keep=keep or corpus is None)
    _put(found, table, record, told, json_=json_)
    if found.partial or (table is not None and table.partial):
        raise typer.Exit(_STOPPED)
    _check(found, floors)


def _asked(
    wanted: Wanted, ready: Opened, options: SearchOptions, mode: Mode | None, reporter: Reporter
) -> tuple[Evaluation, Ablation | None]:
    """One evaluation; with recorded contexts, also every kind of context in every mode."""
    from ragkit.evaluation.ablation import ablate, grid_plans
    from ragkit.evaluation.run import measure
    from ragkit.evaluation.search_config import ColumnSettings

    table = None
    if wanted.contexts is not None:
        plans = [
            plan for plan in grid_plans(rrf=False) if mode is None or plan.changes["mode"] is mode
        ]
        table = ablate(plans, ready.trial, ready.plain, options, reporter)
        asked = [one.found for one in table.cells if one.found]
        if table.partial:
            return asked[-1], table
    return measure(ready.trial, ColumnSettings(options), reporter), table


def _home(ready: Opened, wanted: Wanted, *, needed: bool) -> Library | None:
    """The library that keeps the run: the one that was asked, or the person's own."""
    if ready.library is not None or not needed:
        return ready.library
    return open_library(wanted.library, wanted.collection, create=True)


def _kept(home: Library, ready: Opened, found: Evaluation) -> RunRecord:
    from ragkit.evaluation.runs import keep

    asked = None
    if ready.library is not None:
        asked = home.catalog.collections.get(home.settings.collection).id
    return keep(home.catalog, found, asked)


def _compared(
    home: Library, record: RunRecord, against: int | None, metric: str | None, *, keep: bool
) -> tuple[Difference | None, RunRecord | None]:
    """What differs from an earlier run; a run that is not to be kept is then forgotten."""
    from ragkit.evaluation.runs import difference

    try:
        told = None
        if against is not None:
            told = difference(home.catalog, against, record, metric)
    finally:
        if not keep:
            home.catalog.runs.remove(record.id)
    return told, record if keep else None


def _put(
    found: Evaluation,
    table: Ablation | None,
    record: RunRecord | None,
    told: Difference | None,
    *,
    json_: bool,
) -> None:
    from ragkit.evaluation import ablation_output

    if json_:
        value = {"version": __version__, **eval_output.evaluation_as_json(found)}
        if table is not None:
            value["table"] = ablation_output.as_json(table)["cells"]
        if record is not None:
            value["run"] = record.id
        if told is not None:
            value["against"] = eval_output.difference_as_json(told)
        console.put_json(value)
    else:
        lines = eval_output.evaluation_as_text(found)
        if table is not None:
            lines += ["", *ablation_output.as_text(table)]
        if told is not None:
            lines += ["", *eval_output.difference_as_text(told)]
        for line in lines:
            console.put(line)
    for notice in (*found.notices, *(told.notices if told else ())):
        console.say(notice)
    if record is not None:
        console.say(f"Kept as run {record.id}.")


def _floors(written: list[str]) -> dict[str, float]:
    floors = {}
    for one in written:
        match = _FLOOR.fullmatch(one.lower())
        if match is None:
            raise SettingsError(
                f"--fail-under {one} is not a metric and a number.",
                "Write it like ndcg@10=0.70.",
            )
        floors[match[1]] = float(match[2])
    return floors


def _check(found: Evaluation, floors: dict[str, float]) -> None:
    values = {metric.name: metric.value for metric in found.metrics}
    for name in floors:
        if name not in values:
            raise SettingsError(
                f"There is no metric {name} here.", f"There are {', '.join(sorted(values))}."
            )
    low = [f"{name} is {values[name]:.4f}" for name in floors if values[name] < floors[name]]
    if low:
        raise EvaluationError(
            f"Below the floor: {', '.join(low)}.", "Compare with an earlier run's settings."
        )
