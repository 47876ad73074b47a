from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import Shelf

from ragkit.catalog.records import CollectionRecord, Counts
from ragkit.catalog.schema import migrate
from ragkit.errors import CatalogError, NotFoundError
from ragkit.reading.limits import needs_ocr, not_recognised
from ragkit.types import FileState, Page, Section, Status

pytestmark = pytest.mark.usefixtures("counted")

_KEPT = (
    *("source_id", "collection_id", "path", "size", "mtime_ns", "hash", "pipeline_fingerprint"),
    "title",
    *("format", "markup", "language", "date", "metadata", "pages", "warnings"),
)
_ODD_PATHS = [
    'it\'s "quoted".md',
    "line\nbreak.md",
    "tab\there.md",
    "notes/100%_done.md",
    "emoji \U0001f600/日本語.md",
    "back\\slash;DROP TABLE documents;--.md",
    "combining e\u0301.md",
    " leading and trailing ",
    "nul-free \x01 control.md",
]


def test_beside_a_document_are_those_with_text_in_its_source(catalog, shelf):
    other = Shelf(catalog, root="/others")
    here = {shelf.put("a.md"): "a.md", shelf.put("people/b.md"): "people/b.md"}
    other.put("a.md")
    shelf.put("empty.md", chunks=())
    assert dict(catalog.documents.beside(next(iter(here)))) == here
    assert catalog.documents.beside(999) == []


def test_a_document_comes_back_as_it_was_put(catalog, shelf):
    draft = shelf.draft(
        "a.md",
        "alpha beta",
        "gamma",
        title='Ünïcode "title"',
        language="de",
        date="2024-02-29",
        metadata={"tags": ["x", "\U0001f600"], "n": 1, "nested": {"a": None}},
        pages=(Page(1, "iv", 0, 5), Page(2, "", 5, 17)),
        warnings=("Mind the gap.",),
        sections=(Section(0, 0, 5, 0, ()), Section(1, 5, 17, 2, ("Ä", "ß › x"))),
    )
    draft = replace(
        draft,
        chunks=(
            replace(draft.chunks[0], chunk=replace(draft.chunks[0].chunk, pages=(1, 2))),
            draft.chunks[1],
        ),
    )
    [document_id] = catalog.documents.put_many([draft], shelf.embedder_id)
    record = catalog.documents.get(document_id)
    for name in _KEPT:
        assert getattr(record, name) == getattr(draft, name), name
    assert (record.status, record.reason, record.chunks) == (Status.INDEXED, "", 2)
    assert (record.collection, record.root) == ("default", "/files")
    assert catalog.documents.text(document_id) == draft.text == "alpha beta\n\ngamma"
    assert tuple(catalog.documents.sections(document_id)) == draft.sections
    assert tuple(catalog.documents.chunks(document_id)) == draft.chunks
    spans = [(c.chunk.start, c.chunk.end) for c in catalog.documents.chunks(document_id)]
    assert [draft.text[a:b] for a, b in spans] == ["alpha beta\n\n", "gamma"]


def test_putting_again_keeps_the_document_id_and_replaces_everything_else(catalog, shelf):
    first = shelf.put("a.md", "one", "two", "three")
    before = shelf.entry_ids()
    second = shelf.put("a.md", "four")
    assert first == second
    assert catalog.documents.text(first) == "four"
    assert len(catalog.documents.chunks(first)) == 1
    assert set(shelf.entry_ids()).isdisjoint(before)
    assert catalog.documents.counts(shelf.collection_id) == Counts(indexed=1, chunks=1)


@pytest.mark.parametrize("where", ["put_vectors", "put_entries", "_put_contents"])
def test_a_put_that_fails_midway_leaves_the_old_document_whole(catalog, shelf, monkeypatch, where):
    document_id = shelf.put("a.md", "old words", title="Old")
    state = _everything(catalog)

    def fail(*_):
        raise RuntimeError("stopped")

    monkeypatch.setattr(f"ragkit.catalog.document_writing.{where}", fail)
    with pytest.raises(RuntimeError, match="stopped"):
        shelf.put("a.md", "new words", title="New")
    with pytest.raises(RuntimeError, match="stopped"):
        shelf.put("b.md", "other")
    assert _everything(catalog) == state
    assert catalog.documents.get(document_id).title == "Old"
    monkeypatch.undo()
    shelf.put("a.md", "new words", title="New")
    assert catalog.documents.text(document_id) == "new words"


