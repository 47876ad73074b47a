from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pyarrow
import pytest

from ragkit.errors import SkippedError
from ragkit.reading import read_file
from ragkit.reading.conversations import (
    Message,
    consolidate_messages_to_markdown,
    read_conversation,
)
from ragkit.reading.conversations.messages import moment, safe_text, write, written_time
from ragkit.reading.conversations.whatsapp import read_whatsapp
from ragkit.reading.formats import Format
from ragkit.settings import ReadingSettings
from ragkit.types import Markup, OutlineEntry

SETTINGS = ReadingSettings()


def read(folder, name, data):
    path = folder / name.rpartition("/")[2]
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_file(path, name, SETTINGS)


def said(reading):
    """Author, time and text of each message, as the spans of the text have them."""
    found = []
    for span in reading.messages:
        header, _, text = reading.text[span.start : span.end].partition("\n")
        assert span.author in header.replace("\\*", "*")
        found.append((span.author, span.at, text))
    return found


def times(text, name="chat.txt"):
    return [one.at.isoformat(" ") for one in read_whatsapp(text, name).messages]


# -- WhatsApp ------------------------------------------------------------------------------------

ANDROID = """\
03/02/2026, 14:05 - Messages and calls are end-to-end encrypted. Tap to learn more.
03/02/2026, 14:05 - Max created group "Trip: Lyon"
03/02/2026, 14:06 - Max Weber: Shall we take the train?
It leaves at 9:15,
and there is another:
- 11:15
03/02/2026, 14:07 - +49 176 040690 27: <Media omitted>
13/02/2026, 09:00 - Inês: IMG-20260213-WA0001.jpg (file attached)
13/02/2026, 23:59 - Max Weber: # not a heading
"""


def test_whatsapp_from_android(tmp_path):
    reading = read(tmp_path, "chats/WhatsApp Chat with Lyon trip.txt", ANDROID)
    assert reading.text == (
        "# Lyon trip\n\n## Tuesday, 3 February 2026\n\n"
        '*2026-02-03 14:05*\nMax created group "Trip: Lyon"\n\n'
        "**Max Weber** · 2026-02-03 14:06\nShall we take the train?\nIt leaves at 9:15,\n"
        "and there is another:\n- 11:15\n\n"
        "**+49 176 040690 27** · 2026-02-03 14:07\n(Media omitted)\n\n"
        "## Friday, 13 February 2026\n\n"
        "**Inês** · 2026-02-13 09:00\nIMG-20260213-WA0001.jpg (file attached)\n\n"
        "**Max Weber** · 2026-02-13 23:59\n\\# not a heading\n"
    )
    assert (reading.title, reading.format, reading.markup) == (
        "Lyon trip",
        "conversation",
        Markup.MARKDOWN,
    )
    assert reading.metadata == {
        "participants": ["Max Weber", "+49 176 040690 27", "Inês"],
        "date": "2026-02-03",
        "last_date": "2026-02-13",
        "platform": "WhatsApp",
        "messages": 5,
    }
    second = reading.text.index("## Friday")
    assert reading.outline == (
        OutlineEntry(13, 2, "Tuesday, 3 February 2026"),
        OutlineEntry(second, 2, "Friday, 13 February 2026"),
    )
    assert [one.at for one in reading.messages][1] == "2026-02-03T14:06:00"
    assert reading.text[reading.messages[1].end :].startswith("\n\n**+49")


def test_whatsapp_from_ios_with_marks_and_narrow_spaces(tmp_path):
    reading = read(
        tmp_path,
        "_chat.txt",
        "\u200e[2/3/26, 2:05:33\u202fPM] Max: \u200eimage omitted\n"
        "[2/3/26, 12:00:01\u202fAM] \u202a+1 202 555 0100\u202c: midnight\n"
        "\u200e[2/14/26, 12:30:00\u202fPM] ~\u202fEva: \u200e<attached: 00000012-PHOTO.jpg>\n",
    )
    assert said(reading) == [
        ("Max", "2026-02-03T14:05:33", "image omitted"),
        ("+1 202 555 0100", "2026-02-03T00:00:01", "midnight"),
        ("Eva", "2026-02-14T12:30:00", "(attached: 00000012-PHOTO.jpg)"),
    ]


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (["03/02/2026, 14:05 - ", "04/02/2026, 14:05 - "], ["2026-02-03", "2026-02-04"]),
        (["02/03/2026, 14:05 - ", "02/14/2026, 14:05 - "], ["2026-02-03", "2026-02-14"]),
        (["03.02.26, 14:05 - ", "14.02.26, 14:05 - "], ["2026-02-03", "2026-02-14"]),
        (["1/12/26, 2:05 PM - ", "2/1/26, 2:05 PM - "], ["2026-01-12", "2026-02-01"]),
        (["2/3/26, 2:05 PM - ", "2/3/26, 2:06 PM - "], ["2026-02-03", "2026-02-03"]),
        (["03/02/2026, 2:05 pm - ", "03/02/2026, 2:06 pm - "], ["2026-02-03", "2026-02-03"]),
        (["2026-02-03 14:05 - ", "2026-12-01 14:05 - "], ["2026-02-03", "2026-12-01"]),
        (["2026/2/3 14:05 - ", "2026/2/4 14:05 - "], ["2026-02-03", "2026-02-04"]),
        (["03-02-2026 14:05 - ", "04-02-2026 14:05 - "], ["2026-02-03", "2026-02-04"]),
        (["3.2.2026 klo 14.05 - ", "4.2.2026 klo 14.05 - "], ["2026-02-03", "2026-02-04"]),
        (["03/02/2026 à 14:05 - ", "04/02/2026 à 14:05 - "], ["2026-02-03", "2026-02-04"]),
        (["3/2/26, 2:05 p. m. - ", "13/2/26, 2:05 p. m. - "], ["2026-02-03", "2026-02-13"]),
        (["[03.02.26, 14:05:33] ", "[04.02.26, 14:05:33] "], ["2026-02-03", "2026-02-04"]),
        (["٣\u200f/٢\u200f/٢٠٢٦، ٢:٠٥ م - "] * 2, ["2026-02-03", "2026-02-03"]),
        (["2026/2/3 下午2:05 - ", "2026/2/4 下午2:05 - "], ["2026-02-03", "2026-02-04"]),
    ],
)
def test_the_order_of_dates_is_that_of_the_whole_file(dates, expected):
    found = times("".join(f"{date}Max: hello\n" for date in dates))
    assert [one[:10] for one in found] == expected
    assert all(one[11:16] in ("14:05", "14:06") for one in found)


