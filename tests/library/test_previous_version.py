"""A library of the version before opens, is migrated, and answers the same.

``version_7.sql`` is a whole catalog, written out as SQL by the version whose schema had seven
migrations; ``version_7.json`` is what that version answered. Neither is ever written again.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from ragkit.catalog.schema import MIGRATIONS
from ragkit.library import Library
from ragkit.paths import LibraryPaths
from ragkit.settings import load_settings

_HERE = Path(__file__).parent
_ANSWERS = json.loads((_HERE / "version_7.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    paths = LibraryPaths(tmp_path_factory.mktemp("version_7") / "library")
    paths.create()
    connection = sqlite3.connect(paths.catalog)
    connection.executescript((_HERE / "version_7.sql").read_text("utf-8"))
    connection.close()
    library = Library.open(load_settings(library=paths.root, models={"embedder": "hash"}))
    yield library
    library.close()


def test_it_is_migrated(library):
    connection = sqlite3.connect(library.paths.catalog)
    assert connection.execute("PRAGMA user_version").fetchone() == (len(MIGRATIONS),)
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


@pytest.mark.parametrize("expected", _ANSWERS, ids=[answer["question"] for answer in _ANSWERS])
def test_it_answers_the_same(library, expected):
    results = library.search(expected["question"]).results
    assert [result.document.path for result in results] == [
        result["path"] for result in expected["results"]
    ]
    for result, before in zip(results, expected["results"], strict=True):
        assert result.score == pytest.approx(before["score"], abs=1e-6)
        assert result.chunk_coverage == before["coverage"]
        assert [[passage.start, passage.end] for passage in result.passages] == before["passages"]
        parts = result.matched_chunks[0].contributions
        assert [[part.index, part.rank] for part in parts] == [
            part[:2] for part in before["contributions"]
        ]
        assert [part.value for part in parts] == pytest.approx(
            [part[2] for part in before["contributions"]], abs=1e-6
        )
