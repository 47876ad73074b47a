"""Reads the files of question sets, and imports CSV and JSONL files and BEIR folders.

An import leaves out invalid parts with a notice.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragkit.errors import EvaluationError, NotFoundError
from ragkit.reading.decode import decode

_SHOWN = 3
_LARGEST = 200_000_000
_MOST_GRADE = 2
_GRADE_WORDS = {"right": 2, "relevant": 2, "partly": 1, "no": 0, "not": 0}


@dataclass(frozen=True, slots=True)
class ImportedJudgment:
    """A judgment as in the file: of the document at ``path``, or of a quotation in it."""

    path: str
    grade: int = _MOST_GRADE
    quote: str = ""


@dataclass(frozen=True, slots=True)
class ImportedQuestion:
    """A question as in the file: ``key`` is its id there, ``writer`` the model that wrote it.

    ``filter`` is its restriction in the query language, ``where`` its place in the file.
    """

    key: str
    text: str
    kind: str = ""
    judgments: tuple[ImportedJudgment, ...] = ()
    writer: str = ""
    filter: str = ""
    where: str = ""


@dataclass
class Notices:
    """Collects what was left out, by reason."""

    places: dict[str, list[str]] = field(default_factory=dict)

    def add(self, what: str, where: str) -> None:
        """Record one place for a reason such as "Left out, since it is not JSON"."""
        self.places.setdefault(what, []).append(where)

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence for each reason, with the first few places."""
        return tuple(
            f"{what}: {', '.join(places[:_SHOWN])}{', …' if len(places) > _SHOWN else ''}"
            f"{f' ({len(places)} in all)' if len(places) > _SHOWN else ''}."
            for what, places in self.places.items()
        )


def counted(listed: Sequence[str], what: str) -> list[str]:
    """Return a list with a notice that counts ids and names the first; empty without ids."""
    if not listed:
        return []
    more = ", …" if len(listed) > _SHOWN else ""
    return [f"{len(listed)} {what}: {', '.join(listed[:_SHOWN])}{more}."]


# -- reading -------------------------------------------------------------------------------------


