"""The table of the designs names code and tests that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "designs.md"
TOP = {"pages", "docs", "benchmarks"}


def rows() -> list[list[str]]:
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return [row for row in cells if row[0] != "capability"]


def in_quotes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0][:60])
def test_what_is_named_is_there(row: list[str]):
    _capability, code, shown, _figure = row
    for name in in_quotes(re.sub(r"\(`[^)]*\)", "", code)):
        top = name.split("/")[0]
        folder = ROOT if top in TOP or name == "Makefile" else ROOT / "ragkit"
        assert (folder / name).exists(), name
    tests = in_quotes(shown)
    assert tests
    for name in tests:
        path, _, function = name.partition("::")
        file = ROOT / "tests" / path
        assert file.is_file(), path
        assert not function or f"def {function}(" in file.read_text("utf-8"), name


def test_every_function_in_brackets_is_in_its_file():
    for _capability, code, _shown, _figure in rows():
        for path, function in re.findall(r"`([^`]+)` \(`([^`]+)`\)", code):
            text = (ROOT / "ragkit" / path).read_text("utf-8")
            assert re.search(rf"(def|class) {function}\b", text), (path, function)
