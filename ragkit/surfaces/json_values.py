"""The values that commands print with ``--json``, for programs that import ragkit."""

from __future__ import annotations

from typing import Any

from ragkit.answers import Thread, Turn
from ragkit.catalog.records import DocumentRecord
from ragkit.results import Answer, Passage, Result
from ragkit.retrieval.multi_query import ChunkedAnswer
from ragkit.retrieval.similar import SimilarDocuments
from ragkit.surfaces import render, render_answers


def as_json(
    value: (
        Answer
        | ChunkedAnswer
        | Result
        | Passage
        | DocumentRecord
        | SimilarDocuments
        | Thread
        | Turn
    ),
) -> dict[str, Any]:
    """Return what a command prints of a value with ``--json``, for ``json.dumps`` and other doors.

    Of an answer to a question or to a long text that is what ``ragkit search --json`` prints, and
    of a document's record a line of ``ragkit list --json``. The metadata of documents is theirs.

    Raises:
        TypeError: it is no such value.
    """
    match value:
        case Answer():
            return render.answer_as_json(value)
        case ChunkedAnswer():
            return render.chunked_answer_as_json(value)
        case Result():
            return render.result_as_json(value)
        case Passage():
            return render.passage_as_json(value)
        case DocumentRecord():
            return render.document_as_json(value)
        case SimilarDocuments():
            return render.similar_as_json(value)
        case Thread():
            return render_answers.thread_as_json(value)
        case Turn():
            return render_answers.turn_as_json(value)
    raise TypeError(f"There is no JSON of a {type(value).__name__}.")
