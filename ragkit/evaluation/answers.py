"""Measures answers: whether they rest on right places, and are silent if there are none."""

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
    """A question with the places that answer it: spans by document path.

    ``places`` has no spans for a document that is right as a whole, and is empty if it is known
    that nothing answers the question. It is asked under ``filters``.
    """

    text: str
    places: Mapping[str, Sequence[tuple[int, int]]]
    filters: Filters = NO_FILTERS

    @property
    def marked(self) -> bool:
        """Whether any span is known."""
        return any(self.places.values())

    def is_met_by(self, source: Source) -> bool:
        """Return whether a cited sentence overlaps a right span."""
        spans = self.places.get(source.document.path, ()) if source.document else ()
        return any(start < source.end and source.start < end for start, end in spans)


def answer_questions(
    answered: Iterable[tuple[Question, Mapping[str, Sequence[tuple[int, int]]]]],
    unanswerable: Iterable[Question],
) -> tuple[AnswerQuestion, ...]:
    """Return questions with the places that answer them, then the unanswerable ones."""
    return (
        *(AnswerQuestion(question.text, at, question.filters) for question, at in answered if at),
        *(AnswerQuestion(question.text, {}, question.filters) for question in unanswerable),
    )


def first_questions(questions: Sequence[AnswerQuestion], count: int) -> tuple[AnswerQuestion, ...]:
    """Return the first ``count`` answerable questions, and the first ``count`` others."""
    answered = [question for question in questions if question.places][:count]
    return (*answered, *[question for question in questions if not question.places][:count])


@dataclass(frozen=True, slots=True)
class Share:
    """A count out of a total."""

    count: int = 0
    of: int = 0

    @property
    def value(self) -> float | None:
        """The share from 0 to 1; ``None`` of an empty total."""
        return self.count / self.of if self.of else None

    def and_(self, held: bool) -> Share:
        """Return the share with one more case, which counts if ``held``."""
        return Share(self.count + held, self.of + 1)


@dataclass(slots=True)
class Figures:
    """Figures of one kind of answers.

    Of questions with right spans, ``first`` counts those whose first sentence overlaps one, and
    ``three`` those of whose first three sentences one does (of a written answer, the sentences that
    it cites). ``document`` counts questions whose first sentence is from a right document.
    ``silent`` and ``refused`` count empty answers to answerable and to unanswerable questions.
    ``exact`` counts sentences that are in the stored text exactly as shown.
    """

    first: Share = field(default_factory=Share)
    three: Share = field(default_factory=Share)
    document: Share = field(default_factory=Share)
    silent: Share = field(default_factory=Share)
    refused: Share = field(default_factory=Share)
    exact: Share = field(default_factory=Share)

    def add(self, question: AnswerQuestion, sources: Sequence[Source], texts: _Texts) -> None:
        """Count the answer to one question; without sources it is empty."""
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
    """Figures of the answers that ``model`` wrote.

    ``holding`` counts sentences with a source and without a failed check, ``findings`` the failed
    checks by kind, ``dropped`` citations of numbers that do not exist, and ``failed`` questions
    without a complete answer; ``failure`` is the last reason.
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
    """The figures of a question set; ``written`` is ``None`` if no model was asked."""

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
        self._texts: dict[int, str] = {}

    def hold(self, source: Source) -> bool:
        """Return whether a sentence equals its span of the stored text."""
        if source.document is None:
            return bool(source.url)
        number = source.document.id
        if number not in self._texts:
            self._texts[number] = self._read(number)
        return self._texts[number][source.start : source.end] == source.text


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
    """Answer every question and measure the answers; ``read`` returns a document's stored text.

    After a cancellation through the reporter or by Ctrl-C, the figures are of the questions so far.

    Raises:
        EvaluationError: there are no questions.
        JobCancelled: it was cancelled before the first answer.
    """
    if not questions:
        raise EvaluationError("There are no questions to answer.", "Choose another set.")
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
