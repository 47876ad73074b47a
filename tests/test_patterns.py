"""What every supported Python reads alike in regular expressions."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

_PACKAGE = Path(__file__).resolve().parents[1] / "ragkit"
_REPEATED_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{+[0-9]*,?[^{}]*\}+)\+")


def repeated_groups(source: str) -> Iterator[int]:
    """Yield the lines of strings in which a group is repeated possessively."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            text = "".join(
                part.value if isinstance(part, ast.Constant) else "x" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        else:
            continue
        if _REPEATED_GROUP.search(text):
            yield node.lineno


def test_no_group_is_repeated_possessively():
    """Before 3.11.5 such a repeat keeps what its last, failed turn read: ``(?>(?:…)*)`` does not.

    https://github.com/python/cpython/issues/106052
    """
    found = {
        f"{path.relative_to(_PACKAGE)}:{line}"
        for path in sorted(_PACKAGE.rglob("*.py"))
        for line in repeated_groups(path.read_text(encoding="utf-8"))
    }
    assert not found


@pytest.mark.parametrize(
    "pattern",
    ['r"(?:ab?c)*+"', 'rf"(?:{A}|b)++"', 'r"(a|b)?+"', 'r"(?:a|b){1,3}+"', 'rf"(?:a){{0,{N}}}+"'],
)
def test_the_search_for_them_finds_every_kind(pattern):
    assert set(repeated_groups(f"A = {pattern}")) == {1}


@pytest.mark.parametrize("pattern", ['r"(?>(?:a|b)*)"', r'r"\)*+"', 'r"[ab]++"', 'r"(a)+"'])
def test_what_is_read_alike_is_no_fault(pattern):
    assert not list(repeated_groups(f"A = {pattern}"))
