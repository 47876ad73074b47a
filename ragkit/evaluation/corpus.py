"""Published question sets: folders in the layout of BEIR (docs/question_sets.md).

``corpus.jsonl`` holds rows ``{_id, title, text, metadata}``, ``queries.jsonl`` ``{_id, text}``,
and ``qrels.tsv`` (or ``qrels/test.tsv``) ``query-id corpus-id score``, tab-separated below a
header. A question may have a ``filter`` in the query language, such as ``path:reports/2021
type:pdf``, under which it is asked. ``metadata.path`` of a row names the file that it is part of,
which ``path:`` and ``type:`` match; the rows of one file are one document. Alternatively
``documents.jsonl`` has ``{_id, metadata: {path}}`` for the ``metadata.doc`` of each row. A row
without a title has its path as the title. ``dups_by_content.json`` has lists of ids of equal rows.
``excerpts.jsonl`` ``{query, doc, start, end, text}`` marks the right places in files of ``docs/``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from ragkit.errors import EvaluationError, NotFoundError
from ragkit.evaluation.restriction import read_filter
from ragkit.evaluation.set_files import (
    counted,
    qrels_of,
    read_objects,
    read_qrels,
    read_text,
    text_of,
)
from ragkit.options.filters import NO_FILTERS, Filters


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a corpus, part of the file at ``path`` if that is known.

    Rows of one file, or without a file rows with the same title, belong to one document.
    """

    id: str
    title: str
    text: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its id in the set.

    ``filter`` is its restriction in the query language, and ``filters`` the parsed form.
    """

    id: str
    text: str
    filter: str = ""
    filters: Filters = NO_FILTERS


Item = TypeVar("Item", Row, Question)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A right place: a span of the file ``document`` and its text."""

    document: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions with their right answers.

    ``judgments`` maps a question's id to the relevance of rows (above 0: relevant). ``same`` maps a
    row's id to the id that represents all equal rows. ``unanswerable`` are questions marked so by
    ``metadata.answerability`` of ``queries.jsonl``. ``notices`` are sentences on what was left out.
    """

    name: str
    rows: tuple[Row, ...] = ()
    questions: tuple[Question, ...] = ()
    judgments: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)
    excerpts: Mapping[str, tuple[Excerpt, ...]] = field(default_factory=dict)
    folder: Path = Path()
    unanswerable: tuple[Question, ...] = ()
    notices: tuple[str, ...] = ()


def load_question_set(
    folder: Path,
    questions: Path | None = None,
    qrels: Path | None = None,
    limit: int | None = None,
) -> QuestionSet:
    """Read a question set from a folder; ``limit`` keeps the first questions of the file.

    Raises:
        NotFoundError: a required file is missing.
        EvaluationError: a line is invalid, or no question can be asked.
    """
    if not folder.is_dir():
        raise NotFoundError(f"Folder not found: {folder}.", "Choose one that has corpus.jsonl.")
    notices: list[str] = []
    lines = list(read_objects(questions or folder / "queries.jsonl"))
    asked = _distinct((_question(*line) for line in lines), "questions", notices)
    rows: list[Row] = []
    judgments: dict[str, dict[str, int]] = {}
    same: dict[str, str] = {}
    excerpts: dict[str, tuple[Excerpt, ...]] = {}
    if (folder / "excerpts.jsonl").is_file() and (folder / "docs").is_dir() and qrels is None:
        excerpts = _excerpts(folder / "excerpts.jsonl")
    else:
        paths = _paths(folder / "documents.jsonl")
        corpus = read_objects(folder / "corpus.jsonl")
        rows = _distinct((_row(line, paths) for _, line in corpus), "rows of the corpus", notices)
        judgments = _judgments(qrels or qrels_of(folder), {row.id for row in rows}, notices)
        same = _same(folder / "dups_by_content.json")
    kept = _judged(asked, excerpts or judgments, notices)[:limit]
    silent = tuple(_question(*line) for line in lines if _is_unanswerable(line[1]))
    return QuestionSet(
        folder.name, tuple(rows), kept, judgments, same, excerpts, folder, silent[:limit],
        tuple(notices),
    )  # fmt: skip


def _is_unanswerable(line: Mapping[str, Any]) -> bool:
    metadata = line.get("metadata")
    answerability = metadata.get("answerability") if isinstance(metadata, dict) else None
    return "UNANSWERABLE" in (answerability if isinstance(answerability, list) else [answerability])


def _question(where: str, line: Mapping[str, Any]) -> Question:
    """Return the question of a line.

    Raises:
        EvaluationError: its filter is invalid.
    """
    written = text_of(line, "filter").strip()
    try:
        filters = read_filter(written)
    except EvaluationError as error:
        raise EvaluationError(f"{where}: {error.message}", error.cure) from error
    return Question(text_of(line, "_id"), text_of(line, "text"), written, filters)


def _row(line: Mapping[str, Any], paths: Mapping[str, str]) -> Row:
    metadata = line.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    path = text_of(metadata, "path") or paths.get(text_of(metadata, "doc"), "")
    return Row(text_of(line, "_id"), text_of(line, "title") or path, text_of(line, "text"), path)


def _distinct(items: Iterable[Item], what: str, notices: list[str]) -> list[Item]:
    """Keep the first item with each id; add notices on the others."""
    kept: dict[str, Item] = {}
    twice: list[str] = []
    nameless = 0
    for item in items:
        if not item.id:
            nameless += 1
        elif kept.setdefault(item.id, item) is not item:
            twice.append(item.id)
    notices += counted(twice, f"{what} have an id that came before")
    if nameless:
        notices.append(f"{nameless} {what} have no _id and are left out.")
    return list(kept.values())


def _paths(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    paths = {}
    for _, line in read_objects(path):
        metadata = line.get("metadata")
        if isinstance(metadata, dict) and metadata.get("path"):
            paths[text_of(line, "_id")] = str(metadata["path"])
    return paths


def _judgments(path: Path, rows: set[str], notices: list[str]) -> dict[str, dict[str, int]]:
    """Read qrels; judgments of missing rows are kept, as rows that cannot be found."""
    judgments: dict[str, dict[str, int]] = {}
    unknown: list[str] = []
    twice: list[str] = []
    for _, question, row, text in read_qrels(path):
        score = round(float(text))
        if row not in rows:
            unknown.append(row)
        if judgments.setdefault(question, {}).setdefault(row, score) != score:
            twice.append(f"{question} {row}")
    notices += counted(unknown, "judgments are of rows that the corpus lacks")
    notices += counted(twice, "judgments contradict an earlier one, which holds")
    return judgments


def _judged(
    asked: Sequence[Question], judgments: Mapping[str, Any], notices: list[str]
) -> tuple[Question, ...]:
    """Keep the questions with a relevant row or excerpt.

    Raises:
        EvaluationError: there are none.
    """
    kept, without = [], []
    for question in asked:
        of_question = judgments.get(question.id)
        if isinstance(of_question, dict):
            of_question = any(relevance > 0 for relevance in of_question.values())
        if of_question and question.text.strip():
            kept.append(question)
        else:
            without.append(question.id)
    notices += counted(without, "questions have no judgment")
    ids = {question.id for question in asked}
    unasked = [question for question in judgments if question not in ids]
    notices += counted(unasked, "judged questions are not asked")
    if not kept:
        raise EvaluationError(
            "None of the questions has a judgment.", "Choose other questions or qrels."
        )
    return tuple(kept)


def _same(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        groups = json.loads(read_text(path))
        return {str(row): str(min(group)) for group in groups for row in group}
    except (ValueError, TypeError) as error:
        raise EvaluationError(
            f"{path.name} is not a list of lists of ids.", "Fix or remove it."
        ) from error


def _excerpts(path: Path) -> dict[str, tuple[Excerpt, ...]]:
    excerpts: dict[str, list[Excerpt]] = {}
    for where, line in read_objects(path):
        try:
            excerpt = Excerpt(
                str(line["doc"]), int(line["start"]), int(line["end"]), str(line.get("text", ""))
            )
        except (KeyError, TypeError, ValueError) as error:
            raise EvaluationError(
                f"{where} lacks doc, start or end.", "Fix or remove the line."
            ) from error
        excerpts.setdefault(text_of(line, "query"), []).append(excerpt)
    return {question: tuple(listed) for question, listed in excerpts.items()}
