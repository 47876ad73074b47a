"""Files with damaged bytes are mostly read as far as they go, or end with a reason."""

from __future__ import annotations

import lzma
import random
from pathlib import Path

import pytest

from ragkit.errors import ReadingError
from ragkit.reading.limits import Limits
from ragkit.reading.readers import read_data
from ragkit.settings import ReadingSettings

HERE = Path(__file__).parent
FILES = ("lease.doc", "lease.rtf", "dues.xls", "pier.ppt.xz")
LIMITS = Limits.of(ReadingSettings())


def damaged(data: bytes, seed: int) -> bytes:
    """The bytes with some of them changed, and now and then without their end."""
    chance = random.Random(seed)
    changed = bytearray(data)
    for _ in range(chance.choice([1, 2, 5, 20])):
        changed[chance.randrange(8, len(changed))] = chance.choice([0, 1, 0x7B, 0x7D, 0x80, 0xFF])
    return bytes(changed[: chance.randrange(100, len(changed))] if seed % 8 == 0 else changed)


@pytest.mark.parametrize("name", FILES)
def test_most_damage_costs_only_a_part_of_the_text(name):
    stored = (HERE / name).read_bytes()
    data = lzma.decompress(stored) if name.endswith(".xz") else stored
    name = name.removesuffix(".xz")
    refused = []
    for seed in range(80):
        try:
            read_data(damaged(data, seed), name, LIMITS)
        except ReadingError as error:
            refused.append(error)
    assert all(error.cure for error in refused)
    # A tenth of them lacks its end, and of a small workbook most bytes matter.
    assert len(refused) <= 40
