"""What stands beside the text of a Word document: comments, headers and footers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from ragkit.formatting import shortened
from ragkit.reading.decode import clean
from ragkit.reading.reading_parts import one_line, whole_line
from ragkit.reading.zip_container import xml

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterable, Iterator, Sequence
    from xml.etree.ElementTree import Element

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MARGIN = re.compile(r"word/(?:header|footer)\d*\.xml")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_LONGEST_QUOTE = 120


def margins_of(archive: zipfile.ZipFile, text: str) -> str:
    """Return the headers, footers and comments as Markdown sections, or an empty string.

    ``text`` is that of the document.
    """
    repeated = (
        line
        for name in sorted(filter(_MARGIN.fullmatch, archive.namelist()))
        for line in _lines(part_of(archive, name))
    )
    return header_section(repeated, text) + section("Comments", [*_comments(archive)])


def header_section(lines: Iterable[str], text: str) -> str:
    """Return a Markdown section of headers and footers, each line once, if ``text`` lacks it."""
    known = whole_line(text)
    new = [one for one in dict.fromkeys(lines) if _LETTERS.search(one) and one not in known]
    return section("Header and footer", new)


def section(title: str, lines: Sequence[str]) -> str:
    """Return a Markdown section with a list to append to a text, or an empty string."""
    return f"\n\n## {title}\n\n" + "\n".join(f"- {line}" for line in lines) if lines else ""


def _comments(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield a line for each comment: who wrote it, the words that it is about, and what it says."""
    comments = part_of(archive, "word/comments.xml")
    if comments is None:
        return
    quotes = _commented(part_of(archive, "word/document.xml"))
    for comment in comments.iter(f"{_W}comment"):
        said = " ".join(_lines(comment))
        if not said:
            continue
        author = one_line(clean(comment.get(f"{_W}author") or "")) or "Comment"
        quote = one_line(clean(quotes.get(comment.get(f"{_W}id") or "", "")))
        about = f" on “{shortened(quote, _LONGEST_QUOTE)}”" if quote else ""
        yield f"{author}{about}: {said}"


def _commented(document: Element | None) -> dict[str, str]:
    """Return the words that each comment is about, by its id."""
    quotes: dict[str, str] = {}
    begun: set[str] = set()
    for element in () if document is None else document.iter():
        number = element.get(f"{_W}id") or ""
        if element.tag == f"{_W}commentRangeStart":
            begun.add(number)
        elif element.tag == f"{_W}commentRangeEnd":
            begun.discard(number)
        elif element.tag in (f"{_W}t", f"{_W}p"):
            for each in begun:
                quotes[each] = quotes.get(each, "") + (element.text or " ")
    return quotes


def _lines(part: Element | None) -> Iterable[str]:
    """Yield the text of each paragraph that has any."""
    for paragraph in () if part is None else part.iter(f"{_W}p"):
        words = (
            element.text or "" if element.tag == f"{_W}t" else " "
            for element in paragraph.iter()
            if element.tag in (f"{_W}t", f"{_W}tab", f"{_W}br", f"{_W}cr")
        )
        if line := whole_line(clean("".join(words))):
            yield line


def part_of(archive: zipfile.ZipFile, name: str) -> Element | None:
    """Return a part of the file, or ``None`` if it is absent or damaged."""
    try:
        return xml(archive, name)
    except (KeyError, ElementTree.ParseError):
        return None
