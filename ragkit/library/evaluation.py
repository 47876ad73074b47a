"""Evaluation of a library: judgments, question sets, votes, and kept runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragkit.catalog import Catalog
from ragkit.evaluation.judging import Grades, Judging
from ragkit.evaluation.question_sets import COLLECTED, collect, export_set, import_set

if TYPE_CHECKING:
    from ragkit.catalog.judgments import JudgmentRecord, Origin, VoteRecord
    from ragkit.catalog.runs import RunRecord
    from ragkit.evaluation.generated_sets import GenerationReport
    from ragkit.evaluation.measuring import Evaluation
    from ragkit.evaluation.metrics import TypeFigures
    from ragkit.evaluation.question_sets import Imported, JudgedSet
    from ragkit.evaluation.runs import Difference
    from ragkit.indexing.progress import Progress
    from ragkit.library.logged_questions import LoggedQuestion, OfferedPlace
    from ragkit.library.search_log import LoggedSearch
    from ragkit.settings import Settings
    from ragkit.types import Span


class JudgmentService:
    """Judgments, question sets and votes, by the name of their collection.

    Methods raise a NotFoundError if there is no such collection, except ``sets`` and ``grades``,
    which are then empty.
    """

    def __init__(self, settings: Settings, catalog: Catalog) -> None:
        self._settings = settings
        self._catalog = catalog
        self._judging = Judging(catalog)

    # -- one question ----------------------------------------------------------------------

    def grades(self, collection: str, question: str) -> Grades:
        """Return the grades of documents and passages for a question."""
        record = self._catalog.collections.find(collection)
        if record is None or not question.strip():
            return Grades()
        return self._judging.grades(record.id, question)

    def add(
        self,
        collection: str,
        question: str,
        document_id: int,
        grade: int,
        *,
        span: Span | None = None,
        origin: Origin,
        question_set: str = COLLECTED,
        filter_: str = "",
    ) -> JudgmentRecord:
        """Grade how well a document, or the passage at ``span``, answers a question.

        ``filter_`` restricts the question to some documents, in the query language.

        Raises:
            EvaluationError: the question is empty, or the grade or span is not valid.
            NotFoundError: the document is gone.
        """
        return self._judging.judge(
            self._id(collection), question, document_id, grade, span=span, origin=origin,
            question_set=question_set, filter_=filter_,
        )  # fmt: skip

    def undo(self, collection: str, *, question_set: str = COLLECTED) -> JudgmentRecord | None:
        """Remove a set's last judgment by hand, and return it; the one before counts again."""
        return self._judging.undo(self._id(collection), question_set=question_set)

    # -- question sets ---------------------------------------------------------------------

    def sets(self, collection: str) -> dict[str, tuple[int, int]]:
        """Return the numbers of questions and judgments in each question set, by its name."""
        record = self._catalog.collections.find(collection)
        return self._catalog.judgments.sets(record.id) if record else {}

    def origins(self, collection: str) -> dict[str, frozenset[Origin]]:
        """Return the origins of the judgments in each question set, by its name."""
        return self._catalog.judgments.origins(self._id(collection))

    def writers(self, collection: str) -> dict[str, tuple[str, ...]]:
        """Return the models that wrote questions, by set; sets without any are left out."""
        return self._catalog.judgments.writers(self._id(collection))

    def question_types(self, collection: str, question_set: str = COLLECTED) -> dict[str, str]:
        """Return the type of each question in a set, by its text; empty if it has none."""
        return self._catalog.judgments.kinds(self._id(collection), question_set)

    def collect(self, collection: str, question_set: str = COLLECTED) -> JudgedSet:
        """Return a question set with judgments at their current places; lost ones are left out."""
        return collect(self._catalog, self._id(collection), question_set)

    def generate(
        self,
        collection: str,
        *,
        count: int = 20,
        name: str = "written",
        seed: int = 0,
        model: str = "",
        report: Callable[[Progress], bool] = lambda _: True,
    ) -> GenerationReport:
        """Have a model write a question set until it has ``count`` questions.

        An unfinished set is continued. Questions are kept even if the model fails later, or
        ``report`` returns False.

        Raises:
            EvaluationError: the set was made by people, or the collection has no usable passages.
            ModelError: the model failed before it had written a question.
        """
        from ragkit.evaluation.generated_sets import write_set

        return write_set(
            self._catalog, self._settings.models, collection,
            count=count, name=name, seed=seed, model=model, report=report,
        )  # fmt: skip

    def logged(
        self, collection: str, searches: Iterable[LoggedSearch], question_set: str
    ) -> tuple[LoggedQuestion, ...]:
        """Return the distinct questions of logged searches, those asked most often first."""
        from ragkit.library.logged_questions import logged_questions

        record = self._catalog.collections.get(collection)
        return logged_questions(self._catalog, record, searches, question_set)

    def offered(
        self, collection: str, question: LoggedQuestion, question_set: str
    ) -> tuple[OfferedPlace, ...]:
        """Return the places that a logged question showed, to be rated with ``add``."""
        from ragkit.library.logged_questions import offered_places

        record = self._catalog.collections.get(collection)
        return offered_places(self._catalog, record, question, question_set)

    def export(self, collection: str, judged: JudgedSet, folder: Path) -> None:
        """Export a question set as a BEIR folder and as questions.jsonl."""
        export_set(self._catalog, self._id(collection), judged, folder)

    def import_file(self, collection: str, file: Path, name: str | None = None) -> Imported:
        """Import judged questions from a .csv or .jsonl file, or a BEIR folder."""
        return import_set(self._catalog, self._id(collection), file, name)

    # -- votes between settings ------------------------------------------------------------

    def vote(
        self, collection: str, question: str, settings: Sequence[str], winner: int | None
    ) -> int:
        """Keep which settings answered better, as an index or ``None``; return the vote's id.

        Raises:
            EvaluationError: there are fewer than two settings, or the winner is none of them.
        """
        return self._judging.vote(self._id(collection), question, settings, winner)

    def votes(self, collection: str) -> list[VoteRecord]:
        """Return every vote, oldest first."""
        return self._catalog.judgments.votes(self._id(collection))

    def remove_vote(self, vote_id: int) -> None:
        """Remove a vote."""
        self._catalog.judgments.remove_vote(vote_id)

    def _id(self, collection: str) -> int:
        return self._catalog.collections.get(collection).id


