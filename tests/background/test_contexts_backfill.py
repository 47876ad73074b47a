"""The backfill: every chunk gets its context once, whatever happens meanwhile."""

from __future__ import annotations

import threading
import time

import pytest
from context_library import Model, backfill
from small_library import (
    add,
    do,
    find,
    make_older,
    sync,
    write_files,
)

from ragkit.background.context_entries import open_document
from ragkit.background.contexts import Backfill, Throttle
from ragkit.catalog.background_state import (
    BackgroundPhase,
    RecentHits,
    is_paused,
)
from ragkit.catalog.context_records import ContextCounts, ContextStatus
from ragkit.errors import (
    ContextRejectedError,
    NotFoundError,
    OllamaTimeoutError,
    OllamaUnreachableError,
)
from ragkit.indexing.writer import writer_lock
from ragkit.models.context_checks import WrittenContext


def test_every_chunk_gets_a_context_once(library):
    model = Model()
    assert backfill(library, model).work() is True
    counts = library.contexts.status().counts
    assert counts == ContextCounts(complete=library.documents.counts().chunks)
    assert len(model.asked) == counts.complete == 5
    assert backfill(library, model).work() is True
    assert len(model.asked) == 5


def test_what_is_indexed_is_no_longer_said_to_be_ready(library):
    seen = []

    def write(request):
        # Reports come once a second at most: without the wait the first one would still stand.
        time.sleep(0.6)
        state = library.contexts.status()
        seen.append((state.counts.complete, state.ready))
        return WrittenContext("Something.", (), (), {}, 1, 0.1, truncated=False)

    with writer_lock(library.paths.lock, "worker"):
        backfill(library, Model(write=write), throttle=Throttle(batch=2)).work()
    assert len(seen) == 5
    # Two are indexed before the third is asked for, and four before the fifth.
    assert seen[2] == (2, 0)
    assert seen[4] == (4, 0)


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
        return WrittenContext("Fine.", (), (), {}, 1, 0.1, truncated=False)

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
        return WrittenContext("Half seen.", ("sprocket",), (), {}, 1, 0.1, truncated=True)

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
        versions.append(library.catalog.collections.get("default").version.number)
        return WrittenContext("Fine.", (), (), {}, 1, 0.1, truncated=False)

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
        return WrittenContext("Fine.", (), (), {}, 1, 0.1, truncated=False)

    library.contexts.prioritize("other")
    model = Model(write=write)
    backfill(library, model).work()
    assert [one.document_title for one in model.asked].index("A") == 0
    assert library.contexts.status().counts == ContextCounts(complete=6)


def test_a_pause_takes_effect_after_the_chunk_at_hand(library):
    def write(_request):
        library.contexts.pause()
        return WrittenContext("Fine.", (), (), {}, 1, 0.1, truncated=False)

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
        return WrittenContext("Fine.", (), (), {}, 1, 0.1, truncated=False)

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
    assert 0.4 <= time.monotonic() - started < 30


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
            f"On {request.chunk_text[:20]!r}", (), (), {}, 1, 0.1, truncated=False
        )

    assert backfill(library, Model(write=write)).work() is True
    record = next(one for one in library.documents.list() if one.title == "Refunds")
    stored = library.contexts.of_document(record.id)
    assert library.contexts.status().counts.pending == 0
    assert all("A customer" not in one.answer.context for one in stored.values())


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
