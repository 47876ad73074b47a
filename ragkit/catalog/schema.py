"""The catalog's tables, as numbered migrations. Never edit one that has been released."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ragkit.errors import LibraryFormatError


def m001_tables(connection: sqlite3.Connection) -> None:
    """Lay the tables of the first version."""
    _execute(connection, _FIRST)


_FIRST = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE collections (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    settings TEXT NOT NULL DEFAULT '{}',
    version INTEGER NOT NULL DEFAULT 0,
    created_at REAL NOT NULL
) STRICT;

CREATE TABLE sources (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection_id INTEGER NOT NULL REFERENCES collections ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('folder', 'uploads')),
    root TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'new',
    reason TEXT NOT NULL DEFAULT '',
    scanned_at REAL,
    created_at REAL NOT NULL,
    UNIQUE (collection_id, root)
) STRICT;

CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source_id INTEGER NOT NULL REFERENCES sources ON DELETE CASCADE,
    collection_id INTEGER NOT NULL REFERENCES collections ON DELETE CASCADE,
    path TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    size INTEGER NOT NULL DEFAULT 0,
    mtime_ns INTEGER NOT NULL DEFAULT 0,
    hash TEXT NOT NULL DEFAULT '',
    recipe TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL DEFAULT '',
    format TEXT NOT NULL DEFAULT '',
    markup TEXT NOT NULL DEFAULT '',
    language TEXT NOT NULL DEFAULT '',
    date TEXT NOT NULL DEFAULT '',
    metadata TEXT NOT NULL DEFAULT '{}',
    pages TEXT NOT NULL DEFAULT '[]',
    warnings TEXT NOT NULL DEFAULT '[]',
    chunks INTEGER NOT NULL DEFAULT 0,
    characters INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    changed_at REAL NOT NULL,
    UNIQUE (source_id, path)
) STRICT;
CREATE INDEX documents_by_collection ON documents (collection_id, status);
CREATE INDEX documents_by_hash ON documents (hash);

CREATE TABLE texts (
    document_id INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    text TEXT NOT NULL
) STRICT;

CREATE TABLE sections (
    document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    level INTEGER NOT NULL,
    path TEXT NOT NULL,
    PRIMARY KEY (document_id, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE chunks (
    document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    idx INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    section INTEGER NOT NULL,
    heading_path TEXT NOT NULL,
    page_first INTEGER,
    page_last INTEGER,
    context TEXT NOT NULL,
    PRIMARY KEY (document_id, idx)
) STRICT, WITHOUT ROWID;

CREATE TABLE contexts (
    document_id INTEGER NOT NULL,
    chunk_idx INTEGER NOT NULL,
    status TEXT NOT NULL,
    context TEXT NOT NULL DEFAULT '',
    keywords TEXT NOT NULL DEFAULT '[]',
    questions TEXT NOT NULL DEFAULT '[]',
    details TEXT NOT NULL DEFAULT '{}',
    model TEXT NOT NULL DEFAULT '',
    prompt_hash TEXT NOT NULL DEFAULT '',
    attempts INTEGER NOT NULL DEFAULT 0,
    error TEXT NOT NULL DEFAULT '',
    tokens INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    changed_at REAL NOT NULL,
    PRIMARY KEY (document_id, chunk_idx),
    FOREIGN KEY (document_id, chunk_idx) REFERENCES chunks (document_id, idx) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE TABLE entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection_id INTEGER NOT NULL,
    document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    level INTEGER NOT NULL,
    position INTEGER NOT NULL,
    text_hash BLOB NOT NULL,
    content_key BLOB NOT NULL
) STRICT;
CREATE INDEX entries_by_collection ON entries (collection_id, level, id);
CREATE INDEX entries_by_document ON entries (document_id);
CREATE INDEX entries_by_text ON entries (text_hash);

CREATE TABLE removed_entries (
    collection_id INTEGER NOT NULL,
    version INTEGER NOT NULL,
    entry_id INTEGER NOT NULL,
    PRIMARY KEY (collection_id, version, entry_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE embedders (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    fingerprint TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    dimensions INTEGER NOT NULL
) STRICT;

CREATE TABLE vectors (
    text_hash BLOB NOT NULL,
    embedder_id INTEGER NOT NULL REFERENCES embedders ON DELETE CASCADE,
    data BLOB NOT NULL,
    PRIMARY KEY (text_hash, embedder_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE vocabulary (id INTEGER PRIMARY KEY, token TEXT NOT NULL UNIQUE) STRICT;

CREATE TABLE entry_tokens (
    entry_id INTEGER NOT NULL REFERENCES entries ON DELETE CASCADE,
    field INTEGER NOT NULL,
    ids BLOB NOT NULL,
    PRIMARY KEY (entry_id, field)
) STRICT, WITHOUT ROWID;

CREATE TABLE jobs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    arguments TEXT NOT NULL DEFAULT '{}',
    state TEXT NOT NULL DEFAULT 'pending',
    progress TEXT NOT NULL DEFAULT '{}',
    message TEXT NOT NULL DEFAULT '',
    cancelled INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    created_at REAL NOT NULL,
    started_at REAL,
    finished_at REAL
) STRICT;
CREATE INDEX jobs_by_state ON jobs (state, id);

CREATE TABLE worker (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    pid INTEGER NOT NULL,
    started_at REAL NOT NULL,
    heartbeat REAL NOT NULL,
    state TEXT NOT NULL,
    notes TEXT NOT NULL DEFAULT '{}'
) STRICT;
"""


