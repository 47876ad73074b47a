"""``ragkit judgments``: questions and what is right for them; listed, written, out and in."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ragkit.errors import EvaluationError
from ragkit.evaluation.generated_sets import MOST_WANTED, WRITTEN, write_set
from ragkit.indexing.progress import Progress
from ragkit.surfaces import render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import CollectionOption, JsonOption, LibraryOption, open_library

_SetOption = Annotated[
    str, typer.Option("--set", metavar="NAME", help="A question set; without: judged on the pages.")
]

_STOPPED = 130

judgments = typer.Typer(
    help="Judged questions: list, write, export and import them.", no_args_is_help=True
)


def register(app: typer.Typer) -> None:
    """Add this module's commands."""
    app.add_typer(judgments, name="judgments")


@judgments.command("list")
def list_(
    library: LibraryOption = None, collection: CollectionOption = None, json_: JsonOption = False
) -> None:
    """List the question sets of a collection."""
    opened = open_library(library, collection)
    collection = opened.settings.collection
    writers = opened.judgments.writers(collection)
    for name, (questions, places) in opened.judgments.sets(collection).items():
        by = list(writers.get(name, ()))
        if json_:
            counted = {"set": name, "questions": questions, "judgments": places}
            console.put_json({**counted, "written_by": by} if by else counted)
            continue
        line = f"{name or '(judged)':<24} {questions:>6} questions {places:>7} judgments"
        console.put(f"{line}   written by {render.plain(' and '.join(by))}" if by else line)


@judgments.command("write")
def write(
    library: LibraryOption = None,
    collection: CollectionOption = None,
    count: Annotated[
        int,
        typer.Option("--count", min=1, max=MOST_WANTED, help="Questions that the set is to have."),
    ] = 20,
    question_set: Annotated[
        str, typer.Option("--set", metavar="NAME", help="What to call the set.")
    ] = WRITTEN,
    model: Annotated[
        str, typer.Option("--model", help="A model that Ollama has; without: as for contexts.")
    ] = "",
    seed: Annotated[int, typer.Option("--seed", help="Another one takes other passages.")] = 0,
    json_: JsonOption = False,
) -> None:
    """Have a local model write questions that passages of the collection answer.

    A set that it has begun is gone on with. Each question is printed, with its kind and the
    document that answers it.
    """
    opened = open_library(library, collection)
    with console.progress_bar() as watch:

        def report(progress: Progress) -> bool:
            watch(progress)
            return True

        found = write_set(
            opened, opened.settings.collection, count=count, name=question_set, seed=seed,
            model=model, report=report,
        )  # fmt: skip
    if json_:
        told = {**asdict(found), "set": found.name, "kinds": found.kinds}
        del told["name"]
        console.put_json(told)
    else:
        for one in found.questions:
            console.put(f"{one.kind:<12}{render.plain(f'{one.text}  {one.path}')}")
    for sentence in found.sentences:
        console.say(render.plain(sentence))
    if found.total < found.wanted:
        raise typer.Exit(_STOPPED if found.stopped else 1)


@judgments.command("export")
def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write the files.")],
    library: LibraryOption = None,
    collection: CollectionOption = None,
    question_set: _SetOption = "",
) -> None:
    """Write a question set as a BEIR folder and as questions.jsonl."""
    opened = open_library(library, collection)
    collection = opened.collections.get(opened.settings.collection).name
    names = opened.judgments.sets(collection)
    if question_set and question_set not in names:
        listed = ", ".join(name for name in names if name) or "none yet"
        raise EvaluationError(
            f'There is no question set "{question_set}".', f"There are: {listed}."
        )
    given = opened.judgments.collect(collection, question_set)
    for notice in given.notices:
        console.say(notice)
    opened.judgments.export(collection, given, folder)
    count = sum(len(one.judgments) for one in given.questions)
    console.say(f"{len(given.questions)} questions with {count} judgments are in {folder}.")


@judgments.command("import")
def import_(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A .csv or .jsonl file, or a BEIR folder.")
    ],
    library: LibraryOption = None,
    collection: CollectionOption = None,
    name: Annotated[
        str | None, typer.Option("--name", help="What to call the set; usually as the file.")
    ] = None,
    json_: JsonOption = False,
) -> None:
    """Take over judged questions. What cannot be used is said, and the rest kept."""
    opened = open_library(library, collection)
    found = opened.judgments.import_file(opened.settings.collection, file, name)
    for notice in found.notices:
        console.say(notice)
    if json_:
        console.put_json(
            {"set": found.name, "questions": found.questions, "judgments": found.judgments}
        )
    console.say(
        f'{found.questions} questions with {found.judgments} judgments are in "{found.name}".'
    )
