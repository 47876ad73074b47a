"""Plain text and reStructuredText."""

from __future__ import annotations

import re

from ragkit.reading.formats import Format
from ragkit.reading.reading_parts import one_line, stem
from ragkit.types import Markup, OutlineEntry, Reading

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*")
_ROLE = re.compile(r":[\w:+.-]{1,40}:`([^`]{1,300})`")
_LITERAL = re.compile(r"``([^`]{1,300})``|`([^`<]{1,300}?)(?:\s*<[^`]{0,300}>)?`_{0,2}")
_FIELD = re.compile(r":(author|authors|date|lang|language):[ \t]+(\S.{0,300})", re.I)


def read_text(text: str, name: str, file_format: Format = Format.TEXT) -> Reading:
    """Read cleaned plain text as it is."""
    return Reading(text=text, title=stem(name), format=file_format, markup=Markup.PLAIN)


def read_rst(text: str, name: str, file_format: Format = Format.RST) -> Reading:
    """Read cleaned reStructuredText; its adorned titles become the outline."""
    outline = _headings(text)
    title = outline[0].title if outline and outline[0].level == 1 else stem(name)
    metadata = {
        key: one_line(value)
        for field in map(_FIELD.match, text[:3000].split("\n"))
        if field
        for key, value in ((field[1].lower(), field[2]),)
        if key in ("author", "date")
    }
    return Reading(
        text=text,
        title=title,
        format=file_format,
        markup=Markup.PLAIN,
        outline=outline,
        metadata=metadata,
    )


def _headings(text: str) -> tuple[OutlineEntry, ...]:
    """Find titles by the line of punctuation under them (and over them).

    As in docutils, the level of a style of adornment is the order of its first use.
    """
    lines = text.split("\n")
    styles: list[str] = []
    entries: list[OutlineEntry] = []
    offset = 0
    offsets = []
    for line in lines:
        offsets.append(offset)
        offset += len(line) + 1
    row = 1
    while row < len(lines):
        title, under = lines[row - 1], lines[row]
        if not _is_heading(title, under):
            row += 1
            continue
        over = lines[row - 2] if row >= 2 else ""
        double = bool(_ADORNMENT.fullmatch(over)) and over.rstrip() == under.rstrip()
        blank_before = row < 2 or not over.strip() or double
        if blank_before:
            style = under[0] * (2 if double else 1)
            if style not in styles:
                styles.append(style)
            start = offsets[row - 2] if double else offsets[row - 1]
            entries.append(OutlineEntry(start, styles.index(style) + 1, _plain(title)))
        row += 2
    return tuple(entries)


def _is_heading(title: str, under: str) -> bool:
    """Return whether a line and the one below it are a title and its adornment."""
    return (
        bool(title.strip())
        and bool(_ADORNMENT.fullmatch(under))
        and not _ADORNMENT.fullmatch(title)
        and len(under.rstrip()) >= min(len(title.strip()), 3)
        and len(under.rstrip()) + 3 >= len(title.rstrip()) // 2
        and not title.startswith((".. ", "  "))
    )


def _plain(title: str) -> str:
    """Return a title without roles and literals."""
    text = _ROLE.sub(r"\1", title)
    return one_line(_LITERAL.sub(lambda literal: literal[1] or literal[2], text))
