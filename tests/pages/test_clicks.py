"""What a button does is done, also where another run breaks off the one that its click started."""

from __future__ import annotations

import json
import shutil
import time

import pytest
import streamlit as st
from ollama_failures import asked_about, passage_of
from ollama_stand_in import OllamaStandIn
from running import break_off, html, run
from small_library import add, write_files
from streamlit.testing.v1 import AppTest

from pages.parts.common import kept_texts
from pages.parts.evaluate.running import task_of
from ragkit.evaluation.background import BackgroundRuns, BackgroundWriting
from ragkit.evaluation.judging import Judging
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library
from ragkit.library.jobs import HealthService
from ragkit.settings import load_settings
from ragkit.surfaces.serve import add_sample

SECONDS = 60


@pytest.fixture
def click(library, monkeypatch):
    """Clicks a button; another run begins before the page has come to the button."""
    breaks = []
    begin = st.set_page_config

    def begin_and_break(**about):
        begin(**about)
        if breaks:
            breaks.clear()
            break_off()

    monkeypatch.setattr(st, "set_page_config", begin_and_break)

    def click_and_break(app: AppTest, key: str) -> AppTest:
        breaks.append(True)
        with writer_lock(library.paths.lock, "test"):
            app.button(key=key).click().run()
        assert not breaks
        assert not app.exception
        return app

    return click_and_break


def open_jobs(library: Library) -> list[str]:
    return [job.kind for job in library.jobs.open()]


def test_the_sample_is_added(library, click):
    click(run(library), "add-sample")
    assert library.sources.any()


def test_the_way_to_the_library_is_taken(library, click):
    assert "<h2>Folders</h2>" in html(click(run(library), "to-library"))


def test_failed_files_are_read_again(library, tmp_path, click):
    add(library, write_files(tmp_path / "papers", {"torn.pdf": b"%PDF-1.7 torn"}))
    assert library.documents.failed("default")
    click(run(library, "library"), "retry-failed")
    assert open_jobs(library) == ["retry"]


def test_a_set_is_run(filled, click):
    home = filled.catalog.collections.get("default").id
    found = filled.search("reefs").results[0].document
    Judging(filled.catalog).judge(home, "reefs", found.id, 2)
    click(run(filled, "evaluate"), "evaluate-run")
    assert task_of(filled, BackgroundRuns).wait(SECONDS)
    asked = {(record.run.question_set, record.run.questions) for record in filled.runs.list()}
    assert asked == {("judged", 1)}


def test_a_set_is_written(tmp_path, monkeypatch, click):
    monkeypatch.setenv("RAGKIT_LIBRARY", str(tmp_path / "library"))
    with OllamaStandIn(reply=lambda sent: json.dumps(asked_about(passage_of(sent)))) as server:
        monkeypatch.setenv("RAGKIT_MODELS__OLLAMA_URL", server.url)
        monkeypatch.setenv("RAGKIT_MODELS__CONTEXTS", "false")
        with Library.open(load_settings()) as library:
            text = "# About docks\n\n" + "What the harbour of Oberhafen pays for docks. " * 9
            add(library, write_files(tmp_path / "papers", {"docks.md": text}))
            app = run(library, "evaluate")
            ends = time.monotonic() + SECONDS
            while not any(button.label == "Generate" for button in app.button):
                assert time.monotonic() < ends
                with writer_lock(library.paths.lock, "test"):
                    app.run()
            click(app, "evaluate-write-begin")
            writing = task_of(library, BackgroundWriting)
            assert writing.wait(SECONDS)
            assert writing.status.round == 1
            assert library.judgments.sets("default") == {"written": (2, 2)}


def test_the_sample_conversation_is_asked_and_another_text_after_it(library, monkeypatch, click):
    # There is no browser whose cookie would say which one it is.
    monkeypatch.setattr(kept_texts, "_browser", lambda: "a browser")
    library.jobs.wait(add_sample(library)[0])
    app = click(run(library, "conversation"), "long_sample")
    assert "long_again" in [button.key for button in app.button]
    app = click(app, "long_again")
    assert "long_ask" in [button.key for button in app.button]


def test_everything_is_verified(filled, click):
    app = run(filled, "health")
    headlines = html(app).count("rk-severity")
    assert html(click(app, "verify")).count("rk-severity") > headlines


def test_what_a_verification_found_is_shown_also_when_it_was_broken_off(filled, monkeypatch):
    verify, verified = HealthService.verify, []

    def verify_and_break(health):
        verified.append(verify(health))
        break_off()
        return verified[-1]

    monkeypatch.setattr(HealthService, "verify", verify_and_break)
    app = run(filled, "health")
    headlines = html(app).count("rk-severity")
    with writer_lock(filled.paths.lock, "test"):
        app.button(key="verify").click().run()
    assert html(app).count("rk-severity") > headlines
    assert len(verified) == 1


def test_what_cannot_be_done_is_said_by_the_page(filled, monkeypatch):
    app = run(filled, "library")
    with writer_lock(filled.paths.lock, "test"):
        app.text_input(key="table_text").set_value("reefs").run()
    shutil.rmtree(filled.paths.root)
    app.button(key="retry-shown").click().run()
    assert not app.exception
    assert "The folder of this library was moved or deleted." in html(app)
