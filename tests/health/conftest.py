"""A sound library of four files."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from health_library import TEXTS, open_health_library, sql, work


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A library of four files that is made once and copied for each test."""
    root = tmp_path_factory.mktemp("made")
    for name, text in TEXTS.items():
        place = root / "files" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    opened = open_health_library(root)
    work(opened, "sync", source_id=opened.sources.add_folder(root / "files").id)
    assert opened.documents.counts().indexed == len(TEXTS)
    opened.close()
    return root


@pytest.fixture
def folder(made, tmp_path):
    return Path(shutil.copytree(made / "files", tmp_path / "files"))


@pytest.fixture
def library(made, folder, tmp_path):
    """A real library of four files."""
    shutil.copytree(made / "lib", tmp_path / "lib")
    opened = open_health_library(tmp_path)
    sql(opened, "UPDATE sources SET root = ?", str(folder))
    yield opened
    opened.close()
