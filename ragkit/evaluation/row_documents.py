"""Makes documents of the rows of a corpus, and maps their chunks back to rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import PurePosixPath

from ragkit.chunking import divide
from ragkit.chunking.sizes import ChunkSizes
from ragkit.chunking.structural_context import content_key
from ragkit.evaluation.corpus import Row
from ragkit.indexing.preparation import PreparedDocument, prepare
from ragkit.reading.decode import clean
from ragkit.types import Chunk, Divided, Reading, Section

_BATCH_ROWS = 500
_ROW_BREAK = "\n\n"


class RowsAs(StrEnum):
    """Whether rows of one file or title are chunks of one document, or a document each."""

    JOINED = "joined"
    APART = "apart"


class RowPlaces:
    """Maps chunks to their corpus rows, and finds rows with the same text."""

    def __init__(self) -> None:
        self.blank = 0
        self._rows: dict[tuple[int, int], str] = {}
        self._keys: dict[str, bytes] = {}
        self._twins: dict[bytes, list[str]] = {}

    def add(self, document_id: int, rows: Sequence[Row]) -> None:
        """Record the row of each chunk of a document, in order."""
        for index, row in enumerate(rows):
            self._rows[document_id, index] = row.id
        for row in dict.fromkeys(rows):
            key = content_key(clean(row.text))
            self._keys[row.id] = key
            self._twins.setdefault(key, []).append(row.id)

    def documents(self, judgments: Mapping[str, Mapping[str, int]]) -> dict[str, set[int]]:
        """Return for each question the ids of the documents with a relevant row."""
        holding: dict[str, set[int]] = {}
        for (document, _), row in self._rows.items():
            holding.setdefault(row, set()).add(document)
        return {
            question: {
                document
                for row, relevance in rows.items()
                if relevance > 0
                for document in holding.get(row, ())
            }
            for question, rows in judgments.items()
        }

    def ranking(self, chunks: Iterable[tuple[int, int]]) -> list[str]:
        """Return the distinct rows of ranked chunks; rows with the same text follow each other.

        A search shows the same text of several documents once, but judgments may name any of its
        rows.
        """
        ranking: dict[str, None] = {}
        for chunk in chunks:
            row = self._rows[chunk]
            if row not in ranking:
                ranking[row] = None
                ranking.update(dict.fromkeys(self._twins[self._keys[row]]))
        return list(ranking)


def by_document(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """Yield the rows of each document: those of one file, or else with one title."""
    groups: dict[str, list[Row]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(row.path or row.title or f"\0{number}", []).append(row)
    yield from groups.values()


class OwnPaths:
    """Makes the paths of documents distinct."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()

    def own(self, path: str) -> str:
        """Return a relative path, with a number before the suffix if it is taken."""
        parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        whole = PurePosixPath(*parts)
        self._taken[str(whole)] += 1
        number = self._taken[str(whole)]
        if not parts or number == 1:
            return str(whole) if parts else ""
        return self.own(str(whole.with_name(f"{whole.stem} {number}{whole.suffix}")))


def batches(groups: Iterable[list[Row]]) -> Iterator[list[list[Row]]]:
    """Yield groups of rows in batches of about ``_BATCH_ROWS`` rows."""
    batch: list[list[Row]] = []
    for group in groups:
        batch.append(group)
        if sum(map(len, batch)) >= _BATCH_ROWS:
            yield batch
            batch = []
    if batch:
        yield batch


def reading_of(row: Row, *, structural: bool) -> Reading:
    """Return a row as a reading; without ``structural`` context it has no title."""
    text = clean(row.text)
    title = row.title if structural else ""
    return Reading(text if text.strip() else row.title, title, "text")


def joined(
    readings: Sequence[Reading], path: str, sizes: ChunkSizes
) -> tuple[PreparedDocument, list[int]]:
    """Divide rows and join them to one document; also return the index of each chunk's row.

    Without a ``path``, the document has no file name among its tokens.
    """
    text = _ROW_BREAK.join(reading.text for reading in readings)
    sections: list[Section] = []
    chunks: list[Chunk] = []
    of_chunk: list[int] = []
    offset = 0
    for number, reading in enumerate(readings):
        divided = divide(reading, sizes)
        first = len(sections)
        parents = chunks[-1].parent + 1 if chunks else 0
        sections += [
            replace(
                section,
                index=section.index + first,
                start=section.start + offset,
                end=section.end + offset,
            )
            for section in divided.sections
        ]
        chunks += [
            replace(
                chunk,
                index=index,
                start=chunk.start + offset,
                end=chunk.end + offset,
                section=chunk.section + first,
                parent=chunk.parent + parents,
            )
            for index, chunk in enumerate(divided.chunks, start=len(chunks))
        ]
        of_chunk += [number] * len(divided.chunks)
        offset += len(reading.text) + len(_ROW_BREAK)
        # The blank lines between two rows belong to the first of them.
        if divided.sections and number + 1 < len(readings):
            sections[-1] = replace(sections[-1], end=sections[-1].end + len(_ROW_BREAK))
    whole = replace(readings[0], text=text)
    return prepare(whole, path, Divided(tuple(sections), (), tuple(chunks))), of_chunk
