"""The first six migrations of the catalog. A released migration is never edited."""

from __future__ import annotations

from ragkit.catalog.connection import Transaction


def execute(connection: Transaction, statements: str) -> None:
    """Run statements one by one: ``executescript`` would commit the transaction."""
    for statement in statements.split(";\n"):
        if statement.strip():
            connection.execute(statement)


def m001_tables(connection: Transaction) -> None:
    """Create the tables of the first version."""
    execute(connection, _FIRST)


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


def m002_context_cache(connection: Transaction) -> None:
    """Add the cache of answers, and indexes by which waiting chunks are found."""
    execute(connection, _CONTEXT_CACHE)


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


def m003_speakers(connection: Transaction) -> None:
    """Add the speakers and days of the parts of conversations."""
    execute(connection, _SPEAKERS)


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


def m004_judgments(connection: Transaction) -> None:
    """Add judgments, of spans of text that are independent of chunks, and votes."""
    execute(connection, _JUDGMENTS)


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


def m005_runs(connection: Transaction) -> None:
    """Add kept evaluations, with the metrics of each question."""
    execute(connection, _RUNS)


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


def m006_embedder_choice(connection: Transaction) -> None:
    """Add the choice of embedders: the active one, the one before, and the target."""
    execute(connection, _EMBEDDER_CHOICE)


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
