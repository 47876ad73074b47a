"""Question sets written by a model about sampled passages."""

from __future__ import annotations

import hashlib
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ragkit.catalog import Catalog
from ragkit.catalog.background_state import context_model_name
from ragkit.catalog.judgments import JudgmentDraft, Origin
from ragkit.catalog.records import DocumentRecord
from ragkit.errors import EvaluationError, ModelError, OllamaError
from ragkit.evaluation.judging import normalised_question
from ragkit.formatting import plural
from ragkit.indexing.progress import JobCancelled, Progress
from ragkit.models.ollama import OllamaClient
from ragkit.models.ollama_text import estimate_tokens
from ragkit.models.question_writer import (
    REASONS,
    QuestionRequest,
    QuestionWriter,
    same_question,
)
from ragkit.settings import ModelSettings
from ragkit.types import Span, Status

WRITTEN = "written"
"""The default name of a set."""

MOST_WANTED = 1000
"""The largest number of questions that may be requested."""

LEAST_TOKENS = 30
"""Chunks with fewer tokens are too short for questions."""

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

    The set now has ``total`` of ``wanted`` questions; ``questions`` are the new ones, written about
    ``passages`` passages. ``left_out`` counts rejected questions by a key of ``REASONS``, and
    ``failed`` the passages without a readable answer. ``ended`` says why there are fewer questions
    than wanted, or is empty.
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
            total = plural(self.total, "question")
            return (f'"{self.name}" has {total} already; request a higher number.',)
        count = plural(len(self.questions), "question")
        sentences = [f'{self.model} wrote {count}; "{self.name}" has {self.total} now.']
        if self.left_out:
            listed = ", ".join(f"{REASONS.get(why, why)} ({n})" for why, n in self.left_out.items())
            sentences.append(f"Left out: {listed}.")
        if self.failed:
            passages = plural(self.failed, "passage")
            sentences.append(f"For {passages} its answer could not be read.")
        return (*sentences, self.ended) if self.ended else tuple(sentences)


# -- sampling ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SampledChunk:
    """A chunk with its document as it is now."""

    document: DocumentRecord
    span: Span
    request: QuestionRequest


def sample_chunks(catalog: Catalog, collection_id: int, seed: int) -> Iterator[SampledChunk]:
    """Yield chunks of one document after another, in an order that depends only on the seed.

    Adding or removing a document does not change the order of the others. Copies of a document or
    of a chunk count once.
    """
    seen: set[bytes] = set()
    orders: dict[int, Iterator[int]] = {}
    turns = deque(_shuffled_documents(catalog, collection_id, seed))
    while turns:
        document = turns.popleft()
        # It may have changed since its last turn.
        with catalog.connections.read():
            now = catalog.documents.get_many([document.id]).get(document.id)
            if now is None or now.status is not Status.INDEXED:
                continue
            text = catalog.documents.text(document.id)
            records = {each.chunk.index: each for each in catalog.documents.chunks(document.id)}
        if document.id not in orders:
            shuffled = sorted((_digest(f"{seed}\0{document.path}\0{i}"), i) for i in records)
            orders[document.id] = iter([index for _, index in shuffled])
        for record in filter(None, map(records.get, orders[document.id])):
            passage = text[record.chunk.start : record.chunk.end]
            key = _digest(" ".join(passage.split()))
            if key not in seen and estimate_tokens(passage) >= LEAST_TOKENS:
                seen.add(key)
                request = QuestionRequest(now.title or now.path, record.context, passage, text)
                yield SampledChunk(now, Span(record.chunk.start, record.chunk.end), request)
                turns.append(document)
                break


def _shuffled_documents(catalog: Catalog, collection_id: int, seed: int) -> list[DocumentRecord]:
    documents = catalog.documents.list(collection_id, status=Status.INDEXED)
    first: dict[str, DocumentRecord] = {}
    for document in sorted(documents, key=lambda document: (document.path, document.id)):
        first.setdefault(document.hash or f"{document.id}", document)
    return sorted(
        first.values(), key=lambda document: (_digest(f"{seed}\0{document.path}"), document.path)
    )


