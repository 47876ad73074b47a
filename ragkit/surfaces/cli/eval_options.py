"""What ``ragkit eval`` and ``ragkit ablate`` share: which questions are asked of what."""

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
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import open_library

if TYPE_CHECKING:
    from ragkit.evaluation.experiments import Experiment
    from ragkit.indexing.progress import Progress, Reporter

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
class Wanted:
    """Which questions are to be asked, and of what."""

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
        """The settings that hold."""
        return load_settings(library=self.library, collection=self.collection)


@dataclass(frozen=True, slots=True)
class Opened:
    """What is ready to be asked; ``plain`` is the same set with only its texts indexed."""

    experiment: Experiment
    plain: Experiment | None
    library: Library | None


@contextmanager
def reporting() -> Iterator[Reporter]:
    """A reporter that draws a bar on the terminal."""
    from ragkit.indexing.progress import Reporter

    with console.progress_bar() as watch:

        def tell(progress: Progress) -> bool:
            watch(progress)
            return True

        yield Reporter(tell)


@contextmanager
def opened(wanted: Wanted, reporter: Reporter, *, plain: bool = False) -> Iterator[Opened]:
    """Open the library that is asked, or index a published set into a temporary one."""
    if wanted.corpus is not None:
        with _published(wanted, wanted.corpus, reporter, plain=plain) as found:
            yield found
        return
    for name in ("contexts", "questions", "qrels", "rows"):
        if getattr(wanted, name) is not None:
            raise SettingsError(f"--{name} goes with --corpus.", "Name a published set as well.")
    library = open_library(wanted.library, wanted.collection)
    experiment = library.experiment(library.settings.collection, wanted.question_set)
    if wanted.limit is not None:
        experiment = replace(experiment, questions=experiment.questions[: wanted.limit])
    yield Opened(experiment, None, library)


@contextmanager
def _published(
    wanted: Wanted, corpus: Path, reporter: Reporter, *, plain: bool
) -> Iterator[Opened]:
    from ragkit.evaluation.corpus import load_question_set
    from ragkit.evaluation.ephemeral_library import RowsAs, load_contexts
    from ragkit.evaluation.experiments import ephemeral_experiment

    questions = load_question_set(corpus, wanted.questions, wanted.qrels, wanted.limit)
    contexts = load_contexts(wanted.contexts, questions.rows) if wanted.contexts else None
    usual = RowsAs.APART if contexts else RowsAs.JOINED
    if wanted.rows not in (None, *RowsAs):
        raise SettingsError(f"--rows {wanted.rows} is neither joined nor apart.", "Choose one.")
    how: dict[str, Any] = {
        "whole_rows": wanted.whole_rows or contexts is not None,
        "rows_as": RowsAs(wanted.rows) if wanted.rows else usual,
    }
    settings = wanted.settings
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
        yield Opened(experiment, texts, None)


def base_options(wanted: Wanted, found: Opened, **changes: Any) -> SearchOptions:
    """What the settings, or the collection that is asked, say of searching; with changes."""
    if found.library is not None:
        return found.library.options(**changes)
    return wanted.settings.search.options(**changes)
