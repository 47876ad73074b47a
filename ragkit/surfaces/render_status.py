"""The state of a library as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragkit.library import Library


def status_as_json(library: Library, collection: str | None = None) -> dict[str, Any]:
    """Return the JSON object that ``ragkit status --json`` prints, for one collection or all.

    Raises:
        NotFoundError: there is no such collection.
    """
    if collection:
        library.collections.get(collection)
    counts = library.documents.counts(collection)
    contexts = library.contexts.status(collection)
    return {
        "library": str(library.paths.root),
        "server": library.health.server,
        "documents": counts.documents,
        "indexed": counts.indexed,
        "pending": counts.pending,
        "skipped": counts.skipped,
        "failed": counts.failed,
        "chunks": counts.chunks,
        "collections": [*library.collections.names()],
        "sources": [
            {
                "root": source.root,
                "collection": source.collection,
                "state": source.state,
                "documents": source.documents,
                "failed": source.failed,
                "reason": source.reason,
            }
            for source in library.sources.list(collection)
        ],
        "contexts": {**asdict(contexts.counts), "cost": asdict(contexts.cost)},
        "writing": library.worker.state().running,
    }
