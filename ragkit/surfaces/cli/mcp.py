"""``ragkit mcp``: the library as tools for an agent."""

from __future__ import annotations

import sys

from ragkit.settings import load_settings
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import CollectionOption, LibraryOption

_FOR_CLIENTS = (
    "An agent starts this command by itself: name it in the settings of yours (docs/agents.md). "
    "Ctrl+D ends it."
)


def mcp(library: LibraryOption = None, collection: CollectionOption = None) -> None:
    """Give an agent tools to search with (Model Context Protocol).

    It starts this command itself, and speaks with it over standard input and output.
    """
    from ragkit.surfaces.mcp.stdio import serve

    if sys.stdin.isatty():
        console.say(_FOR_CLIENTS)
    serve(load_settings(library=library, collection=collection))
