"""Find the sentence that an address names in the document's current text. Pure functions."""

from __future__ import annotations

from ragkit.chunking.units import text_units
from ragkit.reading.formats import Format
from ragkit.surfaces.addresses import mark_of

Span = tuple[int, int]

MOVED = "The document has changed since. The sentence that was cited is marked where it is now."
CHANGED = "The document has changed since. The sentence that was cited is no longer in it."


def find(text: str, file_format: str, span: Span | None, mark: str) -> tuple[Span | None, str]:
    """Return the span of the sentence, ``None`` to mark nothing, and a notice about it.

    ``mark`` is the fingerprint of its text (``mark_of``). A sentence that moved is marked
    where it is now; without a fingerprint it is taken to be where the address says.
    """
    if span is None:
        return None, ""
    start, end = span
    is_inside = end <= len(text)
    if is_inside and (not mark or mark_of(text[start:end]) == mark):
        return span, ""
    units = text_units(text, code=file_format == Format.CODE) if mark else ()
    same = [
        (unit.start, unit.end) for unit in units if mark_of(text[unit.start : unit.end]) == mark
    ]
    if same:
        return min(same, key=lambda span_of_unit: abs(span_of_unit[0] - start)), MOVED
    return None, CHANGED
