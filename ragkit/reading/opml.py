"""Outlines (OPML): what stands at the top as headings, the rest as lists."""

from __future__ import annotations

import re
from html import unescape

from ragkit.reading.code import read_code
from ragkit.reading.formats import Format
from ragkit.reading.reading_parts import one_line, stem, tidy, whole_line
from ragkit.types import Markup, Reading

_TAG = re.compile(r"<(/?)outline\b((?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*(/?)>", re.I)
_ATTRIBUTE = re.compile(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_TITLE = re.compile(r"<title\b[^<>]*>([^<>]*)</title\s*>", re.IGNORECASE)
_MARKUP = re.compile(r"</?(?:b|i|u|a|em|strong|span|code|s)\b[^<>]*>", re.IGNORECASE)
_ADDRESSES = ("url", "htmlUrl", "xmlUrl")
_DEEPEST = 40


def read_outline(text: str, name: str, file_format: Format = Format.OPML) -> Reading:
    """Read an outline; a file without any is code."""
    lines = []
    depth = 0
    for tag in _TAG.finditer(text):
        if tag[1]:
            depth = max(depth - 1, 0)
            continue
        lines += _item(tag[2], depth, leaf=bool(tag[3]))
        depth += not tag[3]
    if not lines:
        return read_code(text, name)
    found = _TITLE.search(text)
    title = one_line(unescape(found[1])) if found else ""
    return Reading(
        text=tidy("\n".join(lines)),
        title=title or stem(name),
        format=file_format,
        markup=Markup.MARKDOWN,
    )


def _item(source: str, depth: int, *, leaf: bool) -> list[str]:
    """Return the lines of one entry: its text, its address and its note."""
    values = {name: unescape(a or b) for name, a, b in _ATTRIBUTE.findall(source)}
    text = whole_line(_MARKUP.sub("", values.get("text") or values.get("title") or ""))
    address = next((values[key].strip() for key in _ADDRESSES if values.get(key)), "")
    note = [line.strip() for line in values.get("_note", "").split("\n") if line.strip()]
    return entry(text, address, note, depth, leaf=leaf)


def entry(text: str, address: str, note: list[str], depth: int, *, leaf: bool) -> list[str]:
    """Return the lines of an entry of an outline; ``leaf`` says that nothing is below it.

    It is a heading at the top, and an item of a list elsewhere.
    """
    if address and address != text:
        text = f"{text} <{address}>" if text else address
    if depth == 0 and not leaf:
        return [f"\n## {text}\n" if text else "\n", *note, ""]
    indent = "  " * min(max(depth - 1, 0), _DEEPEST)
    return [f"{indent}- {text}", *(f"{indent}  {line}" for line in note)] if text or note else []
