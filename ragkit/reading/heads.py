"""The head of a document as text, for files whose body says less than their head does."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ragkit.reading.reading_parts import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragkit.types import Metadata

_SUMMARIES = ("description", "summary", "intro", "abstract", "excerpt", "subtitle")
_LISTS = {"keywords": "Keywords", "tags": "Tags"}
_TAG = re.compile(r"</?[A-Za-z!][^<>]{0,1000}>")
_WORD = re.compile(r"\w+")


def with_head(title: str, metadata: Metadata, body: str) -> str:
    """Return Markdown below what the head says, where its summary has more words than the body.

    A page that is a component alone, as in ``<Reference of="st.badge" />``, is thus found by what
    its author says of it. ``title`` is the head's own, or empty; it becomes text where there is no
    other.
    """
    summary = next((str(metadata[key]) for key in _SUMMARIES if metadata.get(key)), "")
    words = _words(body)
    if words and len(words) >= len(_words(summary)):
        return body
    heading = f"# {title}" if title and not body.strip() else ""
    lists = _listed(metadata, {*_words(title), *_words(summary), *words})
    return joined((heading, summary, *lists, body), "\n\n")


def _listed(metadata: Metadata, words: set[str]) -> Iterator[str]:
    """Yield the keywords and tags that have words of their own, a line each."""
    for key, name in _LISTS.items():
        values = metadata.get(key) or []
        listed = map(str, values if isinstance(values, list) else [values])
        new = [item for item in listed if not words.issuperset(_words(item))]
        if new:
            yield f"{name}: {', '.join(new)}"


def _words(markdown: str) -> list[str]:
    """Return the words outside tags."""
    return _WORD.findall(_TAG.sub(" ", markdown).casefold())
