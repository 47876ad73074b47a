"""Messages in web pages: what their HTML says as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from ragkit.reading.reading_parts import fenced, tidy, whole_line, without_tags

_TAG = re.compile(r"<[^<>]*>")
_TITLE = re.compile(r"<title>(.{1,500}?)</title>", re.S)
# What stands in an element ends where another of its kind begins: looking on would take a hostile
# page's length once more for each of its tags.
_LINK = re.compile(
    r"<a\b[^<>]*?\bhref=(?:\"([^\"]*)\"|([^\s\"<>]+))[^<>]*>([^<]*(?:<(?!/?a\b)[^<]*)*)</a>"
)
_BLOCK = re.compile(
    r"<code\b[^<>]*multiline[^<>]*>([^<]*(?:<(?!/?code\b)[^<]*)*)</code>"
    r"|<pre\b[^<>]*>([^<]*(?:<(?!/?pre\b)[^<]*)*)</pre>"
)
_EMOJI = re.compile(r"<img\b(?=[^<>]*emoji)[^<>]*?\balt=(?:\"([^\"]*)\"|([^\s\"<>]+))[^<>]*>")
_MARKS = (
    (re.compile(r"</?(?:strong|b)\b[^<>]*>"), "**"),
    (re.compile(r"</?(?:em|i)\b[^<>]*>"), "*"),
    (re.compile(r"</?code\b[^<>]*>"), "`"),
    (re.compile(r"<br\b[^<>]*>|</?(?:div|p|blockquote|li)\b[^<>]*>"), "\n"),
)


def parts(begin: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Yield each place where a part begins, and the HTML from there to the next."""
    found = list(begin.finditer(text))
    places = [part.start() for part in found] + [len(text)]
    for part, (_, end) in zip(found, pairwise(places), strict=True):
        yield part, text[part.end() : end]


def as_markdown(source: str) -> str:
    """Return the HTML of a message as Markdown; each line of it is one of the message."""
    source = _LINK.sub(_link, source)
    source = _EMOJI.sub(lambda emoji: emoji[1] or emoji[2] or "", source)
    source = _BLOCK.sub(lambda block: f"\n{fenced(block[1] or block[2] or '', '')}\n", source)
    for tag, mark in _MARKS:
        source = tag.sub(mark, source)
    return tidy("\n".join(line.strip() for line in without_tags(source).split("\n")))


def name_in(source: str) -> str:
    """Return a name or title in HTML, on one line."""
    return whole_line(without_tags(source))


def title_in(page: str) -> str:
    """Return the title of a page, or ``""``."""
    titled = _TITLE.search(page)
    return name_in(titled[1]) if titled else ""


def _link(link: re.Match[str]) -> str:
    address, shown = link[1] or link[2] or "", _TAG.sub("", link[3])
    is_address = address.startswith(("http://", "https://")) and shown not in address
    return f"[{shown}]({address})" if is_address else shown
