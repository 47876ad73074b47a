"""What tests of readers share: files to read, and what a reading shows."""

from __future__ import annotations

import json

from ragkit.reading import read_file
from ragkit.reading.limits import Limits
from ragkit.settings import ReadingSettings

SETTINGS = ReadingSettings()

DAY = [
    {"type": "message", "ts": "1770127533.000100", "user": "U01ANN", "text": "Hi <@U02BOB>, see "
     "<https://a.example/x|the plan> &amp; <https://b.example> in <#C01GEN|general> <!here>"},
    {"type": "message", "ts": "1770127600.000200", "user": "U02BOB", "text": "a < b",
     "thread_ts": "1770127533.000100", "files": [{"name": "plan.pdf"}]},
    {"type": "message", "subtype": "bot_message", "ts": "1770127700.000300", "username": "Deploy",
     "text": "", "attachments": [{"title": "Build 7", "text": "passed for <@U01ANN>"}]},
    {"type": "message", "subtype": "channel_join", "ts": "1770127500.0", "user": "U03CYD",
     "text": "<@U03CYD> has joined the channel"},
]  # fmt: skip  # fmt: skip

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
}  # fmt: skip  # fmt: skip

LEASE = """\
# Lease of the pier

The rent is fifty 円 a month 🚢, due on the first[^1].

See [the rules](https://example.org/rules) of \\* and \\<b>.

## Fees

| Boat | Day | Note |
| --- | --- | --- |
| Yacht | 12 € |  |
| Canoe Kayak | 3 € | shared |

Duties

- Sweep the planks
- Lock the gate

Signed in May.

Seal of the harbour

[^1]: Or the next working day.

## Header and footer

- Ferry Estates Ltd.

## Comments

- Ann Lee: Which ones?"""
"""What ``lease.doc`` and ``lease.rtf`` say, which LibreOffice wrote."""

NUMBERED = """\
# 1 Scope

## 1.1 Who

# 2 Rent

## 2.1 When

3. First
  - a) Inner
  - b) Inner too
    - 3.b.I Deep
4. Next
  - a) Inner anew"""
"""Headings and items with the numbers that are printed before them, of DOC and DOCX alike."""


def read(folder, name, data, settings=SETTINGS):
    """Write a file under the last part of its name and read it."""
    path = folder / name.rpartition("/")[2]
    if isinstance(data, dict | list):
        data = json.dumps(data, ensure_ascii=False)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_file(path, name, Limits.of(settings))


def said(reading):
    """Author, time and text of each message, as the spans of the text have them."""
    messages = []
    for span in reading.messages:
        header, _, text = reading.text[span.start : span.end].partition("\n")
        assert span.author in header.replace("\\*", "*")
        messages.append((span.author, span.at, text))
    return messages


def headers(reading):
    return [reading.text[span.start : span.end].partition("\n")[0] for span in reading.messages]


def sessions(reading):
    return [entry.title for entry in reading.outline]


def symbols(reading):
    return [(entry.level, entry.title) for entry in reading.outline]
