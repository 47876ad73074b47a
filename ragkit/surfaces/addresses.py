"""The addresses of documents on the pages, down to a single sentence."""

from __future__ import annotations

import re
from hashlib import blake2b
from urllib.parse import urlencode

from ragkit.answers import Source

_SPAN = re.compile(r"(\d{1,12})-(\d{1,12})")


def document_url(
    document_id: int, chunk: int | None = None, question: str = "", **place: str | int
) -> str:
    """Return a document's address; ``chunk`` counts from 0, although the address counts from 1.

    ``place`` is ``at`` (an offset in its text), ``sheet`` (a sheet's name), or what ``source_url``
    passes.
    """
    query: dict[str, str | int] = {"id": document_id}
    if chunk is not None:
        query["chunk"] = chunk + 1
    if question:
        query["find"] = question[:300]
    return f"document?{urlencode(query | place)}"


def source_url(source: Source, question: str = "") -> str:
    """Return the address that opens a source's document with exactly its sentence marked.

    For a sentence from the web, it is the address of its page.
    """
    if source.document is None:
        return source.url
    place = {"span": f"{source.start}-{source.end}", "said": mark_of(source.text)}
    return document_url(source.document.id, None, question, **place)


def span_of(value: str) -> tuple[int, int] | None:
    """Parse the span of a sentence, as ``900-960``; ``None`` if the text is none."""
    match = _SPAN.fullmatch(value)
    span = (int(match[1]), int(match[2])) if match else None
    return span if span and span[0] < span[1] else None


def mark_of(sentence: str) -> str:
    """Return a short hash of a sentence, by which it is found again if it has moved."""
    return blake2b(sentence.encode("utf-8", "replace"), digest_size=5).hexdigest()
