"""Question sets written by a model: asked of sampled passages, checked, and marked as such."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from ragkit.catalog import Catalog
from ragkit.catalog.background_state import context_model_name
from ragkit.catalog.judgments import JudgmentDraft, Origin
from ragkit.catalog.records import DocumentRecord
from ragkit.errors import EvaluationError, ModelError, OllamaError
from ragkit.evaluation.judging import normalised_question
from ragkit.indexing.progress import JobCancelled, Progress
from ragkit.models.ollama import OllamaClient
from ragkit.models.ollama_text import estimate_tokens
from ragkit.models.question_writer import (
    PROMPT,
    REASONS,
    QuestionRequest,
    QuestionWriter,
    WrittenQuestion,
    same_question,
)
from ragkit.paths import LibraryPaths
from ragkit.settings import ModelSettings
from ragkit.types import Span, Status

WRITTEN = "written"
"""The default name of a set."""

MOST_WANTED = 1000
"""The most questions that may be requested."""

LEAST_TOKENS = 30
"""Chunks of fewer tokens say too little to be asked about."""

_RIGHT = 2
_MOST_IN_VAIN = 10


@dataclass(frozen=True, slots=True)
class KeptQuestion:
    """A question that was kept, with the path of the document that answers it."""

    text: str
    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class GenerationReport:
    """The result of having a set written.

    The set now has ``total`` of ``wanted`` questions, ``questions`` of them new; ``passages``
    were asked about. ``left_out`` counts rejected questions by a word of ``REASONS``, ``failed``
    the passages without a readable answer. ``ended`` is a sentence on why there are fewer
    questions than wanted, with its cure; empty when there are not.
    """

    name: str
    model: str
    wanted: int
    total: int = 0
    questions: tuple[KeptQuestion, ...] = ()
    passages: int = 0
    left_out: Mapping[str, int] = field(default_factory=dict)
    failed: int = 0
    stopped: bool = False
    ended: str = ""

    @property
    def kinds(self) -> dict[str, int]:
        """The number of new questions of each type."""
        return dict(sorted(Counter(question.kind for question in self.questions).items()))

    @property
    def sentences(self) -> tuple[str, ...]:
        """The report in sentences, for a person."""
        if self.total >= self.wanted and not self.passages:
            total = _count_questions(self.total)
            return (f'"{self.name}" has {total} already: ask for more than that.',)
        count = _count_questions(len(self.questions))
        sentences = [f'{self.model} wrote {count}; "{self.name}" has {self.total} now.']
        if self.left_out:
            listed = ", ".join(f"{REASONS.get(why, why)} ({n})" for why, n in self.left_out.items())
            sentences.append(f"Left out: {listed}.")
        if self.failed:
            passages = "1 passage" if self.failed == 1 else f"{self.failed} passages"
            sentences.append(f"Of {passages} it wrote nothing that could be read.")
        return (*sentences, self.ended) if self.ended else tuple(sentences)


def _count_questions(count: int) -> str:
    return "1 question" if count == 1 else f"{count} questions"


# -- sampling ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SampledChunk:
    """A chunk with its document as it is now."""

    document: DocumentRecord
    span: Span
    request: QuestionRequest


def sample_chunks(catalog: Catalog, collection_id: int, seed: int = 0) -> Iterator[SampledChunk]:
    """Yield chunks in an order that the seed alone decides: one of each document in turn.

    Adding or removing a document does not change the order of the others. Copies of a document
    count once, as do chunks of the same words.
    """
    documents = _shuffled_documents(catalog, collection_id, seed)
    seen: set[bytes] = set()
    queues: dict[int, list[int]] = {}
    while documents:
        left = []
        for document in documents:
            chunk, more = _next_chunk(catalog, document, seed, queues, seen)
            if chunk is not None:
                yield chunk
            if more:
                left.append(document)
        documents = left


def _shuffled_documents(catalog: Catalog, collection_id: int, seed: int) -> list[DocumentRecord]:
    documents = catalog.documents.list(collection_id, status=Status.INDEXED)
    first: dict[str, DocumentRecord] = {}
    for document in sorted(documents, key=lambda document: (document.path, document.id)):
        first.setdefault(document.hash or f"{document.id}", document)
    return sorted(
        first.values(), key=lambda document: (_digest(f"{seed}\0{document.path}"), document.path)
    )


def _next_chunk(
    catalog: Catalog,
    document: DocumentRecord,
    seed: int,
    queues: dict[int, list[int]],
    seen: set[bytes],
) -> tuple[SampledChunk | None, bool]:
    """Return the document's next chunk that can be asked about, and whether there may be more."""
    with catalog.connections.read():
        now = catalog.documents.get_many([document.id]).get(document.id)
        if now is None or now.status is not Status.INDEXED:
            return None, False
        text = catalog.documents.text(document.id)
        chunks = {record.chunk.index: record for record in catalog.documents.chunks(document.id)}
    if document.id not in queues:
        queues[document.id] = sorted(
            chunks, key=lambda index: _digest(f"{seed}\0{document.path}\0{index}")
        )
    queue = queues[document.id]
    while queue:
        record = chunks.get(queue.pop(0))
        if record is None:
            continue
        passage = text[record.chunk.start : record.chunk.end]
        key = _digest(" ".join(passage.split()))
        if key in seen or estimate_tokens(passage) < LEAST_TOKENS:
            continue
        seen.add(key)
        request = QuestionRequest(now.title or now.path, record.context, passage, text)
        return SampledChunk(now, Span(record.chunk.start, record.chunk.end), request), bool(queue)
    return None, False


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).digest()


