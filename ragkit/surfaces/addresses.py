"""The addresses of documents on the pages, down to one sentence of them."""

from __future__ import annotations

from hashlib import blake2b
from urllib.parse import urlencode

from ragkit.answers import Source


def document_url(
    document_id: int, chunk: int | None = None, question: str = "", **place: str | int
) -> str:
    """Return a document's address; ``chunk`` counts from 0, the address from 1.

    A ``place`` is ``at``, an offset in its text, ``sheet``, the name of one of a workbook, or what
    ``source_url`` gives.
    """
    query: dict[str, str | int] = {"id": document_id}
    if chunk is not None:
        query["chunk"] = chunk + 1
    if question:
        query["find"] = question[:300]
    return f"document?{urlencode(query | place)}"


def source_url(source: Source, question: str = "") -> str:
    """Return the address of a sentence's document, which opens with exactly that sentence marked.

    That of a sentence of the web is the address of its page.
    """
    if source.document is None:
        return source.url
    place = {"span": f"{source.start}-{source.end}", "said": mark_of(source.text)}
    return document_url(source.document.id, None, question, **place)


def mark_of(sentence: str) -> str:
    """Return what an address says of the text of a span, to be known should it have moved."""
    return blake2b(sentence.encode("utf-8", "replace"), digest_size=5).hexdigest()
