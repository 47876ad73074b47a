"""Moving a library to another embedder: the old one answers till the new one is whole."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from ollama_stand_in import EMBEDDER, WRITER, Model
from small_library import HANDBOOK, add, find, paths, sync, without_times, write_files
from support import until as until_

from ragkit.background.vectors import EmbedderMigration
from ragkit.catalog.background_state import BackgroundPhase
from ragkit.errors import NotFoundError, SettingsError
from ragkit.health.findings import Depth
from ragkit.indexes.protocol import IndexKind, IndexQuery
from ragkit.library import Library
from ragkit.models.factory import open_named
from ragkit.settings import load_settings

until = partial(until_, seconds=60.0)

NAME = f"ollama:{EMBEDDER}"
QUESTIONS = ("refund within thirty days", "OAuth token", "Tomaten im Sommer", "検索システム")
_VICTIM = Path(__file__).with_name("embedder_victim.py")


@pytest.fixture
def opened(tmp_path, server):
    """Open the library as processes do, one after the other or side by side."""
    made = []

    def make(**models):
        given = {
            "embedder": "hash",
            "ollama_url": server.url,
            "query_seconds": 1.0,
            "embed_seconds": 5.0,
            "contexts": False,
            **models,
        }
        settings = load_settings(
            library=tmp_path / "library", models=given, reading={"processes": 1}
        )
        made.append(Library.open(settings, create=True))
        return made[-1]

    yield make
    for library in made:
        library.close()


@pytest.fixture
def library(opened, tmp_path):
    made = opened()
    add(made, write_files(tmp_path / "files", HANDBOOK))
    return made


def embedded(server):
    """How often each passage was embedded; not the word that is tried first."""
    given = [one.body["input"] for one in server.asked("/api/embed")]
    texts = [text for one in given for text in ([one] if isinstance(one, str) else one)]
    passages = [text for text in texts if text.startswith("search_document: ")]
    return Counter(text for text in passages if text != "search_document: ragkit")


def with_models(library, **models):
    """The same library with other settings of models."""
    changed = library.settings.models.model_copy(update=models)
    settings = library.settings.model_copy(update={"models": changed})
    return Library(settings, library.paths, library.catalog)


def answers(library, **options):
    return [without_times(find(library, question, **options)) for question in QUESTIONS]


def texts_of(library):
    return library.catalog.connections.row("SELECT COUNT(DISTINCT text_hash) FROM entries")[0]


def fingerprint(library):
    return library.catalog.embedders.choice().active.fingerprint


def test_the_old_embedder_answers_until_the_new_one_is_whole(library, opened, server):
    before = answers(library)
    reader = opened()
    assert answers(reader) == before
    assert NAME in library.embedders.choose("ollama:nomic-embed-text")
    state = library.embedders.status()
    assert (state.active, state.target, state.waiting) == ("hash", NAME, 0)
    assert (state.done, state.total) == (0, texts_of(library))
    assert answers(reader) == before
    assert library.embedders.embed_missing() == ""
    state = library.embedders.status()
    assert (state.active, state.previous, state.target) == (NAME, "hash", "")
    assert (state.done, state.total, state.waiting) == (0, 0, 0)
    assert set(embedded(server).values()) == {1}
    assert len(embedded(server)) == texts_of(library)
    # A reader that was open all the time asks the new vectors at its next search.
    asked = len(server.asked("/api/embed"))
    found = find(reader, "refund within thirty days", mode="vector")
    assert len(server.asked("/api/embed")) > asked
    wanted = open_named(NAME, reader.settings.models).embed_queries(["refund within thirty days"])[
        0
    ]
    index = reader.indexes.current(reader.collections.list()[0])
    nearest = index.search([IndexQuery(vector=wanted)]).candidates(IndexKind.VECTOR, 1)
    assert found.results[0].document.id == nearest.document_ids[0]
    assert index.vector_entries == index.entries
    assert reader.embedder.dimensions == 32
    assert all(one.ok for one in library.health.verify()), library.health.verify()


def test_going_back_costs_nothing(library, opened, server):
    before = answers(library)
    reader = opened()
    library.embedders.choose(NAME)
    library.embedders.embed_missing()
    assert answers(reader) != before
    embedded_so_far = embedded(server)
    assert library.embedders.choose("hash") == "hash is in use again; nothing had to be embedded."
    assert library.embedders.status().active == "hash"
    assert answers(reader) == answers(library) == before
    assert "is in use again" in library.embedders.revert()
    assert library.embedders.status().active == NAME
    assert library.embedders.embed_missing() == ""
    assert embedded(server) == embedded_so_far
    # Nor did changing anything make a file be read again.
    assert sync(library).message == "Nothing new, 5 unchanged."


def test_going_back_says_what_the_previous_one_has_not_embedded(library, tmp_path):
    library.embedders.choose(NAME)
    library.embedders.embed_missing()
    add(library, write_files(tmp_path / "later", {"new.md": "One more text."}))
    assert library.embedders.revert() == (
        "hash is in use again; still to embed: 1 text, found by keyword only until then."
    )
    assert library.embedders.status().waiting == 1
    assert library.embedders.embed_missing() == ""
    assert library.embedders.status().waiting == 0


def test_an_embedder_whose_vectors_are_kept_answers_beside_the_one_of_now(library, tmp_path):
    before = answers(library)
    assert library.embedders.complete() == ["hash"]
    with pytest.raises(NotFoundError, match=f"texts have no vector of {NAME}"):
        library.services(NAME)
    library.embedders.choose(NAME)
    library.embedders.embed_missing()
    now = answers(library)
    assert library.embedders.complete() == [NAME, "hash"]
    asked = [library.services("hash").engine.search(one, library.options()) for one in QUESTIONS]
    assert [without_times(one) for one in asked] == before
    assert library.services("hash") is library.services("hash")
    assert library.services("") is library.services(NAME) is library.services()
    assert answers(library) == now
    add(library, write_files(tmp_path / "later", {"new.md": "# Later\n\nOne more text."}))
    assert library.embedders.complete() == [NAME]
    with pytest.raises(NotFoundError, match="Library page"):
        library.services("hash")


def test_what_arrives_meanwhile_has_both_vectors_when_it_switches(library, server, tmp_path):
    library.embedders.choose(NAME)
    migration = EmbedderMigration(library.writer())
    real = library.catalog.embedders.switch
    arrived = []

    def switch(*arguments):
        if not arrived:
            arrived.append("late.md")
            write_files(tmp_path / "files", {"late.md": "# Late\n\nThe zeppelin was delayed.\n"})
            sync(library)
        return real(*arguments)

    library.catalog.embedders.switch = switch
    migration.work()
    assert library.embedders.status().active == NAME
    assert set(embedded(server).values()) == {1}
    assert any("zeppelin" in text for text in embedded(server))
    late = next(one.id for one in library.documents.list() if one.path == "late.md")
    for name in ("hash", NAME):
        number = library.catalog.embedders.newest_named(name).id
        assert library.catalog.vectors.texts_missing(late, number) == set()
    index = library.indexes.current(library.collections.list()[0])
    assert index.vector_entries == index.entries


def test_it_pauses_goes_on_and_stops_when_told(library, server):
    library = with_models(library, embed_texts=2)
    library.embedders.choose(NAME)
    pauses = []

    def watch(progress):
        if not pauses:
            pauses.append(progress.done)
            library.embedders.pause()

    library.embedders.embed_missing(watch)
    assert library.embedders.status().phase is BackgroundPhase.PAUSED
    assert library.embedders.status().done == pauses[0] == 2
    library.embedders.resume()
    library.embedders.cancel()
    library.embedders.embed_missing()
    assert (library.embedders.status().active, len(embedded(server))) == ("hash", 2)
    library.embedders.choose(NAME)
    assert library.embedders.status().done == 2
    library.embedders.embed_missing()
    assert library.embedders.status().active == NAME
    assert set(embedded(server).values()) == {1}


def _start(place, server):
    return subprocess.Popen([sys.executable, str(_VICTIM), str(place), server.url])


def test_a_killed_worker_repeats_no_more_than_its_batch(opened, server, tmp_path):
    files = {
        f"{n:02}.md": f"# File {n}\n\nThe lighthouse {n} blinks {n} times.\n" for n in range(20)
    }
    library = opened()
    add(library, write_files(tmp_path / "files", files))
    before = answers(library)
    server.delay = 0.05
    library.embedders.choose(NAME)
    total = texts_of(library)
    kills = 0
    for share in (0.2, 0.5):
        worker = _start(library.paths.root, server)
        until(lambda least=share * total: len(embedded(server)) >= least)
        worker.kill()
        worker.wait(10)
        kills += 1
        assert answers(library) == before
        assert library.embedders.status().active == "hash"
    server.delay = 0.0
    worker = _start(library.paths.root, server)
    until(lambda: library.embedders.status().active == NAME)
    worker.terminate()
    worker.wait(20)
    assert len(embedded(server)) == total
    assert sum(embedded(server).values()) <= total + kills * 4
    assert library.health.verify()[0].sentence.startswith(f"Every entry has a vector of {NAME}")


def test_ollama_dying_in_the_middle_stops_nothing(library, server):
    before = answers(library)
    library = with_models(library, embed_texts=2, retries=0)
    library.embedders.choose(NAME)
    done = []

    def die(progress):
        done.append(progress.done)
        if len(done) == 2:
            server.stop()

    try:
        said = library.embedders.embed_missing(die)
    finally:
        server.start()
    assert "Ollama" in said
    state = library.embedders.status()
    assert (state.active, state.target, state.done) == ("hash", NAME, done[-1])
    assert answers(library) == before
    assert library.embedders.embed_missing() == ""
    assert library.embedders.status().active == NAME
    assert set(embedded(server).values()) == {1}


@pytest.mark.parametrize(("failure", "word"), [("nan", "invalid numbers"), ("zeros", "zeros")])
def test_a_model_that_makes_no_vectors_is_waited_for(library, server, failure, word):
    before = answers(library)
    library.embedders.choose(NAME)
    server.failure = failure
    assert word in library.embedders.embed_missing()
    assert library.embedders.status().active == "hash"
    assert answers(library) == before
    server.failure = ""
    assert library.embedders.embed_missing() == ""
    assert library.embedders.status().active == NAME


def test_one_text_without_a_vector_does_not_hold_up_the_others(library, server, monkeypatch):
    import ollama_stand_in

    real = ollama_stand_in.spoilt_vectors

    def spoilt(failure, vectors):
        texts = server.requests[-1].body["input"]
        bad = [[float("nan")] * len(one) if "Gift" in text else one
               for one, text in zip(vectors, texts, strict=True)]  # fmt: skip
        return real(failure, bad)

    monkeypatch.setattr(ollama_stand_in, "spoilt_vectors", spoilt)
    library.embedders.choose(NAME)
    assert library.embedders.embed_missing() == ""
    assert library.embedders.status().active == NAME
    assert paths(find(library, "gift cards"))[0] == "handbook/refunds.md"


def test_vectors_of_another_length_never_join(library, server):
    library.embedders.choose(NAME)
    library.embedders.embed_missing()
    server.dimensions = 16
    answer = find(library, "refund within thirty days")
    assert paths(answer)[0] == "handbook/refunds.md"
    [notice] = answer.notices
    assert notice.startswith("These results are by words alone: ")
    assert "16 dimensions instead of 32" in notice or "another version" in notice
    server.dimensions = 32
    until(lambda: find(library, "refund within thirty days").notices == ())


def test_a_model_that_was_replaced_is_said_and_can_be_embedded_anew(library, opened, server):
    library.embedders.choose(NAME)
    library.embedders.embed_missing()
    first = fingerprint(library)
    server.models[EMBEDDER].digest = "d" * 64
    reader = opened()
    answer = find(reader, "OAuth token")
    assert paths(answer)[0] == "handbook/login.md"
    assert "another version" in answer.notices[0]
    assert f"ragkit embedder {NAME}" in answer.notices[0]
    assert f"the new version of {NAME}" in reader.embedders.choose(NAME)
    assert reader.embedders.embed_missing() == ""
    assert fingerprint(reader) != first
    assert find(reader, "OAuth token").notices == ()


def test_an_ollama_that_is_away_costs_a_search_its_meaning_only(library, server):
    library.embedders.choose(NAME)
    library.embedders.embed_missing()
    by_words = [one["results"] for one in answers(library, mode="keyword")]
    server.stop()
    try:
        started = time.monotonic()
        found = [find(library, question) for question in QUESTIONS]
        assert time.monotonic() - started < 6.0
        assert [without_times(one)["results"] for one in found] == by_words
        assert all("Ollama does not answer" in one.notices[0] for one in found)
        assert "words alone" in found[0].trace.stages[0].note
        assert paths(find(library, "OAuth token", mode="vector"))[0] == "handbook/login.md"
    finally:
        server.start()
    until(lambda: find(library, "refund again").notices == ())


def test_an_ollama_that_hangs_holds_up_one_search_only(library, server):
    library.embedders.choose(NAME)
    library.embedders.embed_missing()
    find(library, "warm")
    server.delay = 0.8
    library.engine._encoder._embedder._longest = 0.2
    took = []
    for question in QUESTIONS:
        started = time.monotonic()
        answer = find(library, question)
        took.append(time.monotonic() - started)
        assert answer.notices[0].startswith("These results are by words alone: ")
    assert min(took) < 0.2, took
    server.delay = 0.0
    until(lambda: find(library, "refund again").notices == ())


def test_documents_are_stored_while_ollama_is_away_and_get_their_vectors_later(
    library, opened, server, tmp_path
):
    library.embedders.choose(NAME)
    library.embedders.embed_missing()
    reader = opened()
    find(reader, "zeppelin")
    new = {"late.md": "# Late\n\nThe zeppelin was delayed.\n\n## Why\n\nFog over the lake.\n"}
    write_files(tmp_path / "files", new)
    server.stop()
    try:
        assert "1 indexed" in sync(library).message
        assert paths(find(reader, "zeppelin"))[0] == "late.md"
        assert library.embedders.status().waiting == 1
        [finding] = [one for one in library.health.check(Depth.GLANCE) if one.name == "embedder"]
        assert not finding.ok
        assert finding.sentence.startswith("1 document waiting for vectors of ollama:nomic")
        assert "Ollama does not answer" in finding.sentence
    finally:
        server.start()
    assert library.embedders.embed_missing() == ""
    assert library.embedders.status().waiting == 0
    assert set(embedded(server).values()) == {1}
    until(lambda: find(reader, "zeppelin once more").notices == ())
    index = reader.indexes.current(reader.collections.list()[0])
    assert index.vector_entries == index.entries
    assert [one for one in library.health.verify() if not one.ok] == []


def test_settings_that_name_an_absent_ollama_begin_with_the_built_in_one(opened, server, tmp_path):
    server.stop()
    try:
        library = opened(embedder="ollama:nomic-embed-text")
        add(library, write_files(tmp_path / "files", HANDBOOK))
        assert paths(find(library, "refund within thirty days"))[0] == "handbook/refunds.md"
        state = library.embedders.status()
        assert (state.active, state.target) == ("wordllama", NAME)
    finally:
        server.start()
    assert library.embedders.embed_missing() == ""
    assert library.embedders.status().active == NAME


def test_settings_that_name_a_present_ollama_begin_with_it(opened, server, tmp_path):
    library = opened(embedder="ollama:nomic-embed-text")
    add(library, write_files(tmp_path / "files", HANDBOOK))
    state = library.embedders.status()
    assert (state.active, state.target, state.waiting) == (NAME, "", 0)
    assert set(embedded(server).values()) == {1}
    index = library.indexes.current(library.collections.list()[0])
    assert index.vector_entries == index.entries > 0


def test_what_can_be_chosen(library, server):
    server.models["all-minilm:latest"] = Model(("embedding",), 512, 45_000_000, "e" * 64)
    offers = library.embedders.offers()
    names = {one.name: (one.size, one.lacking == 0, one.active) for one in offers.offers}
    assert names == {
        "wordllama": (0, False, False),
        "hash": (0, True, True),
        NAME: (274_302_450, False, False),
        "ollama:all-minilm:latest": (45_000_000, False, False),
    }
    assert library.embedders.estimate(NAME) > 0
    with pytest.raises(NotFoundError, match="no embedding model llama3"):
        library.embedders.choose(f"ollama:{WRITER}")
    with pytest.raises(SettingsError, match="Unknown embedding model"):
        library.embedders.choose("magic")
    with pytest.raises(NotFoundError, match="no previous embedding model"):
        library.embedders.revert()
    server.stop()
    try:
        offers = library.embedders.offers()
        assert [one.name for one in offers.offers] == ["wordllama", "hash"]
        assert "Ollama does not answer" in offers.trouble
    finally:
        server.start()


def test_the_worker_indexes_new_files_while_it_moves(library, server, tmp_path):
    from ragkit.background.worker import Worker

    server.delay = 0.3
    library = with_models(library, embed_texts=1)
    worker = Worker(library.writer())
    thread = threading.Thread(target=worker.run, kwargs={"watch": False}, daemon=True)
    thread.start()
    try:
        library.embedders.choose(NAME)
        until(lambda: len(embedded(server)) >= 2)
        write_files(tmp_path / "files", {"new.md": "# New\n\nA quokka smiles.\n"})
        job = library.jobs.wait(library.jobs.add("sync"))
        assert "1 indexed" in job.message
        assert library.embedders.status().target == NAME
        assert paths(find(library, "quokka"))[0] == "new.md"
        server.delay = 0.0
        until(lambda: library.embedders.status().active == NAME)
    finally:
        worker.stopping.set()
        thread.join(30)
    assert not thread.is_alive()


def test_a_newer_built_in_embedder_embeds_everything_anew_by_itself(library, opened):
    before = answers(library)
    with library.catalog.connections.write() as connection:
        connection.execute("UPDATE embedders SET fingerprint = 'hash-of-before'")
    reader = opened()
    answer = find(reader, "OAuth token")
    assert paths(answer)[0] == "handbook/login.md"
    assert "another version" in answer.notices[0]
    assert reader.embedders.embed_missing() == ""
    assert fingerprint(reader) == open_named("hash", reader.settings.models).fingerprint
    assert [one["results"] for one in answers(reader)] == [one["results"] for one in before]


def test_an_embedder_that_is_no_longer_known_leaves_the_words(library, opened):
    with library.catalog.connections.write() as connection:
        connection.execute("UPDATE embedders SET name = 'gone', fingerprint = '../../gone'")
    reader = opened()
    answer = find(reader, "OAuth token")
    assert paths(answer)[0] == "handbook/login.md"
    assert 'Unknown embedding model: "gone"' in answer.notices[0]
    reader.embedders.choose("hash")
    assert reader.embedders.embed_missing() == ""
    assert find(reader, "OAuth token").notices == ()
    assert not (reader.paths.root.parent / "gone").exists()
