"""Sections: the spans under a document's headings, or its slides and sheets."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

from ragkit.formatting import DIVISIONS, bounded_line
from ragkit.types import OutlineEntry, Reading, Section

_DEEPEST = 32
_NOT_BLANK = re.compile(r"\S")


def find_sections(reading: Reading, headings: Sequence[OutlineEntry]) -> tuple[Section, ...]:
    """Divide a text at its headings and its outline, or without an outline at slides and sheets.

    An outline entry or slide that starts with one of the headings counts as that heading. Pages of
    other formats are not used: sentences continue across them.
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
    sections: Sequence[Section], weights: Sequence[int], tiny: int, least: int, most: int
) -> list[list[Section]]:
    """Group neighbouring small sections of one heading; return all groups in order.

    A group is a heading with everything under it, or some of its subheadings with everything under
    them. It weighs at most ``most``, and at least ``least`` if possible. A group lighter than
    ``tiny`` joins the next one, or else the previous one, of any weight, under the same heading.
    All weights are in tenths of a word.
    """
    ends = subtree_ends([section.level for section in sections])
    spans = Merging(ends, [0, *accumulate(weights)], least, most, len(sections)).spans()
    groups = [list(sections[first:end]) for first, end in spans]
    return _join_tiny(groups, weights, tiny)


def subtree_ends(levels: Sequence[int]) -> list[int]:
    """Return for each index the end of its subtree: of the deeper levels that follow it."""
    ends = [len(levels)] * len(levels)
    above: list[int] = []
    for at, level in enumerate(levels):
        while above and levels[above[-1]] >= level:
            ends[above.pop()] = at
        above.append(at)
    return ends


@dataclass(frozen=True, slots=True)
class Merging:
    """Groups a document's sections or chunks, under the deepest headings first.

    ``ends`` are the ends of subtrees, ``sums`` the cumulative weights from 0 to the total. A group
    weighs at most ``most`` and has at most ``longest`` parts, unless it is a single part.
    """

    ends: Sequence[int]
    sums: Sequence[int]
    least: int
    most: int
    longest: int

    def spans(self, first: int = -1, end: int | None = None) -> list[tuple[int, int]]:
        """Return the groups in the subtree of a part, or of all, as (first index, end)."""
        end = len(self.ends) if end is None else end
        spans: list[tuple[int, int]] = []
        units = [(first, first + 1)] if first >= 0 else []
        at = first + 1
        while at < end:
            inside = self.spans(at, self.ends[at])
            if len(inside) > 1:
                spans += [*self._packed(units), *inside]
                units = []
            else:
                units += inside
            at = self.ends[at]
        return spans + self._packed(units)

    def _packed(self, units: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Join neighbouring units so that groups lack as little weight as possible."""
        best: list[tuple[float, int]] = [(0.0, 0)]
        for last, (_, end) in enumerate(units):
            options = []
            for first in range(last, -1, -1):
                weighs = self.sums[end] - self.sums[units[first][0]]
                large = weighs > self.most or end - units[first][0] > self.longest
                if large and first < last:
                    break
                lacking = max(self.least - weighs, 0) / (self.least or 1)
                options.append((best[first][0] + lacking**2, -first))
            cost, chosen = min(options)
            best.append((cost, -chosen))
        spans: list[tuple[int, int]] = []
        last = len(units)
        while last:
            first = best[last][1]
            spans.append((units[first][0], units[last - 1][1]))
            last = first
        return spans[::-1]


def _join_tiny(
    groups: Sequence[list[Section]], weights: Sequence[int], tiny: int
) -> list[list[Section]]:
    """Join each tiny group to the next one, or else to the previous one."""
    after: list[list[Section]] = []
    for group in groups:
        if after and _weigh(after[-1], weights) < tiny and _under_parent(after[-1][-1], group[0]):
            after[-1] = after[-1] + group
        else:
            after.append(group)
    kept: list[list[Section]] = []
    for group in after:
        if kept and _weigh(group, weights) < tiny and _under_parent(group[0], kept[-1][-1]):
            kept[-1] = kept[-1] + group
        else:
            kept.append(group)
    return kept


def _weigh(group: Sequence[Section], weights: Sequence[int]) -> int:
    return sum(weights[section.index] for section in group)


def _under_parent(tiny: Section, other: Section) -> bool:
    """Return whether another section is under the parent heading of a tiny one."""
    parent = tiny.path[:-1]
    return other.path[: len(parent)] == parent


def common_prefix(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the common prefix of the paths."""
    low, high = min(paths), max(paths)
    same = 0
    while same < min(len(low), len(high)) and low[same] == high[same]:
        same += 1
    return low[:same]


def sections_within(sections: Sequence[Section], first: int, end: int) -> Sequence[Section]:
    """Return the sections from index ``first`` that start before the offset ``end``."""
    return sections[first : bisect_left(sections, end, first, key=lambda section: section.start)]


def _usable(outline: Iterable[OutlineEntry], length: int) -> list[OutlineEntry]:
    """Drop entries outside the text or without a title; limit levels and titles."""
    return [
        OutlineEntry(entry.offset, min(max(entry.level, 1), _DEEPEST), title)
        for entry in outline
        if 0 <= entry.offset < length and (title := bounded_line(entry.title))
    ]


def _beside(
    headings: Sequence[OutlineEntry], outline: Sequence[OutlineEntry], text: str
) -> list[OutlineEntry]:
    """Drop the outline entries that coincide with a heading of the text."""
    offsets = [heading.offset for heading in headings]
    kept = []
    for entry in outline:
        at = bisect_left(offsets, entry.offset)
        first = _NOT_BLANK.search(text, entry.offset)
        before_next = at < len(offsets) and (first is None or first.start() >= offsets[at])
        # An entry may point behind the marks of a heading: "## |Title".
        inside = at > 0 and text.find("\n", offsets[at - 1], entry.offset) < 0
        if not before_next and not inside:
            kept.append(entry)
    return kept


def _from_pages(reading: Reading, level: int) -> list[OutlineEntry]:
    """Return slides or sheets as outline entries of the given level."""
    what = DIVISIONS.get(reading.format, "").capitalize()
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
        # A path that is not among them is a common prefix of several, also of the last.
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
    """Return the path for entries at one offset: the deepest, or the prefix of several deepest.

    Bookmarks often point only to the top of a page, so that siblings have the same offset.
    """
    leaves = [
        path
        for path, after in zip(paths, [*paths[1:], ()], strict=True)
        if after[: len(path)] != path
    ]
    return common_prefix(leaves) or leaves[0]
