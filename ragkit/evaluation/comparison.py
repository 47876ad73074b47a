"""Comparison: one question asked with several settings, and how the rankings differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Protocol, TypeVar

from ragkit.errors import EvaluationError, NotFoundError, QueryError, RagkitError
from ragkit.evaluation.search_config import FEWEST, MOST, SearchConfig, names
from ragkit.options import ChunkedOptions, Phrasings, Rerank
from ragkit.results import Answer, DocumentRef, PhrasingOutcome, RerankOutcome, Result
from ragkit.retrieval.multi_query import ChunkedSearch, SearchTarget
from ragkit.retrieval.search import SearchEngine
from ragkit.traces import Trace

PERSISTENCE = 0.9
"""The p of rank-biased overlap: the first ten ranks then hold 86 % of the weight."""

T = TypeVar("T", bound=Hashable)


class RankChange(StrEnum):
    """How a document's rank compares with the first column."""

    FIRST = "first"
    SAME = "same"
    UP = "up"
    DOWN = "down"
    NEW = "new"
    AGAIN = "again"


@dataclass(frozen=True, slots=True)
class Movement:
    """A change of rank; ``steps`` is how many ranks up or down, 0 for the others."""

    change: RankChange
    steps: int = 0


@dataclass(frozen=True, slots=True)
class RankedResult:
    """One result in a column. ``rank`` counts from 1; ``only``: no other column has it.

    A document's further results in the same column are ``AGAIN``.
    """

    rank: int
    result: Result
    movement: Movement
    only: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """The results of one search configuration, compared with the first column.

    ``gone`` are documents of the first column that are missing here. ``overlap`` and ``rbo`` lie
    between 0 and 1 and compare with the first column. ``problem`` says why nothing was asked.
    """

    settings: SearchConfig
    name: str
    results: tuple[RankedResult, ...] = ()
    gone: tuple[DocumentRef, ...] = ()
    overlap: float = 1.0
    rbo: float = 1.0
    trace: Trace = field(default_factory=Trace)
    notices: tuple[str, ...] = ()
    problem: str = ""
    rerank: RerankOutcome | None = None
    phrasings: PhrasingOutcome | None = None

    @property
    def ms(self) -> float:
        """The time of all stages, in milliseconds."""
        return self.trace.ms


@dataclass(frozen=True, slots=True)
class Comparison:
    """Columns side by side. ``shared`` are documents of several columns, as they first appear."""

    question: str
    columns: tuple[Column, ...]
    shared: tuple[int, ...]
    depth: int


class ComparisonTarget(Protocol):
    """What comparisons are asked of: a library."""

    def services(self, name: str) -> SearchTarget:
        """Return what searches with an embedder; one that is not active needs all vectors."""
        ...


def compare(
    library: ComparisonTarget, question: str, columns: Sequence[SearchConfig]
) -> Comparison:
    """Ask a question with two to four search configurations.

    A column that cannot be asked says why; the others are asked nevertheless.

    Raises:
        EvaluationError: too few or too many columns.
        QueryError: the question holds an invalid filter.
        NotFoundError: there is no such collection.
    """
    if not FEWEST <= len(columns) <= MOST:
        raise EvaluationError(
            f"{len(columns)} settings cannot be compared.", "Choose two, three or four."
        )
    engines: dict[str, SearchEngine | RagkitError] = {}
    for embedder in dict.fromkeys(column.embedder for column in columns):
        try:
            engines[embedder] = library.services(embedder).engine
        except RagkitError as error:
            engines[embedder] = error
    # All is asked once before it is timed: the first column would pay for opening indexes, and for
    # the words of texts that others show as well. One more candidate keeps the search out of the
    # answer cache. No model is asked twice.
    warming = [
        SearchConfig(
            replace(
                column.options,
                rerank=Rerank.NONE,
                phrasings=Phrasings.NONE,
                candidates=column.options.candidates + 1,
            ),
            embedder=column.embedder,
        )
        for column in columns
    ]
    for column in dict.fromkeys(warming):
        _answer(engines[column.embedder], question, column)
    answers = [_answer(engines[column.embedder], question, column) for column in columns]
    return aligned(question, columns, answers)


def _answer(
    engine: SearchEngine | RagkitError, question: str, column: SearchConfig
) -> Answer | RagkitError:
    """Return a column's answer, or why there is none."""
    if isinstance(engine, RagkitError):
        return engine
    try:
        return ask(engine, question, column)
    except (NotFoundError, QueryError):
        raise
    except RagkitError as error:
        return error


def ask(engine: SearchEngine, question: str, column: SearchConfig) -> Answer:
    """Ask a question with a column's settings.

    Raises:
        QueryError: the question holds an invalid filter.
        NotFoundError: there is no such collection.
    """
    if not column.chunked:
        return engine.search(question, column.options)
    chunked = ChunkedOptions(limit=max(column.options.limit, column.options.judged_depth or 0))
    answer = ChunkedSearch(engine).search(question, column.options, chunked)
    results = tuple(merged.result for merged in answer.results)
    notices = (answer.summary, *answer.notices)
    return Answer(question, results, answer.trace, notices, answer.rerank)


