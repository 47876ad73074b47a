from __future__ import annotations

from collections.abc import Iterator

import pytest
from kept_readers import KeptReaders

from ragkit.reading import pool
from ragkit.reading.process import ReadingProcess


@pytest.fixture(scope="module")
def own_processes(kept_readers: KeptReaders) -> Iterator[None]:
    """What is tested here is how they start and end, with none of earlier tests beside them."""
    kept_readers.end_idle()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "ReadingProcess", ReadingProcess)
        yield
