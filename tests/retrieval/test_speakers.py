"""``speaker:`` and dates choose messages, from the files to the answer."""

from __future__ import annotations

import json
from contextlib import closing

import pytest
from small_library import add, find, open_library, paths, sync, write_files

from ragkit.catalog.document_writing import speaker_key
from ragkit.catalog.records import SpeakerRecord
from ragkit.options import Filters
from ragkit.retrieval.query.parser import FILTER_NAMES, format_filters, parse_query

_DAYS = ("2026-01-10", "2026-02-14", "2026-03-20")
_FILLER = "and then we talked about the weather for quite a while, as one does on such days. " * 4


def rows(*said):
    return "\n".join(
        json.dumps({"timestamp": f"{day}T10:{n:02}:00+01:00", "author": author, "message": text})
        for n, (day, author, text) in enumerate(said)
    )


FILES = {
    "chats/team.jsonl": rows(
        *[(_DAYS[0], "Max Weber", f"The lighthouse is painted red. {_FILLER}")] * 3,
        *[(_DAYS[1], "Zoë Ray", f"The lighthouse is painted white. {_FILLER}")] * 3,
        *[(_DAYS[2], "Max Weber", f"The lighthouse is painted green. {_FILLER}")] * 3,
    ),
    "chats/other.jsonl": rows(
        (_DAYS[1], "Maxine", "No lighthouse here."), (_DAYS[1], "נועה", "מגדלור ליד הים")
    ),
    "notes/lighthouse.md": "---\ndate: 2026-02-01\n---\n# Lighthouse\n\nMax wrote a lot.\n",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    place = tmp_path_factory.mktemp("speakers")
    folder = write_files(place / "files", FILES)
    with closing(open_library(place / "library")) as opened:
        add(opened, folder)
        yield opened


def shown(answer):
    """Path and matched texts of each result, as sets of colours."""
    colours = ("red", "white", "green")
    return {
        one.document.path: sorted(
            {
                colour
                for passage in one.passages
                for colour in colours
                if f"painted {colour}" in passage.text
            }
        )
        for one in answer.results
    }


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ("", {"chats/team.jsonl", "chats/other.jsonl", "notes/lighthouse.md"}),
        ("speaker:max", {"chats/team.jsonl"}),
        ('speaker:"max weber"', {"chats/team.jsonl"}),
        ("speaker:Maxine", {"chats/other.jsonl"}),
        ("speaker:zoe,MAXINE", {"chats/team.jsonl", "chats/other.jsonl"}),
        ("speaker:נועה", {"chats/other.jsonl"}),
        ("speaker:Ma", set()),
        ("after:2026-03", {"chats/team.jsonl"}),
        ("before:2026-02", {"chats/team.jsonl"}),
        ("after:2026-02 before:2026-03", set(FILES)),
        ("speaker:max after:2026-02 before:2026-03", set()),
        ("speaker:max type:md", set()),
        ("after:2026-03-21", set()),
    ],
)
@pytest.mark.parametrize("granularity", ["chunk", "section", "document", "auto"])
def test_filters_choose_documents(library, filters, expected, granularity):
    answer = find(library, f"lighthouse {filters}", granularity=granularity)
    assert set(paths(answer)) == expected


@pytest.mark.parametrize(
    ("filters", "colours"),
    [
        ("speaker:max", ["green", "red"]),
        ("speaker:zoë", ["white"]),
        ("after:2026-02-10 before:2026-03", ["white"]),
        ("speaker:max after:2026-02", ["green"]),
        ("speaker:max before:2026-02", ["red"]),
    ],
)
def test_filters_choose_messages(library, filters, colours):
    answer = find(library, f"lighthouse painted {filters} path:team", expansion="chunk")
    assert shown(answer) == {"chats/team.jsonl": colours}
    sections = find(
        library, f"lighthouse painted {filters} path:team", expansion="chunk", granularity="section"
    )
    assert shown(sections)["chats/team.jsonl"] in (colours, *([one] for one in colours))


def test_facets_count_the_people(library):
    speakers = dict(library.documents.facets("default").values("speaker"))
    assert speakers == {"Max Weber": 1, "Zoë Ray": 1, "Maxine": 1, "נועה": 1}


def test_speakers_follow_their_document(tmp_path):
    folder = write_files(tmp_path / "files", {"a.jsonl": FILES["chats/other.jsonl"], "b.md": "x"})
    with closing(open_library(tmp_path / "library")) as library:
        add(library, folder)
        count = "SELECT COUNT(*) FROM speakers"
        assert library.catalog.connections.row(count) == (6,)
        write_files(folder, {"a.jsonl": rows((_DAYS[0], "Cy", "a"), (_DAYS[0], "Di", "b"))})
        sync(library)
        names = "SELECT DISTINCT speaker, day FROM speakers ORDER BY 1"
        assert library.catalog.connections.rows(names) == [
            (" cy ", "2026-01-10"),
            (" di ", "2026-01-10"),
        ]
        (folder / "a.jsonl").unlink()
        sync(library)
        assert library.catalog.connections.row(count) == (0,)


def test_two_spellings_of_a_name_are_one_person(catalog, shelf):
    shelf.put(
        "a",
        "hello",
        format="conversation",
        speakers=(
            SpeakerRecord(2, 0, "Zoë", "2026-02-03"),
            SpeakerRecord(2, 0, "ZOE", "2026-02-03"),
            SpeakerRecord(2, 0, "", "2026-02-01"),
        ),
    )
    rows = catalog.connections.rows("SELECT speaker, day FROM speakers ORDER BY 1")
    assert rows == [("", "2026-02-01"), (" zoe ", "2026-02-03")]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Max Weber", " max weber "),
        ("Zoë", " zoe "),
        ("~ O'Neil_2", " o neil 2 "),
        ("👍", " 👍 "),
        (" ", ""),
        ("נועה כהן", " נועה כהן "),
    ],
)
def test_keys_of_names(name, key):
    assert speaker_key(name) == key


def test_the_question_language_knows_speakers():
    parsed = parse_query('keys speaker:Max,"Zoë Ray" after:2026-02')
    assert parsed.text == "keys"
    assert parsed.filters == Filters(speakers=("Max", "Zoë Ray"), after="2026-02")
    assert format_filters(parsed.filters) == 'speaker:Max,"Zoë Ray" after:2026-02'
    assert "speaker" in FILTER_NAMES
    assert parse_query("keys participant:Max").suggestion == "keys speaker:Max"
