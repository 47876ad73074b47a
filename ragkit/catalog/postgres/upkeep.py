"""Consistency checks and size of a catalog on a server, which looks after its own files."""

from __future__ import annotations

from pathlib import Path

from ragkit.catalog.copies import on_server
from ragkit.catalog.integrity import Integrity
from ragkit.catalog.postgres.schema import applied


class ServerIntegrity(Integrity):
    """The same checks; what concerns a file of SQLite is the server's own affair."""

    def damage(self, *, whole: bool = False) -> list[str]:  # noqa: ARG002
        """Return nothing: a server refuses to read what is damaged, and says so."""
        return []

    def broken_references(self) -> int:
        """Return 0: the server has no row that refers to a missing one."""
        return 0

    def version(self) -> int:
        """Return the version of the catalog's schema."""
        with self._connections.read() as transaction:
            return len(applied(transaction))

    def space(self) -> tuple[int, int]:
        """Return the bytes of all tables of the library; no free space is reported."""
        query = (
            "SELECT CAST(coalesce(sum(pg_total_relation_size(oid)), 0) AS bigint) FROM pg_class "
            "WHERE relnamespace = CAST(current_schema AS regnamespace) AND relkind = 'r'"
        )
        return self._number(query), 0

    def shrink(self) -> None:
        """Have the server reuse what is free, and learn anew what the tables hold."""
        self.settle()

    def settle(self) -> None:
        """Have the server note what its tables hold, which it plans queries by."""
        tables = self._connections.column(
            "SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'r' "
            "AND relnamespace = CAST(current_schema AS regnamespace)"
        )
        self._connections.rows(f"VACUUM (ANALYZE) {', '.join(tables)}")

    def copy(self, target: Path) -> None:  # noqa: ARG002
        """Refuse: a server is copied by its own means.

        Raises:
            CatalogError: always.
        """
        raise on_server()
