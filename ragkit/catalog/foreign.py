"""Catalogs of imported archives: checking one before it is used, and moving its uploads."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ragkit.catalog.connection import Connections
from ragkit.catalog.failures import as_library_error
from ragkit.catalog.schema import MIGRATIONS, applied
from ragkit.errors import LibraryError, LibraryFormatError

_OUTSIDE = re.compile(r"(^|/)\.\.(/|$)|^/|\0")
_ODD_UPLOAD = re.compile(r'\\|[\x00-\x1f<>:"|?*]')


def examine(file: Path) -> None:
    """Raise unless a catalog of an archive is sound and like one that ragkit wrote.

    Raises:
        LibraryFormatError: it is of an unknown version.
        LibraryError: it is damaged, has other tables, invalid JSON, or paths out of its folders.
    """
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            version = int(connection.execute("PRAGMA user_version").fetchone()[0])
            if not 0 < version <= len(MIGRATIONS):
                raise LibraryFormatError(
                    f"The archive's catalog has version {version}; this ragkit knows "
                    f"{len(MIGRATIONS)}.",
                    "Update ragkit.",
                )
            fault = _fault(connection)
    except sqlite3.Error as error:
        raise as_library_error(error, file) from error
    if fault:
        raise LibraryError(f"The archive's catalog {fault}.", "Export the library again.")


def _fault(connection: sqlite3.Connection) -> str:
    """Return the rest of a sentence on the first fault, or an empty string."""
    had = applied(connection)
    with closing(sqlite3.connect(":memory:")) as fresh:
        for step in MIGRATIONS:
            if step.__name__ in had:
                step(fresh)
        if _layout(connection) != _layout(fresh):
            return "has other tables, triggers or views than a library has"
    problems = connection.execute("PRAGMA quick_check(1)").fetchall()
    if problems != [("ok",)]:
        return "is damaged"
    if connection.execute("PRAGMA foreign_key_check").fetchone():
        return "does not hold together"
    for path, kind in connection.execute(
        "SELECT d.path, s.kind FROM documents d JOIN sources s ON s.id = d.source_id"
    ):
        if _OUTSIDE.search(path) or (kind == "uploads" and _ODD_UPLOAD.search(path)):
            return "names files outside its folders"
    connection.create_function("kind_of_json", 1, _kind_of_json, deterministic=True)
    for table, column, kind in _json_columns(connection):
        other = f"SELECT 1 FROM {table} WHERE kind_of_json({column}) != ?"
        if connection.execute(other, (kind,)).fetchone():
            return f"holds a value that makes no sense ({table}.{column})"
    return ""


def _kind_of_json(text: str) -> str:
    """Return "object", "array", or an empty string for other values and invalid JSON."""
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return ""
    if isinstance(value, dict):
        return "object"
    return "array" if isinstance(value, list) else ""


def _json_columns(connection: sqlite3.Connection) -> Iterator[tuple[str, str, str]]:
    """Yield (table, column, "object" or "array") of the columns with JSON."""
    yield from (("sections", "path", "array"), ("chunks", "heading_path", "array"))
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in tables:
        for column in connection.execute(f"PRAGMA table_info({table})").fetchall():
            if column[4] in ("'{}'", "'[]'"):
                yield table, column[1], "object" if column[4] == "'{}'" else "array"


def _layout(connection: sqlite3.Connection) -> set[tuple[str, str, str]]:
    return set(
        connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        )
    )


def move_uploads(connections: Connections, uploads: Path) -> None:
    """Change the folders of all uploads to those in another library."""
    with connections.write() as connection:
        connection.executemany(
            "UPDATE sources SET root = ? WHERE id = ?",
            [
                (str(uploads / str(row[1])), row[0])
                for row in connection.execute(
                    "SELECT id, collection_id FROM sources WHERE kind = 'uploads'"
                ).fetchall()
            ],
        )