def m002_context_cache(connection: sqlite3.Connection) -> None:
    """Keep what models wrote beyond the life of a document's version, and find work quickly."""
    _execute(connection, _CONTEXT_CACHE)


_CONTEXT_CACHE = """
CREATE TABLE context_cache (
    text_key BLOB NOT NULL,
    model TEXT NOT NULL,
    prompt_hash TEXT NOT NULL,
    answer TEXT NOT NULL,
    made_at REAL NOT NULL,
    PRIMARY KEY (text_key, model, prompt_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX context_cache_by_age ON context_cache (made_at);
CREATE INDEX contexts_by_status ON contexts (status);
CREATE INDEX contexts_by_document ON contexts (document_id, status);
DROP INDEX entries_by_document;
CREATE INDEX entries_by_document ON entries (document_id, position, level);
"""


def m003_speakers(connection: sqlite3.Connection) -> None:
    """Say who speaks where and on which days: by level and position, as entries are named."""
    _execute(connection, _SPEAKERS)


_SPEAKERS = """
CREATE TABLE speakers (
    document_id INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    level INTEGER NOT NULL,
    position INTEGER NOT NULL,
    speaker TEXT NOT NULL,
    day TEXT NOT NULL,
    PRIMARY KEY (document_id, level, position, speaker, day)
) STRICT, WITHOUT ROWID
"""


def m004_judgments(connection: sqlite3.Connection) -> None:
    """Keep what people found right: spans of documents, which no change of chunks can lose."""
    _execute(connection, _JUDGMENTS)


_JUDGMENTS = """
CREATE TABLE judgments (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection_id INTEGER NOT NULL REFERENCES collections ON DELETE CASCADE,
    question_set TEXT NOT NULL DEFAULT '',
    question_key TEXT NOT NULL DEFAULT '',
    question TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT '',
    document_id INTEGER NOT NULL,
    path TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    quote TEXT NOT NULL,
    grade INTEGER NOT NULL,
    origin TEXT NOT NULL,
    at REAL NOT NULL
) STRICT;
CREATE INDEX judgments_by_question ON judgments (collection_id, question_set, question);

CREATE TABLE votes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection_id INTEGER NOT NULL REFERENCES collections ON DELETE CASCADE,
    question TEXT NOT NULL,
    settings TEXT NOT NULL,
    winner INTEGER,
    at REAL NOT NULL
) STRICT;
CREATE INDEX votes_by_collection ON votes (collection_id);
"""


def m005_runs(connection: sqlite3.Connection) -> None:
    """Keep what evaluations found, question by question, so that later ones can be compared."""
    _execute(connection, _RUNS)


_RUNS = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    collection_id INTEGER REFERENCES collections ON DELETE CASCADE,
    question_set TEXT NOT NULL,
    name TEXT NOT NULL,
    address TEXT NOT NULL,
    settings TEXT NOT NULL,
    version INTEGER NOT NULL,
    generation TEXT NOT NULL,
    ragkit TEXT NOT NULL,
    revision TEXT NOT NULL,
    asked INTEGER NOT NULL,
    questions INTEGER NOT NULL,
    documents INTEGER NOT NULL,
    chunks INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    seconds REAL NOT NULL,
    metrics TEXT NOT NULL,
    stages TEXT NOT NULL,
    notices TEXT NOT NULL,
    at REAL NOT NULL
) STRICT;
CREATE INDEX runs_by_collection ON runs (collection_id, id);

