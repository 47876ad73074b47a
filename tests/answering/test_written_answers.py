"""A written answer: streamed, cited, checked, and whatever may go wrong said."""

from __future__ import annotations

import itertools
import re
import time
from contextlib import closing

import pytest
from ollama_answers import SECRET
from ollama_stand_in import WRITER, Model
from small_library import HANDBOOK, add, find, open_library, write_files

from ragkit.answering.writing import write_answer
from ragkit.answers import AnswerState, Check, CheckKind, Source, WrittenAnswer
from ragkit.library import Library
from ragkit.models.ollama import OllamaClient

QUESTION = "How long may a customer ask for a refund?"
FIRST = "A customer may ask for a refund within thirty days."
FIGURES = (
    "# Prices\n\nA buoy costs 1,200 euros.\n\nA rope costs 45 euros since 1 March 2025.\n\n"
    "Anna Weber signs each order.\n"
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    place = tmp_path_factory.mktemp("written")
    with open_library(place / "library") as library:
        add(library, write_files(place / "files", {**HANDBOOK, "prices.md": FIGURES}))
    return place / "library"


@pytest.fixture
def library(files, server):
    with open_library(files, models={"embedder": "hash", "ollama_url": server.url}) as library:
        yield library


def snapshots(library: Library, question: str = QUESTION, **given: object) -> list[WrittenAnswer]:
    return list(library.answers.write(question, find(library, question), **given))


def written(library: Library, question: str = QUESTION, **given: object) -> WrittenAnswer:
    return snapshots(library, question, **given)[-1]


def states(seen: list[WrittenAnswer]) -> list[str]:
    return [state.value for state, _ in itertools.groupby(one.state for one in seen)]


def test_an_answer_grows_and_each_sentence_has_its_place(library, server):
    server.pause = 0.02
    seen = snapshots(library)
    assert states(seen) == ["reading", "writing", "done"]
    assert any(one.unfinished and FIRST.startswith(one.unfinished) for one in seen)
    answer = seen[-1]
    assert all(one.sentences[: one.settled] == answer.sentences[: one.settled] for one in seen)
    assert any(one.settled == 1 for one in seen)
    assert (answer.prompt_tokens > 100, answer.output_tokens) == (True, 21)
    assert not answer.tokens_estimated
    assert answer.sentences[0].text == FIRST
    assert answer.sentences[0].sources == (1,)
    assert (answer.holding, answer.claims, len(answer.sentences)) == (2, 2, 2)
    assert answer.model == WRITER
    assert (answer.failure, answer.unfinished, answer.dropped, answer.cut) == ("", "", 0, False)
    assert answer.passages_read == answer.passages_found > 1
    for source in answer.sources:
        text = library.documents.get(source.document.id).text
        assert text[source.start : source.end] == source.text


def test_each_of_several_questions_has_its_share_of_the_passages(files, server):
    asked = f"{QUESTION} How much water do Tomaten need im Sommer?"
    settings = {"models": {"embedder": "hash", "ollama_url": server.url}}
    with open_library(files, **settings, answers={"passages": 2}) as library:
        written(library, asked)
        [several] = [request.body for request in server.asked("/api/chat")]
        written(library, f"{QUESTION} It was for a refund of money, support said.")
    prompt = several["messages"][-1]["content"]
    assert asked in prompt
    assert FIRST in prompt
    assert "Die Tomaten brauchen im Sommer jeden Tag Wasser" in prompt
    one = server.asked("/api/chat")[-1].body["messages"][-1]["content"]
    assert FIRST in one
    assert "Tomaten" not in one


def test_what_is_sent_is_fixed_and_refuses_to_be_cut(library, server):
    written(library)
    body = server.asked("/api/chat")[0].body
    assert (body["truncate"], body["shift"], body["stream"], body["think"]) == (
        False,
        False,
        True,
        False,
    )
    assert body["options"] == {"num_ctx": 8192, "num_predict": 2200, "temperature": 0.0, "seed": 0}
    assert "tools" not in body
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert FIRST not in body["messages"][0]["content"]


def test_the_first_token_is_handed_on_before_the_second_is_sent(library, server):
    server.pause = 0.3
    with closing(library.answers.write(QUESTION, find(library, QUESTION))) as answers:
        first = next(one for one in answers if one.state is AnswerState.WRITING)
    assert first.unfinished == "A"


def test_numbers_on_a_line_of_their_own_come_before_a_sentence_is_settled(library, server):
    server.reply = lambda messages: f"{FIRST}\n[1]\n[2] \nIt is so. [1] Gift cards are not. \n\n[3]"
    server.pause = 0.06
    *seen, answer = snapshots(library)
    assert [one.sources for one in answer.sentences] == [(1, 2), (1,), (3,)]
    assert all(one.sentences[: one.settled] == answer.sentences[: one.settled] for one in seen)
    assert {one.settled for one in seen} >= {0, 1, 2}


def test_tokens_that_the_server_did_not_count_are_estimated(library, server, monkeypatch):
    monkeypatch.setattr(server, "_counts", lambda *_: {"done_reason": "stop"})
    answer = written(library)
    assert (answer.prompt_tokens > 300, 15 < answer.output_tokens < 30) == (True, True)
    assert answer.tokens_estimated


def test_cancelling_keeps_what_is_there(library, server):
    server.pause = 0.05
    seen: list[WrittenAnswer] = []
    for one in library.answers.write(
        QUESTION, find(library, QUESTION), cancelled=lambda: bool(seen[-1].unfinished)
    ):
        seen.append(one)
    assert states(seen) == ["reading", "writing", "cancelled"]
    assert FIRST.startswith(seen[-1].unfinished)
    assert seen[-1].unfinished
    assert seen[-1].failure == ""


def test_cancelling_does_not_wait_for_the_first_word(library, server):
    server.delay = 20
    answers = library.answers.write(QUESTION, find(library, QUESTION), cancelled=lambda: True)
    before = time.monotonic()
    assert states(list(answers)) == ["reading", "cancelled"]
    assert time.monotonic() - before < 15


def test_a_stream_that_breaks_off_keeps_what_is_there(library, server):
    server.reply = lambda messages: f"{FIRST} [1] And this goes on" + " and on" * 12
    for failure in ("close-midway", "silent-end", "stream-error"):
        server.failure = failure
        answer = written(library)
        assert answer.state is AnswerState.FAILED
        assert answer.failure
        assert answer.cure
        assert answer.sentences[0].text == FIRST


def test_a_server_that_is_away_is_named(library, server):
    server.failure = "close"
    answer = written(library)
    assert (answer.state, answer.sentences) == (AnswerState.FAILED, ())
    assert "Ollama" in answer.failure


def test_silence_in_the_middle_is_no_wait_without_an_end(files, server):
    server.reply = lambda messages: f"{FIRST} [1] And this goes on" + " and on" * 12
    server.failure = "silent"
    models = {"embedder": "hash", "ollama_url": server.url, "chat_seconds": 0.5}
    with open_library(files, models=models) as library:
        answer = written(library)
    assert answer.state is AnswerState.FAILED
    assert "did not answer in time" in answer.failure
    assert answer.sentences[0].text == FIRST


# -- thoughts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", ["thinks-anyway", "thinking"])
def test_thoughts_are_a_state_and_no_text(library, server, failure):
    server.failure, server.pause = failure, 0.01
    seen = snapshots(library)
    assert states(seen) == ["reading", "thinking", "writing", "done"]
    assert not any("Hm." in one.unfinished or "see" in one.unfinished for one in seen)
    assert seen[-1].sentences[0].text == FIRST


def test_thoughts_that_nothing_announced_are_taken_back(library, server):
    server.failure, server.pause = "closing-tag", 0.01
    answer = written(library)
    assert answer.sentences[0].text == FIRST
    assert (answer.holding, answer.claims) == (2, 2)


@pytest.mark.parametrize("failure", ["thinks-too-long", "only-thinking"])
def test_thoughts_that_leave_no_answer_are_a_named_failure(files, server, failure):
    server.failure = failure
    models = {"embedder": "hash", "ollama_url": server.url}
    with open_library(files, models=models, answers={"thinking_tokens": 60}) as library:
        answer = written(library)
    assert answer.state is AnswerState.FAILED
    assert "by thinking" in answer.failure
    assert "answers.thinking_tokens" in answer.cure


def test_an_empty_answer_is_a_named_failure(library, server):
    server.failure = "writes-nothing"
    answer = written(library)
    assert (answer.state, answer.failure) == (AnswerState.FAILED, f'"{WRITER}" wrote nothing.')


def test_an_answer_without_a_sentence_is_a_named_failure(library, server):
    server.reply = lambda messages: "[" * 400
    answer = written(library)
    assert (answer.state, answer.failure) == (AnswerState.FAILED, f'"{WRITER}" wrote nothing.')
    assert answer.cure == "Ask again, or choose another model."


# -- lengths -----------------------------------------------------------------------------------


def test_an_answer_that_reaches_its_longest_length_says_so(files, server):
    server.reply = lambda messages: f"{FIRST} [1] And this goes on " + "and on " * 200
    models = {"embedder": "hash", "ollama_url": server.url}
    with open_library(files, models=models, answers={"answer_tokens": 64}) as library:
        answer = written(library)
    assert (answer.state, answer.cut) == (AnswerState.DONE, True)
    assert [one.text for one in answer.sentences] == [FIRST]
    assert answer.unfinished.startswith("And this goes on")
    assert (answer.holding, answer.claims) == (1, 1)


def test_an_answer_that_is_cut_in_its_first_sentence_did_not_think(library, server):
    server.reply = lambda messages: "And this goes on " + "and on " * 200
    answer = written(library, longest=5)
    assert (answer.state, answer.failure) == (
        AnswerState.FAILED,
        f'"{WRITER}" reached the longest length of an answer within its first sentence.',
    )
    assert answer.cure == "Allow it more tokens: answers.answer_tokens, or those of the request."


def test_a_server_that_refuses_the_length_is_asked_with_fewer_passages(library, server):
    written(library)
    messages = server.asked("/api/chat")[0].body["messages"]
    server.window = sum(len(message["content"]) for message in messages) // 4 - 1
    answer = written(library)
    assert answer.state is AnswerState.DONE
    assert answer.passages_read == answer.passages_found - 1
    assert len(server.asked("/api/chat")) == 1 + 2
    assert answer.sentences[0].text == FIRST


def test_a_length_that_is_always_refused_is_a_failure(library, server):
    server.window = 10
    answer = written(library)
    assert answer.state is AnswerState.FAILED
    assert "has no room for a passage" in answer.failure
    assert len(server.asked("/api/chat")) < 20


def test_an_older_server_that_cuts_in_silence_is_found_out(library, server):
    server.refuses, server.window = False, 200
    answer = written(library)
    assert answer.state is AnswerState.DONE
    assert answer.notices == (
        "The server did not read all of the prompt. Update Ollama, or lower models.context_window.",
    )
    assert len(server.asked("/api/chat")) == 3


def test_the_window_is_that_of_the_model_and_never_overrun(library, server):
    server.models[WRITER] = Model(("completion",), 1024)
    answer = written(library)
    body = server.asked("/api/chat")[0].body
    sent = "".join(message["content"] for message in body["messages"])
    assert (body["options"]["num_ctx"], body["options"]["num_predict"]) == (1024, 512 + 256)
    assert len(sent) / 4 < 512
    assert (answer.state, answer.passages_read) == (AnswerState.DONE, 3)


def test_a_window_without_room_for_a_passage_is_a_failure_and_nothing_is_asked(library, server):
    server.models[WRITER] = Model(("completion", "thinking"), 1024)
    answer = written(library)
    assert answer.failure == f'The window of "{WRITER}" has no room for a passage.'
    assert "models.context_window" in answer.cure
    assert server.asked("/api/chat") == []


def test_looks_at_an_answer_are_at_most_ten_a_second(library, server):
    server.reply = lambda messages: f"{FIRST} [1] " + "So it is. " * 20
    found = find(library, QUESTION)
    with OllamaClient(library.settings.models) as client:
        settings = library.settings.answers
        still = write_answer(QUESTION, found.results, client, WRITER, settings, clock=lambda: 0.0)
        assert len([one for one in still if one.state is AnswerState.WRITING]) == 1


# -- what a model gets wrong -------------------------------------------------------------------


def test_numbers_that_were_never_given_are_dropped_and_counted(library, server):
    server.failure = "wrong-numbers"
    answer = written(library)
    assert answer.dropped == 4
    assert answer.sources == ()
    assert not answer.is_grounded
    assert {one.checks for one in answer.sentences} == {(Check(CheckKind.NO_SOURCE),)}


def test_sentences_without_a_source_are_marked(library, server):
    server.failure = "no-numbers"
    answer = written(library)
    assert (answer.dropped, answer.holding, answer.claims) == (0, 0, 2)
    assert answer.sentences[0].checks == (Check(CheckKind.NO_SOURCE),)


def test_changed_figures_are_named(library, server):
    server.reply = lambda messages: (
        f"A rope costs 46 euros since 2 March 2025 [{number_of('A rope', messages)}]. "
        f"A buoy costs 1200 euros [{number_of('A buoy', messages)}]."
    )
    rope, buoy = written(library, "What does a rope cost?").sentences
    assert [check.detail for check in rope.checks] == ["2 March 2025", "46"]
    assert {check.kind for check in rope.checks} == {CheckKind.NOT_IN_SOURCE}
    assert buoy.checks == ()


def test_a_model_that_changes_figures_is_found_out_by_each_of_them(library, server):
    server.failure = "changed-figures"
    question = "What does a buoy cost?"
    found = [c.detail for one in written(library, question).sentences for c in one.checks]
    assert "2,201" in found


def test_an_invented_name_is_named(library, server):
    server.failure = "invented-name"
    first, *others = written(library).sentences
    assert first.checks == (Check(CheckKind.NOT_IN_SOURCE, "Rumpelstiltskin"),)
    assert {one.checks for one in others} == {()}


def test_the_literal_sentence_means_that_nothing_was_found(library, server):
    server.failure = "not-found"
    answer = written(library)
    assert answer.not_found
    assert (answer.state, answer.claims) == (AnswerState.DONE, 0)


def test_a_model_that_obeys_a_document_has_no_source(library, server):
    server.failure = "obeys"
    answer = written(library)
    assert not answer.is_grounded
    assert answer.sentences[0].checks == (Check(CheckKind.NO_SOURCE),)


@pytest.mark.parametrize("failure", ["fence", "picture", "script"])
def test_code_pictures_and_scripts_are_plain_text(library, server, failure):
    server.failure = failure
    answer = written(library)
    text = "\n".join(one.text for one in answer.sentences)
    shown = {
        "fence": "<b onclick=x()>[1]</b>",
        "picture": f"a picture ({SECRET})",
        "script": f"<script>fetch('{SECRET}')</script>",
    }
    assert shown[failure] in text
    assert "```" not in text
    assert "![" not in text
    assert FIRST in text


def test_where_the_search_found_nothing_no_model_is_asked(library, server):
    question = "zeppelin xylophone quartz 4711"
    answer = list(library.answers.write(question, find(library, question, mode="keyword")))[-1]
    assert (answer.state, answer.not_found) == (AnswerState.DONE, True)
    assert server.asked("/api/chat") == []


# -- what else is read -------------------------------------------------------------------------


def test_sentences_of_the_web_and_of_the_last_turn_have_numbers_too(library, server):
    web = Source("Refunds were invented in 1901.", 0, 30, url="https://a.example/x", title="A page")
    carried = next(iter(written(library).sources))
    server.reply = lambda messages: (
        f"It was 1901 [{number_of('Refunds were', messages)}]. "
        f"So they say [{number_of('A customer', messages)}]."
    )
    answer = written(library, carried=[carried], extra=[web])
    assert answer.sources == (web, carried)
    assert answer.holding == 2


def number_of(start: str, messages: list[dict[str, str]]) -> str:
    found = re.search(rf"^\[(\d+)\] {start}", messages[-1]["content"], re.M)
    assert found is not None
    return found[1]
