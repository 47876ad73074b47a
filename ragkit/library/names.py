"""The names of a library's documents: found by their words, and the latest."""

from __future__ import annotations

import heapq
import re
import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ragkit.indexes.analyzer import SPACELESS
from ragkit.indexes.tokenizer import fold

if TYPE_CHECKING:
    from ragkit.catalog import Catalog
    from ragkit.types import Version

_WORD = re.compile(r"\w+")
# Where no spaces are, a word may begin at each letter.
_WITHIN = re.compile(rf"(?=([{SPACELESS}]{{1,16}}))")
_STALE_SECONDS = 10.0
_LATEST = 20
_MOST_KEPT = 1000


@dataclass(frozen=True, slots=True)
class NamedDocument:
    """An indexed document. ``changed_at`` is when its file changed, in seconds since the epoch."""

    id: int
    collection: str
    title: str
    path: str
    changed_at: float
    chunks: int


def folded(text: str) -> str:
    """Return a text without case and accents, for comparison."""
    return fold(text).casefold()


class DocumentNames:
    """The names of all documents, cached by collection. Safe to share between threads.

    They are read again after a change, but every ten seconds at most. ``collections`` that are
    empty stand for all of them.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._kept: dict[int, tuple[Version | None, float, _Names]] = {}
        self._guard = threading.Lock()

    def latest(self, collections: Sequence[str], limit: int) -> list[NamedDocument]:
        """Return the documents whose files changed last, newest first; 20 at most."""
        every = (document for names in self._of(collections) for document in names.latest)
        return heapq.nsmallest(limit, every, key=_newest)

    def largest(self, collections: Sequence[str], limit: int) -> list[NamedDocument]:
        """Return the documents with the most chunks, the largest first."""
        every = (document for names in self._of(collections) for document in names.documents)
        return heapq.nsmallest(limit, every, key=lambda document: (-document.chunks, document.path))

    def prepare(self, collections: Sequence[str]) -> None:
        """Read the names now, so that nobody waits for them while typing."""
        for names in self._of(collections):
            names.prepare()

    def ids(self, collections: Sequence[str]) -> dict[str, set[int]]:
        """Return the ids of documents by their paths."""
        ids: dict[str, set[int]] = {}
        for names in self._of(collections):
            for document in names.documents:
                ids.setdefault(document.path, set()).add(document.id)
        return ids

    def matching(self, text: str, collections: Sequence[str], limit: int) -> list[NamedDocument]:
        """Return documents whose names have, for each word of ``text``, a word that begins with it.

        Titles that begin with the text come first, then shorter ones.
        """
        words = _WORD.findall(folded(text))
        if not words:
            return []
        documents = (
            document for names in self._of(collections) for document in names.matching(words)
        )
        start = folded(text.strip())
        return heapq.nsmallest(
            limit,
            documents,
            key=lambda document: (
                not folded(document.title).startswith(start),
                len(document.title),
                document.title,
                document.path,
            ),
        )

    def suffixes(self, collections: Sequence[str]) -> Counter[str]:
        """Return how many documents have each suffix, such as ``pdf``."""
        return sum((names.suffixes for names in self._of(collections)), Counter())

    def folders(self, collections: Sequence[str]) -> Counter[str]:
        """Return how many documents lie in or below each folder, such as ``notes/2026/``."""
        return sum((names.folders for names in self._of(collections)), Counter())

    def _of(self, collections: Sequence[str]) -> Iterator[_Names]:
        for record in self._catalog.collections.apart(collections):
            yield self._kept_names(record.id, record.version)

    def _kept_names(self, collection_id: int, version: Version) -> _Names:
        """Return the names in a collection, or in all; they may be a few seconds old."""
        read_version, read_at, names = self._kept.get(collection_id, (None, 0.0, None))
        age = time.monotonic() - read_at
        if names is None or (read_version != version and age > _STALE_SECONDS):
            rows = self._catalog.documents.names(collection_id)
            names = _Names(
                [
                    NamedDocument(
                        row[0], row[1], row[2] or _file_name(row[3]), row[3], row[4] / 1e9, row[5]
                    )
                    for row in rows
                ]
            )
            read_version, read_at = version, time.monotonic()
        with self._guard:
            # The one used last stands last.
            self._kept.pop(collection_id, None)
            self._kept[collection_id] = (read_version, read_at, names)
            if len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        return names


class _Names:
    """The documents of one collection, with an index of the words in their names."""

    def __init__(self, documents: list[NamedDocument]) -> None:
        self.documents = documents

    def prepare(self) -> None:
        """Build the index of words unless there is one."""
        _ = self._words

    def matching(self, words: Iterable[str]) -> Iterator[NamedDocument]:
        """Yield the documents that have, for each of these words, a word that begins with it."""
        numbers: set[int] | None = None
        for word in sorted(words, key=len, reverse=True):
            first = bisect_left(self._words, (word, -1))
            last = bisect_left(self._words, (f"{word}\U0010ffff", -1), lo=first)
            having = {number for _, number in self._words[first:last]}
            numbers = having if numbers is None else numbers & having
        return (self.documents[number] for number in numbers or ())

    @cached_property
    def latest(self) -> list[NamedDocument]:
        """The documents whose files changed last, the newest first."""
        return heapq.nsmallest(_LATEST, self.documents, key=_newest)

    @cached_property
    def _words(self) -> list[tuple[str, int]]:
        """Every (word, number of its document), sorted."""
        pairs: set[tuple[str, int]] = set()
        for number, document in enumerate(self.documents):
            stem = _file_name(document.path).rpartition(".")[0]
            name = folded(f"{document.title} {stem}").replace("_", " ")
            words = (*_WORD.findall(name), *_WITHIN.findall(name))
            pairs.update([(word, number) for word in words])
        return sorted(pairs)

    @cached_property
    def suffixes(self) -> Counter[str]:
        """How many documents have each suffix."""
        names = (_file_name(document.path) for document in self.documents)
        suffixes = Counter(name.rpartition(".")[2].casefold() for name in names if "." in name)
        return Counter({suffix: suffixes[suffix] for suffix in suffixes if suffix.isalnum()})

    @cached_property
    def folders(self) -> Counter[str]:
        """How many documents lie in or below each folder."""
        direct = Counter(document.path.rpartition("/")[0] for document in self.documents)
        below: Counter[str] = Counter()
        for folder, count in direct.items():
            parts = folder.split("/") if folder else []
            for depth in range(1, len(parts) + 1):
                below["/".join(parts[:depth]) + "/"] += count
        return below


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _newest(document: NamedDocument) -> tuple[float, str]:
    return -document.changed_at, document.path
