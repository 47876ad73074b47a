"""Comparing: one question asked with several settings, and what differs between the rankings.

Everything but :func:`compare` is a pure function over values.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Protocol, TypeVar

from ragkit.errors import EvaluationError, NotFoundError, QueryError, RagkitError
from ragkit.evaluation.search_config import FEWEST, MOST, ColumnSettings, names
from ragkit.models.base import Embedder
from ragkit.options import ChunkedOptions, Rerank
from ragkit.results import Answer, DocumentRef, RerankOutcome, Result, Stage
from ragkit.retrieval.multi_query import ChunkedSearch
from ragkit.retrieval.search import Engine

PERSISTENCE = 0.9
"""The p of rank-biased overlap: the first ten ranks then hold 86 % of the weight."""

T = TypeVar("T", bound=Hashable)


class Change(StrEnum):
    """How a document stands against the first column."""

    FIRST = "first"
    SAME = "same"
    UP = "up"
    DOWN = "down"
    NEW = "new"
    AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Movement:
    """A change of rank; ``steps`` is how many ranks up or down, 0 for the others."""

    change: Change
    steps: int = 0


@dataclass(frozen=True, slots=True)
class Cell:
    """One result in a column. ``rank`` counts from 1; ``only`` says no other column has it.

    A document's further results in the same column are ``AGAIN``.
    """

    rank: int
    result: Result
    movement: Movement
    only: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """What one setting found, against the first column.

    ``gone`` are documents of the first column that this one lacks. ``overlap`` and ``rbo`` lie
    between 0 and 1 and compare with the first column. ``problem`` says why nothing was asked.
    """

    settings: ColumnSettings
    name: str
    cells: tuple[Cell, ...] = ()
    gone: tuple[DocumentRef, ...] = ()
    overlap: float = 1.0
    rbo: float = 1.0
    stages: tuple[Stage, ...] = ()
    notices: tuple[str, ...] = ()
    problem: str = ""
    rerank: RerankOutcome | None = None

    @property
    def ms(self) -> float:
        """The time of all stages, in milliseconds."""
        return sum(stage.ms for stage in self.stages)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Columns side by side. ``shared`` are documents of several columns, as they first appear."""

    question: str
    columns: tuple[Column, ...]
    shared: tuple[int, ...]
    depth: int


class Searchable(Protocol):
    """What can be asked: a library, or the kit of one of its embedders."""

    @property
    def engine(self) -> Engine:
        """What answers questions."""
        ...

    @property
    def embedder(self) -> Embedder:
        """What turns text into vectors."""
        ...


class Comparable(Searchable, Protocol):
    """What can be compared: a library."""

    def kit_of(self, name: str) -> Searchable:
        """What is asked for a column; a name other than the usual embedder's needs its vectors."""
        ...


def compare(library: Comparable, question: str, columns: Sequence[ColumnSettings]) -> Comparison:
    """Ask a question with two to four settings.

    A column that cannot be asked says why; the others are asked all the same.

    Raises:
        EvaluationError: too few or too many columns.
        QueryError: a filter in the question makes no sense.
        NotFoundError: a collection is not there.
    """
    if not FEWEST <= len(columns) <= MOST:
        raise EvaluationError(
            f"{len(columns)} settings cannot be compared.", "Name two, three or four."
        )
    kits = {name: _kit(library, name) for name in dict.fromkeys(one.embedder for one in columns)}
    _warm_up(kits, question, columns)
    answers: list[Answer | RagkitError] = []
    for one in columns:
        kit = kits[one.embedder]
        if isinstance(kit, RagkitError):
            answers.append(kit)
            continue
        try:
            answers.append(ask(kit, question, one))
        except (NotFoundError, QueryError):
            raise
        except RagkitError as error:
            answers.append(error)
    return aligned(question, columns, answers)


def aligned(
    question: str, columns: Sequence[ColumnSettings], answers: Sequence[Answer | RagkitError]
) -> Comparison:
    """Join what several settings found by document."""
    results = [one.results if isinstance(one, Answer) else () for one in answers]
    ranked = [[result.document.id for result in found] for found in results]
    found_by = counts_of(ranked)
    depth = max((one.options.limit for one in columns), default=10)
    made = []
    for settings, name, answer, found, documents in zip(
        columns, names(columns), answers, results, ranked, strict=True
    ):
        if isinstance(answer, RagkitError):
            made.append(Column(settings, name, overlap=0.0, rbo=0.0, problem=str(answer)))
            continue
        moves = movements(documents, ranked[0], reference_itself=not made)
        cells = tuple(
            Cell(rank, result, move, found_by[result.document.id] == 1)
            for rank, (result, move) in enumerate(zip(found, moves, strict=True), start=1)
        )
        gone = {one.document.id: one.document for one in results[0]}
        for document in documents:
            gone.pop(document, None)
        made.append(
            Column(
                settings,
                name,
                cells,
                tuple(gone.values()),
                overlap(ranked[0], documents, depth),
                rank_biased_overlap(_once(ranked[0]), _once(documents)),
                answer.trace.stages,
                answer.notices,
                rerank=answer.rerank,
            )
        )
    shared = tuple(
        one for one in _once([one for found in ranked for one in found]) if found_by[one] > 1
    )
    return Comparison(question, tuple(made), shared, depth)


