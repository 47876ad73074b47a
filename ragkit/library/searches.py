"""A person's recent and pinned searches: in a private file of the library, and nowhere else."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from ragkit.errors import LibraryBusyError, LibraryError
from ragkit.formatting import plural
from ragkit.paths import write_private

if TYPE_CHECKING:
    from ragkit.results import Answer

MOST_RECENT, MOST_PINNED = 50, 50
"""How many searches are kept of each; the oldest go first."""

LONGEST = 1000
"""Characters of a search; longer texts are not kept."""

_LOCK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class PastSearch:
    """A search that was made, as it was typed. ``at`` is in seconds since the epoch.

    ``metrics`` are how it went when it was last typed, by name: how many "results" there were of
    how many "documents", the "ms" it took, and what ``traces.Metrics`` has.
    """

    question: str
    at: float
    pinned: bool = False
    metrics: Mapping[str, Any] = field(default_factory=dict)

    @property
    def summary(self) -> str:
        """Return how it went, as ``10 of 184 documents, best score 0.86, 14 ms``."""
        match self.metrics:
            case {"results": int(results), "documents": int(documents), "ms": float(ms)}:
                said = f"{results} of {plural(documents, 'document')}"
            case _:
                return ""
        match self.metrics.get("shown"):
            case {"high": float(best)}:
                said += f", best score {best:.2f}"
        return f"{said}, {ms:.0f} ms"


class SearchHistory:
    """The recent and pinned searches of a library; safe to use from several processes.

    Nothing is kept unless ``kept``; the next search then deletes what was kept before. Methods that
    change something raise a LibraryError when the file cannot be written.
    """

    def __init__(self, file: Path, *, kept: bool) -> None:
        self._file = file
        self._kept = kept
        self._read: tuple[tuple[int, ...], tuple[PastSearch, ...]] = ((), ())

    def list(self) -> tuple[PastSearch, ...]:
        """Return the pinned searches, then the recent ones, each the newest first."""
        if not self._kept:
            return ()
        try:
            found = self._file.stat()
            stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
            if self._read[0] != stamp:
                self._read = (stamp, tuple(_parsed(self._file.read_text(encoding="utf-8"))))
        except (OSError, ValueError):
            return ()
        return self._read[1]

    def note(self, question: str, answer: Answer | None = None) -> None:
        """Put a search in front of the recent ones; a pinned one stays where it is pinned.

        Of its answer the metrics are kept.
        """
        if not self._kept:
            self._file.unlink(missing_ok=True)
            return
        words = " ".join(question.split())
        if not words or len(words) > LONGEST:
            return

        def noted(past: tuple[PastSearch, ...]) -> Iterable[PastSearch]:
            metrics = _metrics(answer) if answer else {}
            pinned = [
                replace(one, metrics=metrics)
                for one in past
                if one.pinned and _same(one.question, words)
            ]
            yield from pinned or [PastSearch(words, time.time(), metrics=metrics)]
            yield from (one for one in past if not _same(one.question, words))

        self._change(noted)

    def pin(self, question: str, *, pinned: bool = True) -> None:
        """Keep a search among the pinned ones, or no longer."""
        self._change(
            lambda past: (
                replace(one, pinned=pinned) if _same(one.question, question) else one
                for one in past
            )
        )

    def remove(self, question: str) -> None:
        """Delete one search."""
        self._change(lambda past: (one for one in past if not _same(one.question, question)))

    def clear(self) -> None:
        """Delete the recent searches; those that are pinned stay."""
        self._change(lambda past: (one for one in past if one.pinned))

    def _change(self, change: Callable[[tuple[PastSearch, ...]], Iterable[PastSearch]]) -> None:
        lock = FileLock(self._file.with_suffix(".lock"), timeout=_LOCK_SECONDS, mode=0o600)
        try:
            with lock:
                kept = _bounded(change(self.list()))
                if kept:
                    write_private(self._file, json.dumps([asdict(one) for one in kept], indent=1))
                else:
                    self._file.unlink(missing_ok=True)
        except Timeout as error:
            raise LibraryBusyError(
                "Another program is changing the search history.", "Try again in a moment."
            ) from error
        except OSError as error:
            raise LibraryError(
                f"{self._file} cannot be written: {error.strerror or error}.",
                "Check the library folder's permissions.",
            ) from error


def _metrics(answer: Answer) -> dict[str, Any]:
    found = answer.trace.metrics
    return {
        "results": len(answer.results),
        "documents": answer.total_documents,
        "ms": round(answer.trace.ms, 1),
        **(asdict(found) if found else {}),
    }


def _bounded(past: Iterable[PastSearch]) -> list[PastSearch]:
    newest = sorted(past, key=lambda one: -one.at)
    pinned = [one for one in newest if one.pinned][:MOST_PINNED]
    return pinned + [one for one in newest if not one.pinned][:MOST_RECENT]


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _parsed(content: str) -> Iterable[PastSearch]:
    """Yield what a file says; entries that are none are left out."""
    found = json.loads(content)
    for one in found if isinstance(found, list) else ():
        match one:
            case {"question": str(question), "at": float(at) | int(at), "pinned": bool(pinned)}:
                metrics = one.get("metrics")
                kept = metrics if isinstance(metrics, dict) else {}
                yield PastSearch(question, float(at), pinned, kept)
