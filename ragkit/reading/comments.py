"""Comments in documents and on slides: who wrote them, about what, and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragkit.formatting import shortened
from ragkit.reading.decode import clean
from ragkit.reading.reading_parts import one_line, whole_line
from ragkit.reading.xml_names import A, P, W
from ragkit.reading.zip_container import part_of

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator, Sequence
    from xml.etree.ElementTree import Element

_MODERN = "{http://schemas.microsoft.com/office/powerpoint/2018/8/main}"
_LONGEST_QUOTE = 120


def comment_line(author: str, text: str, *, place: str = "", quote: str = "") -> str:
    """Return a comment on one line, or an empty string for one that says nothing.

    It is about a ``place``, as "B2", or the words of a ``quote``, if either is known.
    """
    text, name = whole_line(clean(text)), one_line(clean(author)) or "Comment"
    about = f"“{shortened(words, _LONGEST_QUOTE)}”" if (words := one_line(clean(quote))) else place
    return f"{name}{f' on {about}' if about else ''}: {text}" if text else ""


# -- Word ------------------------------------------------------------------------------------


def comments_of_word(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield a line for each comment, with the words that it is about."""
    comments = part_of(archive, "word/comments.xml")
    if comments is None:
        return
    quotes = _commented(part_of(archive, "word/document.xml"))
    for comment in comments.iter(f"{W}comment"):
        author, text = comment.get(f"{W}author") or "", " ".join(lines_of_word(comment))
        quote = quotes.get(comment.get(f"{W}id") or "", "")
        if line := comment_line(author, text, quote=quote):
            yield line


def lines_of_word(part: Element | None) -> Iterator[str]:
    """Yield the text of each paragraph that has any."""
    for paragraph in () if part is None else part.iter(f"{W}p"):
        words = (
            element.text or "" if element.tag == f"{W}t" else " "
            for element in paragraph.iter()
            if element.tag in (f"{W}t", f"{W}tab", f"{W}br", f"{W}cr")
        )
        if line := whole_line(clean("".join(words))):
            yield line


def _commented(document: Element | None) -> dict[str, str]:
    """Return the words that each comment is about, by its id."""
    quotes: dict[str, str] = {}
    begun: set[str] = set()
    for element in () if document is None else document.iter():
        number = element.get(f"{W}id") or ""
        if element.tag == f"{W}commentRangeStart":
            begun.add(number)
        elif element.tag == f"{W}commentRangeEnd":
            begun.discard(number)
        elif element.tag in (f"{W}t", f"{W}p"):
            for each in begun:
                quotes[each] = quotes.get(each, "") + (element.text or " ")
    return quotes


# -- PowerPoint ------------------------------------------------------------------------------


def comments_of_slide(archive: zipfile.ZipFile, linked: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield a line for each comment on a slide and each reply; ``linked`` are its relations."""
    for target, kind in linked:
        comments = part_of(archive, target) if kind == "comments" else None
        if comments is None:
            continue
        people = names_of(archive, "ppt/commentAuthors.xml", f"{P}cmAuthor", "name")
        people |= names_of(archive, "ppt/authors.xml", f"{_MODERN}author", "name")
        for comment in comments.iter():
            if comment.tag not in (f"{P}cm", f"{_MODERN}cm", f"{_MODERN}reply"):
                continue
            body = comment.find(f"{_MODERN}txBody")
            words = () if body is None else (part.text or "" for part in body.iter(f"{A}t"))
            text = comment.findtext(f"{P}text") or " ".join(words)
            if line := comment_line(people.get(comment.get("authorId", ""), ""), text):
                yield line


def names_of(archive: zipfile.ZipFile, part: str, tag: str, attribute: str) -> dict[str, str]:
    """Return the people that a part lists, by their ids."""
    root = part_of(archive, part)
    people = () if root is None else root.iter(tag)
    return {person.get("id", ""): person.get(attribute, "") for person in people}