def _everything(catalog):
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as model:
        migrate(model)
        query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        names = [row[0] for row in model.execute(query)]
    return {name: sorted(catalog.connections.rows(f"SELECT * FROM {name}")) for name in names}


def test_removing_takes_everything_of_the_document_and_of_no_other(catalog, shelf):
    first, second = shelf.put("a.md", "one", "two"), shelf.put("b.md", "three")
    assert catalog.documents.remove([first, 999, first]) == 1
    for table in ("texts", "sections", "chunks", "entries"):
        rows = catalog.connections.rows(f"SELECT DISTINCT document_id FROM {table}")
        assert rows == [(second,)], table
    assert catalog.connections.row("SELECT COUNT(*) FROM entry_tokens") == (1,)
    with pytest.raises(NotFoundError, match=f"no document {first}"):
        catalog.documents.get(first)
    assert catalog.documents.text(first) == ""
    assert catalog.documents.sections(first) == catalog.documents.chunks(first) == []
    assert catalog.integrity.broken_references() == 0


def test_removing_nothing_changes_no_version(catalog, shelf):
    shelf.put()
    before = shelf.version
    assert catalog.documents.remove([]) == catalog.documents.remove([77]) == 0
    assert shelf.version == before


def test_document_ids_are_never_used_again(catalog, shelf):
    first = shelf.put("a.md")
    catalog.documents.remove([first])
    assert shelf.put("a.md") > first


def test_the_version_grows_once_with_each_change(catalog, shelf):
    versions = [shelf.version]
    for change in (
        lambda: shelf.put("a.md"),
        lambda: shelf.put("a.md", "other"),
        lambda: shelf.put("b.md"),
        lambda: catalog.documents.remove([1, 2]),
    ):
        change()
        versions.append(shelf.version)
    assert versions == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("path", _ODD_PATHS)
def test_paths_with_odd_characters_stay_as_they_are(catalog, shelf, path):
    document_id = shelf.put(path)
    assert catalog.documents.get(document_id).path == path
    assert list(catalog.files.known(shelf.source_id)) == [path]
    assert [one.id for one in catalog.documents.list(containing=path)] == [document_id]
    assert catalog.documents.remove([document_id]) == 1


def test_text_that_utf8_cannot_hold_is_refused_whole(catalog, shelf):
    with pytest.raises(CatalogError, match="half a character"):
        shelf.put("a.md", "broken \ud800 half")
    assert catalog.documents.list() == []
    catalog.set_meta("after", 1)
    assert catalog.get_meta("after") == 1, "no transaction is left open"


def test_known_files_tell_what_is_remembered(catalog, shelf):
    indexed = shelf.put(
        "a.md", hash="h1", pipeline_fingerprint="r1", size=3, mtime_ns=2**62, stamp="1:2:3"
    )
    failed = catalog.files.set_outcome(
        shelf.source_id,
        shelf.collection_id,
        FileState("b.pdf", 9, 5),
        Status.FAILED,
        "Broken.",
        content_hash="h2",
        pipeline_fingerprint="r2",
    )
    other = Shelf(catalog, root="/elsewhere")
    other.put("c.md")
    known = catalog.files.known(shelf.source_id)
    assert sorted(known) == ["a.md", "b.pdf"]
    one = known["a.md"]
    assert (one.document_id, one.state) == (indexed, FileState("a.md", 3, 2**62, "1:2:3"))
    assert (one.hash, one.pipeline_fingerprint, one.status) == ("h1", "r1", Status.INDEXED)
    two = known["b.pdf"]
    assert (two.document_id, two.hash, two.status) == (failed, "h2", "failed")
    assert two.pipeline_fingerprint == "r2"
    assert two.status is Status.FAILED


def test_a_document_that_fails_later_keeps_nothing_of_its_old_self(catalog, shelf):
    document_id = shelf.put(
        "a.md", "old", metadata={"a": 1}, warnings=("w",), pages=(Page(1, "1", 0, 3),), date="2020"
    )
    entries = shelf.entry_ids()
    before = shelf.version
    same = catalog.files.set_outcome(
        shelf.source_id, shelf.collection_id, FileState("a.md", 1, 1), Status.FAILED, "Broken."
    )
    record = catalog.documents.get(document_id)
    assert same == document_id
    assert (record.status, record.reason, record.chunks) == (Status.FAILED, "Broken.", 0)
    assert (record.metadata, record.warnings, record.pages, record.date) == ({}, (), (), "")
    assert catalog.documents.text(document_id) == ""
    assert shelf.entry_ids() == []
    assert catalog.entries.removed_since(shelf.collection_id, before).tolist() == entries
    catalog.files.set_outcome(
        shelf.source_id, shelf.collection_id, FileState("a.md", 1, 2), Status.SKIPPED, "Big."
    )
    assert shelf.version == before + 1


