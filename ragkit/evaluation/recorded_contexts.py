"""Recorded contexts, which are replayed without a model.

Their file has a JSON object per line: ``{id, context, keywords, questions}``. ``id`` (or ``_id``)
is that of a row of ``corpus.jsonl``, ``keywords`` and ``questions`` are lists of texts, and
``tokens``, if present, is the cost of the answer. The backfill checks, stores, embeds and indexes
each answer like one of Ollama's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragkit.catalog.context_records import RECORDED
from ragkit.errors import ContextRejectedError, EvaluationError
from ragkit.evaluation.corpus import Row
from ragkit.evaluation.set_files import counted, read_objects
from ragkit.models.context_checks import WrittenContext, checked_context
from ragkit.models.context_prompt import ContextRequest, PromptKind
from ragkit.reading.decode import clean


@dataclass(frozen=True, slots=True)
class RecordedContexts:
    """The answers of a file by row id; ``notices`` say which cannot be used."""

    answers: Mapping[str, Mapping[str, Any]]
    notices: tuple[str, ...] = ()


def load_contexts(file: Path, rows: Sequence[Row]) -> RecordedContexts:
    """Read the contexts recorded for the rows of a corpus.

    Raises:
        NotFoundError: there is no such file.
        EvaluationError: a line is invalid, or no line is about these rows.
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
    """A stand-in for a model: writes the recorded context of each chunk's row."""

    model = RECORDED

    def __init__(self, rows: Iterable[Row], recorded: RecordedContexts) -> None:
        self._answers = recorded.answers
        self._rows: dict[tuple[str, str], str] = {}
        self._texts: dict[str, list[tuple[str, str]]] = {}
        for row in rows:
            key = _normalised(row.text)
            # Rows with the same text and title share the context of the first one.
            self._rows.setdefault((row.title, key), row.id)
            self._texts.setdefault(row.title, []).append((key, row.id))
        packed = "\n".join(f"{name} {answer}" for name, answer in sorted(self._answers.items()))
        self._hash = hashlib.blake2b(packed.encode("utf-8", "replace"), digest_size=8).hexdigest()

    def prompt_hash(self, kind: PromptKind) -> str:
        """Return a hash of the file, as other contexts of the same rows come from other prompts."""
        return f"{self._hash} {kind}"

    def write(self, request: ContextRequest, attempt: int = 0) -> WrittenContext:  # noqa: ARG002 - it never varies
        """Return the recorded answer, checked like that of any model.

        Raises:
            ContextRejectedError: there is no answer, or it is unusable.
        """
        answer = self._answers.get(self._row(request))
        if answer is None:
            raise ContextRejectedError(
                "No context was recorded for this row.", "Add a line for it.", "missing"
            )
        return replace(checked_context(answer, request), tokens=int(answer.get("tokens") or 0))

    def summarise(self, request: ContextRequest, attempt: int = 0) -> None:
        """Return ``None``: recorded contexts need no summary."""

    def _row(self, request: ContextRequest) -> str:
        """Return the id of the row that contains a chunk, or ``""``."""
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
