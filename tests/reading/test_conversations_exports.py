from __future__ import annotations

import io
import json
import zipfile

import pytest

from ragkit.errors import ReadingError, SkippedError
from ragkit.reading import ReaderPool, ReadTask, read_file
from ragkit.settings import ReadingSettings

SETTINGS = ReadingSettings()


def read(folder, name, data):
    path = folder / name.rpartition("/")[2]
    if isinstance(data, dict | list):
        data = json.dumps(data, ensure_ascii=False)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_file(path, name, SETTINGS)


def said(reading):
    """Author, time and text of each message, as the spans of the text have them."""
    return [
        (one.author, one.at, reading.text[one.start : one.end].partition("\n")[2])
        for one in reading.messages
    ]


def headers(reading):
    return [reading.text[one.start : one.end].partition("\n")[0] for one in reading.messages]


def sessions(reading):
    return [one.title for one in reading.outline]


# -- Slack ---------------------------------------------------------------------------------------

DAY = [
    {"type": "message", "ts": "1770127533.000100", "user": "U01ANN", "text": "Hi <@U02BOB>, see "
     "<https://a.example/x|the plan> &amp; <https://b.example> in <#C01GEN|general> <!here>"},
    {"type": "message", "ts": "1770127600.000200", "user": "U02BOB", "text": "a < b",
     "thread_ts": "1770127533.000100", "files": [{"name": "plan.pdf"}]},
    {"type": "message", "subtype": "bot_message", "ts": "1770127700.000300", "username": "Deploy",
     "text": "", "attachments": [{"title": "Build 7", "text": "passed for <@U01ANN>"}]},
    {"type": "message", "subtype": "channel_join", "ts": "1770127500.0", "user": "U03CYD",
     "text": "<@U03CYD> has joined the channel"},
]  # fmt: skip
PEOPLE = [
    {"id": "U01ANN", "name": "ann", "profile": {"real_name": "Ann Lee"}},
    {"id": "U02BOB", "name": "bob", "real_name": "Bob Ray"},
    {"id": "U03CYD", "name": "cyd"},
]


def zipped(files):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, value in files.items():
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            archive.writestr(name, text)
    return target.getvalue()


def test_a_slack_day_on_its_own(tmp_path):
    day = [dict(one) for one in DAY]
    day[0]["user_profile"] = {"real_name": "Ann Lee", "display_name": "ann"}
    reading = read(tmp_path, "export/general/2026-02-03.json", day)
    assert (reading.title, reading.metadata["platform"]) == ("#general 2026-02-03", "Slack")
    assert said(reading) == [
        ("", "2026-02-03T14:05:00+00:00", "@U03CYD has joined the channel"),
        ("Ann Lee", "2026-02-03T14:05:33.000100+00:00",
         "Hi @U02BOB, see [the plan](https://a.example/x) & https://b.example in #general @here"),
        ("U02BOB", "2026-02-03T14:06:40.000200+00:00", "a < b\n(attached: plan.pdf)"),
        ("Deploy", "2026-02-03T14:08:20.000300+00:00", "> Build 7\n> passed for @Ann Lee"),
    ]  # fmt: skip
    assert headers(reading)[2] == "**U02BOB** · 2026-02-03 14:06 UTC · in reply to Ann Lee"


