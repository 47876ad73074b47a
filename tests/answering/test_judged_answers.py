"""A model's verdict on each sentence, and a model that answers nonsense."""

from __future__ import annotations

import json

import pytest
from ollama_stand_in import WRITER

from ragkit.answering.judging import judge_answer
from ragkit.answers import AnswerSentence, Check, CheckKind, Source, WrittenAnswer
from ragkit.models.ollama import OllamaClient
from ragkit.settings import ModelSettings

FOUND = Check(CheckKind.NOT_IN_SOURCE, "45")
UNSOURCED = Check(CheckKind.NO_SOURCE)
WRITTEN = WrittenAnswer(
    "What does it cost?",
    sentences=(
        AnswerSentence("It costs 45 euros.", (1,), (FOUND,)),
        AnswerSentence("It is dear.", (), (UNSOURCED,)),
        AnswerSentence("It floats.", (1, 2)),
    ),
    sources=(Source("It costs 44 euros.", 0, 18), Source("It floats\u202e well.", 20, 35)),
)


@pytest.fixture
def client(server):
    with OllamaClient(ModelSettings(ollama_url=server.url, retries=0)) as client:
        yield client


def says(*verdicts: tuple[int, str]) -> str:
    entries = [{"claim": number, "verdict": verdict} for number, verdict in verdicts]
    return json.dumps({"judgments": entries})


def test_each_sentence_with_a_source_gets_a_verdict_beside_what_was_found(client, server):
    server.reply = lambda messages: says((1, "no"), (2, "partly"))
    judged = judge_answer(WRITTEN, client, WRITER)
    assert [one.checks for one in judged.sentences] == [
        (FOUND, Check(CheckKind.UNSUPPORTED)),
        (UNSOURCED,),
        (Check(CheckKind.PARTLY),),
    ]
    assert (judged.judged, judged.notices) == (True, ())
    again = judge_answer(judged, client, WRITER)
    assert again.sentences == judged.sentences
    (asked, _) = server.asked("/api/chat")
    assert asked.body["format"]["required"] == ["judgments"]
    prompt = asked.body["messages"][1]["content"]
    assert "[2] It floats well." in prompt
    assert "Claim 2: It floats. (cites 1, 2)" in prompt
    assert "dear" not in prompt


def test_the_stand_in_supports_everything_by_itself(client):
    judged = judge_answer(WRITTEN, client, WRITER)
    assert [one.holds for one in judged.sentences] == [False, False, True]


@pytest.mark.parametrize(
    "reply",
    [
        "{}",
        '{"judgments": "supported"}',
        says((7, "supported")),
        says((1, "certainly")),
        says((1, "no"), (1, "supported")),
        '{"judgments": [{"claim": true, "verdict": "supported"}, 5, null]}',
        "no object at all",
    ],
)
def test_nonsense_leaves_the_answer_as_it_was_with_a_notice(client, server, reply):
    server.reply = lambda messages: reply
    judged = judge_answer(WRITTEN, client, WRITER)
    assert judged.sentences == WRITTEN.sentences
    assert not judged.judged
    (notice,) = judged.notices
    assert notice.startswith("The sentences were not judged: ")


def test_verdicts_on_some_are_counted(client, server):
    server.reply = lambda messages: says((2, "supported"))
    judged = judge_answer(WRITTEN, client, WRITER)
    assert judged.judged
    assert judged.notices == ("1 of 2 sentences were judged.",)


def test_an_answer_without_a_source_is_not_judged(client, server):
    nothing = WrittenAnswer("Why?", sentences=(AnswerSentence("So."),))
    assert judge_answer(nothing, client, WRITER) == nothing
    assert server.asked("/api/chat") == []
