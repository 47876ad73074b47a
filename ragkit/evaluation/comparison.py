"""Compares the answers to one question with several search configurations."""

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
"""The p of rank-biased overlap, with which the first ten ranks have 86 % of the weight."""

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
    """A change of rank; ``steps`` is the number of ranks up or down, otherwise 0."""

    change: RankChange
    steps: int = 0


@dataclass(frozen=True, slots=True)
class RankedResult:
    """One result in a column. ``rank`` counts from 1; ``only``: no other column has the document.

    Further results of the same document in the column have the movement ``AGAIN``.
    """

    rank: int
    result: Result
    movement: Movement
    only: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """The results of one search configuration, compared with the first column.

    ``gone`` holds documents of the first column that are missing here. ``overlap`` and ``rbo``,
    from 0 to 1, measure the agreement with the first column. ``problem`` says why it is empty.
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
    """Columns side by side; ``shared`` are ids of documents in several columns, in order."""

    question: str
    columns: tuple[Column, ...]
    shared: tuple[int, ...]
    depth: int


class ComparisonTarget(Protocol):
    """A library, as far as comparisons need it."""

    def services(self, name: str) -> SearchTarget:
        """Return the search services for an embedder that has vectors of all texts."""
        ...


def compare(
    library: ComparisonTarget, question: str, columns: Sequence[SearchConfig]
) -> Comparison:
    """Ask a question with two to four search configurations.

    A failing column says why; the others are not affected.

    Raises:
        EvaluationError: there are too few or too many columns.
        QueryError: the question has an invalid filter.
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
    # Each search runs once before it is timed: the first column would pay for opening indexes and
    # tokenising texts. One more candidate avoids the answer cache. No model is asked twice.
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
    """Ask a question with a search configuration.

    Raises:
        QueryError: the question has an invalid filter.
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
    """Return the share of the first ``depth`` items that both have, in any order.

    If both lists are shorter, the length of the longer one is the depth. Two empty lists agree.
    """
    first, second = set(left[:depth]), set(right[:depth])
    most = max(len(first), len(second))
    return len(first & second) / most if most else 1.0


def rank_biased_overlap(left: Sequence[T], right: Sequence[T], p: float = PERSISTENCE) -> float:
    """Return the agreement of two rankings of distinct items, weighted by rank; 1: equal.

    Extrapolated RBO, equation 32 of Webber, Moffat and Zobel, "A similarity measure for indefinite
    rankings", ACM Transactions on Information Systems 28 (4), 2010. With the shorter list's length
    s, the longer one's l, and X_d items shared by the first d of both::

        RBO = (1 - p) / p * (sum over d = 1..l of X_d / d * p^d
                             + sum over d = s+1..l of X_s * (d - s) / (s * d) * p^d)
              + ((X_l - X_s) / l + X_s / s) * p^l

    Two empty lists agree completely, an empty one and another not at all.
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
    """Return for each item of a ranking how it moved compared with a reference ranking."""
    before = {document: rank for rank, document in enumerate(_once(reference))}
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
