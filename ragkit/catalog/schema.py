"""The catalog's tables as numbered migrations, of which the first six are in ``first_tables``.

A released migration is never edited. None adds rows to a catalog that is empty: a new catalog gets
the tables that all of them leave, at once.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path

from ragkit.catalog.connection import PUT_META, Transaction
from ragkit.catalog.first_tables import (
    execute,
    m001_tables,
    m002_context_cache,
    m003_speakers,
    m004_judgments,
    m005_runs,
    m006_embedder_choice,
)
from ragkit.errors import LibraryFormatError


def m007_writers(connection: Transaction) -> None:
    """Add the model that wrote the question of a judgment, empty for none."""
    execute(connection, "ALTER TABLE judgments ADD COLUMN writer TEXT NOT NULL DEFAULT ''")


def m008_lineage(connection: Transaction) -> None:
    """Add the tokens of versions, and one for each version that exists."""
    execute(connection, _LINEAGE)


_LINEAGE = """
CREATE TABLE lineage (version INTEGER PRIMARY KEY AUTOINCREMENT, token TEXT NOT NULL) STRICT;
INSERT INTO lineage SELECT version, lower(hex(randomblob(16)))
FROM (SELECT version FROM collections UNION SELECT version FROM removed_entries) WHERE version > 0
"""


def m010_retries(connection: Transaction) -> None:
    """Add the files that could not be read for a passing reason, with the time to try again."""
    execute(connection, _RETRIES)


_RETRIES = """
CREATE TABLE retries (
    document_id INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    since REAL NOT NULL,
    attempts INTEGER NOT NULL,
    retry_at REAL NOT NULL
) STRICT
"""


def m009_file_stamps(connection: Transaction) -> None:
    """Add the device, inode and ctime of files; without them a file is hashed by the next sync."""
    execute(connection, "ALTER TABLE documents ADD COLUMN stamp TEXT NOT NULL DEFAULT ''")


def m011_threads(connection: Transaction) -> None:
    """Add threads, which are not deleted with a collection."""
    execute(connection, _THREADS)


_THREADS = """
CREATE TABLE threads (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    collections TEXT NOT NULL DEFAULT '[]',
    created_at REAL NOT NULL,
    changed_at REAL NOT NULL
) STRICT;
CREATE INDEX threads_by_change ON threads (changed_at);

