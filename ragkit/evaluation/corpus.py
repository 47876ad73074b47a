"""Published question sets: folders in the layout of BEIR.

``corpus.jsonl`` holds rows ``{_id, title, text, metadata}``, ``queries.jsonl`` ``{_id, text}``,
and ``qrels.tsv`` (or ``qrels/test.tsv``) ``query-id corpus-id score``, tab-separated below a
header. Where rows are parts of files, ``documents.jsonl`` may hold ``{_id, metadata: {path}}``
for the ``metadata.doc`` of each row; the path is then the title of a row that has none.
``dups_by_content.json`` holds lists of ids of rows that count as the same. ``excerpts.jsonl``
``{query, doc, start, end, text}`` marks the right places in the files of ``docs/``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragkit.errors import EvaluationError, NotFoundError

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a corpus. Rows that share a non-empty title belong to one document."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its id in the set."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A right place: a span of the file ``document`` and its text."""

    document: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions with what is right for each of them.

    ``judgments`` hold for a question's id the relevance of rows (above 0: relevant).
    ``notices`` are sentences on what was left out. ``same`` maps a row's id to the id that
    represents all rows which count as the same.
    """

    name: str
    rows: tuple[Row, ...] = ()
    questions: tuple[Question, ...] = ()
    judgments: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    same: Mapping[str, str] = field(default_factory=dict)
    excerpts: Mapping[str, tuple[Excerpt, ...]] = field(default_factory=dict)
    folder: Path = Path()
    notices: tuple[str, ...] = ()


def load_question_set(
    folder: Path,
    questions: Path | None = None,
    qrels: Path | None = None,
    limit: int | None = None,
) -> QuestionSet:
    """Read a folder; ``limit`` keeps that many questions, in the order of the file.

    Raises:
        NotFoundError: a required file is missing.
        EvaluationError: a line is invalid, or no question can be asked.
    """
    if not folder.is_dir():
        raise NotFoundError(f"There is no folder {folder}.", "Name one that holds corpus.jsonl.")
    lines = read_lines(questions or folder / "queries.jsonl")
    asked, notices = _distinct(
        (Question(_text(line, "_id"), _text(line, "text")) for line in lines), "questions"
    )
    if (folder / "excerpts.jsonl").is_file() and (folder / "docs").is_dir() and qrels is None:
        excerpts = _excerpts(folder / "excerpts.jsonl")
        kept = _judged(asked, excerpts, notices)[:limit]
        return QuestionSet(
            folder.name, (), kept, excerpts=excerpts, folder=folder, notices=(*notices,)
        )
    paths = _paths(folder / "documents.jsonl")
    rows, more = _distinct(
        (_row(line, paths) for line in read_lines(folder / "corpus.jsonl")), "rows of the corpus"
    )
    notices += more
    judgments = _judgments(qrels or qrels_of(folder), {row.id for row in rows}, notices)
    kept = _judged(asked, judgments, notices)[:limit]
    same = _same(folder / "dups_by_content.json")
    return QuestionSet(folder.name, tuple(rows), kept, judgments, same, {}, folder, (*notices,))


def qrels_of(folder: Path) -> Path:
    """Return the path of a folder's judgments."""
    nested = folder / "qrels" / "test.tsv"
    return nested if nested.is_file() else folder / "qrels.tsv"


