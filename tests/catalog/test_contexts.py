"""Contexts in the catalog: stored whole, entries renewed, nothing that was written is lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import digest, entry, sqlite_steps, vector_bytes

from ragkit.catalog import Catalog
from ragkit.catalog.context_records import (
    BY_PERSON,
    ContextAnswer,
    ContextCost,
    ContextCounts,
    ContextDraft,
    ContextStatus,
    WaitingChunk,
    person_key,
    text_key,
)
from ragkit.catalog.context_writing import pack_answer, unpack_answer
from ragkit.catalog.records import EntryDraft
from ragkit.catalog.schema import MIGRATIONS
from ragkit.catalog.summaries import SummaryRecord
from ragkit.errors import CatalogError
from ragkit.types import FIELD_CODES, LEVEL_CODES, Field, Level

ANSWER = ContextAnswer(
    context="Who became chief of staff.",
    keywords=("promotion", "chief of staff"),
    questions=("Who was promoted?", "Since when?"),
    details={"topic_summary": "A promotion"},
    model="small:3b",
    prompt_hash="p1",
    tokens=120,
    seconds=1.5,
)


def drafted(shelf, document_id, index=0, answer=ANSWER, **changed):
    document = shelf.catalog.documents.get(document_id)
    chunk = shelf.catalog.documents.chunks(document_id)[index].chunk
    texts = [(Level.CONTEXT, f"{answer.context} {index}")] if answer.context else []
    texts += [(Level.QUESTION, question) for question in answer.questions]
    values = {
        "document_id": document_id,
        "document_hash": document.hash,
        "chunk": chunk,
        "answer": answer,
        "tokens": {
            FIELD_CODES[Field.CONTEXT]: answer.context.lower().split(),
            FIELD_CODES[Field.KEYWORDS]: " ".join(answer.keywords).split(),
            FIELD_CODES[Field.QUESTIONS]: " ".join(answer.questions).lower().split(),
        },
        "entries": tuple(
            EntryDraft(LEVEL_CODES[level], index, digest(text), b"", {}) for level, text in texts
        ),
        "vectors": {digest(text): vector_bytes(text) for _, text in texts},
    }
    return ContextDraft(**{**values, **changed})


def put(shelf, *drafts):
    stored = shelf.catalog.contexts.put(drafts, shelf.embedder_id)
    assert shelf.catalog.integrity.miscounted() == []
    return stored


def levels(shelf):
    rows = shelf.rows()
    names = {code: level.value for level, code in LEVEL_CODES.items()}
    return [
        (names[int(level)], int(chunk))
        for level, chunk in zip(rows.levels, rows.chunk_indexes, strict=True)
    ]


def words(shelf, field, entry):
    column = shelf.rows().tokens.get(field)
    if column is None:
        return []
    by_id = dict(shelf.catalog.connections.rows("SELECT id, token FROM vocabulary"))
    return [
        by_id[int(one)] for one in column.flat[column.offsets[entry] : column.offsets[entry + 1]]
    ]


def test_a_context_is_stored_as_it_was_written(shelf):
    document = shelf.put("a.md", "one piece", "another piece")
    assert put(shelf, drafted(shelf, document, 1)) == 1
    stored = shelf.catalog.contexts.of_document(document)
    assert list(stored) == [1]
    assert stored[1].answer == ANSWER
    assert (stored[1].status, stored[1].attempts, stored[1].error) == (
        ContextStatus.COMPLETE,
        1,
        "",
    )
    assert shelf.catalog.contexts.at([(document, 1), (document, 0)]).keys() == {(document, 1)}


def test_only_the_entries_of_its_chunk_are_renewed(shelf):
    document = shelf.put("a.md", "one piece", "another piece")
    before, version = shelf.entry_ids(), shelf.version
    put(shelf, drafted(shelf, document, 1))
    assert shelf.version == version + 1
    assert shelf.catalog.entries.removed_since(shelf.collection_id, version).tolist() == [before[1]]
    assert levels(shelf) == [
        ("chunk", 0),
        ("chunk", 1),
        ("context", 1),
        ("question", 1),
        ("question", 1),
    ]
    after = shelf.entry_ids()
    assert after[0] == before[0]
    assert min(after[1:]) > max(before)
    assert np.diff(after[1:]).tolist() == [1, 1, 1]


def test_the_words_of_a_context_stand_in_their_own_fields_of_the_chunk(shelf):
    document = shelf.put("a.md", "one piece", "another piece")
    put(shelf, drafted(shelf, document, 1))
    assert words(shelf, Field.TEXT, 1) == ["another", "piece"]
    assert words(shelf, Field.CONTEXT, 1) == ["who", "became", "chief", "of", "staff."]
    assert words(shelf, Field.KEYWORDS, 1) == ["promotion", "chief", "of", "staff"]
    assert words(shelf, Field.QUESTIONS, 1) == ["who", "was", "promoted?", "since", "when?"]
    assert words(shelf, Field.CONTEXT, 0) == []
    assert [words(shelf, field, 2) for field in Field] == [[]] * len(Field)


def test_the_words_of_title_and_folders_stay(shelf):
    fields = {Field.TEXT: ["one", "piece"], Field.TITLE: ["sea", "chart"], Field.FOLDERS: ["maps"]}
    document = shelf.put("a.md", "one piece", entries=(entry("one piece", tokens=fields),))
    put(shelf, drafted(shelf, document))
    assert words(shelf, Field.TITLE, 0) == ["sea", "chart"]
    assert words(shelf, Field.FOLDERS, 0) == ["maps"]
    assert words(shelf, Field.TEXT, 0) == ["one", "piece"]


def test_every_entry_has_its_vector_and_the_key_of_its_chunk(shelf):
    document = shelf.put("a.md", "one piece")
    put(shelf, drafted(shelf, document))
    rows = shelf.rows(embedder_id=shelf.embedder_id)
    assert rows.has_vector.tolist() == [True] * 4
    own, context, *questions = (
        np.frombuffer(vector_bytes(text), "<f2").astype(float)
        for text in ("one piece", f"{ANSWER.context} 0", *ANSWER.questions)
    )
    # What stands for the chunk is of its context, and by a quarter of its text.
    both = 0.75 * context + 0.25 * own
    expected = [own, both / np.linalg.norm(both), *questions]
    assert rows.vectors.tolist() == pytest.approx(np.array(expected), abs=1e-3)
    key = int.from_bytes(digest("one piece")[:8], "little")
    assert rows.content_keys.tolist() == [key] * 4


def test_a_second_context_takes_the_place_of_the_first(shelf):
    document = shelf.put("a.md", "one piece")
    put(shelf, drafted(shelf, document))
    other = ContextAnswer("Other words.", model="other", prompt_hash="p2")
    put(shelf, drafted(shelf, document, 0, other))
    assert levels(shelf) == [("chunk", 0), ("context", 0)]
    assert words(shelf, Field.CONTEXT, 0) == ["other", "words."]
    assert words(shelf, Field.KEYWORDS, 0) == []
    assert words(shelf, Field.TEXT, 0) == ["one", "piece"]
    stored = shelf.catalog.contexts.of_document(document)[0]
    assert (stored.answer.model, stored.attempts) == ("other", 2)


def test_an_empty_context_leaves_just_the_chunk(shelf):
    document = shelf.put("a.md", "one piece")
    put(shelf, drafted(shelf, document))
    put(shelf, drafted(shelf, document, 0, ContextAnswer("", model=BY_PERSON)))
    assert levels(shelf) == [("chunk", 0)]


@pytest.mark.parametrize("what", ["hash", "span", "document", "chunk"])
def test_what_was_written_about_something_else_is_not_stored(shelf, what):
    document = shelf.put("a.md", "one piece", "another piece")
    draft = drafted(shelf, document, 1)
    if what == "hash":
        shelf.put("a.md", "one piece", "another piece", hash="f" * 32)
    elif what == "span":
        shelf.put("a.md", "one longer piece", "another piece", hash=draft.document_hash)
    elif what == "chunk":
        shelf.put("a.md", "one piece", hash=draft.document_hash)
    else:
        shelf.catalog.documents.remove([document])
    version = shelf.version
    assert put(shelf, draft) == 0
    assert shelf.version == version
    assert shelf.catalog.connections.rows("SELECT * FROM contexts") == []
    assert not any(level in ("context", "question") for level, _ in levels(shelf))


def test_a_transaction_that_fails_leaves_no_trace(shelf):
    document = shelf.put("a.md", "one piece", "another piece")
    before, version = shelf.entry_ids(), shelf.version
    broken = drafted(shelf, document, 1, vectors={b"x": object()})
    with pytest.raises(CatalogError, match="reported an error"):
        put(shelf, drafted(shelf, document, 0), broken)
    assert (shelf.entry_ids(), shelf.version) == (before, version)
    assert shelf.catalog.contexts.counts().complete == 0


def test_what_a_person_wrote_is_not_overwritten_by_a_model(shelf):
    document = shelf.put("a.md", "one piece")
    own = ContextAnswer("My own words.", model=BY_PERSON)
    put(shelf, drafted(shelf, document, 0, own))
    assert put(shelf, drafted(shelf, document)) == 0
    assert shelf.catalog.contexts.of_document(document)[0].answer == own
    assert shelf.catalog.contexts.ask_again(document_id=document) == 0
    assert shelf.catalog.contexts.ask_again(document_id=document, chunk_index=0) == 1
    assert put(shelf, drafted(shelf, document)) == 1
    assert shelf.catalog.contexts.of_document(document)[0].answer == ANSWER


def test_contexts_go_with_their_document_and_stay_remembered(shelf):
    document = shelf.put("a.md", "one piece")
    put(shelf, drafted(shelf, document))
    key = text_key("one piece", shelf.catalog.documents.get(document).hash)
    shelf.catalog.contexts.remember(key, ANSWER)
    shelf.put("a.md", "one piece")
    assert shelf.catalog.contexts.of_document(document) == {}
    assert shelf.catalog.contexts.remembered(key, "small:3b", "p1") == ANSWER
    shelf.catalog.documents.remove([document])
    assert shelf.catalog.contexts.newest_remembered([key]) == {key: ANSWER}
    assert shelf.catalog.contexts.remembered(key, "small:3b", "p2") is None
    assert shelf.catalog.contexts.remembered(key, "other", "p1") is None
    assert shelf.catalog.integrity.broken_references() == 0


def test_failures_are_counted_and_the_last_error_is_kept_through_retries(shelf):
    document = shelf.put("a.md", "one piece", "another piece")
    contexts = shelf.catalog.contexts
    tried = ContextAnswer("", model="small:3b", prompt_hash="p1")
    assert contexts.fail((document, 0), "It took too long.", tried, last=False) == 1
    assert contexts.counts() == ContextCounts(pending=2)
    assert contexts.waiting_chunks(document) == [
        WaitingChunk(1, 0, asked=False),
        WaitingChunk(0, 1, asked=True),
    ]
    assert contexts.fail((document, 0), "It said nothing.", tried, last=True) == 2
    assert contexts.counts() == ContextCounts(pending=1, failed=1)
    assert contexts.last_error() == "It said nothing."
    assert contexts.ask_again(status=ContextStatus.FAILED) == 1
    record = contexts.of_document(document)[0]
    assert (record.status, record.attempts, record.error) == (
        ContextStatus.PENDING,
        2,
        "It said nothing.",
    )
    put(shelf, drafted(shelf, document, 0))
    assert contexts.of_document(document)[0].error == "It said nothing."
    assert contexts.of_document(document)[0].attempts == 3
    assert contexts.fail((document, 99), "No such chunk.", tried, last=True) == 0


def test_counts_by_collection(shelf):
    first = shelf.put("a.md", "one piece", "another piece")
    truncated = ContextAnswer("Half.", model="m", truncated=True)
    put(shelf, drafted(shelf, first, 0), drafted(shelf, first, 1, truncated))
    other = type(shelf)(shelf.catalog, "other", "/others")
    other.put("b.md", "b")
    contexts = shelf.catalog.contexts
    assert contexts.counts() == ContextCounts(pending=1, complete=1, truncated=1)
    assert contexts.counts(shelf.collection_id) == ContextCounts(complete=1, truncated=1)
    assert contexts.counts(other.collection_id) == ContextCounts(pending=1)
    assert contexts.counts().chunks == 3
    assert contexts.of_document(first)[1].status is ContextStatus.TRUNCATED


def test_documents_wait_in_the_order_of_their_worth(shelf):
    ids = [shelf.put(f"{name}.md", name) for name in "abcd"]
    contexts = shelf.catalog.contexts
    assert contexts.waiting_documents() == ids[::-1]
    assert contexts.waiting_documents(first=[ids[0], ids[2]]) == [ids[0], ids[2], ids[3], ids[1]]
    assert contexts.waiting_documents(first=[999, ids[1]], limit=2) == [ids[1], ids[3]]
    put(shelf, drafted(shelf, ids[3]))
    assert contexts.waiting_documents() == ids[2::-1]
    assert contexts.waiting_documents(collection_id=shelf.collection_id + 1) == []
    assert contexts.waiting_documents(since=4e9) == []


def test_the_pulse_beats_when_there_may_be_work(shelf):
    contexts = shelf.catalog.contexts
    first = contexts.change_token()
    assert contexts.change_token() == first
    document = shelf.put("a.md", "one piece")
    second = contexts.change_token()
    assert second != first
    contexts.ask_again(document_id=document)
    assert contexts.change_token() != second


def test_regenerating_forgets_models_and_people_only_when_they_are_meant(shelf):
    contexts = shelf.catalog.contexts
    own = ContextAnswer("Mine.", model=BY_PERSON)
    contexts.remember(b"k", ANSWER)
    contexts.remember(b"k", own)
    assert contexts.newest_remembered([b"k"]) == {b"k": own}
    contexts.forget([b"k"])
    assert contexts.newest_remembered([b"k"]) == {b"k": own}
    assert contexts.remembers()
    contexts.forget([b"k"], people=True)
    assert not contexts.remembers()


def test_many_keys_are_looked_up_at_once(shelf):
    contexts = shelf.catalog.contexts
    keys = [text_key(str(number), "") for number in range(1203)]
    contexts.remember(keys[-1], ANSWER)
    assert contexts.newest_remembered(keys) == {keys[-1]: ANSWER}


def test_old_answers_are_dropped_only_beyond_a_generous_number(shelf, monkeypatch):
    monkeypatch.setattr("ragkit.catalog.contexts._LEAST_REMEMBERED", 3)
    contexts = shelf.catalog.contexts
    for number in range(6):
        contexts.remember(str(number).encode(), ANSWER)
    assert contexts.prune() == 2
    assert set(contexts.newest_remembered([b"0", b"1", b"2", b"5"])) == {b"2", b"5"}


def test_what_people_wrote_is_never_dropped(shelf, monkeypatch):
    monkeypatch.setattr("ragkit.catalog.contexts._LEAST_REMEMBERED", 1)
    contexts = shelf.catalog.contexts
    contexts.remember(b"mine", replace(ANSWER, model=BY_PERSON))
    for number in range(4):
        contexts.remember(str(number).encode(), ANSWER)
    assert contexts.prune() == 2
    assert set(contexts.newest_remembered([b"mine", b"0", b"1", b"3"])) == {b"mine", b"3"}


def test_the_newest_failures_are_named_with_their_documents(shelf, monkeypatch):
    contexts = shelf.catalog.contexts
    first, second = shelf.put("a.md", "one", "two"), shelf.put("b.md", "three")
    for number, place in enumerate(((first, 1), (second, 0), (first, 0))):
        monkeypatch.setattr("ragkit.catalog.contexts.time.time", lambda now=number: float(now))
        contexts.fail(place, f"Error {number}.", ANSWER, last=place != (first, 0))
    named = contexts.failures()
    assert [(one.path, one.chunk_index, one.error) for one in named] == [
        ("b.md", 0, "Error 1."),
        ("a.md", 1, "Error 0."),
    ]
    assert (named[0].document_id, named[0].attempts, named[0].changed_at) == (second, 1, 1.0)
    assert contexts.count_failed() == contexts.count_failed(shelf.collection_id) == 2
    assert contexts.count_failed(shelf.collection_id + 1) == 0
    assert len(contexts.failures(limit=1)) == 1
    assert len(contexts.failures(shelf.collection_id)) == 2
    assert contexts.failures(shelf.collection_id + 1) == []


def test_answers_and_words_of_any_script_survive_packing():
    answer = ContextAnswer(
        "検索 🦊 \u202e", ("a\nb",), ("¿Qué?",), {"speakers": ["Ines"]}, "m", "p"
    )
    assert unpack_answer(pack_answer(answer)) == answer


def test_keys_tell_texts_versions_and_documents_apart():
    keys = {
        text_key("a", "v1"),
        text_key("a", "v2"),
        text_key("b", "v1"),
        person_key("a", 1),
        person_key("a", 12),
        text_key("\ud800", "v1"),
    }
    assert len(keys) == 6


def test_a_value_is_stored_under_its_key_until_it_is_deleted(shelf):
    catalog = shelf.catalog
    assert catalog.get_meta("mood") is None
    catalog.set_meta("mood", {"of": "the day"})
    assert catalog.get_meta("mood") == {"of": "the day"}
    catalog.set_meta("mood", None)
    assert catalog.get_meta("mood") is None


def test_a_library_of_the_first_version_is_brought_up_to_date(library_paths, monkeypatch):
    monkeypatch.setattr("ragkit.catalog.schema.MIGRATIONS", MIGRATIONS[:1])
    old = Catalog.open(library_paths.catalog, create=True)
    with old.connections.write() as connection:
        connection.execute("INSERT INTO collections (name, created_at) VALUES ('kept', 0)")
    old.close()
    monkeypatch.undo()
    opened = Catalog.open(library_paths.catalog)
    assert [one.name for one in opened.collections.all()] == ["kept"]
    assert opened.connections.row("PRAGMA user_version") == (len(MIGRATIONS),)
    opened.contexts.remember(b"k", ANSWER)
    assert opened.contexts.newest_remembered([b"k"]) == {b"k": ANSWER}
    opened.close()


def test_what_contexts_cost_is_summed_by_collection_and_document(shelf):
    contexts = shelf.catalog.contexts
    assert contexts.cost() == ContextCost()
    document = shelf.put("a.md", "one piece", "another piece", "a third")
    quick = ContextAnswer("Quick.", model="m", tokens=50, seconds=0.5)
    own = ContextAnswer("Own.", model=BY_PERSON)
    put(shelf, drafted(shelf, document), drafted(shelf, document, 1, quick))
    put(shelf, drafted(shelf, document, 2, own))
    both = ContextCost(2, tokens=ANSWER.tokens + 50, seconds=ANSWER.seconds + 0.5)
    assert contexts.cost() == both
    record = shelf.catalog.documents.get(document)
    shelf.catalog.summaries.keep(SummaryRecord(record.hash, "m", "p", "All.", "", 900, 2.0))
    shelf.catalog.summaries.keep(SummaryRecord("of no document", "m", "p", "None.", "", 9, 9.0))
    whole = replace(both, summaries=1, tokens=both.tokens + 900, seconds=both.seconds + 2.0)
    assert contexts.cost(record.collection_id) == contexts.cost(document_id=document) == whole
    assert contexts.cost(record.collection_id + 1) == ContextCost()
    assert contexts.cost(document_id=document + 1) == ContextCost()
    shelf.catalog.summaries.keep(SummaryRecord(record.hash, "m", "p", "", "No.", 0, 1.0))
    failed = replace(both, summaries_failed=1, seconds=both.seconds + 1.0)
    assert contexts.cost() == failed


@pytest.mark.sqlite
def test_what_a_query_takes_grows_with_the_documents_and_not_with_their_square(shelf):
    catalog, contexts, steps = shelf.catalog, shelf.catalog.contexts, []
    for count in (50, 200):
        drafts = [shelf.draft(f"{number}.md", f"text {number}") for number in range(count)]
        ids = catalog.documents.put_many(drafts, shelf.embedder_id)
        for draft in drafts:
            catalog.summaries.keep(SummaryRecord(draft.hash, "m", "p", "All.", "", 9, 1.0))
        assert contexts.cost(shelf.collection_id).summaries == count
        assert contexts.waiting_documents(first=ids) == ids
        steps.append(
            (
                sqlite_steps(catalog, lambda: contexts.cost(shelf.collection_id)),
                sqlite_steps(catalog, lambda ids=ids: contexts.waiting_documents(first=ids)),
            )
        )
    assert all(many < 8 * few for few, many in zip(*steps, strict=True))
