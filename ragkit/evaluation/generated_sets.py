"""Question sets that a model writes: asked of sampled passages, checked, and marked as such."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ragkit.catalog import Catalog
from ragkit.catalog.background_state import context_model_name
from ragkit.catalog.judgments import JudgmentDraft, Origin
from ragkit.errors import EvaluationError, ModelError, OllamaError
from ragkit.evaluation.judging import folded_question
from ragkit.evaluation.sampling import Sampled, sampled
from ragkit.indexing.progress import JobCancelled, Progress
from ragkit.models.question_writer import (
    REASONS,
    CheckedQuestions,
    QuestionRequest,
    WrittenQuestion,
    same_question,
)
from ragkit.paths import LibraryPaths
from ragkit.settings import Settings

if TYPE_CHECKING:
    from ragkit.models.question_writer import QuestionWriter

WRITTEN = "written"
"""What a set is called when nobody names it."""

MOST_WANTED = 1000
"""So many questions may be asked for."""

_RIGHT = 2
_MOST_IN_VAIN = 10


class WritesQuestions(Protocol):
    """A model that writes questions."""

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    def write(self, request: QuestionRequest, seed: int = 0) -> CheckedQuestions:
        """Write questions that a passage answers.

        Raises:
            ModelError: the model did not answer.
        """
        ...


class Home(Protocol):
    """A library, as far as it is needed here."""

    settings: Settings
    paths: LibraryPaths
    catalog: Catalog


@dataclass(frozen=True, slots=True)
class KeptQuestion:
    """A question that was kept, with the document that answers it."""

    text: str
    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class Written:
    """What came of having a set written.

    ``total`` of ``wanted`` questions are in the set now, ``questions`` of them new; ``passages``
    were asked about. ``left_out`` counts what the model wrote in vain, by a word of ``REASONS``,
    and ``failed`` the passages of which it wrote nothing. ``ended`` says in a sentence why there
    are fewer than were wanted, with what to do; empty when there are not.
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
        """How many of the new questions there are of each kind."""
        return dict(sorted(Counter(one.kind for one in self.questions).items()))

    @property
    def sentences(self) -> tuple[str, ...]:
        """What came of it, for a person."""
        count = len(self.questions)
        if self.total >= self.wanted and not self.passages:
            return (f'"{self.name}" has {_counted(self.total)} already: ask for more than that.',)
        said = [f'{self.model} wrote {_counted(count)}; "{self.name}" has {self.total} now.']
        if self.left_out:
            listed = ", ".join(f"{REASONS.get(why, why)} ({n})" for why, n in self.left_out.items())
            said.append(f"Left out: {listed}.")
        if self.failed:
            passages = "1 passage" if self.failed == 1 else f"{self.failed} passages"
            said.append(f"Of {passages} it wrote nothing that could be read.")
        return (*said, self.ended) if self.ended else tuple(said)


@contextmanager
def question_writer(home: Home, collection_id: int, model: str = "") -> Iterator[QuestionWriter]:
    """Open the model of that name, or the one that writes contexts, with the collection's prompt.

    Raises:
        OllamaError: Ollama does not answer, or has no such model.
        SettingsError: the prompt's file is wrong.
    """
    from ragkit.models.ollama import OllamaClient
    from ragkit.models.question_writer import PROMPT, QuestionWriter

    settings = home.settings.models
    wanted = model or context_model_name(home.catalog, settings)
    folders = home.paths.prompts(collection_id), home.paths.prompts()
    own = next((one for one in folders if (one / f"{PROMPT}.txt").exists()), None)
    with OllamaClient(settings) as client:
        asked = settings.model_copy(update={"context_model": wanted})
        yield QuestionWriter.open(client, asked, own)


def write_set(
    home: Home,
    collection: str,
    *,
    count: int = 20,
    name: str = WRITTEN,
    seed: int = 0,
    model: str = "",
    tell: Callable[[Progress], bool] = lambda _: True,
) -> Written:
    """Have a model write a collection's question set until it has ``count`` questions.

    A set that a model has begun is gone on with. What was written is kept when the model fails
    or ``tell`` gives False.

    Raises:
        NotFoundError: there is no such collection.
        EvaluationError: the set is a person's, or the collection holds nothing to ask about.
        ModelError: the model failed before it had written any question.
    """
    record = home.catalog.collections.get(collection)
    title = " ".join(name.split())
    check_name(home.catalog, record.id, title)
    with question_writer(home, record.id, model) as writer:
        return write_questions(
            home.catalog, record.id, writer, count=count, name=title, seed=seed, tell=tell
        )


