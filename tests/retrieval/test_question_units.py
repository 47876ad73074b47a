"""Sentences of typed texts, and which of them ask."""

from __future__ import annotations

import pytest

from ragkit.retrieval.query_segmentation.question_units import find_sentences


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
    assert [one.is_apart for one in found] == [True, False, False, True]


def test_questions_that_one_sentence_joins_are_apart_if_each_can_stand_alone():
    assert texts("Who paid the hosting bill, and what did Sami forget in Stade?") == [
        "Who paid the hosting bill",
        "what did Sami forget in Stade?",
    ]
    one = "Who built the old harbour, and how long did it take?"
    assert texts(one) == [one]


@pytest.mark.parametrize(
    ("text", "questions"),
    [
        (
            "What does the ferry cost, how do I reach the northern island, "
            "and can the dog travel in summer?",
            [
                "What does the ferry cost",
                "how do I reach the northern island",
                "can the dog travel in summer?",
            ],
        ),
        (
            "I need to find out how cold the lake was and whether the mesh held up and then for "
            "the report I need the price of a pump",
            [
                "I need to find out how cold the lake was",
                "whether the mesh held up",
                "for the report I need the price of a pump",
            ],
        ),
        (
            "number one I can't see how the roof is sealed, and number two what's the deal with "
            "the attic window",
            [
                "number one I can't see how the roof is sealed",
                "what's the deal with the attic window",
            ],
        ),
        (
            "Hola, dos preguntas: ¿cuánto cuesta el billete? ¿Y dónde está el puerto?",
            ["Hola, dos preguntas:", "¿cuánto cuesta el billete?", "¿Y dónde está el puerto?"],
        ),
        (
            "Emma author Is there a tunnel below the harbour?",
            ["Emma author", "Is there a tunnel below the harbour?"],
        ),
        (
            "A question about boats: Wie miete ich eins?",
            ["A question about boats:", "Wie miete ich eins?"],
        ),
    ],
)
def test_questions_are_told_apart_where_no_mark_parts_them(text, questions):
    assert texts(text) == questions


@pytest.mark.parametrize(
    "question",
    [
        "Is it true that, as Jonas said in the kitchen, which is where all is decided, it rains?",
        "He asked about the duckweed, whether we take back a buoy that was in the water?",
        "What do we do when the pump fails and the lake is frozen?",
        "Which plants grow in the shade and need little water in summer?",
    ],
)
def test_one_question_is_not_torn_at_its_clauses(question):
    assert texts(question) == [question]


def items(text: str) -> list[str]:
    return [one.text for one in find_sentences(text) if one.is_item]


def test_an_item_of_a_list_is_one_sentence():
    assert items("1. Books. What may I spend?\n2. Salary. When?\n   And how much?\n\nWho?") == [
        "1. Books. What may I spend?",
        "2. Salary. When? And how much?",
    ]
    assert items("(a) The key? And the boat?\n\n(b) The shed") == [
        "(a) The key? And the boat?",
        "(b) The shed",
    ]
    assert items("Hi. 1) is it wet? 2) who knows? Thanks") == ["1) is it wet?", "2) who knows?"]


@pytest.mark.parametrize(
    "text",
    [
        "- only one item",
        "1. One.\n3. Three.",
        "1. Where is it?\nIn the shed.\n2. Who has it?\nBen.",
        "- " + "a long item " * 20 + "\n- another",
        "```\n- x\n- y\n```",
    ],
)
def test_what_is_no_list_of_short_items_has_none(text):
    assert items(text) == []


def test_code_never_asks():
    found = find_sentences("Why?\n```\nx = is_wet() ? 1 : 2\nHeronError: missing scope?\n```\nWho?")
    assert [one.text for one in found if one.asks] == ["Why?", "Who?"]
    assert not any(one.is_apart for one in found if one.text.startswith(("x", "Heron", "`")))


def test_two_questions_below_each_other_were_not_wrapped():
    typed = "where do i find the chapter about pkce verifiers\nalso who is my pilot fish"
    assert texts(typed) == typed.split("\n")
