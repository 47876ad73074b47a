"""What the page server loads before anybody asks."""

from __future__ import annotations

import socket
import sys
from types import SimpleNamespace

import pytest
from small_library import HANDBOOK, add, write_files

from ragkit.library import Library
from ragkit.models import factory
from ragkit.options import Mode
from ragkit.retrieval.search import SearchEngine
from ragkit.settings import load_settings
from ragkit.surfaces.http import server
from ragkit.surfaces.http.place import Place
from ragkit.surfaces.http.shared import SharedLibrary


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
    server.warm_up(SharedLibrary(settings), tmp_path / "pages")
    assert searched == [Mode.HYBRID]
    assert factory.local_embedder.cache_info().currsize == 1


def test_a_model_of_ollamas_is_left_alone(tmp_path, searched, monkeypatch):
    settings = made(tmp_path)
    remote = SimpleNamespace(name="ollama:embeddinggemma")
    monkeypatch.setattr(Library, "embedder", property(lambda _: remote))
    server.warm_up(SharedLibrary(settings), tmp_path / "pages")
    assert searched == [Mode.KEYWORD]


def test_a_library_that_is_not_there_is_no_concern(tmp_path, searched):
    server.warm_up(SharedLibrary(load_settings(library=tmp_path / "nowhere")), tmp_path / "pages")
    assert searched == []


def test_streamlit_collects_nothing_after_a_run():
    assert server._config(Place(8501))["runner.postScriptGC"] is False


def test_streamlit_looks_for_components_in_no_package(monkeypatch):
    from streamlit.components.v2 import manifest_scanner
    from streamlit.components.v2.component_manager import BidiComponentManager

    scans = []
    monkeypatch.setattr(manifest_scanner, "scan_component_manifests", lambda: scans.append(1) or [])

    def discover():
        BidiComponentManager().discover_and_register_components(start_file_watching=False)
        return len(scans)

    assert discover() == 1
    server.scan_no_packages()
    assert discover() == 1


def test_small_answers_are_sent_at_once(monkeypatch):
    from streamlit.web.server.starlette import starlette_server

    monkeypatch.setattr(starlette_server, "_bind_socket", starlette_server._bind_socket)
    server.send_at_once()
    with starlette_server._bind_socket("127.0.0.1", 0, 5) as listening:
        listening.setblocking(True)
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_parts_of_the_pages_are_loaded(tmp_path, monkeypatch):
    part = tmp_path / "house" / "parts" / "kitchen" / "stove.py"
    part.parent.mkdir(parents=True)
    part.write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(server.gc, "freeze", lambda: None)
    server.warm_up(SharedLibrary(load_settings(library=tmp_path / "nowhere")), tmp_path / "house")
    assert "house.parts.kitchen.stove" in sys.modules
    for name in [name for name in sys.modules if name.split(".")[0] == "house"]:
        del sys.modules[name]
