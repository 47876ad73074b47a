"""The tags of documents in the form that filters compare, one row for each.

The table ``tags`` is derived from the metadata of documents when these are written.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

from ragkit.catalog.connection import Transaction, folded

_LONGEST = 500


def put_tags(
    connection: Transaction,
    document_id: int,
    collection_id: int,
    metadata: Mapping[str, Any],
) -> None:
    """Write the tags of a document, which has none yet."""
    connection.executemany(
        "INSERT INTO tags (document_id, tag, collection_id) VALUES (?, ?, ?)",
        [(document_id, tag, collection_id) for tag in sorted(_tags(metadata))],
    )


def fill_tags(connection: Transaction) -> None:
    """Derive the tags of all documents again."""
    connection.execute("DELETE FROM tags")
    rows = connection.execute(
        "SELECT id, collection_id, metadata FROM documents WHERE metadata LIKE '%\"tags\"%'"
    ).fetchall()
    for document_id, collection_id, packed in rows:
        try:
            metadata = json.loads(packed)
        except ValueError:
            continue
        if isinstance(metadata, dict):
            put_tags(connection, document_id, collection_id, metadata)


def tag_key(tag: object) -> str:
    """Return a tag as tags are compared, cut to 500 characters."""
    return folded(tag)[:_LONGEST]


def with_parents(tag: str) -> Iterator[str]:
    """Yield the tags above a nested one and the tag itself: "food" and "food/bread"."""
    parts = tag.split("/")
    # An empty part is of an address, or of a slash alone.
    yield from accumulate(parts, "{}/{}".format) if all(map(str.strip, parts)) else (tag,)


def _tags(metadata: Mapping[str, Any]) -> set[str]:
    value = metadata.get("tags", [])
    if isinstance(value, Mapping):
        value = list(value.values())
    items = value if isinstance(value, list | tuple) else [value]
    return {tag for item in items for tag in with_parents(folded(_plain(item)))}


def _plain(value: Any) -> Any:
    """Return a list or mapping as JSON, a truth value as a number, others as they are."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value
