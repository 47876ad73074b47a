"""The sample library, indexed once for the tests that ask it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

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


@pytest.fixture(scope="session")
def noted_sample(
    _isolated_session: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Library]:
    """The conversations of the sample, with the contexts that were recorded for them; only read."""
    settings = load_settings(library=tmp_path_factory.mktemp("noted"))
    opened = Library.open(settings, create=True)
    files = tmp_path_factory.mktemp("files") / "library"
    for folder in ("conversations", "meetings", "mail"):
        copytree(SAMPLE_DATA / "library" / folder, files / folder)
    source = opened.sources.add_folder(files)
    opened.jobs.wait(opened.sources.sync(source))
    opened.jobs.wait(opened.contexts.import_file(source.id, SAMPLE_DATA / "contexts.jsonl"))
    yield opened
    opened.close()
