"""Writes pieces of LaTeX documents as Markdown: lists, tables, formulas, code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit.reading.latex.source import Places
from ragkit.reading.reading_parts import table, tidy, whole_line

if TYPE_CHECKING:
    from collections.abc import Iterator

CELL, ROW, ITEM, HASH = "\x1f", "\x1e", "\x1d", "\x1c"
"""What separates cells, rows and items until their environment ends, and a sign that Markdown
would take for a heading at the start of a line; ``SEPARATORS`` matches them."""

SEPARATORS = re.compile("[\x1c-\x1f]")

_HASH_FIRST = re.compile(rf"^([ \t]*){HASH}", re.MULTILINE)
_NOISE = re.compile(
    r"\\(?:label|tag)\{[^{}]{0,200}\}|\\(?:nonumber|notag|displaystyle|limits)(?![A-Za-z])|(?<!\\)&"
)
_NEW_LINE = re.compile(r"\\\\(?:\*|\[[^\[\]\n]{0,20}\])?")
_NODE = re.compile(r"\bnode\b[^;{}]{0,300}(?=\{)")
_COMMAND = re.compile(r"\\[A-Za-z]+|\\\\|[{}$]|#+\d")
_WORD = re.compile(r"\w")


def plain(text: str) -> str:
    """Return a text in which no separators are left."""
    text = text.replace(ROW, "\n").replace(CELL, " ").replace(ITEM, "\n- ")
    return _HASH_FIRST.sub(r"\1\\#", text).replace(HASH, "#")


def body(text: str) -> str:
    """Return a text of several paragraphs, without white space that means nothing."""
    return tidy(_without_space_at_ends(plain(text)))


def _without_space_at_ends(text: str) -> str:
    return "\n".join(line.rstrip(" \t") for line in text.split("\n"))


def inline(text: str, rows: str = " ") -> str:
    """Return a text on one line; ``rows`` comes between its lines."""
    return whole_line(plain(text.replace(ROW, rows)))


def marked(text: str, mark: str) -> str:
    """Return a text between marks; one of several paragraphs has none."""
    bare = plain(text).strip()
    if not bare or "\n\n" in bare or mark in bare:
        return text
    before = text[: len(text) - len(text.lstrip())]
    after = text[len(text.rstrip()) :]
    return f"{before}{mark}{bare}{mark}{after}"


def listed(text: str, *, numbered: bool) -> str:
    """Return the items of a list."""
    before, *items = text.split(ITEM)
    lines = [before.strip()] if before.strip() else []
    for number, item in enumerate(filter(str.strip, items), 1):
        mark = f"{number}. " if numbered else "- "
        lines.append(mark + body(item).replace("\n", "\n" + " " * len(mark)))
    return _without_space_at_ends("\n".join(lines))


def tabled(text: str) -> str:
    """Return rows as a table; what stands above it on rows of its own comes before it."""
    rows = [[inline(cell) for cell in row.split(CELL)] for row in text.split(ROW)]
    rows = [row for row in rows if any(row)]
    if max(map(len, rows), default=0) < 2:
        return "\n\n".join(" ".join(row) for row in rows)
    above = []
    while rows and sum(map(bool, rows[0])) == 1:
        above.append("".join(rows.pop(0)))
    return "\n\n".join(filter(None, (*above, table(rows))))


def quoted(text: str) -> str:
    """Return a text as a quotation."""
    return "\n".join(f"> {line}".rstrip() for line in body(text).split("\n"))


def inline_math(source: str) -> str:
    """Return a formula within a line, as it is written."""
    formula = whole_line(source)
    return f"${formula}$" if formula else ""


def display(source: str) -> str:
    """Return a formula of its own, a line for each of its lines."""
    lines = [whole_line(line) for line in _NEW_LINE.split(_NOISE.sub("", source))]
    formula = " \\\\\n".join(filter(None, lines))
    return f"\n\n$$\n{formula}\n$$\n\n" if formula else ""


def drawn(source: str) -> str:
    """Return the words in the nodes of a drawing."""
    shown = ", ".join(filter(_WORD.search, _nodes(source)))
    return f"\n\n{shown}\n\n" if shown else "\n\n"


def _nodes(source: str) -> Iterator[str]:
    places = Places(source)
    for node in _NODE.finditer(source):
        end = places.group_end(node.end(), 2000)
        if end > 0:
            yield whole_line(_COMMAND.sub(" ", source[node.end() + 1 : end - 1]))