def test_a_whole_slack_export(tmp_path):
    later = [{"type": "message", "ts": "1770213933.0", "user": "U01ANN", "text": "done",
              "thread_ts": "1770127533.000100"}]  # fmt: skip
    talk = [{"type": "message", "ts": "1770127533.0", "user": "U02BOB", "text": "psst"}]
    data = zipped(
        {
            "users.json": PEOPLE,
            "channels.json": [{"id": "C01GEN", "name": "general"}],
            "dms.json": [{"id": "D01", "members": ["U01ANN", "U02BOB"]}],
            "general/2026-02-04.json": later,
            "general/2026-02-03.json": DAY,
            "D01/2026-02-03.json": talk,
            "D01/2026-02-05.json": "[{broken",
        }
    )
    reading = read(tmp_path, "Kolk Slack export.zip", data)
    assert (reading.title, reading.format) == ("Kolk Slack export", "conversation")
    assert sessions(reading) == [
        "Ann Lee, Bob Ray, Tuesday, 3 February 2026",
        "#general, Tuesday, 3 February 2026",
        "#general, Wednesday, 4 February 2026",
    ]
    assert [(one[0], one[2].split("\n")[0]) for one in said(reading)] == [
        ("Bob Ray", "psst"),
        ("", "@cyd has joined the channel"),
        ("Ann Lee",
         "Hi @Bob Ray, see [the plan](https://a.example/x) & https://b.example in #general @here"),
        ("Bob Ray", "a < b"),
        ("Deploy", "> Build 7"),
        ("Ann Lee", "done"),
    ]  # fmt: skip
    assert reading.metadata["participants"] == ["Bob Ray", "Ann Lee", "Deploy"]
    assert reading.warnings == ("D01/2026-02-05.json is not valid JSON and was left out.",)


def test_other_zipped_exports(tmp_path):
    chat = "03/02/2026, 14:05 - Ann: hello\n03/02/2026, 14:06 - Bob: there\n"
    reading = read(tmp_path, "WhatsApp Chat - Ann.zip", zipped({"_chat.txt": chat, "a.jpg": "x"}))
    assert (reading.title, len(reading.messages)) == ("Ann", 2)
    with pytest.raises(SkippedError, match="Archives are not read"):
        read(tmp_path, "a.zip", zipped({"result.json": {"scores": [1, 2]}}))
    with pytest.raises(SkippedError, match="Archives are not read"):
        read(tmp_path, "b.zip", zipped({"photos/2026-02-03.json": []}))
    with pytest.raises(ReadingError, match="unpacks to far more"):
        read(tmp_path, "c.zip", zipped({"result.json": " " * 400_000_000}))


# -- Discord, Telegram ---------------------------------------------------------------------------


def test_discord(tmp_path):
    def message(number, author, text, **more):
        return {
            "id": str(number), "type": "Default", "timestamp": f"2026-02-03T14:05:{number}+01:00",
            "content": text, "author": {"name": author.lower(), "nickname": author}, **more,
        }  # fmt: skip

    value = {
        "guild": {"name": "Lake"},
        "channel": {"name": "help", "topic": ""},
        "messages": [
            message(10, "Ann", "Why?", attachments=[{"fileName": "log.txt"}]),
            message(11, "Bob", "Because.", type="Reply", reference={"messageId": "10"}),
            message(12, "Cy", "", embeds=[{"title": "Docs", "description": "one\ntwo"}]),
            message(13, "Cy", "", type="ChannelPinnedMessage"),
            message(14, "Cy", "called", type="Call"),
        ],
    }
    reading = read(tmp_path, "help.json", value)
    assert (reading.title, reading.metadata["platform"]) == ("Lake · #help", "Discord")
    assert said(reading) == [
        ("Ann", "2026-02-03T14:05:10+01:00", "Why?\n(attached: log.txt)"),
        ("Bob", "2026-02-03T14:05:11+01:00", "Because."),
        ("Cy", "2026-02-03T14:05:12+01:00", "> Docs\n> one\n> two"),
        ("", "2026-02-03T14:05:13+01:00", "Cy pinned a message."),
    ]
    assert headers(reading)[1] == "**Bob** · 2026-02-03 14:05 +01:00 · in reply to Ann"


TELEGRAM = {
    "name": "Family",
    "type": "private_group",
    "id": 1,
    "messages": [
        {"id": 1, "type": "service", "date": "2026-02-03T14:00:00", "actor": "Ann",
         "action": "create_group", "text": ""},
        {"id": 2, "type": "message", "date": "2026-02-03T14:05:33", "date_unixtime": "1770123933",
         "from": "Ann", "text": ["See ", {"type": "text_link", "text": "this", "href": "https://a.example"},
                                 " and ", {"type": "code", "text": "x"}]},
        {"id": 3, "type": "message", "date": "2026-07-03T14:06:00", "date_unixtime": "1783080360",
         "from": "Bob", "text": "Yes", "reply_to_message_id": 2, "photo": "photos/1.jpg"},
        {"id": 4, "type": "message", "date": "2026-07-03T14:07:00", "from": None,
         "from_id": "user9", "text": "", "media_type": "voice_message", "file": "(not included)"},
    ],
}  # fmt: skip


