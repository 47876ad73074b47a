"""``ragkit ablate``: what each field, each kind of vector and each kind of context is worth."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ragkit.errors import EvaluationError
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.eval_options import (
    ContextsOption,
    CorpusOption,
    LimitOption,
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
    from ragkit.evaluation import ablation_output
    from ragkit.evaluation.ablation import ablate, grid_plans, keyword_plans, vector_plans

    wanted = Wanted(
        corpus, contexts, question_set, questions, qrels, limit, whole_rows, rows, library,
        collection,
    )  # fmt: skip
    makers = {
        Table.KEYWORDS: keyword_plans, Table.VECTORS: vector_plans, Table.CONTEXTS: grid_plans
    }  # fmt: skip
    chosen = [one for one in Table if one in (tables or list(Table))]
    plans = [plan for one in chosen for plan in makers[one]()]
    plain = Table.CONTEXTS in chosen
    with reporting() as reporter, opened(wanted, reporter, plain=plain) as ready:
        found = ablate(plans, ready.trial, ready.plain, base_options(wanted, ready), reporter)
    value = ablation_output.as_json(found)
    written = _written(out, json.dumps(value, indent=1), ablation_output.as_svg(found))
    if json_:
        console.put_json(value)
    else:
        for line in ablation_output.as_text(found):
            console.put(line)
    for notice in found.notices:
        console.say(notice)
    console.say(f"The chart and the figures are in {written}.")
    if found.partial:
        raise typer.Exit(_STOPPED)


def _written(folder: Path, figures: str, chart: str) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "ablation.json").write_text(figures + "\n", "utf-8", newline="\n")
        (folder / "ablation.svg").write_text(chart, "utf-8", newline="\n")
    except OSError as error:
        raise EvaluationError(
            f"{folder} cannot be written: {(error.strerror or str(error)).lower()}.",
            "Name another folder with --out.",
        ) from error
    return folder
