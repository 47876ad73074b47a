"""Background tasks of pages: evaluations, ablations, writing question sets, naming topics."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from ragkit.catalog.runs import RunRecord
from ragkit.errors import RagkitError
from ragkit.evaluation.ablation_figures import AblationFigures
from ragkit.evaluation.experiments import Experiment
from ragkit.evaluation.generated_sets import GenerationReport
from ragkit.evaluation.measuring import Evaluation, measure
from ragkit.evaluation.runs import in_words
from ragkit.evaluation.search_config import SearchConfig
from ragkit.indexing.progress import JobCancelled, Progress, Reporter
from ragkit.models.topic_namer import TopicNamer

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TaskStatus:
    """The progress of a task; ``problem`` and ``cure`` are set if it failed.

    ``cancelled``: it stops as soon as possible. ``stopped``: it ended early. ``round`` counts the
    tasks of this kind since the process started.
    """

    running: bool = False
    progress: Progress = Progress()  # noqa: RUF009 - it is frozen
    problem: str = ""
    cure: str = ""
    cancelled: bool = False
    stopped: bool = False
    round: int = 0


Status = TypeVar("Status", bound=TaskStatus)


class BackgroundTask(Generic[Status]):
    """Runs one task at a time in a thread of its own. Safe to share between threads."""

    def __init__(self, status: Status, name: str) -> None:
        """Start idle, with an initial status and the thread's name."""
        self._guard = threading.Lock()
        self._status = status
        self._name = name
        self._thread: threading.Thread | None = None

    @property
    def status(self) -> Status:
        """The current status."""
        with self._guard:
            return self._status

    def cancel(self) -> None:
        """Stop the task after its current step; finished work is kept."""
        self._update(cancelled=True)

    def wait(self, seconds: float) -> bool:
        """Wait up to ``seconds``; return whether the task has ended."""
        if self._thread is not None:
            self._thread.join(seconds)
        return not self.status.running

    def _begin(self, status: Status, work: Callable[[], None]) -> bool:
        """Start ``work`` with an initial status; return False if another task is running."""
        with self._guard:
            if self._status.running:
                return False
            self._status = replace(status, running=True, round=self._status.round + 1)
            self._thread = threading.Thread(
                target=self._run, args=(work,), name=self._name, daemon=True
            )
            self._thread.start()
        return True

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except JobCancelled:
            self._update(stopped=True)
        except RagkitError as error:
            self._update(problem=error.message, cure=error.cure)
        except Exception:
            logger.exception("%s failed", self._name)
            self._update(
                problem="Something unexpected went wrong.",
                cure="Try again. If it keeps happening, check the log.",
            )
        finally:
            self._update(running=False)

    def _report(self, progress: Progress) -> bool:
        """Record the progress; return False if the task must stop."""
        self._update(progress=progress)
        return not self.status.cancelled

    def _update(self, **changes: object) -> None:
        with self._guard:
            self._status = replace(self._status, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class RunStatus(TaskStatus):
    """Status of an evaluation: configuration ``number`` of ``count``, described by ``name``.

    ``kept`` holds the ids of the runs stored so far.
    """

    name: str = ""
    number: int = 0
    count: int = 0
    kept: tuple[int, ...] = ()


class BackgroundRuns(BackgroundTask[RunStatus]):
    """Evaluates a question set with several search configurations and stores each run."""

    def __init__(self) -> None:
        super().__init__(RunStatus(), "evaluation")

    def start(
        self,
        open_experiment: Callable[[], Experiment],
        configs: Sequence[SearchConfig],
        keep: Callable[[Evaluation], RunRecord],
    ) -> bool:
        """Start an evaluation with each configuration; return False if another is running.

        A cancelled run stops after the current question and is stored as partial.
        """

        def run() -> None:
            experiment = open_experiment()
            for number, config in enumerate(configs, start=1):
                self._update(number=number, name=in_words(config), progress=Progress("Asking"))
                evaluation = measure(experiment, config, Reporter(self._report))
                kept = (*self.status.kept, keep(evaluation).id)
                cancelled = self.status.cancelled
                stopped = evaluation.partial or (cancelled and number < len(configs))
                self._update(kept=kept, stopped=stopped)
                if cancelled:
                    break

        return self._begin(RunStatus(count=len(configs)), run)


@dataclass(frozen=True, slots=True)
class AblationStatus(TaskStatus):
    """Status of an ablation of ``collection``."""

    collection: str = ""


class BackgroundAblation(BackgroundTask[AblationStatus]):
    """Measures what each field, vector and context contributes."""

    def __init__(self) -> None:
        super().__init__(AblationStatus(), "ablation")

    def start(self, collection: str, run: Callable[..., AblationFigures]) -> bool:
        """Start ``run(report=...)``; return False if another ablation is running.

        A cancelled one stops after the current question; complete cells are kept.
        """

        def measure_all() -> None:
            self._update(stopped=run(report=self._report).partial)

        return self._begin(AblationStatus(collection=collection), measure_all)


@dataclass(frozen=True, slots=True)
class WritingStatus(TaskStatus):
    """Status of writing a question set; ``report`` is the result once it is written."""

    collection: str = ""
    report: GenerationReport | None = None


class BackgroundWriting(BackgroundTask[WritingStatus]):
    """Has a model write question sets."""

    def __init__(self) -> None:
        super().__init__(WritingStatus(), "question-writing")

    def start(self, collection: str, generate: Callable[..., GenerationReport]) -> bool:
        """Start ``generate(report=...)``; return False if another set is being written.

        A cancelled task stops after the current passage.
        """

        def write() -> None:
            self._update(report=generate(report=self._report))

        return self._begin(WritingStatus(collection=collection), write)


@dataclass(frozen=True, slots=True)
class NamingStatus(TaskStatus):
    """Status of naming topics: ``names`` are the topics of the long text ``key``."""

    key: str = ""
    names: tuple[str, ...] = ()


class BackgroundNaming(BackgroundTask[NamingStatus]):
    """Has a model name the topics of a long text."""

    def __init__(self) -> None:
        super().__init__(NamingStatus(), "topic-naming")

    def start(self, key: str, texts: Sequence[str], open_namer: Callable[[], TopicNamer]) -> bool:
        """Start naming the topic of each text; return False if another naming is running.

        The status has the names once all are found; a topic without a name has an empty one.
        """

        def write() -> None:
            namer = open_namer()
            reporter = Reporter(self._report)
            reporter.start("Naming topics", len(texts))
            names = []
            for text in texts:
                names.append(namer.name(text))
                reporter.step()
            self._update(names=tuple(names))

        return self._begin(NamingStatus(key=key), write)
