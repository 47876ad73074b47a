from __future__ import annotations

import pytest
from reading_files import read, symbols

from ragkit.types import Markup


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
