"""Sentences of typed texts, and which of them ask."""

from __future__ import annotations

import pytest

from ragkit.retrieval.question_units import asks, find_sentences


@pytest.mark.parametrize(
    "sentence",
    [
        "How long may I keep it?",
        '"Where is the key?"',
        "¿Cuánto cuesta el billete?",
        "保証は何年ですか？",
        "how long does a visa take",
        "what all facilities does this library provide",
        "and also, can i bring a dog",
        "Please tell me about the history of the flag.",
        "I would like to know whether dinner is included.",
        "I am not sure which form we have to send.",
        "Ich würde gern wissen, wann der Zug fährt.",
        "and how about the return journey",
        "2. explain the difference between both tariffs",
        "who worried about the bill",
        "Ben asks within how many days a pump is exchanged.",
    ],
)
def test_what_asks(sentence):
    assert asks(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "I bought it in May.",
        "When I came home, the door was open.",
        "What I did was wrong.",
        "Do the same with the second pump.",
        "Please find the invoice attached.",
        "Thank you for your help!",
        "Hello Anna,",
        "It works.",
    ],
)
def test_what_does_not_ask(sentence):
    assert not asks(sentence)


def texts(text: str) -> list[str]:
    return [one.text for one in find_sentences(text)]


def test_wrapped_lines_are_one_sentence_and_typed_lines_are_several():
    wrapped = (
        "Dear team, I would like to know whether the\n"
        "warranty of the pump covers a broken seal.\n"
        "Does it?"
    )
    assert texts(wrapped) == [
        "Dear team, I would like to know whether the warranty of the pump covers a broken seal.",
        "Does it?",
    ]
    typed = "how long does a visa take\nwhere is the museum\nprice of the ferry"
    assert texts(typed) == typed.split("\n")


def test_abbreviations_and_numbers_of_lists_end_no_sentence():
    assert texts("Who served under Lt. Dunnington at St. Mary? Nobody.") == [
        "Who served under Lt. Dunnington at St. Mary?",
        "Nobody.",
    ]
    assert texts("1. What is it? 2. Who made it?") == ["1. What is it?", "2. Who made it?"]


def test_each_sentence_knows_its_place():
    text = "Hi.\n\nOne. Two?\nThree"
    found = find_sentences(text)
    assert [text[one.start : one.end] for one in found] == ["Hi.", "One.", "Two?", "Three"]
    assert [one.paragraph for one in found] == [0, 1, 1, 1]
    assert [one.is_line for one in found] == [True, False, False, True]


def test_questions_that_one_sentence_joins_are_apart_if_each_can_stand_alone():
    assert texts("Who paid the hosting bill, and what did Sami forget in Stade?") == [
        "Who paid the hosting bill",
        "what did Sami forget in Stade?",
    ]
    one = "Who built the old harbour, and how long did it take?"
    assert texts(one) == [one]


def test_two_questions_below_each_other_were_not_wrapped():
    typed = "where do i find the chapter about pkce verifiers\nalso who is my pilot fish"
    assert texts(typed) == typed.split("\n")