# -- agreement -----------------------------------------------------------------------------------


def overlap(one: Sequence[T], other: Sequence[T], depth: int) -> float:
    """Give which share of the first ``depth`` is the same in both, whatever the order.

    Where both lists are shorter, the longer one's length counts as the depth; two empty lists
    agree wholly.
    """
    left, right = set(one[:depth]), set(other[:depth])
    most = max(len(left), len(right))
    return len(left & right) / most if most else 1.0


def rank_biased_overlap(one: Sequence[T], other: Sequence[T], p: float = PERSISTENCE) -> float:
    """Compare two rankings of distinct items, the first ranks counting most; 1: the same.

    Extrapolated RBO, equation 32 of Webber, Moffat and Zobel, "A similarity measure for indefinite
    rankings", ACM Transactions on Information Systems 28 (4), 2010. With the shorter list's length
    s, the longer one's l, and X_d items shared by the first d of both::

        RBO = (1 - p) / p * (sum over d = 1..l of X_d / d * p^d
                             + sum over d = s+1..l of X_s * (d - s) / (s * d) * p^d)
              + ((X_l - X_s) / l + X_s / s) * p^l

    Two empty lists agree wholly, an empty one and another not at all.
    """
    short, long_ = sorted((one, other), key=len)
    s, longest = len(short), len(long_)
    if s == 0:
        return 1.0 if longest == 0 else 0.0
    seen_short: set[T] = set()
    seen_long: set[T] = set()
    total, shared, shared_s = 0.0, 0, 0
    for d in range(1, longest + 1):
        new_long = long_[d - 1]
        seen_long.add(new_long)
        if d <= s:
            new_short = short[d - 1]
            seen_short.add(new_short)
            shared += (new_short in seen_long) + (new_long in seen_short)
            shared -= new_short == new_long
            shared_s = shared
        else:
            shared += new_long in seen_short
            total += shared_s * (d - s) / (s * d) * p**d
        total += shared / d * p**d
    rest = (shared - shared_s) / longest + shared_s / s
    return min(1.0, (1 - p) / p * total + rest * p**longest)


def movements(
    documents: Sequence[T],
    reference: Sequence[T],
    *,
    reference_itself: bool = False,
) -> list[Movement]:
    """Say of each place of a ranking how it stands against another ranking."""
    before = {document: rank for rank, document in reversed(list(enumerate(_once(reference))))}
    found: list[Movement] = []
    seen: set[T] = set()
    for document in documents:
        if document in seen:
            found.append(Movement(Change.AGAIN))
            continue
        rank = len(seen)
        seen.add(document)
        if reference_itself:
            found.append(Movement(Change.FIRST))
        elif document not in before:
            found.append(Movement(Change.NEW))
        else:
            steps = before[document] - rank
            change = Change.UP if steps > 0 else Change.DOWN if steps < 0 else Change.SAME
            found.append(Movement(change, abs(steps)))
    return found


def counts_of(rankings: Sequence[Sequence[T]]) -> dict[T, int]:
    """How many of the rankings hold each item."""
    counts: dict[T, int] = {}
    for ranking in rankings:
        for one in _once(ranking):
            counts[one] = counts.get(one, 0) + 1
    return counts


def _once(items: Sequence[T]) -> list[T]:
    return list(dict.fromkeys(items))


# -- asking --------------------------------------------------------------------------------------


def ask(library: Searchable, question: str, column: ColumnSettings) -> Answer:
    """Ask a question in a column's way.

    Raises:
        QueryError: a filter in the question makes no sense.
        NotFoundError: a collection is not there.
    """
    if not column.chunked:
        return library.engine.search(question, column.options)
    search = ChunkedSearch(library.engine, library.embedder)
    found = search.search(question, column.options, ChunkedOptions(limit=column.options.limit))
    results = tuple(one.result for one in found.results)
    notices = (found.summary, *found.notices)
    return Answer(question, results, found.trace, notices, found.rerank)


def _kit(library: Comparable, name: str) -> Searchable | RagkitError:
    """What is asked with an embedder, or why it cannot be; to know that, all texts are counted."""
    try:
        return library.kit_of(name)
    except RagkitError as error:
        return error


def _warm_up(
    kits: Mapping[str, Searchable | RagkitError], question: str, columns: Sequence[ColumnSettings]
) -> None:
    """Ask everything once before it is timed.

    The first column would pay for opening indexes, and for the words of texts that others show
    as well. One more candidate makes it a search that the engine does not remember. No model is
    asked twice for it.
    """
    ways = [(one.embedder, replace(one.options, rerank=Rerank.NONE)) for one in columns]
    for embedder, options in dict.fromkeys(ways):
        kit = kits[embedder]
        if isinstance(kit, RagkitError):
            continue
        try:
            kit.engine.search(question, replace(options, candidates=options.candidates + 1))
        except (NotFoundError, QueryError):
            raise
        except RagkitError:
            # The column says so when it is asked itself.
            continue
