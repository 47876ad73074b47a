"""The entries of a document whose file was moved: other words of folders, all else as it was."""

from __future__ import annotations

from collections.abc import Sequence

from ragkit.catalog.connection import Transaction
from ragkit.catalog.document_writing import TokenIds, copy_entry, remove_entries
from ragkit.types import FIELD_CODES, INDEXED_LEVELS, LEVEL_CODES, Field

_WITH_WORDS = [LEVEL_CODES[level] for level in INDEXED_LEVELS]
_TEXT, _FOLDERS = FIELD_CODES[Field.TEXT], FIELD_CODES[Field.FOLDERS]


def move_entries(
    connection: Transaction,
    token_ids: TokenIds,
    document_id: int,
    folders: Sequence[str],
    version: int,
) -> None:
    """Replace the entries of a document by such with the words of other folders, in a version.

    The first of each level has them before its text too (``indexing/pipeline.py``). Nothing is done
    where the words are the same.
    """
    import numpy as np

    rows = connection.execute(
        "SELECT e.id, e.collection_id, e.level, e.position, coalesce(f.ids, x''), "
        "coalesce(t.ids, x'') FROM entries e "
        "LEFT JOIN entry_tokens f ON f.entry_id = e.id AND f.field = ? "
        "LEFT JOIN entry_tokens t ON t.entry_id = e.id AND t.field = ? "
        "WHERE e.document_id = ? ORDER BY e.id",
        (_FOLDERS, _TEXT, document_id),
    ).fetchall()
    ids = token_ids.of(connection, folders)
    new = np.array([ids[token] for token in folders], np.uint32).tobytes()
    if all(old == new for _, _, level, _, old, _ in rows if level in _WITH_WORDS):
        return
    for entry_id, _, level, position, old, text in rows:
        # All are copied, since those of contexts and questions follow their chunk's own.
        new_id = copy_entry(connection, entry_id)
        connection.execute(
            "INSERT INTO entry_tokens SELECT ?, field, ids FROM entry_tokens "
            "WHERE entry_id = ? AND field NOT IN (?, ?)",
            (new_id, entry_id, _TEXT, _FOLDERS),
        )
        if level in _WITH_WORDS:
            moved = new + text[len(old) :] if position == 0 else text
            columns = [(new_id, code, data) for code, data in ((_TEXT, moved), (_FOLDERS, new))]
            connection.executemany(
                "INSERT INTO entry_tokens VALUES (?, ?, ?)", [row for row in columns if row[2]]
            )
    remove_entries(connection, int(rows[0][1]), version, [row[0] for row in rows])
