"""Versions: every change of a collection has a number from one counter, and a random token.

A catalog restored from a backup assigns the same numbers again, but with other tokens. So an index
made at a version can tell whether that version belongs to the history of this catalog.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from secrets import token_hex

from ragkit.catalog.connection import IN_LIST, Transaction
from ragkit.types import Version

VERSION = "c.version, coalesce((SELECT l.token FROM lineage l WHERE l.version = c.version), '')"
"""The columns of a collection's version, in queries of ``collections c``."""

_KEPT_CHANGES = 1000
_CHANGE = "INSERT INTO lineage (token) VALUES (?) RETURNING version"


def next_version(connection: Transaction, collection_id: int) -> int:
    """Give a collection a new version; return its number."""
    version = next_change(connection)
    connection.execute("UPDATE collections SET version = ? WHERE id = ?", (version, collection_id))
    return version


def next_change(connection: Transaction) -> int:
    """Record a change of the library; return its number."""
    return int(connection.execute(_CHANGE, (token_hex(16),)).fetchone()[0])


def renew_versions(connection: Transaction) -> None:
    """Start a new history, so that everything derived from the catalog is derived again.

    For a catalog that was salvaged from a damaged one.
    """
    (last,) = connection.execute(
        "SELECT max(version) FROM (SELECT 0 AS version UNION ALL SELECT version FROM lineage "
        "UNION ALL SELECT version FROM collections UNION ALL SELECT version FROM removed_entries)"
    ).fetchone()
    connection.execute("DELETE FROM lineage")
    connection.execute("INSERT INTO lineage VALUES (?, ?)", (last + 1, token_hex(16)))
    for (collection_id,) in connection.execute("SELECT id FROM collections ORDER BY id").fetchall():
        next_version(connection, collection_id)


def holds(connection: Transaction, version: Version) -> bool:
    """Return whether a version is in this catalog's history; 0, before any change, always is."""
    if not version.number:
        return True
    row = connection.execute("SELECT token FROM lineage WHERE version = ?", (version.number,))
    return bool(row.fetchone() == (version.token,))


def newest(connection: Transaction) -> Version:
    """Return the newest change of the library."""
    row = connection.execute("SELECT version, token FROM lineage ORDER BY version DESC LIMIT 1")
    return Version(*(row.fetchone() or (0, "")))


def forget(connection: Transaction, needed: Iterable[int]) -> None:
    """Delete old changes, except those ``needed`` and the versions of collections."""
    connection.execute(
        "DELETE FROM lineage WHERE version <= (SELECT max(version) FROM lineage) - ? "
        "AND version NOT IN (SELECT version FROM collections) "
        f"AND version NOT {IN_LIST}",
        (_KEPT_CHANGES, json.dumps(sorted(set(needed)))),
    )
