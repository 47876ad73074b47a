"""The command line. Results go to standard output, everything else to standard error.

Exit codes: 0 done, 1 failed, 2 wrong use, 3 library unusable, 4 library busy, 5 not found.

A command is a function in a module of this folder, imported when it is run; ``COMMANDS`` says where
it is, and holds all that help needs to list it.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from ragkit.errors import RagkitError
from ragkit.surfaces.cli import completion, console
from ragkit.surfaces.cli.options import close_libraries
from ragkit.surfaces.failures import noted
from ragkit.versions import __version__

COMMANDS = {
    "add": ("documents.add", "Add folders to the library and index them."),
    "list": ("documents.list_", "List the documents, one per line."),
    "remove": ("documents.remove", "Remove a folder from the library, or an uploaded document."),
    "search": ("search.search", "Search the library."),
    "status": ("status.status", "Show what the library holds and what is running."),
    "serve": ("serve.serve", "Open the app in the browser."),
    "open": ("serve.open_", "Open the running app in the browser."),
    "token": ("serve.token", "Print the token that programs need."),
    "worker": ("serve.worker", "Keep the library up to date until stopped."),
    "service": ("service.service", "Start ragkit at login, and keep it running."),
    "ask": ("ask.ask", "Answer a question with sentences of the documents."),
    "threads": ("threads.threads", "Saved answers: list, show, export, rename and delete them."),
    "searches": ("searches.searches", "The log of your searches: list, clear, switch off or on."),
    "sync": ("sync.sync", "Bring the library up to date with its folders."),
    "eval": ("evaluate.evaluate_questions", "Evaluate search with a question set of the library."),
    "ablate": ("ablate.ablate_set", "Compare search settings on a question set, change by change."),
    "retry": ("documents.retry", "Retry the files that could not be read."),
    "doctor": ("doctor.doctor", "Check the library, and name the fix for each problem."),
    "verify": ("doctor.verify", "Check every document, chunk, vector and index entry."),
    "compact": ("sync.compact", "Merge the indexes, delete unused data and free disk space."),
    "jobs": ("jobs.jobs", "List recent jobs and how they ended, newest first."),
    "backup": ("recovery.backup", "Back up the catalog now."),
    "restore": ("recovery.restore", "Restore the catalog from a backup."),
    "recover": ("recovery.recover", "Recover a damaged catalog as far as possible."),
    "export": ("export.export_", "Export the whole library: texts, vectors, settings, uploads."),
    "import": ("export.import_", "Create a library from an archive."),
    "move": ("move.move", "Copy the library to a server, or from one to a folder."),
    "contextualize": ("contextualize.contextualize", "Write missing AI contexts."),
    "embedder": ("embedder.embedder", "Show the embedding model, or switch to another."),
    "models": ("models.models", "Models in folders: list, add and remove them."),
    "judgments": ("judgments.judgments", "Question sets: list, write, export and import them."),
    "show": ("documents.show", "Show a document, its contexts, its decisions and actions."),
    "related": ("related.related", "Find documents like a document, and those on its topics."),
    "collections": ("collections.collections", "List, make, rename and delete collections."),
    "completion": ("completion.completion", "Print the script that completes commands in a shell."),
    "mcp": ("mcp.mcp", "Give an agent tools to search with (Model Context Protocol)."),
    "version": ("version.version", "Print the version."),
}
"""Commands by name, in the order of the help: module and function, first sentence of its help."""


class Commands(Mapping[str, Any]):
    """The commands of ``COMMANDS``, each loaded when it is looked up."""

    def __getitem__(self, name: str) -> Any:
        return _load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class CommandGroup(TyperGroup):
    """The group of all commands, listed without loading any."""

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**{**attrs, "commands": Commands()})

    def list_commands(self, _: Any) -> list[str]:
        """Return every name, in the order of the help."""
        return [*COMMANDS]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands."""
        _listing().format_commands(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return the names that begin so."""
        ctx.command = _listing()
        return ctx.command.shell_complete(ctx, incomplete)

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Parse the arguments, which may print help or the version."""
        with _stopped_is_said(), _no_reader_is_no_failure(), console.writing():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        """Run a command, and close what it opened however it ends."""
        try:
            with _stopped_is_said(), _no_reader_is_no_failure():
                return super().invoke(ctx)
        finally:
            close_libraries()


@contextmanager
def _stopped_is_said() -> Iterator[None]:
    """Exit with 130 when stopped by Ctrl+C; click would exit with 1."""
    try:
        yield
    except KeyboardInterrupt:
        console.say("ragkit: stopped. Finished work is kept.")
        raise typer.Exit(console.STOPPED) from None


@contextmanager
def _no_reader_is_no_failure() -> Iterator[None]:
    """Exit with 0 if the reader of the output has gone; click would exit with 1."""
    try:
        yield
    except BrokenPipeError:
        console.stop_writing()
        raise typer.Exit from None


def _listing() -> TyperGroup:
    """Return a group whose commands have names and help, and do nothing."""
    commands = [TyperCommand(name, short_help=line) for name, (_, line) in COMMANDS.items()]
    return TyperGroup(commands=commands, rich_markup_mode=None)


@cache
def _load(name: str) -> Any:
    module, _, attribute = COMMANDS[name][0].partition(".")
    command = getattr(import_module(f"ragkit.surfaces.cli.{module}"), attribute)
    part = typer.Typer(rich_markup_mode=None)
    if isinstance(command, typer.Typer):
        part.add_typer(command, name=name)
    else:
        part.command(name)(command)
    loaded = typer.main.get_group(part).commands[name]
    _take_backend(loaded)
    return loaded


def _take_backend(command: Any) -> None:
    """Add ``--backend`` to a command that has ``--library``, and to its subcommands."""
    for each in getattr(command, "commands", {}).values():
        _take_backend(each)
    if any("--library" in parameter.opts for parameter in command.params):
        command.params.append(_backend_option())


@cache
def _backend_option() -> Any:
    """Return the option as click has it; its value goes to the settings, not to the command."""
    part = typer.Typer(add_completion=False)
    part.command()(_backend)
    (option,) = typer.main.get_command(part).params
    option.expose_value = False
    return option


def _use_backend(address: str | None) -> None:
    """Set the address for this process and the ones it starts, as the variable would."""
    if address is not None:
        os.environ["RAGKIT_BACKEND"] = address


def _backend(
    backend: Annotated[
        str | None,
        typer.Option(
            "--backend",
            metavar="ADDRESS",
            callback=_use_backend,
            help="PostgreSQL database of the library: postgresql://USER@HOST/DATABASE.",
        ),
    ] = None,
) -> None:
    """Declare the option for :func:`_backend_option`."""


app = typer.Typer(
    name="ragkit",
    cls=CommandGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _say_version(asked: bool) -> None:
    if asked:
        console.put(__version__)
        raise typer.Exit


@app.callback()
def ragkit(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help=COMMANDS["version"][1]
        ),
    ] = False,
) -> None:
    """A private search engine for your own documents."""


def main() -> None:
    """Run the command line; every failure ends with a sentence and an exit code."""
    # Files that commands, the worker and the page server write are private to this user.
    os.umask(0o077)
    console.write_what_can_be_written()
    # Warnings reach people as notices; logging must not print them as well.
    logging.getLogger("ragkit").addHandler(logging.NullHandler())
    if completion.VARIABLE in os.environ:
        completion.know_shells()
    try:
        try:
            app()
        finally:
            console.flush()
    except RagkitError as error:
        console.say(f"ragkit: {error}")
        sys.exit(error.exit_code)
    except BrokenPipeError:
        console.stop_writing()
        sys.exit(0)
    except Exception as error:  # noqa: BLE001 - nobody is shown a traceback
        console.say(f"ragkit: {noted(error)}")
        sys.exit(1)
