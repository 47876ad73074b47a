from __future__ import annotations

import json

from reading_files import DAY, TELEGRAM, headers, read, said, sessions


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


def test_telegram_keeps_what_polls_contacts_and_places_say(tmp_path):
    def message(number, **more):
        return {"id": number, "type": "message", "date": f"2026-02-03T14:0{number}:00",
                "from": "Ann", "text": "", **more}  # fmt: skip

    poll = {"question": "Where to?", "answers": [{"text": "Baikal", "voters": 2}, {"text": "Lyon"}]}
    contact = {"first_name": "Igor", "last_name": "", "phone_number": "+7 900 5557788"}
    spot = {"latitude": 51.9, "longitude": 107.6}
    listed = [
        message(1, poll=poll),
        message(2, contact_information=contact),
        message(3, location_information=spot, place_name="Hotel Baikal", address="Main St 5"),
    ]
    reading = read(tmp_path, "result.json", {**TELEGRAM, "messages": listed})
    assert [text for _, _, text in said(reading)] == [
        "(poll: Where to?)\n- Baikal\n- Lyon",
        "(contact: Igor +7 900 5557788)",
        "(place: Hotel Baikal, Main St 5)",
    ]


def test_all_chats_of_telegram_are_sessions(tmp_path):
    other = {**TELEGRAM, "name": "Work"}
    reading = read(tmp_path, "result.json", {"chats": {"list": [TELEGRAM, other]}})
    assert (reading.title, sessions(reading)) == ("Telegram", ["Family", "Work"])
    assert len(reading.messages) == 6


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


def test_a_thread_of_facebook_has_its_letters_and_its_order(tmp_path):
    def meant(text):
        return text.encode().decode("latin-1")

    jana = meant("Jana Müller")
    value = {
        "participants": [{"name": jana}, {"name": "Tom"}],
        "messages": [
            {"sender_name": jana, "timestamp_ms": 1705327512000,
             "content": meant("Schön ❤, Straße 8?")},
            {"sender_name": "Tom", "timestamp_ms": 1705327412000, "photos": [{"uri": "1.jpg"}]},
            {"sender_name": "Tom", "timestamp_ms": 1705327312000, "content": "See",
             "share": {"link": "https://a.example"}},
        ],
        "title": jana,
    }  # fmt: skip
    reading = read(tmp_path, "facebook/inbox/jana_1/message_1.json", json.dumps(value))
    assert (reading.title, reading.metadata["platform"]) == ("Jana Müller", "Facebook")
    assert said(reading) == [
        ("Tom", "2024-01-15T14:01:52+00:00", "See\nhttps://a.example"),
        ("Tom", "2024-01-15T14:03:32+00:00", "(photo)"),
        ("Jana Müller", "2024-01-15T14:05:12+00:00", "Schön ❤, Straße 8?"),
    ]


def test_an_encrypted_thread_of_facebook_keeps_its_letters(tmp_path):
    value = {
        "participants": ["Zoé", "Tom"],
        "threadName": "Zoé_2",
        "messages": [
            {"isUnsent": False, "media": [], "reactions": [], "senderName": "Zoé",
             "text": "À côté", "timestamp": 1705327312123, "type": "text"},
        ],
    }  # fmt: skip
    reading = read(tmp_path, "messages/Zoé_2.json", value)
    assert reading.title == "Zoé_2"
    assert said(reading) == [("Zoé", "2024-01-15T14:01:52.123000+00:00", "À côté")]
