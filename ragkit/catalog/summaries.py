"""Summaries of long documents: one row for each version of a document that has been asked about."""

from __future__ import annotations

import time
from dataclasses import astuple, dataclass

from ragkit.catalog.connection import Connections, conditions

_COLUMNS = "document_hash, model, prompt_hash, summary, error, tokens, seconds, made_at"
_OF = "EXISTS (SELECT 1 FROM documents d WHERE d.hash = document_hash{})"


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """What a model wrote about the document of that hash; empty, with an ``error``, if it failed.

    ``tokens`` counts prompt and answer; ``made_at`` is in seconds since the epoch.
    """

    document_hash: str
    model: str
    prompt_hash: str
    summary: str = ""
    error: str = ""
    tokens: int = 0
    seconds: float = 0.0
    made_at: float = 0.0


class Summaries:
    """Queries about summaries. Only the writer calls the methods that change something."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def of(self, document_hash: str) -> SummaryRecord | None:
        """Return the summary of that version of a document, or ``None``."""
        row = self._connections.row(
            f"SELECT {_COLUMNS} FROM summaries WHERE document_hash = ?", (document_hash,)
        )
        return SummaryRecord(*row) if row else None

    def keep(self, record: SummaryRecord) -> None:
        """Keep a summary in the place of the one before."""
        values = (*astuple(record)[:-1], record.made_at or time.time())
        with self._connections.write() as connection:
            connection.execute(
                f"INSERT OR REPLACE INTO summaries ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                values,
            )

    def forget(self, document_id: int) -> None:
        """Delete the summary of a document, so that another is written."""
        self._delete("", ("d.id = ?", document_id))

    def forget_failed(self, collection_id: int | None = None) -> None:
        """Delete what is known of failures, in one collection or all: they are tried again."""
        self._delete("summary = '' AND ", ("d.collection_id = ?", collection_id))

    def _delete(self, which: str, *about: tuple[str, int | None]) -> None:
        where, parameters = conditions(*about)
        with self._connections.write() as connection:
            connection.execute(
                f"DELETE FROM summaries WHERE {which}{_OF.format(where)}",
                parameters,
            )

    def prune(self) -> int:
        """Delete the summaries of versions that no document has any more; return how many."""
        with self._connections.write() as connection:
            return connection.execute(f"DELETE FROM summaries WHERE NOT {_OF.format('')}").rowcount
