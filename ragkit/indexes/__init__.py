"""Keyword and vector indexes: caches that are built from the catalog and can be thrown away."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragkit.indexes.protocol import EntrySource, IndexBackend
    from ragkit.models.base import Embedder
    from ragkit.paths import LibraryPaths


def open_backend(source: EntrySource, paths: LibraryPaths, embedder: Embedder) -> IndexBackend:
    """Return the indexes of a library's collections; another backend would be chosen here."""
    from ragkit.indexes.local.backend import LocalBackend

    return LocalBackend(source, paths, embedder)
