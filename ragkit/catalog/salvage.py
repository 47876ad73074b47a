"""Saving the rows of a damaged catalog that SQLite can still read."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragkit.catalog.chunk_notes import fill_notes
from ragkit.catalog.connection import insertion
from ragkit.catalog.copies import JOURNAL, LOG
from ragkit.catalog.entry_writing import fill_counts
from ragkit.catalog.lineage import renew_versions
from ragkit.catalog.schema import migrate
from ragkit.catalog.tags import fill_tags

_MOST_PROBES = 4000
_ALL = object()
_SPARE_IDS = 1000
"""How many ids are skipped, which lost rows may have had."""

_LOST_THREADS = """
INSERT OR IGNORE INTO threads (id, title, created_at, changed_at)
SELECT thread_id, substr(question, 1, 80), at, at FROM turns
WHERE id IN (SELECT MIN(id) FROM turns GROUP BY thread_id)
"""
"""A lost thread with turns gets its first question for a title."""


@dataclass
class SavedTable:
    """The outcome for a table; ``gaps`` are unreadable ranges of the first column of its key."""

    name: str
    saved: int = 0
    from_backup: int = 0
    gaps: list[tuple[Any, Any]] = field(default_factory=list)


def salvage(damaged: Path, backup: Path | None, target: Path, scratch: Path) -> list[SavedTable]:
    """Write a new catalog with the rows of a damaged one, and those of a backup in its gaps.

    Neither is changed; ``scratch`` is a folder for a copy.

    Raises:
        sqlite3.Error: the new catalog cannot be written, or the backup cannot be read.
        OSError: the copy cannot be written.
    """
    work = _work_copy(damaged, backup, scratch)
    with closing(sqlite3.connect(target, isolation_level=None)) as new:
        migrate(new)
        new.execute("PRAGMA foreign_keys = OFF")
        new.execute("BEGIN")
        tables = [
            row[0]
            for row in new.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            if not row[0].startswith("sqlite_")
        ]
        reports = []
        for table in tables:
            first = new.execute(f"SELECT * FROM {table}").fetchall()
            if table != "meta":
                new.execute(f"DELETE FROM {table}")
            report = SavedTable(table)
            try:
                with closing(_read(work)) as source:
                    copy = _TableCopy(source, new, table)
                    if copy.columns:
                        copy.save(report)
                    elif not _tables(work):
                        report.gaps.append((None, None))
            except sqlite3.Error:
                report.gaps.append((None, None))
            if backup is not None and report.gaps:
                with closing(_read(backup)) as source:
                    _TableCopy(source, new, table).fill(report)
            if first and not new.execute(f"SELECT 1 FROM {table}").fetchone():
                new.executemany(insertion(table, _columns(new, table)), first)
            reports.append(report)
        _keep_ids(new, [work, *([backup] if backup else [])])
        new.execute(_LOST_THREADS)
        _drop_orphans(new, tables)
        fill_notes(new)
        fill_counts(new)
        fill_tags(new)
        # Index files may have rows that were lost, and lack rows of the backup.
        renew_versions(new)
        new.execute("COMMIT")
    return reports


def _work_copy(damaged: Path, backup: Path | None, scratch: Path) -> Path:
    """Copy a damaged catalog and its log; an unreadable first page is replaced by the backup's."""
    work = scratch / "damaged.sqlite"
    for ending in ("", JOURNAL, LOG):
        source = Path(f"{damaged}{ending}")
        if source.is_file():
            shutil.copyfile(source, f"{work}{ending}")
    if backup is not None and work.exists() and not _tables(work):
        with backup.open("rb") as file:
            head = file.read(65536)
        page = head[: int.from_bytes(head[16:18], "big") or 65536]
        for ending in (JOURNAL, LOG):
            Path(f"{work}{ending}").unlink(missing_ok=True)
        if work.stat().st_size > len(page) > 0:
            with work.open("rb+") as file:
                file.write(page)
    return work


def _tables(file: Path) -> list[str]:
    with suppress(sqlite3.Error), closing(_read(file)) as connection:
        return [row[0] for row in connection.execute("SELECT name FROM sqlite_master")]
    return []


def _read(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, isolation_level=None)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    return connection


