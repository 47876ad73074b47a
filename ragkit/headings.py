"""Headings as they are written."""

from __future__ import annotations

import re

_NAME = r"[\w:.-]{1,100}"
_ATTRIBUTE = rf"(?:[#.]{_NAME}|{_NAME}=(?:\"[^\"]*\"|'[^']*'|[^\s\"'=]+))"
_ATTRIBUTES = re.compile(
    rf"\{{(?::[ \t]*|[ \t]*){_ATTRIBUTE}(?:[ \t]+{_ATTRIBUTE})*[ \t]*\}}"
    rf"|\{{-\}}|\{{/\*[ \t]*#{_NAME}[ \t]*\*/\}}"
)
_CLOSING = re.compile(r"[ \t]+#+$")
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
