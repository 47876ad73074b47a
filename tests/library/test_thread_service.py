"""Threads of a library: what was quoted stays, and says whether the documents still say it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_library import HANDBOOK, add, do, open_library, sync, write_files

import ragkit
from ragkit.answering.sentences import sentences_of
from ragkit.answers import AnswerSentence, AnswerState, Source, Turn, WrittenAnswer
from ragkit.errors import NotFoundError
from ragkit.library import Library


@pytest.fixture
def library(tmp_path):
    opened = open_library(tmp_path / "library")
    add(opened, write_files(tmp_path / "files", HANDBOOK))
    yield opened
    opened.close()


def quoted(library: Library, words: str = "refund within thirty days") -> tuple[Source, ...]:
    result = library.search(words, limit=1).results[0]
    sources = tuple(sentences_of(result.passages[0], result.document))
    assert len(sources) > 1
    return sources


def kept(library: Library, sources: tuple[Source, ...], **changes: object) -> Turn:
    web = Source("Elsewhere.", 0, 9, url="https://a.example", title="A page")
    written = WrittenAnswer(
        "how long?", "m", AnswerState.DONE, (AnswerSentence("Thirty.", (1,)),), (*sources, web)
    )
    thread = library.threads.begin("how long?", ["default"])
    turn = Turn("how long?", "how long?", sources[:1], replace(written, **changes), at=5.0)
    return library.threads.add(thread.id, turn)


def only_turn(library: Library) -> Turn:
    (summary,) = library.threads.list()
    (turn,) = library.threads.get(summary.id).turns
    return turn


def test_a_turn_is_the_same_while_its_documents_are(library):
    turn = kept(library, quoted(library))
    assert turn.id
    assert only_turn(library) == turn


def test_a_thread_is_over_collections_that_there_are(library):
    library.collections.add("travel")
    assert library.threads.begin("why?", "travel").collections == ("travel",)
    assert library.threads.begin("why?", ("travel", "default")).collections == (
        "travel",
        "default",
    )
    for names in ("nowhere", ["default", "nowhere"]):
        with pytest.raises(NotFoundError, match='no collection "nowhere"'):
            library.threads.begin("why?", names)


def test_only_what_changed_says_so(library, tmp_path):
    sources = quoted(library)
    turn = kept(library, sources)
    place = tmp_path / "files" / sources[0].document.path
    text = place.read_text("utf-8")
    assert text.count(sources[1].text) == 1
    place.write_text(text.replace(sources[1].text, sources[1].text.upper()), "utf-8")
    sync(library)
    changed = [source.changed for source in only_turn(library).written.sources]
    assert changed == [at == 1 for at in range(len(sources) + 1)]
    # What was kept before and is put back has no such mark in the catalog.
    library.threads.replace(only_turn(library))
    place.write_text(text, "utf-8")
    sync(library)
    assert only_turn(library) == turn


def test_a_document_that_was_deleted_and_put_back_has_not_changed(library, tmp_path):
    turn = kept(library, quoted(library))
    document = turn.quick[0].document
    place = tmp_path / "files" / document.path
    text = place.read_text("utf-8")
    place.unlink()
    sync(library)
    assert only_turn(library).quick[0].changed
    place.write_text(text, "utf-8")
    sync(library)
    (source,) = only_turn(library).quick
    [now] = [one for one in library.documents.list() if one.path == document.path]
    assert now.id != document.id
    assert source == replace(turn.quick[0], document=replace(document, id=now.id))
    assert not any(one.changed for one in only_turn(library).written.sources)
    place.write_text(text.upper(), "utf-8")
    sync(library)
    assert only_turn(library).quick[0].changed


def test_an_answer_is_kept_with_the_question_that_it_answers(library):
    turn = kept(library, quoted(library))
    late = replace(turn.written, state=AnswerState.CANCELLED)
    library.threads.keep_written(replace(turn, written=late))
    assert only_turn(library) == replace(turn, written=late)
    edited = replace(turn, asked="how long for buoys?", written=None)
    library.threads.replace(edited)
    library.threads.keep_written(turn)
    assert only_turn(library) == edited
    library.threads.delete(library.threads.list()[0].id)
    library.threads.keep_written(turn)
    assert library.threads.list() == []


def test_a_thread_outlives_its_collection(library):
    sources = quoted(library)
    turn = kept(library, sources)
    library.collections.add("empty")
    do(library, "remove_collection", collection="default")
    assert library.collections.find("default") is None
    found = only_turn(library)
    assert [one.changed for one in found.written.sources] == [*[True] * len(sources), False]
    assert replace(found.quick[0], changed=False) == turn.quick[0]
    assert library.threads.get(library.threads.list()[0].id).collections == ("default",)


def test_an_answer_that_nobody_finished_counts_as_cancelled(library):
    kept(library, quoted(library), state=AnswerState.WRITING, unfinished="Thir")
    written = only_turn(library).written
    assert (written.state, written.unfinished) == (AnswerState.CANCELLED, "Thir")


def test_deleting_can_be_taken_back(library):
    kept(library, quoted(library))
    (summary,) = library.threads.list()
    thread = library.threads.delete(summary.id)
    assert library.threads.list() == []
    library.threads.restore(thread)
    assert library.threads.list() == [summary]
    assert library.threads.get(thread.id) == thread


def test_without_a_history_pages_keep_none_by_themselves(tmp_path):
    with ragkit.open(tmp_path / "a", create=True) as usual:
        assert usual.threads.kept
    with ragkit.open(tmp_path / "b", create=True, search_history=False) as without:
        assert not without.threads.kept


def test_an_archive_has_the_threads(library, tmp_path):
    from ragkit.health.archive_import import import_library

    turn = kept(library, quoted(library))
    report = library.export(tmp_path / "all.zip")
    assert report.notes == ("It includes 1 kept thread of questions and answers.",)
    import_library(tmp_path / "all.zip", tmp_path / "other", library.settings)
    with open_library(tmp_path / "other", create=False) as other:
        assert only_turn(other) == turn


def test_a_follow_up_is_rewritten_by_the_model_of_the_settings_or_by_rules(tmp_path, server):
    models = {"embedder": "hash", "ollama_url": server.url, "context_model": "own:1b"}
    server.models["own:1b"] = server.models["llama3.2:3b"]
    server.reply = lambda _messages: '{"question": "How long may a faulty buoy be returned?"}'
    with open_library(tmp_path / "library", models=models) as library:
        for name in ("default", "gone"):
            library.collections.add(name)
        thread = library.threads.begin("How long may a buoy be returned?", ["default", "gone"])
        do(library, "remove_collection", collection="gone")
        library.threads.add(thread.id, Turn(thread.title, thread.title))
        thread = library.threads.get(thread.id)
        found = library.answers.follow_up(thread, "and faulty ones?")
        assert (found.rewritten, found.model) == (
            "How long may a faulty buoy be returned?",
            "own:1b",
        )
        found = library.answers.follow_up(thread, "and faulty ones?", model=None)
        assert (found.rewritten, found.model) == (f"{thread.title[:-1]}, faulty ones?", "")
        assert len(server.asked("/api/chat")) == 1