class _TableCopy:
    """Copying the rows of a table that can be read from one catalog into another."""

    def __init__(self, source: sqlite3.Connection, new: sqlite3.Connection, table: str) -> None:
        self._source, self._new = source, new
        self._key = _key(new, table)
        names = _columns(source, table)
        self.columns = [name for name in _columns(new, table) if name in names]
        self._select = f"SELECT {', '.join(self.columns)} FROM {table} NOT INDEXED"
        self._insert = f"{insertion(table, self.columns)} ON CONFLICT DO NOTHING"

    def save(self, report: SavedTable) -> None:
        """Copy all rows that can be read; the others become gaps of the report."""
        low = self._walk(report, f"ORDER BY {self._key}")
        if low is not _ALL:
            self._bisect(report, low, self._walk(report, f"ORDER BY {self._key} DESC"))

    def fill(self, report: SavedTable) -> None:
        """Copy the rows in the gaps of a report."""
        for low, high in report.gaps if self.columns else ():
            bounds = [(f"{self._key} >= ?", low), (f"{self._key} <= ?", high)]
            chosen = [(text, value) for text, value in bounds if value is not None]
            where = " AND ".join(text for text, _ in chosen) or "1"
            values = [value for _, value in chosen]
            for row in self._source.execute(f"{self._select} WHERE {where}", values):
                report.from_backup += self._put(row)

    def _walk(self, report: SavedTable, tail: str, values: Sequence[Any] = ()) -> Any:
        """Copy rows up to the first unreadable one; return the last key, or ``_ALL``."""
        key_place, last = self.columns.index(self._key), None
        try:
            for row in self._source.execute(f"{self._select} {tail}", values):
                report.saved += self._put(row)
                last = row[key_place]
        except sqlite3.DatabaseError:
            return last
        return _ALL

    def _put(self, row: Sequence[Any]) -> int:
        """Insert a row, unless its key is there or a value is too damaged; return 1 or 0."""
        try:
            return self._new.execute(self._insert, row).rowcount
        except (sqlite3.DatabaseError, UnicodeEncodeError):
            return 0

    def _bisect(self, report: SavedTable, low: Any, high: Any) -> None:
        """Copy the readable rows between two keys by bisection; the others become gaps."""
        if not isinstance(low, int | bytes) or type(low) is not type(high):
            report.gaps.append((low, high))
            return
        binary = isinstance(low, bytes)
        tail = f"WHERE {self._key} >= ? AND {self._key} {'<' if binary else '<='} ?"
        ranges, probes = [(_number(low), _number(high))], 0
        while ranges:
            start, stop = ranges.pop()
            bounds = (_blob(start), _blob(stop + 1)) if binary else (start, stop)
            probes += 1
            if self._walk(report, tail, bounds) is _ALL:
                continue
            if start == stop or probes > _MOST_PROBES:
                report.gaps.append(bounds)
            else:
                middle = (start + stop) // 2
                ranges += [(start, middle), (middle + 1, stop)]


def _number(key: int | bytes) -> int:
    if isinstance(key, int):
        return key
    return int.from_bytes(key[:7].ljust(7, b"\0"), "big")


def _blob(number: int) -> bytes:
    return number.to_bytes(8, "big")[1:] if number < 1 << 56 else b"\xff" * 64


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def _key(connection: sqlite3.Connection, table: str) -> str:
    """Return the first column of a table's primary key."""
    rows = connection.execute(f"PRAGMA table_info({table})")
    return next(str(row[1]) for row in rows if row[5] == 1)


def _keep_ids(new: sqlite3.Connection, sources: Sequence[Path]) -> None:
    """Keep ids of lost rows from being assigned again, those of a table's only rows too."""
    counting = new.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%'")
    highest = dict.fromkeys((name for (name,) in counting), 0)
    highest.update(new.execute("SELECT name, seq FROM sqlite_sequence"))
    for file in sources:
        with suppress(sqlite3.Error), closing(_read(file)) as source:
            for name, number in source.execute("SELECT name, seq FROM sqlite_sequence"):
                if name in highest and isinstance(number, int) and number < 1 << 53:
                    highest[name] = max(highest[name], number)
    new.execute("DELETE FROM sqlite_sequence")
    new.executemany(
        "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)",
        [(name, number + _SPARE_IDS) for name, number in highest.items()],
    )


def _drop_orphans(new: sqlite3.Connection, tables: Sequence[str]) -> None:
    """Delete rows that refer to lost ones, until none is left."""
    statements = [text for table in tables for text in _orphans(new, table)]
    while sum(new.execute(text).rowcount for text in statements):
        pass


def _orphans(new: sqlite3.Connection, table: str) -> Iterator[str]:
    references: dict[int, list[tuple[str, str, str | None]]] = {}
    for row in new.execute(f"PRAGMA foreign_key_list({table})"):
        references.setdefault(row[0], []).append((row[2], row[3], row[4]))
    for pairs in references.values():
        parent = pairs[0][0]
        same = " AND ".join(
            f"p.{to or _key(new, parent)} = {table}.{column}" for _, column, to in pairs
        )
        there = " AND ".join(f"{column} IS NOT NULL" for _, column, _to in pairs)
        query = f"SELECT 1 FROM {parent} p WHERE {same}"
        yield f"DELETE FROM {table} WHERE {there} AND NOT EXISTS ({query})"
