"""A library whose chunks wait for contexts."""

from __future__ import annotations

import pytest
from small_library import (
    HANDBOOK,
    add,
    make_older,
    open_library,
    write_files,
)


@pytest.fixture
def library(tmp_path):
    opened = open_library(tmp_path / "library")
    make_older(write_files(tmp_path / "files", HANDBOOK))
    add(opened, tmp_path / "files")
    yield opened
    opened.close()
