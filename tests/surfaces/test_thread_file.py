"""A thread as a file that the pages offer."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.testclient import TestClient

from ragkit.answers import Turn
from ragkit.library import Library
from ragkit.settings import Settings
from ragkit.surfaces.http.shared import SharedLibrary
from ragkit.surfaces.http.thread_file import address_of, routes


def test_a_thread_is_to_be_had_as_markdown(tmp_path):
    settings = Settings(library=tmp_path / "here", models={"embedder": "hash"})
    with Library.open(settings, create=True) as library:
        library.collections.add("default")
        thread = library.threads.begin("Why?", ["default"])
        library.threads.add(thread.id, Turn("Why?", "Why?"))
        text = library.threads.as_markdown(thread.id)
    with TestClient(Starlette(routes=routes(SharedLibrary(settings)))) as client:
        answer = client.get(address_of(thread.id))
        assert answer.text == text
        assert answer.headers["content-type"].startswith("text/markdown")
        assert 'filename="thread-1.md"' in answer.headers["content-disposition"]
        for number in (99, 10**23):
            assert client.get(address_of(number)).status_code == 404
