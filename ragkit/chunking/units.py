"""Divides a text into units: sentences, lines of code, rows of tables and headings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

from ragkit.chunking.full_stops import is_within_sentence
from ragkit.chunking.splitter import SENTENCE_END

_FENCE = re.compile(r"(?:```|~~~)")
_HEADING = re.compile(r"#{1,6}\s")
STAMP = re.compile(
    r"[\[(]?(?:\d{4}[-./]\d\d?[-./]\d\d?|\d\d?[-./]\d\d?[-./]\d{2,4}|[A-Z][a-z]{2} [ \d]\d)"
    r"[T ,]+\d\d?:\d\d"
)
"""The date and time at the start of a line of a log."""

_ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_CALLOUT = re.compile(r"(?:>\s*)+\[!\w[\w-]{0,40}\][+-]?\s*")
"""What begins a quotation of a kind, such as a note or a warning; its title follows."""

_FIELD = re.compile(r"[^\W\d_][\w'’/().-]*(?: [\w'’/().-]+){0,4}:\s+\S")
"""A label and a value, as in "Rent: 3,480 euros". Below each other, each such line is a unit."""

_PAGE = r"(?:[A-Z][-.]?)?\d[\d.\u2013-]*|[ivxlc]{1,7}"
_ENTRY = re.compile(rf"(?:(?:^|\s)…|(?:\. ?){{4,}})\s?(?:{_PAGE})(?:,\s?(?:{_PAGE}))*$")
_MOST_PAGES = 80
_PAGED = re.compile(rf"\S.{{0,100}}\s(?:{_PAGE})")
_TABLE_RULE = re.compile(r"\|[|\s:+-]*-[|\s:+-]*$")
_BARE_TAG = re.compile(
    r"(?:</?[A-Za-z][^<>]*>\s*|!\[(?:[^\[\]]|\[[^\[\]]*\])*\]\([^)]*\)\s*|:::.*)+$"
)
_IMPORT = re.compile(
    r"(?:import|from|use|using|#include|require|package|export \{|const \w+ = require)\b"
)
_SPEAKER = re.compile(r"\*\*[^*\n]{1,80}\*\* · \d{4}-\d\d-\d\d")
_WORD = re.compile(r"\w")


class Unit(NamedTuple):
    """A sentence, line or row of one block.

    ``quality``, from 0 to 1, is how well units of this kind answer questions. ``header`` is the
    header line of a table's row, if it is known; ``is_header``: this is the header.
    """

    start: int
    end: int
    kind: str
    block: int
    quality: float = 1.0
    header: str = ""
    is_header: bool = False
    speaker: bool = False


def text_units(value: str, *, code: bool, above: str = "") -> Iterator[Unit]:
    """Yield the units of a text in order; ``code``: all of it is source code.

    ``above`` is the header line of the table that the text begins in the middle of.
    """
    fenced, header, is_field = False, above, False
    paragraph: tuple[int, int] | None = None
    block = offset = 0
    lines = value.split("\n")
    for above_line, line, after in zip(["", *lines], lines, [*lines[1:], ""], strict=False):
        words = line.strip()
        start = offset + len(line) - len(line.lstrip())
        end = start + len(words)
        is_underline = not fenced and _is_underline(words, above_line.strip())
        kind = "" if is_underline else _kind(words, code or fenced)
        fenced ^= not code and kind == "fence"
        callout = _CALLOUT.match(words) if kind == "prose" else None
        mark = callout or (_ITEM.match(words) if kind == "prose" else None)
        before, is_field = is_field, kind == "prose" and _FIELD.match(words) is not None
        of_fields = is_field and (before or _FIELD.match(after.strip()) is not None)
        begins = (
            kind != "prose"
            or mark is not None
            or of_fields
            or STAMP.match(words) is not None
            or _is_record(line, above_line, after)
        )
        if paragraph and begins:
            yield from _sentences(value, *paragraph, block)
            paragraph = None
        block += begins
        if kind == "prose":
            first = paragraph[0] if paragraph else start + (mark.end() if mark else 0)
            paragraph = first, end
            if callout:
                yield from _sentences(value, *paragraph, block)
                paragraph = None
        elif kind == "row":
            # The first row of a passage from the middle of a table is not a header.
            is_header = not header and _TABLE_RULE.match(after.strip()) is not None
            yield Unit(start, end, "row", block, 0.4 if is_header else 1.0, header, is_header)
            header = words if is_header else header
        elif kind == "code":
            yield Unit(offset, end, "code", 0, 0.2 if _IMPORT.match(words) else 1.0)
        elif kind == "entry":
            yield Unit(start, end, "entry", block, 0.3)
        elif kind == "heading":
            speaker = not words.startswith("#")
            yield Unit(start, end, "heading", block, 0.3, speaker=speaker)
        if not words.startswith("|"):
            header = ""
        offset += len(line) + 1
    if paragraph:
        yield from _sentences(value, *paragraph, block)


def header_above(before: str, above: str = "") -> str:
    """Return the header line of the table in which a text ends; empty where it ends in none.

    ``above`` is that of the table in the middle of which the text begins.
    """
    lines = before.split("\n")
    first = last = len(lines) - 1
    while first and lines[first - 1].startswith("|"):
        first -= 1
    rows = lines[first:last] if not lines[last] else []
    for row, after in pairwise(rows):
        if _TABLE_RULE.match(after.strip()):
            return row.strip()
    return above if len(rows) == last else ""


def is_entry(line: str) -> bool:
    """Return whether a line without space around it is one of contents or of an index.

    Dots and pages end it, of which at most 80 characters are looked at.
    """
    return line[-1:].isalnum() and _ENTRY.search(line[-_MOST_PAGES:]) is not None


def of_contents(texts: Sequence[str]) -> list[bool]:
    """Return which of neighbouring texts are entries, or lines beside them that end in a page.

    Contents have no dots between the titles of chapters and their pages.
    """
    listed = list(map(is_entry, texts))
    if not any(listed):
        return listed
    paged = [all(map(_PAGED.fullmatch, text.split("\n"))) for text in texts]
    places = range(len(texts))
    for at, after in chain(pairwise(places), pairwise(reversed(places))):
        listed[after] |= paged[after] and listed[at]
    return listed


def _is_underline(words: str, above: str) -> bool:
    """Return whether a line is below a title in reStructuredText, and no fence of Markdown."""
    return words[:3] == "~~~" and not words.strip("~") and len(words) >= len(above) > 0


def _is_record(line: str, above: str, after: str) -> bool:
    """Return whether a line is one of several with as many colons, semicolons or tabs in each."""
    parted = [(sign, count) for sign in ":;\t" if (count := line.count(sign)) > 1]
    return any(count in (above.count(sign), after.count(sign)) for sign, count in parted)


def _kind(words: str, code: bool) -> str:
    """Return the kind of a stripped line; empty for a line without content."""
    if _FENCE.match(words):
        return "fence"
    if not _WORD.search(words):
        return ""
    if code:
        return "code"
    if words.startswith("|"):
        return "row"
    if _HEADING.match(words) or _SPEAKER.match(words):
        return "heading"
    if is_entry(words):
        return "entry"
    return "" if _BARE_TAG.match(words) else "prose"


def _sentences(value: str, start: int, end: int, block: int) -> Iterator[Unit]:
    """Yield the sentences of a paragraph, which may continue across its lines."""
    for match in SENTENCE_END.finditer(value, start, end):
        if is_within_sentence(value, start, match.end()):
            continue
        last = match.start() + len(match.group().rstrip())
        if last > start:
            yield Unit(start, last, "prose", block)
        start = match.end()
    if start < end:
        yield Unit(start, end, "prose", block)
