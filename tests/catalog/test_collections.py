from __future__ import annotations

import pytest
from support import Shelf, document_draft

from ragkit.catalog.lineage import newest, next_version, renew_versions
from ragkit.errors import CatalogError, NotFoundError
from ragkit.types import Version

pytestmark = pytest.mark.usefixtures("counted")


def test_collections_are_made_once_and_listed_by_name(catalog):
    second, first = catalog.collections.ensure("b"), catalog.collections.ensure("a")
    assert catalog.collections.ensure("b") == second
    assert catalog.collections.all() == [first, second]
    assert catalog.collections.find("a") == catalog.collections.get("a") == first
    assert catalog.collections.find("A") is None
    assert (first.settings, first.version) == ({}, Version(0))


@pytest.mark.parametrize("name", ["it's", 'say "x"', "日本語 \U0001f600", "a\nb", "%_"])
def test_a_collection_may_have_any_name(catalog, name):
    assert catalog.collections.ensure(name).name == name
    assert catalog.collections.get(name).name == name


def test_a_collection_that_is_not_there_names_those_that_are(catalog):
    with pytest.raises(NotFoundError, match="none yet"):
        catalog.collections.get("x")
    catalog.collections.ensure("work")
    catalog.collections.ensure("home")
    with pytest.raises(NotFoundError, match=r'no collection "x"\. Available: home, work\.'):
        catalog.collections.get("x")


def test_an_error_names_twenty_collections_and_counts_the_others(catalog):
    for number in range(23):
        catalog.collections.ensure(f"c{number:02d}")
    with pytest.raises(NotFoundError, match=r"Available: c00, .*, c19 and 3 more\.$"):
        catalog.collections.get("x")


def test_collections_are_read_by_their_names(catalog):
    for name in ("work", "home", "it's"):
        catalog.collections.ensure(name)
    found = catalog.collections.named(["work", "it's", "nowhere", "work"])
    assert found == [catalog.collections.get("it's"), catalog.collections.get("work")]
    assert catalog.collections.named([]) == []


def test_settings_of_a_collection_are_kept(catalog):
    record = catalog.collections.ensure("a")
    catalog.collections.set_settings(record.id, {"chunking": {"words": 100}})
    assert catalog.collections.get("a").settings == {"chunking": {"words": 100}}
    assert catalog.collections.version(record.id) == Version(0)
    assert catalog.collections.version(12345) == Version(0)


def test_sources_are_made_once_for_each_collection(catalog):
    one, two = catalog.collections.ensure("one"), catalog.collections.ensure("two")
    a = catalog.collections.ensure_source(one.id, "folder", "/a")
    assert catalog.collections.ensure_source(one.id, "folder", "/a") == a
    b = catalog.collections.ensure_source(two.id, "folder", "/a")
    c = catalog.collections.ensure_source(two.id, "uploads", "/u")
    assert catalog.collections.sources() == [a, b, c]
    assert catalog.collections.sources(two.id) == [b, c]
    assert (a.collection, a.kind, a.root, a.state, a.scanned_at) == (
        "one",
        "folder",
        "/a",
        "new",
        None,
    )


def test_a_source_counts_its_documents(catalog, shelf):
    from ragkit.types import FileState, Status

    shelf.put("a.md")
    catalog.files.set_outcome(
        shelf.source_id, shelf.collection_id, FileState("b", 1, 1), Status.FAILED, "No."
    )
    record = catalog.collections.source(shelf.source_id)
    assert (record.documents, record.failed) == (2, 1)


def test_the_state_of_a_source_is_kept(catalog, shelf):
    catalog.collections.set_source_state(shelf.source_id, "offline", "It's gone.")
    record = catalog.collections.source(shelf.source_id)
    assert (record.state, record.reason) == ("offline", "It's gone.")
    assert record.scanned_at is not None
    assert record.scanned_at > 1_600_000_000
    catalog.collections.set_source_state(shelf.source_id, "ready")
    assert catalog.collections.source(shelf.source_id).reason == ""


def test_wrong_sources_are_refused(catalog):
    with pytest.raises(CatalogError):
        catalog.collections.ensure_source(99, "folder", "/a")
    record = catalog.collections.ensure("a")
    with pytest.raises(CatalogError, match=r"(?i)check"):
        catalog.collections.ensure_source(record.id, "cloud", "/a")
    with pytest.raises(NotFoundError, match="no source 5"):
        catalog.collections.source(5)
    assert catalog.collections.sources() == []


def _count(catalog, table):
    return catalog.connections.row(f"SELECT COUNT(*) FROM {table}")[0]


def test_deleting_a_collection_takes_everything_in_it_and_nothing_else(catalog, shelf):
    other = Shelf(catalog, "other")
    shelf.put("a.md", "one", "two")
    shelf.put("a.md", "three")
    other.put("b.md", "four")
    catalog.collections.delete(shelf.collection_id)
    assert [one.name for one in catalog.collections.all()] == ["other"]
    expected = {"sources": 1, "documents": 1, "texts": 1, "sections": 1, "chunks": 1}
    for table, count in {**expected, "entries": 1, "entry_tokens": 1, "removed_entries": 0}.items():
        assert _count(catalog, table) == count, table
    assert catalog.integrity.broken_references() == 0
    again = catalog.collections.ensure("default")
    assert again.id > other.collection_id
    assert again.version == Version(0)


