"""Dividing work into batches, bounded by size and by number."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

_T = TypeVar("_T")


def batches(
    items: Iterable[_T], size_of: Callable[[_T], int], most_size: int, most_items: int
) -> Iterator[list[_T]]:
    """Yield the items in order, in batches; one that is larger than ``most_size`` goes alone."""
    batch: list[_T] = []
    size = 0
    for item in items:
        its_size = size_of(item)
        if batch and (size + its_size > most_size or len(batch) >= most_items):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += its_size
    if batch:
        yield batch
