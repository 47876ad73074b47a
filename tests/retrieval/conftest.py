"""The sample library, indexed once for the tests that ask it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_library import add

from ragkit.library import Library
from ragkit.settings import load_settings

SAMPLE_DATA = Path(__file__).resolve().parents[2] / "sample_data"


@pytest.fixture(scope="session")
def sample(_isolated_session: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """The sample documents with the built-in embedder; only read."""
    settings = load_settings(library=tmp_path_factory.mktemp("sample"))
    opened = Library.open(settings, create=True)
    add(opened, SAMPLE_DATA / "library")
    yield opened
    opened.close()