def check_name(catalog: Catalog, collection_id: int, name: str) -> None:
    """See that a model may write into the set of that name.

    Raises:
        EvaluationError: it has no name, or holds what people judged or imported.
    """
    origins = catalog.judgments.origins(collection_id).get(name, frozenset())
    if not name or origins - {Origin.MODEL}:
        which = f'"{name}" holds' if name else "The set without a name holds"
        raise EvaluationError(
            f"{which} what people judged or imported, and no model writes into it.",
            "Give the set another name.",
        )


def write_questions(
    catalog: Catalog,
    collection_id: int,
    writer: WritesQuestions,
    *,
    count: int = 20,
    name: str = WRITTEN,
    seed: int = 0,
    tell: Callable[[Progress], bool] = lambda _: True,
) -> Written:
    """Have questions written until the set of that name has ``count``; each is kept at once.

    Raises:
        EvaluationError: the collection holds nothing to ask about.
        ModelError: the model failed before it had written any question.
    """
    work = _Writing(catalog, collection_id, writer, name, seed, count)
    stopped, ended = False, ""
    try:
        ended = work.run(tell)
    except (JobCancelled, KeyboardInterrupt):
        stopped, ended = True, "Stopped; what was written is kept."
    except ModelError as error:
        if not work.kept:
            raise
        ended = f"{error} What was written is kept: ask again to go on."
    return Written(
        name, writer.model, count, work.total, tuple(work.kept), work.passages,
        dict(work.left_out.most_common()), work.failed, stopped, ended,
    )  # fmt: skip


class _Writing:
    """One set being written."""

    def __init__(
        self,
        catalog: Catalog,
        collection_id: int,
        writer: WritesQuestions,
        name: str,
        seed: int,
        count: int,
    ) -> None:
        self._catalog, self._collection_id = catalog, collection_id
        self._writer, self._name, self._seed, self._count = writer, name, seed, count
        there = catalog.judgments.current(collection_id, question_set=name)
        self._known = {same_question(one.judged.question) for one in there}
        self._places = {(one.judged.document_id, one.judged.start, one.judged.end) for one in there}
        self._before = len({one.judged.question for one in there})
        self.kept: list[KeptQuestion] = []
        self.left_out: Counter[str] = Counter()
        self.passages = self.failed = 0

    @property
    def total(self) -> int:
        """How many questions the set has."""
        return self._before + len(self.kept)

    def run(self, tell: Callable[[Progress], bool]) -> str:
        """Ask about passages until there are enough; says why when there are not.

        Raises:
            JobCancelled: ``tell`` asked to stop.
        """
        if self.total >= self._count:
            return ""
        started, in_vain, seen = time.time(), 0, False
        first = self.total
        for one in sampled(self._catalog, self._collection_id, self._seed):
            seen = True
            if (one.document.id, one.span.start, one.span.end) in self._places:
                continue
            progress = Progress(
                "Writing questions", self.total - first, self._count - first, one.document.path,
                self.failed, started,
            )  # fmt: skip
            if not tell(progress):
                raise JobCancelled
            in_vain = 0 if self._ask(one) else in_vain + 1
            if self.total >= self._count:
                return ""
            if in_vain >= _MOST_IN_VAIN:
                return (
                    f"Of {in_vain} passages in a row it wrote nothing of use: choose another model."
                )
        if not seen:
            raise EvaluationError(
                "This collection holds no passage that is long enough to be asked about.",
                "Add documents first.",
            )
        return "There is no other passage to ask about."

    def _ask(self, one: Sampled) -> int:
        """Have questions on one passage written and keep them; returns how many.

        Raises:
            ModelError: nothing can be asked of the model now.
        """
        self.passages += 1
        try:
            found = self._writer.write(one.request, self._seed)
        except ModelError as error:
            if not isinstance(error, OllamaError) or error.concerns_all:
                raise
            self.failed += 1
            return 0
        self.left_out.update(found.left_out)
        fresh = []
        for question in found.kept:
            if same_question(question.text) in self._known:
                self.left_out["twice"] += 1
            else:
                fresh.append(question)
        return self._keep(one, fresh[: self._count - self.total])

    def _keep(self, one: Sampled, fresh: list[WrittenQuestion]) -> int:
        drafts = [
            JudgmentDraft(
                folded_question(question.text), one.document.id, one.document.path,
                one.document.hash, one.span.start, one.span.end, one.request.passage, _RIGHT,
                Origin.MODEL, self._name, kind=question.kind, writer=self._writer.model,
            )
            for question in fresh
        ]  # fmt: skip
        if drafts:
            self._catalog.judgments.add(self._collection_id, drafts)
        self._known.update(same_question(question.text) for question in fresh)
        self.kept += [KeptQuestion(q.text, q.kind, one.document.path) for q in fresh]
        return len(fresh)


def _counted(count: int) -> str:
    return "1 question" if count == 1 else f"{count} questions"
