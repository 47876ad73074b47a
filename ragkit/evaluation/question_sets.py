"""Question sets of a collection: rated on the pages, imported, or written by a model."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ragkit.catalog import Catalog
from ragkit.catalog.judgments import JudgmentDraft, Origin
from ragkit.catalog.records import DocumentRecord
from ragkit.errors import EvaluationError
from ragkit.evaluation.judging import (
    Judging,
    Placed,
    PlaceState,
    find_quote,
    normalised_question,
)
from ragkit.evaluation.restriction import read_filter
from ragkit.evaluation.set_files import Notices, read_set
from ragkit.types import Status

COLLECTED = ""
"""The name of the set of all judgments made on the pages."""


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question with its judgments."""

    key: str
    text: str
    kind: str
    judgments: tuple[Placed, ...]

    @property
    def writer(self) -> str:
        """The model that wrote it, or ``""``."""
        return next((judgment.record.judged.writer for judgment in self.judgments), "")

    @property
    def filter(self) -> str:
        """Its restriction in the query language, or ``""``."""
        return next((judgment.record.judged.filter for judgment in self.judgments), "")

    @property
    def places(self) -> dict[str, list[tuple[int, int]]]:
        """The relevant spans by path; no spans for a document that is relevant as a whole."""
        places: dict[str, list[tuple[int, int]]] = {}
        for judgment in self.judgments:
            if judgment.grade > 0:
                spans = places.setdefault(judgment.path, [])
                if judgment.span is not None:
                    spans.append((judgment.span.start, judgment.span.end))
        return places

    @property
    def documents(self) -> dict[str, int]:
        """The relevance of each document by path: of the whole, or of its best passage."""
        whole: dict[str, int] = {}
        best: dict[str, int] = {}
        for judgment in self.judgments:
            path, grade = judgment.path, judgment.grade
            if judgment.span is None:
                whole[path] = grade
            else:
                best[path] = max(grade, best.get(path, 0))
        return dict(sorted({**best, **whole}.items()))


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """The current state of a question set; ``notices`` say which parts cannot be used.

    ``unanswerable`` are questions with only ratings of "not relevant".
    """

    name: str
    questions: tuple[JudgedQuestion, ...]
    notices: tuple[str, ...] = ()
    unanswerable: tuple[JudgedQuestion, ...] = ()

    @property
    def asked(self) -> tuple[JudgedQuestion, ...]:
        """All questions that can be asked, the unanswerable ones last."""
        return (*self.questions, *self.unanswerable)

    @property
    def writers(self) -> tuple[str, ...]:
        """The names of the models that wrote questions of it."""
        return tuple(sorted({question.writer for question in self.questions} - {""}))

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """For each question's key, the relevance of documents by path."""
        return {question.key: question.documents for question in self.questions}


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import stored; ``notices`` say what it left out."""

    name: str
    questions: int
    judgments: int
    notices: tuple[str, ...]


def optimism_notice(writers: Sequence[str]) -> str:
    """Return the warning about figures of a set written by models."""
    return (
        f"Questions of this set were written by {' and '.join(writers)} from the passages that "
        "answer them, often in the same words. Its figures are too optimistic, but suitable for "
        "comparing settings."
    )


def collect(catalog: Catalog, collection_id: int, name: str = COLLECTED) -> JudgedSet:
    """Read the current state of a question set.

    Judgments whose place no longer exists are left out with a notice, as are questions without a
    relevant place.
    """
    records = catalog.judgments.current(collection_id, question_set=name)
    placed = Judging(catalog).place(collection_id, records)
    grouped: dict[tuple[str, str, str], list[Placed]] = {}
    for judgment in placed:
        judged = judgment.record.judged
        asked = judged.key, judged.question, judged.filter
        grouped.setdefault(asked, []).append(judgment)
    notices = Notices()
    questions = []
    unanswerable = []
    for (key, text, filter_), judgments in grouped.items():
        kinds = (judgment.record.judged.kind for judgment in judgments)
        usable = tuple(judgment for judgment in judgments if judgment.state is not PlaceState.STALE)
        question = JudgedQuestion(
            key or _key(f"{text} {filter_}".rstrip()),
            text,
            next(filter(None, kinds), ""),
            usable or tuple(judgments),
        )
        for judgment in judgments:
            if judgment.state is PlaceState.STALE:
                notices.add("Not used: the rated passage is gone", judgment.why.rstrip("."))
        if not any(judgment.grade > 0 for judgment in usable):
            nothing = all(judgment.grade == 0 for judgment in judgments)
            unanswerable += [question] if nothing else []
            used = "Asked for their answers alone" if nothing else "Not used"
            notices.add(f"{used}, since nothing right is known for them", f'"{text[:80]}"')
            continue
        questions.append(question)
    return JudgedSet(name, tuple(questions), notices.sentences, tuple(unanswerable))


def _key(question: str) -> str:
    """Return an id that depends only on the question."""
    return "q" + hashlib.blake2b(question.encode(), digest_size=5).hexdigest()


def import_set(
    catalog: Catalog, collection_id: int, place: Path, name: str | None = None
) -> Imported:
    """Store a file's questions and judgments as a set of the collection, named after the file.

    Importing it again replaces the set.

    Raises:
        NotFoundError: there is no such file.
        EvaluationError: nothing in it can be used.
    """
    imported, notices = read_set(place)
    title = (place.stem if place.is_file() else place.resolve().name) if name is None else name
    documents = _DocumentsByPath(catalog.documents.list(collection_id, status=Status.INDEXED))
    read = cache(catalog.documents.text)
    drafts: list[JudgmentDraft] = []
    fields = catalog.filters.field_names([catalog.collections.of_id(collection_id)])
    for question in imported:
        try:
            read_filter(question.filter, fields)
        except EvaluationError as error:
            told = f"{question.where} ({error.message.rstrip('.')})"
            notices.add("Left out, since the filter is invalid", told)
            continue
        before = len(drafts)
        for judgment in question.judgments:
            document = documents.find(judgment.path)
            if document is None:
                notices.add("Left out, since no such document is indexed", judgment.path)
                continue
            start, end, quote = _quoted(read, document, judgment.quote, notices)
            drafts.append(
                JudgmentDraft(
                    normalised_question(question.text), document.id, document.path, document.hash,
                    start, end, quote, judgment.grade,
                    Origin.MODEL if question.writer else Origin.IMPORT,
                    title, question.key, question.kind, writer=question.writer,
                    filter=question.filter,
                )
            )  # fmt: skip
        if len(drafts) == before:
            notices.add("Left out, since none of their documents is indexed", question.key)
    if not drafts:
        raise EvaluationError(
            f"Nothing in {place.name} is about this collection. {' '.join(notices.sentences)}",
            "Choose the collection that holds these documents, or index them first.",
        )
    if title != COLLECTED:
        catalog.judgments.remove_set(collection_id, title)
    catalog.judgments.add(collection_id, drafts)
    questions = len({(draft.key, draft.question) for draft in drafts})
    return Imported(title, questions, len(drafts), notices.sentences)


def _quoted(
    read: Callable[[int], str], document: DocumentRecord, quotation: str, notices: Notices
) -> tuple[int, int, str]:
    """Return start, end and text of a quotation; (0, 0, "") for the whole document."""
    if not quotation.strip():
        return 0, 0, ""
    text = read(document.id)
    span = find_quote(text, quotation)
    if span is None:
        notices.add("Kept for the whole document, since the quotation is not in it", document.path)
        return 0, 0, ""
    return span.start, span.end, text[span.start : span.end]


class _DocumentsByPath:
    """Finds documents by path, or by a unique path with the same end."""

    def __init__(self, documents: Sequence[DocumentRecord]) -> None:
        self._by_path: dict[str, DocumentRecord] = {}
        self._by_name: dict[str, list[DocumentRecord]] = {}
        for document in documents:
            self._by_path.setdefault(document.path, document)
            self._by_name.setdefault(document.path.rpartition("/")[2], []).append(document)

    def find(self, path: str) -> DocumentRecord | None:
        relative = path.strip().replace("\\", "/").removeprefix("./").lstrip("/")
        exact = self._by_path.get(path) or self._by_path.get(relative)
        if exact is not None or not relative:
            return exact
        matches = [
            document
            for document in self._by_name.get(relative.rpartition("/")[2], [])
            if document.path.endswith(f"/{relative}") or relative.endswith(f"/{document.path}")
        ]
        return matches[0] if len(matches) == 1 else None


# -- writing -------------------------------------------------------------------------------------


def export_set(catalog: Catalog, collection_id: int, judged: JudgedSet, folder: Path) -> None:
    """Write a set as a BEIR folder and as ``questions.jsonl``.

    ``corpus.jsonl`` holds every indexed document of the collection, its path as its id, so that
    the folder can be evaluated as it is.

    Raises:
        EvaluationError: the set has no question, or the folder cannot be written.
    """
    if not judged.asked:
        raise EvaluationError("There are no rated questions to export.", "Rate some results first.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        queries, questions, rows = [], [], ["query-id\tcorpus-id\tscore"]
        for place, question in enumerate(judged.asked):
            about = {"kind": question.kind, "written_by": question.writer}
            about = {name: value for name, value in about.items() if value}
            answered = place < len(judged.questions)
            noted = about if answered else {**about, "answerability": "UNANSWERABLE"}
            metadata = {"metadata": noted} if noted else {}
            where = {"filter": question.filter} if question.filter else {}
            queries.append({"_id": question.key, "text": question.text, **where, **metadata})
            relevant = [_judgment_as_json(judgment) for judgment in question.judgments]
            questions.append(
                {"id": question.key, "text": question.text, **where, **about, "relevant": relevant}
            )
            rows += [
                f"{question.key}\t{path}\t{grade}" for path, grade in question.documents.items()
            ]
        _write_lines(folder / "queries.jsonl", queries)
        _write_lines(folder / "questions.jsonl", questions)
        body = "\n".join([*rows, ""])
        (folder / "qrels.tsv").write_text(body, "utf-8", newline="\n")
        _write_lines(folder / "corpus.jsonl", _corpus_rows(catalog, collection_id))
    except OSError as error:
        raise EvaluationError(
            f"{folder} cannot be written: {(error.strerror or str(error)).lower()}.",
            "Choose another folder.",
        ) from error


def _judgment_as_json(judgment: Placed) -> dict[str, Any]:
    quote = {"quote": judgment.record.judged.quote} if judgment.span is not None else {}
    return {"path": judgment.path, "grade": judgment.grade, **quote}


def _corpus_rows(catalog: Catalog, collection_id: int) -> Iterator[dict[str, str]]:
    documents = catalog.documents.list(collection_id, status=Status.INDEXED)
    titles = Counter(document.title for document in documents)
    for document in {document.path: document for document in documents}.values():
        # Rows that share a title are read as parts of one document.
        title = document.title if titles[document.title] == 1 else document.path
        text = catalog.documents.text(document.id)
        yield {"_id": document.path, "title": title, "text": text}


def _write_lines(file: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    with file.open("w", encoding="utf-8", newline="\n") as stream:
        for row in rows:
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
