"""Sections: the spans under a document's headings, or under its format's own divisions."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import groupby

from ragkit.chunking.structure import bounded_line
from ragkit.types import OutlineEntry, Reading, Section

_DEEPEST = 32
_DIVISIONS = {"pptx": "Slide", "xlsx": "Sheet"}
"""What the pages of a format are called that divide its text."""

_NOT_BLANK = re.compile(r"\S")


def find_sections(reading: Reading, headings: Sequence[OutlineEntry]) -> tuple[Section, ...]:
    """Cut a text at its headings and at its outline, or where that is missing slides and sheets.

    An outline entry or slide that begins with one of the headings is that heading. Pages of
    other formats are no divisions: sentences run over them.
    """
    length = len(reading.text)
    if not length:
        return ()
    level = min((heading.level for heading in headings), default=1)
    outline = _usable(reading.outline or _from_pages(reading, level), length)
    entries = [*headings, *_beside(headings, outline, reading.text)]
    entries.sort(key=lambda entry: entry.offset)
    return _tile(reading.text, entries)


def merge_small_sections(
    sections: Sequence[Section], weights: Sequence[int], tiny: int
) -> list[list[Section]]:
    """Group each tiny section with a neighbour under the same parent; return all groups in order.

    A tiny section joins the one after it, or else the one before. So all sections of a group but
    at most one are tiny. ``weights`` and ``tiny`` are tenths of a word.
    """
    groups: list[list[Section]] = []
    totals: list[int] = []
    for section, weight in zip(sections, weights, strict=True):
        if groups and totals[-1] < tiny and _under_parent(groups[-1][-1], section):
            groups[-1].append(section)
            totals[-1] += weight
        else:
            groups.append([section])
            totals.append(weight)
    kept: list[list[Section]] = []
    for group, total in zip(groups, totals, strict=True):
        if kept and total < tiny and _under_parent(group[0], kept[-1][-1]):
            kept[-1].extend(group)
        else:
            kept.append(group)
    return kept


def _under_parent(tiny: Section, other: Section) -> bool:
    """Return whether another section lies under the parent of a tiny one."""
    parent = tiny.path[:-1]
    return other.path[: len(parent)] == parent


def common_prefix(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the headings that all the paths begin with."""
    low, high = min(paths), max(paths)
    same = 0
    while same < min(len(low), len(high)) and low[same] == high[same]:
        same += 1
    return low[:same]


def _usable(outline: Iterable[OutlineEntry], length: int) -> list[OutlineEntry]:
    """Drop entries that lie outside the text or have no title; bound levels and titles."""
    return [
        OutlineEntry(entry.offset, min(max(entry.level, 1), _DEEPEST), title)
        for entry in outline
        if 0 <= entry.offset < length and (title := bounded_line(entry.title))
    ]


def _beside(
    headings: Sequence[OutlineEntry], outline: Sequence[OutlineEntry], text: str
) -> list[OutlineEntry]:
    """Drop the outline entries that name one of the text's own headings."""
    offsets = [heading.offset for heading in headings]
    kept = []
    for entry in outline:
        at = bisect_left(offsets, entry.offset)
        first = _NOT_BLANK.search(text, entry.offset)
        before_next = at < len(offsets) and (first is None or first.start() >= offsets[at])
        # An entry may point behind the marks of its heading: "## |Title".
        inside = at > 0 and text.find("\n", offsets[at - 1], entry.offset) < 0
        if not before_next and not inside:
            kept.append(entry)
    return kept


def _from_pages(reading: Reading, level: int) -> list[OutlineEntry]:
    """Make slides and sheets into divisions of the given level."""
    what = _DIVISIONS.get(reading.format)
    divisions = []
    for page in reading.pages if what else ():
        numbered = (page.label or "0").isdecimal()
        title = f"{what} {page.label or page.number}" if numbered else page.label
        if page.end > page.start:
            divisions.append(OutlineEntry(page.start, level, title))
    return divisions


def _tile(text: str, entries: Sequence[OutlineEntry]) -> tuple[Section, ...]:
    """Make sections that tile the text from entries sorted by offset."""
    starts: list[tuple[int, int, tuple[str, ...]]] = []
    above: list[tuple[int, str]] = []
    for offset, together in groupby(entries, key=lambda entry: entry.offset):
        levels: dict[tuple[str, ...], int] = {}
        for entry in together:
            while above and above[-1][0] >= entry.level:
                above.pop()
            above.append((entry.level, entry.title))
            levels[tuple(title for _, title in above)] = entry.level
        path = _shared_path(list(levels))
        # A path that is not in levels is one that the last entry shares.
        level = levels[path] if path in levels else above[len(path) - 1][0]
        starts.append((offset, level, path))
    if not starts or text[: starts[0][0]].strip():
        starts.insert(0, (0, 0, ()))
    else:
        starts[0] = (0, *starts[0][1:])
    ends = [start for start, _, _ in starts[1:]] + [len(text)]
    return tuple(
        Section(index, start, end, level, path)
        for index, ((start, level, path), end) in enumerate(zip(starts, ends, strict=True))
    )


def _shared_path(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Choose the path of entries at one offset: the deepest, or what several deepest share.

    Bookmarks often point at the top of a page only, so that siblings fall together.
    """
    leaves = [
        path
        for path, after in zip(paths, [*paths[1:], ()], strict=True)
        if after[: len(path)] != path
    ]
    return common_prefix(leaves) or leaves[0]
