"""How many entries each collection has at each level, kept where they come and go.

A search compares the number with that of its index after each change, and counting a million rows
took as long as all else. Each function works within its caller's transaction.
"""

from __future__ import annotations

from collections.abc import Mapping

from ragkit.catalog.connection import Transaction

_COUNTED = "SELECT collection_id, level, COUNT(*) FROM entries GROUP BY collection_id, level"


def add_to_counts(connection: Transaction, collection_id: int, changes: Mapping[int, int]) -> None:
    """Add what came to a collection, and what went as negative numbers, by level code."""
    connection.executemany(
        "INSERT INTO entry_counts (collection_id, level, entries) VALUES (?, ?, ?) "
        "ON CONFLICT (collection_id, level) "
        "DO UPDATE SET entries = entry_counts.entries + excluded.entries",
        [(collection_id, level, change) for level, change in sorted(changes.items())],
    )


def fill_counts(connection: Transaction) -> None:
    """Count all entries anew."""
    connection.execute("DELETE FROM entry_counts")
    connection.execute(
        "INSERT INTO entry_counts (collection_id, level, entries) "
        f"{_COUNTED} HAVING collection_id IN (SELECT id FROM collections)"
    )


def miscounted(connection: Transaction) -> list[int]:
    """Return the collections of which a number is wrong, ascending; this counts every entry."""
    kept = "SELECT collection_id, level, entries FROM entry_counts WHERE entries <> 0"
    different = set(connection.execute(_COUNTED)) ^ set(connection.execute(kept))
    return sorted({row[0] for row in different})