def test_telegram_keeps_the_offset_of_each_message(tmp_path):
    reading = read(tmp_path, "result.json", TELEGRAM)
    assert (reading.title, reading.metadata["platform"]) == ("Family", "Telegram")
    assert said(reading) == [
        ("Ann", "2026-02-03T14:05:33+01:00", "See [this](https://a.example) and `x`"),
        ("Bob", "2026-07-03T14:06:00+02:00", "Yes\n(photo)"),
        ("user9", "2026-07-03T14:07:00", "(voice message)"),
    ]
    assert headers(reading)[1].endswith("in reply to Ann")
    assert reading.metadata["last_date"] == "2026-07-03"


def test_all_chats_of_telegram_are_sessions(tmp_path):
    other = {**TELEGRAM, "name": "Work"}
    reading = read(tmp_path, "result.json", {"chats": {"list": [TELEGRAM, other]}})
    assert (reading.title, sessions(reading)) == ("Telegram", ["Family", "Work"])
    assert len(reading.messages) == 6


# -- assistants ----------------------------------------------------------------------------------


def node(key, parent, role, parts, children=(), **more):
    content = {"content_type": "text", "parts": parts}
    message = {"author": {"role": role}, "create_time": 1770127533.5, "content": content, **more}
    return {"id": key, "parent": parent, "children": list(children), "message": message}


def test_chatgpt_follows_the_current_branch(tmp_path):
    mapping = {
        "r": {"id": "r", "parent": None, "children": ["s"], "message": None},
        "s": node("s", "r", "system", ["be kind"], ["a"]),
        "a": node("a", "s", "user", ["Hello?"], ["b1", "b2"]),
        "b1": node("b1", "a", "assistant", ["first try"]),
        "b2": node("b2", "a", "assistant", ["second try\n\n# Title\n\n```py\n# code\n```"], ["t"]),
        "t": node("t", "b2", "tool", ["result " * 200], ["u"]),
        "u": node("u", "t", "user", [{"content_type": "image_asset_pointer"}, "and this?"]),
    }
    value = [
        {"title": "Greeting", "mapping": mapping, "current_node": "u"},
        {"title": "Loop", "current_node": "x",
         "mapping": {"x": node("x", "x", "user", ["round"])}},
    ]  # fmt: skip
    reading = read(tmp_path, "conversations.json", value)
    assert (reading.title, sessions(reading)) == ("ChatGPT conversations", ["Greeting", "Loop"])
    at = "2026-02-03T14:05:33.500000+00:00"
    found = said(reading)
    assert found[:2] == [
        ("User", at, "Hello?"),
        ("ChatGPT", at, "second try\n\n\\# Title\n\n```py\n# code\n```"),
    ]
    assert found[2][2].startswith("(result: result result")
    assert len(found[2][2]) < 320
    assert found[3:] == [("User", at, "(picture)\nand this?"), ("User", at, "round")]
    one = read(tmp_path, "one.json", value[0])
    assert (one.title, sessions(one), len(one.messages)) == ("Greeting", [], 4)


