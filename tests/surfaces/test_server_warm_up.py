"""What the page server loads before anybody asks."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from small_library import HANDBOOK, add, write_files

from ragkit.library import Library
from ragkit.models import factory
from ragkit.options import Mode
from ragkit.retrieval.search import SearchEngine
from ragkit.settings import load_settings
from ragkit.surfaces.http import server


@pytest.fixture
def searched(monkeypatch):
    """The modes of the searches that reach an engine; nothing is frozen for the tests after."""
    modes = []
    search = SearchEngine.search

    def noted(self, question, options):
        modes.append(options.mode)
        return search(self, question, options)

    monkeypatch.setattr(SearchEngine, "search", noted)
    monkeypatch.setattr(server.gc, "freeze", lambda: None)
    return modes


def made(folder, **settings):
    """The settings of a small library that is there."""
    chosen = load_settings(library=folder / "library", **settings)
    with Library.open(chosen, create=True) as library:
        add(library, write_files(folder / "files", HANDBOOK))
    return chosen


def test_the_embedder_and_the_index_are_loaded(tmp_path, searched):
    settings = made(tmp_path)
    factory.local_embedder.cache_clear()
    server.warm_up(settings)
    assert searched == [Mode.HYBRID]
    assert factory.local_embedder.cache_info().currsize == 1


def test_a_model_of_ollamas_is_left_alone(tmp_path, searched, monkeypatch):
    settings = made(tmp_path)
    remote = SimpleNamespace(name="ollama:embeddinggemma")
    monkeypatch.setattr(Library, "embedder", property(lambda _: remote))
    server.warm_up(settings)
    assert searched == [Mode.KEYWORD]


def test_a_library_that_is_not_there_is_no_concern(tmp_path, searched):
    server.warm_up(load_settings(library=tmp_path / "nowhere"))
    assert searched == []


def test_streamlit_collects_nothing_after_a_run():
    assert server._config(8501)["runner.postScriptGC"] is False
