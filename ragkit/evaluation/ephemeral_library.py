"""A temporary library for one evaluation, built from the parts of the product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ragkit.background.context_model import WritesContexts, grader_of, query_writer_of
from ragkit.background.contexts import Backfill, Throttle
from ragkit.catalog import Catalog
from ragkit.catalog.context_records import ContextCounts
from ragkit.catalog.records import CollectionRecord, DocumentRecord, SourceRecord
from ragkit.chunking.sizes import ChunkSizes
from ragkit.errors import EvaluationError
from ragkit.evaluation.corpus import Row
from ragkit.evaluation.measured_grading import MeasuredGrading
from ragkit.evaluation.row_documents import (
    OwnPaths,
    RowPlaces,
    RowsAs,
    batches,
    by_document,
    joined,
    reading_of,
)
from ragkit.indexes import open_backend
from ragkit.indexing.preparation import ReadFile, prepare
from ragkit.indexing.progress import Reporter
from ragkit.indexing.sync import sync_source
from ragkit.indexing.writer import Writer, chunk_settings, pipeline_fingerprint
from ragkit.models.base import Embedder
from ragkit.models.factory import open_embedder
from ragkit.paths import LibraryPaths
from ragkit.retrieval.phrasings import OpenQueryWriter
from ragkit.retrieval.search import SearchEngine
from ragkit.settings import Settings
from ragkit.types import Divided, FileState, Markup, Reading, Status

COLLECTION = "evaluation"

_BATCH_DOCUMENTS = 100
_CONTEXTS_TOGETHER = 200
_MOST_WORDS = 5000


class EphemeralLibrary:
    """Catalog, writer, indexes and engine, connected as in the product."""

    def __init__(
        self,
        root: Path,
        settings: Settings,
        *,
        embedder: Embedder | None = None,
        grading: MeasuredGrading | None = None,
        open_query_writer: OpenQueryWriter | None = None,
    ) -> None:
        """Create a library in an empty directory with the given or the settings' models."""
        models = settings.models
        self._settings = settings
        self._paths = LibraryPaths(root)
        self._paths.create()
        self.catalog = Catalog.open(self._paths.catalog, create=True)
        self.embedder = embedder or open_embedder(models)
        self.indexes = open_backend(self.catalog.entries, self._paths, self.embedder)
        self._writer = Writer(
            settings, self._paths, self.catalog, self.embedder, lambda: self.indexes
        )
        self.grading = grading or MeasuredGrading(grader_of(models, self.catalog))
        self.engine = SearchEngine(
            self.catalog,
            self.indexes,
            self.embedder,
            self.grading,
            open_query_writer or query_writer_of(models, self.catalog),
        )
        self.collection: CollectionRecord = self.catalog.collections.ensure(COLLECTION)

    def close(self) -> None:
        """Close files and connections."""
        self.catalog.close()

    def add_folder(self, folder: Path, reporter: Reporter) -> None:
        """Index the files of a folder as a source of the collection.

        Raises:
            EvaluationError: nothing in it could be indexed.
        """
        source = self._source(str(folder.resolve()))
        report = sync_source(self._writer, source, reporter)
        if not report.indexed:
            raise EvaluationError(f"Nothing in {folder} could be indexed.", "Check its files.")
        self._save()

    def add_rows(
        self,
        rows: Sequence[Row],
        reporter: Reporter,
        *,
        whole: bool = False,
        rows_as: RowsAs,
        structural: bool = True,
    ) -> RowPlaces:
        """Index rows as chunks: rows of one file, or else of one title, as one document.

        ``RowsAs.APART`` makes each row a document. A row longer than a chunk is split, unless rows
        stay ``whole``. Without ``structural`` context, titles and paths are not indexed.
        """
        source = self._source("/rows")
        fingerprint = pipeline_fingerprint(self._settings, self.collection)
        sizes = ChunkSizes.of(chunk_settings(self._settings, self.collection))
        if whole:
            sizes = replace(sizes, words=_MOST_WORDS)
        from ragkit.indexing.pipeline import Pipeline

        pipeline = Pipeline(self.embedder, self._writer.texts_not_to_embed, chunks_only=True)
        places = RowPlaces()
        reporter.start("Indexing", len(rows))
        apart = ([row] for row in rows)
        grouped = by_document(rows) if rows_as is RowsAs.JOINED else apart
        paths = OwnPaths()
        for number, groups in enumerate(batches(grouped)):
            files, rows_of = [], []
            for place, group in enumerate(groups):
                readings = [reading_of(row, structural=structural) for row in group]
                named = structural and group[0].path != group[0].title
                document, of_chunk = joined(readings, group[0].path if named else "", sizes)
                if not document.chunks:
                    places.blank += len(group)
                    continue
                name = f"{number:05d}/{place:05d}"
                state = FileState(paths.own(group[0].path) or name, 0, 0)
                files.append(
                    ReadFile(source.id, self.collection.id, state, name, fingerprint, document)
                )
                rows_of.append([group[part] for part in of_chunk])
            drafts = pipeline.run(files)
            stored = self.catalog.documents.put_many(drafts, self._writer.embedder_id)
            for document_id, of_document in zip(stored, rows_of, strict=True):
                places.add(document_id, of_document)
            reporter.step(done=sum(map(len, groups)))
        self._save()
        return places

    def add_texts(self, catalog: Catalog, collection_id: int, reporter: Reporter) -> None:
        """Index the chunks of another library's collection as bare texts.

        The same chunks are indexed without title, headings, pages and names of files and folders.
        Filters match the same documents as in the other library.
        """
        documents = catalog.documents.list(collection_id, status=Status.INDEXED)
        reporter.start("Indexing the texts alone", len(documents))
        sources = {
            document.source_id: self._source(f"{document.source_id}:{document.root}")
            for document in documents
        }
        for first in range(0, len(documents), _BATCH_DOCUMENTS):
            batch = documents[first : first + _BATCH_DOCUMENTS]
            # One run of the pipeline must not have two files with the same path.
            for source_id, source in sources.items():
                inside = [record for record in batch if record.source_id == source_id]
                files = [_bare(catalog, record, source.id, self.collection.id) for record in inside]
                drafts = [
                    replace(draft, speakers=catalog.filters.speakers(record.id))
                    for draft, record in zip(self._writer.pipeline.run(files), inside, strict=True)
                ]
                self.catalog.documents.put_many(drafts, self._writer.embedder_id)
            reporter.step(done=len(batch))
        self._save()

    def write_contexts(self, model: WritesContexts, reporter: Reporter) -> ContextCounts:
        """Write the contexts of all chunks with a model; return their counts."""
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

    def _source(self, root: str) -> SourceRecord:
        return self.catalog.collections.ensure_source(self.collection.id, "folder", root)

    def _save(self) -> None:
        self.indexes.save(self.catalog.collections.get(COLLECTION), always=True)


def _bare(catalog: Catalog, record: DocumentRecord, source_id: int, collection_id: int) -> ReadFile:
    """Return a document as read without its title, headings and pages."""
    documents = catalog.documents
    sections = tuple(documents.sections(record.id))
    chunks = tuple(
        replace(stored.chunk, heading_path=(), pages=None) for stored in documents.chunks(record.id)
    )
    reading = Reading(
        documents.text(record.id), "", record.format, Markup(record.markup), record.language,
        metadata=record.metadata,
    )  # fmt: skip
    untitled = tuple(replace(section, path=()) for section in sections)
    prepared = prepare(replace(reading, metadata={}), "", Divided(untitled, (), chunks))
    return ReadFile(
        source_id,
        collection_id,
        FileState(record.path, record.size, record.mtime_ns),
        record.hash,
        record.pipeline_fingerprint,
        replace(prepared, reading=reading, sections=sections),
    )