def test_pending_files_are_shown_once_and_known_ones_left_alone(catalog, shelf):
    indexed = shelf.put("a.md")
    files = [FileState("a.md", 1, 1), FileState("b.md", 2, 2), FileState("b.md", 2, 2)]
    catalog.files.add_pending(shelf.source_id, shelf.collection_id, files)
    catalog.files.add_pending(shelf.source_id, shelf.collection_id, files)
    listed = catalog.documents.list()
    assert [(one.path, one.status) for one in listed] == [
        ("b.md", Status.PENDING),
        ("a.md", Status.INDEXED),
    ]
    assert catalog.documents.get(indexed).size != 1


def test_touching_remembers_size_and_time_only(catalog, shelf):
    document_id = shelf.put("a.md", "text")
    before, version = catalog.documents.get(document_id), shelf.version
    catalog.files.touch(document_id, FileState("a.md", 77, 88))
    after = catalog.documents.get(document_id)
    assert after == replace(before, size=77, mtime_ns=88)
    assert shelf.version == version + 1, "its day may be another"
    catalog.files.touch(document_id, FileState("a.md", 77, 88, "another"))
    assert shelf.version == version + 1


def test_a_forgotten_attempt_is_made_again(catalog, shelf):
    indexed = shelf.put("a.md")
    failed = catalog.files.set_outcome(
        shelf.source_id, shelf.collection_id, FileState("b.md", 1, 1), Status.FAILED, "No."
    )
    catalog.files.forget_attempt([indexed, failed])
    known = catalog.files.known(shelf.source_id)
    assert (known["a.md"].hash, known["a.md"].state.mtime_ns) == ("", 0)
    assert known["a.md"].status is Status.INDEXED
    assert known["b.md"].status is Status.PENDING
    assert catalog.documents.text(indexed) != ""


@pytest.fixture
def many(catalog, shelf):
    """Documents with names that wildcards and quotes would confuse, two of them in trouble."""
    for path in ("b/100%.md", "b/100x.md", "a_b.md", "axb.md", "ÜBER.md", "it's.md", 'say "x".md'):
        shelf.put(path, title=path.upper())
    for path, status in (("z.pdf", Status.FAILED), ("y.bin", Status.SKIPPED)):
        catalog.files.set_outcome(
            shelf.source_id, shelf.collection_id, FileState(path, 1, 1), status, "Why."
        )
    catalog.files.add_pending(shelf.source_id, shelf.collection_id, [FileState("x.md", 1, 1)])
    return catalog


@pytest.mark.parametrize(
    ("containing", "found"),
    [
        ("%", ["b/100%.md"]),
        ("0%", ["b/100%.md"]),
        ("_", ["a_b.md"]),
        ("'", ["it's.md"]),
        ('"', ['say "x".md']),
        ("über", ["ÜBER.md"]),
        ("U\u0308ber", ["ÜBER.md"]),
        ("B/100", ["b/100%.md", "b/100x.md"]),
        ("nothing like it", []),
        ("*", []),
    ],
)
def test_searching_names_takes_every_character_at_its_word(many, containing, found):
    assert [one.path for one in many.documents.list(containing=containing)] == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("b_c.md", ["a/b_c.md", "b_c.md"]),
        ("B_C.MD", ["a/b_c.md", "b_c.md"]),
        ("b%c.md", ["b%c.md"]),
        ("c.md", []),
        ("%", []),
        ("b\\c.md", ["b\\c.md"]),
        ("u\u0308ber.md", ["ÜBER.md"]),
    ],
)
def test_files_are_found_by_their_whole_names(catalog, shelf, name, found):
    paths = ["a/b_c.md", "b_c.md", "bxc.md", "b%c.md", "b\\c.md", "ÜBER.md"]
    ids = {shelf.put(path): path for path in paths}
    named = catalog.documents.with_file_name(name, [shelf.collection_id])
    assert [ids[number] for number in named] == found
    assert catalog.documents.with_file_name(name, [shelf.collection_id + 1]) == []


