"""Summaries of documents too long for the prompt of a context: one for each version of a file."""

from __future__ import annotations

import time
from dataclasses import astuple, dataclass

from ragkit.catalog.connection import Connections, conditions, insertion

_COLUMNS = "document_hash, model, prompt_hash, summary, error, tokens, seconds, made_at"


@dataclass(frozen=True, slots=True)
class SummaryRecord:
    """The summary of the document with that hash; empty, with an ``error``, where none was written.

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
        """Store a summary in place of an earlier one."""
        values = (*astuple(record)[:-1], record.made_at or time.time())
        with self._connections.write() as connection:
            connection.execute(
                insertion("summaries", _COLUMNS.split(", "), key="document_hash"), values
            )

    def failed(self, collection_id: int | None = None) -> list[int]:
        """Return the documents that could not be summarised, in one collection or all."""
        return self._documents("s.summary = ''", ("d.collection_id = ?", collection_id))

    def outdated(self, collection_id: int, prompt_hash: str) -> list[int]:
        """Return the documents of a collection whose summary was written with another prompt."""
        return self._documents(
            "1", ("d.collection_id = ?", collection_id), ("s.prompt_hash <> ?", prompt_hash)
        )

    def _documents(self, which: str, *about: tuple[str, int | str | None]) -> list[int]:
        where, parameters = conditions(*about)
        return self._connections.column(
            "SELECT d.id FROM summaries s JOIN documents d ON d.hash = s.document_hash "
            f"WHERE {which}{where} ORDER BY d.id",
            parameters,
        )

    def forget(self, document_hash: str) -> None:
        """Delete the summary of a version of a document, so that it is written again."""
        with self._connections.write() as connection:
            connection.execute("DELETE FROM summaries WHERE document_hash = ?", (document_hash,))

    def prune(self) -> int:
        """Delete the summaries of versions that no document has now; return how many."""
        with self._connections.write() as connection:
            return connection.execute(
                "DELETE FROM summaries WHERE NOT EXISTS "
                "(SELECT 1 FROM documents d WHERE d.hash = document_hash)"
            ).rowcount