CREATE TABLE run_values (
    run_id INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
    question_key TEXT NOT NULL,
    question TEXT NOT NULL,
    found TEXT NOT NULL,
    PRIMARY KEY (run_id, question_key)
) STRICT, WITHOUT ROWID;
"""


def m006_embedder_choice(connection: sqlite3.Connection) -> None:
    """Keep which embedder answers, which did before, and which one the library is moved to."""
    _execute(connection, _EMBEDDER_CHOICE)


_EMBEDDER_CHOICE = """
CREATE TABLE embedder_choice (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    active INTEGER NOT NULL REFERENCES embedders,
    previous INTEGER REFERENCES embedders,
    target TEXT NOT NULL DEFAULT '',
    target_id INTEGER REFERENCES embedders,
    paused INTEGER NOT NULL DEFAULT 0,
    changed_at REAL NOT NULL
) STRICT
"""


def m007_writers(connection: sqlite3.Connection) -> None:
    """Say which model wrote the question of a judgment; empty where no model did."""
    _execute(connection, "ALTER TABLE judgments ADD COLUMN writer TEXT NOT NULL DEFAULT ''")


def m008_lineage(connection: sqlite3.Connection) -> None:
    """Give every change of a collection a number of its own and a token that no other has."""
    _execute(connection, _LINEAGE)


_LINEAGE = """
CREATE TABLE lineage (version INTEGER PRIMARY KEY AUTOINCREMENT, token TEXT NOT NULL) STRICT;
INSERT INTO lineage SELECT version, lower(hex(randomblob(16)))
FROM (SELECT version FROM collections UNION SELECT version FROM removed_entries) WHERE version > 0
"""


def m010_retries(connection: sqlite3.Connection) -> None:
    """Say which files could not be read for a reason that passes, and when they are tried again."""
    _execute(connection, _RETRIES)


_RETRIES = """
CREATE TABLE retries (
    document_id INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
    since REAL NOT NULL,
    attempts INTEGER NOT NULL,
    retry_at REAL NOT NULL
) STRICT
"""


def m009_file_stamps(connection: sqlite3.Connection) -> None:
    """Keep each file's device, inode and ctime; without them it is hashed at the next sync."""
    _execute(connection, "ALTER TABLE documents ADD COLUMN stamp TEXT NOT NULL DEFAULT ''")


def m011_threads(connection: sqlite3.Connection) -> None:
    """Keep questions that follow one another with their answers; no collection takes them along."""
    _execute(connection, _THREADS)


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


def m012_question_filters(connection: sqlite3.Connection) -> None:
    """Say what a question of a set is restricted to, also where it was asked for a run."""
    _execute(connection, _QUESTION_FILTERS)


_QUESTION_FILTERS = """
ALTER TABLE judgments ADD COLUMN filter TEXT NOT NULL DEFAULT '';
ALTER TABLE run_values ADD COLUMN filter TEXT NOT NULL DEFAULT ''
"""


def m013_parents(connection: sqlite3.Connection) -> None:
    """Say which chunks make a parent. Until a document is cut anew, each is one by itself."""
    _execute(connection, "ALTER TABLE chunks ADD COLUMN parent INTEGER NOT NULL DEFAULT 0")
    _execute(connection, "UPDATE chunks SET parent = idx")


def m014_chunk_notes(connection: sqlite3.Connection) -> None:
    """Keep what contexts note of chunks where filters find it, and fill it from the contexts."""
    from ragkit.catalog.chunk_notes import fill_notes

    _execute(connection, _CHUNK_NOTES)
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


def m015_blocks(connection: sqlite3.Connection) -> None:
    """Say which table, list or code block an entry finer than a chunk stands for."""
    _execute(connection, _BLOCKS)


_BLOCKS = """
CREATE TABLE blocks (
    entry_id INTEGER PRIMARY KEY REFERENCES entries ON DELETE CASCADE,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    kind TEXT NOT NULL,
    section INTEGER NOT NULL
)
"""


def m016_summaries(connection: sqlite3.Connection) -> None:
    """Keep a summary of each long document, and have what contexts cost summed up by an index."""
    _execute(connection, _SUMMARIES)


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


def m017_prompts(connection: sqlite3.Connection) -> None:
    """Take up the prompts that stood in files beside the catalog, those for all for each."""
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


def _execute(connection: sqlite3.Connection, statements: str) -> None:
    """Run statements one by one: ``executescript`` would end the transaction that they are in."""
    for statement in statements.split(";\n"):
        if statement.strip():
            connection.execute(statement)


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (
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
)
"""In the order in which they are applied. A catalog's version is how many of them it has had."""


def applied(connection: sqlite3.Connection) -> set[str]:
    """The names of the migrations that a catalog has had, as it notes them itself."""
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return set()
    rows = connection.execute("SELECT value FROM meta WHERE key GLOB 'migration [0-9]*'")
    return {str(row[0]).partition(" ")[0] for row in rows}


def needs_migration(connection: sqlite3.Connection) -> bool:
    """Return whether a catalog is of an earlier version; one without tables is of none."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    return 0 < version < len(MIGRATIONS)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring the catalog to the newest version, one transaction a step.

    Steps are known by their names, so that one that was added in between is made up for.

    Raises:
        LibraryFormatError: when a newer ragkit has written this catalog.
    """
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise LibraryFormatError(
            f"This library was written by a newer ragkit (catalog version {version}).",
            "Update ragkit, or choose another library with --library.",
        )
    if version == len(MIGRATIONS):
        return
    for step in MIGRATIONS:
        if step.__name__ not in applied(connection):
            _apply(connection, step)


def _apply(connection: sqlite3.Connection, step: Callable[[sqlite3.Connection], None]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        had = applied(connection)
        if step.__name__ not in had:
            step(connection)
            connection.execute(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)",
                (f"migration {step.__name__[1:4]}", f"{step.__name__} {time.time():.0f}"),
            )
            connection.execute(f"PRAGMA user_version = {len(had) + 1}")
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise
