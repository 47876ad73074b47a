"""Rows of entries by their ids, looked up in a table or searched for."""

import numpy as np
import pytest

from ragkit.indexes.local.row_lookup import RowLookup


@pytest.mark.parametrize(
    "ids",
    [[5], [5, 6, 7, 8], [5, 9, 10, 40], [5, 6, 2000], []],
    ids=["one", "dense", "with gaps", "far apart", "none"],
)
def test_it_finds_the_rows_that_are_there(ids):
    asked = [0, 4, *range(5, 50), 1999, 2000, 2001, 10**12]
    lookup = RowLookup(np.array(ids, np.int64))
    rows, present = lookup.find(np.array(asked, np.int64))
    assert rows.dtype == np.int64
    assert present.tolist() == [one in ids for one in asked]
    assert rows.tolist() == [ids.index(one) if one in ids else 0 for one in asked]


@pytest.mark.parametrize("ids", [[5, 6, 7, 8], [5, 9, 10, 40], [5, 6, 2000], []])
def test_its_mask_has_the_rows_of_some_ids(ids):
    lookup = RowLookup(np.array(ids, np.int64))
    for asked in ([], [1], ids, ids[1:], [4, 9, 41, 2000, 10**12]):
        mask = lookup.mask(np.array(asked, np.int64))
        assert mask.tolist() == [one in asked for one in ids]
