"""What health checks look at, and what they find."""

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


FIXES = frozenset(
    (
        "worker",
        "retry",
        "retry_contexts",
        "sync",
        "compact",
        "rebuild_indexes",
        "reread",
        "make_private",
        "backup",
        "adopt_uploads",
    )
)
"""The fixes that are jobs; any other is a sentence for the person."""

_WORTH_A_LOOK = frozenset(("worker", "retry", "retry_contexts", "sync"))
"""The fixes of what works, and not as well as it could."""


class Severity(StrEnum):
    """How much a finding matters."""

    OK = "ok"
    ATTENTION = "attention"
    """It works; some of it failed or is left to be done."""
    PROBLEM = "problem"


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

    ``fix`` is one of ``FIXES``, or words for the person; empty when there is nothing to do. One
    that is ``ok`` may have a fix too: it is well, and could be better. ``count`` is how many
    things it is about.
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
        """Return the finding as JSON values; ``fix`` is called ``mend`` there."""
        values = asdict(self)
        return {"mend" if name == "fix" else name: value for name, value in values.items()}


@dataclass(frozen=True)
class Parts:
    """What is checked. Without an ``embedder``, ``trouble`` says why there is none.

    ``scope`` is the one collection to check, or ``None`` for all, and ``depth`` how closely.
    """

    settings: Settings
    paths: LibraryPaths
    catalog: Catalog
    embedder: Embedder | None = None
    trouble: str = ""
    scope: CollectionRecord | None = None
    depth: Depth = Depth.VERIFY

    def pipeline_fingerprint(self, collection: CollectionRecord) -> str | None:
        """Return the fingerprint for its documents now; ``None`` without an embedder."""
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
        """Return where an index of this embedder lies."""
        fingerprint = self.embedder.fingerprint if self.embedder else "unknown"
        return self.paths.index(collection.id, level.value, fingerprint)

    def is_here(self, uploads: str) -> bool:
        """Return whether a folder of uploads is this machine's, where several share a library."""
        return not self.paths.machine or Path(uploads).is_relative_to(self.paths.uploads)

    def collections(self, limit: int = -1) -> list[CollectionRecord]:
        """Return the collections to check, or the first of them."""
        return [self.scope] if self.scope else self.catalog.collections.all(limit)
