"""Small segments as one file: the rows that they are built from.

Building one takes less time than opening the sixty files of a large one does, and each of those is
flushed to the disk by itself when it is written.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.bm25 import Bm25Parameters
from ragkit.indexes.local.keyword import plain_view
from ragkit.indexes.rows import EntryRows, TokenColumn
from ragkit.types import Field

PACKED = "rows.npz"
"""The one file of a packed segment."""

MOST_ROWS = 1000
"""A segment of more rows is mapped from files of its own arrays."""

_COLUMNS = (
    "entry_ids",
    "document_ids",
    "levels",
    "chunk_indexes",
    "content_keys",
    "vectors",
    "has_vector",
)
_ABOUT = "about"


def save_rows(path: Path, rows: EntryRows, parameters: Bm25Parameters) -> None:
    """Write rows, and how their words are to be scored, into one file."""
    arrays: dict[str, NDArray[Any]] = {name: getattr(rows, name) for name in _COLUMNS}
    for field, column in rows.tokens.items():
        arrays[f"{field.value}.tokens"] = column.flat
        arrays[f"{field.value}.offsets"] = column.offsets
    fields = [field.value for field in rows.tokens]
    about = json.dumps({"fields": fields, "k1": parameters.k1, "b": parameters.b})
    arrays[_ABOUT] = np.frombuffer(about.encode(), np.uint8)
    np.savez(path, allow_pickle=False, **arrays)


def load_rows(path: Path) -> tuple[EntryRows, Bm25Parameters]:
    """Read what ``save_rows`` wrote.

    Raises:
        OSError, ValueError, KeyError: the file is something else.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: plain_view(file[name]) for name in file.files}
    except BadZipFile as error:
        raise ValueError(str(error)) from error
    about = json.loads(arrays[_ABOUT].tobytes())
    tokens = {
        Field(name): TokenColumn(arrays[f"{name}.tokens"], arrays[f"{name}.offsets"])
        for name in about["fields"]
    }
    rows = EntryRows(**{name: arrays[name] for name in _COLUMNS}, tokens=tokens)
    return rows, Bm25Parameters(about["k1"], about["b"])