CREATE TABLE turns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_id INTEGER NOT NULL REFERENCES threads ON DELETE CASCADE,
    question TEXT NOT NULL,
    asked TEXT NOT NULL,
    quick TEXT NOT NULL DEFAULT '[]',
    written TEXT NOT NULL DEFAULT '{}',
    at REAL NOT NULL
) STRICT;
CREATE INDEX turns_by_thread ON turns (thread_id, id)
"""


def m012_question_filters(connection: Transaction) -> None:
    """Add the filter of a question, in judgments and in runs."""
    execute(connection, _QUESTION_FILTERS)


_QUESTION_FILTERS = """
ALTER TABLE judgments ADD COLUMN filter TEXT NOT NULL DEFAULT '';
ALTER TABLE run_values ADD COLUMN filter TEXT NOT NULL DEFAULT ''
"""


def m013_parents(connection: Transaction) -> None:
    """Add the parent of a chunk: itself, until its document is cut again."""
    execute(connection, "ALTER TABLE chunks ADD COLUMN parent INTEGER NOT NULL DEFAULT 0")
    execute(connection, "UPDATE chunks SET parent = idx")


def m014_chunk_notes(connection: Transaction) -> None:
    """Add the notes of chunks, derived from the contexts."""
    from ragkit.catalog.chunk_notes import fill_notes

    execute(connection, _CHUNK_NOTES)
    fill_notes(connection)


_CHUNK_NOTES = """
CREATE TABLE chunk_notes (
    document_id INTEGER NOT NULL,
    chunk_idx INTEGER NOT NULL,
    collection_id INTEGER NOT NULL,
    topic TEXT NOT NULL,
    topic_key TEXT NOT NULL,
    decision INTEGER NOT NULL,
    action INTEGER NOT NULL,
    sentiment TEXT NOT NULL,
    speakers TEXT NOT NULL,
    entry_id INTEGER NOT NULL,
    PRIMARY KEY (document_id, chunk_idx),
    FOREIGN KEY (document_id, chunk_idx) REFERENCES contexts (document_id, chunk_idx)
        ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX chunk_notes_topics ON chunk_notes (collection_id, topic_key, entry_id);
CREATE INDEX chunk_notes_decisions ON chunk_notes (collection_id, decision, entry_id)
    WHERE decision = 1;
CREATE INDEX chunk_notes_actions ON chunk_notes (collection_id, action, entry_id)
    WHERE action = 1;
CREATE INDEX chunk_notes_sentiments ON chunk_notes (collection_id, sentiment, entry_id);
CREATE INDEX chunk_notes_speakers ON chunk_notes (collection_id, speakers) WHERE speakers <> ''
"""


def m015_blocks(connection: Transaction) -> None:
    """Add the table, list or code block that an entry below the level of chunks stands for."""
    execute(connection, _BLOCKS)


_BLOCKS = """
CREATE TABLE blocks (
    entry_id INTEGER PRIMARY KEY REFERENCES entries ON DELETE CASCADE,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    kind TEXT NOT NULL,
    section INTEGER NOT NULL
)
"""


def m016_summaries(connection: Transaction) -> None:
    """Add summaries of long documents, and an index that covers the cost of contexts."""
    execute(connection, _SUMMARIES)


_SUMMARIES = """
CREATE TABLE summaries (
    document_hash TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    prompt_hash TEXT NOT NULL,
    summary TEXT NOT NULL,
    error TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    seconds REAL NOT NULL,
    made_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
DROP INDEX contexts_by_document;
CREATE INDEX contexts_by_document ON contexts (document_id, status, tokens, seconds);
"""


def m017_prompts(connection: Transaction) -> None:
    """Copy prompts from files beside the catalog into the settings of each collection."""
    file = connection.execute("PRAGMA database_list").fetchone()[2]
    folder = Path(file).parent / "prompts"
    if not file or not folder.is_dir():
        return
    rows = connection.execute("SELECT id, settings FROM collections").fetchall()
    for collection_id, settings in rows:
        prompts = {}
        for place in (folder, folder / str(collection_id)):
            for prompt in sorted(place.glob("*.txt")):
                with suppress(OSError, UnicodeDecodeError):
                    prompts[prompt.stem] = prompt.read_text("utf-8-sig")
        if prompts:
            connection.execute(
                "UPDATE collections SET settings = ? WHERE id = ?",
                (json.dumps({**json.loads(settings), "prompts": prompts}), collection_id),
            )


def m018_entry_counts(connection: Transaction) -> None:
    """Add the number of entries of each collection at each level."""
    from ragkit.catalog.entry_writing import fill_counts

    execute(connection, _ENTRY_COUNTS)
    fill_counts(connection)


_ENTRY_COUNTS = """
CREATE TABLE entry_counts (
    collection_id INTEGER NOT NULL REFERENCES collections ON DELETE CASCADE,
    level INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    PRIMARY KEY (collection_id, level)
) STRICT, WITHOUT ROWID
"""


def m019_tags(connection: Transaction) -> None:
    """Add the tags of documents for filters, and the version at which a document changed."""
    from ragkit.catalog.tags import fill_tags

    execute(connection, _TAGS)
    fill_tags(connection)


_TAGS = """
ALTER TABLE documents ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
CREATE INDEX documents_by_version ON documents (collection_id, version);
CREATE TABLE tags (
    document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    tag TEXT NOT NULL,
    collection_id INTEGER NOT NULL,
    PRIMARY KEY (document_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX tags_by_name ON tags (collection_id, tag, document_id)
"""


def m020_machines(connection: Transaction) -> None:
    """Add the machines of a library on a server, and what each has claimed."""
    execute(connection, _MACHINES)


_MACHINES = """
DROP TABLE worker;
CREATE TABLE workers (
    machine TEXT PRIMARY KEY,
    pid INTEGER NOT NULL,
    started_at REAL NOT NULL,
    heartbeat REAL NOT NULL,
    state TEXT NOT NULL,
    notes TEXT NOT NULL DEFAULT '{}'
) STRICT, WITHOUT ROWID;
CREATE TABLE claims (what TEXT PRIMARY KEY, machine TEXT NOT NULL) STRICT, WITHOUT ROWID;
ALTER TABLE jobs ADD COLUMN claimed_by TEXT NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN machine TEXT NOT NULL DEFAULT ''
"""


def m021_counted_documents(connection: Transaction) -> None:
    """Extend an index so that it covers counting documents, whose rows are ten times as long."""
    execute(connection, _COUNTED_DOCUMENTS)


_COUNTED_DOCUMENTS = """
DROP INDEX documents_by_collection;
CREATE INDEX documents_by_collection ON documents (collection_id, status, chunks)
"""


MIGRATIONS: tuple[Callable[[Transaction], None], ...] = (
    m001_tables,
    m002_context_cache,
    m003_speakers,
    m004_judgments,
    m005_runs,
    m006_embedder_choice,
    m007_writers,
    m008_lineage,
    m009_file_stamps,
    m010_retries,
    m011_threads,
    m012_question_filters,
    m013_parents,
    m014_chunk_notes,
    m015_blocks,
    m016_summaries,
    m017_prompts,
    m018_entry_counts,
    m019_tags,
    m020_machines,
    m021_counted_documents,
)
"""In the order of application. The version of a catalog is the number of those applied."""


def applied(connection: sqlite3.Connection) -> set[str]:
    """Return the names of the migrations that were applied to a catalog."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return set()
    rows = connection.execute("SELECT value FROM meta WHERE key GLOB 'migration [0-9]*'")
    return {str(row[0]).partition(" ")[0] for row in rows}


def migration_note(name: str) -> tuple[str, str]:
    """Return the row of ``meta`` that records a migration as applied."""
    return f"migration {name[1:4]}", f"{name} {time.time():.0f}"


def needs_migration(connection: sqlite3.Connection) -> bool:
    """Return whether a catalog is of an earlier version; an empty one is not."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    return 0 < version < len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Lay the tables of an empty catalog, or apply the migrations that one lacks, each by itself.

    They are recorded by name, so that one missing in between is applied too.

    Raises:
        LibraryFormatError: a newer ragkit has written this catalog.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise LibraryFormatError(
            f"This library was written by a newer ragkit (catalog version {version}).",
            "Update ragkit, or choose another library with --library.",
        )
    if version == len(MIGRATIONS):
        return
    with _transaction(connection):
        if not applied(connection):
            for statement in tables(MIGRATIONS):
                connection.execute(statement)
            _note(connection, MIGRATIONS)
    had = applied(connection)
    for step in MIGRATIONS:
        if step.__name__ not in had:
            with _transaction(connection):
                if step.__name__ not in applied(connection):
                    step(connection)
                    _note(connection, [step])


@cache
def tables(steps: tuple[Callable[[Transaction], None], ...]) -> tuple[str, ...]:
    """Return the statements that lay the tables and indexes which migrations leave."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        for step in steps:
            step(model)
        rows = model.execute(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%'"
        )
        return tuple(statement for (statement,) in rows)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise


def _note(connection: sqlite3.Connection, steps: Iterable[Callable[[Transaction], None]]) -> None:
    for step in steps:
        connection.execute(PUT_META, migration_note(step.__name__))
    connection.execute(f"PRAGMA user_version = {len(applied(connection))}")
