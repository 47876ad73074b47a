"""Figures of answers: right places, silence, sentences that stand as shown, findings."""

from __future__ import annotations

import pytest

from ragkit.answers import (
    AnswerSentence,
    AnswerState,
    Check,
    CheckKind,
    Source,
    WrittenAnswer,
)
from ragkit.errors import EvaluationError, QueryError
from ragkit.evaluation.answers import AnswerQuestion, Share, measure_answers
from ragkit.options import Filters
from ragkit.results import Answer, DocumentRef
from ragkit.traces import Trace

TEXT = "The berth costs 240 euros. The crane is free. The gate opens at seven."
MARKED = AnswerQuestion("berth?", {"a.md": [(0, 26)]})
WHOLE = AnswerQuestion("harbour?", {"a.md": []})
NOTHING = AnswerQuestion("moon?", {})


def _source(words: str, *, path: str = "a.md", shift: int = 0) -> Source:
    start = TEXT.index(words) + shift
    document = DocumentRef(1, path, "a", "default", "markdown", 0, 1, path)
    return Source(words, start, start + len(words), document)


BERTH, CRANE, GATE = (
    _source(words)
    for words in ("The berth costs 240 euros.", "The crane is free.", "The gate opens at seven.")
)


def _ask(question: str, filters: Filters | None = None) -> Answer:
    return Answer(question, (), Trace())


def _figures(questions, quick, write=None):
    return measure_answers(
        "set", questions, _ask, lambda answer: quick[answer.query], lambda _: TEXT, write=write
    )


def test_the_first_sentences_are_held_against_the_right_places():
    quick = {"berth?": (CRANE, GATE, BERTH), "harbour?": (GATE,), "moon?": ()}
    figures = _figures([MARKED, WHOLE, NOTHING], quick)
    assert (figures.questions, figures.unanswerable) == (3, 1)
    assert (figures.quick.first, figures.quick.three) == (Share(0, 1), Share(1, 1))
    assert figures.quick.document == Share(2, 2)
    assert (figures.quick.silent, figures.quick.refused) == (Share(0, 2), Share(1, 1))
    assert figures.quick.exact == Share(4, 4)
    assert figures.written is None


def test_silence_and_other_documents_count_against_it():
    quick = {"berth?": (), "harbour?": (_source("The crane is free.", path="b.md"),)}
    figures = _figures([MARKED, WHOLE], quick).quick
    assert (figures.first, figures.three, figures.document) == (
        Share(0, 1),
        Share(0, 1),
        Share(0, 2),
    )
    assert figures.silent == Share(1, 2)
    assert (figures.refused, figures.refused.value) == (Share(0, 0), None)


def test_a_sentence_that_is_no_slice_of_the_text_is_counted():
    quick = {"berth?": (_source("The berth costs 240 euros.", shift=2),)}
    assert _figures([MARKED], quick).quick.exact == Share(0, 1)


def test_written_answers_are_counted_with_their_findings():
    doubt = Check(CheckKind.NOT_IN_SOURCE, "45")
    sentences = (
        AnswerSentence("240 euros.", (1,)),
        AnswerSentence("Or 45.", (1,), (doubt,)),
        AnswerSentence("Perhaps.", (), (Check(CheckKind.NO_SOURCE),)),
    )
    done = WrittenAnswer("berth?", "m", AnswerState.DONE, sentences, (BERTH,), dropped=2)
    ends = {
        "berth?": done,
        "harbour?": WrittenAnswer("harbour?", "m", AnswerState.FAILED, failure="It broke off."),
        "moon?": WrittenAnswer("moon?", "m", AnswerState.DONE, not_found=True),
    }

    def write(question, answer):
        assert answer.query == question
        return iter([WrittenAnswer(question), ends[question]])

    quick = dict.fromkeys(ends, ())
    written = _figures([MARKED, WHOLE, NOTHING], quick, write).written
    assert (written.first, written.three, written.exact) == (Share(1, 1), Share(1, 1), Share(1, 1))
    assert (written.silent, written.refused) == (Share(0, 1), Share(1, 1))
    assert (written.holding, written.dropped) == (Share(1, 3), 2)
    assert written.findings == {"not_in_source": 1, "no_source": 1}
    assert (written.failed, written.failure) == (1, "It broke off.")


def test_questions_that_cannot_be_asked_are_told_and_stopping_keeps_the_rest():
    def ask(question, filters):
        if question == "harbour?":
            raise QueryError("No such date.")
        if question == "moon?":
            raise KeyboardInterrupt
        return _ask(question)

    figures = measure_answers(
        "set", [MARKED, WHOLE, NOTHING], ask, lambda _: (BERTH,), lambda _: TEXT
    )
    assert (figures.questions, figures.partial) == (1, True)
    assert figures.notices == (
        "1 questions have an invalid filter and were not asked.",
        "Stopped after 1 of 3 questions.",
    )
    with pytest.raises(EvaluationError, match="no questions to answer"):
        measure_answers("set", [], ask, lambda _: (), lambda _: TEXT)
