"""The input and the results of health checks."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragkit.indexing.writer import pipeline_fingerprint

if TYPE_CHECKING:
    from ragkit.catalog import Catalog
    from ragkit.catalog.records import CollectionRecord
    from ragkit.models.base import Embedder
    from ragkit.paths import LibraryPaths
    from ragkit.settings import Settings
    from ragkit.types import Level


FIXES = frozenset((
    "worker", "retry", "retry_contexts", "sync", "compact", "rebuild_indexes", "reread",
    "make_private", "backup", "adopt_uploads",
))  # fmt: skip
"""The fixes that ragkit can carry out; any other is a sentence for people."""

_WORTH_A_LOOK = frozenset(("worker", "retry", "retry_contexts", "sync"))
"""Fixes that turn a finding without a problem into one that deserves attention."""


class Severity(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    ATTENTION = "attention"
    """It works, but something failed or remains to be done."""
    PROBLEM = "problem"


class Depth(StrEnum):
    """How thoroughly to check."""

    GLANCE = "glance"
    """Milliseconds, for a page: only states and counts."""
    CHECK = "check"
    """Seconds: also the consistency of rows, and every byte of the index files."""
    VERIFY = "verify"
    """Reads the whole library: also every text, vector and word."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    ``fix`` is one of ``FIXES``, a phrase for people, or empty if there is nothing to do; a finding
    that is ``ok`` may have one as well. ``count`` is the number of things that it concerns.
    """

    name: str
    ok: bool
    sentence: str
    fix: str = ""
    count: int = 0

    @property
    def severity(self) -> Severity:
        """How much it matters."""
        if not self.ok:
            return Severity.PROBLEM
        return Severity.ATTENTION if self.fix in _WORTH_A_LOOK else Severity.OK

    def as_json(self) -> dict[str, Any]:
        """Return the finding as JSON values; ``fix`` is called ``mend`` in JSON."""
        values = asdict(self)
        return {"mend" if name == "fix" else name: value for name, value in values.items()}


@dataclass(frozen=True)
class Parts:
    """What to check. Without an ``embedder``, ``trouble`` says why there is none.

    ``scope`` is the only collection to check, or ``None`` for all; ``depth`` is how thoroughly.
    """

    settings: Settings
    paths: LibraryPaths
    catalog: Catalog
    embedder: Embedder | None = None
    trouble: str = ""
    scope: CollectionRecord | None = None
    depth: Depth = Depth.VERIFY

    def pipeline_fingerprint(self, collection: CollectionRecord) -> str | None:
        """Return the current fingerprint for a collection; ``None`` without an embedder."""
        return pipeline_fingerprint(self.settings, collection) if self.embedder else None

    @property
    def embedder_id(self) -> int | None:
        """The catalog's number of the embedder, if it has made anything here."""
        if self.embedder is None:
            return None
        return self.catalog.embedders.find(self.embedder.fingerprint)

    @property
    def collection_id(self) -> int | None:
        """The id of the collection to check, or ``None`` for all."""
        return self.scope.id if self.scope else None

    def index_folder(self, collection: CollectionRecord, level: Level) -> Path:
        """Return the folder of an index of this embedder."""
        fingerprint = self.embedder.fingerprint if self.embedder else "unknown"
        return self.paths.index(collection.id, level.value, fingerprint)

    def is_here(self, uploads: str) -> bool:
        """Return whether a folder of uploads is on this machine."""
        return not self.paths.machine or Path(uploads).is_relative_to(self.paths.uploads)

    def collections(self, limit: int = -1) -> list[CollectionRecord]:
        """Return the collections to check, or the first of them."""
        return [self.scope] if self.scope else self.catalog.collections.all(limit)
