"""Every path inside a library, named once."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from ragkit.errors import LibraryError

FORMAT_VERSION = 1
"""Bump when the layout of a library changes in a way that older code cannot read."""


@dataclass(frozen=True, slots=True)
class LibraryPaths:
    """The files of one library, below ``root``."""

    root: Path

    @property
    def catalog(self) -> Path:
        """The SQLite database: the only truth."""
        return self.root / "catalog.sqlite"

    @property
    def lock(self) -> Path:
        """Held by the one process that writes."""
        return self.root / "writer.lock"

    @property
    def uploads(self) -> Path:
        """Files that people dropped in, one folder a collection."""
        return self.root / "uploads"

    @property
    def indexes(self) -> Path:
        """Generations of the indexes; caches, safe to delete."""
        return self.root / "indexes"

    @property
    def logs(self) -> Path:
        """Logs of the worker and of searches."""
        return self.root / "logs"

    @property
    def temporary(self) -> Path:
        """Half-written uploads and scratch files; emptied by the writer."""
        return self.root / "tmp"

    def collection_uploads(self, collection_id: int) -> Path:
        """Return the folder of one collection's uploads."""
        return self.uploads / str(collection_id)

    def collection_indexes(self, collection_id: int) -> Path:
        """Return the folder of one collection's index generations."""
        return self.indexes / str(collection_id)

    def index(self, collection_id: int, level: str, fingerprint: str) -> Path:
        """Return the folder of one index's generations, with the vectors of that embedder."""
        plain = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", fingerprint)
        name = fingerprint if plain else hashlib.blake2b(fingerprint.encode()).hexdigest()[:32]
        return self.collection_indexes(collection_id) / level / name

    def prompts(self, collection_id: int | None = None) -> Path:
        """Return the folder of people's own prompts, for one collection or for all."""
        folder = self.root / "prompts"
        return folder if collection_id is None else folder / str(collection_id)

    def create(self) -> None:
        """Create the directories that are missing, private to this user.

        Raises:
            LibraryError: when that is not possible.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            for folder in (self.uploads, self.indexes, self.logs, self.temporary):
                folder.mkdir(exist_ok=True, mode=0o700)
        except OSError as error:
            raise LibraryError(
                f"The library folder {self.root} cannot be made: {error.strerror or error}.",
                "Check the folder's permissions and the disk's free space.",
            ) from error