def qrels_rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the cells of each line; TREC's unused second column is dropped."""
    for number, line in enumerate(text.split("\n"), start=1):
        cells = line.rstrip("\r").split("\t")
        if len(cells) == 4:
            del cells[1]
        if line.strip():
            yield number, cells


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSONL file. Only line feeds end a line: texts may hold others.

    Raises:
        NotFoundError: there is no such file.
        EvaluationError: it cannot be read, is not UTF-8, or a line is no JSON object.
    """
    for number, line in enumerate(_read(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            raise EvaluationError(
                f"{path.name}, line {number} is not JSON: {error}.", "Mend or drop the line."
            ) from error
        if not isinstance(value, dict):
            raise EvaluationError(
                f"{path.name}, line {number} is not an object.", "Mend or drop the line."
            )
        yield value


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {path}.", "Name a folder that has it.") from None
    except UnicodeDecodeError as error:
        raise EvaluationError(
            f"{path} is not UTF-8 (byte {error.start}).", "Save it as UTF-8."
        ) from error
    except OSError as error:
        raise EvaluationError(
            f"{path} cannot be read: {(error.strerror or str(error)).lower()}.",
            "Check its permissions.",
        ) from error


def _text(line: Mapping[str, Any], name: str) -> str:
    value = line.get(name, "")
    return value if isinstance(value, str) else "" if value is None else str(value)


def _row(line: Mapping[str, Any], paths: Mapping[str, str]) -> Row:
    metadata = line.get("metadata")
    document = metadata.get("doc", "") if isinstance(metadata, dict) else ""
    title = _text(line, "title") or paths.get(str(document), "")
    return Row(_text(line, "_id"), title, _text(line, "text"))


def _distinct(items: Iterator[Any], what: str) -> tuple[list[Any], list[str]]:
    """Keep the first item of each id; also return notices on those left out."""
    kept: dict[str, Any] = {}
    twice: list[str] = []
    nameless = 0
    for item in items:
        if not item.id:
            nameless += 1
        elif item.id in kept:
            twice.append(item.id)
        else:
            kept[item.id] = item
    notices = []
    if twice:
        notices.append(f"{len(twice)} {what} have an id that came before: {some_of(twice)}.")
    if nameless:
        notices.append(f"{nameless} {what} have no _id and are left out.")
    return list(kept.values()), notices


def _paths(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    paths = {}
    for line in read_lines(path):
        metadata = line.get("metadata")
        if isinstance(metadata, dict) and metadata.get("path"):
            paths[_text(line, "_id")] = str(metadata["path"])
    return paths


def _judgments(path: Path, rows: set[str], notices: list[str]) -> dict[str, dict[str, int]]:
    """Read qrels; a judgment of a missing row still counts as something to find."""
    judgments: dict[str, dict[str, int]] = {}
    unknown: list[str] = []
    twice: list[str] = []
    for number, cells in qrels_rows(_read(path)):
        if number == 1 and not _is_number(cells[-1]):
            continue
        if len(cells) != 3 or not _is_number(cells[2]):
            raise EvaluationError(
                f"{path.name}, line {number} is not a question, a row and a number.",
                "Separate the three by tabs.",
            )
        question, row, score = cells[0], cells[1], round(float(cells[2]))
        if row not in rows:
            unknown.append(row)
        if judgments.setdefault(question, {}).setdefault(row, score) != score:
            twice.append(f"{question} {row}")
    if unknown:
        notices.append(
            f"{len(unknown)} judgments are of rows that the corpus lacks: {some_of(unknown)}."
        )
    if twice:
        notices.append(
            f"{len(twice)} judgments contradict an earlier one, which holds: {some_of(twice)}."
        )
    return judgments


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < 1e9
    except ValueError:
        return False


def _judged(
    asked: Sequence[Question], judgments: Mapping[str, Any], notices: list[str]
) -> tuple[Question, ...]:
    """Keep the questions for which something is right.

    Raises:
        EvaluationError: there is no such question.
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
    if without:
        notices.append(f"{len(without)} questions have no judgment: {some_of(without)}.")
    ids = {question.id for question in asked}
    unasked = [question for question in judgments if question not in ids]
    if unasked:
        notices.append(f"{len(unasked)} judged questions are not asked: {some_of(unasked)}.")
    if not kept:
        raise EvaluationError(
            "None of the questions has a judgment.", "Name other questions or qrels."
        )
    return tuple(kept)


def _same(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        groups = json.loads(_read(path))
        return {str(row): str(min(group)) for group in groups for row in group}
    except (ValueError, TypeError) as error:
        raise EvaluationError(
            f"{path.name} is not a list of lists of ids.", "Mend it or take it away."
        ) from error


def _excerpts(path: Path) -> dict[str, tuple[Excerpt, ...]]:
    excerpts: dict[str, list[Excerpt]] = {}
    for number, line in enumerate(read_lines(path), 1):
        try:
            excerpt = Excerpt(
                str(line["doc"]), int(line["start"]), int(line["end"]), str(line.get("text", ""))
            )
        except (KeyError, TypeError, ValueError) as error:
            raise EvaluationError(
                f"{path.name}, line {number} lacks doc, start or end.", "Mend or drop the line."
            ) from error
        excerpts.setdefault(_text(line, "query"), []).append(excerpt)
    return {question: tuple(listed) for question, listed in excerpts.items()}


def some_of(ids: Sequence[str]) -> str:
    """Join the first few ids, for a sentence."""
    shown = ", ".join(ids[:_SHOWN])
    return f"{shown}, …" if len(ids) > _SHOWN else shown
