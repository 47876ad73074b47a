"""Letters that are set apart: which gaps between words of a PDF page are none.

pdfium takes a gap for a space by the width of the letters beside it: between thin letters that are
set as far apart as others ("insta l l"), and before a letter that a program which recognises text
wrote together with the space behind it ("Chin a").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_LOOSE = 0.05
"""The least gap between letters that are set apart, in heights of the line."""
_AS_NEAR = 1.5
"""A gap up to so many times as wide is one between letters: a space comes to their gap."""
_OF_LINE = 0.75
"""The share of their height that words of one line have in common; raised figures have less."""


def is_loose(gap: float, height: float) -> bool:
    """Return whether letters of a line, in its own unit, are set apart."""
    return gap > height * _LOOSE


def without_space_before(
    boxes: Sequence[tuple[float, float, float, float]],
    last: Mapping[int, float],
    first: Mapping[int, float],
) -> list[int]:
    """Return the numbers of the words, ascending, that belong to the word before them.

    ``boxes`` are the words' left, bottom, right and top; ``last`` and ``first`` the gaps between
    the last and the first two letters of those that have two, by number.
    """
    near = _gaps_beside(len(boxes), last, first)
    joined = []
    for at in range(1, len(boxes)):
        (_, low, end, high), (start, bottom, _, top) = boxes[at - 1], boxes[at]
        height = max(high, top) - min(low, bottom)
        on_one_line = min(high, top) - max(low, bottom) >= height * _OF_LINE
        if on_one_line and is_loose(near[at], height) and abs(start - end) <= near[at] * _AS_NEAR:
            joined.append(at)
    return joined


def _gaps_beside(count: int, last: Mapping[int, float], first: Mapping[int, float]) -> list[float]:
    """Return the gap between letters beside the space before each word, 0 for the first.

    Between two single letters it is the one that is known next to them.
    """
    known = [max(last.get(at - 1, -1.0), first.get(at, -1.0)) for at in range(count)]
    before, behind = list(known), list(known)
    for at in range(1, count):
        before[at] = known[at] if known[at] >= 0.0 else before[at - 1]
    for at in reversed(range(count - 1)):
        behind[at] = known[at] if known[at] >= 0.0 else behind[at + 1]
    return [max(pair) for pair in zip(before, behind, strict=True)]
