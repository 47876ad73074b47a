from __future__ import annotations

import io
import json
import zipfile

import pytest
from reading_files import DAY, read, said, sessions

from ragkit.errors import ReadingError, SkippedError


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


def test_an_archive_of_several_chats_is_not_read_as_the_first_of_them(tmp_path):
    chats = {
        f"{name}/_chat.txt": f"[03.02.26, 10:00:00] {name}: Hallo\n[03.02.26, 10:01:00] Cy: Ja\n"
        for name in ("Ann", "Bea")
    }
    with pytest.raises(SkippedError, match="Unpack it into the folder"):
        read(tmp_path, "Chats.zip", zipped(chats))
    assert "Bea" in read(tmp_path, "Bea.zip", zipped(dict(list(chats.items())[1:]))).text