def aligned(
    question: str, columns: Sequence[SearchConfig], answers: Sequence[Answer | RagkitError]
) -> Comparison:
    """Align the answers of several search configurations by document."""
    results = [answer.results if isinstance(answer, Answer) else () for answer in answers]
    rankings = [[result.document.id for result in listed] for listed in results]
    column_counts = counts_of(rankings)
    depth = max((column.options.limit for column in columns), default=10)
    made: list[Column] = []
    for settings, name, answer, listed, documents in zip(
        columns, names(columns), answers, results, rankings, strict=True
    ):
        if isinstance(answer, RagkitError):
            made.append(Column(settings, name, overlap=0.0, rbo=0.0, problem=str(answer)))
            continue
        moves = movements(documents, rankings[0], reference_itself=not made)
        ranked = tuple(
            RankedResult(rank, result, move, column_counts[result.document.id] == 1)
            for rank, (result, move) in enumerate(zip(listed, moves, strict=True), start=1)
        )
        gone = {result.document.id: result.document for result in results[0]}
        for document in documents:
            gone.pop(document, None)
        made.append(
            Column(
                settings,
                name,
                ranked,
                tuple(gone.values()),
                overlap(rankings[0], documents, depth),
                rank_biased_overlap(_once(rankings[0]), _once(documents)),
                answer.trace,
                (*answer.understood, *answer.notices),
                rerank=answer.rerank,
                phrasings=answer.phrasings,
            )
        )
    shared = tuple(document for document, count in column_counts.items() if count > 1)
    return Comparison(question, tuple(made), shared, depth)


# -- agreement -----------------------------------------------------------------------------------


def overlap(left: Sequence[T], right: Sequence[T], depth: int) -> float:
    """Return which share of the first ``depth`` is the same in both, in any order.

    Where both lists are shorter, the longer one's length counts as the depth; two empty lists
    agree wholly.
    """
    first, second = set(left[:depth]), set(right[:depth])
    most = max(len(first), len(second))
    return len(first & second) / most if most else 1.0


def rank_biased_overlap(left: Sequence[T], right: Sequence[T], p: float = PERSISTENCE) -> float:
    """Compare two rankings of distinct items, the first ranks counting most; 1: the same.

    Extrapolated RBO, equation 32 of Webber, Moffat and Zobel, "A similarity measure for indefinite
    rankings", ACM Transactions on Information Systems 28 (4), 2010. With the shorter list's length
    s, the longer one's l, and X_d items shared by the first d of both::

        RBO = (1 - p) / p * (sum over d = 1..l of X_d / d * p^d
                             + sum over d = s+1..l of X_s * (d - s) / (s * d) * p^d)
              + ((X_l - X_s) / l + X_s / s) * p^l

    Two empty lists agree wholly, an empty one and another not at all.
    """
    short, long_ = sorted((left, right), key=len)
    s, longest = len(short), len(long_)
    if s == 0:
        return 1.0 if longest == 0 else 0.0
    shared = [len({*short[:d]} & {*long_[:d]}) for d in range(1, longest + 1)]
    x_s, x_l = shared[s - 1], shared[-1]
    total = sum(x / d * p**d for d, x in enumerate(shared, start=1))
    total += sum(x_s * (d - s) / (s * d) * p**d for d in range(s + 1, longest + 1))
    return min(1.0, (1 - p) / p * total + ((x_l - x_s) / longest + x_s / s) * p**longest)


def movements(
    documents: Sequence[T],
    reference: Sequence[T],
    *,
    reference_itself: bool = False,
) -> list[Movement]:
    """Return for each place of a ranking how it moved against another ranking."""
    before = {document: rank for rank, document in reversed(list(enumerate(_once(reference))))}
    moves: list[Movement] = []
    seen: set[T] = set()
    for document in documents:
        if document in seen:
            moves.append(Movement(RankChange.AGAIN))
            continue
        rank = len(seen)
        seen.add(document)
        if reference_itself:
            moves.append(Movement(RankChange.FIRST))
        elif document not in before:
            moves.append(Movement(RankChange.NEW))
        else:
            steps = before[document] - rank
            change = RankChange.UP if steps > 0 else RankChange.DOWN
            moves.append(Movement(change if steps else RankChange.SAME, abs(steps)))
    return moves


def counts_of(rankings: Sequence[Sequence[T]]) -> dict[T, int]:
    """Count how many of the rankings hold each item, in order of first appearance."""
    return dict(Counter(item for ranking in rankings for item in _once(ranking)))


def _once(items: Sequence[T]) -> list[T]:
    return list(dict.fromkeys(items))
