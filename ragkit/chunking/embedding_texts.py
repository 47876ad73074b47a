"""The texts that are embedded: one for each chunk, section and document."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ragkit.chunking.structural_context import contextualised
from ragkit.types import Chunk, Markup

_COARSE_CHARACTERS = 4000
_HEADINGS_CHARACTERS = 1000
_PATH_CHARACTERS = 100


def document_name(title: str, markup: Markup, path: str) -> str:
    """What its chunks are said to be part of: source code is known by its path."""
    if not path or markup is not Markup.CODE:
        return title
    return path if len(path) <= _PATH_CHARACTERS else f"…{path[1 - _PATH_CHARACTERS :]}"


def chunk_text(context: str, text: str, chunk: Chunk) -> str:
    """A chunk's context and its own text."""
    return contextualised(context, text[chunk.start : chunk.end])


def section_text(context: str, text: str, chunks: Sequence[Chunk]) -> str:
    """A section's context and its beginning; with one chunk, the same text as the chunk's.

    ``chunks`` are the section's, in order; ``context`` is that of the first.
    """
    start, end = chunks[0].start, chunks[-1].end
    if len(chunks) > 1:
        end = min(end, start + _COARSE_CHARACTERS)
    return contextualised(context, text[start:end])


def document_text(name: str, text: str, chunks: Sequence[Chunk]) -> str:
    """A document's name, its headings and its beginning."""
    headings = dict.fromkeys(one for chunk in chunks for one in chunk.heading_path)
    outline = " · ".join(one for one in headings if one != name)
    beginning = text[:_COARSE_CHARACTERS]
    return contextualised(name, f"{outline[:_HEADINGS_CHARACTERS]}\n\n{beginning}".strip())


def text_hash(text: str) -> bytes:
    """The name of an embedded text: 16 bytes of BLAKE2b."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def content_key(text: str) -> bytes:
    """Name a text so that only case and white space make no difference; blank ones get ``b""``."""
    plain = " ".join(text.casefold().split())
    if not plain:
        return b""
    return hashlib.blake2b(plain.encode("utf-8", "surrogatepass"), digest_size=16).digest()
