"""The catalog: the database of a library, its only truth, and the only package with SQL."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ragkit.catalog.collections import Collections
from ragkit.catalog.connection import PUT_META, Connections
from ragkit.catalog.documents import Documents
from ragkit.catalog.entries import Entries
from ragkit.catalog.files import Files
from ragkit.catalog.jobs import Jobs
from ragkit.catalog.machine import machine_of
from ragkit.catalog.marker import MOVE_KEY, identity_of, mark
from ragkit.catalog.retries import Retries
from ragkit.catalog.sqlite import SqliteConnections
from ragkit.catalog.vectors import Embedders, Vectors
from ragkit.errors import LibraryError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ragkit.catalog.chunk_notes import NoteQueries
    from ragkit.catalog.contexts import Contexts
    from ragkit.catalog.document_values import DocumentValuesCache
    from ragkit.catalog.filters import FilterQueries
    from ragkit.catalog.integrity import Integrity
    from ragkit.catalog.judgments import Judgments
    from ragkit.catalog.runs import Runs
    from ragkit.catalog.summaries import Summaries
    from ragkit.catalog.threads import Threads
    from ragkit.catalog.uploads import UploadRecords
    from ragkit.paths import LibraryPaths


class ChunkText(NamedTuple):
    """The text of a chunk and its structural context, with the ids of its entry and document."""

    entry: int
    document: int
    context: str
    text: str


class Catalog:
    """One library's database, with an object for each subject. Safe to share between threads."""

    def __init__(self, connections: Connections) -> None:
        self.connections = connections
        self.collections = Collections(connections)
        self.documents = Documents(connections)
        self.entries = Entries(connections)
        self.files = Files(connections)
        self.retries = Retries(connections)
        self.vectors = Vectors(connections)
        self.embedders = Embedders(connections)
        self.jobs = Jobs(connections)

    # The following are imported when they are first used, which most commands never do.

    @cached_property
    def contexts(self) -> Contexts:
        """Model contexts of chunks, and the cache of what models answered."""
        from ragkit.catalog.contexts import Contexts

        return Contexts(self.connections)

    @cached_property
    def summaries(self) -> Summaries:
        """Summaries of documents too long for the prompt of a context."""
        from ragkit.catalog.summaries import Summaries

        return Summaries(self.connections)

    @cached_property
    def values(self) -> DocumentValuesCache:
        """Titles, authors, types and dates of the documents of a collection, in memory."""
        from ragkit.catalog.document_values import DocumentValuesCache

        return DocumentValuesCache(self.connections)

    @cached_property
    def filters(self) -> FilterQueries:
        """The ids that pass filters, and the values to filter by."""
        from ragkit.catalog.filters import FilterQueries

        return FilterQueries(self.connections)

    @cached_property
    def notes(self) -> NoteQueries:
        """The notes of chunks: topics, decisions and so on, from their contexts."""
        from ragkit.catalog.chunk_notes import NoteQueries

        return NoteQueries(self.connections)

    @cached_property
    def judgments(self) -> Judgments:
        """Judgments of results, question sets and votes."""
        from ragkit.catalog.judgments import Judgments

        return Judgments(self.connections)

    @cached_property
    def runs(self) -> Runs:
        """Kept evaluations."""
        from ragkit.catalog.runs import Runs

        return Runs(self.connections)

    @cached_property
    def threads(self) -> Threads:
        """Threads of questions with their answers."""
        from ragkit.catalog.threads import Threads

        return Threads(self.connections)

    @cached_property
    def uploads(self) -> UploadRecords:
        """The outcomes of dropped files."""
        from ragkit.catalog.uploads import UploadRecords

        return UploadRecords(self.connections)

    @cached_property
    def integrity(self) -> Integrity:
        """Consistency checks, size, maintenance and copies."""
        if self.connections.file is None:
            from ragkit.catalog.postgres.upkeep import ServerIntegrity

            return ServerIntegrity(self.connections)
        from ragkit.catalog.integrity import Integrity

        return Integrity(self.connections)

    @classmethod
    def open(cls, file: Path, *, create: bool = False) -> Catalog:
        """Open the database file, after migrating it to the newest version.

        Raises:
            LibraryError: it is missing and ``create`` is not set, damaged, or newer than this
                program.
        """
        return cls(SqliteConnections(file, create=create))

    @classmethod
    def open_server(cls, url: str, *, create: bool = False) -> Catalog:
        """Open the catalog at ``postgresql://user@host/database?schema=NAME``.

        It is migrated to the newest version first. ``schema`` is ``ragkit`` by default.

        Raises:
            SettingsError: the address cannot be parsed.
            LibraryError: the server does not answer, psycopg is missing, there is no library and
                ``create`` is not set, or a newer program has written it.
        """
        from ragkit.catalog.postgres.connections import PostgresConnections

        return cls(PostgresConnections(url, create=create))

    def chunk_texts(self, entry_ids: Iterable[int], *, whole: bool = False) -> Iterator[ChunkText]:
        """Yield chunks by their entries, in the order of their ids; what is gone is left out.

        ``whole``: their documents are read whole (``Documents.slices``).
        """
        spans = self.entries.chunk_spans(entry_ids)
        documents = {document for _, document, *_ in spans} if whole else ()
        texts = self.documents.slices([span[1:4] for span in spans], documents)
        for (entry, document, _, _, context), text in zip(spans, texts, strict=True):
            yield ChunkText(entry, document, context, text)

    def settle_machine(self, paths: LibraryPaths) -> str:
        """Return the id of this machine, and claim jobs in its name from now on.

        Raises:
            LibraryError: the folder holds files of another library.
        """
        self.jobs.machine = machine_of(paths, self.identity(), self.connections.server)
        return self.jobs.machine

    def refuse_unfinished(self) -> None:
        """Raise if ``ragkit move`` has not finished copying a library to here.

        Raises:
            LibraryError: it has not.
        """
        if self.get_meta(MOVE_KEY) is not None:
            raise LibraryError(
                "This is a copy of a library that was not finished.",
                "Finish it: run the same ragkit move again.",
            )

    def identity(self) -> str:
        """Return the library's unique identity, which is made on first use."""
        return identity_of(self.connections)

    def get_meta(self, key: str) -> Any:
        """Return the JSON value stored under a key of the table ``meta``, or ``None``."""
        row = self.connections.row("SELECT value FROM meta WHERE key = ?", (key,))
        return json.loads(row[0]) if row else None

    def set_meta(self, key: str, value: Any) -> None:
        """Store a JSON value under a key of the table ``meta``; ``None`` deletes the key.

        Processes exchange small values here: what a person requests, what a worker reports.
        """
        with self.connections.write(alone=False) as connection:
            if value is None:
                connection.execute("DELETE FROM meta WHERE key = ?", (key,))
            else:
                packed = json.dumps(value, ensure_ascii=False, sort_keys=True)
                connection.execute(PUT_META, (key, packed))

    def mark(self) -> None:
        """Write the marker beside the catalog, which tells a lost one from an empty one."""
        mark(self.connections)

    def close(self) -> None:
        """Close all connections."""
        self.connections.close()


__all__ = ["Catalog", "ChunkText"]
