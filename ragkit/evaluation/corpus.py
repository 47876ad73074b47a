"""Question sets on disk: the folders that BEIR and its like are published as.

``corpus.jsonl`` holds rows ``{_id, title, text, metadata}``, ``queries.jsonl`` ``{_id, text}``,
and ``qrels.tsv`` (or ``qrels/test.tsv``) ``query-id corpus-id score``, tab-separated below a
header. Where rows are pieces of files, ``documents.jsonl`` may hold ``{_id, metadata: {path}}``
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
    """One row of a corpus. Rows that share a title that is not empty are of one document."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    """Something that was asked."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A right place: a span of the file ``document`` and the text that stands there."""

    document: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions with what is right for each of them.

    ``judgments`` say for a question's id how relevant which rows are (above 0: relevant).
    ``notices`` are sentences on what was left out. ``same`` maps a row's id to the one that
    stands for all rows which count as the same.
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
    """Read a folder; ``limit`` takes that many questions, in the order of the file.

    Raises:
        NotFoundError: a file that is needed is not there.
        EvaluationError: a line is not what it should be, or nothing can be asked.
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
            folder.name, (), _some(kept), excerpts=excerpts, folder=folder, notices=(*notices,)
        )
    paths = _paths(folder / "documents.jsonl")
    rows, more = _distinct(
        (_row(line, paths) for line in read_lines(folder / "corpus.jsonl")), "rows of the corpus"
    )
    notices += more
    judgments = _judgments(_qrels(folder, qrels), {row.id for row in rows}, notices)
    kept = _judged(asked, judgments, notices)[:limit]
    same = _same(folder / "dups_by_content.json")
    return QuestionSet(
        folder.name, tuple(rows), _some(kept), judgments, same, {}, folder, (*notices,)
    )


def _some(questions: Sequence[Question]) -> tuple[Question, ...]:
    if not questions:
        raise EvaluationError(
            "None of the questions has a judgment.", "Name other questions or qrels."
        )
    return tuple(questions)


def _qrels(folder: Path, given: Path | None) -> Path:
    nested = folder / "qrels" / "test.tsv"
    return given or (nested if nested.is_file() else folder / "qrels.tsv")


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file. Only line feeds end a line: texts may hold other breaks.

    Raises:
        NotFoundError: it is not there.
        EvaluationError: it cannot be read, is not UTF-8, or a line is no JSON object.
    """
    for number, line in enumerate(_read(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except ValueError as error:
            raise EvaluationError(
                f"{path.name}, line {number} is not JSON: {error}.", "Mend or drop the line."
            ) from error
        if not isinstance(found, dict):
            raise EvaluationError(
                f"{path.name}, line {number} is not an object.", "Mend or drop the line."
            )
        yield found


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
    about = line.get("metadata")
    of = about.get("doc", "") if isinstance(about, dict) else ""
    title = _text(line, "title") or paths.get(str(of), "")
    return Row(_text(line, "_id"), title, _text(line, "text"))


def _distinct(found: Iterator[Any], what: str) -> tuple[list[Any], list[str]]:
    """Keep the first of each id; say what was left out."""
    kept: dict[str, Any] = {}
    twice: list[str] = []
    nameless = 0
    for one in found:
        if not one.id:
            nameless += 1
        elif one.id in kept:
            twice.append(one.id)
        else:
            kept[one.id] = one
    notices = []
    if twice:
        notices.append(f"{len(twice)} {what} have an id that came before: {some_of(twice)}.")
    if nameless:
        notices.append(f"{nameless} {what} have no _id and are left out.")
    return list(kept.values()), notices


def _paths(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    found = {}
    for line in read_lines(path):
        about = line.get("metadata")
        if isinstance(about, dict) and about.get("path"):
            found[_text(line, "_id")] = str(about["path"])
    return found


def _judgments(path: Path, known: set[str], notices: list[str]) -> dict[str, dict[str, int]]:
    """Read qrels; a judgment of a row that is not there still counts as something to find."""
    judgments: dict[str, dict[str, int]] = {}
    unknown: list[str] = []
    twice: list[str] = []
    for number, line in enumerate(_read(path).split("\n"), 1):
        parts = line.rstrip("\r").split("\t")
        if len(parts) == 4:
            del parts[1]
        if not line.strip() or (number == 1 and not _is_number(parts[-1])):
            continue
        if len(parts) != 3 or not _is_number(parts[2]):
            raise EvaluationError(
                f"{path.name}, line {number} is not a question, a row and a number.",
                "Separate the three by tabs.",
            )
        question, row, score = parts
        if row not in known:
            unknown.append(row)
        known_of = judgments.setdefault(question, {})
        if known_of.setdefault(row, round(float(score))) != round(float(score)):
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
) -> list[Question]:
    """Keep the questions of which something is known to be right."""
    kept, without = [], []
    for one in asked:
        found = judgments.get(one.id)
        right = any(score > 0 for score in found.values()) if isinstance(found, dict) else found
        if right and one.text.strip():
            kept.append(one)
        else:
            without.append(one.id)
    if without:
        notices.append(f"{len(without)} questions have no judgment: {some_of(without)}.")
    strangers = [one for one in judgments if one not in {question.id for question in asked}]
    if strangers:
        notices.append(f"{len(strangers)} judged questions are not asked: {some_of(strangers)}.")
    return kept


def _same(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        groups = json.loads(_read(path))
        return {str(one): str(min(group)) for group in groups for one in group}
    except (ValueError, TypeError) as error:
        raise EvaluationError(
            f"{path.name} is not a list of lists of ids.", "Mend it or take it away."
        ) from error


def _excerpts(path: Path) -> dict[str, tuple[Excerpt, ...]]:
    found: dict[str, list[Excerpt]] = {}
    for number, line in enumerate(read_lines(path), 1):
        try:
            one = Excerpt(
                str(line["doc"]), int(line["start"]), int(line["end"]), str(line.get("text", ""))
            )
        except (KeyError, TypeError, ValueError) as error:
            raise EvaluationError(
                f"{path.name}, line {number} lacks doc, start or end.", "Mend or drop the line."
            ) from error
        found.setdefault(_text(line, "query"), []).append(one)
    return {question: tuple(places) for question, places in found.items()}


def some_of(ids: Sequence[str]) -> str:
    """The first few ids, for a sentence."""
    shown = ", ".join(ids[:_SHOWN])
    return f"{shown}, …" if len(ids) > _SHOWN else shown
