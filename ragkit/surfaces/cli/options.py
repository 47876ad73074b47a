"""Options of several commands, and how commands open the library and wait for jobs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragkit.option_table import Choice, Option
from ragkit.options import (
    CHUNKED_OPTIONS,
    SEARCH_OPTIONS,
    ChunkedOptions,
    CutMethod,
    Dedup,
    Fusion,
    Merge,
    Mode,
    Rerank,
    SearchOptions,
)
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.completion import collection_names
from ragkit.surfaces.failures import log_to

if TYPE_CHECKING:
    from ragkit.catalog.records import JobRecord
    from ragkit.library import Library

_CHUNKED = "chunked."
_opened: list[Library] = []

LibraryOption = Annotated[
    Path | None, typer.Option("--library", metavar="DIR", help="Library directory.")
]
CollectionOption = Annotated[
    str | None,
    typer.Option(
        "--collection",
        metavar="NAME",
        help="Collection to use.",
        autocompletion=collection_names,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ContextOption = Annotated[
    bool, typer.Option("--context", help="Print the results as a Markdown block.")
]
WebOption = Annotated[
    bool, typer.Option("--web", help="Search the web too, after showing what would be sent.")
]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


def flag(declared: Option, *flags: str) -> Any:
    """Return a search option as a command-line option; ``flags`` default to its name."""
    low, high = declared.bounds or (None, None)
    flags = flags or (f"--{declared.name.replace('_', '-')}",)
    return typer.Option(*flags, min=low, max=high, help=declared.help)


def _list_options(assignments: list[str] | None) -> list[str] | None:
    """Print all options with their values, and exit, if ``-o help`` was given."""
    if not any(each.partition("=")[0].strip() == "help" for each in assignments or ()):
        return assignments
    named = [*SEARCH_OPTIONS.items()]
    named += [(f"{_CHUNKED}{each.setting}", each) for each in CHUNKED_OPTIONS.values()]
    for name, declared in named:
        written = str(declared.default if declared.default is not None else "").lower()
        console.put(f"{name}={written}  ({_values_of(declared)})", f"  {declared.help}")
    raise typer.Exit


def _values_of(declared: Option) -> str:
    """Describe the values that an option may have."""
    off = ", or empty for off" if declared.nullable else ""
    if declared.bounds:
        low, high = declared.bounds
        return f"{low:g} to {high:g}{off}"
    if isinstance(declared.type, type) and issubclass(declared.type, Choice):
        return ", ".join(declared.type)
    return f"true or false{off}" if declared.type is bool else f"text{off}"


ModeOption = Annotated[Mode | None, flag(SEARCH_OPTIONS["mode"])]
FusionOption = Annotated[Fusion | None, flag(SEARCH_OPTIONS["fusion"])]
LimitOption = Annotated[int | None, flag(SEARCH_OPTIONS["limit"], "--limit", "-n")]
RerankOption = Annotated[Rerank | None, flag(SEARCH_OPTIONS["rerank"])]
MethodOption = Annotated[CutMethod | None, flag(CHUNKED_OPTIONS["method"])]
MergeOption = Annotated[Merge | None, flag(CHUNKED_OPTIONS["merge"])]
DedupOption = Annotated[Dedup | None, flag(CHUNKED_OPTIONS["dedup"])]
AssignOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-o",
        metavar="NAME=VALUE",
        help="Set any search option, or chunked.NAME of a long question. Repeatable; -o help "
        "lists them all.",
        is_eager=True,
        callback=_list_options,
    ),
]


def assigned(
    options: SearchOptions, assignments: Sequence[str] | None, *, chunked: bool = False
) -> SearchOptions:
    """Return ``options`` with the assignments of ``--option``.

    Those of a long text are left to :func:`assigned_chunked` if ``chunked``, or else refused.

    Raises:
        SettingsError: when there is no such option, or it cannot have this value.
    """
    from ragkit.errors import SettingsError
    from ragkit.option_codec import parse_option

    changes = {}
    for name, value in _pairs(assignments):
        if not name.startswith(_CHUNKED):
            changes[name] = parse_option(name, value)
        elif not chunked:
            raise SettingsError(f"{name} is an option of long questions.", "Add --chunked.")
    return replace(options, **changes)


def assigned_chunked(options: ChunkedOptions, assignments: Sequence[str] | None) -> ChunkedOptions:
    """Return the ``options`` of a long text with the assignments of ``--option``.

    Raises:
        SettingsError: when there is no such option, or it cannot have this value.
    """
    from ragkit.option_codec import parse_chunked_option

    pairs = [pair for pair in _pairs(assignments) if pair[0].startswith(_CHUNKED)]
    changes = (parse_chunked_option(name.removeprefix(_CHUNKED), value) for name, value in pairs)
    return replace(options, **dict(changes))


def _pairs(assignments: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    from ragkit.errors import SettingsError

    for assignment in assignments or ():
        name, given, value = assignment.partition("=")
        if not given:
            raise SettingsError(
                f"-o {assignment} is not NAME=VALUE.",
                "-o help lists the options. To leave a word out of what is found, write -- before "
                f"the question: ragkit search -- laptop -o{assignment}",
            )
        yield name.strip(), value.strip()


def open_library(library: Path | None, collection: str | None, *, create: bool = False) -> Library:
    """Open the library that the options and settings name; it is closed when the command ends."""
    from ragkit.library import Library
    from ragkit.settings import load_settings

    opened = Library.open(load_settings(library=library, collection=collection), create=create)
    _opened.append(opened)
    log_to(opened.paths.logs / "commands.log")
    console.say(*opened.notices)
    return opened


def close_libraries() -> None:
    """Close what the command opened, so that the catalog's file holds everything written."""
    while _opened:
        _opened.pop().close()


def confirm(yes: bool, question: str) -> None:
    """Ask before something that cannot be undone, unless ``yes``; exit if the answer is no."""
    if yes:
        return
    if not sys.stdin.isatty():
        console.say(f"{question} Pass --yes to confirm.")
        raise typer.Exit(2)
    if not typer.confirm(question, err=True):
        raise typer.Exit(1)


def wait_for(library: Library, job_id: int) -> JobRecord:
    """Wait for a job with a progress bar, and say how it ended."""
    with console.progress_bar() as watch:
        job = library.jobs.wait(job_id, watch)
    console.say(job.message)
    return job


def do_job(library: Library, job_id: int, *, as_json: bool = False) -> None:
    """Wait for a job and print it if ``as_json``; exit with 1 if it failed or was cancelled."""
    from ragkit.catalog.records import JobState

    job = wait_for(library, job_id)
    if as_json:
        console.put_json(asdict(job))
    if job.state is not JobState.DONE:
        raise typer.Exit(1)
