"""The documents most like a document."""

from __future__ import annotations

import pytest

from ragkit.errors import NotFoundError
from ragkit.library import Library
from ragkit.settings import load_settings


@pytest.fixture
def library(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "bread.md").write_text("# Bread\n\nKnead dough with flour and salt, then bake it.")
    (folder / "copy.md").write_text("# Bread\n\nKnead dough with flour and salt, then bake it.")
    (folder / "rolls.md").write_text("# Rolls\n\nBake rolls of flour dough with salt and butter.")
    (folder / "train.md").write_text("# Timetable\n\nThe night train leaves the station late.")
    opened = Library.open(load_settings(library=tmp_path / "library"), create=True)
    opened.jobs.wait(opened.sources.sync(opened.sources.add_folder(folder)))
    yield opened
    opened.close()


def test_the_nearest_come_first_without_the_document_and_its_copies(library):
    ids = {one.path: one.id for one in library.documents.list()}
    found = library.documents.similar(ids["bread.md"])
    assert [one.record.path for one in found] == ["rolls.md", "train.md"]
    assert 1 > found[0].score > found[1].score
    assert [one.record.path for one in library.documents.similar(ids["bread.md"], limit=1)] == [
        "rolls.md"
    ]


def test_a_document_that_is_gone_is_said(library):
    with pytest.raises(NotFoundError, match="There is no document 99"):
        library.documents.similar(99)
