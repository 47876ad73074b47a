"""Question sets as files to import: CSV, JSONL and BEIR folders.

Invalid parts are left out with a notice; the rest is kept.
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
from ragkit.evaluation.corpus import qrels_of, qrels_rows
from ragkit.reading.decode import decode

_SHOWN = 3
_LARGEST = 200_000_000
_MOST_GRADE = 2
_GRADE_WORDS = {"right": 2, "relevant": 2, "partly": 1, "no": 0, "not": 0}


@dataclass(frozen=True, slots=True)
class ImportedJudgment:
    """A judgment as a file states it: of a document's path, and perhaps of a quotation in it."""

    path: str
    grade: int = _MOST_GRADE
    quote: str = ""


@dataclass(frozen=True, slots=True)
class ImportedQuestion:
    """A question as a file states it: ``key`` is its id there, ``writer`` the model behind it."""

    key: str
    text: str
    kind: str = ""
    judgments: tuple[ImportedJudgment, ...] = ()
    writer: str = ""


@dataclass
class Notices:
    """Sentences on what was left out, one for each reason."""

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


def read_set(place: Path) -> tuple[tuple[ImportedQuestion, ...], Notices]:
    """Read a ``.csv`` or ``.jsonl`` file, or a folder with ``queries.jsonl`` and qrels.

    Raises:
        NotFoundError: there is no such file.
        EvaluationError: it is none of these, or holds no question that can be used.
    """
    notices = Notices()
    suffix = place.suffix.lower()
    if place.is_dir():
        questions = _beir(place, notices)
    elif suffix == ".csv":
        questions = _csv(place, notices)
    elif suffix in (".jsonl", ".ndjson"):
        questions = _jsonl(place, notices)
    elif not place.exists():
        raise NotFoundError(f"There is no file {place}.", "Name a CSV, JSONL or BEIR folder.")
    else:
        raise EvaluationError(
            f"{place.name} is no question set.", "Name a .csv or .jsonl file, or a BEIR folder."
        )
    usable = _distinct(questions, notices)
    if not usable:
        reasons = " ".join(notices.sentences)
        raise EvaluationError(
            f"{place.name} holds no question with a judgment. {reasons}".strip(),
            "Mend the file and import it again.",
        )
    return usable, notices


def _distinct(
    questions: Sequence[ImportedQuestion], notices: Notices
) -> tuple[ImportedQuestion, ...]:
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
    return tuple(kept.values())


def _text(place: Path, notices: Notices) -> str:
    try:
        if place.stat().st_size > _LARGEST:
            raise EvaluationError(f"{place.name} is too large.", "Import it in parts.")
        data = place.read_bytes()
    except FileNotFoundError:
        raise NotFoundError(f"There is no file {place}.", "Name one that is there.") from None
    except OSError as error:
        raise EvaluationError(
            f"{place} cannot be read: {(error.strerror or str(error)).lower()}.",
            "Check its permissions.",
        ) from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        text, _warnings = decode(data)
        notices.add("Read in another encoding than UTF-8", f"{place.name} (byte {error.start})")
        return text


def _csv(place: Path, notices: Notices) -> list[ImportedQuestion]:
    text = _text(place, notices)
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    judgments: dict[str, list[ImportedJudgment]] = {}
    kinds: dict[str, str] = {}
    try:
        names = [name.strip().casefold() for name in next(rows, [])]
        if "question" not in names or "path" not in names:
            raise EvaluationError(
                f"{place.name} lacks the columns question and path.",
                "Its first line must name the columns: question,path,grade.",
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
                judgments.setdefault(question, []).append(judgment)
                kinds.setdefault(question, cells.get("kind", ""))
    except csv.Error as error:
        notices.add("Read only up to what is no CSV", f"line {rows.line_num} ({error})")
    return [
        ImportedQuestion(f"q{number}", question, kinds[question], tuple(of_question))
        for number, (question, of_question) in enumerate(judgments.items(), start=1)
    ]


def _jsonl(place: Path, notices: Notices) -> list[ImportedQuestion]:
    questions = []
    for where, line in _lines(place, notices):
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
                str(line.get("id") or where), str(line.get("text") or ""),
                str(line.get("kind") or ""), tuple(judgments), str(line.get("written_by") or ""),
            )
        )  # fmt: skip
    return questions


def _beir(folder: Path, notices: Notices) -> list[ImportedQuestion]:
    qrels = qrels_of(folder)
    judgments: dict[str, list[ImportedJudgment]] = {}
    for number, parts in qrels_rows(_text(qrels, notices)):
        if number == 1 and parts[-1].strip().casefold() == "score":
            continue
        where = f"{qrels.name}, line {number}"
        if len(parts) != 3:
            notices.add("Left out, since it is not a question, a document and a number", where)
            continue
        grade = _grade(parts[2], where, notices)
        if grade is not None:
            judgments.setdefault(parts[0], []).append(ImportedJudgment(parts[1], grade))
    questions = []
    for where, query in _lines(folder / "queries.jsonl", notices):
        key = str(query.get("_id") or where)
        metadata = query.get("metadata")
        metadata = metadata if isinstance(metadata, dict) else {}
        kind, writer = str(metadata.get("kind") or ""), str(metadata.get("written_by") or "")
        text = str(query.get("text") or "")
        questions.append(ImportedQuestion(key, text, kind, tuple(judgments.get(key, ())), writer))
    asked = {question.key for question in questions}
    for key in judgments:
        if key not in asked:
            notices.add("Left out, since these judged questions are not asked", key)
    return questions


def _lines(place: Path, notices: Notices) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the objects of a JSONL file. Only line feeds end a line: texts may hold others."""
    for number, line in enumerate(_text(place, notices).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{place.name}, line {number}"
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            notices.add("Left out, since it is not JSON", where)
            continue
        if isinstance(value, dict):
            yield where, value
        else:
            notices.add("Left out, since it is not an object", where)


def _grade(value: object, where: str, notices: Notices) -> int | None:
    """Parse a grade from 0 to 2; higher ones count as 2, and an empty one is 2."""
    text = str(value if value is not None else "").strip().casefold()
    if not text:
        return _MOST_GRADE
    if text in _GRADE_WORDS:
        return _GRADE_WORDS[text]
    try:
        number = int(float(text))
    except (ValueError, OverflowError):
        notices.add(f"Left out, since the grade is not 0, 1 or 2 but {text[:20]!r}", where)
        return None
    if number > _MOST_GRADE:
        notices.add("Taken as 2, since the grade is higher", where)
    return min(max(number, 0), _MOST_GRADE)
