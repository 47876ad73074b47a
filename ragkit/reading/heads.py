"""Puts a document's metadata into its text if the body says less than the metadata."""

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
    """Return a Markdown body, preceded by the metadata's summary if that has more words.

    A page that consists of a component, such as ``<Reference of="st.badge" />``, can then be found
    by its description. ``title``, which may be empty, becomes the heading of an empty body.
    """
    summary = next((str(metadata[key]) for key in _SUMMARIES if metadata.get(key)), "")
    words = _words(body)
    if words and len(words) >= len(_words(summary)):
        return body
    heading = f"# {title}" if title and not body.strip() else ""
    lists = _listed(metadata, {*_words(title), *_words(summary), *words})
    return joined((heading, summary, *lists, body), "\n\n")


def _listed(metadata: Metadata, words: set[str]) -> Iterator[str]:
    """Yield a line of keywords and one of tags, with those that add to ``words``."""
    for key, name in _LISTS.items():
        values = metadata.get(key) or []
        listed = map(str, values if isinstance(values, list) else [values])
        new = [item for item in listed if not words.issuperset(_words(item))]
        if new:
            yield f"{name}: {', '.join(new)}"


def _words(markdown: str) -> list[str]:
    """Return the words of a Markdown text outside its tags."""
    return _WORD.findall(_TAG.sub(" ", markdown).casefold())
