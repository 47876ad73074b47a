"""The desk: pages learn of Ollama without ever waiting for it."""

from __future__ import annotations

import threading

from ollama_stand_in import WRITER, Model
from support import until

from ragkit.models.ollama_monitor import OllamaMonitor
from ragkit.settings import ModelSettings


def desk_of(server, **settings):
    return OllamaMonitor(ModelSettings(ollama_url=server.url, **settings))


def test_it_names_the_models_of_this_machine_that_write(server):
    server.models["big:70b"] = Model(("completion",), 8192, 40_000_000_000)
    server.models["far:1b"] = Model(("completion",), 8192, remote=True)
    look = desk_of(server).look_now()
    assert look.health.reachable
    assert [one.name for one in look.writers] == ["big:70b", WRITER]
    assert look.best == WRITER


def test_the_model_of_the_settings_is_the_best_one_even_when_it_is_missing(server):
    assert desk_of(server, context_model="gone:1b").look_now().best == "gone:1b"


def test_looking_never_waits_and_is_answered_soon(server):
    desk = desk_of(server)
    assert desk.look() is None
    look = until(desk.look)
    assert look.best == WRITER
    before = len(server.requests)
    assert desk.look() is look
    assert len(server.requests) == before


def test_what_is_known_gets_old(server):
    now = [0.0]
    desk = OllamaMonitor(ModelSettings(ollama_url=server.url), clock=lambda: now[0])
    first = desk.look_now()
    server.stop()
    now[0] = 60.0
    assert desk.look() is first
    until(lambda: desk.look() is not first)
    assert not desk.look().health.reachable
    assert desk.look().health.cure


def test_an_address_that_is_none_is_said_and_not_raised():
    desk = OllamaMonitor(ModelSettings(ollama_url="http://ollama.example.org:11434"))
    look = desk.look_now()
    assert not look.health.reachable
    assert "allow_remote" in look.health.cure


def test_a_model_is_downloaded_and_known_at_once(server):
    desk, came = desk_of(server), []
    assert desk.download is None
    desk.pull("tiny:1b", came.append)
    ended = until(lambda: desk.download.ended and desk.download)
    assert (ended.model, ended.done, ended.total, ended.problem) == ("tiny:1b", 0, 0, "")
    assert came == ["tiny:1b"]
    assert "tiny:1b" in [one.name for one in desk.look().writers]
    desk.forget_download()
    assert desk.download is None


def test_a_download_that_fails_says_why(server):
    desk, came = desk_of(server), []
    desk.pull("nope:1b", came.append)
    ended = until(lambda: desk.download.ended and desk.download)
    assert ended.problem == 'There is no model "nope:1b" to download. Check its name.'
    assert (came, ended.cancelled) == ([], False)


def test_a_download_can_be_cancelled_and_another_begun(server, monkeypatch):
    desk, came = desk_of(server), []
    go_on, begun = threading.Event(), threading.Event()
    client = desk._opened()
    pull = type(client).pull

    def slow(model):
        for part in pull(client, model):
            yield part
            begun.set()
            assert go_on.wait(20)

    monkeypatch.setattr(client, "pull", slow)
    desk.pull("slow:1b", came.append)
    assert begun.wait(20)
    desk.pull("other:1b")
    assert desk.download.model == "slow:1b"
    assert desk.download.status == "pulling manifest"
    desk.cancel()
    assert (desk.download.ended, desk.download.cancelled) == (True, True)
    go_on.set()
    desk.pull("tiny:1b", came.append)
    until(lambda: desk.download.ended)
    assert came == ["tiny:1b"]
