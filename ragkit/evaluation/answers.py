"""Answers measured: whether they rest on what is right, and are silent where nothing is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ragkit.answers import AnswerState, Check, Source, WrittenAnswer
from ragkit.errors import EvaluationError, QueryError
from ragkit.evaluation.corpus import Question
from ragkit.indexing.progress import JobCancelled, Reporter
from ragkit.options.filters import NO_FILTERS, Filters
from ragkit.results import Answer

Ask = Callable[[str, Filters], Answer]
Quick = Callable[[Answer], tuple[Source, ...]]
Write = Callable[[str, Answer], Iterable[WrittenAnswer]]


@dataclass(frozen=True, slots=True)
class AnswerQuestion:
    """A question with the places that answer it: slices by a document's path, or all of it.

    ``places`` holds no slices for a document that is right as a whole. It is empty where it is
    known that nothing answers. It is asked under ``filters``.
    """

    text: str
    places: Mapping[str, Sequence[tuple[int, int]]]
    filters: Filters = NO_FILTERS

    @property
    def marked(self) -> bool:
        """Whether slices are known."""
        return any(self.places.values())

    def is_met_by(self, source: Source) -> bool:
        """Return whether a sentence shares text with a right slice."""
        spans = self.places.get(source.document.path, ()) if source.document else ()
        return any(start < source.end and source.start < end for start, end in spans)


def answer_questions(
    answered: Iterable[tuple[Question, Mapping[str, Sequence[tuple[int, int]]]]],
    unanswerable: Iterable[Question],
) -> tuple[AnswerQuestion, ...]:
    """Return questions with the places that answer them, then those that nothing answers."""
    with_places = (AnswerQuestion(one.text, at, one.filters) for one, at in answered if at)
    return (
        *with_places,
        *(AnswerQuestion(question.text, {}, question.filters) for question in unanswerable),
    )


def first_questions(questions: Sequence[AnswerQuestion], count: int) -> tuple[AnswerQuestion, ...]:
    """Return the first ``count`` questions with an answer, and as many without."""
    answered = [question for question in questions if question.places][:count]
    return (*answered, *[question for question in questions if not question.places][:count])


@dataclass(frozen=True, slots=True)
class Share:
    """A count out of a total."""

    count: int = 0
    of: int = 0

    @property
    def value(self) -> float | None:
        """The share, from 0 to 1; ``None`` of none."""
        return self.count / self.of if self.of else None

    def and_(self, held: bool) -> Share:
        """Return the share with one more."""
        return Share(self.count + held, self.of + 1)


@dataclass(slots=True)
class Figures:
    """What holds of the answers of one kind.

    ``first`` and ``three`` are questions with a marked place that the first sentence, or one of
    the first three, shares text with; of a written answer those that it cites. ``document``
    counts questions whose first sentence is of a right document. ``silent`` and ``refused`` are
    questions without an answer, of those that have one and of those that have none. ``exact`` are
    sentences that stand in the stored text just as they are shown.
    """

    first: Share = field(default_factory=Share)
    three: Share = field(default_factory=Share)
    document: Share = field(default_factory=Share)
    silent: Share = field(default_factory=Share)
    refused: Share = field(default_factory=Share)
    exact: Share = field(default_factory=Share)

    def add(self, question: AnswerQuestion, sources: Sequence[Source], texts: _Texts) -> None:
        """Count the answer to one question; no sources are silence."""
        for source in sources:
            self.exact = self.exact.and_(texts.hold(source))
        if not question.places:
            self.refused = self.refused.and_(not sources)
            return
        self.silent = self.silent.and_(not sources)
        paths = [source.document.path for source in sources[:1] if source.document]
        self.document = self.document.and_(any(path in question.places for path in paths))
        if question.marked:
            self.first = self.first.and_(any(map(question.is_met_by, sources[:1])))
            self.three = self.three.and_(any(map(question.is_met_by, sources[:3])))


@dataclass(slots=True)
class Written(Figures):
    """What holds of the answers that ``model`` wrote.

    ``holding`` are sentences with a source and without a finding against them, ``findings`` the
    findings by their kind. ``dropped`` counts citations of numbers that were never given, and
    ``failed`` questions without a whole answer; ``failure`` says why the last one has none.
    """

    model: str = ""
    holding: Share = field(default_factory=Share)
    findings: Counter[str] = field(default_factory=Counter)
    dropped: int = 0
    failed: int = 0
    failure: str = ""

    def add_written(self, question: AnswerQuestion, written: WrittenAnswer, texts: _Texts) -> None:
        """Count one written answer."""
        if written.state is not AnswerState.DONE:
            self.failed += 1
            self.failure = written.failure or self.failure
            return
        self.add(question, () if written.not_found else written.sources, texts)
        self.dropped += written.dropped
        for sentence in written.sentences:
            self.holding = self.holding.and_(sentence.holds)
            against: Iterable[Check] = (check for check in sentence.checks if not check.holds)
            self.findings.update(str(check.kind) for check in against)


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """The figures of a question set; ``written`` is ``None`` where no model was asked."""

    name: str
    questions: int
    unanswerable: int
    quick: Figures
    written: Written | None = None
    notices: tuple[str, ...] = ()
    partial: bool = False


class _Texts:
    """The stored texts of documents, read once each."""

    def __init__(self, read: Callable[[int], str]) -> None:
        self._read = read
        self._known: dict[int, str] = {}

    def hold(self, source: Source) -> bool:
        """Return whether a sentence is the slice that it says it is."""
        if source.document is None:
            return bool(source.url)
        number = source.document.id
        if number not in self._known:
            self._known[number] = self._read(number)
        return self._known[number][source.start : source.end] == source.text


def measure_answers(
    name: str,
    questions: Sequence[AnswerQuestion],
    ask: Ask,
    quick: Quick,
    read: Callable[[int], str],
    *,
    write: Write | None = None,
    model: str = "",
    reporter: Reporter | None = None,
) -> AnswerFigures:
    """Answer every question and count what holds; ``read`` returns a document's stored text.

    When it is cancelled through the reporter or by Ctrl-C, the figures are of what was asked.

    Raises:
        EvaluationError: there is no question.
        JobCancelled: it was cancelled before the first answer.
    """
    if not questions:
        raise EvaluationError("There is no question to answer.", "Choose another set.")
    reporter = reporter or Reporter()
    figures, texts = Figures(), _Texts(read)
    written = Written(model=model) if write is not None else None
    asked: list[AnswerQuestion] = []
    unread = 0
    try:
        reporter.start("Answering", len(questions))
        for question in questions:
            try:
                answer = ask(question.text, question.filters)
            except QueryError:
                unread += 1
                continue
            figures.add(question, quick(answer), texts)
            if write is not None and written is not None:
                *_, last = write(question.text, answer)
                written.add_written(question, last, texts)
            asked.append(question)
            reporter.step(question.text[:60])
    except (JobCancelled, KeyboardInterrupt):
        if not asked:
            raise
    missing = len(questions) - len(asked) - unread
    notices = [f"{unread} questions have an invalid filter and were not asked."] if unread else []
    if missing:
        notices.append(f"Stopped after {len(asked)} of {len(questions)} questions.")
    empty = sum(not question.places for question in asked)
    return AnswerFigures(name, len(asked), empty, figures, written, tuple(notices), missing > 0)
