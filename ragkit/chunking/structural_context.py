"""Structural context: what says where in which document a chunk stands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragkit.types import Chunk, Page

CONTEXT_CHARACTERS = 300
_PART_CHARACTERS = 100
_LABEL_CHARACTERS = 40
_SEPARATOR = " › "
_PAGE_NUMBER = re.compile(r"(?i)[ivxlcdm]{1,8}|[a-z]{0,3}[-.]?\d{1,6}[a-z]?")


def structural_context(title: str, chunk: Chunk, reading_pages: Sequence[Page]) -> str:
    """Say where a chunk stands: ``Title › Heading › Sub · p. 14–15``.

    Nothing is said twice, and no more than ``CONTEXT_CHARACTERS`` characters are said: long
    parts are shortened, then headings in the middle left out.
    """
    parts = _distinct([title, *chunk.heading_path])
    place = _place(chunk, reading_pages, parts)
    tail = f" · {place}" if parts and place else place
    room = CONTEXT_CHARACTERS - len(tail)
    joined = _SEPARATOR.join(parts)
    middle = len(parts) - 2
    while len(joined) > room and middle > 0:
        middle -= 1
        joined = _SEPARATOR.join([parts[0], "…", *parts[len(parts) - 1 - middle :]])
    return joined + tail


def contextualised(context: str, text: str) -> str:
    """Join a context and the text it situates, as they are embedded."""
    return f"{context}\n\n{text}" if context else text


def _distinct(names: Sequence[str]) -> list[str]:
    """Shorten names, and leave out empty ones and those that repeat the one before."""
    kept: list[str] = []
    for name in names:
        short = _shorten(name)
        if short and (not kept or short.casefold() != kept[-1].casefold()):
            kept.append(short)
    return kept


def _shorten(name: str, most: int = _PART_CHARACTERS) -> str:
    """Put a name on one line of bounded length."""
    words = " ".join(name[: most * 4].split())
    return words if len(words) <= most else words[: most - 1].rstrip() + "…"


def _place(chunk: Chunk, pages: Sequence[Page], parts: Sequence[str]) -> str:
    """Name the pages of a chunk by their labels, unless a heading names them already."""
    if chunk.pages is None:
        return ""
    first, last = (_label(number, pages) for number in chunk.pages)
    if _PAGE_NUMBER.fullmatch(first) and _PAGE_NUMBER.fullmatch(last):
        return f"p. {first}" if first == last else f"p. {first}–{last}"
    said = {part.casefold() for part in parts}
    labels = [first] if first == last else [first, last]
    return " – ".join(label for label in labels if label.casefold() not in said)


def _label(number: int, pages: Sequence[Page]) -> str:
    """Find what the file calls a page."""
    at = number - 1
    if not (0 <= at < len(pages) and pages[at].number == number):
        at = next((i for i, page in enumerate(pages) if page.number == number), -1)
    return (_shorten(pages[at].label, _LABEL_CHARACTERS) if at >= 0 else "") or str(number)
