"""Data of records: each record in words that stand together, and all other data as it is."""

from __future__ import annotations

import json

import pytest
from reading_files import read

from ragkit.chunking import divide
from ragkit.chunking.sizes import ChunkSizes
from ragkit.reading.formats import Format
from ragkit.reading.records import read_records
from ragkit.types import Markup

LAMPS = (
    '[{"sku": "L-01", "name": "Blue lamp", "price": 12.50, "maker": {"city": "Bonn"}},\n'
    ' {"sku": "L-02", "name": "R\\u00f6te lamp", "price": 9, "maker": {"city": "K\\u00f6ln"}}]'
)


def test_each_object_of_a_list_is_a_line_of_its_keys_and_values(tmp_path):
    reading = read(tmp_path, "shop/lamps.json", LAMPS)
    assert reading.text == (
        "sku: L-01 · name: Blue lamp · price: 12.50 · maker.city: Bonn\n\n"
        "sku: L-02 · name: Röte lamp · price: 9 · maker.city: Köln"
    )
    assert (reading.format, reading.markup) == ("records", Markup.PLAIN)
    assert reading.title == "lamps.json"
    assert reading.outline == ()


@pytest.mark.parametrize("name", ["a.jsonl", "a.ndjson", "a.json"])
def test_each_line_of_json_lines_is_one(tmp_path, name):
    lines = '{"at": "10:00", "level": "warn"}\n\n{"at": "10:05", "level": null, "seen": true}\n'
    text = read(tmp_path, name, lines).text
    assert text == "at: 10:00 · level: warn\n\nat: 10:05 · level: null · seen: true"


def test_a_line_that_is_broken_is_kept(tmp_path):
    lines = "".join(f'{{"day": {day}}}\n' for day in range(20)) + '{"day": 20, "cut'
    assert read(tmp_path, "a.jsonl", lines).text.endswith('day: 19\n\n{"day": 20, "cut')
    half = '{"day": 1}\n{"day": 2}\n' + "no json\n" * 2
    assert read(tmp_path, "b.jsonl", half).text == half


def test_objects_under_keys_begin_with_their_key(tmp_path):
    value = {f"{colour}-lamp": {"price": 5, "stock": []} for colour in ("red", "blue", "green")}
    assert read(tmp_path, "a.json", value).text == (
        "red-lamp · price: 5 · stock:\n\nblue-lamp · price: 5 · stock:\n\n"
        "green-lamp · price: 5 · stock:"
    )


def test_long_texts_stand_alone_below_the_name_of_their_record(tmp_path):
    about = "It is blown by hand.\nIt takes bulbs of forty watts."
    value = {
        "ok": True,
        "found": {
            "items": [
                {"id": 7, "name": "Blue lamp", "about": about, "parts": [{"n": "A"}, {"n": "B"}]},
                {"id": 8, "about": "None.", "parts": []},
            ]
        },
    }
    reading = read(tmp_path, "a.json", value)
    assert reading.text == (
        "ok: true\n\nfound.items\n\n"
        "id: 7 · name: Blue lamp\n"
        "about: It is blown by hand.\nIt takes bulbs of forty watts.\n"
        "parts.n: A\nparts.n: B\n\n"
        "id: 8 · about: None. · parts:"
    )
    titles = [(entry.level, entry.title) for entry in reading.outline]
    assert titles == [(1, "found.items"), (2, "Blue lamp"), (2, "8")]
    starts = [reading.text[entry.offset :][:11] for entry in reading.outline]
    assert starts == ["found.items", "id: 7 · nam", "id: 8 · abo"]
    divided = divide(reading, ChunkSizes(40, 8, 1))
    assert ("found.items", "Blue lamp") in [section.path for section in divided.sections]


def test_lists_of_values_and_trees_are_read_in_a_line(tmp_path):
    value = [
        {"title": "Boats", "tags": ["a", "b"], "ring": [[1.0, 2], [3, 4]],
         "children": [{"title": "Knots", "children": [{"title": "Bowline"}]}]},
        {"title": "Bread", "tags": [], "ring": {}, "children": []},
    ]  # fmt: skip
    assert read(tmp_path, "a.json", value).text == (
        "title: Boats · tags: a, b · ring: 1.0, 2; 3, 4 · children.title: Knots"
        " · children.title: Bowline\n\n"
        "title: Bread · tags: · ring: · children:"
    )


def test_features_of_a_map_are_records(tmp_path):
    value = {
        "type": "FeatureCollection",
        "features": [
            {"type": "Feature", "properties": {"name": name, "depth-m": depth},
             "geometry": {"type": "Point", "coordinates": [8.1, 54.25]}}
            for name, depth in (("North buoy", 12), ("South buoy", 7))
        ],
    }  # fmt: skip
    lines = read(tmp_path, "a.json", value).text.split("\n\n")
    assert lines[:2] == ["type: FeatureCollection", "features"]
    assert lines[3] == (
        "type: Feature · properties.name: South buoy · properties depth-m: 7"
        " · geometry.type: Point · geometry.coordinates: 8.1, 54.25"
    )


PLAIN_YAML = (
    "- name: Blue lamp\n  price: 12.50\n  maker: {city: Bonn}\n- name: Red lamp\n  price: 9\n"
)


