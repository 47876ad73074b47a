"""Keyword and vector indexes: caches that are built from the catalog and can be thrown away."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragkit.indexes.protocol import EntrySource, IndexBackend
    from ragkit.models.base import Embedder
    from ragkit.paths import LibraryPaths
    from ragkit.settings import IndexSettings


def open_backend(
    source: EntrySource,
    paths: LibraryPaths,
    embedder: Embedder,
    settings: IndexSettings | None = None,
) -> IndexBackend:
    """Return the indexes of a library's collections: in its folder, or on a server of the settings.

    Raises:
        SettingsError: there is a server, and what speaks to it is not installed.
    """
    if settings is not None and settings.server:
        return _on_server(source, embedder, settings)
    from ragkit.indexes.local.backend import LocalBackend

    return LocalBackend(source, paths, embedder)


def _on_server(source: EntrySource, embedder: Embedder, settings: IndexSettings) -> IndexBackend:
    from ragkit.errors import SettingsError

    try:
        from ragkit.indexes.qdrant.backend import QdrantBackend
        from ragkit.indexes.qdrant.server import Server
    except ModuleNotFoundError as error:
        raise SettingsError(
            "What speaks to a Qdrant server is not installed.",
            'Run pip install "ragkit-search[qdrant]", or set index.server to nothing.',
        ) from error
    server = Server.at(settings.server, settings.key.get_secret_value())
    return QdrantBackend(source, embedder, server)
