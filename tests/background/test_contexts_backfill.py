"""The backfill: every chunk gets its context once, whatever happens meanwhile."""

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
    sync,
    write_files,
)
from support import until

from ragkit.background.context_entries import open_document
from ragkit.background.context_jobs import edit_context
from ragkit.background.context_model import context_models
from ragkit.background.contexts import Backfill, Throttle, write_contexts
from ragkit.background.recent_hits import RecentHits
from ragkit.background.worker import Worker
from ragkit.catalog.background_state import (
    BackgroundPhase,
    is_paused,
    read_context_state,
    set_paused,
)
from ragkit.catalog.records import BY_PERSON, ContextCounts, ContextStatus
from ragkit.errors import (
    ContextRejectedError,
    LibraryBusyError,
    ModelMissingError,
    NotFoundError,
    OllamaTimeoutError,
    OllamaUnreachableError,
)
from ragkit.indexing.lock import writer_lock
from ragkit.indexing.progress import Reporter
from ragkit.library import Library
from ragkit.models.context_checks import WrittenContext
from ragkit.options import Contexts, Mode, QuestionMerge
from ragkit.types import Level

_VICTIM = Path(__file__).with_name("backfill_victim.py")


class Model:
    """Writes what it is told to; ``failures`` are raised in turn before it does."""

    def __init__(self, *failures, model="small:3b", prompt="p1", write=None, seconds=0.0):
        self.model = model
        self.prompt = prompt
        self.failures = list(failures)
        self.asked = []
        self.seconds = seconds
        self._write = write

    def prompt_hash(self, kind):
        return f"{self.prompt} {kind}"

    def write(self, request, attempt=0):
        self.asked.append(request)
        if self.seconds:
            time.sleep(self.seconds)
        if self.failures and (failure := self.failures.pop(0)) is not None:
            raise failure
        if self._write is not None:
            return self._write(request)
        number = len(self.asked)
        return WrittenContext(
            f"Context {number} of {request.document_title}.",
            (f"keyword{number}", "sprocket"),
            (f"What is question{number}?",),
            "Topics",
            None,
            100,
            0.5,
            truncated=False,
        )


@pytest.fixture
def library(tmp_path):
    opened = open_library(tmp_path / "library")
    make_older(write_files(tmp_path / "files", HANDBOOK))
    add(opened, tmp_path / "files")
    yield opened
    opened.close()


def backfill(library, model, **more):
    return Backfill(library.writer(), lambda _collection: model, **more)


def statuses(library):
    return {
        (record.path, index): one.status.value
        for record in library.documents.list()
        for index, one in library.contexts.of_document(record.id).items()
    }


def test_every_chunk_gets_a_context_once(library):
    model = Model()
    assert backfill(library, model).work() is True
    counts = library.contexts.status().counts
    assert counts == ContextCounts(complete=library.documents.counts().chunks)
    assert len(model.asked) == counts.complete == 5
    assert backfill(library, model).work() is True
    assert len(model.asked) == 5


def test_what_the_model_is_told(library):
    model = Model()
    backfill(library, model).work()
    told = {one.document_title: one for one in model.asked}["Refunds"]
    assert told.chunk_text in told.document_text
    assert told.document_text[told.chunk_span.start : told.chunk_span.end] == told.chunk_text
    assert [line.strip() for line in told.outline] == ["Refunds", "Exceptions"]
    assert told.structural_context.startswith("Refunds")
    assert told.kind == "document"


def test_a_conversation_is_told_by_who_takes_part(tmp_path):
    opened = open_library(tmp_path / "library")
    chat = "---\nparticipants: [Ines, Rui]\n---\nInes: Yes please.\n"
    make_older(write_files(tmp_path / "files", {"chat.md": chat, "note.md": "# A\n\nNo one.\n"}))
    add(opened, tmp_path / "files")
    model = Model()
    backfill(opened, model).work()
    assert sorted(one.kind for one in model.asked) == ["conversation", "document"]


