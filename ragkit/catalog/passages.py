"""What putting results together reads: some chunks and slices of many documents at once."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence

from ragkit.catalog.connection import Connections
from ragkit.catalog.document_writing import CHUNK_COLUMNS
from ragkit.catalog.documents import chunk_of_row
from ragkit.catalog.records import ChunkRecord


class Passages:
    """Queries about parts of documents, one round trip for a whole answer."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def chunks_at(self, wanted: Mapping[int, Sequence[int]]) -> dict[int, list[ChunkRecord]]:
        """The chunks with those indexes of each document, in order."""
        pairs = [[document, index] for document, indexes in wanted.items() for index in indexes]
        columns = ", ".join(f"k.{name}" for name in CHUNK_COLUMNS.split(", "))
        rows = self._connections.rows(
            f"SELECT k.document_id, {columns} FROM json_each(?) w JOIN chunks k "
            "ON k.document_id = w.value ->> 0 AND k.idx = w.value ->> 1",
            (json.dumps(pairs),),
        )
        found: dict[int, list[ChunkRecord]] = {document: [] for document in wanted}
        for row in rows:
            found[row[0]].append(chunk_of_row(row[1:]))
        for records in found.values():
            records.sort(key=lambda record: record.chunk.index)
        return found

    def slices(
        self, wanted: Sequence[tuple[int, int, int]], whole: Container[int] = ()
    ) -> list[str]:
        """The slices (document id, start, end) of stored texts, in the order asked for.

        Documents in ``whole`` are read whole and cut here, which is quicker for all but long
        ones. A slice of a document that has gone is empty.
        """
        short = sorted({document for document, _start, _end in wanted if document in whole})
        texts = dict(
            self._connections.rows(
                "SELECT document_id, text FROM texts "
                "WHERE document_id IN (SELECT value FROM json_each(?))",
                (json.dumps(short),),
            )
        )
        cut = self._cut([one for one in wanted if one[0] not in whole])
        return [
            texts.get(one[0], "")[one[1] : one[2]] if one[0] in whole else cut.get(one, "")
            for one in wanted
        ]

    def _cut(self, wanted: Sequence[tuple[int, int, int]]) -> dict[tuple[int, int, int], str]:
        if not wanted:
            return {}
        rows = self._connections.rows(
            "SELECT w.key, substr(t.text, (w.value ->> 1) + 1, (w.value ->> 2) - (w.value ->> 1)) "
            "FROM json_each(?) w JOIN texts t ON t.document_id = w.value ->> 0",
            (json.dumps(wanted),),
        )
        return {wanted[number]: text for number, text in rows}
