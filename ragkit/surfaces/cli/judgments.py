"""``ragkit judgments``: list, write, export and import question sets; rate logged questions."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ragkit.errors import EvaluationError
from ragkit.evaluation.generated_sets import MOST_WANTED, WRITTEN
from ragkit.formatting import plural
from ragkit.library.logged_questions import LOGGED, as_csv
from ragkit.library.search_log import DAYS
from ragkit.surfaces import render, render_evaluation
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.eval_options import SetOption, refuse_unknown_set
from ragkit.surfaces.cli.options import CollectionOption, JsonOption, LibraryOption, open_library

judgments = typer.Typer(
    help="Question sets: list, write, export and import them.", no_args_is_help=True
)


@judgments.command("list")
def list_(
    library: LibraryOption = None, collection: CollectionOption = None, json_: JsonOption = False
) -> None:
    """List the question sets of a collection."""
    opened = open_library(library, collection)
    collection = opened.settings.collection
    writers, sets = opened.judgments.writers(collection), opened.judgments.sets(collection)
    if json_:
        for value in render_evaluation.sets_as_json(sets, writers):
            console.put_json(value)
        return
    for name, (questions, places) in sets.items():
        models = writers.get(name, ())
        line = f"{name or '(judged)':<24} {questions:>6} questions {places:>7} judgments"
        by = f"   written by {render.plain(' and '.join(models))}" if models else ""
        console.put(f"{line}{by}")


@judgments.command("write")
def write(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    count: Annotated[
        int,
        typer.Option("--count", min=1, max=MOST_WANTED, help="Number of questions in the set."),
    ] = 20,
    question_set: Annotated[
        str, typer.Option("--set", metavar="NAME", help="Name of the set.")
    ] = WRITTEN,
    model: Annotated[
        str,
        typer.Option("--model", help="An Ollama model; by default the one that writes contexts."),
    ] = "",
    seed: Annotated[
        int, typer.Option("--seed", help="Random seed for the choice of passages.")
    ] = 0,
    json_: JsonOption = False,
) -> None:
    """Generate questions from passages of the collection with a local model.

    An unfinished set is continued. Each question is printed with its type and the
    document that answers it.
    """
    opened = open_library(library, collection)
    with console.progress_bar() as bar, console.waiting_for_model() as watch:
        report = opened.judgments.generate(
            opened.settings.collection, count=count, name=question_set, seed=seed, model=model,
            report=lambda progress: bar(watch(progress)),
        )  # fmt: skip
    if json_:
        value = {**asdict(report), "set": report.name, "kinds": report.kinds}
        del value["name"]
        console.put_json(value)
    else:
        for written in report.questions:
            console.put(f"{written.kind:<12}{render.plain(f'{written.text}  {written.path}')}")
    for sentence in report.sentences:
        console.say(render.plain(sentence))
    if report.total < report.wanted:
        raise typer.Exit(console.STOPPED if report.stopped else 1)


@judgments.command("logged")
def logged(
    file: Annotated[Path, typer.Argument(metavar="FILE.csv", help="A new file to write.")],
    library: LibraryOption = None,
    collection: CollectionOption = None,
    days: Annotated[
        int, typer.Option("--days", min=1, max=DAYS, help="Only searches of the last N days.")
    ] = DAYS,
    count: Annotated[
        int, typer.Option("--count", min=1, max=MOST_WANTED, help="Maximum number of questions.")
    ] = 50,
    question_set: Annotated[
        str, typer.Option("--set", metavar="NAME", help="The question set to rate them for.")
    ] = LOGGED,
) -> None:
    """Write logged questions, with the places they showed, to a CSV file to be rated.

    The questions asked most often come first. Replace each ? by 2 (relevant), 1 (partly) or
    0 (not), then import the file. Lines that still have a ? are left out.
    """
    opened = open_library(library, collection)
    collection = opened.settings.collection
    asked = opened.judgments.logged(collection, opened.searches.log(days), question_set)[:count]
    if not asked:
        raise EvaluationError(
            f"No search of {collection} is in the log.", "ragkit searches list shows what there is."
        )
    rows = [
        (question, opened.judgments.offered(collection, question, question_set))
        for question in asked
    ]
    console.write_new_file(file, as_csv(rows))
    places = sum(len(offered) for _, offered in rows)
    console.say(
        f"{plural(len(rows), 'question')} with {plural(places, 'place')} to rate are in {file}.",
        f'Rate them, then: ragkit judgments import {file} --name "{question_set}"',
    )
    rated = opened.judgments.sets(collection).get(question_set, (0, 0))[0]
    if missing := rated - sum(logged.rated for logged in asked):
        console.say(
            f'The import replaces "{question_set}" and its {plural(missing, "rated question")} '
            "that the file lacks: to keep them, choose another name."
        )


@judgments.command("export")
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write the files.")],
    library: LibraryOption = None,
    collection: CollectionOption = None,
    question_set: SetOption = "",
) -> None:
    """Export a question set as a BEIR folder and as questions.jsonl."""
    opened = open_library(library, collection)
    collection = opened.collections.get(opened.settings.collection).name
    refuse_unknown_set(opened, question_set)
    judged = opened.judgments.collect(collection, question_set)
    for notice in judged.notices:
        console.say(notice)
    opened.judgments.export(collection, judged, folder)
    count = sum(len(question.judgments) for question in judged.asked)
    console.say(f"{len(judged.asked)} questions with {count} judgments are in {folder}.")


@judgments.command("import")
def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A .csv or .jsonl file, or a BEIR folder.")
    ],
    library: LibraryOption = None,
    collection: CollectionOption = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Name of the set; by default the file's name.")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Import rated questions. Lines that cannot be used are reported, the rest is kept."""
    opened = open_library(library, collection)
    imported = opened.judgments.import_file(opened.settings.collection, file, name)
    for notice in imported.notices:
        console.say(notice)
    questions, places = imported.questions, imported.judgments
    if json_:
        console.put_json({"set": imported.name, "questions": questions, "judgments": places})
    console.say(f'{questions} questions with {places} judgments are in "{imported.name}".')
