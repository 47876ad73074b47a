"""Messages of a conversation as blocks: chunks and their overlap keep them whole."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from ragkit.types import Block, BlockKind, MessageSpan, Section


def whole_messages(
    blocks: Sequence[Block], sections: Sequence[Section], messages: Sequence[MessageSpan]
) -> tuple[Block, ...]:
    """Make each message one block. Blocks still tile the text and cross no section border.

    What stands between two messages without a block of its own goes with the one before.
    """
    if not blocks:
        return ()
    length = blocks[-1].end
    borders = {section.start for section in sections}
    starts = [one.start for one in messages]
    marks: dict[int, BlockKind] = {}
    for block in blocks:
        at = bisect_right(starts, block.start) - 1
        inside = at >= 0 and block.start < messages[at].end
        if not inside:
            marks[block.start] = block.kind
        elif block.start in borders:
            marks[block.start] = BlockKind.MESSAGE
    for one in messages:
        if 0 <= one.start < min(one.end, length):
            marks[one.start] = BlockKind.MESSAGE
    ordered = sorted(marks.items())
    ends = [start for start, _ in ordered[1:]] + [length]
    return tuple(Block(start, end, kind) for (start, kind), end in zip(ordered, ends, strict=True))