def test_lists_of_plain_yaml_are_records(tmp_path):
    expected = "name: Blue lamp · price: 12.50 · maker.city: Bonn\n\nname: Red lamp · price: 9"
    assert read(tmp_path, "a.yaml", PLAIN_YAML).text == expected
    below = "lamps:\n" + PLAIN_YAML
    assert read(tmp_path, "b.yml", below).text == f"lamps\n\n{expected}"


@pytest.mark.parametrize(
    "text",
    [
        f"# in euros\n{PLAIN_YAML}",
        f"{PLAIN_YAML}- &last\n  name: Green lamp\n  price: 1\n- *last\n",
        f"{PLAIN_YAML}- name: &-g Green lamp\n  price: 1\n- name: *-g\n  price: 2\n",
        f"{PLAIN_YAML}- name: Green lamp\n  price: 1\n  price: 2\n",
        f"{PLAIN_YAML}- ? [Green, lamp]\n  : 1\n",
        f"---\n{PLAIN_YAML}---\n{PLAIN_YAML}",
        "on: push\njobs:\n  test:\n    steps:\n    - {run: a, name: A}\n    - {run: b, name: B}\n",
        "services:\n  web:\n    image: a\n  db:\n    image: b\n  mail:\n    image: c\n",
        "- a: [\n- b",
    ],
)
def test_other_yaml_is_as_it_was(tmp_path, text):
    reading = read(tmp_path, "a.yaml", text)
    assert (reading.text, reading.format) == (text, "yaml")


PACKAGE = {
    "name": "boathouse",
    "version": "3.2.1",
    "scripts": {"build": "vite build", "test": "vitest"},
    "dependencies": {"vue": "^3.4.0"},
    "contributors": [{"name": "Anna"}, {"name": "Ben"}],
}


@pytest.mark.parametrize(
    "value",
    [
        PACKAGE,
        {"editor.fontSize": 12, "[python]": {"tabs": 4}, "files": {"exclude": {"a": True}}},
        {"$schema": "https://x.example", "properties": {k: {"type": "string"} for k in "abc"}},
        [{"only": "one"}],
        [{"a": 1}, {"b": 2}, {"c": 3}],
        [1, 2, 3],
        {"en": {"text": "Hello"}, "de": {"text": "Hallo"}, "fr": {"text": "Bonjour"}},
        {"a": {"b": {"c": {"d": [{"e": 1}, {"e": 2}]}}}},
        {path: {"get": {"answers": {"200": {"text": "ok"}}}} for path in ("/a", "/b", "/c")},
    ],
)
def test_settings_and_trees_stay_json(tmp_path, value):
    text = json.dumps(value, indent=2)
    reading = read(tmp_path, "package.json", text)
    assert (reading.text, reading.format, reading.markup) == (text, "json", Markup.CODE)


@pytest.mark.parametrize(
    ("text", "as_records"),
    [
        ('[{"a": NaN, "n": ' + "9" * 9000 + '}, {"a": 1e999, "n": -Infinity}]', True),
        ('\ufeff[{"a": "\\u0000\\ud800x"}, {"a": "\\r\\ny"}]', True),
        ('[{"a": 1, "a": 2}, {"a": 3}]', False),
        ('{"a": 1, "a": 2}\n' * 20, False),
        ('[{"a": 1}, {"a": ' + "[" * 90_000 + "]" * 90_000 + "}]", False),
        ('[{"a": ' * 60 + "1" + "}]" * 60, False),
        ('[{"a": 1}, {"a": 2}', False),
        (json.dumps([{"k" * 90_000: {str(n): 1 for n in range(900)}}] * 2), False),
        ('{"a":1}\n' * 600_000, False),
    ],
    ids=["numbers", "letters", "twice", "lines twice", "deep", "tree", "cut", "keys", "many"],
)  # fmt: skip
@pytest.mark.usefixtures("nothing_collected")
def test_hostile_data_is_read_as_records_or_as_it_was(tmp_path, text, as_records):
    reading = read(tmp_path, "a.jsonl" if text.startswith("{") else "a.json", text)
    assert (reading.format == Format.RECORDS) is as_records
    assert len(reading.text) < 4 * len(text)
    reading.text.encode()


def test_what_stands_beside_records_stands_before_them(tmp_path):
    items = [{"id": 1, "text": "One.\nTwo."}, {"id": 2, "text": "Three."}]
    value = {"a": {"b": "x"}, "a.b": "y", "items": items, "total": 2}
    reading = read(tmp_path, "a.json", value)
    assert reading.text.startswith("a.b: x · a.b: y · total: 2\n\nitems\n\nid: 1\ntext: One.\n")


def test_what_is_written_is_kept_in_order():
    value = [
        {"a b": "x  y", "#": "# no heading", "t": "| no | table |", "u": "a_b*c*<d>"},
        {"a b": "z", "#": "", "t": "", "u": "https://x.example/a?b=c&d=1.50"},
    ]
    reading = read_records(json.dumps(value), "a.json", Format.JSON)
    assert reading is not None
    assert reading.text == (
        "a b: x y · #: # no heading · t: | no | table | · u: a_b*c*<d>\n\n"
        "a b: z · #: · t: · u: https://x.example/a?b=c&d=1.50"
    )
