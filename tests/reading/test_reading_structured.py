from __future__ import annotations

import json

import pytest

from ragkit.errors import ReadingError
from ragkit.reading import read_file
from ragkit.settings import ReadingSettings
from ragkit.types import Markup

SETTINGS = ReadingSettings()


def read(folder, name, data, settings=SETTINGS):
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_file(path, name, settings)


def symbols(reading):
    return [(entry.level, entry.title) for entry in reading.outline]


def test_html_becomes_markdown_without_scripts(tmp_path):
    reading = read(
        tmp_path,
        "a.html",
        '<!doctype html><html lang="de"><head><title>Shop &amp; Hilfe</title>'
        '<meta name="author" content="Kim"><style>p{}</style></head><body><script>evil()</script>'
        "<h1>Refunds</h1><p>Within <b>14</b> days.</p>"
        "<table><tr><th>Land</th><th>Tage</th></tr><tr><td>DE</td><td>14</td></tr></table>"
        "<ul><li>One</li><li>Two</li></ul></body></html>",
    )
    assert (reading.title, reading.language, reading.metadata) == (
        "Shop & Hilfe",
        "de",
        {"author": "Kim"},
    )
    assert reading.text.startswith("# Refunds\n\nWithin **14** days.")
    assert "| DE" in reading.text
    assert "- One\n- Two" in reading.text
    assert "evil" not in reading.text
    assert "p{}" not in reading.text


def test_html_in_its_declared_encoding(tmp_path):
    page = '<html><head><meta charset="shift_jis"><title>題</title></head><p>検索</p></html>'
    reading = read(tmp_path, "a.html", page.encode("shift_jis"))
    assert (reading.title, reading.text) == ("題", "検索")


def test_deeply_nested_html_keeps_its_words(tmp_path):
    reading = read(
        tmp_path, "a.html", "<html>" + "<div>" * 20_000 + "deep words" + "</div>" * 20_000
    )
    assert reading.text == "deep words"


def test_csv_is_a_table_whatever_its_delimiter(tmp_path):
    expected = "| Name | Note |\n| --- | --- |\n| Ann | a \\| b |\n| Bo | two lines |"
    for name, delimiter in (("a.csv", ","), ("b.csv", ";"), ("c.tsv", "\t")):
        source = f'Name{delimiter}Note\nAnn{delimiter}"a | b"\nBo{delimiter}"two\nlines"\n'
        reading = read(tmp_path, name, source)
        assert reading.text == expected
        assert reading.markup is Markup.MARKDOWN


def test_mail_shows_who_when_and_what(tmp_path):
    reading = read(
        tmp_path,
        "a.eml",
        "From: Ann <ann@example.org>\nTo: b@example.org\nDate: Tue, 03 Mar 2026 10:00:00 +0100\n"
        "Subject: =?utf-8?B?UsOpdW5pb24=?=\nMIME-Version: 1.0\n"
        "Content-Type: multipart/mixed; boundary=x\n\n--x\n"
        "Content-Type: text/plain; charset=iso-8859-1\n"
        "Content-Transfer-Encoding: quoted-printable\n\n"
        "R=E9union =E0 10h\n--x\nContent-Type: application/pdf; name=plan.pdf\n"
        "Content-Disposition: attachment; filename=plan.pdf\n"
        "Content-Transfer-Encoding: base64\n\nAAAA\n--x--\n",
    )
    assert reading.title == "Réunion"
    assert reading.text == (
        "From: Ann <ann@example.org>\nTo: b@example.org\nDate: Tue, 03 Mar 2026 10:00:00 +0100\n\n"
        "Réunion à 10h\n\nAttachments: plan.pdf"
    )
    assert reading.metadata == {
        "author": "Ann <ann@example.org>",
        "to": "b@example.org",
        "date": "2026-03-03T10:00:00+01:00",
        "attachments": ["plan.pdf"],
    }


def test_mail_with_only_html_is_converted(tmp_path):
    reading = read(
        tmp_path,
        "a.eml",
        "Subject: s\nContent-Type: text/html\n\n<h2>Hi</h2><p>There <b>you</b> go</p>",
    )
    assert reading.text == "## Hi\n\nThere **you** go"
    assert reading.markup is Markup.MARKDOWN


@pytest.mark.parametrize(
    "source",
    [
        "Subject: broken\nContent-Type: multipart/mixed; boundary=zzz\n\nno boundary ever\n",
        "Subject: x\nFrom: =?utf-8?q?=\nTo: <<<>>>,;;\nDate: never\n"
        "Content-Type: text/plain; charset=nope\n\nwords\n",
        "Subject: x\nContent-Type: text/plain\n"
        "Content-Transfer-Encoding: base64\n\n@@@not base64@@@\n",
        "no headers at all, just words\n",
    ],
)
def test_broken_mail_is_read_as_far_as_it_makes_sense(tmp_path, source):
    reading = read(tmp_path, "a.eml", source)
    assert reading.text.strip()
    assert reading.title


