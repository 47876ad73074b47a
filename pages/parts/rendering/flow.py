"""The text of a block as the inline parser sees it, with its places in the stored text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pages.parts.rendering.canvas import Span


@dataclass(frozen=True, slots=True)
class Flow:
    """The text that the inline parser sees, in runs of the stored text.

    ``runs`` are pairs of an offset in ``content`` and the offset in the stored text of what begins
    there; within a run both advance together.
    """

    content: str
    runs: Sequence[tuple[int, int]]

    def spans(self, start: int, end: int) -> Iterator[Span]:
        """Yield the spans of the stored text for ``content[start:end]``."""
        index = bisect_right(self.runs, (start, 1 << 62)) - 1
        while start < end:
            here, there = self.runs[index]
            stop = self.runs[index + 1][0] if index + 1 < len(self.runs) else end
            stop = min(stop, end)
            yield there + start - here, there + stop - here
            start = stop
            index += 1

    def part(self, start: int, end: int) -> Flow:
        """Return ``content[start:end]``."""
        index = max(bisect_right(self.runs, (start, 1 << 62)) - 1, 0)
        (here, there), *rest = self.runs[index:]
        later = ((at - start, place) for at, place in rest if at < end)
        return Flow(self.content[start:end], [(0, there + start - here), *later])
