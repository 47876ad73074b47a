"""The catalog's tables on a server: translated from those of SQLite, with the same migrations.

They differ from these in partitions and in functions that only PostgreSQL lacks.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from psycopg import sql

from ragkit.catalog.connection import PUT_META, Transaction
from ragkit.catalog.postgres.address import Address
from ragkit.catalog.postgres.dialect import definitions
from ragkit.catalog.postgres.functions import FUNCTIONS
from ragkit.catalog.schema import MIGRATIONS, migration_note, tables
from ragkit.errors import LibraryError, LibraryFormatError

_LEAST_VERSION = 180000
_FUNCTIONS_KEY = "functions"


def prepare(connection: Any, transaction: Transaction, address: Address, *, create: bool) -> None:
    """Create the tables of a library, or migrate them, in the caller's transaction.

    Raises:
        LibraryFormatError: a newer ragkit has written it, or the server is too old.
        LibraryError: there is none, and ``create`` is not set.
    """
    if connection.info.server_version < _LEAST_VERSION:
        raise LibraryFormatError(
            f"{address.shown} runs PostgreSQL {connection.info.server_version // 10000}.",
            f"ragkit needs {_LEAST_VERSION // 10000} or newer.",
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise LibraryFormatError(
            f"{address.shown} holds texts as {encoding}, which lacks most characters.",
            "Create another database: createdb --encoding=UTF8 --template=template0 NAME.",
        )
    if not has_tables(transaction):
        if not create:
            cure = "Add a folder first: ragkit add FOLDER, with the same --backend."
            raise LibraryError(f"There is no library in {address.shown}.", cure)
        _lay_tables(connection, transaction, address.schema)
        return
    had = applied(transaction)
    if newer := had - {step.__name__ for step in MIGRATIONS}:
        raise LibraryFormatError(
            f"This library was written by a newer ragkit (it knows {min(newer)}).", "Update ragkit."
        )
    _renew_functions(connection, transaction)
    for step in MIGRATIONS:
        if step.__name__ not in had:
            step(transaction)
            _note(transaction, step.__name__)


def is_current(transaction: Transaction) -> bool:
    """Return whether there is a library with all migrations and the current functions."""
    if not has_tables(transaction):
        return False
    row = transaction.execute("SELECT value FROM meta WHERE key = ?", (_FUNCTIONS_KEY,)).fetchone()
    names = {step.__name__ for step in MIGRATIONS}
    return row is not None and row[0] == _digest() and applied(transaction) == names


def has_tables(transaction: Transaction) -> bool:
    """Return whether the schema has the tables of a library."""
    return transaction.execute("SELECT to_regclass('meta')").fetchone()[0] is not None


def applied(transaction: Transaction) -> set[str]:
    """Return the names of the migrations that were applied."""
    rows = transaction.execute("SELECT value FROM meta WHERE key LIKE 'migration %'")
    return {str(row[0]).partition(" ")[0] for row in rows}


def _lay_tables(connection: Any, transaction: Transaction, schema: str) -> None:
    # An existing schema is used, so that the user needs no right to create one.
    if not connection.execute("SELECT to_regnamespace(%s) IS NOT NULL", (schema,)).fetchone()[0]:
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    laid = ";\n".join(part for statement in tables(MIGRATIONS) for part in definitions(statement))
    connection.execute(laid, prepare=False)
    for step in MIGRATIONS:
        _note(transaction, step.__name__)
    _renew_functions(connection, transaction)


def _renew_functions(connection: Any, transaction: Transaction) -> None:
    connection.execute(FUNCTIONS, prepare=False)
    transaction.execute(PUT_META, (_FUNCTIONS_KEY, _digest()))


def _digest() -> str:
    return json.dumps(hashlib.sha256(FUNCTIONS.encode()).hexdigest()[:16])


def _note(transaction: Transaction, name: str) -> None:
    transaction.execute(PUT_META, migration_note(name))
