"""Which documents searches found: told in a small file, so that no search ever waits for it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ragkit.paths import LibraryPaths

_MOST_BYTES = 64_000
_MOST_TOLD = 10


class RecentHits:
    """A note of documents that were found, which the writer takes now and then."""

    def __init__(self, paths: LibraryPaths) -> None:
        self._file = paths.root / "found.txt"

    def tell(self, document_ids: Iterable[int]) -> None:
        """Note the best documents of an answer. A note that cannot be written is left out."""
        told = " ".join(str(int(one)) for one in list(document_ids)[:_MOST_TOLD])
        if not told:
            return
        try:
            if self.waiting and self._file.stat().st_size > _MOST_BYTES:
                return
            with self._file.open("a", encoding="ascii") as stream:
                stream.write(f"{told}\n")
        except OSError:
            return

    @property
    def waiting(self) -> bool:
        """True when there is something to take."""
        return self._file.exists()

    def take(self) -> list[int]:
        """What was told since the last time: documents of the newest answer first."""
        taken = Path(f"{self._file}.taken")
        try:
            self._file.replace(taken)
            lines = taken.read_text("ascii", errors="replace").splitlines()
            taken.unlink()
        except OSError:
            return []
        found = [int(one) for line in reversed(lines) for one in line.split() if one.isdecimal()]
        return list(dict.fromkeys(found))