def test_words_of_contexts_and_questions_are_found_at_once(library):
    assert paths(find(library, "sprocket", mode="keyword")) == []

    def write(request):
        if request.document_title != "Refunds":
            return WrittenContext("Nothing.", (), (), "", None, 1, 0.1, truncated=False)
        return WrittenContext(
            "Concerns the promotion.", ("sprocket",), ("Who is on top?",), "", None, 1, 0.1, False
        )

    backfill(library, Model(write=write)).work()
    for question in ("sprocket", "promotion", "on top"):
        assert paths(find(library, question, mode="keyword"))[0] == "handbook/refunds.md"
        without = find(library, question, mode="keyword", contexts=Contexts.STRUCTURAL)
        assert paths(without) == []


def test_vectors_of_questions_lead_to_their_chunk(library):
    question = "Which wholly unusual thing happened yesterday?"

    def write(request):
        asked = (question,) if request.document_title == "Logging in" else ()
        return WrittenContext("Nothing.", (), asked, "", None, 1, 0.1, truncated=False)

    backfill(library, Model(write=write)).work()
    # A question is embedded with where its chunk stands.
    (placed,) = library.embedder.embed_passages([f"Logging in\n\n{question}"])
    likeness = float(library.embedder.embed_query(question) @ placed)
    assert likeness < 0.99
    for merge in (QuestionMerge.BEST, QuestionMerge.SUM):
        answer = find(library, question, mode=Mode.VECTOR, question_merge=merge)
        assert paths(answer)[0] == "handbook/login.md"
        matched = answer.results[0].matched_chunks[0]
        assert (matched.level, matched.index) == (Level.QUESTION, 0)
        if merge is QuestionMerge.BEST:
            assert matched.contributions[0].raw == pytest.approx(likeness, abs=0.01)
        indexes = [(one.document.id, m.index) for one in answer.results for m in one.matched_chunks]
        assert len(indexes) == len(set(indexes)) >= 4
    plain = find(library, question, mode=Mode.VECTOR, contexts=Contexts.STRUCTURAL)
    assert all(m.level is Level.CHUNK for one in plain.results for m in one.matched_chunks)


def test_the_search_without_contexts_is_what_it_was_before(library):
    before = find(library, "refund within thirty days")
    backfill(library, Model()).work()
    after = find(library, "refund within thirty days", contexts=Contexts.STRUCTURAL)
    assert paths(after) == paths(before)
    assert [one.score for one in after.results] == pytest.approx(
        [one.score for one in before.results], abs=1e-6
    )


def test_what_is_indexed_is_no_longer_said_to_be_ready(library):
    seen = []

    def write(request):
        # Reports come once a second at most: without the wait the first one would still stand.
        time.sleep(0.6)
        state = library.contexts.status()
        seen.append((state.counts.complete, state.ready))
        return WrittenContext("Something.", (), (), "", None, 1, 0.1, truncated=False)

    with writer_lock(library.paths.lock, "worker"):
        backfill(library, Model(write=write), throttle=Throttle(batch=2)).work()
    assert len(seen) == 5
    # Two are indexed before the third is asked for, and four before the fifth.
    assert seen[2] == (2, 0)
    assert seen[4] == (4, 0)


def test_only_the_new_texts_are_embedded(library):
    embedded = library.embedder.passages
    before = len(embedded)
    backfill(library, Model()).work()
    assert len(embedded) - before == 2 * 5
    own = [text.split("\n\n", 1)[1] for text in embedded[before:]]
    assert all(text.startswith(("Context ", "What is ")) for text in own)


def test_a_document_that_is_read_again_gets_its_contexts_back_without_a_model(library, tmp_path):
    model = Model()
    backfill(library, model).work()
    documents = library.documents.list()
    known = {one.path: library.contexts.of_document(one.id)[0].answer for one in documents}
    library.catalog.documents.forget_attempt([one.id for one in library.documents.list()])
    assert sync(library).message.startswith("5 indexed")
    documents = library.documents.list()
    again = {one.path: library.contexts.of_document(one.id)[0].answer for one in documents}
    assert again == known
    assert paths(find(library, "keyword3", mode="keyword")) != []
    assert len(model.asked) == 5


