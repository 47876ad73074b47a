"""Consistency checks and maintenance of a catalog on a server."""

from __future__ import annotations

from pathlib import Path

from ragkit.catalog.copies import on_server
from ragkit.catalog.integrity import Integrity
from ragkit.catalog.postgres.schema import applied


class ServerIntegrity(Integrity):
    """The checks that do not concern a file of SQLite, and others in place of those that do."""

    def damage(self, *, whole: bool = False) -> list[str]:  # noqa: ARG002
        """Return an empty list: a server reports damage when it reads it."""
        return []

    def broken_references(self) -> int:
        """Return 0: a server enforces references."""
        return 0

    def version(self) -> int:
        """Return the number of migrations that were applied."""
        with self._connections.read() as transaction:
            return len(applied(transaction))

    def space(self) -> tuple[int, int]:
        """Return the bytes of all tables, and 0 for free space, which is not reported."""
        query = (
            "SELECT CAST(coalesce(sum(pg_total_relation_size(oid)), 0) AS bigint) FROM pg_class "
            "WHERE relnamespace = CAST(current_schema AS regnamespace) AND relkind = 'r'"
        )
        return self._number(query), 0

    def shrink(self) -> None:
        """Run ``settle``, which lets the server reuse free space."""
        self.settle()

    def settle(self) -> None:
        """Vacuum all tables, and update the statistics that plans are made by."""
        tables = self._connections.column(
            "SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'r' "
            "AND relnamespace = CAST(current_schema AS regnamespace)"
        )
        self._connections.rows(f"VACUUM (ANALYZE) {', '.join(tables)}")

    def copy(self, target: Path) -> None:  # noqa: ARG002
        """Raise, since a server has tools of its own for that.

        Raises:
            CatalogError: always.
        """
        raise on_server()
