"""Titles, authors, types and dates of a collection's documents, cached in memory."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragkit.catalog.connection import Connections, folded, of_collection
from ragkit.catalog.document_writing import speaker_key
from ragkit.catalog.filter_conditions import FIRST_DATE, LAST_DATE, PLATFORM, with_families

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragkit.catalog.records import CollectionRecord
    from ragkit.types import Version

_STALE_SECONDS, _KEPT_SECONDS = 10.0, 300.0


@dataclass(frozen=True, slots=True, eq=False)
class DocumentValues:
    """The values of a collection's indexed documents, case-folded.

    ``kinds`` counts triples of format, suffix and platform; ``first`` and ``last`` are the days of
    each document, (n,). ``titles`` has a line for each document, and ``senders`` a line for each
    author or speaker, as ``speaker_key`` returns it.
    """

    total: int
    kinds: Counter[tuple[str, str, str]]
    folders: frozenset[str]
    titles: str
    senders: str
    first: NDArray[np.str_]
    last: NDArray[np.str_]

    def of_types(self, types: Sequence[str]) -> int:
        """Return how many documents pass a filter by types."""
        names = set(with_families([folded(name) for name in types]))
        return sum(count for kind, count in self.kinds.items() if not names.isdisjoint(kind))

    def dated(self, after: str, before: str) -> int:
        """Return how many documents pass a filter by days."""
        passing = self.last >= after
        return int((passing & (self.first < before) if before else passing).sum())

    def has_sender(self, name: str) -> bool:
        """Return whether the name of a sender contains the words of ``name`` in a row."""
        key = speaker_key(name)
        return bool(key) and key in self.senders

    def has_title(self, phrase: str) -> bool:
        """Return whether a title contains a phrase."""
        return folded(phrase) in self.titles


class DocumentValuesCache:
    """A cache that is read again after a change, but at most every ten seconds."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._kept: dict[int, tuple[Version, float, DocumentValues]] = {}

    def of(self, collection: CollectionRecord) -> DocumentValues:
        """Return the values of a collection, which may lack changes of the last ten seconds."""
        kept = self._kept.get(collection.id)
        if kept is not None:
            version, read_at, values = kept
            age = time.monotonic() - read_at
            if age < (_KEPT_SECONDS if version == collection.version else _STALE_SECONDS):
                return values
        values = self._read(collection.id)
        self._kept[collection.id] = (collection.version, time.monotonic(), values)
        return values

    def _read(self, collection_id: int) -> DocumentValues:
        import numpy as np

        where, values = of_collection("d.collection_id", collection_id)
        rows = self._connections.rows(
            "SELECT d.format, d.path, d.title, "
            f"coalesce(json_extract(d.metadata, '$.author'), ''), {FIRST_DATE}, {LAST_DATE}, "
            f"{PLATFORM} FROM documents d WHERE {where} AND d.status = 'indexed'",
            values,
        )
        speakers = self._connections.column(
            "SELECT DISTINCT v.speaker FROM speakers v JOIN documents d ON d.id = v.document_id "
            f"WHERE {where}",
            values,
        )
        paths = [folded(row[1]) for row in rows]
        names = [path.rpartition("/")[2] for path in paths]
        suffixes = [name.rpartition(".")[2] if "." in name else "" for name in names]
        formats = [folded(row[0]) for row in rows]
        platforms = [row[6] for row in rows]
        folders = {part for path in paths for part in path.split("/")[:-1]}
        authors = sorted({str(row[3]) for row in rows} - {""})
        return DocumentValues(
            len(rows),
            Counter(zip(formats, suffixes, platforms, strict=True)),
            frozenset(folders),
            "\n".join(folded(row[2] or "") for row in rows),
            "\n".join([*map(speaker_key, authors), *speakers]),
            np.array([row[4] or "" for row in rows], dtype=np.str_),
            np.array([row[5] or "" for row in rows], dtype=np.str_),
        )