# -- writing -------------------------------------------------------------------------------------


@contextmanager
def question_writer(
    catalog: Catalog,
    paths: LibraryPaths,
    settings: ModelSettings,
    collection_id: int,
    model: str = "",
) -> Iterator[QuestionWriter]:
    """Open the model of that name, or the one that writes contexts, with the collection's prompt.

    Raises:
        OllamaError: Ollama does not answer, or has no such model.
        SettingsError: the prompt's file is invalid.
    """
    settings = settings.model_copy(
        update={"context_model": model or context_model_name(catalog, settings)}
    )
    folders = paths.prompts(collection_id), paths.prompts()
    prompt = next((folder for folder in folders if (folder / f"{PROMPT}.txt").exists()), None)
    with OllamaClient(settings) as client:
        yield QuestionWriter.open(client, settings, prompt)


def write_set(
    catalog: Catalog,
    paths: LibraryPaths,
    settings: ModelSettings,
    collection: str,
    *,
    count: int = 20,
    name: str = WRITTEN,
    seed: int = 0,
    model: str = "",
    report: Callable[[Progress], bool] = lambda _: True,
) -> GenerationReport:
    """Have a model write a collection's question set until it has ``count`` questions.

    A set that a model has begun is continued. What was written is kept when the model fails or
    ``report`` returns False.

    Raises:
        NotFoundError: there is no such collection.
        EvaluationError: the set is a person's, or the collection holds nothing to ask about.
        ModelError: the model failed before it had written any question.
    """
    record = catalog.collections.get(collection)
    title = " ".join(name.split())
    check_name(catalog, record.id, title)
    with question_writer(catalog, paths, settings, record.id, model) as writer:
        task = _SetWriter(catalog, record.id, writer, title, seed, count)
        stopped, ended = False, ""
        try:
            ended = task.run(report)
        except (JobCancelled, KeyboardInterrupt):
            stopped, ended = True, "Stopped; what was written is kept."
        except ModelError as error:
            if not task.kept:
                raise
            ended = f"{error} What was written is kept: ask again to go on."
        return GenerationReport(
            title, writer.model, count, task.total, tuple(task.kept), task.passages,
            dict(task.left_out.most_common()), task.failed, stopped, ended,
        )  # fmt: skip


