"""Removes running headers and footers: lines that repeat at the edges of several pages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import median
from typing import TypeAlias

from ragkit.reading.pdf.contents import Line

_FEWEST_PAGES = 3
_FROM_EDGE = 4
"""The number of lines at the top and at the bottom that may be running lines."""
_NEAR = 3.0
_STEADY = 0.6
"""The share of pages on which page numbers must increase; parts may start again."""
_LARGER = 1.15
"""A counted line this many times as high as its page's lines is a heading: "Step 2"."""
_NUMBER = re.compile(r"\d+|(?<!\w)[ivxlc]+(?!\w)")
_LETTERS = re.compile(r"[^\W\d_]+")
_PAGE_WORDS = (
    "page pages pg p of seite seiten von s pagina página páginas pag pág de di sida side sur av af"
    " strona z str стр страница из oldal sayfa halaman 页 第 共 頁 ページ 쪽"
)
_ABOUT_PAGES = frozenset(_PAGE_WORDS.split())
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}

_Key: TypeAlias = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A line at the edge of a page; ``at`` is its index among the page's lines."""

    page: int
    at: int
    numbers: tuple[int, ...]
    large: bool


def without_running_lines(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """Remove every running line except its first occurrence, and page numbers everywhere.

    Running lines may differ only in a number that increases with the pages.
    """
    if len(pages) < _FEWEST_PAGES:
        return list(pages)
    seen: defaultdict[_Key, list[_Seen]] = defaultdict(list)
    for page, lines in enumerate(pages):
        for key, line_seen in _at_edges(page, lines):
            seen[key].append(line_seen)
    left_out: defaultdict[int, set[int]] = defaultdict(set)
    for (_, words, _), seen_lines in seen.items():
        for line_seen in _running(words, seen_lines):
            left_out[line_seen.page].add(line_seen.at)
    return [
        [line for at, line in enumerate(lines) if at not in left_out[page]]
        if page in left_out else lines
        for page, lines in enumerate(pages)
    ]  # fmt: skip


def _at_edges(page: int, lines: Sequence[Line]) -> list[tuple[_Key, _Seen]]:
    """Return the lines near the top and bottom of a page, keyed by edge, words and height."""
    order = sorted(range(len(lines)), key=lambda at: -lines[at].top)
    usual = median(line.top - line.bottom for line in lines) if lines else 0.0
    top, bottom = order[:_FROM_EDGE], order[_FROM_EDGE:][-_FROM_EDGE:]
    edge_lines = []
    for edge, at in chain((("top", at) for at in top), (("bottom", at) for at in bottom)):
        line = lines[at]
        text = line.text.casefold()
        if text.startswith("| "):
            continue
        numbers = tuple(map(_value, _NUMBER.findall(text)))
        large = line.top - line.bottom > usual * _LARGER
        key = edge, _NUMBER.sub("#", text), round(line.bottom / _NEAR)
        edge_lines.append((key, _Seen(page, at, numbers, large)))
    return edge_lines


def _value(number: str) -> int:
    """Return the value of an Arabic or Roman number."""
    if number.isdecimal():
        return int(number[:9])
    values = [_ROMAN[digit] for digit in number]
    return sum(-value if value < max(values[at:]) else value for at, value in enumerate(values))


def _running(words: str, lines: Sequence[_Seen]) -> Sequence[_Seen]:
    """Return those of several lines with equal words and position that are to be removed."""
    if len({line.page for line in lines}) < _FEWEST_PAGES:
        return ()
    counted = False
    for at, first in enumerate(lines[0].numbers):
        if all(line.numbers[at] == first for line in lines):
            continue
        steps = sum(
            after.numbers[at] - before.numbers[at] == after.page - before.page
            for before, after in pairwise(lines)
        )
        if steps < _STEADY * (len(lines) - 1):
            return ()
        counted = True
    if counted and any(line.large for line in lines):
        return ()
    names = set(_LETTERS.findall(words)) - _ABOUT_PAGES
    return lines[1:] if names else lines