def test_claude(tmp_path):
    value = [
        {
            "uuid": "1", "name": "Soup", "created_at": "2026-02-03T14:05:33.123Z",
            "chat_messages": [
                {"sender": "human", "text": "Recipe?", "created_at": "2026-02-03T14:05:33.123Z",
                 "attachments": [{"file_name": "list.txt"}], "files": [{"file_name": "list.txt"}]},
                {"sender": "assistant", "text": "old", "created_at": "2026-02-03T14:05:40Z",
                 "content": [{"type": "thinking", "thinking": "hm"},
                             {"type": "tool_use", "name": "search", "input": {"q": "soup"}},
                             {"type": "tool_result",
                              "content": [{"type": "text", "text": "3 hits"}]},
                             {"type": "text", "text": "Potatoes."}]},
            ],
        },
    ]  # fmt: skip
    reading = read(tmp_path, "conversations.json", value)
    assert (reading.title, reading.metadata["platform"]) == ("Soup", "Claude")
    assert said(reading) == [
        ("User", "2026-02-03T14:05:33.123000+00:00", "Recipe?\n(attached: list.txt)"),
        ("Claude", "2026-02-03T14:05:40+00:00",
         '(tool search: {"q": "soup"})\n\n(result: 3 hits)\n\nPotatoes.'),
    ]  # fmt: skip