def read_text(path: Path, notices: Notices | None = None) -> str:
    """Return a file's text; other encodings than UTF-8 are errors, or accepted with ``notices``.

    Raises:
        NotFoundError: there is no such file.
        EvaluationError: it cannot be read, or is too large to import.
    """
    try:
        if notices is not None and path.stat().st_size > _LARGEST:
            raise EvaluationError(f"{path.name} is too large.", "Split it and import the parts.")
        data = path.read_bytes()
    except FileNotFoundError:
        raise NotFoundError(f"File not found: {path}.", "Check the path.") from None
    except OSError as error:
        raise EvaluationError(
            f"{path} cannot be read: {(error.strerror or str(error)).lower()}.",
            "Check its permissions.",
        ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if notices is None:
            raise EvaluationError(
                f"{path} is not UTF-8 (byte {error.start}).", "Save it as UTF-8."
            ) from error
        notices.add("Not UTF-8, read in another encoding", f"{path.name} (byte {error.start})")
        return decode(data)[0]


def read_objects(
    path: Path, notices: Notices | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (place, object) for each line of a JSONL file; only line feeds end a line.

    Invalid lines are errors, or with ``notices`` left out.
    """
    for number, line in enumerate(read_text(path, notices).split("\n"), start=1):
        if not line.strip():
            continue
        value, problem, detail = None, "not an object", ""
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            problem, detail = "not JSON", f": {error}"
        where = f"{path.name}, line {number}"
        if isinstance(value, dict):
            yield where, value
        elif notices is None:
            raise EvaluationError(f"{where} is {problem}{detail}.", "Fix or remove the line.")
        else:
            notices.add(f"Left out, since it is {problem}", where)


def text_of(line: Mapping[str, Any], name: str) -> str:
    """Return a value as text; empty without one. Ids may be numbers, the first of them 0."""
    value = line.get(name)
    return "" if value is None else str(value)


def qrels_of(folder: Path) -> Path:
    """Return the path of the judgments in a folder."""
    nested = folder / "qrels" / "test.tsv"
    return nested if nested.is_file() else folder / "qrels.tsv"


def read_qrels(path: Path, notices: Notices | None = None) -> Iterator[tuple[str, str, str, str]]:
    """Yield (place, question, row, score as written) for each judgment.

    A header and TREC's unused second column are dropped. Invalid lines and scores that are not
    numbers are errors; with ``notices``, such lines are left out, and scores are not checked.
    """
    for number, line in enumerate(read_text(path, notices).split("\n"), start=1):
        cells = line.rstrip("\r").split("\t")
        if len(cells) == 4:
            del cells[1]
        score = cells[-1].strip().casefold()
        scored = _is_number(score) or (notices is not None and score in ("", *_GRADE_WORDS))
        if not line.strip() or (number == 1 and not scored):
            continue
        where = f"{path.name}, line {number}"
        if len(cells) == 3 and (scored or notices is not None):
            yield where, cells[0], cells[1], cells[2]
        elif notices is None:
            raise EvaluationError(
                f"{where} is not a question, a row and a number.", "Separate the three by tabs."
            )
        else:
            notices.add("Left out, since it is not a question, a document and a number", where)


def _is_number(text: str) -> bool:
    try:
        return abs(float(text)) < 1e9
    except ValueError:
        return False


# -- importing -----------------------------------------------------------------------------------


def read_set(place: Path) -> tuple[tuple[ImportedQuestion, ...], Notices]:
    """Read a ``.csv`` or ``.jsonl`` file, or a folder with ``queries.jsonl`` and qrels.

    Raises:
        NotFoundError: there is no such file.
        EvaluationError: it is none of these, or has no usable question.
    """
    notices = Notices()
    suffix = place.suffix.lower()
    if not place.exists():
        raise NotFoundError(f"File not found: {place}.", "Check the path.")
    if place.is_dir():
        questions = _beir(place, notices)
    elif suffix == ".csv":
        questions = _csv(place, notices)
    elif suffix in (".jsonl", ".ndjson"):
        questions = _jsonl(place, notices)
    else:
        raise EvaluationError(
            f"{place.name} is not a question set.",
            "Choose a .csv or .jsonl file, or a BEIR folder.",
        )
    kept: dict[str, ImportedQuestion] = {}
    for question in questions:
        if question.key in kept:
            notices.add("Left out, since the id came before", question.key)
        elif not question.text.strip():
            notices.add("Left out, since they hold no question", question.key)
        elif not question.judgments:
            notices.add("Left out, since nothing is judged for them", question.key)
        else:
            kept[question.key] = question
    if not kept:
        reasons = " ".join(notices.sentences)
        raise EvaluationError(
            f"{place.name} has no question with a judgment. {reasons}".strip(),
            "Fix the file and import it again.",
        )
    return tuple(kept.values()), notices


def _csv(place: Path, notices: Notices) -> list[ImportedQuestion]:
    text = read_text(place, notices)
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    judgments: dict[tuple[str, str], list[ImportedJudgment]] = {}
    firsts: dict[tuple[str, str], tuple[str, str]] = {}
    try:
        names = [name.strip().casefold() for name in next(rows, [])]
        if "question" not in names or "path" not in names:
            raise EvaluationError(
                f"{place.name} lacks the columns question and path.",
                "Its first line must name the columns: question,path,grade,filter.",
            )
        for row in rows:
            cells = dict(zip(names, (cell.strip() for cell in row), strict=False))
            question, path = cells.get("question", ""), cells.get("path", "")
            where = f"line {rows.line_num}"
            if not any(cells.values()):
                continue
            if not question or not path:
                notices.add("Left out, since the question or the path is empty", where)
                continue
            grade = _grade(cells.get("grade", ""), where, notices)
            if grade is not None:
                judgment = ImportedJudgment(path, grade, cells.get("quote", ""))
                key = question, cells.get("filter", "")
                judgments.setdefault(key, []).append(judgment)
                firsts.setdefault(key, (cells.get("kind", ""), where))
    except csv.Error as error:
        notices.add("Read only up to what is no CSV", f"line {rows.line_num} ({error})")
    return [
        ImportedQuestion(
            f"q{number}", question, firsts[question, filter_][0], tuple(of_question),
            filter=filter_, where=firsts[question, filter_][1],
        )
        for number, ((question, filter_), of_question) in enumerate(judgments.items(), start=1)
    ]  # fmt: skip


def _jsonl(place: Path, notices: Notices) -> list[ImportedQuestion]:
    questions = []
    for where, line in read_objects(place, notices):
        judgments = []
        relevant = line.get("relevant", [])
        for entry in relevant if isinstance(relevant, list) else []:
            path = str(entry.get("path") or "") if isinstance(entry, dict) else ""
            if not path:
                notices.add("Left out, since a judgment names no path", where)
                continue
            grade = _grade(entry.get("grade", _MOST_GRADE), where, notices)
            if grade is not None:
                judgments.append(ImportedJudgment(path, grade, str(entry.get("quote") or "")))
        questions.append(
            ImportedQuestion(
                text_of(line, "id") or where, text_of(line, "text"), text_of(line, "kind"),
                tuple(judgments), text_of(line, "written_by"), text_of(line, "filter"), where,
            )
        )  # fmt: skip
    return questions


def _beir(folder: Path, notices: Notices) -> list[ImportedQuestion]:
    judgments: dict[str, list[ImportedJudgment]] = {}
    for where, key, path, score in read_qrels(qrels_of(folder), notices):
        grade = _grade(score, where, notices)
        if grade is not None:
            judgments.setdefault(key, []).append(ImportedJudgment(path, grade))
    questions = []
    for where, query in read_objects(folder / "queries.jsonl", notices):
        key = text_of(query, "_id") or where
        metadata = query.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        kind, writer = text_of(metadata, "kind"), text_of(metadata, "written_by")
        text, written = text_of(query, "text"), text_of(query, "filter")
        relevant = tuple(judgments.get(key, ()))
        questions.append(ImportedQuestion(key, text, kind, relevant, writer, written, where))
    asked = {question.key for question in questions}
    for key in judgments:
        if key not in asked:
            notices.add("Left out, since these judged questions are not asked", key)
    return questions


def _grade(value: object, where: str, notices: Notices) -> int | None:
    """Parse a grade from 0 to 2; higher and empty ones count as 2, invalid ones as ``None``."""
    text = str(value if value is not None else "").strip().casefold()
    if not text:
        return _MOST_GRADE
    if text in _GRADE_WORDS:
        return _GRADE_WORDS[text]
    if not _is_number(text) or not float(text).is_integer():
        notices.add(f"Left out, since the grade is not 0, 1 or 2 but {text[:20]!r}", where)
        return None
    number = int(float(text))
    if number > _MOST_GRADE:
        notices.add("Taken as 2, since the grade is higher", where)
    return min(max(number, 0), _MOST_GRADE)