def test_lists_put_trouble_first_and_then_go_by_path(many, shelf):
    paths = [one.path for one in many.documents.list()]
    assert paths[:2] == ["z.pdf", "x.md"]
    assert paths[2:] == sorted(paths[2:])
    assert len(paths) == 10
    assert [
        p
        for i in range(0, 12, 3)
        for p in (one.path for one in many.documents.list(limit=3, offset=i))
    ] == paths
    assert many.documents.list(limit=0) == []


def test_lists_filter_by_collection_source_and_status(many, shelf):
    other = Shelf(many, "other", "/other")
    elsewhere = Shelf(many, "default", "/more")
    theirs, more = other.put("a.md"), elsewhere.put("a.md")
    assert [one.id for one in many.documents.list(other.collection_id)] == [theirs]
    assert [one.id for one in many.documents.list(source_id=elsewhere.source_id)] == [more]
    assert [one.path for one in many.documents.list(status=Status.SKIPPED)] == ["y.bin"]
    assert many.documents.list(other.collection_id, status=Status.FAILED) == []
    assert many.documents.counts(shelf.collection_id) == Counts(8, 1, 1, 1, 16)
    assert many.documents.counts(other.collection_id) == Counts(indexed=1, chunks=2)
    assert many.documents.counts().documents == 12
    assert many.documents.counts(999) == Counts()


def test_many_documents_are_fetched_in_one_query(catalog, shelf):
    drafts = [shelf.draft(f"{number:04}.md", f"text {number}") for number in range(300)]
    ids = catalog.documents.put_many(drafts, shelf.embedder_id)
    wanted = [*np.array(ids, dtype=np.int64), 99999]
    assert sorted(catalog.documents.get_many(wanted)) == ids
    assert catalog.documents.texts(wanted)[ids[7]] == "text 7"
    assert catalog.documents.get_many([]) == {}


def test_a_document_for_a_source_that_is_gone_is_refused(catalog, shelf):
    draft = shelf.draft("a.md")
    catalog.collections.delete_source(shelf.source_id)
    with pytest.raises(CatalogError, match=r"(?i)foreign key"):
        catalog.documents.put_many([draft], shelf.embedder_id)
    assert catalog.documents.list() == []


def test_documents_that_are_written_together_are_all_kept_or_none(catalog, shelf):
    drafts = [shelf.draft("a.md", "first words"), shelf.draft("b.md", "other words")]
    ids = catalog.documents.put_many(drafts, shelf.embedder_id)
    assert [catalog.documents.text(one) for one in ids] == ["first words", "other words"]
    assert shelf.version == 2
    bad = [shelf.draft("c.md", "fine"), shelf.draft("d.md", "half a character: \ud800")]
    with pytest.raises(CatalogError, match="half a character"):
        catalog.documents.put_many(bad, shelf.embedder_id)
    assert [one.path for one in catalog.documents.list()] == ["a.md", "b.md"]
    assert shelf.version == 2


