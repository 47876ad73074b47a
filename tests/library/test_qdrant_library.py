"""A library whose indexes are on a Qdrant server: the same answers, and a server that is away."""

from __future__ import annotations

import json
from typing import Any

import pytest
from qdrant_client.http.exceptions import ResponseHandlingException
from qdrant_edge_client import EdgeClient, edge_client
from small_library import HANDBOOK, add, comparable, do, find, open_library, paths, write_files

from ragkit.errors import IndexServerError, SettingsError
from ragkit.indexes.qdrant.server import Server
from ragkit.results import Answer
from ragkit.settings import load_settings

URL = "http://qdrant.example:6333"
QUESTIONS = (
    "refund",
    "how long is a password",
    "検索システム",
    "tag:money gift",
    "oauth -refund",
    "",
)


def without_trace(answer: Answer) -> dict[str, Any]:
    """An answer as values that any library of the same files gives: how it was found aside."""
    value = json.loads(comparable(answer))
    del value["trace"]
    return value


def assert_alike(one: Any, other: Any) -> None:
    """Both are the same, numbers to 0.00001."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_alike(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for first, second in zip(one, other, strict=True):
            assert_alike(first, second)
    else:
        assert one == (pytest.approx(other, abs=1e-5) if isinstance(one, float) else other)


class _Away:
    """A client whose server does not answer."""

    def __getattr__(self, name: str):
        raise ResponseHandlingException(OSError("connection refused"))


@pytest.fixture
def client(monkeypatch, tmp_path) -> EdgeClient:
    """Qdrant's core, at the address that the settings name."""
    made = edge_client(tmp_path / "qdrant")
    clients = {URL: made}
    monkeypatch.setattr(Server, "at", lambda url, _key: Server(url, lambda: clients[url]))
    made.clients = clients
    return made


def test_answers_are_those_of_indexes_in_files(tmp_path, client):
    files = write_files(tmp_path / "files", HANDBOOK)
    with (
        open_library(tmp_path / "local") as local,
        open_library(tmp_path / "remote", index={"server": URL}) as remote,
    ):
        for library in (local, remote):
            add(library, files)
        for question in QUESTIONS:
            for mode in ("hybrid", "keyword", "vector"):
                answers = [find(one, question, mode=mode) for one in (local, remote)]
                assert_alike(*(without_trace(one) for one in answers))
        assert not list((tmp_path / "remote").rglob("generation-*"))
        assert client.requests["query"] > 0
        (files / "handbook" / "refunds.md").unlink()
        (files / "new.md").write_text("# Sails\n\nGift cards for sailors.\n")
        for library in (local, remote):
            do(library, "sync")
        answers = [find(one, "gift cards") for one in (local, remote)]
        assert_alike(*(without_trace(one) for one in answers))
        assert paths(answers[1])[0] == "new.md"
        do(remote, "rebuild_indexes")
        assert paths(find(remote, "gift cards"))[0] == "new.md"
        [finding] = [one for one in remote.health.check() if one.name == "indexes"]
        assert finding.ok
        assert URL in finding.sentence


def test_documents_are_read_while_the_server_is_away_and_found_once_it_is_back(tmp_path, client):
    client.clients[URL] = _Away()
    with open_library(tmp_path / "library", index={"server": URL}) as library:
        job = add(library, write_files(tmp_path / "files", HANDBOOK))
        assert "5 indexed" in job.message
        with pytest.raises(IndexServerError, match=f"{URL} does not answer") as caught:
            find(library, "refund")
        assert "Start it" in caught.value.cure
        client.clients[URL] = client
        assert paths(find(library, "refund"))[0] == "handbook/refunds.md"


@pytest.mark.parametrize("address", ["localhost:6333", "ftp://host", "http://key@host", "http://"])
def test_what_is_no_address_is_refused(address):
    with pytest.raises(SettingsError, match=r"index\.server"):
        load_settings(index={"server": address})


def test_the_key_is_not_shown(monkeypatch):
    monkeypatch.setenv("RAGKIT_INDEX__KEY", "sesame")
    monkeypatch.setenv("RAGKIT_INDEX__SERVER", f"{URL}/")
    settings = load_settings()
    assert settings.index.server == URL
    assert settings.index.key.get_secret_value() == "sesame"
    assert "sesame" not in repr(settings)
