from __future__ import annotations

import pytest
from small_library import HANDBOOK, add, make_older, write_files


@pytest.fixture
def folder(tmp_path):
    """A folder of files that are old enough to be read at once."""
    write_files(tmp_path / "files", HANDBOOK)
    make_older(tmp_path / "files")
    return tmp_path / "files"


@pytest.fixture
def filled(library, folder):
    """The library with the folder indexed."""
    add(library, folder)
    library.embedder.passages.clear()
    return library
