"""Answers as JSON, text and Markdown: the same numbers, and nothing that steers or links."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from ragkit.answering.thread_markdown import thread_as_markdown
from ragkit.answers import (
    AnswerSentence,
    AnswerState,
    Check,
    CheckKind,
    Source,
    Thread,
    Turn,
    WrittenAnswer,
)
from ragkit.formatting import escape_markdown
from ragkit.results import Answer, DocumentRef, Result
from ragkit.surfaces import render_answers
from ragkit.traces import Trace

DOCUMENT = DocumentRef(7, "handbook/returns.md", "Returns", "default", "markdown", 0, 3, "/x")
DAYS = Source("Within 30 days.", 40, 55, DOCUMENT, ("Returns", "Buoys"), 3)
FAULTY = Source("Faulty buoys\ncome back.", 60, 83, DOCUMENT, changed=True)
WEB = Source("A page.", 0, 7, url="https://a.example/p", title="Elsewhere")
WRITTEN = WrittenAnswer(
    "how long?",
    "m:1b",
    AnswerState.DONE,
    (
        AnswerSentence("They have 30 days.", (1,), (Check(CheckKind.SUPPORTED),)),
        AnswerSentence("Or 45.", (2, 3), (Check(CheckKind.NOT_IN_SOURCE, "45"),), 1, item=True),
        AnswerSentence("By Anna.", (1,), (Check(CheckKind.NOT_IN_SOURCE, "Anna B."),), 2, True),
        AnswerSentence("Perhaps.", (), (Check(CheckKind.NO_SOURCE),), 3),
    ),
    (DAYS, FAULTY, WEB),
    passages_read=2,
    passages_found=3,
    dropped=1,
)
ANSWER = Answer("how long?", (), Trace())
THREAD = Thread(
    3,
    "How long?",
    ("default",),
    (Turn("how long?", "how long?", (DAYS,), WRITTEN, 1, 5.0), Turn("why?", "why: long", (), None)),
)
HOSTILE = (
    "\x1b[31m![a](http://evil.example/x.png) <img src=//evil.example> [1]: http://evil.example\n"
    "# h `c` \u202e *b* www.evil.example a@evil.example &lt;b&gt; $x$ javascript:alert(1) | ~~s~~"
)


def test_json_is_what_the_issue_says():
    value = render_answers.asked_as_json((DAYS,), WRITTEN, ANSWER)
    assert list(value) == ["quick", "answer", "results"]
    place = {"id": 7, "path": "handbook/returns.md", "title": "Returns"}
    assert value["quick"] == [
        {"text": "Within 30 days.", "document": place, "start": 40, "end": 55}
    ]
    assert value["results"] == []
    answer = json.loads(json.dumps(value["answer"]))
    assert answer["model"] == "m:1b"
    assert answer["sentences"][1] == {
        "text": "Or 45.",
        "sources": [2, 3],
        "checks": [{"kind": "not_in_source", "detail": "45"}],
        "holds": False,
        "block": 1,
        "item": True,
    }
    assert [source["number"] for source in answer["sources"]] == [1, 2, 3]
    assert answer["sources"][1]["document"] == place
    assert answer["sources"][1]["changed"]
    assert answer["sources"][2] == {
        "number": 3,
        "text": "A page.",
        "document": None,
        "url": "https://a.example/p",
        "title": "Elsewhere",
    }
    assert (answer["holding"], answer["dropped"]) == (1, 1)


SEVERAL = (
    replace(DAYS, question="How long?"),
    replace(DAYS, text="Never.", question="How long?"),
    replace(DAYS, text="By *post*.", question="How is it *sent*?"),
)


def test_each_of_several_questions_stands_above_its_answers():
    assert list(render_answers.quick_as_text(SEVERAL))[:-3] == [
        "How long?",
        "  Within 30 days. [1]",
        "  Never. [2]",
        "How is it *sent*?",
        "  By *post*. [3]",
    ]
    value = render_answers.asked_as_json(SEVERAL, None, ANSWER)
    assert [one["question"] for one in value["quick"]] == [one.question for one in SEVERAL]
    thread = replace(THREAD, turns=(replace(THREAD.turns[0], quick=SEVERAL),))
    lines = [line for line in thread_as_markdown(thread).splitlines() if line]
    begin = lines.index("How long?")
    assert lines[begin : begin + 5] == [
        "How long?",
        "> Within 30 days. [1]",
        "> Never. [2]",
        "How is it \\*sent\\*?",
        "> By \\*post\\*. [3]",
    ]


def test_without_a_written_answer_there_is_null():
    failed = WrittenAnswer("q", state=AnswerState.FAILED, failure="Ollama does not answer.")
    for written in (None, failed):
        assert render_answers.asked_as_json((), written, ANSWER)["answer"] is None
    said = WrittenAnswer("q", state=AnswerState.DONE, not_found=True)
    assert render_answers.asked_as_json((), said, ANSWER)["answer"]["not_found"]


def test_text_has_numbers_words_and_sources():
    assert list(render_answers.quick_as_text((DAYS,))) == [
        "Within 30 days. [1]",
        "  [1] Returns › Buoys · p. 3 · handbook/returns.md",
    ]
    assert list(render_answers.written_as_text(WRITTEN)) == [
        "They have 30 days. [1]  (supported)",
        "- Or 45. [2] [3]  (45 is not in the source)",
        '- By Anna. [1]  ("Anna B." is not in the source)',
        "Perhaps.  (no source)",
        "1 of 4 sentences passed the checks · 1 invalid citation removed · 2 of 3 passages read",
        '  [1] "Within 30 days."',
        "      Returns › Buoys · p. 3 · handbook/returns.md",
        '  [2] "Faulty buoys come back."',
        "      Returns · handbook/returns.md (changed since)",
        '  [3] "A page."',
        "      Elsewhere · https://a.example/p · web",
    ]


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"not_found": True, "sentences": ()}, "Not in your documents"),
        ({"sentences": (AnswerSentence("It is so."),)}, "No sentence names a source"),
        ({"cut": True}, "The answer ends here"),
        ({"state": AnswerState.CANCELLED}, "The answer was stopped here."),
        ({"state": AnswerState.FAILED, "failure": "It broke.", "cure": "Ask again."}, "It broke."),
    ],
)
def test_what_went_wrong_stands_below(changes, line):
    assert any(
        one.startswith(line) for one in render_answers.after_sentences(replace(WRITTEN, **changes))
    )


def hostile() -> Thread:
    document = DocumentRef(1, f"a`{HOSTILE}", HOSTILE, HOSTILE, "text", 0, 1, "/x")
    source = Source(HOSTILE, 0, 9, document, (HOSTILE, HOSTILE))
    web = Source(HOSTILE, 0, 9, url=HOSTILE, title=HOSTILE)
    checks = (Check(CheckKind.NOT_IN_SOURCE, HOSTILE),)
    sentences = (
        AnswerSentence(HOSTILE, (1, 2), checks),
        AnswerSentence(HOSTILE, (), (), 1, item=True),
    )
    written = WrittenAnswer(
        HOSTILE, HOSTILE, AnswerState.FAILED, sentences, (source, web), failure=HOSTILE
    )
    return Thread(1, HOSTILE, (HOSTILE,), (Turn(HOSTILE, f"{HOSTILE}?", (source, web), written),))


def test_no_text_steers_a_terminal():
    document = hostile().turns[0].quick[0].document
    lines = [
        *render_answers.thread_as_text(hostile()),
        *render_answers.titles_as_text(replace(ANSWER, results=(Result(document, 1.0, (), ()),))),
    ]
    assert len(lines) > 10
    assert all(line.isprintable() for line in lines)


def test_nothing_becomes_markup_or_a_link_in_markdown():
    text = thread_as_markdown(hostile())
    assert text.isprintable() or set(re.sub(r"[^\x00-\x1f\x7f\u202e]", "", text)) == {"\n"}
    seen = {token.type for block in _tokens(text) for token in block}
    assert seen <= {"text", "code_inline", "text_special", "strong_open", "strong_close",
                    "em_open", "em_close", "softbreak"}  # fmt: skip
    html = MarkdownIt("commonmark").render(text)
    tags = set(re.findall(r"</?(\w+)", html))
    assert tags == {"h1", "h2", "p", "ul", "ol", "li", "strong", "em", "code", "blockquote"}
    # An address stands in code alone, where no renderer looks for one.
    without_code = re.sub(r"<code>.*?</code>", "", html)
    assert "evil.example" not in without_code


def _tokens(text: str) -> list:
    return [token.children for token in MarkdownIt("commonmark").parse(text) if token.children]


@pytest.mark.parametrize(
    "text",
    ["1. one", "- a", "+ b", "=== c", "30-day limit", "a_b*c*", "![x](y)", "<b>", "&lt;", "\\a",
     "`x`", "> q", "# h", "www.a.example b", "x@y.example", "12) x", "$1", "~~~", "ftp://a b"],
)  # fmt: skip
def test_escaped_text_is_shown_as_it_is(text):
    html = MarkdownIt("commonmark").render(escape_markdown(text))
    shown = re.fullmatch(r"<p>(.*)</p>\n", html, re.S)
    assert shown, html
    plain = re.sub(r"</?code>", "", shown[1])
    for name, sign in {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&"}.items():
        plain = plain.replace(name, sign)
    assert plain == text


def test_a_thread_as_markdown():
    lines = thread_as_markdown(THREAD).splitlines()
    assert lines[0] == "# How long?"
    assert lines[2].startswith("default · ")
    assert lines[4:] == [
        "## how long?",
        "",
        "**From the documents**",
        "",
        "> Within 30 days. [1]",
        "",
        "1. Returns › Buoys · p. 3 · handbook/returns.md",
        "",
        "**Written by m:1b**",
        "",
        "They have 30 days. [1] *(supported)*",
        "",
        "- Or 45. [2] [3] *(45 is not in the source)*",
        '- By Anna. [1] *("Anna B." is not in the source)*',
        "",
        "Perhaps. *(no source)*",
        "",
        "1 of 4 sentences passed the checks.",
        "",
        "1. Returns › Buoys · p. 3 · handbook/returns.md: “Within 30 days.”",
        "2. Returns · handbook/returns.md (changed since): “Faulty buoys come back.”",
        "3. Elsewhere · `https://a.example/p` · web: “A page.”",
        "",
        "## why?",
        "",
        "Asked as: why: long",
        "",
        "No answer.",
    ]


def test_no_text_makes_markup_wherever_it_stands():
    chance = random.Random(5)
    for _ in range(500):
        signs = chance.choices("\\`*_{}[]()<>#|!~&$-+=.:/ @1wh\n\t\"'", k=chance.randrange(1, 25))
        text = f"w{''.join(signs)}"[chance.randrange(2) :]
        shown = escape_markdown(text)
        blocks = MarkdownIt("commonmark").parse(f"> {shown} [1]\n\n{shown} *x*\n\n- {shown}\n")
        kinds = {re.sub("_(open|close)$", "", block.type) for block in blocks}
        assert kinds <= {"blockquote", "paragraph", "inline", "bullet_list", "list_item"}, text
        inside = {token.type for block in blocks for token in block.children or ()}
        assert inside <= {"text", "code_inline", "text_special", "em_open", "em_close"}, text


def test_headings_that_say_what_the_title_says_are_left_out():
    document = DocumentRef(1, "a.pdf", "On drift", "default", "pdf", 2, 1, "/a.pdf")
    source = Source("It ends.", 0, 8, document, ("On drift in lakes", "On", "6 End"), 2)
    assert source.place == "On drift › 6 End · p. 2 · a.pdf"
    assert replace(source, document=replace(document, title="")).place == (
        "a.pdf › On drift in lakes › On › 6 End · p. 2"
    )
