from __future__ import annotations

import pytest
from reading_files import read

from ragkit.types import Markup


def test_front_matter_becomes_metadata_and_leaves_the_text(tmp_path):
    reading = read(
        tmp_path,
        "guide.md",
        "---\ntitle: The Guide\nauthors: [Ann, Bo]\ndate: 2024-05-01\ntags: a, b\n"
        "lang: de\nframework: django\ndraft: false\nweight: 3\nnested: {x: 1}\n---\n\n"
        "# Start\n\nHello\n",
    )
    assert reading.title == "The Guide"
    assert reading.text == "# Start\n\nHello\n"
    assert reading.language == "de"
    assert reading.markup is Markup.MARKDOWN
    assert reading.metadata == {
        "author": "Ann, Bo",
        "date": "2024-05-01",
        "tags": ["a", "b"],
        "lang": "de",
        "framework": "django",
        "draft": False,
        "weight": 3,
    }
    assert reading.warnings == ()


def test_a_programming_language_in_front_matter_is_no_natural_language(tmp_path):
    reading = read(tmp_path, "a.md", "---\nlanguage: Python\n---\nx\n")
    assert (reading.language, reading.metadata["language"]) == ("", "Python")


def test_toml_front_matter_is_read(tmp_path):
    reading = read(tmp_path, "a.md", '+++\ntitle = "T"\ndate = 2020-01-02\n+++\nbody')
    assert (reading.title, reading.text, reading.metadata) == ("T", "body", {"date": "2020-01-02"})


@pytest.mark.parametrize(
    "front", ['title: "open\nx: [1', "a: *nowhere", "? [a, b]\n: {c: [", "\t- x: 1\n y"]
)
def test_bad_front_matter_stays_text_with_a_warning(tmp_path, front):
    source = f"---\n{front}\n---\n# Body\nhello\n"
    reading = read(tmp_path, "a.md", source)
    assert reading.text == source
    assert len(reading.warnings) == 1
    assert "YAML" in reading.warnings[0]


def test_yaml_aliases_do_not_explode(tmp_path):
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 25)]
    reading = read(tmp_path, "a.md", "---\n" + "\n".join(lines) + "\n---\ntext")
    assert reading.text == "text"
    assert len(str(reading.metadata)) < 10_000


def test_a_rule_at_the_top_is_no_front_matter(tmp_path):
    source = "---\n\nSome prose.\n\n---\n\nMore.\n"
    reading = read(tmp_path, "a.md", source)
    assert reading.text == source
    assert reading.warnings == ()