def test_a_moved_file_keeps_its_contexts_and_a_copy_gets_them(library, tmp_path):
    model = Model()
    backfill(library, model).work()
    files = tmp_path / "files"
    (files / "notes/memo.md").rename(files / "moved.md")
    (files / "copy.md").write_bytes((files / "handbook/login.md").read_bytes())
    make_older(files)
    sync(library)
    assert library.contexts.status().counts == ContextCounts(complete=6)
    assert len(model.asked) == 5


def test_a_changed_document_waits_anew(library, tmp_path):
    model = Model()
    backfill(library, model).work()
    write_files(tmp_path / "files", {"notes/garten.txt": "Die Rosen brauchen Schnitt.\n"})
    make_older(tmp_path / "files", 30)
    sync(library)
    assert library.contexts.status().counts == ContextCounts(pending=1, complete=4)
    backfill(library, model).work()
    assert model.asked[-1].chunk_text.startswith("Die Rosen")


def test_a_rejected_answer_is_tried_once_more_and_fails_alone(library):
    refused = ContextRejectedError("The model refused.", "Try another model.", "refusal")

    def write(request):
        if request.document_title == "Refunds":
            raise refused
        return WrittenContext("Fine.", (), (), "", None, 1, 0.1, truncated=False)

    model = Model(write=write)
    work = backfill(library, model)
    assert work.work() is True
    state = library.contexts.status()
    assert state.counts == ContextCounts(complete=4, failed=1)
    assert state.last_error == "The model refused. Try another model."
    assert (work.done, work.failed, len(model.asked)) == (4, 2, 6)
    record = next(one for one in library.documents.list() if one.title == "Refunds")
    failed = library.contexts.of_document(record.id)[0]
    assert (failed.status, failed.attempts, failed.answer.model) == (
        ContextStatus.FAILED,
        2,
        "small:3b",
    )


def test_a_passing_failure_is_tried_three_times(library):
    slow = OllamaTimeoutError("It took too long.")
    model = Model(*[slow] * 3)
    backfill(library, model).work()
    assert library.contexts.status().counts == ContextCounts(complete=5)
    again = Model(*[slow] * 100)
    for record in library.documents.list():
        do(library, "regenerate_contexts", document_id=record.id)
    backfill(library, again).work()
    assert library.contexts.status().counts.failed == 5


def test_failed_ones_are_retried_when_a_person_asks(library):
    never = ContextRejectedError("Empty.", "", "empty")
    backfill(library, Model(*[never] * 99)).work()
    assert library.contexts.status().counts.failed == 5
    assert do(library, "retry_contexts").message == "5 failed contexts will be tried again."
    assert library.contexts.status().counts == ContextCounts(pending=5)
    backfill(library, Model()).work()
    assert library.contexts.status().counts == ContextCounts(complete=5)
    record = library.contexts.of_document(library.documents.list()[0].id)[0]
    assert (record.attempts, record.error) == (3, "Empty.")


def test_when_ollama_goes_what_was_written_is_kept_and_found(library):
    gone = OllamaUnreachableError("Ollama does not answer.", "Start it.")
    with pytest.raises(OllamaUnreachableError):
        backfill(library, Model(None, None, gone)).work()
    assert library.contexts.status().counts == ContextCounts(pending=3, complete=2)
    assert find(library, "sprocket", mode="keyword").results
    assert library.contexts.status().last_error == ""
    backfill(library, Model()).work()
    assert library.contexts.status().counts == ContextCounts(complete=5)


def test_truncated_contexts_say_so_and_are_used(library):
    def write(_request):
        return WrittenContext("Half seen.", ("sprocket",), (), "", None, 1, 0.1, truncated=True)

    backfill(library, Model(write=write)).work()
    assert library.contexts.status().counts == ContextCounts(truncated=5)
    assert find(library, "sprocket", mode="keyword").results