def test_deleting_a_source_takes_its_documents_and_says_which_entries_went(catalog, shelf):
    other = Shelf(catalog, root="/other")
    shelf.put("a.md", "one", "two")
    other.put("b.md", "three")
    before = shelf.version
    catalog.collections.delete_source(shelf.source_id)
    assert shelf.version == before + 1
    assert catalog.entries.removed_since(shelf.collection_id, before).tolist() == [1, 2]
    assert shelf.entry_ids() == [3]
    assert [one.root for one in catalog.collections.sources()] == ["/other"]
    catalog.collections.delete_source(shelf.source_id)
    assert shelf.version == before + 1


def test_deleting_an_empty_source_changes_no_version(catalog, shelf):
    catalog.collections.delete_source(shelf.source_id)
    assert shelf.version == 0


def test_numbers_of_changes_are_never_used_again(catalog, shelf):
    shelf.put("a.md")
    other = catalog.collections.ensure("other")
    source = catalog.collections.ensure_source(other.id, "folder", "/other").id
    draft = document_draft(source, other.id)
    catalog.documents.put_many([draft], shelf.embedder_id)
    before = catalog.collections.version(other.id)
    catalog.collections.delete(other.id)
    again = catalog.collections.ensure("other")
    assert again.id > other.id
    shelf.put("b.md")
    assert shelf.version > before.number > 1
    assert not catalog.entries.holds(before._replace(token="another"))


def test_old_changes_are_forgotten_but_not_those_that_are_needed(catalog, shelf):
    other = catalog.collections.ensure("other")
    source = catalog.collections.ensure_source(other.id, "folder", "/other").id
    catalog.documents.put_many([document_draft(source, other.id)], shelf.embedder_id)
    standing = catalog.collections.version(other.id)
    numbered = [standing]
    with catalog.connections.write() as connection:
        for _ in range(1100):
            next_version(connection, shelf.collection_id)
            numbered.append(newest(connection))
    assert all(map(catalog.entries.holds, numbered))
    catalog.collections.forget_changes([numbered[7].number])
    held = [version.number for version in numbered if catalog.entries.holds(version)]
    assert held == [1, 8, *range(102, 1102)]


@pytest.mark.sqlite
def test_renewed_versions_are_of_no_earlier_history(catalog, shelf):
    shelf.put("a.md")
    before = catalog.collections.version(shelf.collection_id)
    with catalog.connections.write() as connection:
        renew_versions(connection)
    after = catalog.collections.version(shelf.collection_id)
    assert after.number > before.number
    assert catalog.entries.holds(after)
    assert not catalog.entries.holds(before)


def test_collections_that_changed_are_given_in_the_order_of_their_changes(catalog, shelf):
    collections = catalog.collections
    assert collections.changed_since(Version(0)) == []
    shelf.put("a.md", "one")
    first = collections.newest()
    other, empty = Shelf(catalog, "a name before it", "/other"), collections.ensure("empty")
    other.put("b.md", "two")
    shelf.put("c.md", "three")
    changed = collections.changed_since(Version(0))
    assert [one.id for one in changed] == [other.collection_id, shelf.collection_id]
    assert changed[-1].version == collections.newest()
    assert collections.changed_since(changed[0].version) == changed[1:]
    assert collections.changed_since(changed[1].version) == []
    # A change of another history, as before the library was restored, says nothing.
    assert collections.changed_since(Version(first.number, "of another")) == changed
    assert empty.id not in {one.id for one in changed}


def test_only_sources_in_trouble_are_named_of_many(catalog, shelf):
    collections = catalog.collections
    numbers = [
        collections.ensure_source(shelf.collection_id, "folder", f"/{place}").id
        for place in range(5)
    ]
    collections.set_source_state(numbers[1], "offline", "It is gone.")
    collections.set_source_place(numbers[2], "/2", "another machine")
    collections.set_source_place(numbers[3], "/3", "another machine")

    def look(limit=9, collection_id=None):
        found, troubled, others = collections.troubled_sources(
            collection_id, "", remarked=[numbers[4]], seen=[numbers[3]], limit=limit
        )
        return [source.id for source in found], troubled, others

    assert look() == ([numbers[1], numbers[2], numbers[4]], 3, 3)
    assert look(1) == ([numbers[1]], 3, 3)
    assert look(9, shelf.collection_id) == look()
    assert look(9, shelf.collection_id + 1) == ([], 0, 0)
    assert collections.sources_of([numbers[0], 999])[numbers[0]].root == "/0"
    assert [source.id for source in collections.sources(limit=2)] == [shelf.source_id, numbers[0]]
