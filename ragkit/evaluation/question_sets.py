"""Question sets of a collection: what people judged on the pages, and what they imported."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragkit.catalog import Catalog
from ragkit.catalog.judgments import JudgmentDraft, Origin
from ragkit.catalog.records import DocumentRecord
from ragkit.errors import EvaluationError
from ragkit.evaluation.judging import Judging, Placed, Standing, find_quote, folded_question
from ragkit.evaluation.set_files import Named, Notices, read_set
from ragkit.types import Status

COLLECTED = ""
"""The name of the set that grows with every judgment made on the pages."""


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question with what was said of the places that may answer it."""

    key: str
    text: str
    kind: str
    judgments: tuple[Placed, ...]

    @property
    def writer(self) -> str:
        """The model that wrote it; empty when none did."""
        return next((one.record.judged.writer for one in self.judgments), "")

    @property
    def documents(self) -> dict[str, int]:
        """How relevant each document is, by path: as a whole, or as its best passage is."""
        whole: dict[str, int] = {}
        best: dict[str, int] = {}
        for one in self.judgments:
            if one.span is None:
                whole[one.path] = one.grade
            else:
                best[one.path] = max(one.grade, best.get(one.path, 0))
        return dict(sorted({**best, **whole}.items()))


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """A question set as it stands now; ``notices`` say what of it cannot be used."""

    name: str
    questions: tuple[JudgedQuestion, ...]
    notices: tuple[str, ...] = ()

    @property
    def kinds(self) -> dict[str, int]:
        """How many questions there are of each kind; an empty kind was not named."""
        return dict(sorted(Counter(one.kind for one in self.questions).items()))

    @property
    def writers(self) -> tuple[str, ...]:
        """The models that wrote questions of it, by name."""
        return tuple(sorted({one.writer for one in self.questions} - {""}))

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """For each question's key, how relevant which paths are."""
        return {one.key: one.documents for one in self.questions}


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import kept, and sentences on what it left out."""

    name: str
    questions: int
    judgments: int
    notices: tuple[str, ...]


def too_kind(writers: Sequence[str]) -> str:
    """What to know of the figures of a set that models wrote."""
    return (
        f"Questions of this set were written by {' and '.join(writers)} from the passages that "
        "answer them, often in the same words: its figures are too kind, and serve to compare "
        "settings."
    )


def collect(catalog: Catalog, collection_id: int, name: str = COLLECTED) -> JudgedSet:
    """Read a question set as it stands now.

    Judgments whose place is gone are left out and said, as are questions for which nothing that
    is right is left.
    """
    records = catalog.judgments.current(collection_id, question_set=name)
    placed = Judging(catalog).place(collection_id, records)
    grouped: dict[tuple[str, str], list[Placed]] = {}
    for one in placed:
        judged = one.record.judged
        grouped.setdefault((judged.key, judged.question), []).append(one)
    notices = Notices()
    questions = []
    for (key, text), found in grouped.items():
        for one in found:
            if one.standing is Standing.STALE:
                notices.add("Not used, since what was judged is gone", one.why.rstrip("."))
        alive = tuple(one for one in found if one.standing is not Standing.STALE)
        if not any(one.grade > 0 for one in alive):
            notices.add("Not used, since nothing right is known for them", f'"{text[:80]}"')
            continue
        kind = next((one.record.judged.kind for one in found if one.record.judged.kind), "")
        questions.append(JudgedQuestion(key or _key(text), text, kind, alive))
    return JudgedSet(name, tuple(questions), notices.sentences)


def _key(question: str) -> str:
    """An id that a question keeps, whatever else is judged later."""
    return "q" + hashlib.blake2b(question.encode(), digest_size=5).hexdigest()


def import_set(
    catalog: Catalog, collection_id: int, place: Path, name: str | None = None
) -> Imported:
    """Keep a file's questions and judgments as a set of the collection, named after the file.

    Importing it again replaces what the file said before.

    Raises:
        NotFoundError: it is not there.
        EvaluationError: nothing in it can be used.
    """
    asked, notices = read_set(place)
    title = (place.stem if place.is_file() else place.resolve().name) if name is None else name
    paths = _Paths(catalog.documents.list(collection_id, status=Status.INDEXED))
    texts: dict[int, str] = {}
    drafts: list[JudgmentDraft] = []
    for one in asked:
        known = 0
        for named in one.named:
            home = paths.find(named.path)
            if home is None:
                notices.add("Left out, since no such document is indexed", named.path)
                continue
            known += 1
            draft = _draft(named, home, catalog, texts, notices)
            drafts.append(
                replace(
                    draft, question=folded_question(one.text), key=one.key, kind=one.kind,
                    question_set=title, writer=one.writer,
                    origin=Origin.MODEL if one.writer else Origin.IMPORT,
                )
            )  # fmt: skip
        if not known:
            notices.add("Left out, since none of their documents is indexed", one.key)
    if not drafts:
        raise EvaluationError(
            f"Nothing in {place.name} is about this collection. {' '.join(notices.sentences)}",
            "Name the collection with --collection, or index the documents first.",
        )
    if title != COLLECTED:
        catalog.judgments.remove_set(collection_id, title)
    catalog.judgments.add(collection_id, drafts)
    questions = len({(one.key, one.question) for one in drafts})
    return Imported(title, questions, len(drafts), notices.sentences)


class _Paths:
    """Documents by path; a path that only ends in the same way counts when just one does."""

    def __init__(self, documents: Sequence[DocumentRecord]) -> None:
        self._whole: dict[str, DocumentRecord] = {}
        self._by_name: dict[str, list[DocumentRecord]] = {}
        for one in documents:
            self._whole.setdefault(one.path, one)
            self._by_name.setdefault(one.path.rpartition("/")[2], []).append(one)

    def find(self, path: str) -> DocumentRecord | None:
        wanted = path.strip().replace("\\", "/").removeprefix("./").lstrip("/")
        exact = self._whole.get(path) or self._whole.get(wanted)
        if exact is not None or not wanted:
            return exact
        ends = [
            one
            for one in self._by_name.get(wanted.rpartition("/")[2], [])
            if one.path.endswith(f"/{wanted}") or wanted.endswith(f"/{one.path}")
        ]
        return ends[0] if len(ends) == 1 else None


def _draft(
    named: Named,
    home: DocumentRecord,
    catalog: Catalog,
    texts: dict[int, str],
    notices: Notices,
) -> JudgmentDraft:
    start, end, quote = 0, 0, ""
    if named.quote.strip():
        if home.id not in texts:
            texts[home.id] = catalog.documents.text(home.id)
        span = find_quote(texts[home.id], named.quote)
        if span is None:
            notices.add("Kept for the whole document, since the quotation is not in it", home.path)
        else:
            start, end = span.start, span.end
            quote = texts[home.id][start:end]
    return JudgmentDraft(
        "", home.id, home.path, home.hash, start, end, quote, named.grade, Origin.IMPORT
    )


# -- writing -------------------------------------------------------------------------------------


def export_set(catalog: Catalog, collection_id: int, given: JudgedSet, folder: Path) -> None:
    """Write a set as a BEIR folder and as ``questions.jsonl``.

    ``corpus.jsonl`` holds every indexed document of the collection, its path as its id, so that
    the folder can be evaluated as it is.

    Raises:
        EvaluationError: the set has no question, or the folder cannot be written.
    """
    if not given.questions:
        raise EvaluationError("There is no judged question to export.", "Judge some results first.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "queries.jsonl", [_query(one) for one in given.questions])
        _write(folder / "questions.jsonl", [_as_json(one) for one in given.questions])
        rows = [
            f"{one.key}\t{path}\t{grade}"
            for one in given.questions
            for path, grade in one.documents.items()
        ]
        body = "\n".join(["query-id\tcorpus-id\tscore", *rows, ""])
        (folder / "qrels.tsv").write_text(body, "utf-8", newline="\n")
        _write_corpus(catalog, collection_id, folder / "corpus.jsonl")
    except OSError as error:
        raise EvaluationError(
            f"{folder} cannot be written: {(error.strerror or str(error)).lower()}.",
            "Name another folder.",
        ) from error


def _query(question: JudgedQuestion) -> dict[str, Any]:
    about = _about(question)
    metadata = {"metadata": about} if about else {}
    return {"_id": question.key, "text": question.text, **metadata}


def _about(question: JudgedQuestion) -> dict[str, str]:
    """Its kind, and the model that wrote it, where there are such."""
    known = {"kind": question.kind, "written_by": question.writer}
    return {name: value for name, value in known.items() if value}


def _as_json(question: JudgedQuestion) -> dict[str, Any]:
    relevant = []
    for one in question.judgments:
        quote = {"quote": one.record.judged.quote} if one.span is not None else {}
        relevant.append({"path": one.path, "grade": one.grade, **quote})
    return {
        "id": question.key, "text": question.text, **_about(question), "relevant": relevant,
    }  # fmt: skip


def _write(file: Path, lines: Sequence[Mapping[str, Any]]) -> None:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    file.write_text(text, "utf-8", newline="\n")


def _write_corpus(catalog: Catalog, collection_id: int, file: Path) -> None:
    documents = catalog.documents.list(collection_id, status=Status.INDEXED)
    titles = Counter(one.title for one in documents)
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        for one in {one.path: one for one in documents}.values():
            # Rows that share a title are read as parts of one document.
            title = one.title if titles[one.title] == 1 else one.path
            row = {"_id": one.path, "title": title, "text": catalog.documents.text(one.id)}
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