def test_names_from_right_to_left_keep_their_letters_and_lose_their_marks(tmp_path):
    reading = read(
        tmp_path,
        "שיחה.txt",
        "03/02/2026, 14:05 - \u200f\u202bנועה כהן\u202c: שלום לכולם\n"
        "03/02/2026, 14:06 - محمد: مرحبا\n",
    )
    assert said(reading) == [
        ("נועה כהן", "2026-02-03T14:05:00", "שלום לכולם"),
        ("محمد", "2026-02-03T14:06:00", "مرحبا"),
    ]


def test_a_log_file_is_no_conversation(tmp_path):
    log = "".join(
        f"[2026-02-03 14:05:{second:02}] {level}: started worker\n"
        for second, level in enumerate(["INFO", "ERROR", "app.DEBUG", "WARNING"] * 4)
    )
    for name in ("app.log", "app.txt"):
        reading = read(tmp_path, name, log)
        assert (reading.format, reading.text) == ("text", log)


# -- Signal --------------------------------------------------------------------------------------


def test_signal_exports(tmp_path):
    text = (
        "[2019-05-29, 15:04] Me: How is everyone?\n[2019-05-29, 15:10] Aya: We're great!\n"
        "(- Jim: 👍 -)\n[2019-05-30, 15:20] Jim: ![photo](./media/a.jpg)\n"
    )
    for name in ("Family/chat.md", "Family/chat.txt"):
        reading = read(tmp_path, name, text)
        assert (reading.title, reading.metadata["platform"]) == ("Family", "Signal")
        assert said(reading) == [
            ("Me", "2019-05-29T15:04:00", "How is everyone?"),
            ("Aya", "2019-05-29T15:10:00", "We're great!\n(- Jim: 👍 -)"),
            ("Jim", "2019-05-30T15:20:00", "![photo](./media/a.jpg)"),
        ]


# -- transcripts ---------------------------------------------------------------------------------

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


# -- how messages are written --------------------------------------------------------------------

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
    text, spans = consolidate_messages_to_markdown(rows)
    assert text == expected
    assert [text[one.start : one.end].split("\n")[-1] for one in spans] == ["first", "second"]
    assert consolidate_messages_to_markdown(pyarrow.Table.from_pylist(rows)) == (text, spans)
    synonyms = [
        {"Sent_At": "2026-02-03 08:00", "from": {"name": "Ann"}, "body": "first"},
        {
            "Sent_At": "2026-02-04 08:00",
            "sender": "Bo",
            "content": [{"type": "text", "text": "second"}],
        },
    ]
    assert consolidate_messages_to_markdown(iter(synonyms)) == (text, spans)
    assert consolidate_messages_to_markdown([]) == ("", ())
    with pytest.raises(TypeError, match="must be a mapping, not str"):
        consolidate_messages_to_markdown(["text"])


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


# -- bad input -----------------------------------------------------------------------------------


def test_lines_in_several_encodings_are_all_read(tmp_path):
    data = (
        "03/02/2026, 14:05 - Jörg: Grüße aus Köln, schön hier, über alles\n".encode()
        + "03/02/2026, 14:06 - José: mañana\n".encode("cp1252")
        + "03/02/2026, 14:07 - Jörg: für später\n".encode()
    )
    reading = read(tmp_path, "mixed.txt", data)
    assert [one[2] for one in said(reading)] == [
        "Grüße aus Köln, schön hier, über alles",
        "mañana",
        "für später",
    ]
    assert reading.messages[1].author == "José"
    assert len(reading.warnings) == 1
    assert "Windows-1252" in reading.warnings[0]


def test_a_message_a_thousand_times_is_read_a_thousand_times(tmp_path):
    reading = read(tmp_path, "same.txt", "03/02/2026, 14:05 - Max: ok\n" * 1000)
    assert reading.metadata["messages"] == len(reading.messages) == 1000
    assert reading.text.count("**Max** · 2026-02-03 14:05\nok") == 1000


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.json", "a.jsonl", "a.mbox"])
def test_an_empty_export_is_skipped(tmp_path, name):
    with pytest.raises(SkippedError, match="The file is empty"):
        read(tmp_path, name, "")
