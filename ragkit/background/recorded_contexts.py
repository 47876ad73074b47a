"""Contexts that a file holds, given to the chunks that they are about without any model.

Each line of such a file is a JSON object: ``path`` of the document in its source, ``chunk`` (its
index, from 0), ``starts`` (the first words of the chunk, white space as single spaces), then what a
model would answer: ``context``, ``keywords``, ``questions``, and whatever else is known of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragkit.background.context_entries import Finished, drafts_of
from ragkit.background.context_requests import OpenDocument, open_document
from ragkit.catalog.records import ContextAnswer, text_key
from ragkit.errors import IndexingError
from ragkit.health.findings import plural
from ragkit.indexing.progress import Reporter
from ragkit.indexing.writer import Writer

RECORDED = "recorded"
"""Stands in the place of the model."""

_OWN_PARTS = frozenset(("path", "chunk", "starts", "context", "keywords", "questions"))


@dataclass(frozen=True, slots=True)
class RecordedContext:
    """What a file says of one chunk. ``starts`` is how the chunk must begin for it to hold."""

    path: str
    chunk: int
    starts: str
    answer: ContextAnswer

    def is_about(self, text: str) -> bool:
        """Whether a chunk's text is the one that was written about."""
        return " ".join(text.split()).startswith(self.starts)


def read_recorded(file: Path) -> list[RecordedContext]:
    """Read a file of recorded contexts.

    Raises:
        IndexingError: it is not there, or a line of it makes no sense.
    """
    try:
        lines = file.read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise IndexingError(f"{file} cannot be read: {error}.", "Name another file.") from error
    found = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(_row(json.loads(line)))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise IndexingError(
                f"Line {number} of {file} is no recorded context: {error}.", "Mend that line."
            ) from error
    return found


def _row(value: Mapping[str, Any]) -> RecordedContext:
    answer = ContextAnswer(
        context=" ".join(str(value["context"]).split()),
        keywords=tuple(str(one) for one in value.get("keywords", ())),
        questions=tuple(str(one) for one in value.get("questions", ())),
        details={key: one for key, one in value.items() if key not in _OWN_PARTS},
        model=RECORDED,
    )
    return RecordedContext(
        str(value["path"]), int(value["chunk"]), " ".join(str(value["starts"]).split()), answer
    )


def recall_contexts(writer: Writer, arguments: Mapping[str, Any], reporter: Reporter) -> str:
    """Give the waiting chunks of a source what a file holds of them; ``source_id`` and ``file``.

    A chunk that begins otherwise is left to a model, and so is one that has a context already.

    Raises:
        IndexingError: the file makes no sense.
    """
    by_path: dict[str, dict[int, RecordedContext]] = {}
    for one in read_recorded(Path(str(arguments["file"]))):
        by_path.setdefault(one.path, {})[one.chunk] = one
    known = writer.catalog.documents.known_files(int(arguments["source_id"]))
    reporter.start("Recalling contexts", len(by_path))
    finished: list[Finished] = []
    for path, recorded in by_path.items():
        opened = open_document(writer.catalog, known[path].document_id) if path in known else None
        if opened is not None:
            finished += _fitting(opened, recorded)
        reporter.step(path)
    for done in finished:
        writer.catalog.contexts.remember(text_key(done.text, done.document_hash), done.answer)
    given = writer.catalog.contexts.put(drafts_of(writer, finished), writer.embedder_id)
    return f"{plural(given, 'recorded context')} recalled."


def _fitting(opened: OpenDocument, recorded: Mapping[int, RecordedContext]) -> Iterator[Finished]:
    """What holds for the chunks of a document that wait for their first context."""
    for waiting in opened.waiting:
        found, chunk = recorded.get(waiting.index), opened.chunks[waiting.index]
        text = opened.text_of(chunk)
        if found is not None and not waiting.asked and found.is_about(text):
            record = opened.record
            yield Finished(record.id, record.hash, chunk, text, found.answer)


HANDLERS: dict[str, Callable[[Writer, Mapping[str, Any], Reporter], str]] = {
    "recall_contexts": recall_contexts
}
"""The jobs of this module, by kind."""
