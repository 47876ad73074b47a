"""``ragkit completion``: completion of commands, options and collections in a shell.

Scripts and protocol are typer's: the shell runs ``ragkit`` with ``VARIABLE`` set to its name.
"""

from __future__ import annotations

import re
from contextlib import suppress
from enum import StrEnum
from typing import Annotated

import typer
from typer.completion import get_completion_inspect_parameters, shell_complete

from ragkit.errors import SettingsError

VARIABLE = "_RAGKIT_COMPLETE"
_NEEDS_NO_QUOTES = re.compile(r"\w[\w.+-]*")


class Shell(StrEnum):
    """A shell that can complete."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def completion(
    context: typer.Context,
    shell: Annotated[Shell, typer.Argument(metavar="bash|zsh|fish", help="The shell in use.")],
) -> None:
    """Print the script that completes commands in a shell.

    bash: add the line  eval "$(ragkit completion bash)"  to ~/.bashrc.

    zsh: add the line  eval "$(ragkit completion zsh)"  to ~/.zshrc, after compinit.

    fish: run  ragkit completion fish > ~/.config/fish/completions/ragkit.fish
    """
    know_shells()
    root = context.find_root().command
    raise typer.Exit(shell_complete(root, {}, "ragkit", VARIABLE, f"source_{shell}"))


def know_shells() -> None:
    """Register the shells with typer, which it only does for its own options."""
    get_completion_inspect_parameters()


def collection_names(context: typer.Context, incomplete: str) -> list[str]:
    """Return the collections whose names begin with a text.

    Names that need quotes are left out, since typer's scripts insert values without any.
    """
    from ragkit.catalog.read_only import collection_names
    from ragkit.paths import LibraryPaths
    from ragkit.settings import load_settings

    with suppress(SettingsError):
        root = load_settings(library=context.params.get("library")).library
        names = collection_names(LibraryPaths(root.expanduser().absolute()))
        matching = [name for name in names if name.startswith(incomplete)]
        return [name for name in matching if _NEEDS_NO_QUOTES.fullmatch(name)]
    return []
