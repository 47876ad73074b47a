"""Documents: the texts, sections and chunks of files, and their metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragkit.catalog.connection import (
    IN_LIST,
    Connections,
    conditions,
    folded,
    id_list,
    of_collection,
)
from ragkit.catalog.document_writing import CHUNK_COLUMNS, delete_documents, put_document
from ragkit.catalog.entry_writing import TokenIdCache, move_entries
from ragkit.catalog.lineage import next_version
from ragkit.catalog.records import (
    ChunkRecord,
    CollectionRecord,
    Counts,
    DocumentDraft,
    DocumentRecord,
)
from ragkit.errors import NotFoundError
from ragkit.types import Chunk, Page, Section, Status

_DOCUMENT = """
SELECT d.id, d.source_id, d.collection_id, c.name, s.root, d.path, d.status, d.reason, d.size,
       d.mtime_ns, d.hash, d.recipe, d.title, d.format, d.markup, d.language, d.date, d.metadata,
       d.pages, d.warnings, d.chunks, d.characters, d.changed_at
FROM documents d JOIN collections c ON c.id = d.collection_id JOIN sources s ON s.id = d.source_id
"""
_COUNTED = (
    ", ".join(
        f"COUNT(*) FILTER (WHERE status = '{status}')"
        for status in (Status.INDEXED, Status.PENDING, Status.SKIPPED, Status.FAILED)
    )
    + ", TOTAL(chunks)"
)
"""In the order of ``Counts``."""

_MOST_LOOKED_AT = 1000
"""Of so many documents the language is looked at, to know that of most."""


class Documents:
    """Queries about documents. Only the writer calls methods that change something."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._token_ids = TokenIdCache()

    # -- reading ---------------------------------------------------------------------------

    def get(self, document_id: int) -> DocumentRecord:
        """Return one document.

        Raises:
            NotFoundError: when it is gone.
        """
        documents = self.get_many([document_id])
        if not documents:
            raise NotFoundError(f"There is no document {document_id}.", "It may have been deleted.")
        return documents[document_id]

    def get_many(self, document_ids: Iterable[int]) -> dict[int, DocumentRecord]:
        """Return documents by id, leaving out those that do not exist."""
        rows = self._connections.rows(f"{_DOCUMENT} WHERE d.id {IN_LIST}", (id_list(document_ids),))
        return {row[0]: _document(row) for row in rows}

    def by_path(self, document_ids: Iterable[int]) -> list[int]:
        """Return ids of documents, ordered by path, folder and name of the collection."""
        return self._connections.column(
            "SELECT d.id FROM documents d JOIN sources s ON s.id = d.source_id "
            "JOIN collections c ON c.id = d.collection_id "
            f"WHERE d.id {IN_LIST} ORDER BY d.path, s.root, c.name",
            (id_list(document_ids),),
        )

    def of_files(self, files: Iterable[str]) -> dict[str, int]:
        """Return the ids of the documents of these files, by the file's path."""
        rows = self._connections.rows(
            "SELECT s.root, d.path, d.id FROM documents d JOIN sources s ON s.id = d.source_id "
            f"WHERE replace(s.root, '\\', '/') || '/' || d.path {IN_LIST} ORDER BY d.id DESC",
            (json.dumps([Path(file).as_posix() for file in files]),),
        )
        return {str(Path(root, path)): number for root, path, number in rows}

    def files(self, document_ids: Iterable[int]) -> dict[int, tuple[str, str]]:
        """Return the paths and formats of documents, by id."""
        rows = self._connections.rows(
            f"SELECT id, path, format FROM documents WHERE id {IN_LIST}", (id_list(document_ids),)
        )
        return {number: (path, file_format) for number, path, file_format in rows}

    def beside(self, document_id: int) -> list[tuple[int, str]]:
        """Return the ids and paths of the documents with text in a document's source."""
        return self._connections.rows(
            "SELECT id, path FROM documents "
            "WHERE source_id = (SELECT source_id FROM documents WHERE id = ?) AND chunks > 0",
            (document_id,),
        )

    def nameable(self, document_ids: Iterable[int]) -> dict[int, bool]:
        """Return whether documents have pages, by id, leaving out source code."""
        rows = self._connections.rows(
            "SELECT id, pages != '[]' FROM documents "
            f"WHERE id {IN_LIST} AND markup != 'code' ORDER BY id",
            (id_list(document_ids),),
        )
        return {number: bool(paged) for number, paged in rows}

    def with_file_name(self, name: str, collection_ids: Iterable[int]) -> list[int]:
        """Return ids of documents with text whose files have this name, in any case, ascending."""
        # By the index of paths, which is a tenth of the table. Folding all of them takes long, and
        # the engine's own comparison knows the cases of ASCII alone.
        path = "d.path" if name.isascii() else "folded(d.path)"
        ending = re.sub(r"([\\%_])", r"\\\1", folded(name))
        return self._connections.column(
            "SELECT d.id FROM sources s CROSS JOIN documents d ON d.source_id = s.id "
            f"WHERE s.collection_id {IN_LIST} AND '/' || {path} LIKE ? ESCAPE '\\' "
            "AND d.chunks > 0 ORDER BY d.id",
            (id_list(collection_ids), f"%/{ending}"),
        )

    def web_addresses(self) -> list[tuple[int, str]]:
        """Return (id, address) of indexed documents whose metadata have a web address."""
        return self._connections.rows(
            "SELECT d.id, m.value FROM documents d, json_each(d.metadata) m "
            "WHERE d.status = 'indexed' AND m.type = 'text' AND m.value LIKE 'http%' "
            "AND lower(m.key) IN ('url', 'source', 'link', 'permalink', 'canonical') ORDER BY d.id"
        )

    def any(self) -> bool:
        """Return whether there is any document."""
        return self._connections.row("SELECT 1 FROM documents LIMIT 1") is not None

    def counts(self, collection_id: int | None = None) -> Counts:
        """Count the documents of one collection or of all by status, and their chunks."""
        where, parameters = conditions(("collection_id = ?", collection_id))
        row = self._connections.row(f"SELECT {_COUNTED} FROM documents WHERE 1{where}", parameters)
        return Counts(*map(int, row))

    def counts_of_each(self) -> dict[int, Counts]:
        """Return the counts of every collection with documents, by its id."""
        rows = self._connections.rows(
            f"SELECT collection_id, {_COUNTED} FROM documents GROUP BY collection_id"
        )
        return {row[0]: Counts(*map(int, row[1:])) for row in rows}

    def text(self, document_id: int) -> str:
        """Return a document's stored text; empty when it has none."""
        return self.texts([document_id]).get(document_id, "")

    def languages(self, document_ids: Iterable[int]) -> dict[int, str]:
        """Return the codes of languages by document id, ``""`` if not known, or none for none."""
        wanted = list(document_ids)
        if not wanted:
            return {}
        rows = self._connections.rows(
            f"SELECT id, language FROM documents WHERE id {IN_LIST}", (id_list(wanted),)
        )
        return dict(rows)

    def main_language(self, collections: Sequence[CollectionRecord]) -> str:
        """Return the code of the language of most documents of collections, or ``""``.

        Documents of which no language is known do not count. Of very many some are looked at, since
        to count all takes longer than a search.
        """
        everything = any(record.is_everything for record in collections)
        among = "" if everything else f"AND collection_id {IN_LIST}"
        ids = () if everything else (id_list(record.id for record in collections),)
        rows = self._connections.rows(
            f"SELECT language, COUNT(*) FROM (SELECT language FROM documents WHERE language <> ''"
            f" {among} LIMIT ?) AS sample GROUP BY language ORDER BY 2 DESC",
            (*ids, _MOST_LOOKED_AT),
        )
        return str(rows[0][0]) if rows and 2 * rows[0][1] > sum(row[1] for row in rows) else ""

    def texts(self, document_ids: Iterable[int]) -> dict[int, str]:
        """Return stored texts by document id, in one query, or none for none."""
        wanted = list(document_ids)
        if not wanted:
            return {}
        rows = self._connections.rows(
            f"SELECT document_id, text FROM texts WHERE document_id {IN_LIST}",
            (id_list(wanted),),
        )
        return {row[0]: row[1] for row in rows}

    def sections(self, document_id: int) -> list[Section]:
        """Return a document's sections in order."""
        rows = self._connections.rows(
            "SELECT idx, start, stop, level, path FROM sections WHERE document_id = ? ORDER BY idx",
            (document_id,),
        )
        return [Section(*[*row[:-1], tuple(json.loads(row[-1]))]) for row in rows]

    def chunks(self, document_id: int) -> list[ChunkRecord]:
        """Return a document's chunks in order."""
        rows = self._connections.rows(
            f"SELECT {CHUNK_COLUMNS} FROM chunks WHERE document_id = ? ORDER BY idx",
            (document_id,),
        )
        return [chunk_of_row(row) for row in rows]

    def chunks_at(self, places: Mapping[int, Sequence[int]]) -> dict[int, list[ChunkRecord]]:
        """Return chunks, given by their indexes, by document id and in order, in one query."""
        pairs = [[document, index] for document, indexes in places.items() for index in indexes]
        columns = ", ".join(f"k.{name}" for name in CHUNK_COLUMNS.split(", "))
        rows = self._connections.rows(
            f"SELECT k.document_id, {columns} FROM json_each(?) w JOIN chunks k "
            "ON k.document_id = w.value ->> 0 AND k.idx = w.value ->> 1",
            (json.dumps(pairs),),
        )
        chunks: dict[int, list[ChunkRecord]] = {document: [] for document in places}
        for row in rows:
            chunks[row[0]].append(chunk_of_row(row[1:]))
        for records in chunks.values():
            records.sort(key=lambda record: record.chunk.index)
        return chunks

    def headings(
        self, places: Sequence[tuple[int, int, int, int]]
    ) -> list[list[tuple[int, tuple[str, ...]]]]:
        """Return, for each place, the (offset, heading path) of its sections.

        A place is (document id, index of its first chunk, of its last, offset of its end). The
        list is empty if the place lies in a single section.
        """
        rows = self._connections.rows(
            # The chunk behind a place begins in its last section, or in the next one.
            "SELECT w.key, s.start, s.path FROM json_each(?) w JOIN chunks k "
            "ON k.document_id = w.value ->> 0 AND k.idx = w.value ->> 1 LEFT JOIN chunks n "
            "ON n.document_id = w.value ->> 0 AND n.idx = (w.value ->> 2) + 1 JOIN sections s "
            "ON s.document_id = k.document_id AND s.start < w.value ->> 3 "
            "AND s.idx BETWEEN k.section AND coalesce(n.section, s.idx) ORDER BY w.key, s.idx",
            (json.dumps(places),),
        )
        headings: list[list[tuple[int, tuple[str, ...]]]] = [[] for _ in places]
        for place, start, path in rows:
            headings[place].append((start, _headings(path)))
        return [sections if len(sections) > 1 else [] for sections in headings]

    def section_starts(self, places: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """Return where the section begins that each place, a (document id, offset), lies in."""
        rows = self._connections.rows(
            "SELECT w.key, s.start FROM json_each(?) w JOIN sections s "
            "ON s.document_id = w.value ->> 0 AND s.start <= w.value ->> 1 "
            "AND s.stop > w.value ->> 1",
            (json.dumps(places),),
        )
        return {places[number]: start for number, start in rows}

    def slices(
        self, spans: Sequence[tuple[int, int, int]], whole: Container[int] = ()
    ) -> Sequence[str]:
        """Return the slices (document id, start, end) of stored texts, in the order of ``spans``.

        SQLite cuts them, but documents in ``whole`` are read whole, which is faster unless they are
        long. A slice of a document that is gone is empty.
        """
        texts = self.texts(sorted({span[0] for span in spans if span[0] in whole}))
        apart = [span for span in spans if span[0] not in whole]
        cut = self._cut(apart) if apart else {}
        return [
            texts.get(document, "")[start:end]
            if document in whole
            else cut.get((document, start, end), "")
            for document, start, end in spans
        ]

    def _cut(self, spans: Sequence[tuple[int, int, int]]) -> dict[tuple[int, int, int], str]:
        rows = self._connections.rows(
            "SELECT w.key, substr(t.text, (w.value ->> 1) + 1, (w.value ->> 2) - (w.value ->> 1)) "
            "FROM json_each(?) w JOIN texts t ON t.document_id = w.value ->> 0",
            (json.dumps(spans),),
        )
        return {spans[number]: text for number, text in rows}

    def list(
        self,
        collection_id: int | None = None,
        *,
        source_id: int | None = None,
        status: Status | None = None,
        containing: str = "",
        limit: int = -1,
        offset: int = 0,
    ) -> list[DocumentRecord]:
        """Return documents, failed ones first, then pending ones, each ordered by path.

        ``containing`` is a part of the path or title, in any case.
        """
        where, parameters = conditions(
            ("d.collection_id = ?", collection_id),
            ("d.source_id = ?", source_id),
            ("d.status = ?", status and status.value),
            ("instr(folded(d.path) || '\x1f' || folded(d.title), folded(?))", containing or None),
        )
        rows = self._connections.rows(
            f"{_DOCUMENT} WHERE 1{where} ORDER BY "
            "CASE d.status WHEN 'failed' THEN 0 WHEN 'pending' THEN 1 ELSE 2 END, d.path, d.id "
            "LIMIT ? OFFSET ?",
            (*parameters, limit, offset),
        )
        return [_document(row) for row in rows]

    def names(self, collection_id: int) -> Sequence[tuple[int, str, str, str, int, int]]:
        """Return (id, collection, title, path, mtime in ns, chunks) of indexed documents."""
        where, parameters = of_collection("d.collection_id", collection_id)
        return self._connections.rows(
            "SELECT d.id, c.name, d.title, d.path, d.mtime_ns, d.chunks FROM documents d "
            f"JOIN collections c ON c.id = d.collection_id WHERE {where} AND d.status = 'indexed'",
            parameters,
        )

    def question_headings(self, collection_id: int, limit: int) -> Sequence[tuple[int, str]]:
        """Return (document id, heading), for each document one heading that is a question."""
        return self._connections.rows(
            "SELECT s.document_id, MIN(json_extract(s.path, '$[#-1]')) FROM sections s "
            "JOIN documents d ON d.id = s.document_id "
            "WHERE d.collection_id = ? AND s.path LIKE '% %?\"]' GROUP BY 1 ORDER BY 1 LIMIT ?",
            (collection_id, limit),
        )

    # -- writing ---------------------------------------------------------------------------

    def put_many(self, drafts: Sequence[DocumentDraft], embedder_id: int) -> Sequence[int]:
        """Write documents in place of those at their paths, in one transaction; return the ids."""
        with self._token_ids.transaction() as token_ids, self._connections.write() as connection:
            return [put_document(connection, token_ids, draft, embedder_id) for draft in drafts]

    def rename(self, document_id: int, path: str, folders: Sequence[str] | None) -> None:
        """Change the path of a document whose file was moved within its source.

        ``folders`` are the tokens of its new folders. ``None``: more of the path was indexed than
        folders, so that the file must be read again, by this sync or, after a crash, the next.
        """
        with self._token_ids.transaction() as token_ids, self._connections.write() as connection:
            row = connection.execute(
                "SELECT collection_id FROM documents WHERE id = ?", (document_id,)
            ).fetchone()
            if row is None:
                return
            version = next_version(connection, row[0])
            connection.execute(
                "UPDATE documents SET path = ?, version = ?, "
                "recipe = CASE ? WHEN 1 THEN '' ELSE recipe END WHERE id = ?",
                (path, version, int(folders is None), document_id),
            )
            if folders is not None:
                move_entries(connection, token_ids, document_id, folders, version)

    def remove(self, document_ids: Sequence[int]) -> int:
        """Delete documents with everything that was made of them; return how many."""
        with self._connections.write() as connection:
            which = f"d.id {IN_LIST}"
            return delete_documents(connection, which, (id_list(document_ids),))


def chunk_of_row(row: Sequence[Any]) -> ChunkRecord:
    """Parse a row of ``CHUNK_COLUMNS``."""
    pages = None if row[5] is None else (int(row[5]), int(row[6]))
    chunk = Chunk(row[0], row[1], row[2], row[3], _headings(row[4]), pages, row[8])
    return ChunkRecord(chunk, str(row[7]))


@lru_cache(maxsize=4096)
def _headings(packed: str) -> tuple[str, ...]:
    return tuple(json.loads(packed))


def _document(row: Sequence[Any]) -> DocumentRecord:
    values = list(row)
    values[6] = Status(row[6])
    values[17] = json.loads(row[17]) if row[17] != "{}" else {}
    values[18] = tuple(Page(*page) for page in json.loads(row[18])) if row[18] != "[]" else ()
    values[19] = tuple(json.loads(row[19])) if row[19] != "[]" else ()
    return DocumentRecord(*values)