class RunService:
    """Kept evaluations, to be compared with later ones.

    Methods raise a NotFoundError if there is no such run or collection.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def list(self, collection: str | None = None) -> list[RunRecord]:
        """Return the runs of a collection, or all of them; newest first."""
        home = self._catalog.collections.get(collection).id if collection else None
        return self._catalog.runs.all(home)

    def get(self, run_id: int) -> RunRecord:
        """Return one run."""
        return self._catalog.runs.get(run_id)

    def keep(self, evaluation: Evaluation, collection: str | None = None) -> RunRecord:
        """Keep an evaluation of a ``collection``, or of a published set (``None``)."""
        from ragkit.evaluation.runs import keep

        home = self._catalog.collections.get(collection).id if collection else None
        return keep(self._catalog, evaluation, home)

    def remove(self, run_id: int) -> None:
        """Remove a run."""
        self._catalog.runs.remove(run_id)

    def compare(self, before: int, after: int, metric: str | None = None) -> Difference:
        """Compare a run with an earlier one, question by question.

        Raises:
            EvaluationError: the two have no question, or not that metric, in common.
        """
        from ragkit.evaluation.runs import difference

        return difference(self._catalog, before, self._catalog.runs.get(after), metric)

    def by_type(
        self, run_id: int, types: Mapping[str, str], metric: str
    ) -> tuple[TypeFigures, ...]:
        """Return a run's figures by question type; ``types`` maps question texts to types."""
        from ragkit.evaluation.runs import figures_of_run

        return figures_of_run(self._catalog, run_id, types, metric)
