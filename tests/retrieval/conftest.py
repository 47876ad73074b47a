"""The sample library, indexed once for the tests that ask it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
from small_library import add, write_files

from ragkit.library import Library
from ragkit.settings import load_settings

EAST_ASIAN = {
    "台灣.txt": "頭髮護理手冊\n\n頭髮乾燥的時候，每週用一次護髮素，並把溫度調低。裡面附有說明。",
    "台湾.txt": "洗衣机手册\n\n门锁不上的时候，请检查里面的过滤器，并把机器的电源关掉。",
    "日本.txt": "図書館の案内\n\n開館時間は午前九時から。図書の返却は二週間以内にお願いします。",
    "english.txt": "The bus to the harbour leaves at noon. Tickets are sold on board.",
}
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


@pytest.fixture(scope="session")
def east_asian(
    _isolated_session: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Library]:
    """Texts in traditional and simplified Chinese, in Japanese and in English; only read."""
    opened = Library.open(load_settings(library=tmp_path_factory.mktemp("east_asian")), create=True)
    add(opened, write_files(tmp_path_factory.mktemp("texts"), EAST_ASIAN))
    yield opened
    opened.close()
