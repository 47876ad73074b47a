from __future__ import annotations

import json

import pytest
from reading_files import DAY, SETTINGS, TELEGRAM, read, said, sessions

from ragkit.reading import ReaderPool, ReadTask, read_file


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
    assert outcome.result.reading == read_file(path, "a.jsonl", SETTINGS)
    assert outcome.result.reading.messages[2].author == "Ann"


def test_messages_of_google_chat_say_who_wrote_them_and_when(tmp_path):
    def message(name, minute, **more):
        return {"creator": {"name": name, "email": "x@a.example", "user_type": "Human"},
                "created_date": f"Tuesday, March 1, 2022 at 5:0{minute}:10\u202fPM UTC",
                "topic_id": "a", **more}  # fmt: skip

    files = [{"original_name": "gasket.pdf", "export_name": "File-gasket.pdf"}]
    listed = [message("Priya", 0, text="Is it the ninth?"), message("Omar", 1, text="Yes.")]
    listed += [message("Omar", 2, attached_files=files)]
    reading = read(tmp_path, "Groups/DM 1/messages.json", {"messages": listed})
    assert said(reading) == [
        ("Priya", "2022-03-01T17:00:10+00:00", "Is it the ninth?"),
        ("Omar", "2022-03-01T17:01:10+00:00", "Yes."),
        ("Omar", "2022-03-01T17:02:10+00:00", "(attached: gasket.pdf)"),
    ]
