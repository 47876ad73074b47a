"""What several test files make: drafts of documents, and small libraries."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import operator
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from ragkit.catalog import Catalog
from ragkit.catalog.records import ChunkRecord, DocumentDraft, EntryDraft
from ragkit.indexes.rows import EntryRows
from ragkit.library.search_log import Door
from ragkit.library.searches import SearchHistory
from ragkit.options import SearchOptions
from ragkit.results import Answer, DocumentRef, MatchedChunk, Result
from ragkit.traces import Stage, Trace
from ragkit.types import FIELD_CODES, LEVEL_CODES, Chunk, Field, Level, Section, Span

DIMENSIONS = 4


_T = TypeVar("_T")


def until(check: Callable[[], Any], seconds: float = 60.0) -> Any:
    """Wait until a check gives something true, and give that."""
    end = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < end, "it did not come to be in time"
        time.sleep(0.02)
    return found


def free_port() -> int:
    """Return a port of this machine at which nothing answers."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answer_threads() -> list[threading.Thread]:
    """Return the threads that read what a model writes."""
    return [one for one in threading.enumerate() if one.name == "ragkit-answer"]


def added_up(values: Iterable[float]) -> float:
    """Add numbers one after the other; ``sum`` of Python 3.12 and later rounds otherwise."""
    return functools.reduce(operator.add, values, 0.0)


def run_async(work: Coroutine[Any, Any, _T]) -> _T:
    """Run a coroutine in a thread: the browser of an earlier test has a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def found_answer(ms: float = 12.3, count: int = 2, **more: Any) -> Answer:
    """An answer with so many results, of made-up documents."""
    results = tuple(
        Result(
            DocumentRef(number, "a.md", "A", "default", "markdown", 0, 3, "/a.md"),
            0.9 - number / 100, (), (MatchedChunk(0, 0.5, span=Span(10, 20)),),
        )
        for number in range(count)
    )  # fmt: skip
    return Answer("q", results, Trace((Stage("vector", ms, 9, count),)), total_documents=7, **more)


def note_searches(
    history: SearchHistory, *questions: str, door: Door = Door.PAGE, of: Answer | None = None
) -> None:
    """Note searches as if they had been made."""
    for question in questions:
        history.note(question, of or found_answer(), SearchOptions(), door=door)


def digest(text: str) -> bytes:
    """The name of a text: 16 bytes."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def vector_bytes(text: str, dimensions: int = DIMENSIONS) -> bytes:
    """A unit vector that depends on the text, as the catalog stores it."""
    seed = int.from_bytes(digest(text)[:4], "little")
    vector = np.random.default_rng(seed).standard_normal(dimensions)
    return (vector / np.linalg.norm(vector)).astype("<f2").tobytes()


def entry(
    text: str,
    position: int = 0,
    *,
    level: Level = Level.CHUNK,
    tokens: Mapping[Field, Sequence[str]] | None = None,
) -> EntryDraft:
    """An entry of that text; its words are the tokens unless others are given."""
    fields = {Field.TEXT: text.split()} if tokens is None else tokens
    packed = {FIELD_CODES[field]: list(words) for field, words in fields.items()}
    return EntryDraft(
        level=LEVEL_CODES[level],
        position=position,
        text_hash=digest(text),
        content_key=digest(text.casefold()),
        tokens=packed,
    )


def document_draft(
    source_id: int,
    collection_id: int,
    path: str = "notes.md",
    pieces: Sequence[str] = ("first piece", "second piece"),
    *,
    with_vectors: bool = True,
    **changed: Any,
) -> DocumentDraft:
    """A document of one section with one chunk and one entry for each piece of text."""
    text = "\n\n".join(pieces)
    chunks, start = [], 0
    for index, piece in enumerate(pieces):
        end = min(start + len(piece) + 2, len(text))
        chunks.append(ChunkRecord(Chunk(index, start, end, 0, ("Top",)), f"context {index}"))
        start = end
    values: dict[str, Any] = {
        "source_id": source_id,
        "collection_id": collection_id,
        "path": path,
        "size": len(text),
        "mtime_ns": 1_700_000_000_000_000_000,
        "hash": digest(text).hex(),
        "pipeline_fingerprint": "pipeline-1",
        "title": path.rsplit("/", 1)[-1],
        "format": "markdown",
        "markup": "markdown",
        "language": "en",
        "date": "",
        "metadata": {},
        "pages": (),
        "warnings": (),
        "text": text,
        "sections": (Section(0, 0, len(text), 1, ("Top",)),),
        "chunks": tuple(chunks),
        "entries": tuple(entry(piece, index) for index, piece in enumerate(pieces)),
        "vectors": {digest(piece): vector_bytes(piece) for piece in pieces} if with_vectors else {},
    }
    return DocumentDraft(**{**values, **changed})


def sqlite_steps(catalog: Catalog, ask: Callable[[], object]) -> int:
    """How many hundred instructions SQLite runs for what is asked: its time, without noise."""
    steps: list[None] = []
    connection = catalog.connections.get()
    connection.set_progress_handler(lambda: steps.append(None), 100)
    ask()
    connection.set_progress_handler(None, 0)
    return len(steps)


class Shelf:
    """A catalog with one collection, one source and one embedder: the least a test needs."""

    def __init__(self, catalog: Catalog, name: str = "default", root: str = "/files") -> None:
        self.catalog = catalog
        self.collection_id = catalog.collections.ensure(name).id
        self.source_id = catalog.collections.ensure_source(self.collection_id, "folder", root).id
        self.embedder_id = catalog.embedders.ensure("fingerprint", "hashing", DIMENSIONS)

    def draft(self, path: str = "notes.md", *pieces: str, **changed: Any) -> DocumentDraft:
        """A draft that belongs to this shelf's source."""
        given: dict[str, Any] = {"pieces": pieces} if pieces else {}
        return document_draft(self.source_id, self.collection_id, path, **given, **changed)

    def put(self, path: str = "notes.md", *pieces: str, **changed: Any) -> int:
        """Write a document and give its id."""
        draft = self.draft(path, *pieces, **changed)
        return self.catalog.documents.put_many([draft], self.embedder_id)[0]

    @property
    def version(self) -> int:
        """The number of the collection's last change; 0 before the first."""
        return self.catalog.collections.version(self.collection_id).number

    def rows(
        self,
        levels: Sequence[Level] = tuple(Level),
        *,
        embedder_id: int | None = None,
        dimensions: int = DIMENSIONS,
        after: int = 0,
    ) -> EntryRows:
        """The collection's live entries of those levels."""
        return self.catalog.entries.rows(
            self.collection_id,
            levels,
            embedder_id=embedder_id,
            dimensions=dimensions,
            after=after,
        )

    def entry_ids(self) -> list[int]:
        """Ids of all live entries of the collection."""
        return [int(one) for one in self.rows().entry_ids]
