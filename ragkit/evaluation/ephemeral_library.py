"""An ephemeral library for one evaluation: the product's own parts over a temporary directory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from ragkit.background.context_model import WritesContexts, grader_of
from ragkit.background.contexts import Backfill, Throttle
from ragkit.catalog import Catalog
from ragkit.catalog.records import CollectionRecord, ContextCounts, FileState, SourceRecord
from ragkit.chunking import divide
from ragkit.chunking.sizes import ChunkSizes
from ragkit.chunking.structural_context import content_key
from ragkit.errors import EvaluationError
from ragkit.evaluation.corpus import Row
from ragkit.indexes.local.backend import LocalBackend
from ragkit.indexing.preparation import PreparedDocument, prepare
from ragkit.indexing.progress import Reporter
from ragkit.indexing.sync import sync_source
from ragkit.indexing.writer import ReadFile, Writer, chunk_settings, pipeline_fingerprint
from ragkit.models.factory import open_embedder
from ragkit.paths import LibraryPaths
from ragkit.reading.decode import clean
from ragkit.retrieval.search import Engine
from ragkit.settings import Settings
from ragkit.types import Chunk, Divided, Reading, Section

COLLECTION = "evaluation"

_BATCH_ROWS = 500
_CONTEXTS_TOGETHER = 200
_MOST_WORDS = 5000
_BETWEEN = "\n\n"


class RowsAs(StrEnum):
    """How rows that share a title are indexed: as chunks of one document, or a document each."""

    JOINED = "joined"
    APART = "apart"


class EphemeralLibrary:
    """Catalog, writer, indexes and engine, wired as the product wires them."""

    def __init__(self, root: Path, settings: Settings) -> None:
        """Create a library in an empty directory."""
        self._settings = settings
        self._paths = LibraryPaths(root)
        self._paths.create()
        self.catalog = Catalog.open(self._paths.catalog, create=True)
        self.embedder = open_embedder(settings.models)
        self._indexes = LocalBackend(self.catalog.entries, self._paths, self.embedder)
        self._writer = Writer(
            settings, self._paths, self.catalog, self.embedder, lambda: self._indexes
        )
        self.engine = Engine(
            self.catalog,
            self._indexes,
            self.embedder,
            grader_of(settings.models, self.catalog),
        )
        self.collection: CollectionRecord = self.catalog.collections.ensure(COLLECTION)

    def close(self) -> None:
        """Close files and connections."""
        self.catalog.close()

    def add_folder(self, folder: Path, reporter: Reporter) -> None:
        """Read and index the files of a folder, as a source of the collection.

        Raises:
            EvaluationError: nothing in it could be indexed.
        """
        source = self._source("folder", str(folder.resolve()))
        report = sync_source(self._writer, source, reporter)
        if not report.indexed:
            raise EvaluationError(f"Nothing in {folder} could be indexed.", "Look at its files.")
        self._save()

    def add_rows(
        self,
        rows: Sequence[Row],
        reporter: Reporter,
        *,
        whole: bool = False,
        rows_as: RowsAs = RowsAs.JOINED,
        structural: bool = True,
    ) -> RowPlaces:
        """Index rows: those that share a title are the chunks of one document, unless apart.

        A row that is longer than a chunk is split like any text, unless rows stay ``whole``.
        Without ``structural`` context, only the text of a row is indexed, not its title.
        """
        source = self._source("folder", "/rows")
        fingerprint = pipeline_fingerprint(self._settings, self.collection)
        sizes = ChunkSizes.of(chunk_settings(self._settings, self.collection))
        if whole:
            sizes = replace(sizes, words=_MOST_WORDS)
        from ragkit.indexing.pipeline import Pipeline

        pipeline = Pipeline(self.embedder, self._writer.texts_not_to_embed, chunks_only=True)
        places = RowPlaces()
        reporter.start("Indexing", len(rows))
        apart = ([row] for row in rows)
        grouped = _by_title(rows) if rows_as is RowsAs.JOINED else apart
        for number, groups in enumerate(_batches(grouped)):
            files, rows_of = [], []
            for place, group in enumerate(groups):
                readings = [_reading(row, structural=structural) for row in group]
                document, of_chunk = _joined(readings, sizes)
                if not document.chunks:
                    places.blank += len(group)
                    continue
                path = f"{number:05d}/{place:05d}"
                state = FileState(path, 0, 0)
                files.append(
                    ReadFile(source.id, self.collection.id, state, path, fingerprint, document)
                )
                rows_of.append([group[part] for part in of_chunk])
            drafts = pipeline.run(files)
            stored = self.catalog.documents.put_many(drafts, self._writer.embedder_id)
            for document_id, of_document in zip(stored, rows_of, strict=True):
                places.add(document_id, of_document)
            reporter.step(done=sum(map(len, groups)))
        self._save()
        return places

    def write_contexts(self, model: WritesContexts, reporter: Reporter) -> ContextCounts:
        """Have the backfill write the contexts of all chunks with a model; return their counts."""
        contexts = self.catalog.contexts
        reporter.start("Writing contexts", contexts.counts(self.collection.id).pending)
        backfill = Backfill(
            self._writer,
            lambda _collection: model,
            Throttle(batch=_CONTEXTS_TOGETHER),
            heed_pause=False,
            watch=lambda progress: reporter.step(progress.current),
        )
        backfill.work(self.collection.id)
        self._save()
        return contexts.counts(self.collection.id)

    def counts(self) -> tuple[int, int]:
        """Return the number of documents and of chunks."""
        counts = self.catalog.documents.counts(self.collection.id)
        return counts.indexed, counts.chunks

    def _source(self, kind: str, root: str) -> SourceRecord:
        return self.catalog.collections.ensure_source(self.collection.id, kind, root)

    def _save(self) -> None:
        self._indexes.save(self.catalog.collections.get(COLLECTION), always=True)


class RowPlaces:
    """Maps chunks to the corpus rows that they hold, and knows which rows read the same."""

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

    def ranking(self, chunks: Iterable[tuple[int, int]]) -> list[str]:
        """Return the rows of ranked chunks, each once; rows of the same text follow each other.

        A search shows a text of several documents once, whereas judgments may name any of the
        rows that hold it.
        """
        ranking: dict[str, None] = {}
        for chunk in chunks:
            row = self._rows[chunk]
            if row not in ranking:
                ranking[row] = None
                ranking.update(dict.fromkeys(self._twins[self._keys[row]]))
        return list(ranking)


def _by_title(rows: Sequence[Row]) -> Iterator[list[Row]]:
    groups: dict[str, list[Row]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(row.title or f"\0{number}", []).append(row)
    yield from groups.values()


def _batches(groups: Iterable[list[Row]]) -> Iterator[list[list[Row]]]:
    batch: list[list[Row]] = []
    for group in groups:
        batch.append(group)
        if sum(map(len, batch)) >= _BATCH_ROWS:
            yield batch
            batch = []
    if batch:
        yield batch


def _reading(row: Row, *, structural: bool) -> Reading:
    text = clean(row.text)
    title = row.title if structural else ""
    return Reading(text if text.strip() else row.title, title, "text")


def _joined(readings: Sequence[Reading], sizes: ChunkSizes) -> tuple[PreparedDocument, list[int]]:
    """Cut rows and join them to one document; also return which row each chunk is of."""
    text = _BETWEEN.join(reading.text for reading in readings)
    sections: list[Section] = []
    chunks: list[Chunk] = []
    of_chunk: list[int] = []
    offset = 0
    for number, reading in enumerate(readings):
        divided = divide(reading, sizes)
        first_section = len(sections)
        # The blank lines between two rows belong to the first of them.
        gap = len(_BETWEEN) if number + 1 < len(readings) else 0
        for section in divided.sections:
            end = section.end + offset
            end += gap if section is divided.sections[-1] else 0
            index = section.index + first_section
            sections.append(replace(section, index=index, start=section.start + offset, end=end))
        for chunk in divided.chunks:
            chunks.append(
                replace(
                    chunk,
                    index=len(chunks),
                    start=chunk.start + offset,
                    end=chunk.end + offset,
                    section=chunk.section + first_section,
                )
            )
            of_chunk.append(number)
        offset += len(reading.text) + len(_BETWEEN)
    whole = replace(readings[0], text=text)
    return prepare(whole, "", Divided(tuple(sections), (), tuple(chunks))), of_chunk
