"""Several questions in one message: how they are told apart, and that each has its own answer."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from small_library import add, open_library, write_files

from ragkit.answering.several import (
    OneOfSeveral,
    best_of_each,
    joined,
    questions_in,
    questions_of_message,
)
from ragkit.answers import Source
from ragkit.retrieval.multi_query import ChunkedAnswer, TopicAnswer
from ragkit.retrieval.query_segmentation.topics import Segment, Topic
from ragkit.traces import Trace

FILES = {
    "boats.md": (
        "# Boats\n\nA berth of up to eight metres costs 240 euros a month.\n\n"
        "The beacon was repaired by Marta Olsen in May.\n"
    ),
    "garden.txt": (
        "Tomatoes need water each day in summer. Compost ripens for nine months.\n\n"
        "Marta Olsen sows the beans in April.\n"
    ),
    "会議.txt": "検索システムの評価は月曜日に始まります。担当者は田中さんです。\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    place = tmp_path_factory.mktemp("several")
    with open_library(place / "library") as library:
        add(library, write_files(place / "files", FILES))
        yield library


def asked(message: str) -> list[str]:
    return [question.asked for question in questions_of_message(message)]


@pytest.mark.parametrize(
    ("message", "questions"),
    [
        ("", []),
        ("tomatoes", []),
        ("Who repaired the beacon?", []),
        ("Who repaired the beacon? Thanks!", []),
        (
            "Who repaired the beacon? How long does compost ripen?",
            ["Who repaired the beacon?", "How long does compost ripen?"],
        ),
        ("検索はいつですか？担当者は誰ですか？", ["検索はいつですか？", "担当者は誰ですか？"]),
    ],
)
def test_each_question_is_asked_as_it_stands_alone(message, questions):
    assert asked(message) == questions


def test_a_question_that_leans_on_the_one_before_takes_over_its_words():
    first, second = asked("What does the blue berth cost? And the green one?")
    assert first == "What does the blue berth cost?"
    assert {"green", "berth", "cost"} < set(second.replace(",", " ").rstrip("?").split())


def test_filters_of_a_message_hold_for_each_question_and_are_not_shown():
    message = 'Who repaired the beacon? type:md What does a berth cost? -winter path:"a b/"'
    assert [question.typed for question in questions_of_message(message)] == [
        "Who repaired the beacon?",
        "What does a berth cost?",
    ]
    filters = 'type:md -winter path:"a b/"'
    assert asked(message) == [
        f"Who repaired the beacon? {filters}",
        f"What does a berth cost? {filters}",
    ]
    assert asked("Who? When was that? after:tomorrowish") == []


@pytest.mark.parametrize(
    "chat",
    [
        "Ana: Who repaired the beacon?\nRui: Marta did.\nAna: What does a berth cost?\nRui: 240.",
        "12/03/2026, 18:03 - Ana: Who repaired the beacon?\n"
        "12/03/2026, 18:05 - Rui: what does a berth cost?\n"
        "12/03/2026, 18:09 - Ana: 240 euros",
        "> The loan ends in May.\n\nWhat does a berth cost then?\n\n> Ten clients.\n\nWhose?",
    ],
)
def test_a_conversation_is_no_list_of_questions(chat):
    assert asked(chat) == []


def test_the_first_questions_of_very_many_are_asked():
    message = " ".join(f"What does the part {name} cost?" for name in "abcdefghijkl")
    assert asked(message) == [f"What does the part {name} cost?" for name in "abcdefgh"]


def test_the_best_sentence_may_answer_twice_and_any_other_is_said_once():
    one, two, three = (Source(text, 0, 3) for text in ("one", "two", "three"))
    answered = [("A?", (one, two, three)), ("B?", (two, one, three)), ("C?", ())]
    assert [(source.question, source.text) for source in best_of_each(answered)] == [
        ("A?", "one"),
        ("A?", "two"),
        ("B?", "two"),
        ("B?", "three"),
    ]


def test_results_of_each_question_are_joined_by_document(library):
    boats, garden = (
        library.search(question).results
        for question in ("What does a berth cost?", "When are beans sown by Marta Olsen?")
    )
    both = joined([boats, garden, boats])
    paths = [result.document.path for result in both]
    assert len(set(paths)) == len(paths)
    assert set(paths) == {result.document.path for result in (*boats, *garden)}
    for result in both:
        starts = [passage.start for passage in result.passages]
        indexes = [chunk.index for chunk in result.matched_chunks]
        scores = [chunk.score for chunk in result.matched_chunks]
        assert (starts, sorted(indexes)) == (sorted(set(starts)), sorted(set(indexes)))
        assert scores == sorted(scores, reverse=True)
    assert joined([]) == ()


def answers(library, message: str, **changes) -> list[tuple[str, str]]:
    options = library.options(**changes)
    found = library.answers.quick(library.search(message, options))
    return [(source.question, source.text) for source in found]


def test_each_of_several_questions_has_its_own_answer(library):
    found = dict(reversed(answers(library, "What does a berth cost? How long does compost ripen?")))
    assert found == {
        "What does a berth cost?": "A berth of up to eight metres costs 240 euros a month.",
        "How long does compost ripen?": "Compost ripens for nine months.",
    }
    japanese = dict(reversed(answers(library, "評価はいつ始まりますか？担当者は誰ですか？")))
    assert japanese == {
        "評価はいつ始まりますか？": "検索システムの評価は月曜日に始まります。",
        "担当者は誰ですか？": "担当者は田中さんです。",
    }


def test_a_question_that_nothing_answers_is_left_out(library):
    found = answers(library, "Who won the cup of nations? How long does compost ripen?")
    assert {question for question, _ in found} == {"How long does compost ripen?"}
    assert answers(library, "Who won the cup of nations? Which horse is zebra-striped?") == []


def test_filters_and_the_options_of_the_search_hold(library):
    message = "Who is Marta Olsen? What does Marta Olsen sow? type:md"
    texts = {text for _, text in answers(library, message)}
    assert texts == {"The beacon was repaired by Marta Olsen in May."}


def test_one_question_is_answered_as_before(library):
    message = "Who repaired the beacon? Was it Marta Olsen in May?"
    as_one = library.answers.quick(replace(library.search(message), questions=1))
    assert {source.question for source in as_one} == {""}
    assert [question for question, _ in answers(library, "What does a berth cost?")] == [""]


def test_the_search_counts_questions_of_other_scripts(library):
    assert library.search("評価はいつ始まりますか？担当者は誰ですか？").questions == 2
    assert library.search("ما هي مدة الإجازة؟ من يوافق على السفر؟").questions == 2
    assert library.search("評価はいつ始まりますか？").questions == 1


CHAT = (
    "Ana: Hello! What does a berth cost?\n\nRui: I do not know.\n\n"
    "Ana: Never mind. Did you see the regatta on Sunday, with all the red sails?\n\n"
    "Rui: Yes, it was windy.\n\nAna: And how long does compost ripen?\n\nRui: Ask Marta.\n"
)


def test_topics_of_a_conversation_are_answered_where_they_ask(library):
    chat = library.search_chunked(CHAT)
    asked = [topic.topic.segments[0].text for topic in chat.topics]
    found = {source.question: source.text for source in reversed(library.answers.quick(chat))}
    assert set(found) <= set(asked)
    texts = {question: text for question, text in found.items() if "berth" in question}
    assert list(texts.values()) == ["A berth of up to eight metres costs 240 euros a month."]


def test_one_question_of_a_message_is_asked_without_the_rest_unless_it_leans_on_it():
    def topic(text: str, *, weak: bool = False) -> TopicAnswer:
        return TopicAnswer(Topic(0, 0, len(text), "", (Segment(0, len(text), text),)), (), weak)

    messages = (
        "Morning! What does a berth cost?",
        "We have the red boat. What does it need?",
        "Who is Ana? Who is Rui?",
        "It rained.",
    )
    topics = [*map(topic, messages), topic("Who came?", weak=True)]
    answer = ChunkedAnswer(tuple(topics), (), 5, 0, 0, Trace())
    greeted, leaning, both = questions_in(answer)
    assert greeted == OneOfSeveral(messages[0], "What does a berth cost?")
    assert leaning.typed == messages[1]
    assert {"red", "boat", "need"} < set(re.findall(r"\w+", leaning.asked))
    assert both == OneOfSeveral(messages[2], messages[2])


def test_what_only_looks_like_a_filter_in_a_long_text_costs_no_other_answer(library):
    text = "What does a berth cost after:tomorrowish?\n\nHow long does compost ripen?"
    found = library.answers.quick(library.search_chunked(text))
    assert {source.question for source in found} == {"How long does compost ripen?"}


def test_a_long_text_that_asks_nothing_has_no_answers(library):
    text = "\n\n".join(["A berth costs 240 euros a month.", "Compost ripens for nine months."] * 9)
    assert library.answers.quick(library.search_chunked(text)) == ()
