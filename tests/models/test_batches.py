"""Work is divided by size and by number, in order."""

from __future__ import annotations

import pytest

from ragkit.models.batches import batches


@pytest.mark.parametrize(
    ("sizes", "divided"),
    [
        ([], []),
        ([3, 3, 4, 1], [[3, 3, 4], [1]]),
        ([20, 1, 20], [[20], [1], [20]]),
        ([1] * 7, [[1] * 3, [1] * 3, [1]]),
        ([10, 0], [[10, 0]]),
    ],
)
def test_a_batch_holds_ten_units_in_three_items_at_most(sizes, divided):
    assert list(batches(sizes, lambda size: size, 10, 3)) == divided
