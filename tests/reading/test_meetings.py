"""Chats that Zoom saves, and transcripts by turns: who said what, and nothing else is one."""

from __future__ import annotations

import pytest

from ragkit.reading.conversations.detection import of_text
from ragkit.reading.conversations.meetings import read_meeting


def said(text, name="chat.txt"):
    conversation = read_meeting(text, name)
    assert conversation is not None
    return [(message.author, message.text) for message in conversation.messages]


@pytest.mark.parametrize(
    "text",
    [
        "00:03:25\tAnna Berg:\tHello all\n00:03:40\tTom Lind:\tYes, and\n\tmore of it\n",
        "10:32:15\t From  Anna Berg : Hello all\n"
        "10:32:40\t From  Tom Lind  to  Everyone : Yes, and\n\tmore of it",
        "10:32:15 From Anna Berg to Everyone:\n\tHello all\n10:32:40 From Tom Lind to Everyone:\n"
        "\tYes, and\n\tmore of it\n",
        "10:32:15 Von Anna Berg an Alle:\n\tHello all\n10:32:40 Von Tom Lind an Alle:\n"
        "\tYes, and\n\tmore of it\n",
    ],
)
def test_chats_of_zoom_in_every_form(text):
    assert said(text) == [("Anna Berg", "Hello all"), ("Tom Lind", "Yes, and\nmore of it")]


def test_whom_a_private_message_was_sent_to_is_said():
    text = (
        "10:32:15 From Anna to Everyone: Hi\n10:33:01 From Anna to Tom Lind(Direct Message) : psst"
    )
    assert said(text) == [("Anna", "Hi"), ("Anna", "(to Tom Lind) psst")]


def test_the_day_is_that_of_the_message_or_of_the_folder():
    dated = (
        "2023-05-01 10:32:15 From Anna to Everyone:\n\tHi\n"
        "2023-05-02 09:00:00 From Tom to Everyone:\n\tHo"
    )
    conversation = read_meeting(dated, "chat.txt")
    assert [message.at.isoformat() for message in conversation.messages] == [
        "2023-05-01T10:32:15",
        "2023-05-02T09:00:00",
    ]
    plain = "10:32:15\tAnna:\tHi\n10:41:00\tTom:\tHo"
    name = "2024-02-29 10.30.00 Harbour board/meeting_saved_chat.txt"
    conversation = read_meeting(plain, name)
    assert conversation.title == "2024-02-29 10.30.00 Harbour board"
    assert conversation.messages[0].at.isoformat() == "2024-02-29T10:32:15"
    sessions = [message.session for message in read_meeting(plain, "harbour.txt").messages]
    assert sessions == ["10:30:00", "10:40:00"]


TRANSCRIPT = """Harbour board

Anna Berg   0:03
Good morning everyone.

Tom Lind   0:08
Morning, let us start.
The crane is dearer.

Anna Berg   1:05:10
Thanks for joining.
Tom Lind\t1:05:12
Bye.
"""


def test_a_transcript_has_turns_and_what_stands_above_them():
    assert said(TRANSCRIPT, "board.txt") == [
        ("", "Harbour board"),
        ("Anna Berg", "Good morning everyone."),
        ("Tom Lind", "Morning, let us start.\nThe crane is dearer."),
        ("Anna Berg", "Thanks for joining."),
        ("Tom Lind", "Bye."),
    ]
    sessions = [message.session for message in read_meeting(TRANSCRIPT, "board.txt").messages]
    assert sessions == ["0:00:00", "0:00:00", "0:00:00", "1:05:00", "1:05:00"]
    in_minutes = TRANSCRIPT.replace("1:05:1", "65:1")
    sessions = [message.session for message in read_meeting(in_minutes, "board.txt").messages]
    assert sessions[3:] == ["1:05:00", "1:05:00"]


@pytest.mark.parametrize(
    "text",
    [
        "Intro   0:45\nHarbour song   3:12\nFerry blues   2:50\nIntro   0:45\nOutro   1:00\n",
        "Breakfast   8:00\nEggs\nLunch   12:30\nSoup\nDinner   18:00\nFish\nTea   20:00\nCake",
        "10:32:15 the ferry left\n10:33:15 the ferry came\n",
        "From Anna to Tom: a letter\nFrom Tom to Anna: another\n",
        "10:32:15 From Anna to Everyone: only one\n",
        "",
    ],
)
def test_lists_schedules_and_logs_are_no_meetings(text):
    assert read_meeting(text, "a.txt") is None


def test_texts_are_recognised_by_themselves():
    conversation = of_text(TRANSCRIPT, "board.txt")
    assert conversation is not None
    assert conversation.platform == "transcript"
