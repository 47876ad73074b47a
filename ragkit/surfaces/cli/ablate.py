"""``ragkit ablate``: what each field, each kind of vector and each kind of context contributes."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragkit.errors import EvaluationError, ModelError, SettingsError
from ragkit.indexing.progress import Progress, Reporter
from ragkit.library import Library
from ragkit.settings import load_settings
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.eval_options import (
    EvalRequest,
    open_experiment,
    refuse_unknown_set,
    takes_request,
)
from ragkit.surfaces.cli.options import JsonOption, open_library

if TYPE_CHECKING:
    from ragkit.evaluation.ablation_figures import AblationFigures


class Table(StrEnum):
    """A part of the ablation."""

    KEYWORDS = "keywords"
    VECTORS = "vectors"
    CONTEXTS = "contexts"


@takes_request
def ablate_set(
    request: EvalRequest,
    folder: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="A folder of documents, in a temporary library; --questions judges them.",
        ),
    ] = None,
    tables: Annotated[
        list[Table] | None, typer.Option("--table", help="Only this table. Repeatable.")
    ] = None,
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Where ablation.svg, .md, .csv and .json are written."),
    ] = Path("ablation"),
    json_: JsonOption = False,
) -> None:
    """Compare search settings on a question set, change by change.

    The result is tables and a chart.

    Without --corpus, it searches a collection's own documents, with the questions that people
    rated or imported, or else with those that a model wrote or writes now. With --folder, Ollama
    writes contexts first if it is running, and --questions is a file of judged questions.
    """
    if folder is not None and request.corpus is not None:
        raise SettingsError("--folder and --corpus cannot be combined.", "Leave one out.")
    chosen = [table for table in Table if table in (tables or list(Table))]
    with console.progress_bar() as watch:
        if folder is not None:
            figures = _of_folder(request, folder, chosen, watch)
        elif request.corpus is None:
            request.refuse_options_of_a_corpus()
            library = open_library(request.library, request.collection)
            refuse_unknown_set(library, request.question_set)
            figures = _of_library(library, request, request.question_set or None, chosen, watch)
        else:
            figures = _of_published(request, chosen, Reporter(watch))
    from ragkit.evaluation.ablation_figures import as_values
    from ragkit.surfaces.render_ablation import ablation_as_text

    values = as_values(figures)
    if json_:
        console.put_json(values)
    else:
        console.put("\n".join(ablation_as_text(figures)))
    for notice in figures.notices:
        console.say(notice)
    _write(figures, values, out)
    console.say(f"The chart and the figures are in {out}.")
    if figures.partial:
        raise typer.Exit(console.STOPPED)


def _of_library(
    library: Library,
    request: EvalRequest,
    question_set: str | None,
    tables: list[Table],
    watch: Callable[[Progress], Any],
) -> AblationFigures:
    return library.ablations.run(
        library.settings.collection, question_set, tables=tables, limit=request.limit, report=watch
    )


def _of_folder(
    request: EvalRequest, folder: Path, tables: list[Table], watch: Callable[[Progress], Any]
) -> AblationFigures:
    """Index a folder into a temporary library, have its contexts written, and measure."""
    request.refuse_options_of_a_corpus(but=("questions",))
    with tempfile.TemporaryDirectory(prefix="ragkit-") as place:
        settings = load_settings(library=Path(place), collection=request.collection)
        with Library.open(settings, create=True) as library:
            source = library.sources.add_folder(folder)
            library.jobs.wait(library.sources.sync(source), watch)
            try:
                library.contexts.write(watch=watch)
            except ModelError as error:
                console.say(f"No contexts are written: {error}")
            question_set = None
            if request.questions is not None:
                home = settings.collection
                question_set = library.judgments.import_file(home, request.questions).name
            return _of_library(library, request, question_set, tables, watch)


def _of_published(request: EvalRequest, tables: list[Table], reporter: Reporter) -> AblationFigures:
    from ragkit.evaluation.ablation import TABLES, ablate
    from ragkit.evaluation.ablation_figures import figures_of

    variants = [variant for table in tables for variant in TABLES[table]()]
    plain = Table.CONTEXTS in tables
    with open_experiment(request, reporter, plain=plain) as opened:
        experiment = opened.experiment
        ablation = ablate(variants, experiment, opened.plain, opened.options(), reporter)
    return figures_of(ablation, f"{len(experiment.questions)} questions of {experiment.name}")


def _write(figures: AblationFigures, values: dict[str, Any], folder: Path) -> None:
    """Write the figures in every form.

    Raises:
        EvaluationError: the folder cannot be written.
    """
    from ragkit.surfaces import render_ablation as render

    files = {
        "json": json.dumps(values, indent=1) + "\n",
        "md": render.ablation_as_markdown(figures),
        "csv": render.ablation_as_csv(figures),
        "svg": render.ablation_as_svg(figures),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for suffix, text in files.items():
            (folder / f"ablation.{suffix}").write_text(text, "utf-8", newline="\n")
    except OSError as error:
        raise EvaluationError(
            f"{folder} cannot be written: {(error.strerror or str(error)).lower()}.",
            "Choose another folder with --out.",
        ) from error
