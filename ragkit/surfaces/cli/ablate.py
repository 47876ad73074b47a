"""``ragkit ablate``: what each field, each kind of vector and each kind of context contributes."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ragkit.errors import EvaluationError
from ragkit.indexing.progress import Reporter
from ragkit.surfaces import render_evaluation as render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.eval_options import (
    ContextsOption,
    CorpusOption,
    EvalRequest,
    LimitOption,
    QrelsOption,
    QuestionsOption,
    RowsOption,
    SetOption,
    WholeOption,
    open_experiment,
)
from ragkit.surfaces.cli.options import CollectionOption, JsonOption, LibraryOption

_STOPPED = 130


class Table(StrEnum):
    """A part of the ablation."""

    KEYWORDS = "keywords"
    VECTORS = "vectors"
    CONTEXTS = "contexts"


def register(app: typer.Typer) -> None:
    """Add this module's command."""
    app.command(name="ablate")(ablate_set)


def ablate_set(
    corpus: CorpusOption = None,
    question_set: SetOption = "",
    contexts: ContextsOption = None,
    questions: QuestionsOption = None,
    qrels: QrelsOption = None,
    limit: LimitOption = None,
    whole_rows: WholeOption = False,
    rows: RowsOption = None,
    tables: Annotated[
        list[Table] | None, typer.Option("--table", help="Only this table. Repeatable.")
    ] = None,
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where ablation.svg and ablation.json are written.")
    ] = Path("ablation"),
    library: LibraryOption = None,
    collection: CollectionOption = None,
    json_: JsonOption = False,
) -> None:
    """Ask a question set in many ways that differ in one thing each; print and draw the figures."""
    from ragkit.evaluation.ablation import (
        ablate,
        grid_variants,
        keyword_variants,
        vector_variants,
    )

    request = EvalRequest(
        corpus, contexts, question_set, questions, qrels, limit, whole_rows, rows, library,
        collection,
    )  # fmt: skip
    makers = {
        Table.KEYWORDS: keyword_variants,
        Table.VECTORS: vector_variants,
        Table.CONTEXTS: grid_variants,
    }
    chosen = [table for table in Table if table in (tables or list(Table))]
    variants = [variant for table in chosen for variant in makers[table]()]
    plain = Table.CONTEXTS in chosen
    with (
        console.progress_bar() as watch,
        open_experiment(request, Reporter(watch), plain=plain) as opened,
    ):
        options = opened.options(request)
        ablation = ablate(variants, opened.experiment, opened.plain, options, Reporter(watch))
    value = render.ablation_as_json(ablation)
    _write(out, json.dumps(value, indent=1), render.ablation_as_svg(ablation))
    if json_:
        console.put_json(value)
    else:
        for line in render.ablation_as_text(ablation):
            console.put(line)
    for notice in ablation.notices:
        console.say(notice)
    console.say(f"The chart and the figures are in {out}.")
    if ablation.partial:
        raise typer.Exit(_STOPPED)


def _write(folder: Path, figures: str, chart: str) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ablation.json").write_text(figures + "\n", "utf-8", newline="\n")
        (folder / "ablation.svg").write_text(chart, "utf-8", newline="\n")
    except OSError as error:
        raise EvaluationError(
            f"{folder} cannot be written: {(error.strerror or str(error)).lower()}.",
            "Name another folder with --out.",
        ) from error
