"""Finds the pages that show one slide step by step, each with what the one before it had."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragkit.reading.pdf.contents import Line

_FEWEST_LINES = 2
"""A single line may well be on two pages."""


def last_steps(pages: Sequence[Sequence[Line]]) -> list[int]:
    """Return for each page the index of the page that has all of its lines: itself, or a later one.

    Slides with overlays are printed as a page a step. The first steps repeat what the last one has.
    """
    last = list(range(len(pages)))
    for at in reversed(range(len(pages) - 1)):
        page, after = ([line.text for line in lines] for lines in pages[at : at + 2])
        # Most pages begin differently: they need no counting.
        repeated = len(page) >= _FEWEST_LINES and set(page[:_FEWEST_LINES]) <= set(after)
        if repeated and Counter(page) <= Counter(after):
            last[at] = last[at + 1]
    return last
