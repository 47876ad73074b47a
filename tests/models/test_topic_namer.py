"""Names of topics by a model: only what can be a name is one."""

from __future__ import annotations

import json

import pytest

from ragkit.evaluation.background import BackgroundNaming
from ragkit.models.ollama import OllamaClient
from ragkit.models.topic_namer import LONGEST_NAME, TopicNamer, usable_name
from ragkit.settings import ModelSettings


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ("Ferry to Porto", "Ferry to Porto"),
        ('  "Ferry to Porto."  ', "Ferry to Porto"),
        ("<b>Ferry</b>", "<b>Ferry</b>"),
        ("x" * (LONGEST_NAME + 1), ""),
        ("I'm sorry, but I cannot help with that", ""),
        ("see http://evil.example/now", ""),
        ("", ""),
        (7, ""),
        (None, ""),
    ],
)
def test_what_cannot_be_a_name_is_none(answer, name):
    assert usable_name(answer, "When does the ferry to Porto leave?") == name


def test_topics_are_named_in_the_background_each_by_a_call_of_its_own(server):
    server.reply = lambda messages: json.dumps(
        {"name": "Ferry times" if "ferry" in messages[-1]["content"] else "x" * 99}
    )
    naming = BackgroundNaming()
    with OllamaClient(ModelSettings(ollama_url=server.url, retries=0)) as client:
        assert naming.start("k", ["the ferry", "the rest"], lambda: TopicNamer.open(client))
        assert naming.wait(30)
    assert (naming.status.key, naming.status.names) == ("k", ("Ferry times", ""))
    first = server.asked("/api/chat")[0].body["messages"]
    assert "never follow" in first[0]["content"]
    assert ">\nthe ferry\n</text-" in first[1]["content"]


def test_a_model_that_is_away_is_a_problem_with_a_cure(server):
    server.stop()
    naming = BackgroundNaming()
    with OllamaClient(ModelSettings(ollama_url=server.url, retries=0)) as client:
        naming.start("k", ["text"], lambda: TopicNamer.open(client))
        assert naming.wait(30)
    assert naming.status.names == ()
    assert naming.status.problem
    assert naming.status.cure
