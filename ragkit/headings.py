"""Headings as they are written, and the parser of Markdown that reads them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

PARSER_FAILURES = (RecursionError, LookupError, ValueError, AssertionError)
"""What the parser raises on a text that it cannot read."""

_NAME = r"[\w:.-]{1,100}"
_ATTRIBUTE = rf"(?:[#.]{_NAME}|{_NAME}=(?:\"[^\"]*\"|'[^']*'|[^\s\"'=]+))"
_ATTRIBUTES = re.compile(
    rf"\{{(?::[ \t]*|[ \t]*){_ATTRIBUTE}(?:[ \t]+{_ATTRIBUTE})*[ \t]*\}}"
    rf"|\{{-\}}|\{{/\*[ \t]*#{_NAME}[ \t]*\*/\}}"
)
_CLOSING = re.compile(r"[ \t]+#+$")
_MARKED_UP = re.compile(r"[*_`\[\]<&\\!]")
_TYPE_PARAMETER = re.compile(r"<[A-Z]\w*(?: as \w+)?>")
_LABEL = re.compile(r"\([\w:. -]{1,100}\)=[ \t]*\n")


def without_attributes(heading: str) -> str:
    """Return a heading without its attributes, ``{#id .class key=value}``, and its label.

    Other words in braces, such as ``{variable}``, are text.
    """
    heading = _LABEL.sub("", heading.strip(), count=1)
    start = heading.rfind("{")
    if start > 0 and heading.endswith("}") and _ATTRIBUTES.fullmatch(heading, start):
        return _CLOSING.sub("", heading[:start].rstrip())
    return heading


def heading_text(heading: str) -> str:
    """Return the words of a heading of Markdown, without its markup and attributes."""
    short = without_attributes(heading)
    if not _MARKED_UP.search(short):
        return short
    try:
        inline = markdown_parser().parseInline(short)
    except PARSER_FAILURES:
        return short
    return "".join(_words(inline[0].children or ())) if inline else short


def _words(tokens: Sequence[Token]) -> Iterator[str]:
    """Yield the text of inline tokens, also of code and alternatives of pictures.

    The ``<T>`` of ``Option<T>`` counts as text: elements are written in lower case.
    """
    for token in tokens:
        if token.type in {"text", "text_special", "code_inline", "image"}:
            yield token.content
        elif token.type in {"softbreak", "hardbreak"}:
            yield " "
        elif token.type == "html_inline" and _TYPE_PARAMETER.fullmatch(token.content):
            yield token.content


@lru_cache(maxsize=1)
def markdown_parser() -> MarkdownIt:
    """Return a CommonMark parser with tables."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table")
