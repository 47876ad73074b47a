"""Contexts written by threads, workers and commands: choices, waits, locks, kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from context_library import Model
from ollama_failures import described, passage_of
from ollama_stand_in import Model as ServedModel
from ollama_stand_in import OllamaStandIn
from small_library import (
    HANDBOOK,
    CountingEmbedder,
    add,
    do,
    find,
    make_older,
    open_library,
    paths,
    write_files,
)
from support import until

from ragkit.background.context_model import context_models
from ragkit.background.contexts import Backfill, write_contexts
from ragkit.background.worker import Worker
from ragkit.catalog.background_state import (
    BackgroundPhase,
    read_context_state,
    set_paused,
)
from ragkit.catalog.context_records import ContextCounts
from ragkit.errors import (
    LibraryBusyError,
    ModelMissingError,
    NotFoundError,
    OllamaUnreachableError,
)
from ragkit.indexing.writer import writer_lock
from ragkit.library import Library

_VICTIM = Path(__file__).with_name("backfill_victim.py")


def test_the_chosen_model_writes_from_the_next_chunk_on(library):
    with OllamaStandIn() as server:
        server.models["other:1b"] = ServedModel(("completion",), 8192, 1000)
        server.models["nice:2b"] = ServedModel(("completion",), 8192, 2000)

        def reply(messages):
            if len(server.asked("/api/chat")) == 2:
                library.contexts.choose_model("nice:2b")
            return json.dumps(described(passage_of(messages)))

        server.reply = reply
        library.contexts.choose_model("other:1b")
        assert library.contexts.status().chosen == "other:1b"
        writer = library.writer()
        models = writer.settings.models.model_copy(update={"ollama_url": server.url})
        writer = replace(writer, settings=writer.settings.model_copy(update={"models": models}))
        Backfill(writer, context_models(writer)).work()
        asked = [one.body["model"] for one in server.asked("/api/chat")]
    assert asked == ["other:1b"] * 2 + ["nice:2b"] * 3
    library.contexts.choose_model("")
    assert library.contexts.status().chosen == ""


def test_choosing_a_model_ends_the_wait_for_one(library):
    missing = ModelMissingError("Ollama has no model.", "Get one.")
    stopping = threading.Event()

    def open_model(_collection):
        if library.contexts.status().chosen:
            return Model()
        raise missing

    work = Backfill(library.writer(), open_model, stopping=stopping)
    thread = threading.Thread(target=work.run)
    thread.start()
    try:
        until(lambda: read_context_state(library.catalog).message.startswith("Ollama has no model"))
        library.contexts.choose_model("small:3b")
        until(lambda: library.contexts.status().counts == ContextCounts(complete=5))
    finally:
        stopping.set()
        thread.join(timeout=20)


def test_one_collection_at_a_time(library, tmp_path):
    make_older(write_files(tmp_path / "more", {"a.md": "# A\n\nOther words.\n"}))
    add(library, tmp_path / "more", "other")
    model = Model()
    state = library.contexts.write("other", open_model=lambda _one: model)
    assert (state.counts, len(model.asked)) == (ContextCounts(complete=1), 1)
    assert library.contexts.status().counts == ContextCounts(pending=5, complete=1)
    with pytest.raises(NotFoundError):
        library.contexts.status("nowhere")


def test_contextualize_needs_the_lock(library):
    with writer_lock(library.paths.lock, "test"), pytest.raises(LibraryBusyError):
        library.contexts.write(open_model=lambda _one: Model())


def test_progress_rate_and_time_left_are_told(library):
    told = []
    model = Model(seconds=0.02)
    state = library.contexts.write(watch=told.append, open_model=lambda _one: model)
    assert [(one.done, one.total) for one in told] == [(n, 5) for n in range(1, 6)]
    assert 100 < state.per_minute < 3000
    assert state.seconds_left == 0.0
    assert state.model == "small:3b"
    for record in library.documents.list():
        do(library, "regenerate_contexts", document_id=record.id)
    left = library.contexts.status().seconds_left
    assert left == pytest.approx(5 * 60 / state.per_minute, rel=0.5)


def test_the_thread_waits_for_ollama_and_ends_when_told(library):
    stopping = threading.Event()
    answers = iter([OllamaUnreachableError("Ollama does not answer.", "Start it.")])
    model = Model()

    def open_model(_collection):
        error = next(answers, None)
        if error is not None:
            raise error
        return model

    thread = threading.Thread(
        target=write_contexts, args=(library.writer(), stopping, lambda: False, open_model)
    )
    thread.start()
    seen = set()

    def is_done():
        state = read_context_state(library.catalog)
        seen.add((state.phase, state.message))
        return state.phase is BackgroundPhase.DONE

    until(is_done)
    assert (BackgroundPhase.WAITING, "Ollama does not answer. Start it.") in seen
    assert read_context_state(library.catalog).counts == ContextCounts(complete=5)
    set_paused(library.catalog, True)
    stopping.set()
    thread.join(timeout=5)
    assert not thread.is_alive()


def test_contexts_can_be_switched_off(tmp_path):
    opened = open_library(tmp_path / "library", models={"embedder": "hash", "contexts": False})
    write_contexts(opened.writer(), threading.Event(), lambda: False)
    assert read_context_state(opened.catalog).message == "It is off in the settings."


def _worked(library, stopping, check):
    worker = Worker(library.writer(), stopping=stopping)
    thread = threading.Thread(target=worker.run, kwargs={"watch": False})
    thread.start()
    until(check, 30.0)
    return thread


def test_the_worker_writes_contexts_with_a_real_client_while_jobs_go_on(tmp_path):
    make_older(write_files(tmp_path / "files", HANDBOOK))
    make_older(write_files(tmp_path / "late", {"late.md": "# Late\n\nA latecomer.\n"}))
    with OllamaStandIn(delay=0.1) as server:
        models = {"embedder": "hash", "ollama_url": server.url}
        library = open_library(tmp_path / "library", models=models)
        add(library, tmp_path / "files")
        stopping = threading.Event()
        thread = _worked(library, stopping, lambda: library.contexts.status().counts.complete >= 1)
        late = add(library, tmp_path / "late")
        assert late.message.startswith("1 indexed")
        until(lambda: not library.contexts.status().counts.pending, 30.0)
        stopping.set()
        thread.join(timeout=10)
        assert not thread.is_alive()
        counts = library.contexts.status().counts
        asked = Counter(passage_of(one.body["messages"]) for one in server.asked("/api/chat"))
    assert counts == ContextCounts(complete=6)
    assert max(asked.values()) == 1
    stored = [
        one
        for record in library.documents.list()
        for one in library.contexts.of_document(record.id).values()
    ]
    assert all(one.answer.context.startswith("Part ") for one in stored)
    assert {one.answer.model for one in stored} == {"llama3.2:3b"}
    assert paths(find(library, stored[0].answer.keywords[0], mode="keyword"))
    library.close()


def test_a_person_can_edit_the_prompt_of_a_collection(library):
    form = "Short!\n=====\n{{document}}\n{{passage}}"
    library.contexts.set_prompt("default", "document", form)
    with OllamaStandIn() as server:
        models = library.settings.models.model_copy(update={"ollama_url": server.url})
        settings = library.settings.model_copy(update={"models": models})
        library = Library(settings, library.paths, library.catalog)
        library.embedders.pin(CountingEmbedder())
        writer = library.writer()
        Backfill(writer, context_models(writer)).work()
        systems = {one.body["messages"][0]["content"] for one in server.asked("/api/chat")}
    assert systems == {"Short!"}
    hashes = {
        one.answer.prompt_hash
        for record in library.documents.list()
        for one in library.contexts.of_document(record.id).values()
    }
    assert len(hashes) == 1


def _killed_again_and_again(tmp_path, *, documents, kills):
    """Kill workers in the middle of a backfill; also returns how often each chunk was asked."""
    sections = "\n\n".join(
        f"## Part {{n}}.{part}\n\nThe {part}. tale of number {{n}} tells of {'x' * (part + 1)}."
        for part in range(10)
    )
    files = {f"tale-{n:03}.md": f"# Tale {n}\n\n{sections.format(n=n)}\n" for n in range(documents)}
    make_older(write_files(tmp_path / "files", files))
    with OllamaStandIn(delay=0.01) as server:
        chunking = {"words": 20, "overlap": 0, "min_words": 0}
        library = open_library(tmp_path / "library", chunking=chunking)
        add(library, tmp_path / "files")
        total = library.documents.counts().chunks
        environment = {**os.environ, "RAGKIT_CHUNKING__WORDS": "20"}
        environment |= {"RAGKIT_CHUNKING__OVERLAP": "0", "RAGKIT_CHUNKING__MIN_WORDS": "0"}
        for number in range(kills + 1):
            last = number == kills
            before = len(server.asked("/api/chat"))
            wanted = before + total // (kills + 2) + number % 3
            victim = subprocess.Popen(
                [sys.executable, str(_VICTIM), str(library.paths.root), server.url],
                env=environment,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and victim.poll() is None:
                done = library.catalog.contexts.counts()
                if not done.pending if last else len(server.asked("/api/chat")) >= wanted:
                    break
                time.sleep(0.005)
            victim.send_signal(signal.SIGKILL)
            victim.wait()
        asked = Counter(passage_of(one.body["messages"]) for one in server.asked("/api/chat"))
    return library, total, asked


def test_killed_workers_lose_no_context_and_repeat_only_the_chunk_at_hand(tmp_path):
    kills = int(os.environ.get("RAGKIT_TEST_KILLS", "2"))
    documents = int(os.environ.get("RAGKIT_TEST_DOCUMENTS", "12"))
    library, total, asked = _killed_again_and_again(tmp_path, documents=documents, kills=kills)
    counts = library.catalog.contexts.counts()
    assert counts == ContextCounts(complete=total)
    assert len(asked) == total
    assert sum(asked.values()) - total <= kills
    assert library.catalog.connections.rows("PRAGMA foreign_key_check") == []
    rows = library.catalog.connections.rows(
        "SELECT document_id, position, level, COUNT(*) FROM entries WHERE level >= 2 "
        "GROUP BY 1, 2, 3"
    )
    assert all(count == 1 for *_, count in rows)
    assert len(rows) == 3 * total
    word = library.contexts.of_document(1)[0].answer.keywords[0]
    assert paths(find(library, word, mode="keyword"))
    library.close()
