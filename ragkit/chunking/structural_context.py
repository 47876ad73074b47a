"""Structural contexts, which say where a chunk is in its document, and the texts to embed.

One text is embedded for each chunk, section and document.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

from ragkit.formatting import bounded_line, page_range
from ragkit.types import Chunk, Markup, Page

CONTEXT_CHARACTERS = 300
_PART_CHARACTERS = 100
_LABEL_CHARACTERS = 40
_COARSE_CHARACTERS = 4000
_HEADINGS_CHARACTERS = 1000
_PATH_CHARACTERS = 100
_SEPARATOR = " › "
_PAGE_NUMBER = re.compile(r"(?i)[ivxlcdm]{1,8}|[a-z]{0,3}[-.]?\d{1,6}[a-z]?")


def structural_context(title: str, chunk: Chunk, reading_pages: Sequence[Page]) -> str:
    """Return where a chunk is in its document: ``Title › Heading › Sub · p. 14–15``.

    Repeated parts are left out. It has at most ``CONTEXT_CHARACTERS`` characters: long parts are
    shortened, and then headings in the middle are left out.
    """
    parts = _distinct([title, *chunk.heading_path])
    place = _place(chunk, reading_pages, parts)
    tail = f" · {place}" if parts and place else place
    room = CONTEXT_CHARACTERS - len(tail)
    joined = _SEPARATOR.join(parts)
    middle = len(parts) - 2
    while len(joined) > room and middle > 0:
        middle -= 1
        joined = _SEPARATOR.join([parts[0], "…", *parts[len(parts) - 1 - middle :]])
    return joined + tail


def contextualised(context: str, text: str) -> str:
    """Return a text preceded by its context, for embedding."""
    return f"{context}\n\n{text}" if context else text


def document_name(title: str, markup: Markup, path: str) -> str:
    """Return the name of a document in contexts: its title, or for source code its path."""
    if not path or markup is not Markup.CODE:
        return title
    return path if len(path) <= _PATH_CHARACTERS else f"…{path[1 - _PATH_CHARACTERS :]}"


def chunk_text(context: str, text: str, chunk: Chunk) -> str:
    """Return the text to embed for a chunk: its context and its text."""
    return contextualised(context, text[chunk.start : chunk.end])


def section_text(context: str, text: str, chunks: Sequence[Chunk]) -> str:
    """Return the text to embed for a section: its context and its beginning, or its only chunk.

    ``chunks`` are those of the section in order; ``context`` is that of the first one.
    """
    start, end = chunks[0].start, chunks[-1].end
    if len(chunks) > 1:
        end = min(end, start + _COARSE_CHARACTERS)
    return contextualised(context, text[start:end])


def document_text(name: str, text: str, chunks: Sequence[Chunk]) -> str:
    """Return the text to embed for a document: its name, its headings and its beginning."""
    headings = dict.fromkeys(title for chunk in chunks for title in chunk.heading_path)
    outline = " · ".join(title for title in headings if title != name)
    beginning = text[:_COARSE_CHARACTERS]
    return contextualised(name, f"{outline[:_HEADINGS_CHARACTERS]}\n\n{beginning}".strip())


def text_hash(text: str) -> bytes:
    """Return the key of an embedded text: 16 bytes of BLAKE2b."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def content_key(text: str) -> bytes:
    """Return a key that ignores case and white space; ``b""`` for a blank text."""
    plain = " ".join(text.casefold().split())
    return text_hash(plain) if plain else b""


def _distinct(names: Sequence[str]) -> list[str]:
    """Shorten names; drop empty ones, and those equal to the previous one."""
    kept: list[str] = []
    for name in names:
        short = bounded_line(name, _PART_CHARACTERS)
        if short and (not kept or short.casefold() != kept[-1].casefold()):
            kept.append(short)
    return kept


def _place(chunk: Chunk, pages: Sequence[Page], parts: Sequence[str]) -> str:
    """Return the labels of a chunk's pages, except those that are headings already."""
    if chunk.pages is None:
        return ""
    first, last = (_label(number, pages) for number in chunk.pages)
    if _PAGE_NUMBER.fullmatch(first) and _PAGE_NUMBER.fullmatch(last):
        return page_range(first, last)
    names = {part.casefold() for part in parts}
    labels = [first] if first == last else [first, last]
    return " – ".join(label for label in labels if label.casefold() not in names)


def _label(number: int, pages: Sequence[Page]) -> str:
    """Return the label of a page, or its number."""
    at = number - 1
    if not (0 <= at < len(pages) and pages[at].number == number):
        at = next((i for i, page in enumerate(pages) if page.number == number), -1)
    return (bounded_line(pages[at].label, _LABEL_CHARACTERS) if at >= 0 else "") or str(number)
