"""Markdown and MDX: front matter into metadata, everything else as it was written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit.reading.formats import Format
from ragkit.reading.front_matter import read_front_matter
from ragkit.reading.reading_parts import one_line, stem
from ragkit.types import Markup, Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

_EMBEDDED = re.compile(
    r"data:[\w.+-]{1,60}/[\w.+-]{1,60}(?:;[\w=.-]{1,60})*;base64,[A-Za-z0-9+/=_%-]{64,}"
)
_FENCE = re.compile(r" {0,3}(?:[-*+] +|> ?)*(`{3,}|~{3,})(.*)")
_ATX = re.compile(r" {0,3}#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_HTML_H1 = re.compile(r"<h1\b[^>]{0,300}>(.{1,500}?)</h1>", re.I | re.S)
_IMAGE = re.compile(r"!\[([^\]]{0,300})\]\([^)]{0,2000}\)")
_LINK = re.compile(r"\[([^\]]{1,300})\](?:\([^)]{0,2000}\)|\[[^\]]{0,100}\])")
_EMPHASIS = re.compile(r"(\*\*|__|[*_`])(?=\S)(.+?)(?<=\S)\1")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>")
_MODULE_LINE = re.compile(
    r"import\s+(?:[\"']|[\w*{][^\n]{0,500}\bfrom\s*[\"']|\{[^}\n]{0,500}$)"
    r"|export\s+(?:(?:const|let|var|default|function|async|class)\b|\{|\*)"
)
_LONGEST_STATEMENT = 200


def read_markdown(text: str, name: str, file_format: Format = Format.MARKDOWN) -> Reading:
    """Read cleaned Markdown text. Front matter is kept as metadata, not as searchable text."""
    front = read_front_matter(text)
    body = text[front.end :].lstrip("\n") if front.end else text
    if file_format is Format.MDX:
        body = _without_modules(body)
    body = strip_embedded(body)
    title = front.title or first_heading(body) or stem(name)
    return Reading(
        text=body,
        title=title,
        format=file_format,
        markup=Markup.MARKDOWN,
        language=front.language,
        metadata=front.metadata,
        warnings=front.warnings,
    )


def strip_embedded(text: str) -> str:
    """Replace embedded base64 files by a short mark: megabytes that no one searches."""
    return _EMBEDDED.sub("embedded-data", text) if ";base64," in text else text


def first_heading(text: str) -> str:
    """Return the first heading of level 1 outside code fences, as plain text."""
    before = ""
    for line, fenced in fenced_lines(text):
        if fenced:
            before = ""
            continue
        heading = _ATX.match(line)
        if heading and heading[1].strip():
            return plain(heading[1])
        if before.strip() and re.fullmatch(r" {0,3}=+[ \t]*", line):
            return plain(before)
        before = line
    html = _HTML_H1.search(text, 0, 5000)
    return plain(html[1]) if html else ""


def fenced_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line and whether it is part of a fenced code block, fences included."""
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence:
            closes = mark and mark[1].startswith(fence) and not mark[2].strip()
            yield line, True
            fence = "" if closes else fence
        elif mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            yield line, True
        else:
            yield line, False


def plain(markdown: str) -> str:
    """Return a heading without links, emphasis and tags."""
    text = _LINK.sub(r"\1", _IMAGE.sub(r"\1", markdown[:2000]))
    text = _TAG.sub("", text)
    for _ in range(3):
        text, changed = _EMPHASIS.subn(r"\2", text)
        if not changed:
            break
    return one_line(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text))


def _without_modules(text: str) -> str:
    """Remove the import and export statements of MDX, which are no prose."""
    kept: list[str] = []
    depth, taken = 0, 0
    for line, fenced in fenced_lines(text):
        inside = taken > 0
        if fenced or (not inside and not _MODULE_LINE.match(line)):
            kept.append(line)
            taken = 0
            continue
        taken += 1
        depth = (
            (depth if inside else 0)
            + sum(line.count(sign) for sign in "{([")
            - sum(line.count(sign) for sign in "})]")
        )
        if depth <= 0 or taken > _LONGEST_STATEMENT:
            taken = 0
    return "\n".join(kept).lstrip("\n")
