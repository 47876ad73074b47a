from __future__ import annotations

import pytest
from small_library import HANDBOOK, add, make_older, open_library, write_files


@pytest.fixture
def folder(tmp_path):
    """A folder of files that are old enough to be read at once."""
    write_files(tmp_path / "files", HANDBOOK)
    make_older(tmp_path / "files")
    return tmp_path / "files"


@pytest.fixture
def library(tmp_path):
    """A library of its own, with nothing in it."""
    opened = open_library(tmp_path / "library")
    yield opened
    opened.close()


@pytest.fixture
def filled(library, folder):
    """The library with the folder indexed."""
    add(library, folder)
    library.embedder.passages.clear()
    return library
