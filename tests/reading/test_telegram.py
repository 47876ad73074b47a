from __future__ import annotations

from reading_files import TELEGRAM, headers, read, said, sessions


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