def check_name(catalog: Catalog, collection_id: int, name: str) -> None:
    """Check that a model may write into the set of that name.

    Raises:
        EvaluationError: the name is empty, or the set holds what people judged or imported.
    """
    origins = catalog.judgments.origins(collection_id).get(name, frozenset())
    if not name or origins - {Origin.MODEL}:
        which = f'"{name}" holds' if name else "The set without a name holds"
        raise EvaluationError(
            f"{which} what people judged or imported, and no model writes into it.",
            "Give the set another name.",
        )


class _SetWriter:
    """Has questions written until the set has ``count``; each is kept at once."""

    def __init__(
        self,
        catalog: Catalog,
        collection_id: int,
        writer: QuestionWriter,
        name: str,
        seed: int,
        count: int,
    ) -> None:
        self._catalog, self._collection_id = catalog, collection_id
        self._writer, self._name, self._seed, self._count = writer, name, seed, count
        judged = [
            record.judged for record in catalog.judgments.current(collection_id, question_set=name)
        ]
        self._seen = {same_question(judgment.question) for judgment in judged}
        self._asked_about = {(place.document_id, place.start, place.end) for place in judged}
        self._before = len({judgment.question for judgment in judged})
        self.kept: list[KeptQuestion] = []
        self.left_out: Counter[str] = Counter()
        self.passages = self.failed = 0

    @property
    def total(self) -> int:
        """The number of questions in the set."""
        return self._before + len(self.kept)

    def run(self, report: Callable[[Progress], bool]) -> str:
        """Ask about passages until there are enough questions; return why there are not.

        Raises:
            JobCancelled: ``report`` asked to stop.
            EvaluationError: the collection holds nothing to ask about.
            ModelError: nothing can be asked of the model now.
        """
        if self.total >= self._count:
            return ""
        started, in_vain, sampled = time.time(), 0, False
        first = self.total
        for chunk in sample_chunks(self._catalog, self._collection_id, self._seed):
            sampled = True
            if (chunk.document.id, chunk.span.start, chunk.span.end) in self._asked_about:
                continue
            progress = Progress(
                "Writing questions", self.total - first, self._count - first, chunk.document.path,
                self.failed, started,
            )  # fmt: skip
            if not report(progress):
                raise JobCancelled
            in_vain = 0 if self._ask(chunk) else in_vain + 1
            if self.total >= self._count:
                return ""
            if in_vain >= _MOST_IN_VAIN:
                return (
                    f"Of {in_vain} passages in a row it wrote nothing of use: choose another model."
                )
        if not sampled:
            raise EvaluationError(
                "This collection holds no passage that is long enough to be asked about.",
                "Add documents first.",
            )
        return "There is no other passage to ask about."

    def _ask(self, chunk: SampledChunk) -> int:
        """Have questions on one passage written and keep them; return how many."""
        self.passages += 1
        try:
            checked = self._writer.write(chunk.request, self._seed)
        except ModelError as error:
            if not isinstance(error, OllamaError) or error.concerns_all:
                raise
            self.failed += 1
            return 0
        self.left_out.update(checked.left_out)
        fresh = []
        for question in checked.kept:
            if same_question(question.text) in self._seen:
                self.left_out["twice"] += 1
            else:
                fresh.append(question)
        return self._keep(chunk, fresh[: self._count - self.total])

    def _keep(self, chunk: SampledChunk, questions: list[WrittenQuestion]) -> int:
        document, span = chunk.document, chunk.span
        drafts = [
            JudgmentDraft(
                normalised_question(question.text), document.id, document.path, document.hash,
                span.start, span.end, chunk.request.passage, _RIGHT, Origin.MODEL, self._name,
                kind=question.kind, writer=self._writer.model,
            )
            for question in questions
        ]  # fmt: skip
        if drafts:
            self._catalog.judgments.add(self._collection_id, drafts)
        self._seen.update(same_question(question.text) for question in questions)
        self.kept += [KeptQuestion(q.text, q.kind, document.path) for q in questions]
        return len(questions)