def test_a_crash_between_answer_and_index_asks_the_model_nothing_twice(library, monkeypatch):
    model = Model()
    work = backfill(library, model)
    monkeypatch.setattr(Backfill, "flush", lambda self: None)
    work.work()
    assert library.contexts.status().counts.pending == 5
    monkeypatch.undo()
    other = Model()
    assert backfill(library, other).work() is True
    assert (len(model.asked), len(other.asked)) == (5, 0)
    assert library.contexts.status().counts == ContextCounts(complete=5)


def test_batches_are_indexed_by_number_and_by_time(library):
    versions = []

    def write(request):
        versions.append(library.catalog.collections.get("default").version)
        return WrittenContext("Fine.", (), (), "", None, 1, 0.1, truncated=False)

    backfill(library, Model(write=write), throttle=Throttle(batch=2)).work()
    assert [one - versions[0] for one in versions] == [0, 0, 1, 1, 2]
    for record in library.documents.list():
        do(library, "regenerate_contexts", document_id=record.id)
    versions.clear()
    backfill(library, Model(write=write), throttle=Throttle(batch_seconds=0)).work()
    assert [one - versions[0] for one in versions] == [0, 1, 2, 3, 4]


def test_the_collection_that_a_person_wants_comes_first(library, tmp_path):
    make_older(write_files(tmp_path / "more", {"a.md": "# A\n\nOther words.\n"}))
    add(library, tmp_path / "more", "other")
    newest = library.documents.list("other")[0].id
    library.contexts.pause()
    library.contexts.prioritize("default")
    assert not library.contexts.status().paused
    model = Model()
    assert backfill(library, model).work() is True
    assert [one.document_title for one in model.asked][-1] == "A"
    assert len(model.asked) == 6
    model.asked.clear()
    # The wish is over when nothing of that collection waits.
    for record in (*library.documents.list("default"), *library.documents.list("other")):
        do(library, "regenerate_contexts", document_id=record.id)
    backfill(library, model).work()
    assert (model.asked[0].document_title, len(model.asked)) == ("A", 6)
    assert library.documents.list("other")[0].id == newest
    with pytest.raises(NotFoundError):
        library.contexts.prioritize("nowhere")


def test_a_wish_that_comes_to_nothing_keeps_nobody_waiting(library, tmp_path, monkeypatch):
    make_older(write_files(tmp_path / "more", {"a.md": "# A\n\nOther words.\n"}))
    add(library, tmp_path / "more", "other")
    monkeypatch.setattr(
        "ragkit.background.contexts.open_document",
        lambda catalog, one: (
            None
            if catalog.documents.get(one).collection == "default"
            else open_document(catalog, one)
        ),
    )
    library.contexts.prioritize("default")
    model = Model()
    assert backfill(library, model).work() is True
    assert [one.document_title for one in model.asked] == ["A"]


def test_a_wish_is_heeded_after_the_chunk_at_hand(library, tmp_path):
    make_older(write_files(tmp_path / "more", {"a.md": "# A\n\nOther words.\n"}))
    add(library, tmp_path / "more", "other")

    def write(_request):
        if len(model.asked) == 2:
            library.contexts.prioritize("default")
        return WrittenContext("Fine.", (), (), "", None, 1, 0.1, truncated=False)

    library.contexts.prioritize("other")
    model = Model(write=write)
    backfill(library, model).work()
    assert [one.document_title for one in model.asked].index("A") == 0
    assert library.contexts.status().counts == ContextCounts(complete=6)


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


def test_found_documents_come_first_then_the_newest(library):
    library.contexts.note_hits(find(library, "Tomaten", mode="keyword"))
    model = Model()
    backfill(library, model).work()
    assert model.asked[0].chunk_text.startswith("Die Tomaten")
    assert not RecentHits(library.paths).waiting
    newest = sorted(library.documents.list(), key=lambda one: one.changed_at, reverse=True)
    titles = [one.title for one in newest if one.path != "notes/garten.txt"]
    assert [one.document_title for one in model.asked[1:]] == titles


