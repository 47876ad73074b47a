"""``ragkit searches``: list the log of searches, clear it, and switch it on and off."""

from __future__ import annotations

from typing import Annotated

import typer

from ragkit.errors import QueryError
from ragkit.formatting import local_time, plural
from ragkit.library.search_figures import Repeated, SearchFigures, figures, repeated, slowest
from ragkit.library.search_log import DAYS, LoggedSearch
from ragkit.surfaces import render
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import (
    JsonOption,
    LibraryOption,
    YesOption,
    confirm,
    open_library,
)

_LETTERS = 200

searches = typer.Typer(
    help="The log of your searches: list, clear, switch off or on.", no_args_is_help=True
)


@searches.command("list")
def list_(
    library: LibraryOption = None,
    days: Annotated[
        int, typer.Option("--days", min=1, max=DAYS, help="Only searches of the last N days.")
    ] = DAYS,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Maximum number of searches.")] = 50,
    slow: Annotated[bool, typer.Option("--slow", help="Slowest first.")] = False,
    without_results: Annotated[
        bool, typer.Option("--without-results", help="Only searches that found nothing close.")
    ] = False,
    most_repeated: Annotated[
        bool, typer.Option("--repeated", help="Questions asked more than once, with how often.")
    ] = False,
    json_: JsonOption = False,
) -> None:
    """List the searches of pages, commands and programs, newest first."""
    if most_repeated and (slow or without_results):
        raise QueryError(
            "--repeated cannot be combined with --slow or --without-results.", "Leave one out."
        )
    history = open_library(library, None).searches
    logged = history.log(days)
    if most_repeated:
        for same in repeated(logged)[:limit]:
            if json_:
                console.put_json({"times": same.times, "median_ms": same.median_ms,
                                  "last": same.last.as_json()})  # fmt: skip
            else:
                console.put(_repeated_line(same))
    else:
        chosen = [search for search in logged if search.in_vain or not without_results]
        for search in (slowest(chosen) if slow else chosen)[:limit]:
            if json_:
                console.put_json(search.as_json())
            else:
                console.put(_line(search))
    console.say(_summary(figures(logged), days))
    if not history.allowed:
        console.say("The settings keep no searches (search_history = false).")
    elif not history.kept:
        console.say("The log is switched off. ragkit searches on switches it on.")


@searches.command()
def clear(library: LibraryOption = None, yes: YesOption = False) -> None:
    """Delete the log and the recent searches. Pinned searches stay."""
    history = open_library(library, None).searches
    count = plural(len(history.log()), "search")
    confirm(yes, f"Delete the log with {count}?")
    history.clear()
    console.say(f"Deleted the log with {count}.")


@searches.command()
def off(library: LibraryOption = None) -> None:
    """Stop logging searches. What was logged stays until it is cleared."""
    open_library(library, None).searches.switch(on=False)
    console.say("The log of searches is off. ragkit searches clear deletes what is there.")


@searches.command()
def on(library: LibraryOption = None) -> None:
    """Log searches again."""
    open_library(library, None).searches.switch(on=True)
    console.say("The log of searches is on.")


def _line(search: LoggedSearch) -> str:
    results = f"{search.results} of {search.documents}" if search.results else "none"
    if search.results and search.nothing_close:
        results += ", none close"
    took = "from memory" if search.from_memory else f"{search.ms:.0f} ms"
    return (
        f"{local_time(search.at)}  {search.door:<8} {took:>11}  {results:<22} {_question(search)}"
    )


def _repeated_line(same: Repeated) -> str:
    took = "" if same.median_ms is None else f"{same.median_ms:.0f} ms"
    return f"{same.times:>5} x  {local_time(same.last.at)}  {took:>9}  {_question(same.last)}"


def _question(search: LoggedSearch) -> str:
    asked = " ".join(search.question.split())
    cut = " …" if search.cut or len(asked) > _LETTERS else ""
    filters = f"  {search.filters}" if search.filters else ""
    return render.plain(f"{asked[:_LETTERS]}{cut}{filters}")


def _summary(stats: SearchFigures, days: int) -> str:
    line = f"{plural(stats.searches, 'search')} in {plural(days, 'day')}"
    if stats.median_ms is not None and stats.p95_ms is not None:
        line += f", median {stats.median_ms:.1f} ms, 95th percentile {stats.p95_ms:.1f} ms"
    return f"{line}, {stats.in_vain} found nothing close."
