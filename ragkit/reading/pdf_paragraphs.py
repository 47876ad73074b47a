"""Lines of a PDF's page joined into paragraphs, with the words that its lines break."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)+")
_BROKEN_WORD = re.compile(r"([^\W\d_]+)(?:-|\u2010|\u00ad)$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_LIST_ITEM = re.compile(
    r"(?:[-*\u2022\u2023\u25aa\u25cf\u2013\u2014]|\(?\d{1,3}[.)]|\(?[a-zA-Z][.)]|\[\d{1,3}\])(?:\s|$)"
)
_NUMBERED_HEADING = re.compile(
    r"(?:\d{1,2}(?:\.\d{1,3}){0,4}\.?|[A-Z]\.\d{1,2})\s+[A-Z\u00c0-\u024f][^.!?]{1,90}$"
)
_ENDS = (".", "!", "?", ":", ";", "\u3002", "\uff01", "\uff1f", "\u201d", '"', ")")
_EAST_ASIAN = re.compile("[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af\uff00-\uffef]")
_PAGE_NUMBER = re.compile(r"[-\u2013\u2014 ]*(?:\d{1,4}|[ivxlc]{1,7})[-\u2013\u2014 ]*")
_NARROWEST = 30


def words_of(pages: Iterable[str]) -> frozenset[str]:
    """Return the word pairs with a hyphen inside a line, which they keep at a line's end."""
    pairs: set[str] = set()
    for page in pages:
        for word in _WORD.findall(page):
            parts = word.casefold().split("-")
            pairs.update(f"{left}-{right}" for left, right in pairwise(parts))
    return frozenset(pairs)


def flow(lines: Sequence[str], hyphenated: Collection[str], headings: Collection[str] = ()) -> str:
    """Join the lines of a page into paragraphs, set apart by blank lines, where that is clear.

    A line continues in the next one when it is about as long as the page's lines are. Headings of
    the outline, list items and short lines after a full stop start a new paragraph.
    """
    lines = _without_number([line.rstrip() for line in lines])
    width = _line_width(lines)
    titles = {_key(title) for title in headings}
    pieces: list[str] = []
    previous = ""
    for line in lines:
        stripped = line.strip()
        if not pieces or not previous:
            gap = "\n" if pieces else ""
        elif not stripped:
            gap = "\n"
        else:
            gap = _gap(previous, stripped, width, titles)
        if gap == "-":
            pieces[-1] = _joined_word(pieces[-1], stripped, hyphenated)
        else:
            pieces.append(gap + stripped)
        previous = stripped
    return "".join(pieces)


def _without_number(lines: list[str]) -> list[str]:
    """Drop a page number that stands alone in the first or the last line of a longer page."""
    filled = [row for row, line in enumerate(lines) if line.strip()]
    if len(filled) < 5:
        return lines
    numbers = [row for row in (filled[0], filled[-1]) if _PAGE_NUMBER.fullmatch(lines[row].strip())]
    return [line for row, line in enumerate(lines) if row not in numbers]


def _line_width(lines: list[str]) -> int:
    """Return the length of the long lines of a page; 0 if there are too few lines."""
    lengths = sorted(len(line.strip()) for line in lines if line.strip())
    return lengths[int(len(lengths) * 0.8)] if len(lengths) >= 3 else 0


def _gap(previous: str, line: str, width: int, titles: Collection[str]) -> str:
    """Return the separator between two lines; a hyphen stands for a word that continues."""
    if _is_heading(previous, titles, width) or _is_heading(line, titles, width):
        return "\n\n"
    if _LIST_ITEM.match(line):
        return "\n"
    if width < _NARROWEST and not _EAST_ASIAN.search(line):
        return "\n"
    long = len(previous) >= width * 0.75
    if long and _BROKEN_WORD.search(previous) and line[:1].islower():
        return "-"
    if long and not (previous.endswith(_ENDS) and len(previous) < width * 0.88):
        return "" if _EAST_ASIAN.match(previous[-1]) and _EAST_ASIAN.match(line) else " "
    if previous.endswith(_ENDS) and not line[:1].islower():
        return "\n\n"
    return "\n"


def _is_heading(line: str, titles: Collection[str], width: int) -> bool:
    """Return whether a line is a title of the outline, or a short numbered heading."""
    if _key(line) in titles:
        return True
    return len(line) < max(width * 0.8, _NARROWEST) and bool(_NUMBERED_HEADING.match(line))


def _joined_word(text: str, line: str, hyphenated: Collection[str]) -> str:
    """Join a word broken at a line's end; keep a hyphen that the word has elsewhere."""
    broken = _BROKEN_WORD.search(text)
    rest = _FIRST_WORD.match(line)
    if not broken or not rest:
        return f"{text} {line}"
    with_hyphen = f"{broken[1]}-{rest[0]}".casefold()
    return f"{text}{line}" if with_hyphen in hyphenated else f"{text[:-1]}{line}"


def _key(title: str) -> str:
    """Return a title for comparison: without its number, case and spaces."""
    return re.sub(r"\s+", "", re.sub(r"^[\d.]+\s*", "", title.casefold()))