def test_notes_of_found_documents_are_bounded_and_never_fail(library):
    notes = RecentHits(library.paths)
    assert notes.take() == []
    notes.add([])
    assert not notes.waiting
    notes.add([3, 1])
    notes.add([2, 3])
    assert notes.take() == [2, 3, 1]
    for _ in range(5000):
        notes.add(range(100_000, 100_010))
    assert (library.paths.root / "found.txt").stat().st_size < 70_000
    (library.paths.root / "found.txt").write_text("not numbers\n\u0663 7\n", "utf-8")
    assert notes.take() == [7]


def test_a_pause_takes_effect_after_the_chunk_at_hand(library):
    def write(_request):
        library.contexts.pause()
        return WrittenContext("Fine.", (), (), "", None, 1, 0.1, truncated=False)

    assert backfill(library, Model(write=write)).work() is False
    assert library.contexts.status().counts == ContextCounts(pending=4, complete=1)
    assert library.contexts.status().phase is BackgroundPhase.PAUSED
    library.contexts.resume()
    assert not is_paused(library.catalog)
    assert backfill(library, Model()).work() is True


def test_a_stop_keeps_what_was_written(library):
    stopping = threading.Event()

    def write(_request):
        stopping.set()
        return WrittenContext("Fine.", (), (), "", None, 1, 0.1, truncated=False)

    assert backfill(library, Model(write=write), stopping=stopping).work() is False
    assert library.contexts.status().counts == ContextCounts(pending=4, complete=1)


def test_jobs_come_first(library):
    busy = iter([True, True, False])
    seen = []

    def is_busy():
        now = next(busy, False)
        seen.append(now)
        return now

    model = Model()
    assert backfill(library, model, busy=is_busy).work() is True
    assert seen[:3] == [True, True, False]
    assert len(model.asked) == 5


def test_a_rate_limit_spreads_the_calls(library):
    started = time.monotonic()
    backfill(library, Model(), throttle=Throttle(per_minute=600)).work()
    assert 0.4 <= time.monotonic() - started < 5


def test_an_idle_machine_is_waited_for(library, monkeypatch):
    load = iter([90.0, 90.0, 5.0])
    monkeypatch.setattr("psutil.cpu_percent", lambda interval: next(load, 5.0))
    model = Model()
    backfill(library, model, throttle=Throttle(only_when_idle=True)).work()
    assert len(model.asked) == 5
    assert next(load, None) is None


def test_a_document_changed_under_the_model_is_left_alone(library, tmp_path):
    changed = []

    def write(request):
        if request.document_title == "Refunds" and not changed:
            changed.append(True)
            name = "handbook/refunds.md"
            write_files(tmp_path / "files", {name: "# Refunds\n\nNone at all.\n"})
            make_older(tmp_path / "files", 30)
            sync(library)
        return WrittenContext(
            f"On {request.chunk_text[:20]!r}", (), (), "", None, 1, 0.1, truncated=False
        )

    assert backfill(library, Model(write=write)).work() is True
    record = next(one for one in library.documents.list() if one.title == "Refunds")
    stored = library.contexts.of_document(record.id)
    assert library.contexts.status().counts.pending == 0
    assert all("A customer" not in one.answer.context for one in stored.values())


def test_a_person_edits_a_context_and_it_stays(library):
    backfill(library, Model()).work()
    record = next(one for one in library.documents.list() if one.title == "Refunds")
    job = library.jobs.wait(library.contexts.edit(record.id, 0, "  About\nthe wombat. "))
    assert "is yours now" in job.message
    edited = library.contexts.of_document(record.id)[0]
    assert (edited.answer.context, edited.answer.model) == ("About the wombat.", BY_PERSON)
    assert edited.answer.keywords
    assert paths(find(library, "wombat", mode="keyword")) == ["handbook/refunds.md"]
    library.catalog.documents.forget_attempt([record.id])
    sync(library)
    assert library.contexts.of_document(record.id)[0].answer == edited.answer
    do(library, "regenerate_contexts", document_id=record.id, chunk_index=None)
    assert library.contexts.of_document(record.id)[0].answer == edited.answer


