"""The documents that searches found lately, noted in a small file: no search waits for a lock."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ragkit.paths import LibraryPaths

_MOST_BYTES = 64_000
_MOST_DOCUMENTS = 10


class RecentHits:
    """A queue of documents from searches to the writer, which empties it now and then."""

    def __init__(self, paths: LibraryPaths) -> None:
        self._file = paths.root / "found.txt"

    def add(self, document_ids: Iterable[int]) -> None:
        """Add the best documents of an answer. What cannot be written is left out."""
        line = " ".join(str(int(number)) for number in list(document_ids)[:_MOST_DOCUMENTS])
        if not line:
            return
        try:
            if self.waiting and self._file.stat().st_size > _MOST_BYTES:
                return
            with self._file.open("a", encoding="ascii") as stream:
                stream.write(f"{line}\n")
        except OSError:
            return

    @property
    def waiting(self) -> bool:
        """True when there is something to take."""
        return self._file.exists()

    def take(self) -> list[int]:
        """Remove and return all that was added: documents of the newest answer first."""
        taken = Path(f"{self._file}.taken")
        try:
            self._file.replace(taken)
            lines = taken.read_text("ascii", errors="replace").splitlines()
            taken.unlink()
        except OSError:
            return []
        words = (word for line in reversed(lines) for word in line.split())
        return list(dict.fromkeys(int(word) for word in words if word.isdecimal()))
