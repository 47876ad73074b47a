"""Answers as HTML: text is only ever text, links lead to sentences, checks have their words."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from running import html, run

from pages.parts.search.answer_html import as_text, quick, state_of, written
from pages.parts.search.long_question import coloured
from ragkit.answers import (
    AnswerSentence,
    AnswerState,
    Check,
    CheckKind,
    Source,
    WrittenAnswer,
)
from ragkit.results import DocumentRef
from ragkit.retrieval.multi_query import TopicAnswer
from ragkit.retrieval.query_segmentation.topics import Segment, Topic

HOSTILE = "<script>alert(1)</script> ![spy](http://spy.invalid/a.png) **bold** [x](javascript:y)"
PAPER = DocumentRef(7, "handbook/refunds.md", "Refund policy", "c", "markdown", 0, 3, "/f")
DAYS = Source("Paid **within** 30 days.", 40, 64, PAPER, ("Refund policy", "Window"), 3)
WEB = Source("Said there.", 0, 11, None, url="https://example.com/a", title="A page")
BASE = WrittenAnswer(
    "how long?", "llama", AnswerState.DONE,
    (
        AnswerSentence("It takes 45 days.", (1,), (Check(CheckKind.NOT_IN_SOURCE, "45"),)),
        AnswerSentence("It is paid.", (1, 2)),
        AnswerSentence("In cash.", (), (Check(CheckKind.NO_SOURCE),), block=1, item=True),
        AnswerSentence("By post.", (2,), (Check(CheckKind.SUPPORTED),), block=2, item=True),
    ),
    (DAYS, WEB), passages_read=6, passages_found=9, dropped=2, seconds=4.21,
)  # fmt: skip


def test_a_quick_answer_is_its_sentences_with_marks_and_links_to_their_places():
    assert quick((), "days") == ""
    shown = quick((DAYS,), "days")
    assert "Paid <strong>within</strong> 30 <mark>days</mark>." in shown
    assert 'href="document?id=7&amp;find=days&amp;span=40-64&amp;said=' in shown
    assert "<bdi>Refund policy</bdi> › <bdi>Window</bdi>, p. 3" in shown
    hostile = quick((replace(DAYS, text=HOSTILE, heading_path=(HOSTILE,)),), "spy")
    assert "<script" not in hostile
    assert "<img" not in hostile
    assert 'href="javascript' not in hostile


def test_each_of_several_questions_stands_above_its_answers():
    asked = replace(DAYS, question="How long?"), replace(DAYS, question=HOSTILE)
    shown = quick((asked[0], asked[0], asked[1]), "days")
    parts = re.findall(r"<(h3|p) class=\"(rk-quick-\w+)", shown)
    heading, row = ("h3", "rk-quick-asked"), ("p", "rk-quick-row")
    assert parts == [heading, row, row, heading, row]
    assert ">How long?</h3>" in shown
    assert "find=How+long" in shown
    assert "<script" not in shown
    assert "rk-quick-asked" not in quick((DAYS,), "days")


def test_versions_of_a_document_are_told_apart_by_date_or_path():
    def source(number: int, **changes: str) -> Source:
        return replace(DAYS, document=replace(PAPER, id=number, **changes))

    def places(*sources: Source) -> list[str]:
        shown = quick(sources, "days")
        return [re.sub("<[^>]*>", "", one) for one in re.findall(r"marked\">(.*?)</a>", shown)]

    own = f"{PAPER.title} › Window, p. 3"
    old, new = source(1, date="2024-01-05T10:00"), source(2, date="2025-03-01")
    assert places(old, new, old) == [f"{own} · {day}" for day in
                                     ("2024-01-05", "2025-03-01", "2024-01-05")]  # fmt: skip
    undated = source(3, path="old/refunds.md")
    assert places(undated, new) == [f"{own} · old/refunds.md", f"{own} · {PAPER.path}"]
    assert places(old, old) == [own, own]
    assert places(old, source(4, title="Another")) == [own, "Another › Window, p. 3"]
    elsewhere = source(5, collection="archive", date="2025-03-01")
    assert places(new, elsewhere) == [f"{own} · c", f"{own} · archive"]
    assert "· <bdi>2025-03-01</bdi>" in written(replace(BASE, sources=(old, new)))


def test_an_answer_stands_under_its_question_in_a_long_text():
    typed = "How many days? Who pays?"
    segments = [Segment(0, 14, "How many days?"), Segment(15, 24, "Who pays?")]
    topics = [
        TopicAnswer(Topic(at, segment.start, segment.end, "", (segment,)), ())
        for at, segment in enumerate(segments)
    ]
    answers = (replace(DAYS, question="How many days?"), replace(DAYS, question="Of no topic?"))
    first, second = coloured(typed, topics, None, answers).split('id="rk-span-1"')
    assert first.index("How many days?") < first.index("rk-answer-quick")
    assert "30 <mark>days</mark>" in first
    assert 'aria-label="Answer to topic 1"' in first
    assert "rk-quick-asked" not in first
    assert "rk-answer-quick" not in second
    assert "rk-answer-quick" not in coloured(typed, topics, None)


def test_a_row_is_shown_with_the_names_of_its_columns():
    row = Source("| Basic | never |", 0, 17, PAPER, header="| Tariff | Cancelling |")
    shown = quick((row,), "basic tariff")
    said = re.sub(r"<[^>]*>", "", shown)
    assert "Tariff: Basic · Cancelling: never" in said
    assert "<mark>Basic</mark>" in shown
    sheet = replace(row, document=replace(PAPER, format="xlsx"), page=2)
    assert "</bdi>, sheet 2" in quick((sheet,), "basic")


def test_a_written_answer_shows_citations_checks_and_figures():
    shown = written(BASE)
    assert shown.count('class="rk-cite"') == 4
    assert 'aria-label="Source 1"' in shown
    assert '<span class="rk-check" dir="ltr">45 is not in the source</span>' in shown
    assert '<span class="rk-check" dir="ltr">no source</span>' in shown
    assert ">supported</span>" in shown
    assert shown.count("rk-fails") == 2
    assert shown.count('<li><div dir="auto"><span class="rk-answer-sentence') == 2
    assert "2 of 4 sentences passed the checks" in shown
    assert "2 invalid citations removed" in shown
    assert "6 of 9 passages read" in shown
    assert "4.2 s" in shown
    assert "Check each sentence" in shown
    assert "Check each sentence" not in written(replace(BASE, judged=True))
    assert "erified" not in shown
    assert 'href="https://example.com/a" target="_blank" rel="noopener noreferrer"' in shown


def test_what_is_missing_of_one_sentence_stands_together():
    missing = tuple(Check(CheckKind.NOT_IN_SOURCE, detail) for detail in ("45", "4 March"))
    sentence = AnswerSentence("Within 45 days of 4 March.", (1,), missing)
    shown = written(replace(BASE, sentences=(sentence,)))
    assert shown.count("rk-check") == 1
    assert "45, &quot;4 March&quot; are not in the source" in shown


def test_all_passages_read_and_a_failure_are_said_in_few_words():
    shown = written(replace(BASE, passages_read=9, passages_found=9))
    assert "9 passages read" in shown
    assert "of 9" not in shown
    assert "written by" in shown
    failed = written(replace(BASE, state=AnswerState.FAILED, failure="It broke."))
    assert "Try again</button>" in failed
    assert "Write again" not in failed


def test_what_a_model_wrote_is_text_and_nothing_else():
    one = AnswerSentence(HOSTILE, (1,), (Check(CheckKind.NOT_IN_SOURCE, HOSTILE),))
    model = '<b onmouseover="x">'
    shown = written(replace(BASE, sentences=(one,), model=model, unfinished=HOSTILE))
    shown += written(
        replace(BASE, state=AnswerState.WRITING, sentences=(), unfinished=HOSTILE, failure=HOSTILE)
    )
    for tag in ("<script", "<img", "<b ", "<strong>bold", 'href="javascript', "src="):
        assert tag not in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt; ![spy](http://spy.invalid/a.png)" in shown


def test_what_is_not_found_or_not_grounded_or_failed_is_said_first():
    none = written(replace(BASE, sentences=(), sources=(), not_found=True))
    assert "<b>Not in your documents.</b>" in none
    assert "hold" not in none
    bare = replace(BASE, sentences=(AnswerSentence("It is."),), sources=())
    assert "No sentence of this answer names a source" in written(bare)
    assert "No sentence" not in written(replace(bare, state=AnswerState.WRITING))
    failed = written(replace(BASE, state=AnswerState.FAILED, failure="It broke.", cure="Start it."))
    assert failed.startswith('<p class="rk-notice rk-warn" role="alert">It broke. Start it.</p>')
    assert "It is paid." in failed


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (AnswerState.READING, "Reading 6 of 9 passages"),
        (AnswerState.THINKING, "Thinking"),
        (AnswerState.WRITING, "Writing"),
        (AnswerState.CHECKING, "Checking 4 sentences"),
        (AnswerState.CANCELLED, "Stopped"),
        (AnswerState.FAILED, "Failed"),
        (AnswerState.DONE, ""),
    ],
)
def test_the_state_is_said_in_words(state, words):
    assert state_of(replace(BASE, state=state)) == words
    assert ("rk-answer-sources" in written(replace(BASE, state=state))) is (
        state in (AnswerState.CANCELLED, AnswerState.FAILED, AnswerState.DONE)
    )


def test_an_answer_that_is_cut_is_not_said_to_be_complete():
    assert state_of(replace(BASE, state=AnswerState.DONE, cut=True)) == "Cut off"


def test_a_copied_answer_has_its_numbers_and_sources():
    assert as_text(BASE).split("\n") == [
        "It takes 45 days. [1] It is paid. [1] [2]",
        "- In cash.",
        "- By post. [2]",
        '[1] "Paid **within** 30 days." (handbook/refunds.md, p. 3)',
        '[2] "Said there." (https://example.com/a)',
    ]


def test_the_quick_answer_stands_above_the_results_or_nowhere(library, tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "refund.md").write_text("# Refund policy\n\nA full refund is paid within 30 days.\n")
    library.jobs.wait(library.sources.sync(library.sources.add_folder(folder)))
    said = html(run(library, q="when is a refund paid"))
    assert said.index("rk-answer-quick") < said.index("rk-summary") < said.index("rk-card")
    assert "rk-answer" not in html(run(library, q="zebra quartz"))


def test_several_questions_are_answered_one_by_one_on_both_pages(library, tmp_path):
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "refund.md").write_text("# Refund policy\n\nA full refund is paid within 30 days.\n")
    (folder / "crane.md").write_text("# Crane\n\nMarta Olsen repaired the crane in May 2021.\n")
    library.jobs.wait(library.sources.sync(library.sources.add_folder(folder)))
    message = "When is a refund paid? Who repaired the crane?"
    said = html(run(library, q=message))
    answers = said[said.index("rk-answer-quick") : said.index("rk-summary")]
    first, second = answers.split("Who repaired the crane?</h3>")
    assert "When is a refund paid?</h3>" in first
    assert "within 30 days" in first
    assert "Marta Olsen" in second
    said = html(run(library, "conversation", text=message))
    first, second = said.split('id="rk-span-1"')
    assert "within 30 days" in first[first.index("rk-answer-quick") :]
    assert "Marta Olsen" in second[second.index("rk-answer-quick") : second.index("rk-summary")]


def test_sentences_from_right_to_left_follow_one_another_in_that_direction():
    """Where each had a direction of its own, the second stood before the first."""
    arabic = replace(DAYS, text="قيمة الإيجار ٣٥٠٠ درهم.")
    assert '<p class="rk-quick-row" dir="auto"><span>قيمة' in quick((arabic,), "days")
    parts = tuple(
        AnswerSentence(said, sources=(1,), block=block, item=block > 0)
        for said, block in (("قيمة الإيجار ٣٥٠٠.", 0), ("تدفع شهريًا.", 0), ("للمالك.", 1))
    )
    shown = written(replace(BASE, sentences=parts, sources=(arabic,)))
    sentences = r'<span class="rk-answer-sentence">'
    assert f'<p dir="auto">{sentences}قيمة' in shown
    assert f'<li><div dir="auto">{sentences}للمالك.' in shown
    assert '<span class="rk-cite-card" role="tooltip" dir="auto"><span>قيمة' in shown
    assert '<li><div dir="auto"><span>قيمة' in shown