def _digest(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=12).digest()


# -- writing -------------------------------------------------------------------------------------


def write_set(
    catalog: Catalog,
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

    The default ``model`` is the one that writes contexts. A set begun by a model is continued.
    Questions written so far are kept if the model fails or ``report`` returns False.

    Raises:
        NotFoundError: there is no such collection.
        EvaluationError: the set has other judgments, or no passage is long enough.
        ModelError: the model failed before it had written any question.
        SettingsError: the collection's own prompt is invalid.
    """
    record = catalog.collections.get(collection)
    home = record.id
    title = " ".join(name.split())
    origins = catalog.judgments.origins(home).get(title, frozenset())
    if not title or origins - {Origin.MODEL}:
        which = f'"{title}" holds' if title else "The set without a name holds"
        raise EvaluationError(
            f"{which} ratings of people or an import; generated questions need a set of their own.",
            "Choose another name.",
        )
    with OllamaClient(settings) as client:
        model = model or context_model_name(catalog, settings)
        writer = QuestionWriter.open(client, model, record.prompts.get("questions", ""))
        task = _SetWriter(catalog, home, writer, title, seed, count)
        stopped, ended = False, ""
        try:
            ended = task.run(report)
        except (JobCancelled, KeyboardInterrupt):
            stopped, ended = True, "Stopped. The questions written so far are kept."
        except ModelError as error:
            if not task.kept:
                raise
            ended = f"{error} What was written is kept: ask again to go on."
        return GenerationReport(
            title, writer.model, count, task.total, tuple(task.kept), task.passages,
            dict(task.left_out.most_common()), task.failed, stopped, ended,
        )  # fmt: skip


class _SetWriter:
    """Has questions written and stores each at once, until the set has ``count``."""

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
        """Ask about passages until there are enough questions; return why there are not, or ``""``.

        Raises:
            JobCancelled: ``report`` returned False.
            EvaluationError: no passage is long enough.
            ModelError: the model cannot be asked now.
        """
        if self.total >= self._count:
            return ""
        started, in_vain, sampled = time.time(), 0, False
        for chunk in sample_chunks(self._catalog, self._collection_id, self._seed):
            sampled = True
            if (chunk.document.id, chunk.span.start, chunk.span.end) in self._asked_about:
                continue
            progress = Progress(
                "Writing questions", len(self.kept), self._count - self._before,
                chunk.document.path, self.failed, started,
            )  # fmt: skip
            if not report(progress):
                raise JobCancelled
            in_vain = 0 if self._ask(chunk) else in_vain + 1
            if self.total >= self._count:
                return ""
            if in_vain >= _MOST_IN_VAIN:
                return f"Nothing useful for {in_vain} passages in a row: choose another model."
        if not sampled:
            raise EvaluationError(
                "This collection has no passage long enough to ask about.",
                "Add documents first.",
            )
        return "There are no more passages to ask about."

    def _ask(self, chunk: SampledChunk) -> int:
        """Have questions about one passage written and store them; return how many."""
        self.passages += 1
        try:
            checked = self._writer.write(chunk.request, self._seed)
        except ModelError as error:
            if not isinstance(error, OllamaError) or error.concerns_all:
                raise
            self.failed += 1
            return 0
        self.left_out.update(checked.left_out)
        new = [
            question for question in checked.kept if same_question(question.text) not in self._seen
        ]
        if len(new) < len(checked.kept):
            self.left_out["twice"] += len(checked.kept) - len(new)
        document, span = chunk.document, chunk.span
        fresh = new[: self._count - self.total]
        drafts = [
            JudgmentDraft(
                normalised_question(question.text), document.id, document.path, document.hash,
                span.start, span.end, chunk.request.passage, _RIGHT, Origin.MODEL, self._name,
                kind=question.kind, writer=self._writer.model,
            )
            for question in fresh
        ]  # fmt: skip
        if drafts:
            self._catalog.judgments.add(self._collection_id, drafts)
        self._seen.update(same_question(question.text) for question in fresh)
        self.kept += [
            KeptQuestion(question.text, question.kind, document.path) for question in fresh
        ]
        return len(fresh)
