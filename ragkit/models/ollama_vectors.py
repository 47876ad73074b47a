"""What goes to an embedding model at a time, and whether what comes back are vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import OllamaAnswerError
from ragkit.models.ollama_errors import not_numbers
from ragkit.models.ollama_text import one_line


def batches(
    texts: Sequence[str], most: int, most_characters: int, most_texts: int
) -> Iterator[list[int]]:
    """Give positions of texts that say something, bounded by characters and number.

    Of one text ``most`` characters count.
    """
    batch: list[int] = []
    size = 0
    for index, text in enumerate(texts):
        if not text or text.isspace():
            continue
        length = min(len(text), most)
        full = size + length > most_characters
        if batch and (full or len(batch) >= most_texts):
            yield batch
            batch, size = [], 0
        batch.append(index)
        size += length
    if batch:
        yield batch


def checked_vectors(
    rows: Sequence[Sequence[float]], wanted: int, model: str
) -> list[NDArray[np.float32]]:
    """Take what a server calls vectors.

    Raises:
        OllamaAnswerError: they are too few, or have NaN, infinity or nothing but zeros.
    """
    cure = "Update Ollama, or choose another embedding model."
    if len(rows) != wanted:
        raise OllamaAnswerError(f"Ollama gave {len(rows)} vectors for {wanted} texts.", cure)
    found = [np.asarray(row, dtype=np.float32) for row in rows]
    if any(not np.isfinite(row).all() for row in found):
        raise not_numbers(model)
    if any(row.size == 0 or not row.any() for row in found):
        raise OllamaAnswerError(
            f'"{one_line(model, 80)}" gave a vector of nothing but zeros for a text.', cure
        )
    return found
