"""``ragkit eval``: how well a published question set is answered."""

from __future__ import annotations

import re
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragkit import __version__
from ragkit.errors import EvaluationError, SettingsError
from ragkit.results import Expansion, Fusion, Mode, SearchOptions
from ragkit.settings import Settings, load_settings
from ragkit.surfaces import console

if TYPE_CHECKING:
    from ragkit.evaluation.run import Evaluation
    from ragkit.indexing.progress import Progress

_FLOOR = re.compile(r"([a-z_]+(?:@\d+)?)=(\d+(?:\.\d+)?)")


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.command("eval")(evaluate_corpus)


def evaluate_corpus(
    corpus: Annotated[Path, typer.Option(metavar="DIR", help="A folder in BEIR's layout.")],
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Another queries.jsonl.")
    ] = None,
    qrels: Annotated[Path | None, typer.Option(metavar="FILE", help="Another qrels.tsv.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask only so many questions, the first ones.")
    ] = None,
    mode: Annotated[Mode | None, typer.Option(help="Which indexes to ask.")] = None,
    fusion: Annotated[Fusion | None, typer.Option(help="How to join their lists.")] = None,
    results: Annotated[
        int | None, typer.Option(min=1, max=200, help="Results that a search shows.")
    ] = None,
    expansion: Annotated[
        Expansion | None, typer.Option(help="How much is shown around a matched chunk.")
    ] = None,
    per_document: Annotated[
        int | None, typer.Option(min=0, help="Most results of one document; 0: any number.")
    ] = None,
    whole_rows: Annotated[
        bool, typer.Option("--whole-rows", help="Do not cut rows: each is one chunk.")
    ] = False,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(metavar="METRIC=VALUE", help="Fail below it: ndcg@10=0.70. Repeatable."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Index a question set into a temporary library, ask everything, and print the metrics."""
    from ragkit.evaluation.corpus import load_question_set
    from ragkit.evaluation.run import evaluate
    from ragkit.indexing.progress import Reporter

    floors = _floors(fail_under or [])
    given = load_question_set(corpus, questions, qrels, limit)
    settings = load_settings()
    options = _options(
        settings,
        mode=mode,
        fusion=fusion,
        limit=results,
        expansion=expansion,
        per_document=per_document,
    )
    with console.progress_bar() as watch, tempfile.TemporaryDirectory(prefix="ragkit-") as root:

        def tell(progress: Progress) -> bool:
            watch(progress)
            return True

        found = evaluate(
            given,
            settings,
            options,
            Path(root, "library"),
            Reporter(tell),
            whole_rows=whole_rows,
        )
    if json_:
        console.put_json(_as_json(found))
    else:
        for line in _as_text(found):
            console.put(line)
    for notice in found.notices:
        console.say(notice)
    _check(found, floors)


def _options(settings: Settings, **changes: Any) -> SearchOptions:
    search = settings.search.model_dump()
    known = {name: search[name] for name in search if name in SearchOptions.__slots__}
    given = {name: value for name, value in changes.items() if value is not None}
    return SearchOptions(**{**known, **given})


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


def _as_json(found: Evaluation) -> dict[str, Any]:
    shown = asdict(found)
    del shown["values"]
    return {"version": __version__, **shown}


def _as_text(found: Evaluation) -> list[str]:
    lines = [
        f"{found.name}: {found.questions} questions, {found.documents} documents, "
        f"{found.chunks} chunks, indexed in {found.index_seconds:.1f} s",
        "",
        f"{'metric':<18}{'value':>8}   95 % interval",
    ]
    lines += [
        f"{one.name:<18}{one.value:>8.4f}   {one.low:.4f} to {one.high:.4f}"
        for one in found.metrics
    ]
    lines += ["", f"{'stage, ms':<18}{'p50':>8}{'p95':>9}"]
    lines += [f"{one.name:<18}{one.p50:>8.2f}{one.p95:>9.2f}" for one in found.stages]
    return lines
