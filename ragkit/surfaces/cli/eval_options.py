"""Options of ``ragkit eval`` and ``ragkit ablate``: which questions are asked of which library."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragkit.errors import SettingsError
from ragkit.library import Library
from ragkit.options import SearchOptions
from ragkit.settings import Settings, load_settings
from ragkit.surfaces.cli.options import open_library

if TYPE_CHECKING:
    from ragkit.evaluation.experiments import Experiment
    from ragkit.indexing.progress import Reporter

CorpusOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="A published set, a folder in BEIR's layout.")
]
ContextsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Recorded contexts of its rows, {id, context, keywords, questions}."
    ),
]
SetOption = Annotated[
    str, typer.Option("--set", metavar="NAME", help="A question set; without: judged on the pages.")
]
QuestionsOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Another queries.jsonl.")
]
QrelsOption = Annotated[Path | None, typer.Option(metavar="FILE", help="Another qrels.tsv.")]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="Ask only so many questions, the first ones.")
]
WholeOption = Annotated[
    bool,
    typer.Option("--whole-rows", help="Do not cut rows: each is one chunk. So with --contexts."),
]
RowsOption = Annotated[
    str | None,
    typer.Option(
        "--rows",
        metavar="joined|apart",
        help="Rows that share a title: one document (usual), or one each (with --contexts).",
    ),
]


@dataclass(frozen=True, slots=True)
class EvalRequest:
    """The questions to ask, and the library or published set to ask them of."""

    corpus: Path | None = None
    contexts: Path | None = None
    question_set: str = ""
    questions: Path | None = None
    qrels: Path | None = None
    limit: int | None = None
    whole_rows: bool = False
    rows: str | None = None
    library: Path | None = None
    collection: str | None = None

    @property
    def settings(self) -> Settings:
        """The settings in effect."""
        return load_settings(library=self.library, collection=self.collection)


@dataclass(frozen=True, slots=True)
class OpenExperiment:
    """An experiment that is ready; ``plain`` is the same set with only its texts indexed.

    ``library`` is the person's own, when that is asked.
    """

    experiment: Experiment
    plain: Experiment | None
    library: Library | None

    def options(self, request: EvalRequest, **changes: Any) -> SearchOptions:
        """Return the search options of the settings, or of the collection, with changes."""
        if self.library is not None:
            return self.library.options(**changes)
        return request.settings.search.options(**changes)


@contextmanager
def open_experiment(
    request: EvalRequest, reporter: Reporter, *, plain: bool = False
) -> Iterator[OpenExperiment]:
    """Open the library that is asked, or index a published set into a temporary one."""
    if request.corpus is not None:
        with _published(request, request.corpus, reporter, plain=plain) as published:
            yield published
        return
    for name in ("contexts", "questions", "qrels", "rows"):
        if getattr(request, name) is not None:
            raise SettingsError(f"--{name} goes with --corpus.", "Name a published set as well.")
    library = open_library(request.library, request.collection)
    experiment = library.experiment(library.settings.collection, request.question_set)
    if request.limit is not None:
        experiment = replace(experiment, questions=experiment.questions[: request.limit])
    yield OpenExperiment(experiment, None, library)


@contextmanager
def _published(
    request: EvalRequest, corpus: Path, reporter: Reporter, *, plain: bool
) -> Iterator[OpenExperiment]:
    from ragkit.evaluation.corpus import load_question_set
    from ragkit.evaluation.ephemeral_library import RowsAs, load_contexts
    from ragkit.evaluation.experiments import ephemeral_experiment

    questions = load_question_set(corpus, request.questions, request.qrels, request.limit)
    contexts = load_contexts(request.contexts, questions.rows) if request.contexts else None
    default = RowsAs.APART if contexts else RowsAs.JOINED
    if request.rows not in (None, *RowsAs):
        raise SettingsError(f"--rows {request.rows} is neither joined nor apart.", "Choose one.")
    how: dict[str, Any] = {
        "whole_rows": request.whole_rows or contexts is not None,
        "rows_as": RowsAs(request.rows) if request.rows else default,
    }
    settings = request.settings
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ragkit-")))
        experiment = stack.enter_context(
            ephemeral_experiment(
                questions, settings, root / "library", reporter, contexts=contexts, **how
            )
        )
        texts = None
        if plain and not questions.excerpts:
            texts = stack.enter_context(
                ephemeral_experiment(
                    questions, settings, root / "texts", reporter, structural=False, **how
                )
            )
        yield OpenExperiment(experiment, texts, None)
