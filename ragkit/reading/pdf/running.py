"""Removes running headers and footers: lines that repeat at the edges of several pages.

So do those that change with each section, if they have the number of their page at one end.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
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
_LARGER, _MOST_HEADINGS = 1.15, 20
"""Counted lines this many times as high as their pages' lines are headings ("Step 2") at the top of
pages, unless they are more and count the pages. A sign such as "|" can make a footer as high."""
_FEWEST_NUMBERED, _REPEATED = 5, 0.3
"""Of so many numbered lines at least, this share must repeat, or have the number last: one question
a page has it first."""
_LARGEST_FIRST, _LONGEST_HEADING, _NUMBERS_OF_CHAPTER = 1000, 100, 2
_NUMBER = re.compile(r"\d+|(?<!\w)[ivxlc]+(?!\w)")
_ANY = "\0"
"""Stands for a number; no text has it."""
_PARTS = re.compile(rf"{_ANY}(?:\.{_ANY})+")
_LETTERS = re.compile(r"[^\W\d_]+")
_PAGE_WORDS = (
    "page pages pg p of seite seiten von s pagina página páginas pag pág de di sida side sur av af"
    " strona z str стр страница из oldal sayfa halaman 页 第 共 頁 ページ 쪽"
)
_ABOUT_PAGES = frozenset(_PAGE_WORDS.split())
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}

_Key: TypeAlias = tuple[str, int]


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
    running = (line for (words, _), lines in seen.items() for line in _running(words, lines))
    for line_seen in chain(running, _of_sections(pages, seen)):
        left_out[line_seen.page].add(line_seen.at)
    return [
        [line for at, line in enumerate(lines) if at not in left_out[page]]
        if page in left_out else lines
        for page, lines in enumerate(pages)
    ]  # fmt: skip


def _at_edges(page: int, lines: Sequence[Line]) -> list[tuple[_Key, _Seen]]:
    """Return the lines near the top and bottom of a page, keyed by their words and height."""
    order = sorted(range(len(lines)), key=[-line.top for line in lines].__getitem__)
    usual = median(line.top - line.bottom for line in lines) if lines else 0.0
    top, bottom = order[:_FROM_EDGE], order[_FROM_EDGE:][-_FROM_EDGE:]
    edge_lines = []
    for at in (*top, *bottom):
        line = lines[at]
        text = line.text.casefold().replace(_ANY, "")
        if text.startswith("| "):
            continue
        numbers = tuple(map(_value, _NUMBER.findall(text)))
        large = at in top and line.top - line.bottom > usual * _LARGER
        key = _NUMBER.sub(_ANY, text), round(line.bottom / _NEAR)
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
    counted = steady = False
    for at, first in enumerate(lines[0].numbers):
        if all(line.numbers[at] == first for line in lines):
            continue
        steps = sum(
            after.numbers[at] - before.numbers[at] == after.page - before.page
            for before, after in pairwise(lines)
        )
        if steps < _STEADY * (len(lines) - 1):
            return ()
        counted, steady = True, steps == len(lines) - 1
    if counted and _are_headings(lines, steady=steady):
        return ()
    names = set(_LETTERS.findall(words)) - _ABOUT_PAGES
    return lines[1:] if names else lines


def _are_headings(lines: Sequence[_Seen], *, steady: bool = True) -> bool:
    """Return whether counted lines are headings: most of them large, unless many count each page.

    ``steady``: their numbers do so without exception.
    """
    many = steady and len(lines) > _MOST_HEADINGS
    return not many and 2 * sum(line.large for line in lines) > len(lines)


def _of_sections(
    pages: Sequence[list[Line]], seen: Mapping[_Key, Sequence[_Seen]]
) -> Iterator[_Seen]:
    """Yield the lines to be removed that have the number of their page, whatever else they say.

    The first of each section stays, unless it is a line elsewhere, such as the section's heading.
    """
    numbered: defaultdict[str, set[_Seen]] = defaultdict(set)
    for group in _numbered(seen):
        repeats = len(group) - len({words for words, _ in group})
        last = sum(words.endswith(_ANY) for words, _ in group)
        enough = max(repeats, last) >= _REPEATED * len(group)
        if enough and not _are_headings([line for _, line in group]):
            for words, line in group:
                numbered[words].add(line)
    if not numbered:
        return
    headers = {(line.page, line.at) for lines in numbered.values() for line in lines}
    said = {words: _said(words) for words in numbered}
    initials = {letters[:1] for parts in said.values() for letters in parts}
    others = {
        _letters(line.text)
        for page, lines in enumerate(pages)
        for at, line in enumerate(lines)
        if len(line.text) <= _LONGEST_HEADING
        and _may_begin(line.text, initials)
        and (page, at) not in headers
    }
    for words, lines in numbered.items():
        ordered = sorted(lines, key=lambda line: line.page)
        yield from ordered[1:] if others.isdisjoint(said[words]) else ordered


def _numbered(seen: Mapping[_Key, Sequence[_Seen]]) -> Iterator[list[tuple[str, _Seen]]]:
    """Yield lines at one place of several pages that begin or end with the number of their page."""
    groups: defaultdict[tuple[int, int], list[tuple[str, _Seen]]] = defaultdict(list)
    for (words, place), lines in seen.items():
        if not _LETTERS.search(words):
            continue
        for line in lines:
            ends = {at for at, end in ((0, words[:1]), (-1, words[-1:])) if end == _ANY}
            for first in {line.numbers[at] - line.page for at in ends}:
                # Years are larger.
                if first < _LARGEST_FIRST:
                    groups[place, first].append((words, line))
    for group in groups.values():
        if len({line.page for _, line in group}) >= _FEWEST_NUMBERED:
            yield group


def _said(words: str) -> list[str]:
    """Return what a header says, also without "Chapter 3:" before it, as letters.

    Nothing if it says more numbers, such as a date.
    """
    if _PARTS.sub(_ANY, words).count(_ANY) > _NUMBERS_OF_CHAPTER:
        return []
    return [_letters(words), _letters(words.strip(f"{_ANY} ").partition(" ")[2])]


def _may_begin(text: str, initials: Collection[str]) -> bool:
    """Return whether the letters of a text may begin with one of these: a quick test."""
    first = text[:1]
    return not first.isalpha() or first.casefold()[0] in initials


def _letters(text: str) -> str:
    return "".join(_LETTERS.findall(text.casefold()))
