"""The table of the tools of the door for agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.surfaces.mcp.asking import ask
from ragkit.surfaces.mcp.browsing import (
    get_document,
    list_collections,
    list_documents,
    neighbours,
    status,
)
from ragkit.surfaces.mcp.searching import rag_search, rag_search_long
from ragkit.surfaces.mcp.tool import Tool

if TYPE_CHECKING:
    from ragkit.settings import Settings

_TOOLS = (
    rag_search,
    rag_search_long,
    get_document,
    neighbours,
    list_documents,
    list_collections,
    status,
    ask,
)


def tools(settings: Settings) -> tuple[Tool, ...]:
    """Return all tools; the defaults of what they take are those of the settings."""
    return tuple(make(settings) for make in _TOOLS)
