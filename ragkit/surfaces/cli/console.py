"""Output of commands: results on standard output, progress and errors on standard error."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from ragkit.errors import RagkitError
from ragkit.indexing.progress import Progress

STOPPED = 130
"""The exit code of what Ctrl+C stopped."""

_LOOK_SECONDS = 1.0
_SILENT_SECONDS, _SILENT_AGAIN_SECONDS = 15.0, 60.0


def write_what_can_be_written() -> None:
    """Escape characters that the terminal's encoding does not have, instead of failing.

    What is written to standard output fails if that is closed; to standard error, it is lost.
    """
    # As long as nothing has its number, the next file that is opened gets it.
    if sys.stdout is None:
        sys.stdout = _in_place_of(1, os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = _in_place_of(2, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _in_place_of(number: int, mode: int) -> TextIO:
    nowhere = os.open(os.devnull, mode)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
    return open(number, "w", encoding="utf-8", closefd=False)


@contextmanager
def writing() -> Iterator[None]:
    """Write to standard output.

    Raises:
        RagkitError: it cannot be written, for another reason than that its reader has gone.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        _discard(sys.stdout)
        why = (error.strerror or str(error)).lower()
        raise RagkitError(f"The output cannot be written: {why}.") from error


def flush() -> None:
    """Write what was printed so far.

    Raises:
        RagkitError: it cannot be written.
    """
    with writing():
        sys.stdout.flush()


def stop_writing() -> None:
    """Discard what is left to print: whoever read it has gone."""
    _discard(sys.stdout, sys.stderr)


def _discard(*streams: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        os.dup2(nowhere, stream.fileno())


def say(*lines: str) -> None:
    """Print lines for a person, on standard error."""
    sys.stderr.writelines(f"{line}\n" for line in lines)
    sys.stderr.flush()


def put(*lines: str) -> None:
    """Print lines of the result, on standard output.

    Raises:
        RagkitError: it cannot be written.
    """
    with writing():
        sys.stdout.writelines(f"{line}\n" for line in lines)


def put_json(value: Any) -> None:
    """Print a JSON value on one line of standard output."""
    encoding = (sys.stdout.encoding or "").lower().replace("-", "")
    put(json.dumps(value, ensure_ascii=encoding != "utf8"))


def write_new_file(file: Path, text: str) -> None:
    """Write a file that does not exist yet.

    Raises:
        RagkitError: it exists, or cannot be written.
    """
    try:
        with file.open("x", encoding="utf-8", newline="") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise RagkitError(f"{file} already exists.", "Choose another file.") from error
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise RagkitError(f"{file} cannot be written: {why}.", "Choose another place.") from error


def colourful() -> bool:
    """True when standard output is a terminal that wants colour."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


@contextmanager
def waiting_for_model() -> Iterator[Callable[[Progress], Progress]]:
    """Say that the command is waiting for the model whenever no progress comes for a while.

    Yields a function to call with each progress, which returns it.
    """
    moved, current, over = [time.monotonic()], [""], threading.Event()

    def note(progress: Progress) -> Progress:
        moved[0], current[0] = time.monotonic(), progress.current
        return progress

    def look() -> None:
        last_said = 0.0
        while not over.wait(_LOOK_SECONDS):
            idle = time.monotonic() - moved[0]
            if idle < _SILENT_SECONDS:
                last_said = 0.0
            elif idle - last_said >= (_SILENT_AGAIN_SECONDS if last_said else 0.0):
                last_said = idle
                about = f", at {current[0]}" if current[0] else ""
                stop = "Ctrl+C stops; finished work is kept."
                say(f"Waiting for the model for {idle:.0f} s{about}. {stop}")

    threading.Thread(target=look, name="ragkit-waiting", daemon=True).start()
    try:
        yield note
    finally:
        over.set()


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], Any]]:
    """Show a progress bar while work runs, if standard error is a terminal.

    Yields a function to call with each progress; it returns True, which means "go on".
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
