"""Reading entries with their vectors and tokens as rows, from which indexes are built."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ragkit.catalog.connection import IN_LIST, Transaction, id_list, of_collection
from ragkit.types import FIELD_CODES, LEVEL_CODES, Field, Level

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragkit.indexes.rows import EntryRows, RowSlices, TokenColumn

AT_LEVELS = f"level {IN_LIST}"
"""A condition on entries; its parameter is a JSON list of level codes."""

_CHUNK = LEVEL_CODES[Level.CHUNK]
_SLICE = 8192


def rows_in_slices(
    connection: Transaction,
    scope: tuple[int, int, str],
    embedder_id: int | None,
    dimensions: int,
) -> RowSlices:
    """Return entries as index rows; each slice is read when it is used, in the transaction.

    The scope is (id of a collection or ``ALL_COLLECTIONS``, id above which entries are read, JSON
    list of level codes).
    """
    import numpy as np

    from ragkit.indexes.rows import RowSlices, with_texts

    collection_id, *others = scope
    where, own = of_collection("collection_id", collection_id)
    cursor = connection.execute(
        f"SELECT id, level FROM entries WHERE {where} AND id > ? AND {AT_LEVELS} ORDER BY id",
        (*own, *others),
    )
    entries = np.fromiter(cursor, np.dtype([("id", np.int64), ("level", np.int8)]))
    ids = np.ascontiguousarray(entries["id"])
    # Slices begin at entries of chunks: those of its context and questions follow a chunk's.
    heads = np.flatnonzero(entries["level"] == _CHUNK)
    heads = heads if len(heads) else np.arange(len(ids))
    last_head = int(heads[-1]) if len(heads) else 0
    ends = heads[heads.searchsorted(np.arange(_SLICE, last_head + 1, _SLICE))]
    bounds = np.unique(np.concatenate([[0], ends, [len(ids)]])).tolist()
    vectors_of = -1 if embedder_id is None else embedder_id
    slices = (
        with_texts(_slice(connection, ids[first:last], vectors_of, dimensions))
        for first, last in pairwise(bounds)
    )
    return RowSlices(len(ids), dimensions, slices)


def _slice(
    connection: Transaction, ids: NDArray[np.int64], embedder_id: int, dimensions: int
) -> EntryRows:
    """Read the entries with these ids, which ascend."""
    import numpy as np

    from ragkit.indexes.rows import EntryRows

    listed_ids = id_list(ids.tolist())
    rows = connection.execute(
        "SELECT e.document_id, e.level, e.position, e.content_key, v.data FROM entries e "
        "LEFT JOIN vectors v ON v.text_hash = e.text_hash AND v.embedder_id = ? "
        f"WHERE e.id {IN_LIST} ORDER BY e.id",
        (embedder_id, listed_ids),
    ).fetchall()
    documents, levels, positions, keys, data = zip(*rows, strict=True)
    has_vector = np.array([vector is not None for vector in data], np.bool_)
    vectors = np.zeros((len(ids), dimensions), np.float16)
    there = np.frombuffer(b"".join(vector for vector in data if vector is not None), "<f2")
    vectors[has_vector] = there.reshape(-1, dimensions)
    return EntryRows(
        entry_ids=ids,
        document_ids=np.array(documents, np.int64),
        levels=np.array(levels, np.int8),
        chunk_indexes=np.array(positions, np.int32),
        content_keys=_short_keys(keys),
        vectors=vectors,
        has_vector=has_vector,
        tokens=_tokens(connection, ids, listed_ids),
    )


def _tokens(
    connection: Transaction, ids: NDArray[np.int64], listed_ids: str
) -> dict[Field, TokenColumn]:
    """Read the tokens of entries, by field; ``wanted`` is the JSON list of ``ids``."""
    import numpy as np

    from ragkit.indexes.rows import TokenColumn

    of_field: dict[int, tuple[list[int], list[bytes]]] = {}
    for entry_id, code, packed in connection.execute(
        f"SELECT entry_id, field, ids FROM entry_tokens WHERE entry_id {IN_LIST} ORDER BY entry_id",
        (listed_ids,),
    ):
        entries, texts = of_field.setdefault(code, ([], []))
        entries.append(entry_id)
        texts.append(packed)
    columns = {}
    for field, code in FIELD_CODES.items():
        entries, texts = of_field.get(code, ([], []))
        flat = np.frombuffer(b"".join(texts), "<u4")
        if len(flat):
            lengths = np.zeros(len(ids) + 1, np.int64)
            lengths[ids.searchsorted(entries) + 1] = [len(packed) // 4 for packed in texts]
            columns[field] = TokenColumn(flat, np.cumsum(lengths))
    return columns


def _short_keys(keys: Sequence[bytes]) -> NDArray[np.uint64]:
    """Return the first 8 bytes of each key as a number, uint64 (n,); 0 for an empty key."""
    import numpy as np

    return np.frombuffer(b"".join(key[:8].ljust(8, b"\0") for key in keys), "<u8").astype(np.uint64)
