"""Lines of a PDF's page joined into paragraphs, with the words that its lines break."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise
from statistics import median

from ragkit.reading.pdf_contents import Line
from ragkit.reading.pdf_vocabulary import HYPHENS, Vocabulary

_BROKEN_WORD = re.compile(rf"([^\W\d_]+)[{''.join(HYPHENS)}]$")
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
_LEADER = re.compile(r"(?:\.\s?){4,}\s*\w{1,6}$")
_NARROWEST = 30
_OVERLAP = 0.5
_WIDER = 1.35
"""A paragraph stands further below the one before than its lines stand below each other."""
_LARGER = 1.3
"""The lines of headings are so much higher than others, at least; signs above a line make it so."""
_BAR = "| "
"""Begins the rows of a table."""


def flow(lines: Sequence[Line], vocabulary: Vocabulary, headings: Collection[str] = ()) -> str:
    """Join the lines of a page into paragraphs, set apart by blank lines, where that is clear.

    A line continues in the next one when it is about as long as the page's lines are. Headings of
    the outline, larger lines, list items, short lines after a full stop and what stands further
    below start a new paragraph.
    """
    lines = _without_number([line._replace(text=line.text.strip()) for line in lines])
    width, pitch = _line_width(lines), _pitch(lines)
    titles = {_key(title) for title in headings}
    pieces: list[str] = []
    before = Line("")
    for line in lines:
        text = line.text
        if not pieces or not before.text:
            gap = "\n" if pieces else ""
        elif not text:
            gap = "\n"
        elif before.text.startswith(_BAR) or text.startswith(_BAR):
            gap = "\n" if before.text[:2] == text[:2] else "\n\n"
        else:
            gap = _set_apart(before, line, pitch) or _gap(
                before.text, text, width, titles, vocabulary
            )
        if gap == "-":
            pieces[-1] = _joined_word(pieces[-1], text, vocabulary)
        else:
            pieces.append(gap + text)
        before = _whole(before, line) if gap == " " else line
    return "".join(pieces)


def _pitch(lines: Sequence[Line]) -> float:
    """Return how far the lines of a page stand below each other; 0 where that is not known."""
    steps = [
        before.bottom - line.bottom
        for before, line in pairwise(lines)
        if 0 < before.bottom - line.bottom < 3 * (line.top - line.bottom)
    ]
    return median(steps) if steps else 0.0


def _set_apart(before: Line, line: Line, pitch: float) -> str:
    """Return the separator of two lines by their places; empty where these leave it open."""
    step = before.bottom - line.bottom
    heights = sorted((before.top - before.bottom, line.top - line.bottom))
    if not pitch or not heights[0] > 0:
        return ""
    if _on_line(before, line) and line.left >= before.right - heights[0]:
        return " "
    if step > 0 and (step > pitch * _WIDER or heights[1] > heights[0] * _LARGER):
        return "\n\n"
    return ""


def _on_line(before: Line, line: Line) -> bool:
    """Return whether two lines stand beside each other: signs above and below a line do."""
    overlap = min(before.top, line.top) - max(before.bottom, line.bottom)
    return overlap > _OVERLAP * min(before.top - before.bottom, line.top - line.bottom)


def _whole(before: Line, line: Line) -> Line:
    """Return the end of a line, with the place of the larger of two beside each other."""
    if not _on_line(before, line):
        return line
    larger = max(before, line, key=lambda each: each.top - each.bottom)
    return larger._replace(text=line.text, right=line.right)


def _without_number(lines: list[Line]) -> list[Line]:
    """Drop a page number that stands alone in the first or the last line of a longer page."""
    filled = [row for row, line in enumerate(lines) if line.text]
    if len(filled) < 5:
        return lines
    numbers = [row for row in (filled[0], filled[-1]) if _PAGE_NUMBER.fullmatch(lines[row].text)]
    return [line for row, line in enumerate(lines) if row not in numbers]


def _line_width(lines: Sequence[Line]) -> int:
    """Return the length of the long lines of a page; 0 if there are too few lines."""
    lengths = sorted(len(line.text) for line in lines if line.text)
    return lengths[int(len(lengths) * 0.8)] if len(lengths) >= 3 else 0


def _gap(
    previous: str, line: str, width: int, titles: Collection[str], vocabulary: Vocabulary
) -> str:
    """Return the separator between two lines; a hyphen stands for a word that continues."""
    if _is_heading(previous, titles, width) or _is_heading(line, titles, width):
        return "\n\n"
    if _LIST_ITEM.match(line):
        return "\n"
    if "..." in previous.replace(" ", "") and _LEADER.search(previous):
        return "\n"
    if width < _NARROWEST and not _EAST_ASIAN.search(line):
        return "\n"
    long = len(previous) >= width * 0.75
    if previous.endswith(HYPHENS) and line[:1].islower():
        broken, rest = _broken_word(previous), _FIRST_WORD.match(line)
        if broken and rest and (long or vocabulary.knows(broken[1] + rest[0])):
            return "-"
    if long and not (previous.endswith(_ENDS) and len(previous) < width * 0.88):
        return "" if _EAST_ASIAN.match(previous[-1]) and _EAST_ASIAN.match(line) else " "
    if previous.endswith(_ENDS) and not line[:1].islower():
        return "\n\n"
    return "\n"


def _is_heading(line: str, titles: Collection[str], width: int) -> bool:
    """Return whether a line is a title of the outline, or a short numbered heading."""
    if titles and _key(line) in titles:
        return True
    return len(line) < max(width * 0.8, _NARROWEST) and bool(_NUMBERED_HEADING.match(line))


def _broken_word(text: str) -> re.Match[str] | None:
    """Find the word that a hyphen at the end breaks; the text before it may be long."""
    return _BROKEN_WORD.search(text, text.rfind(" ") + 1)


def _joined_word(text: str, line: str, vocabulary: Vocabulary) -> str:
    """Join a word broken at a line's end; keep a hyphen that belongs to it."""
    broken, rest = _broken_word(text), _FIRST_WORD.match(line)
    if not broken or not rest:
        return f"{text} {line}"
    return f"{text if vocabulary.keeps_hyphen(broken[1], rest[0]) else text[:-1]}{line}"


def _key(title: str) -> str:
    """Return a title for comparison: without its number, case and spaces."""
    return re.sub(r"\s+", "", re.sub(r"^[\d.]+\s*", "", title.casefold()))