def test_transcripts_of_agents(tmp_path):
    lines = [
        {"type": "summary", "summary": "Fix the test"},
        {"type": "user", "timestamp": "2026-02-03T14:05:33Z",
         "message": {"role": "user", "content": "Why does it fail?"}},
        {"type": "assistant", "timestamp": "2026-02-03T14:05:40Z",
         "message": {"role": "assistant", "content": [
             {"type": "text", "text": "I look."},
             {"type": "tool_use", "name": "Shell", "input": {"command": "x" * 900}}]}},
        {"type": "user", "timestamp": "2026-02-03T14:05:41Z",
         "message": {"role": "user", "content": [{"type": "tool_result", "content": "2 failed"}]}},
        {"type": "response_item", "timestamp": "2026-02-03T14:05:42Z", "payload": {
            "type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "Fixed."}]}},
        {"role": "system", "content": "be brief"},
        {"role": "tool", "name": "Shell", "content": "ok"},
    ]  # fmt: skip
    reading = read(tmp_path, "run.jsonl", "\n".join(json.dumps(one) for one in lines))
    assert [(one[0], one[2]) for one in said(reading)] == [
        ("User", "Why does it fail?"),
        ("Assistant", 'I look.\n\n(tool Shell: {"command": "' + "x" * 286 + "…)"),
        ("User", "(result: 2 failed)"),
        ("Assistant", "Fixed."),
        ("Shell", "(result: ok)"),
    ]
    assert reading.messages[0].at == "2026-02-03T14:05:33+00:00"
    many = [{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}]
    tuned = read(tmp_path, "set.jsonl", "\n".join([json.dumps(many[0])] * 2))
    assert sessions(tuned) == ["Conversation 1", "Conversation 2"]


# -- rows and mailboxes --------------------------------------------------------------------------


def test_json_lines_of_messages_in_the_order_of_time(tmp_path):
    rows = [
        {"timestamp": "2026-02-04T08:00:00+02:00", "author": "Bo", "message": "later"},
        {"timestamp": "2026-02-03T23:30:00-05:00", "author": "Ann", "message": "first"},
    ]
    for name, text in (
        ("a.jsonl", "\n".join(map(json.dumps, rows))),
        ("a.json", json.dumps(rows)),
        ("b.json", json.dumps({"title": "a", "messages": rows}, indent=1)),
    ):
        reading = read(tmp_path, name, text)
        assert said(reading) == [
            ("Ann", "2026-02-03T23:30:00-05:00", "first"),
            ("Bo", "2026-02-04T08:00:00+02:00", "later"),
        ]
        assert reading.title == "a"
        assert sessions(reading) == ["Tuesday, 3 February 2026", "Wednesday, 4 February 2026"]


@pytest.mark.parametrize(
    "value",
    [
        [{"name": "apple", "price": 3}],
        [{"author": "Ann", "title": "A book", "year": 1999}],
        {"messages": {"en": "Hello"}, "user": "me"},
        {"user": "me", "from": "here"},
        [],
    ],
)
def test_other_json_is_no_conversation(tmp_path, value):
    assert read(tmp_path, "x.json", value).format == "json"


MBOX = (
    "From ann@a.example Tue Feb  3 14:05:33 2026\n"
    "From: Ann Lee <ann@a.example>\nSubject: Lunch\nMessage-ID: <1@a>\n"
    "Date: Tue, 3 Feb 2026 14:05:33 +0100\n\nPizza?\n>From the new place.\n\n"
    "From bob@b.example Tue Feb  3 15:00:00 2026\n"
    "From: bob@b.example\nSubject: Other\nMessage-ID: <9@b>\n"
    "Date: Tue, 3 Feb 2026 15:00:00 +0100\n\nFrom now on: no.\n\n"
    "From bob@b.example Tue Feb  3 16:00:00 2026\n"
    "From: =?utf-8?q?B=C3=B6b?= <bob@b.example>\nSubject: Re: AW: Lunch\nMessage-ID: <2@b>\n"
    "In-Reply-To: <1@a>\nReferences: <1@a>\nDate: Tue, 3 Feb 2026 16:00:00 +0100\n\nYes!\n"
)


@pytest.mark.parametrize("name", ["mail.mbox", "Inbox", "inbox.txt"])
def test_a_mailbox_by_threads(tmp_path, name):
    reading = read(tmp_path, name, MBOX)
    assert (reading.format, reading.metadata["platform"]) == ("conversation", "mbox")
    assert sessions(reading) == ["Lunch", "Other"]
    assert said(reading) == [
        ("Ann Lee", "2026-02-03T14:05:33+01:00", "Pizza?\nFrom the new place."),
        ("Böb", "2026-02-03T16:00:00+01:00", "Yes!"),
        ("bob@b.example", "2026-02-03T15:00:00+01:00", "From now on: no."),
    ]
    assert headers(reading)[1] == "**Böb** · 2026-02-03 16:00 +01:00 · in reply to Ann Lee"


# -- broken ones ---------------------------------------------------------------------------------


def lines_of(count):
    return [
        json.dumps({"timestamp": 1770127533 + n, "author": "Ann", "message": f"number {n}"})
        for n in range(1, count + 1)
    ]


def check_broken(reading, lost):
    texts = [one[2] for one in said(reading)]
    assert texts == [f"number {n}" for n in range(1, 5001) if n != lost]
    assert reading.warnings == (
        "Line 4,711 is not valid JSON and was left out; all else was read.",
    )


def test_json_lines_broken_at_line_4711(tmp_path):
    lines = lines_of(5000)
    lines[4710] = lines[4710][:-20]
    check_broken(read(tmp_path, "a.jsonl", "\n".join(lines)), 4711)


def test_a_json_list_broken_at_line_4711(tmp_path):
    lines = lines_of(5000)
    lines[4709] = lines[4709].replace(', "message"', ' "message"')
    text = "[\n" + ",\n".join(lines) + "\n]\n"
    assert text.split("\n")[4710] == f"{lines[4709]},"
    check_broken(read(tmp_path, "a.json", text), 4710)


def test_an_export_that_was_cut_off_is_read_as_far_as_it_goes(tmp_path):
    text = json.dumps(TELEGRAM, indent=1)
    reading = read(tmp_path, "result.json", text[: text.index("voice_message")])
    assert (reading.title, len(reading.messages)) == ("Family", 2)
    assert len(reading.warnings) == 1
    day = json.dumps(DAY)
    reading = read(tmp_path, "2026-02-03.json", day.replace('"a < b"', '"a < b'))
    assert [one[0] for one in said(reading)] == ["", "U01ANN", "Deploy"]
    assert reading.warnings == ("Line 1 is not valid JSON and was left out; all else was read.",)


def test_a_reading_process_gives_the_messages_back(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(lines_of(3)), "utf-8")
    with ReaderPool(SETTINGS) as pool:
        (outcome,) = pool.read([ReadTask(key=0, path=path, name="a.jsonl")])
    assert outcome.error is None
    assert outcome.reading == read_file(path, "a.jsonl", SETTINGS)
    assert outcome.reading.messages[2].author == "Ann"
