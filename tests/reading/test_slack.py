from __future__ import annotations

from reading_files import DAY, headers, read, said


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
