"""An ephemeral library for one evaluation: the product's own parts over a temporary directory.

A file of recorded contexts, to be written again without a model, holds a JSON object a line:
``{id, context, keywords, questions}``. ``id`` (or ``_id``) is that of a row of ``corpus.jsonl``,
``keywords`` and ``questions`` are lists of texts, and ``tokens``, if present, is what the answer
cost. The backfill treats each answer like one of Ollama's: it is checked, stored, embedded and
indexed in the same way.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Any

from ragkit.background.context_model import WritesContexts, grader_of, query_writer_of
from ragkit.background.contexts import Backfill, Throttle
from ragkit.catalog import Catalog
from ragkit.catalog.records import (
    RECORDED,
    CollectionRecord,
    ContextCounts,
    SourceRecord,
)
from ragkit.chunking import divide
from ragkit.chunking.sizes import ChunkSizes
from ragkit.chunking.structural_context import content_key
from ragkit.errors import ContextRejectedError, EvaluationError
from ragkit.evaluation.corpus import Row
from ragkit.evaluation.set_files import counted, read_objects
from ragkit.indexes import open_backend
from ragkit.indexing.preparation import PreparedDocument, prepare
from ragkit.indexing.progress import Reporter
from ragkit.indexing.sync import sync_source
from ragkit.indexing.writer import ReadFile, Writer, chunk_settings, pipeline_fingerprint
from ragkit.models.context_checks import WrittenContext, checked_context
from ragkit.models.context_prompt import ContextKind, ContextRequest
from ragkit.models.factory import open_embedder
from ragkit.paths import LibraryPaths
from ragkit.reading.decode import clean
from ragkit.retrieval.search import SearchEngine
from ragkit.settings import Settings
from ragkit.types import Chunk, Divided, FileState, Reading, Section

COLLECTION = "evaluation"

_BATCH_ROWS = 500
_CONTEXTS_TOGETHER = 200
_MOST_WORDS = 5000
_ROW_BREAK = "\n\n"


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
        self._indexes = open_backend(self.catalog.entries, self._paths, self.embedder)
        self._writer = Writer(
            settings, self._paths, self.catalog, self.embedder, lambda: self._indexes
        )
        self.engine = SearchEngine(
            self.catalog,
            self._indexes,
            self.embedder,
            grader_of(settings.models, self.catalog),
            query_writer_of(settings.models, self.catalog),
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
        rows_as: RowsAs = RowsAs.JOINED,
        structural: bool = True,
    ) -> RowPlaces:
        """Index rows: those of one file are the chunks of one document, unless apart.

        Of rows without a file, those that share a title are.

        A row that is longer than a chunk is split like any text, unless rows stay ``whole``.
        Without ``structural`` context, only the text of a row is indexed, not its title and path.
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
        grouped = _by_document(rows) if rows_as is RowsAs.JOINED else apart
        paths = _Paths()
        for number, groups in enumerate(_batches(grouped)):
            files, rows_of = [], []
            for place, group in enumerate(groups):
                readings = [_reading(row, structural=structural) for row in group]
                named = structural and group[0].path != group[0].title
                document, of_chunk = _joined(readings, group[0].path if named else "", sizes)
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

    def _source(self, root: str) -> SourceRecord:
        return self.catalog.collections.ensure_source(self.collection.id, "folder", root)

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

    def documents(self, judgments: Mapping[str, Mapping[str, int]]) -> dict[str, set[int]]:
        """Return for each question the documents that hold a relevant row."""
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