def test_an_edit_survives_a_new_version_of_its_document(tmp_path):
    chunking = {"words": 20, "overlap": 0, "min_words": 0}
    library = open_library(tmp_path / "library", chunking=chunking)
    text = "# Notes\n\n## Yes\n\nYes please, do that.\n\n## Later\n\nNot before {}.\n"
    for day in ("Monday", "Tuesday"):
        make_older(write_files(tmp_path / "files", {"a.md": text.format(day)}), len(day))
        add(library, tmp_path / "files")
        record = library.documents.list()[0]
        texts = {
            one.chunk.index: library.documents.get(record.id).text[one.chunk.start : one.chunk.end]
            for one in library.documents.get(record.id).chunks
        }
        index = next(index for index, own in texts.items() if "Yes please" in own)
        if day == "Monday":
            library.jobs.wait(library.contexts.edit(record.id, index, "Mine."))
    assert "Tuesday" in library.documents.get(record.id).text
    contexts = library.contexts.of_document(record.id)
    assert {n: one.answer.context for n, one in contexts.items()} == {index: "Mine."}
    library.close()


def test_regenerating_a_chunk_asks_the_model_even_for_a_persons_words(library):
    backfill(library, Model()).work()
    record = next(one for one in library.documents.list() if one.title == "Refunds")
    library.jobs.wait(library.contexts.edit(record.id, 0, "Mine."))
    job = library.jobs.wait(library.contexts.regenerate(record.id, 0))
    assert job.message == "1 context of handbook/refunds.md will be written anew."
    assert library.contexts.of_document(record.id)[0].answer.context == "Mine."
    model = Model()
    backfill(library, model).work()
    assert len(model.asked) == 1
    assert library.contexts.of_document(record.id)[0].answer.context == "Context 1 of Refunds."


def test_regenerating_a_document_does_not_take_the_old_answer(library):
    backfill(library, Model()).work()
    record = library.documents.list()[0]
    library.jobs.wait(library.contexts.regenerate(record.id))
    model = Model()
    backfill(library, model).work()
    assert len(model.asked) == library.documents.get(record.id).record.chunks


def test_asking_for_what_is_not_there_is_an_error(library):
    arguments = {"document_id": 1, "chunk_index": 99, "text": "x"}
    with pytest.raises(NotFoundError, match="has no chunk 100"):
        edit_context(library.writer(), arguments, Reporter())
    job = library.jobs.wait(library.contexts.regenerate(999))
    assert job.state.value == "failed"
    assert open_document(library.catalog, 999) is None


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
    until = time.monotonic() + 20
    while time.monotonic() < until:
        state = read_context_state(library.catalog)
        seen.add((state.phase, state.message))
        if state.phase is BackgroundPhase.DONE:
            break
        time.sleep(0.02)
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


def _worked(library, stopping, until):
    worker = Worker(library.writer(), stopping=stopping)
    thread = threading.Thread(target=worker.run, kwargs={"watch": False})
    thread.start()
    deadline = time.monotonic() + 30
    while not until() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert until()
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
        until = time.monotonic() + 30
        while library.contexts.status().counts.pending and time.monotonic() < until:
            time.sleep(0.05)
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
    own = library.paths.prompts(library.collections.list()[0].id)
    own.mkdir(parents=True)
    form = "Short!\n=====\n{{document}}\n{{passage}}"
    (own / "document.txt").write_text(form, "utf-8")
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
            until = time.monotonic() + 60
            while time.monotonic() < until and victim.poll() is None:
                done = library.catalog.contexts.counts()
                if not done.pending if last else len(server.asked("/api/chat")) >= wanted:
                    break
                time.sleep(0.005)
            victim.send_signal(signal.SIGKILL)
            victim.wait()
        asked = Counter(passage_of(one.body["messages"]) for one in server.asked("/api/chat"))
    return library, total, asked


def test_killed_workers_lose_no_context_and_repeat_only_the_chunk_at_hand(tmp_path):
    kills = int(os.environ.get("RAGKIT_TEST_KILLS", "4"))
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
