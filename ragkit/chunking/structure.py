"""Finds the structure of a text: where blocks start, and its headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragkit.formatting import bounded_line
from ragkit.headings import PARSER_FAILURES, heading_text, markdown_parser
from ragkit.types import BlockKind, Markup, OutlineEntry

if TYPE_CHECKING:
    from markdown_it.token import Token

MARKDOWN_CHARACTERS = 2_000_000
MARKDOWN_LINES = 40_000
"""Beyond either limit, Markdown is scanned line by line, so that no file takes long."""

_HEADING_CHARACTERS = 400
_FRONT_MATTER_CHARACTERS = 64_000

_FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\n")
_FRONT_MATTER_KEY = re.compile(r"^[\w\"'-][^\n:=]{0,200}[:=]", re.MULTILINE)
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*))?$")
_ATX_CLOSING = re.compile(r"(?:^|(?<=[ \t]))#+$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKER = re.compile(r"\s{0,12}(?:[-*+•‣–]|\d{1,9}[.)])\s")

_KINDS = {
    "heading_open": BlockKind.HEADING,
    "bullet_list_open": BlockKind.LIST,
    "ordered_list_open": BlockKind.LIST,
    "table_open": BlockKind.TABLE,
    "fence": BlockKind.CODE,
    "code_block": BlockKind.CODE,
}


@dataclass(frozen=True, slots=True)
class Structure:
    """Starts and kinds of blocks, and headings; both sorted by offset."""

    starts: tuple[tuple[int, BlockKind], ...]
    headings: tuple[OutlineEntry, ...] = ()


def find_structure(text: str, markup: Markup) -> Structure:
    """Find the blocks and headings of a text in its markup."""
    if markup is Markup.CODE:
        return _scan_code(text)
    if markup is Markup.MARKDOWN:
        return _markdown(text)
    return scan_lines(text)


def _markdown(text: str) -> Structure:
    """Parse Markdown, or scan its lines if it is too large or the parser fails."""
    body = front_matter_end(text)
    small = len(text) <= MARKDOWN_CHARACTERS and text.count("\n") <= MARKDOWN_LINES
    structure = _parse_markdown(text, body) if small else None
    if structure is None:
        structure = scan_lines(text, body, markdown=True)
    if not body:
        return structure
    return Structure(((0, BlockKind.FRONT_MATTER), *structure.starts), structure.headings)


def front_matter_end(text: str) -> int:
    """Return the offset of the line after front matter; 0 if there is none."""
    opening = _FRONT_MATTER.match(text)
    if opening is None:
        return 0
    mark = opening[1]
    closing = re.compile(rf"^(?:{re.escape(mark)}|\.\.\.)[ \t]*$\n?", re.MULTILINE)
    end = closing.search(text, opening.end(), opening.end() + _FRONT_MATTER_CHARACTERS)
    if end is None or _FRONT_MATTER_KEY.search(text, opening.end(), end.start()) is None:
        return 0
    return end.end()


def _parse_markdown(text: str, body: int) -> Structure | None:
    """Parse the blocks of ``text[body:]``; return ``None`` if the parser fails."""
    parser = markdown_parser()
    tokens: list[Token] = []
    source = text[body:]
    try:
        parser.block.parse(source, parser, {}, tokens)
    except PARSER_FAILURES:
        return None
    lines = [0, *(newline.end() for newline in re.finditer("\n", source))]
    starts: list[tuple[int, BlockKind]] = []
    headings: list[OutlineEntry] = []
    for at, token in enumerate(tokens):
        if token.level or token.nesting < 0 or token.map is None:
            continue
        offset = body + lines[token.map[0]]
        kind = _KINDS.get(token.type, BlockKind.PARAGRAPH)
        if kind is BlockKind.HEADING:
            content = tokens[at + 1].content
            title = _heading_title(content)
            # To the parser, a long paragraph above a rule is a heading; to readers it is not.
            if title and (token.markup.startswith("#") or len(content) <= _HEADING_CHARACTERS):
                headings.append(OutlineEntry(offset, int(token.tag[1:]), title))
            else:
                kind = BlockKind.PARAGRAPH
        starts.append((offset, kind))
    return Structure(tuple(starts), tuple(headings))


def _heading_title(content: str) -> str:
    # Links in a heading may be much longer than its text.
    return bounded_line(heading_text(content[: _HEADING_CHARACTERS * 10]))


def scan_lines(text: str, start: int = 0, *, markdown: bool = False) -> Structure:
    """Find paragraphs, lists and tables; in Markdown also code blocks and headings."""
    starts: list[tuple[int, BlockKind]] = []
    headings: list[OutlineEntry] = []
    offset, fence, blank, listed = start, "", True, False
    for line in text[start:].split("\n"):
        line_start, offset = offset, offset + len(line) + 1
        opened = _FENCE.match(line) if markdown else None
        if fence:
            if opened and opened[1].startswith(fence) and not line[opened.end() :].strip():
                fence, blank = "", True
            continue
        heading = _ATX.match(line[:_HEADING_CHARACTERS]) if markdown else None
        if opened:
            fence = opened[1]
            starts.append((line_start, BlockKind.CODE))
        elif heading and (title := _heading_title(_ATX_CLOSING.sub("", heading[2] or ""))):
            starts.append((line_start, BlockKind.HEADING))
            headings.append(OutlineEntry(line_start, len(heading[1]), title))
            blank = True
        elif not line or line.isspace():
            blank = True
        else:
            marker = _MARKER.match(line) is not None
            if blank:
                table = line.startswith("|")
                starts.append((line_start, BlockKind.TABLE if table else BlockKind.PARAGRAPH))
                blank, listed = False, marker
            elif marker and listed:
                starts[-1] = (starts[-1][0], BlockKind.LIST)
    return Structure(tuple(starts), tuple(headings))


def _scan_code(text: str) -> Structure:
    """Find the blocks of source code: they start without indentation after a blank line."""
    starts: list[tuple[int, BlockKind]] = []
    offset, blank = 0, True
    for line in text.split("\n"):
        if not line or line.isspace():
            blank = True
        else:
            if blank and (not starts or not (line[0].isspace() or line[0] in ")}]")):
                starts.append((offset, BlockKind.CODE))
            blank = False
        offset += len(line) + 1
    return Structure(tuple(starts))
