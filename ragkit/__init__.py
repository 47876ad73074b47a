"""ragkit: a private search engine for a person's own documents.

The public API is what ``__all__`` names; docs/api.md shows it in use. Importing this package
imports nothing else: each name is imported from its module when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from ragkit.answers import Source, Thread, Turn, WrittenAnswer
    from ragkit.errors import (
        LibraryBusyError,
        LibraryError,
        ModelError,
        NotFoundError,
        QueryError,
        RagkitError,
        SettingsError,
        SourceError,
    )
    from ragkit.library import DocumentDetail, Library
    from ragkit.options import (
        CHUNKED_OPTIONS,
        SEARCH_OPTIONS,
        ChunkedOptions,
        Filters,
        SearchOptions,
    )
    from ragkit.reading.conversations import consolidate_messages_to_markdown
    from ragkit.results import Answer, DocumentRef, MatchedChunk, Passage, Result
    from ragkit.retrieval.context_block import format_as_context
    from ragkit.retrieval.merge import deduplicate_by_document
    from ragkit.retrieval.multi_query import ChunkedAnswer
    from ragkit.settings import Settings, load_settings
    from ragkit.surfaces.json_values import as_json
    from ragkit.versions import __version__

__all__ = [  # noqa: RUF022 (by subject)
    # A library: opened, filled and searched.
    "open",
    "Library",
    "DocumentDetail",
    # How to search; the tables describe each option with its default and bounds.
    "SearchOptions",
    "ChunkedOptions",
    "Filters",
    "SEARCH_OPTIONS",
    "CHUNKED_OPTIONS",
    # What a search returns.
    "Answer",
    "Result",
    "DocumentRef",
    "Passage",
    "MatchedChunk",
    "ChunkedAnswer",
    "as_json",
    # Written answers, and threads of questions.
    "Source",
    "WrittenAnswer",
    "Turn",
    "Thread",
    # For rows of any program: mappings or objects with document_id, similarity, content.
    "consolidate_messages_to_markdown",
    "deduplicate_by_document",
    "format_as_context",
    # Settings, from the settings file and the environment.
    "Settings",
    "load_settings",
    # Errors; str(error) says what happened, error.cure what to do about it.
    "RagkitError",
    "LibraryError",
    "LibraryBusyError",
    "NotFoundError",
    "SourceError",
    "QueryError",
    "SettingsError",
    "ModelError",
    "__version__",
]

_MODULES = {
    "ragkit.answers": ("Source", "Thread", "Turn", "WrittenAnswer"),
    "ragkit.library": ("DocumentDetail", "Library"),
    "ragkit.options": (
        "CHUNKED_OPTIONS",
        "SEARCH_OPTIONS",
        "ChunkedOptions",
        "Filters",
        "SearchOptions",
    ),
    "ragkit.reading.conversations": ("consolidate_messages_to_markdown",),
    "ragkit.results": ("Answer", "DocumentRef", "MatchedChunk", "Passage", "Result"),
    "ragkit.retrieval.context_block": ("format_as_context",),
    "ragkit.retrieval.merge": ("deduplicate_by_document",),
    "ragkit.retrieval.multi_query": ("ChunkedAnswer",),
    "ragkit.settings": ("Settings", "load_settings"),
    "ragkit.surfaces.json_values": ("as_json",),
    "ragkit.versions": ("__version__",),
}


def open(  # noqa: A001 (called as ragkit.open)
    path: Path | str | None = None, *, create: bool = False, **settings: Any
) -> Library:
    """Open the library in a directory; ``create`` makes one if there is none.

    ``path`` is a directory of ragkit's own, by default the one that pages and commands use. Your
    documents stay where they are; add them with ``library.sources.add_folder``. Keyword arguments
    override the settings file and ``RAGKIT_*`` variables, in the same groups::

        with ragkit.open("library", create=True, search={"limit": 5}) as library:
            library.jobs.wait(library.sources.sync(library.sources.add_folder("documents")))
            answer = library.search("How long may a refund take?")

    Use it in a ``with`` statement, or call ``close()``. A library may be shared between threads,
    but not with a forked process, which must open it again.

    Raises:
        SettingsError: a setting is unknown or its value is not valid.
        LibraryError: there is no library, it is damaged, or it is newer than this program.
    """
    from ragkit.library import Library
    from ragkit.settings import load_settings

    return Library.open(load_settings(library=path, **settings), create=create)


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    modules = (module for module, names in _MODULES.items() if name in names)
    value = globals()[name] = getattr(import_module(next(modules, "ragkit.errors")), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
