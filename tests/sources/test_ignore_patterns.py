"""Patterns of ignore files match what they matched, in a bounded time."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from ragkit.sources.ignore_patterns import decided_once, ignore_patterns

_PIECES = (*"ab*?/.! é", "[ab]", "[a-c]", "**/", "/**/", "\\*", "a/")


@given(
    st.lists(st.sampled_from(_PIECES), min_size=1, max_size=9).map("".join),
    st.lists(st.sampled_from("aab.//*é"), min_size=1, max_size=14).map("".join),
    st.booleans(),
)
@settings(max_examples=500, deadline=None)
def test_the_same_paths_match(line, path, folder):
    try:
        expression = GitIgnoreSpecPattern(line).regex
    except ValueError:
        return
    if expression is None:
        return
    path = (re.sub("/+", "/", path).strip("/") or "a") + "/" * folder
    before, now = expression.search(path), decided_once(expression).search(path)
    assert (before and before.groupdict()) == (now and now.groupdict())


@pytest.mark.parametrize(
    "line",
    ["*a" * 13 + "*b", "*?" * 13 + "*b", "*[ab]" * 13 + "*b", "**/a/" * 12 + "**/b",
     "x/" + "**/*/" * 12 + "b", "**/*a*a*a/" * 8 + "**/b"],
)  # fmt: skip
def test_many_stars_take_no_time(line):
    [(expression, excludes)] = ignore_patterns([line])
    start = time.process_time()
    for path in ("a" * 250, "a/" * 300 + "c", "aaaa/" * 100 + "c", "x/" + "a/" * 300 + "c"):
        assert expression.search(path) is None
    assert excludes
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    ("line", "path", "matches"),
    [("x[!a]y", "xby", True), ("x[!a]y", "xay", False), ("x[!a]y", "x/y", False),
     ("*[!a]*b", "a/cb", True), ("/*[!a]b", "a/b", False)],
)  # fmt: skip
def test_a_class_matches_no_slash(line, path, matches):
    [(expression, _)] = ignore_patterns([line])
    assert bool(expression.search(path)) is matches
