"""Jobs about contexts: edit one, write some again, retry; and contexts that come back."""

from __future__ import annotations

import pytest
from context_library import Model, backfill
from small_library import (
    add,
    do,
    find,
    make_older,
    open_library,
    paths,
    sync,
    write_files,
)

from ragkit.background.context_entries import open_document
from ragkit.background.context_jobs import edit_context
from ragkit.catalog.context_records import BY_PERSON, ContextCounts
from ragkit.errors import (
    ContextRejectedError,
    NotFoundError,
)
from ragkit.indexing.progress import Reporter


def test_a_document_that_is_read_again_gets_its_contexts_back_without_a_model(library, tmp_path):
    model = Model()
    backfill(library, model).work()
    documents = library.documents.list()
    known = {one.path: library.contexts.of_document(one.id)[0].answer for one in documents}
    library.catalog.files.forget_attempt([one.id for one in library.documents.list()])
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


def test_a_person_edits_a_context_and_it_stays(library):
    backfill(library, Model()).work()
    record = next(one for one in library.documents.list() if one.title == "Refunds")
    job = library.jobs.wait(library.contexts.edit(record.id, 0, "  About\nthe wombat. "))
    assert "was edited" in job.message
    edited = library.contexts.of_document(record.id)[0]
    assert (edited.answer.context, edited.answer.model) == ("About the wombat.", BY_PERSON)
    assert edited.answer.keywords
    assert paths(find(library, "wombat", mode="keyword")) == ["handbook/refunds.md"]
    library.catalog.files.forget_attempt([record.id])
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
    assert job.message == "1 context of handbook/refunds.md will be regenerated."
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