def _by_document(rows: Sequence[Row]) -> Iterator[list[Row]]:
    groups: dict[str, list[Row]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(row.path or row.title or f"\0{number}", []).append(row)
    yield from groups.values()


class _Paths:
    """Gives each document a path of its own, as a folder would."""

    def __init__(self) -> None:
        self._taken: Counter[str] = Counter()

    def own(self, path: str) -> str:
        """Return a relative path, numbered before its suffix where it is taken."""
        parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")]
        whole = PurePosixPath(*parts)
        self._taken[str(whole)] += 1
        number = self._taken[str(whole)]
        if not parts or number == 1:
            return str(whole) if parts else ""
        return self.own(str(whole.with_name(f"{whole.stem} {number}{whole.suffix}")))


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


def _joined(
    readings: Sequence[Reading], path: str, sizes: ChunkSizes
) -> tuple[PreparedDocument, list[int]]:
    """Cut rows and join them to the document of a file; also return which row each chunk is of.

    Without a ``path``, as where it is the title already, no file's name is searched for.
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


# -- recorded contexts ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RecordedContexts:
    """The answers of a file by row id. ``notices`` say which of them cannot be used."""

    answers: Mapping[str, Mapping[str, Any]]
    notices: tuple[str, ...] = ()


def load_contexts(file: Path, rows: Sequence[Row]) -> RecordedContexts:
    """Read the contexts that were recorded for the rows of a corpus.

    Raises:
        NotFoundError: there is no such file.
        EvaluationError: a line is invalid, or none is about these rows.
    """
    ids = {row.id for row in rows}
    answers: dict[str, Mapping[str, Any]] = {}
    unknown: list[str] = []
    twice: list[str] = []
    nameless = 0
    for _, line in read_objects(file):
        name = str(line.get("id") or line.get("_id") or "")
        if not name:
            nameless += 1
        elif name not in ids:
            unknown.append(name)
        elif answers.setdefault(name, line) is not line:
            twice.append(name)
    if not answers:
        raise EvaluationError(
            f"No line of {file.name} is about a row of this corpus.",
            "Each line is {id, context, keywords, questions}, with the id of a row.",
        )
    missing = [row.id for row in rows if row.id not in answers]
    notices = [
        *counted(unknown, "recorded contexts are of rows that the corpus lacks"),
        *counted(twice, "recorded contexts have an id that came before"),
        *counted(missing, "rows have no recorded context"),
    ]
    if nameless:
        notices.append(f"{nameless} recorded contexts have no id and are left out.")
    return RecordedContexts(answers, tuple(notices))


class RecordedModel:
    """Writes the recorded context of each chunk's row; no model is asked."""

    model = RECORDED

    def __init__(self, rows: Iterable[Row], recorded: RecordedContexts) -> None:
        self._answers = recorded.answers
        self._rows: dict[tuple[str, str], str] = {}
        self._texts: dict[str, list[tuple[str, str]]] = {}
        for row in rows:
            key = _normalised(row.text)
            # Rows of the same text and title share the first one's context.
            self._rows.setdefault((row.title, key), row.id)
            self._texts.setdefault(row.title, []).append((key, row.id))
        packed = "\n".join(f"{name} {answer}" for name, answer in sorted(self._answers.items()))
        self._hash = hashlib.blake2b(packed.encode("utf-8", "replace"), digest_size=8).hexdigest()

    def prompt_hash(self, kind: ContextKind) -> str:
        """Return a hash of the file, so that other contexts of the same rows differ."""
        return f"{self._hash} {kind}"

    def write(self, request: ContextRequest, attempt: int = 0) -> WrittenContext:  # noqa: ARG002 - it never varies
        """Return the recorded answer, checked like any model's.

        Raises:
            ContextRejectedError: nothing was recorded, or it is unusable.
        """
        answer = self._answers.get(self._row(request))
        if answer is None:
            raise ContextRejectedError(
                "No context was recorded for this row.", "Add a line for it.", "missing"
            )
        return replace(checked_context(answer, request), tokens=int(answer.get("tokens") or 0))

    def _row(self, request: ContextRequest) -> str:
        """Return the id of the row that a chunk is, or that it was cut from."""
        text = _normalised(request.chunk_text)
        for title in dict.fromkeys((request.document_title, "")):
            exact = self._rows.get((title, text))
            if exact is not None:
                return exact
            inside = next((row for key, row in self._texts.get(title, ()) if text in key), None)
            if inside is not None:
                return inside
        return ""


def _normalised(text: str) -> str:
    return " ".join(clean(text).split())
