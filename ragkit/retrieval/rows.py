"""Rows: what a search found, as another program has it. Mappings and objects alike.

A row has ``document_id``, ``similarity`` (or ``score``) and, to be shown, ``content``,
``chunk_index`` and ``metadata``: a mapping with ``title``, ``path``, ``date`` and ``tags``, if any.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ragkit.results import DocumentRef, Passage, Result


def similarity_of(row: Any) -> float:
    """Return how well a row fits: its ``similarity``, or else its ``score``.

    Raises:
        TypeError: it has neither.
    """
    return float(_required(row, "similarity", "score"))


def document_of(row: Any) -> Any:
    """Return the ``document_id`` of a row.

    Raises:
        TypeError: it has none.
    """
    return _required(row, "document_id")


def as_results(results: Iterable[Any]) -> list[Result]:
    """Return a result for each document of the rows, in order; results stay as they are.

    The rows of a document become its passages, by ``chunk_index``.

    Raises:
        TypeError: a row lacks what it needs.
    """
    rows_of: dict[Any, list[Any]] = {}
    for place, row in enumerate(results):
        is_result = isinstance(row, Result)
        rows_of.setdefault((is_result, place if is_result else document_of(row)), []).append(row)
    return [
        rows[0] if is_result else _result(document, rows)
        for (is_result, document), rows in rows_of.items()
    ]


def _result(document: Any, rows: list[Any]) -> Result:
    best = max(rows, key=similarity_of)
    about = _get(best, "metadata") or {}
    title, path, date = (str(about.get(name) or "") for name in ("title", "path", "date"))
    reference = DocumentRef(
        0, path, title or path or str(document), "", "", 0, 0, "", date, dict(about)
    )
    passages = [
        Passage(0, len(content), content)
        for row in sorted(rows, key=lambda row: _get(row, "chunk_index") or 0)
        if (content := str(_required(row, "content")))
    ]
    return Result(reference, similarity_of(best), tuple(passages), ())


def _required(row: Any, *names: str) -> Any:
    for name in names:
        value = _get(row, name)
        if value is not None:
            return value
    raise TypeError(f"A row needs {' or '.join(names)}; this one is {type(row).__name__}.")


def _get(row: Any, name: str) -> Any:
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)
