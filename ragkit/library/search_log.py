"""The files of the log of searches: JSON lines that are appended, or blanked in place.

No line is ever moved, so writers need no lock: several processes and threads append to the same
file, and a write that is cut off damages no other line.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from ragkit.traces import Stage
from ragkit.types import Span

DAYS = 90
"""A file is deleted once its searches are older than this."""

MOST_BYTES = 4_000_000
"""The most that searches of a person, and those of programs, take on disk each; oldest go first."""

FILE_BYTES = 250_000
"""A file of this size is followed by another."""

_AS_LINE = json.JSONEncoder(separators=(",", ":")).encode
_NAME = re.compile(r"(\d{4}-\d\d-\d\d)-(\d{4,})-(people|programs)\.jsonl")
_DAY_SECONDS = 86_400.0


class Door(StrEnum):
    """Where a search came from."""

    PAGE = "page"
    COMMAND = "command"
    PROGRAM = "program"
    API = "api"
    MCP = "mcp"
    OPENAI = "openai"

    @property
    def family(self) -> str:
        """Which searches share disk space: those of "people", or of "programs", which ask more."""
        return "people" if self in (Door.PAGE, Door.COMMAND) else "programs"


@dataclass(frozen=True, slots=True)
class Shown:
    """A document that a search showed, with its score and the span of its best match.

    Without a span, the document was found as a whole.
    """

    document_id: int
    score: float
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class LoggedSearch:
    """A search that was made.

    ``at`` is in seconds since the epoch. ``options`` are those that differ from the defaults, by
    name; ``filters`` are those given besides the question, in the query language. ``results``
    counts the results and ``documents`` all documents found; ``shown`` are the first results.
    ``chunked`` are the options of a search with a long text, or else ``None``. ``cut`` says that
    ``question`` is only the beginning. ``from_memory`` says that the answer was cached; ``ms`` and
    ``stages`` are then those of its first search. ``typed`` is False if a click changed the
    previous search. ``everywhere`` says that all of very many collections were searched, which
    ``collections`` then does not list.
    """

    question: str
    at: float
    door: Door
    options: Mapping[str, Any] = field(default_factory=dict)
    collections: tuple[str, ...] = ()
    filters: str = ""
    ms: float = 0.0
    results: int = 0
    documents: int = 0
    shown: tuple[Shown, ...] = ()
    stages: tuple[Stage, ...] = ()
    nothing_close: bool = False
    chunked: Mapping[str, Any] | None = None
    cut: bool = False
    from_memory: bool = False
    typed: bool = True
    everywhere: bool = False

    @property
    def id(self) -> str:
        """Its id in addresses: its time in microseconds."""
        return f"{self.at * 1e6:.0f}"

    @property
    def in_vain(self) -> bool:
        """Whether it found nothing, or nothing close."""
        return self.nothing_close or not self.results

    @property
    def best(self) -> float | None:
        """The best score among the shown results, or ``None``."""
        return max((place.score for place in self.shown), default=None)

    def as_json(self) -> dict[str, Any]:
        """Return the JSON object that is stored, and that ``ragkit searches`` prints."""
        shown = [
            {"document": place.document_id, "score": place.score,
             **({"span": [place.span.start, place.span.end]} if place.span else {})}
            for place in self.shown
        ]  # fmt: skip
        return {
            "at": self.at, "door": self.door.value, "question": self.question,
            "collections": self.collections, "options": self.options, "chunked": self.chunked,
            "filters": self.filters, "ms": self.ms, "results": self.results,
            "documents": self.documents, "nothing_close": self.nothing_close, "cut": self.cut,
            "from_memory": self.from_memory, "typed": self.typed,
            "everywhere": self.everywhere, "shown": shown,
            "stages": [stage.as_json() for stage in self.stages],
        }  # fmt: skip

    @classmethod
    def of_json(cls, value: Mapping[str, Any]) -> LoggedSearch:
        """Parse the output of ``as_json``.

        Raises:
            KeyError, TypeError, ValueError: it is not such an object.
        """
        chunked = value["chunked"]
        return cls(
            str(value["question"]), float(value["at"]), Door(value["door"]),
            dict(value["options"]), tuple(map(str, value["collections"])), str(value["filters"]),
            float(value["ms"]), int(value["results"]), int(value["documents"]),
            tuple(
                Shown(int(place["document"]), float(place["score"]),
                      Span(*map(int, place["span"])) if "span" in place else None)
                for place in value["shown"]
            ),
            tuple(
                Stage(str(stage["name"]), float(stage["ms"]), int(stage["in"]), int(stage["out"]),
                      str(stage["note"]))
                for stage in value["stages"]
            ),
            bool(value["nothing_close"]), None if chunked is None else dict(chunked),
            bool(value["cut"]), bool(value["from_memory"]), bool(value.get("typed", True)),
            bool(value.get("everywhere")),
        )  # fmt: skip


def question_key(question: str) -> str:
    """Return a key that is equal for questions that differ only in case and spaces."""
    return " ".join(question.split()).casefold()


class SearchLog:
    """The searches in a folder, in files by day. Safe to share between threads.

    A missing folder counts as empty. Methods raise an OSError if it cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers: dict[tuple[str, str], int] = {}
        self._read: dict[str, tuple[tuple[int, ...], tuple[LoggedSearch, ...]]] = {}

    def add(self, search: LoggedSearch) -> None:
        """Append a search to its file, in one write."""
        # It starts with a line break, since the line before may have been cut off.
        line = f"\n{_AS_LINE(search.as_json())}\n".encode()
        key = time.strftime("%Y-%m-%d", time.localtime(search.at)), search.door.family
        if key not in self._numbers:
            self._numbers[key] = self._last_number(key)
        size = _append(self._folder / f"{key[0]}-{self._numbers[key]:04}-{key[1]}.jsonl", line)
        if size == len(line):
            self.expire()
        if size >= FILE_BYTES:
            self._numbers[key] = self._last_number(key) + 1

    def newest(
        self, families: tuple[str, ...] = ("people", "programs"), days: float = DAYS
    ) -> Iterator[LoggedSearch]:
        """Yield the searches of these families in the last ``days``, newest file first.

        The searches of a file are yielded newest first. Only changed files are read again.
        """
        oldest = _day_before(min(days, DAYS))
        for day, _, family, name in sorted(self._files(), reverse=True):
            if family in families and day >= oldest:
                yield from self._of_file(name)

    def remove(self, is_meant: Callable[[LoggedSearch], bool]) -> int:
        """Blank the lines of some searches in place; return how many there were."""
        count = 0
        for *_, name in self._files():
            with suppress(FileNotFoundError), (self._folder / name).open("r+b") as stream:
                at = 0
                for line in stream.read().split(b"\n"):
                    search = _parsed(line)
                    if search is not None and is_meant(search):
                        stream.seek(at)
                        stream.write(b" " * len(line))
                        count += 1
                    at += len(line) + 1
            self._read.pop(name, None)
        return count

    def clear(self) -> None:
        """Delete every search."""
        for *_, name in self._files():
            (self._folder / name).unlink(missing_ok=True)
        self._read.clear()

    def expire(self) -> None:
        """Delete files that are too old, and the oldest ones if there are too many bytes.

        Files that cannot be deleted stay.
        """
        # Leave room for the current file to grow.
        room = dict.fromkeys(("people", "programs"), MOST_BYTES - FILE_BYTES)
        oldest = _day_before(DAYS)
        for day, _, family, name in sorted(self._files(), reverse=True):
            file = self._folder / name
            with suppress(OSError):
                room[family] -= file.stat().st_size
                if day < oldest or room[family] < 0:
                    file.unlink()
                    self._read.pop(name, None)

    def _last_number(self, key: tuple[str, str]) -> int:
        """Return the number of the last file of a day and family; 1 if there is none."""
        numbers = [number for day, number, family, _ in self._files() if (day, family) == key]
        return max(numbers, default=1)

    def _files(self) -> list[tuple[str, int, str, str]]:
        """Return day, number, family and name of each file, unordered."""
        try:
            names = [file.name for file in self._folder.iterdir()]
        except FileNotFoundError:
            return []
        matches = filter(None, map(_NAME.fullmatch, names))
        return [(match[1], int(match[2]), match[3], match[0]) for match in matches]

    def _of_file(self, name: str) -> tuple[LoggedSearch, ...]:
        file = self._folder / name
        try:
            status = file.stat()
            stamp = (status.st_ino, status.st_size, status.st_mtime_ns)
            # One look-up, since another thread may remove the entry meanwhile.
            read_stamp, searches = self._read.get(name, ((), ()))
            if read_stamp != stamp:
                lines = file.read_bytes().split(b"\n")
                searches = tuple(filter(None, map(_parsed, reversed(lines))))
                self._read[name] = stamp, searches
        except FileNotFoundError:
            return ()
        return searches


def _append(file: Path, line: bytes) -> int:
    """Append to a private file, which is created if necessary; return its size."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(file, flags, 0o600)
    except FileNotFoundError:
        file.parent.mkdir(mode=0o700, exist_ok=True)
        descriptor = os.open(file, flags, 0o600)
    try:
        os.write(descriptor, line)
        return os.lseek(descriptor, 0, os.SEEK_CUR)
    finally:
        os.close(descriptor)


def _day_before(days: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(time.time() - days * _DAY_SECONDS))


def _parsed(line: bytes) -> LoggedSearch | None:
    """Return the search in a line; ``None`` if the line is blank, cut off or not a search."""
    if not line.startswith(b"{"):
        return None
    try:
        return LoggedSearch.of_json(json.loads(line))
    except (KeyError, TypeError, ValueError, RecursionError):
        return None
