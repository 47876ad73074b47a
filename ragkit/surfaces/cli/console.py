"""Output of commands: results on standard output, progress and errors on standard error."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ragkit.indexing.progress import Progress


def write_what_can_be_written() -> None:
    """Escape characters that the terminal's encoding does not have, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def stop_writing() -> None:
    """Discard what is left to print: the reader of standard output has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str) -> None:
    """Print a line for a person, on standard error."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def put(text: str) -> None:
    """Print a line of the result, on standard output."""
    sys.stdout.write(f"{text}\n")


def put_json(value: Any) -> None:
    """Print a JSON value on one line of standard output."""
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    put(json.dumps(value, ensure_ascii=encoding != "utf8"))


def colourful() -> bool:
    """True when standard output is a terminal that wants colour."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], Any]]:
    """Show a bar while work runs; nothing when standard error is no terminal.

    Yields what takes the progress; it returns True, which means "go on" to whoever may be stopped.
    """
    if not sys.stderr.isatty():
        yield lambda _: True
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[current]}", markup=False),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Looking", total=None, current="")

        def watch(progress: Progress) -> bool:
            bar.update(
                task,
                description=progress.phase,
                completed=progress.done,
                total=progress.total,
                current=progress.current[-60:],
            )
            return True

        yield watch
