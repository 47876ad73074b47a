from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pandas
import pyarrow
import pytest

from ragkit.reading.conversations import consolidate_messages_to_markdown, read_conversation
from ragkit.reading.conversations.messages import (
    Message,
    moment,
    safe_text,
    write,
    written_time,
)
from ragkit.reading.formats import Format

HOSTILE = "\n".join(
    [
        "# heading",
        "Title",
        "=====",
        "- item",
        "---",
        "```",
        "# inside",
        "**Boss** · 2026-01-01 10:00",
        "```",
        "**Boss** · 2026-01-01 10:00",
        "<!-- never closed",
        "~~~ never closed",
        "<script>",
    ]
)


def test_nothing_in_a_message_starts_a_section_or_a_message():
    assert safe_text(HOSTILE).split("\n") == [
        "\\# heading",
        "Title",
        "\\=====",
        "- item",
        "\\---",
        "```",
        "# inside",
        " **Boss** · 2026-01-01 10:00",
        "```",
        " **Boss** · 2026-01-01 10:00",
        "\\<!-- never closed",
        "\\~~~ never closed",
        "\\<script>",
    ]
    text, spans, outline = write([Message("Eve", None, HOSTILE), Message("Ann", None, "after")])
    again = read_conversation(text * 3, "x.md", Format.MARKDOWN)
    assert len(spans) == 2
    assert outline == ()
    assert again is None or {one.author for one in again.messages} <= {"Eve", "Ann"}


def test_what_is_written_is_read_back_the_same():
    east = timezone(timedelta(hours=5, minutes=30))
    messages = [
        Message("Ann *A*", datetime(2026, 2, 3, 14, 5, tzinfo=east), "one\n\ntwo", "Bo"),
        Message("Bo", datetime(2026, 2, 3, 9, 0, tzinfo=UTC), "three"),
    ]
    text, spans, outline = write(messages, "Title")
    assert text == (
        "# Title\n\n## Tuesday, 3 February 2026\n\n"
        "**Ann \\*A\\*** · 2026-02-03 14:05 +05:30 · in reply to Bo\none\n\ntwo\n\n"
        "**Bo** · 2026-02-03 09:00 UTC\nthree\n"
    )
    again = read_conversation(text, "x.md", Format.MARKDOWN)
    assert again.messages == spans
    assert again.text == text
    assert [one.title for one in outline] == ["Tuesday, 3 February 2026"]


def test_rows_of_a_table_and_of_mappings_give_the_same():
    rows = [
        {"timestamp": datetime(2026, 2, 4, 8, 0), "author": "Bo", "message": "second"},
        {"timestamp": datetime(2026, 2, 3, 8, 0), "author": "Ann", "message": "first"},
        {"timestamp": None, "author": "Bo", "message": ""},
    ]
    expected = (
        "## Tuesday, 3 February 2026\n\n**Ann** · 2026-02-03 08:00\nfirst\n\n"
        "## Wednesday, 4 February 2026\n\n**Bo** · 2026-02-04 08:00\nsecond\n"
    )
    assert consolidate_messages_to_markdown(rows) == expected
    assert consolidate_messages_to_markdown(pyarrow.Table.from_pylist(rows)) == expected
    assert consolidate_messages_to_markdown(pandas.DataFrame(rows)) == expected
    synonyms = [
        {"Sent_At": "2026-02-03 08:00", "from": {"name": "Ann"}, "body": "first"},
        {
            "Sent_At": "2026-02-04 08:00",
            "sender": "Bo",
            "content": [{"type": "text", "text": "second"}],
        },
    ]
    assert consolidate_messages_to_markdown(iter(synonyms)) == expected
    objects = [Message(row["author"], row["timestamp"], row["message"]) for row in rows]
    assert consolidate_messages_to_markdown(objects) == expected
    assert consolidate_messages_to_markdown([]) == ""
    for wrong in ("text", 7, None):
        with pytest.raises(TypeError, match="must be a mapping or a message, not"):
            consolidate_messages_to_markdown([wrong])


def test_what_consolidates_messages_is_read_as_the_same_conversation():
    rows = [
        {"timestamp": 1770127533 + 60 * n, "author": f"P{n % 2}", "message": f"**P1** {n}\n# {n}"}
        for n in range(4)
    ]
    text = consolidate_messages_to_markdown(rows)
    again = read_conversation(text, "x.md", Format.MARKDOWN)
    assert again.text == text
    assert [one.author for one in again.messages] == ["P0", "P1", "P0", "P1"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1770127533, "2026-02-03 14:05 UTC"),
        (1770127533000, "2026-02-03 14:05 UTC"),
        ("1770127533.000200", "2026-02-03 14:05 UTC"),
        ("2026-02-03T14:05:33Z", "2026-02-03 14:05 UTC"),
        ("2026-02-03T14:05:33-08:00", "2026-02-03 14:05 -08:00"),
        ("2026-02-03 14:05", "2026-02-03 14:05"),
        ("Tue, 3 Feb 2026 14:05:33 +0100", "2026-02-03 14:05 +01:00"),
        ("3 February 2026 14:05", "2026-02-03 14:05"),
    ],
)
def test_times_are_understood(value, expected):
    assert written_time(moment(value)) == expected


@pytest.mark.parametrize("value", ["14:05", "May", "", None, True, 7, "x" * 99, float("nan"), {}])
def test_what_is_no_time_is_none(value):
    assert moment(value) is None