def test_mail_nested_beyond_reason_ends_with_a_reason(tmp_path):
    levels = (f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(3000))
    with pytest.raises(ReadingError) as caught:
        read(tmp_path, "a.eml", "Subject: deep\n" + "".join(levels))
    assert caught.value.cure


def test_notebooks_keep_prose_code_and_short_outputs(tmp_path):
    notebook = {
        "metadata": {"language_info": {"name": "python"}},
        "cells": [
            {"cell_type": "markdown", "source": ["# Load\n", "words"]},
            {
                "cell_type": "code",
                "source": "print('x')",
                "outputs": [
                    {"output_type": "stream", "text": ["x\n"]},
                    {"output_type": "display_data", "data": {"image/png": "AAAA" * 1000}},
                    {
                        "output_type": "error",
                        "ename": "ValueError",
                        "evalue": "no",
                        "traceback": ["t"],
                    },
                ],
            },
        ],
        "nbformat": 4,
    }
    reading = read(tmp_path, "a.ipynb", json.dumps(notebook))
    assert reading.title == "Load"
    assert reading.text == (
        "# Load\nwords\n\n```python\nprint('x')\n```\n\n"
        "```text\nx\n```\n\n```text\nValueError: no\n```"
    )
    assert reading.metadata == {"language": "python"}


@pytest.mark.parametrize("source", ["{", "[]", '{"cells": 3}', "[" * 100_000])
def test_broken_notebooks_fail_with_a_reason(tmp_path, source):
    with pytest.raises(ReadingError) as caught:
        read(tmp_path, "a.ipynb", source)
    assert caught.value.cure


def test_json_on_one_line_is_laid_out(tmp_path):
    value = {f"key{n}": {"inner": "検索" * 20} for n in range(20)}
    reading = read(tmp_path, "a.json", json.dumps(value))
    assert json.loads(reading.text) == value
    assert reading.text.startswith('{\n  "key0": {\n    "inner": "検索')
    assert symbols(reading)[:2] == [(1, "key0"), (1, "key1")]
    assert reading.markup is Markup.CODE


def test_json_that_is_none_stays_text(tmp_path):
    reading = read(tmp_path, "a.json", "{oops")
    assert reading.text == "{oops"
    assert "not valid JSON" in reading.warnings[0]
    deep = read(tmp_path, "b.json", "[" * 200_000)
    assert len(deep.text) == 200_000


def test_python_symbols_with_their_places(tmp_path):
    source = (
        "import os\n\n\n@cache\ndef load():\n    pass\n\n\nclass Store:\n"
        "    def get(self):\n        def inner(): ...\n\n    async def put(self): ...\n"
    )
    reading = read(tmp_path, "store.py", source)
    assert symbols(reading) == [(1, "load"), (1, "Store"), (2, "get"), (2, "put")]
    assert reading.text[reading.outline[0].offset :].startswith("@cache")
    assert (reading.title, reading.metadata) == ("store.py", {"language": "python"})
    assert reading.markup is Markup.CODE


def test_python_that_does_not_parse_falls_back(tmp_path):
    assert symbols(read(tmp_path, "a.py", "print 'old'\ndef f(x):\n    pass\n")) == [(1, "f")]
    assert read(tmp_path, "b.py", "(" * 100_000).text


@pytest.mark.parametrize(
    ("name", "source", "found"),
    [
        ("a.rs", "pub struct Point {}\nimpl Point {\n    pub fn new() {}\n}\nfn main() {}\n",
         [(1, "Point"), (1, "Point"), (2, "new"), (1, "main")]),
        ("a.go", "type X struct{}\nfunc (x *X) Run() {}\nfunc main() {}\n",
         [(1, "Run"), (1, "main")]),
        ("a.ts", "export interface A {}\nexport const go = async (x: number) => {}\n",
         [(1, "A"), (1, "go")]),
        ("a.c", "static int add(int a,\n int b);\nint main(void) {\n  if (x) {}\n}\n",
         [(1, "main")]),
        ("a.sql", "create table users (id int);\n", [(1, "users")]),
        ("a.sh", "build() {\n  make\n}\n", [(1, "build")]),
        ("a.yaml", "name: x\njobs:\n  test: 1\n", [(1, "name"), (1, "jobs")]),
        ("a.toml", "x = 1\n[tool.ruff]\ny = 2\n", [(1, "tool.ruff")]),
        ("a.ini", "[core]\na=1\n", [(1, "core")]),
        ("a.css", "a { color: red }\n", []),
    ],
)  # fmt: skip
def test_symbols_of_other_languages(tmp_path, name, source, found):
    reading = read(tmp_path, name, source)
    assert symbols(reading) == found
    assert reading.text == source
    offsets = [entry.offset for entry in reading.outline]
    assert offsets == sorted(offsets)
