"""What looking at a library gives, and what it looks at."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragkit.catalog import Catalog
    from ragkit.catalog.records import CollectionRecord
    from ragkit.models.base import Embedder
    from ragkit.paths import LibraryPaths
    from ragkit.settings import Settings


class Depth(StrEnum):
    """How closely to look."""

    GLANCE = "glance"
    """Milliseconds, for a page: states and counts."""
    CHECK = "check"
    """Seconds: also how rows fit together, and every byte of the index files."""
    VERIFY = "verify"
    """Reads the whole library: also each text, vector and word."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    ``mend`` is a job ("compact", "rebuild_indexes", "reread", "sync", "retry"), "worker" to start
    the worker, or words for the person; empty when there is nothing to do. One that is ``ok`` may
    have a mend too: it is well, and could be better. ``count`` is how many things it is about.
    """

    name: str
    ok: bool
    sentence: str
    mend: str = ""
    count: int = 0


@dataclass(frozen=True)
class Parts:
    """What is looked at. Without an ``embedder``, ``trouble`` says why there is none.

    ``scope`` is the one collection to look at, or ``None`` for all.
    """

    settings: Settings
    paths: LibraryPaths
    catalog: Catalog
    embedder: Embedder | None = None
    trouble: str = ""
    scope: CollectionRecord | None = None
    _fingerprints: dict[int, str] = field(default_factory=dict)

    def pipeline_fingerprint(self, collection: CollectionRecord) -> str | None:
        """What its documents are to be made by now; ``None`` without an embedder."""
        if self.embedder is None:
            return None
        if collection.id not in self._fingerprints:
            from ragkit.indexes.local.backend import LocalBackend
            from ragkit.indexing.writer import Writer

            indexes = partial(LocalBackend, self.catalog.entries, self.paths, self.embedder)
            writer = Writer(self.settings, self.paths, self.catalog, self.embedder, indexes)
            self._fingerprints[collection.id] = writer.pipeline_fingerprint(collection)
        return self._fingerprints[collection.id]

    @property
    def embedder_id(self) -> int | None:
        """The catalog's number of the embedder, if it has made anything here."""
        if self.embedder is None:
            return None
        return self.catalog.embedders.find(self.embedder.fingerprint)

    @property
    def collection_id(self) -> int | None:
        """The collection that is looked at, or ``None`` for all."""
        return self.scope.id if self.scope else None

    def collections(self) -> list[CollectionRecord]:
        """The collections that are looked at."""
        return [self.scope] if self.scope else self.catalog.collections.all()


def plural(count: int, word: str) -> str:
    """``1 entry``, ``2 entries``."""
    many = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count} {word if count == 1 else many}"


def megabytes(size: int) -> str:
    """A size as a person would say it."""
    return f"{size / 1e9:.1f} GB" if size >= 1_000_000_000 else f"{size / 1e6:.1f} MB"
