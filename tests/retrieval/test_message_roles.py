"""Messages of a text by whoever is named, and whose part it is to ask."""

from __future__ import annotations

import pytest

from ragkit.retrieval.query_segmentation.message_roles import (
    asking_roles,
    find_messages,
    typed_alone,
)

ASKED = ("How long is the warranty?", "Where is the key kept?", "And the second pump?")
SAID = ("Two years, if it was registered.", "It hangs beside the door of the shed.")


def chat(user: str, other: str, *, between: str = "\n") -> str:
    turns = [ASKED[0], SAID[0], ASKED[1], SAID[1], ASKED[2]]
    return between.join((other if number % 2 else user) + turn for number, turn in enumerate(turns))


@pytest.mark.parametrize(
    ("user", "other", "asking"),
    [
        ("user: ", "agent: ", "user"),
        ("Me: ", "Support: ", "me"),
        ("You said:\n", "ChatGPT said:\n", "you"),
        ("## User\n\n", "## Assistant\n\n", "user"),
        ("Anna: ", "Ben Miller: ", "anna"),
        ("[14:05] Anna K.: ", "[14:06] Ben: ", "anna k"),
        ("12.03.26, 09:12 - Anna: ", "12.03.26, 09:14 - Ben: ", "anna"),
        ("**Anna** · 2026-03-12 09:12\n", "**Ben** · 2026-03-12 09:14\n", "anna"),
        ("**Anna**\n", "**Ben**\n", "anna"),
        ("Anna  2:05 PM\n", "Ben  2:06 PM\n", "anna"),
        ("<anna> ", "<ben> ", "anna"),
        ("Q: ", "A: ", "q"),
        ("Kunde: ", "Wartung: ", "kunde"),
        ("", "> ", "0"),
    ],
)
@pytest.mark.parametrize("between", ["\n", "\n\n"])
def test_roles_are_whoever_takes_turns(user, other, asking, between):
    units = find_messages(chat(user, other, between=between))
    assert [unit.text for unit in units] == [ASKED[0], SAID[0], ASKED[1], SAID[1], ASKED[2]]
    assert asking_roles(units) == {asking}


def test_two_who_ask_alike_have_no_roles():
    text = "Anna: How are the pumps?\nBen: Wet. How is the roof?\nAnna: Dry.\nBen: Is it paid?"
    units = find_messages(text)
    assert [unit.role for unit in units] == ["anna", "ben", "anna", "ben"]
    assert asking_roles(units) == frozenset()


@pytest.mark.parametrize(
    "text",
    [
        "Note: the pump is wet.\nPrice: 40 euros.\nColour: blue.",
        "# Pumps\n\nThey pump.\n\n# Roofs\n\nThey keep dry.\n\n# Doors\n\nThey open.",
        "Shopping list\n\nMilk\nBread\nMilk again",
        "How long is it? It is 3: 4 at least.",
    ],
)
def test_fields_headings_and_lists_are_no_roles(text):
    assert asking_roles(find_messages(text)) == frozenset()


def test_what_one_person_typed_again_and_again_keeps_its_place_without_names_and_times():
    text = (
        "12/03/2026, 18:02 - Messages are encrypted.\n12/03/2026, 18:05 - Rui: where is the key\n"
        "12/03/2026, 18:06 - Rui: <Media omitted>\n12/03/2026, 18:09 - Rui: and the boat"
    )
    typed = typed_alone(text, find_messages(text))
    assert typed.split() == ["where", "is", "the", "key", "and", "the", "boat"]
    assert typed.index("where") == text.index("where")
    assert typed.index("boat") == text.index("boat")


def test_a_text_of_two_speakers_or_none_is_not_typed_alone():
    for text in ("Anna: Where?\nBen: Here.\nAnna: Who?", "Where is it?"):
        assert typed_alone(text, find_messages(text)) == text


def test_a_heading_inside_of_one_person_s_message_loses_no_word_of_it():
    text = "user: Who has a pump?\n# Boats\nWho has a boat?\nuser: where is it"
    typed = typed_alone(text, find_messages(text))
    assert typed.split() == [*text[:-17].split(), "where", "is", "it"]
