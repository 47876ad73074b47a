"""The number of entries of each collection at each level, kept up to date by every change.

A search compares it with its index after each change; counting a million rows took as long as the
rest of the search. The functions work in their caller's transaction.
"""

from __future__ import annotations

from collections.abc import Mapping

from ragkit.catalog.connection import Transaction

_COUNTED = "SELECT collection_id, level, COUNT(*) FROM entries GROUP BY collection_id, level"


def add_to_counts(connection: Transaction, collection_id: int, changes: Mapping[int, int]) -> None:
    """Add numbers, negative for removed entries, to those of a collection, by level code."""
    connection.executemany(
        "INSERT INTO entry_counts (collection_id, level, entries) VALUES (?, ?, ?) "
        "ON CONFLICT (collection_id, level) "
        "DO UPDATE SET entries = entry_counts.entries + excluded.entries",
        [(collection_id, level, change) for level, change in sorted(changes.items())],
    )


def fill_counts(connection: Transaction) -> None:
    """Count all entries again."""
    connection.execute("DELETE FROM entry_counts")
    connection.execute(
        "INSERT INTO entry_counts (collection_id, level, entries) "
        f"{_COUNTED} HAVING collection_id IN (SELECT id FROM collections)"
    )


def miscounted(connection: Transaction) -> list[int]:
    """Return the collections with a wrong number, ascending, by counting every entry."""
    kept = "SELECT collection_id, level, entries FROM entry_counts WHERE entries <> 0"
    different = set(connection.execute(_COUNTED)) ^ set(connection.execute(kept))
    return sorted({row[0] for row in different})
