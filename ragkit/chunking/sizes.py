"""How large chunks are, without pydantic, so that a reading process starts quickly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class ChunkSizes(Protocol):
    """The part of ``ChunkingSettings`` that cutting looks at, in words."""

    @property
    def words(self) -> int:
        """Most words in a chunk."""
        ...

    @property
    def overlap(self) -> int:
        """Words repeated from the chunk before."""
        ...

    @property
    def min_words(self) -> int:
        """Smaller neighbouring sections are merged."""
        ...


@dataclass(frozen=True, slots=True)
class PlainSizes:
    """The same sizes as plain values."""

    words: int
    overlap: int
    min_words: int
