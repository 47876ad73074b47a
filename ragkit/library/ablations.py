"""Ablations of a library's own collections; the last figures of each collection are kept."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ragkit.catalog import Catalog
from ragkit.catalog.judgments import Origin
from ragkit.errors import EvaluationError, ModelError
from ragkit.formatting import plural

if TYPE_CHECKING:
    from ragkit.evaluation.ablation_figures import AblationFigures
    from ragkit.evaluation.experiments import Experiment
    from ragkit.indexing.progress import Progress
    from ragkit.library.evaluation import JudgmentService
    from ragkit.options import SearchOptions
    from ragkit.paths import LibraryPaths
    from ragkit.settings import Settings

_KEY = "ablations"


class AblationService:
    """Measures what each field, vector and context contributes to searches of a collection."""

    def __init__(
        self,
        settings: Settings,
        paths: LibraryPaths,
        catalog: Catalog,
        judgments: JudgmentService,
        open_experiment: Callable[[str, str], Experiment],
        options: Callable[..., SearchOptions],
    ) -> None:
        self._settings = settings
        self._paths = paths
        self._catalog = catalog
        self._judgments = judgments
        self._open_experiment = open_experiment
        self._options = options

    def question_set(self, collection: str) -> str | None:
        """Return the default question set, or ``None`` if there is none.

        It is the largest one that people rated or imported, or else the largest that a model wrote.
        """
        sets = self._judgments.sets(collection)
        if not sets:
            return None
        origins = self._judgments.origins(collection)
        written = {name for name, kinds in origins.items() if Origin.MODEL in kinds}
        return max(sets, key=lambda name: (name not in written, sets[name][0], name == ""))

    def run(
        self,
        collection: str,
        question_set: str | None = None,
        *,
        tables: Sequence[str] = (),
        limit: int | None = None,
        report: Callable[[Progress], bool] = lambda _: True,
    ) -> AblationFigures:
        """Measure the cells of some tables, by default of all, and keep the figures.

        If the collection has no question set, the model that writes contexts writes one. When
        ``report`` returns False, the cells measured so far are returned; they are kept unless
        complete figures are kept already.

        Raises:
            NotFoundError: there is no such collection.
            EvaluationError: there are no questions to ask.
            JobCancelled: it was stopped before the first answer.
        """
        from ragkit.evaluation.ablation import GRID, TABLES, ablate
        from ragkit.evaluation.ablation_figures import figures_of
        from ragkit.evaluation.experiments import bare_experiment
        from ragkit.indexing.progress import Reporter

        if question_set is None:
            question_set = self.question_set(collection)
        if question_set is None:
            question_set = self._written(collection, report)
        experiment = self._open_experiment(collection, question_set)
        if limit is not None:
            experiment = experiment.first(limit)
        variants = [variant for name in tables or TABLES for variant in TABLES[name]()]
        reporter = Reporter(report)
        parent = None if self._catalog.connections.read_only else self._paths.temporary
        with tempfile.TemporaryDirectory(prefix="texts-", dir=parent) as folder:
            base = self._options(collections=(collection,))
            if any(variant.table == GRID for variant in variants):
                bare = bare_experiment(experiment, self._settings, Path(folder), reporter)
                with bare as plain:
                    ablation = ablate(variants, experiment, plain, base, reporter)
            else:
                ablation = ablate(variants, experiment, None, base, reporter)
        description = self._in_words(collection, question_set, len(experiment.questions))
        figures = figures_of(ablation, description)
        self._keep(collection, figures)
        return figures

    def kept(self, collection: str) -> AblationFigures | None:
        """Return the kept figures of a collection, or ``None``."""
        from ragkit.evaluation.ablation_figures import from_values

        record = self._catalog.collections.find(collection)
        values = (self._catalog.get_meta(_KEY) or {}).get(str(record.id)) if record else None
        try:
            return from_values(values) if values else None
        except (LookupError, TypeError):  # those of another version
            return None

    def _keep(self, collection: str, figures: AblationFigures) -> None:
        from ragkit.evaluation.ablation_figures import as_values

        if self._catalog.connections.read_only:
            return
        earlier = self.kept(collection)
        if figures.partial and earlier is not None and not earlier.partial:
            return
        ids = {str(record.id) for record in self._catalog.collections.all()}
        values = self._catalog.get_meta(_KEY) or {}
        kept = {number: value for number, value in values.items() if number in ids}
        number = str(self._catalog.collections.get(collection).id)
        self._catalog.set_meta(_KEY, {**kept, number: as_values(figures)})

    def _written(self, collection: str, report: Callable[[Progress], bool]) -> str:
        """Have a model write a set, and return its name."""
        from ragkit.evaluation.generated_sets import WRITTEN

        try:
            self._judgments.generate(collection, report=report)
        except ModelError as error:
            raise EvaluationError(
                f"Nothing is rated in {collection} yet, and no model can write questions: "
                f"{error.message}",
                "Rate results on the Search or Compare page, import a set with ragkit judgments "
                f"import, or: {error.cure}",
            ) from error
        return WRITTEN

    def _in_words(self, collection: str, question_set: str, count: int) -> str:
        """Return how many questions were asked, and where they come from."""
        questions = plural(count, "question")
        if not question_set:
            return f"{questions} rated on the pages"
        named = f'{questions} of "{question_set}"'
        writers = self._judgments.writers(collection).get(question_set)
        if writers:
            return f"{named}, which {' and '.join(writers)} wrote from passages of the documents"
        origins = self._judgments.origins(collection).get(question_set, frozenset())
        return f"{named}, imported" if Origin.IMPORT in origins else f"{named}, rated by people"
