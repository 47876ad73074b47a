"""Question sets as files: CSV, JSONL and BEIR folders, read into plain judgments and written.

What makes no sense is left out and said; the rest is kept.
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
class Named:
    """A judgment as a file says it: of a document's path, and perhaps of a quotation in it."""

    path: str
    grade: int = _MOST_GRADE
    quote: str = ""


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question as a file says it: ``key`` is its id there, ``writer`` the model that wrote it."""

    key: str
    text: str
    kind: str = ""
    named: tuple[Named, ...] = ()
    writer: str = ""


@dataclass
class Notices:
    """Sentences on what was left out, one for each kind of trouble."""

    found: dict[str, list[str]] = field(default_factory=dict)

    def add(self, what: str, where: str) -> None:
        """Note one place where something is wrong; ``what`` reads "have no question"."""
        self.found.setdefault(what, []).append(where)

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence for each kind of trouble, with the first few places."""
        return tuple(
            f"{what}: {', '.join(places[:_SHOWN])}{', …' if len(places) > _SHOWN else ''}"
            f"{f' ({len(places)} in all)' if len(places) > _SHOWN else ''}."
            for what, places in self.found.items()
        )


def read_set(place: Path) -> tuple[tuple[AskedQuestion, ...], Notices]:
    """Read a ``.csv`` or ``.jsonl`` file, or a folder with ``queries.jsonl`` and qrels.

    Raises:
        NotFoundError: it is not there.
        EvaluationError: it is none of these, or holds no question that can be used.
    """
    notices = Notices()
    suffix = place.suffix.lower()
    if place.is_dir():
        found = _beir(place, notices)
    elif suffix == ".csv":
        found = _csv(place, notices)
    elif suffix in (".jsonl", ".ndjson"):
        found = _jsonl(place, notices)
    elif not place.exists():
        raise NotFoundError(f"There is no file {place}.", "Name a CSV, JSONL or BEIR folder.")
    else:
        raise EvaluationError(
            f"{place.name} is no question set.", "Name a .csv or .jsonl file, or a BEIR folder."
        )
    usable = _distinct(found, notices)
    if not usable:
        told = " ".join(notices.sentences)
        raise EvaluationError(
            f"{place.name} holds no question with a judgment. {told}".strip(),
            "Mend the file and import it again.",
        )
    return usable, notices


def _distinct(found: Sequence[AskedQuestion], notices: Notices) -> tuple[AskedQuestion, ...]:
    kept: dict[str, AskedQuestion] = {}
    for one in found:
        if one.key in kept:
            notices.add("Left out, since the id came before", one.key)
        elif not one.text.strip():
            notices.add("Left out, since they hold no question", one.key)
        elif not one.named:
            notices.add("Left out, since nothing is judged for them", one.key)
        else:
            kept[one.key] = one
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
        text, _told = decode(data)
        notices.add("Read in another encoding than UTF-8", f"{place.name} (byte {error.start})")
        return text


def _csv(place: Path, notices: Notices) -> list[AskedQuestion]:
    text = _text(place, notices)
    head = text.partition("\n")[0]
    mark = max(",;\t", key=head.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    grouped: dict[str, list[Named]] = {}
    kinds: dict[str, str] = {}
    try:
        names = [one.strip().casefold() for one in next(rows, [])]
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
                grouped.setdefault(question, []).append(Named(path, grade, cells.get("quote", "")))
                kinds.setdefault(question, cells.get("kind", ""))
    except csv.Error as error:
        notices.add("Read only up to what is no CSV", f"line {rows.line_num} ({error})")
    return [
        AskedQuestion(f"q{number}", question, kinds[question], tuple(named))
        for number, (question, named) in enumerate(grouped.items(), start=1)
    ]


def _jsonl(place: Path, notices: Notices) -> list[AskedQuestion]:
    found = []
    for where, line in _lines(place, notices):
        named = []
        listed = line.get("relevant", [])
        for one in listed if isinstance(listed, list) else []:
            path = str(one.get("path") or "") if isinstance(one, dict) else ""
            if not path:
                notices.add("Left out, since a judgment names no path", where)
                continue
            grade = _grade(one.get("grade", _MOST_GRADE), where, notices)
            if grade is not None:
                named.append(Named(path, grade, str(one.get("quote") or "")))
        found.append(
            AskedQuestion(
                str(line.get("id") or where), str(line.get("text") or ""),
                str(line.get("kind") or ""), tuple(named), str(line.get("written_by") or ""),
            )
        )  # fmt: skip
    return found


def _beir(folder: Path, notices: Notices) -> list[AskedQuestion]:
    nested = folder / "qrels" / "test.tsv"
    qrels = nested if nested.is_file() else folder / "qrels.tsv"
    named: dict[str, list[Named]] = {}
    for number, line in enumerate(_text(qrels, notices).split("\n"), start=1):
        parts = line.rstrip("\r").split("\t")
        if len(parts) == 4:
            del parts[1]
        if not line.strip() or (number == 1 and parts[-1].strip().casefold() == "score"):
            continue
        where = f"{qrels.name}, line {number}"
        if len(parts) != 3:
            notices.add("Left out, since it is not a question, a document and a number", where)
            continue
        grade = _grade(parts[2], where, notices)
        if grade is not None:
            named.setdefault(parts[0], []).append(Named(parts[1], grade))
    found = []
    for where, query in _lines(folder / "queries.jsonl", notices):
        key = str(query.get("_id") or where)
        metadata = query.get("metadata")
        about = metadata if isinstance(metadata, dict) else {}
        kind, writer = str(about.get("kind") or ""), str(about.get("written_by") or "")
        text = str(query.get("text") or "")
        found.append(AskedQuestion(key, text, kind, tuple(named.get(key, ())), writer))
    asked = {one.key for one in found}
    for key in named:
        if key not in asked:
            notices.add("Left out, since these judged questions are not asked", key)
    return found


def _lines(place: Path, notices: Notices) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a JSONL file. Only line feeds end a line: texts may hold other breaks."""
    for number, line in enumerate(_text(place, notices).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{place.name}, line {number}"
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            notices.add("Left out, since it is not JSON", where)
            continue
        if isinstance(found, dict):
            yield where, found
        else:
            notices.add("Left out, since it is not an object", where)


def _grade(value: object, where: str, notices: Notices) -> int | None:
    """A grade from 0 to 2; higher ones count as 2, and an empty one is 2."""
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
