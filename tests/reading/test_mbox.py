from __future__ import annotations

import pytest
from reading_files import headers, read, said, sessions

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
