from __future__ import annotations

import pytest
from reading_files import read, said

from ragkit.reading.conversations.messages import moment

TALK = (
    "Interview, spring\n\n"
    "Dr. Mori: When did you first notice the change in the water?\n\n"
    "Anna: It was in March, I think, shortly after the ice had gone.\n\n"
    "It smelled like iron.\n\n"
    "Dr. Mori: And did anybody else see it at that time?\n"
    "Anna: My brother did. He took three bottles home with him.\n"
    "Dr. Mori: Are these bottles still somewhere to be found?\n"
    "Anna: One of them stands in the fridge, behind the jam.\n"
)


def test_a_plain_transcript(tmp_path):
    reading = read(tmp_path, "interview.txt", TALK)
    assert reading.format == "conversation"
    assert reading.metadata == {
        "participants": ["Dr. Mori", "Anna"],
        "platform": "transcript",
        "messages": 7,
    }
    assert said(reading)[:3] == [
        ("", "", "Interview, spring"),
        ("Dr. Mori", "", "When did you first notice the change in the water?"),
        (
            "Anna",
            "",
            "It was in March, I think, shortly after the ice had gone.\n\nIt smelled like iron.",
        ),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Name: Ann\nAge: 33\nName: Bob\nAge: 44\nName: Cy\nAge: 55\nName: Di\nAge: 66\n",
        "Note: be careful here.\n\nPlain prose follows, for a while. And more of it.\n" * 4,
        "Just a letter.\n\nDear Max: here is what I found.\n\nYours, Eva\n",
        "host: localhost\nport: 8080\nuser: me\nhost: other\nport: 9090\nuser: you\n",
    ],
)
def test_a_text_in_no_known_form_stays_plain_text(tmp_path, text):
    reading = read(tmp_path, "some.txt", text)
    assert (reading.format, reading.text, reading.messages) == ("text", text, ())


def test_a_markdown_transcript_stays_as_it_is(tmp_path):
    body = (
        "# Two friends\n\n## Saturday, 14 March 2026\n\n"
        "**Rui** (09:12): Good morning. See:\n\n"
        "```python\n**Eva** (09:13): code\n# comment\n```\n\n"
        "**Eva** (09:20): Morning!\n\n**Rui** (2026-03-15 00:05): Late.\n\n"
        "## Notes\n\nNothing.\n\n## Sunday, 15 March 2026\n\n"
        "**Eva** (10:00): a\n\n**Rui** (10:01): b\n\n**Eva** (10:02): c\n"
    )
    reading = read(tmp_path, "t.md", f"---\ntitle: Friends\ntags: [chat]\n---\n{body}")
    assert (reading.text, reading.title, reading.format) == (body, "Friends", "conversation")
    assert [(one.author, one.at) for one in reading.messages] == [
        ("Rui", "2026-03-14T09:12:00"),
        ("Eva", "2026-03-14T09:20:00"),
        ("Rui", "2026-03-15T00:05:00"),
        ("Eva", "2026-03-15T10:00:00"),
        ("Rui", "2026-03-15T10:01:00"),
        ("Eva", "2026-03-15T10:02:00"),
    ]
    assert reading.text[reading.messages[2].start : reading.messages[2].end].endswith("Late.")
    assert reading.metadata == {
        "tags": ["chat"],
        "participants": ["Rui", "Eva"],
        "date": "2026-03-14",
        "last_date": "2026-03-15",
        "platform": "transcript",
        "messages": 6,
    }


@pytest.mark.parametrize(
    "text",
    [
        "# Guide\n\n**Install:** run it.\n\n**Usage:** call it.\n\n**Note:** take care.\n" * 3,
        "# API\n\n**get** (string): the key.\n\n**put** (string): the value.\n\n" * 4,
        "# Minutes\n\nLong prose.\n\n" + "word " * 300 + "\n\n**A** · 2026-01-01\nx\n\n"
        "**B** · 2026-01-02\ny\n",
    ],
)
def test_ordinary_markdown_is_no_conversation(tmp_path, text):
    assert read(tmp_path, "guide.md", text).format == "markdown"


def test_a_time_of_an_impossible_zone_is_no_time(tmp_path):
    turns = "\n\n".join(f"**Anna** · 2026-02-03 14:0{n} +99:00\nIt stands." for n in range(4))
    reading = read(tmp_path, "talk.md", f"# Talk\n\n{turns}\n")
    assert reading.text.count("It stands.") == 4
    assert moment("2026-02-03 14:05 +99:00") is None
