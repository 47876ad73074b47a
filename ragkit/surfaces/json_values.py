"""``ragkit.as_json``: the values that commands print with ``--json``, for Python programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ragkit.answers import Source, Thread, Turn, WrittenAnswer
from ragkit.catalog.records import DocumentRecord
from ragkit.results import Answer, Passage, Result
from ragkit.retrieval.multi_query import ChunkedAnswer
from ragkit.retrieval.similar import Similar, SimilarDocuments
from ragkit.surfaces import render, render_answers

Value: TypeAlias = (
    "Answer | ChunkedAnswer | Result | Passage | DocumentRecord | SimilarDocuments | Similar "
    "| Source | WrittenAnswer | Thread | Turn"
)
_RENDERERS: Mapping[type, Callable[[Any], dict[str, Any]]] = {
    Answer: render.answer_as_json,
    ChunkedAnswer: render.chunked_answer_as_json,
    Result: render.result_as_json,
    Passage: render.passage_as_json,
    DocumentRecord: render.document_as_json,
    SimilarDocuments: render.similar_as_json,
    Similar: render.similar_document_as_json,
    Source: render_answers.source_as_json,
    WrittenAnswer: render_answers.written_as_json,
    Thread: render_answers.thread_as_json,
    Turn: render_answers.turn_as_json,
}


def as_json(value: Value) -> dict[str, Any]:
    """Return a value as a JSON object, as the command line prints it with ``--json``.

    For an answer this is the output of ``ragkit search --json`` without excerpts, which take as
    long as a search; for a document's record a line of ``ragkit list --json``.

    Raises:
        TypeError: values of this type have no JSON form.
    """
    renderer = _RENDERERS.get(type(value))
    if renderer is None:
        raise TypeError(f"A {type(value).__name__} has no JSON form.")
    return renderer(value)
