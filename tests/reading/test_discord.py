from __future__ import annotations

from reading_files import headers, read, said


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
