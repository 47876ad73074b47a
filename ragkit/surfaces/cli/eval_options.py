"""Options of ``ragkit eval`` and ``ragkit ablate``: the questions, and the library they search."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ragkit.errors import NotFoundError, SettingsError
from ragkit.library import Library
from ragkit.options import SearchOptions
from ragkit.settings import load_settings
from ragkit.surfaces.cli.options import CollectionOption, LibraryOption

if TYPE_CHECKING:
    from ragkit.evaluation.experiments import Experiment
    from ragkit.indexing.progress import Reporter
    from ragkit.library.answers import AnswerService

SetOption = Annotated[
    str,
    typer.Option(
        "--set", metavar="NAME", help="A question set; by default the questions rated in the app."
    ),
]


@dataclass(frozen=True, slots=True)
class EvalRequest:
    """The questions to ask, and the library or published set to search.

    Each field is an option of the commands made by :func:`takes_request`.
    """

    corpus: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A published set, a folder in BEIR's layout.")
    ] = None
    contexts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Recorded contexts of its rows, {id, context, keywords, questions}.",
        ),
    ] = None
    question_set: SetOption = ""
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Another queries.jsonl.")
    ] = None
    qrels: Annotated[Path | None, typer.Option(metavar="FILE", help="Another qrels.tsv.")] = None
    limit: Annotated[
        int | None, typer.Option(min=1, help="Use only the first questions, up to this number.")
    ] = None
    whole_rows: Annotated[
        bool,
        typer.Option(
            "--whole-rows", help="Do not split rows: one chunk each. Implied by --contexts."
        ),
    ] = False
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="joined|apart",
            help="Rows with the same title: one document (default), or one each (with --contexts).",
        ),
    ] = None
    library: LibraryOption = None
    collection: CollectionOption = None

    def refuse_options_of_a_corpus(self, but: Sequence[str] = ()) -> None:
        """Check that no option was given that needs --corpus, except those in ``but``.

        Raises:
            SettingsError: one was given.
        """
        for name in ("contexts", "questions", "qrels", "rows"):
            if name not in but and getattr(self, name) is not None:
                raise SettingsError(
                    f"--{name} goes with --corpus.", "Name a published set as well."
                )


def refuse_unknown_set(library: Library, name: str) -> None:
    """Check that the collection of the settings has a question set, if one is named.

    Raises:
        NotFoundError: there is no such set, or no such collection.
    """
    collection = library.settings.collection
    if name and name not in (sets := library.judgments.sets(collection)):
        listed = ", ".join(f'"{each}"' for each in sets if each) or "none yet"
        raise NotFoundError(
            f'There is no question set "{name}" in {collection}.', f"Available: {listed}."
        )


def takes_request(command: Callable[..., None]) -> Callable[..., None]:
    """Return ``command(request, ...)`` with an option for each field of the request."""
    requested = inspect.signature(EvalRequest, eval_str=True).parameters
    _, *own = inspect.signature(command, eval_str=True).parameters.values()

    def run(**values: Any) -> None:
        request = EvalRequest(**{name: values.pop(name) for name in requested})
        command(request, **values)

    run.__doc__ = command.__doc__
    # typer derives the options from the signature.
    run.__signature__ = inspect.Signature([*requested.values(), *own])  # type: ignore[attr-defined]
    return run


@dataclass(frozen=True, slots=True)
class OpenExperiment:
    """An experiment that is ready; ``plain`` is the same set with only its texts indexed.

    ``library`` is the person's own, if that is searched. ``options`` returns the search options of
    the settings, or of the collection, with changes.
    """

    experiment: Experiment
    plain: Experiment | None
    library: Library | None
    answers: AnswerService
    options: Callable[..., SearchOptions]


@contextmanager
def open_experiment(
    request: EvalRequest, reporter: Reporter, *, plain: bool = False
) -> Iterator[OpenExperiment]:
    """Open the library to search, or index a published set into a temporary one."""
    settings = load_settings(library=request.library, collection=request.collection)
    if request.corpus is None:
        request.refuse_options_of_a_corpus()
        library = Library.open(settings)
        refuse_unknown_set(library, request.question_set)
        experiment = library.experiment(settings.collection, request.question_set)
        if request.limit is not None:
            experiment = experiment.first(request.limit)
        yield OpenExperiment(experiment, None, library, library.answers, library.options)
        return

    from ragkit.evaluation.corpus import load_question_set
    from ragkit.evaluation.experiments import ephemeral_experiment
    from ragkit.evaluation.recorded_contexts import load_contexts
    from ragkit.evaluation.row_documents import RowsAs
    from ragkit.library.answers import answers_of

    questions = load_question_set(request.corpus, request.questions, request.qrels, request.limit)
    contexts = load_contexts(request.contexts, questions.rows) if request.contexts else None
    rows = request.rows or (RowsAs.APART if contexts else RowsAs.JOINED)
    if rows not in [*RowsAs]:
        raise SettingsError(f"--rows {rows} is neither joined nor apart.", "Choose one.")
    how: dict[str, Any] = {
        "whole_rows": request.whole_rows or contexts is not None, "rows_as": RowsAs(rows),
    }  # fmt: skip
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ragkit-")))
        full = ephemeral_experiment(
            questions, settings, root / "library", reporter, contexts=contexts, **how
        )
        experiment = stack.enter_context(full)
        texts = None
        if plain and not questions.excerpts:
            bare = ephemeral_experiment(
                questions, settings, root / "texts", reporter, structural=False, **how
            )
            texts = stack.enter_context(bare)
        answers = answers_of(experiment, settings)
        yield OpenExperiment(experiment, texts, None, answers, settings.search.options)