def test_two_threads_may_write_at_once(catalog, shelf):
    def write(part):
        for number in range(20):
            shelf.put(f"{part}/{number}.md", f"shared word{number} only{part}x{number}")

    threads = [threading.Thread(target=write, args=(part,)) for part in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert catalog.documents.counts().indexed == 60
    assert shelf.version == 60
    rows = shelf.rows()
    vocabulary = dict(catalog.connections.rows("SELECT id, token FROM vocabulary"))
    texts = catalog.documents.texts(rows.document_ids)
    column = next(iter(rows.tokens.values()))
    for place, document_id in enumerate(rows.document_ids):
        ids = column.flat[column.offsets[place] : column.offsets[place + 1]]
        assert " ".join(vocabulary[int(one)] for one in ids) == texts[int(document_id)]


def test_whether_there_is_any_document_is_known_without_counting(catalog, shelf):
    assert not catalog.documents.any()
    shelf.put("a.md", "one")
    assert catalog.documents.any()


def test_the_documents_of_every_collection_are_counted_at_once(catalog, shelf):
    shelf.put("a.md", "one", "two")
    shelf.put("b.md", "three")
    other = Shelf(catalog, "other", "/elsewhere")
    other.put("c.md", "four")
    outcome = FileState("d.md", 1, 1), Status.FAILED, "broken"
    catalog.files.set_outcome(other.source_id, other.collection_id, *outcome)
    catalog.files.add_pending(other.source_id, other.collection_id, [FileState("e.md", 1, 1)])
    Shelf(catalog, "empty", "/nowhere")
    assert catalog.documents.counts_of_each() == {
        shelf.collection_id: Counts(indexed=2, chunks=3),
        other.collection_id: Counts(indexed=1, pending=1, failed=1, chunks=1),
    }
    assert catalog.documents.counts() == Counts(3, 1, 0, 1, chunks=4)
    assert catalog.documents.counts(other.collection_id) == Counts(1, 1, 0, 1, chunks=1)


def test_the_main_language_is_that_of_most_documents(catalog, shelf):
    for number, language in enumerate(["pl", "pl", "", "", "", "en"]):
        shelf.put(f"{number}.md", "text", language=language)
    other = Shelf(catalog, "other", "/elsewhere")
    for number in range(2):
        other.put(f"{number}.md", "text", language="en")
    own, others = (catalog.collections.get(name) for name in ("default", "other"))
    main_language = catalog.documents.main_language
    assert [main_language([own]), main_language([others])] == ["pl", "en"]
    assert main_language([own, others]) == "en"
    assert main_language([CollectionRecord.everything(own.version)]) == "en"
    shelf.put("7.md", "text", language="pl")
    assert main_language([own, others]) == ""
    assert main_language([]) == ""


@pytest.mark.sqlite
def test_documents_are_counted_without_reading_their_rows(catalog):
    counted = []
    catalog.connections.get().set_trace_callback(counted.append)
    catalog.documents.counts()
    catalog.documents.counts_of_each()
    plans = [catalog.connections.rows(f"EXPLAIN QUERY PLAN {query}") for query in counted]
    assert len(plans) == 2
    for plan in plans:
        assert any("documents USING COVERING INDEX" in row[3] for row in plan)


def test_documents_are_found_by_their_files(catalog, shelf):
    first, second = shelf.put("notes/a.md"), shelf.put("notes/b.md")
    root = catalog.collections.source(shelf.source_id).root
    files = [str(Path(root, name)) for name in ("notes/b.md", "notes/a.md", "notes/c.md")]
    assert catalog.documents.of_files(files) == {files[0]: second, files[1]: first}
    assert catalog.documents.of_files([]) == {}


@pytest.mark.sqlite
def test_many_documents_are_removed_by_as_many_statements_as_few(catalog, shelf):
    ids, counts = [shelf.put(f"{number}.md") for number in range(12)], []
    for chosen in (ids[:2], ids[2:]):
        statements = []
        catalog.connections.get().set_trace_callback(statements.append)
        assert catalog.documents.remove(chosen) == len(chosen)
        catalog.connections.get().set_trace_callback(None)
        counts.append(len({statement for statement in statements if statement[:2] != "--"}))
    assert counts[0] == counts[1]
    assert catalog.entries.count(shelf.collection_id) == 0
    assert catalog.connections.rows("PRAGMA foreign_key_check") == []


def test_scanned_files_are_those_that_say_so(catalog, shelf):
    needs, tried = str(needs_ocr()), str(not_recognised())

    def refuse(path, reason, content_hash="h"):
        file = FileState(path, 7, 1, "s")
        where = shelf.source_id, shelf.collection_id
        return catalog.files.set_outcome(
            *where, file, Status.FAILED, reason, content_hash=content_hash
        )

    scan, blank = refuse("scan.pdf", needs), refuse("blank.pdf", tried)
    refuse("locked.pdf", "This PDF is locked with a password.")
    refuse("unread.pdf", needs, content_hash="")
    some = shelf.put("some.pdf", warnings=("Page 3 holds a picture, not text, and needs OCR.",))
    done = shelf.put("done.pdf", warnings=("Pages 1–2 were read by OCR and may have errors.",))
    shelf.put("sound.pdf", warnings=("Page 2 is damaged and could not be read.",))
    found = {file.document_id: file for file in catalog.files.scanned()}
    assert {number: bool(file.unread) for number, file in found.items()} == {
        scan: True,
        blank: False,
        some: True,
        done: False,
    }
    assert (found[scan].path, found[scan].size, found[scan].hash) == ("scan.pdf", 7, "h")
    assert found[scan].source_id == shelf.source_id
    assert catalog.files.count_scanned() == 2
    assert catalog.files.count_scanned(shelf.collection_id) == 2
    assert catalog.files.count_scanned(shelf.collection_id + 1) == 0
    assert catalog.files.has_content("h")
    assert not catalog.files.has_content("other")
