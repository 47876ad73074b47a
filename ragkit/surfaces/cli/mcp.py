"""``ragkit mcp``: the library as tools for an agent."""

from __future__ import annotations

from ragkit.settings import load_settings
from ragkit.surfaces.cli.options import CollectionOption, LibraryOption


def mcp(library: LibraryOption = None, collection: CollectionOption = None) -> None:
    """Give an agent tools to search with (Model Context Protocol).

    It starts this command itself, and speaks with it over standard input and output.
    """
    from ragkit.surfaces.mcp.stdio import serve

    serve(load_settings(library=library, collection=collection))
