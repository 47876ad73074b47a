from __future__ import annotations

import json

import numpy as np
import pytest

from ragkit.catalog.facets import FacetTable, joined
from ragkit.options import Filters
from ragkit.types import Section


@pytest.fixture
def library(catalog, shelf):
    """Five documents, no two alike."""
    shelf.put(
        "notes/über.md", title="ÜBER Größe", date="2024-05-01", metadata={"tags": ["Été", "a"]}
    )
    shelf.put(
        "notes/b.txt",
        format="text",
        language="de",
        date="2025-01-31T10:00:00",
        metadata={"draft": True, "n": 7, 'odd "key"': "x", "authors": ["Zoë", "Bob"]},
    )
    shelf.put(
        "deep/notes.old/c.MD",
        mtime_ns=1_577_836_800 * 10**9,
        metadata={"draft": False, "tags": "single", "language": "FR"},
    )
    shelf.put("it's.md", title="100%_done", metadata={"n": 7, "none": None})
    shelf.put("mynotes/e.md", sections=(Section(0, 0, 3, 1, ("Guide",)),))
    return catalog


def names(library, shelf, **filters):
    """First letters of the names of the documents that pass."""
    ids = library.filters.documents(shelf.collection_id, Filters(**filters))
    return sorted(library.documents.get(int(one)).path.rsplit("/", 1)[-1][0] for one in ids)


def test_a_mailbox_without_a_suffix_is_mail(catalog, shelf):
    shelf.put("Mail/Inbox", format="conversation", metadata={"platform": "mbox"})
    shelf.put("Mail/Sent.mbox", format="conversation", metadata={"platform": "mbox"})
    shelf.put("chat.txt", format="conversation", metadata={"platform": "WhatsApp"})
    shelf.put("about.md", metadata={"platform": "mbox"})
    assert names(catalog, shelf, types=("mail",)) == ["I", "S"]
    (collection,) = catalog.collections.all()
    values = catalog.values.of(collection)
    assert values.of_types(["mail"]) == 2


_CASES = [
    ({}, "bceiü"),
    ({"types": ("md",)}, "ceiü"),
    ({"types": ("TEXT",)}, "b"),
    ({"types": ("txt", "nothing")}, "b"),
    ({"paths": ("notes/",)}, "bü"),
    ({"paths": ("/deep/",)}, "c"),
    ({"paths": ("ÜBER.MD",)}, "ü"),
    ({"paths": ("u\u0308ber",)}, "ü"),
    ({"paths": ("'",)}, "i"),
    ({"paths": ("%",)}, ""),
    ({"titles": ("über gr",)}, "ü"),
    ({"titles": ("0%_",)}, "i"),
    ({"languages": ("DE",)}, "b"),
    ({"languages": ("fr",)}, ""),
    ({"fields": (("language", "fr"),)}, "c"),
    ({"fields": (("language", "=fr"),)}, "c"),
    ({"tags": ("été",)}, "ü"),
    ({"tags": ("A", "single")}, "cü"),
    ({"after": "2024", "before": "2025"}, "ü"),
    ({"before": "2020-01-02"}, "c"),
    ({"after": "2025-01-31"}, "b"),
    ({"documents": (1, 3, 99)}, "cü"),
    ({"sources": ("FILES",)}, "bceiü"),
    ({"sources": ("elsewhere",)}, ""),
    ({"fields": (("draft", "True"),)}, "b"),
    ({"fields": (("draft", "true"), ("draft", "false"))}, "bc"),
    ({"fields": (("n", "7"),)}, "bi"),
    ({"fields": (("n", "7"), ("draft", "true"))}, "b"),
    ({"fields": (('odd "key"', "X"),)}, "b"),
    ({"fields": (("authors", "zoë"),)}, "b"),
    ({"fields": (("it's; --", "x"),)}, ""),
    ({"fields": (("tags", "ÉTÉ"),)}, "ü"),
]


@pytest.mark.parametrize(("filters", "expected"), _CASES)
def test_filters_let_through_exactly_what_they_say(library, shelf, filters, expected):
    assert "".join(names(library, shelf, **filters)) == expected


def test_what_may_be_unsaid_passes_unless_it_is_asked_strictly(library, shelf):
    def passing(*values, field="language"):
        filters = Filters(fields=tuple((field, value) for value in values))
        found = library.filters.documents(shelf.collection_id, filters, unsaid=True)
        return "".join(library.documents.get(one).path.split("/")[-1][0] for one in found)

    assert passing("fr") == passing("de", "FR") == "übcie"
    assert passing("de") == "übie"
    assert passing("=fr") == passing("de", "=fr") == "c"
    assert passing("true", field="draft") == "b"


def test_filters_see_one_collection_and_only_what_is_indexed(library, shelf):
    from support import Shelf

    from ragkit.types import FileState, Status

    other = Shelf(library, "other")
    theirs = other.put("notes/x.md")
    library.files.set_outcome(
        shelf.source_id, shelf.collection_id, FileState("notes/b.txt", 1, 1), Status.FAILED, "No."
    )
    assert names(library, shelf, paths=("notes/",)) == ["ü"]
    found = library.filters.documents(other.collection_id, Filters(paths=("notes/",)))
    assert found.tolist() == [theirs]


def test_mail_is_filtered_by_each_of_its_headers(catalog, shelf):
    shelf.put("a.eml", metadata={"author": "Ann", "to": "Bob <b@x.org>", "cc": "Cy, Zoë <z@x.org>"})
    shelf.put("b.eml", metadata={"author": "Ann <a@x.org>", "bcc": "d@x.org, Cy <c@x.org>"})
    assert names(catalog, shelf, copies=("ZOË", "nobody")) == ["a"]
    assert names(catalog, shelf, copies=("d@x",)) == []
    assert names(catalog, shelf, blind_copies=("D@X.org",)) == ["b"]
    facets = catalog.filters.facets(catalog.collections.all())
    assert facets.values("from") == (("Ann", 2),)
    assert facets.values("to") == (("Bob", 1),)
    assert facets.values("cc") == (("Cy", 1), ("Zoë", 1))
    assert facets.values("bcc") == (("Cy", 1), ("d@x.org", 1))
    assert facets.fields == ()
    assert facets.by_filter["cc"].documents == 1


def test_a_tag_is_found_and_counted_for_those_below_it(catalog, shelf):
    shelf.put("a.md", metadata={"tags": ["Food/Bread/Rye", "food/soup"]})
    shelf.put("b.md", metadata={"tags": ["food"]})
    shelf.put("c.md", metadata={"tags": ["foodstuff", "https://x.org/food", "/bread"]})
    assert names(catalog, shelf, tags=("food",)) == ["a", "b"]
    assert names(catalog, shelf, tags=("food/bread",)) == ["a"]
    assert names(catalog, shelf, tags=("food/bread/rye",)) == ["a"]
    assert names(catalog, shelf, tags=("bread",)) == []
    counts = dict(catalog.filters.facets(catalog.collections.all()).values("tag"))
    assert counts == {
        "Food": 1, "Food/Bread": 1, "Food/Bread/Rye": 1, "food": 2, "food/soup": 1,
        "foodstuff": 1, "https://x.org/food": 1, "/bread": 1,
    }  # fmt: skip


def test_facets_count_indexed_documents(library, shelf):
    facets = library.filters.facets(library.collections.all())
    assert facets.documents == 5
    assert facets.values("type") == (("markdown", 4), ("text", 1))
    assert facets.values("lang") == (("en", 4), ("de", 1))
    assert facets.values("path") == (("notes/", 2), ("deep/", 1), ("mynotes/", 1))
    assert facets.values("tag") == (("a", 1), ("single", 1), ("Été", 1))
    assert facets.fields == ()
    assert facets.values("n") == facets.values("nothing") == ()
    some = library.filters.facets(library.collections.all(), np.array([1, 2, 99]))
    assert some.documents == 2
    assert some.values("type") == (("markdown", 1), ("text", 1))
    assert some.values("path") == (("notes/", 2), ("deep/", 0), ("mynotes/", 0))
    assert 'odd "key"' in library.filters.field_names(library.collections.all())


def _table(values, documents=40):
    """Return facets of that many documents, the first of which have values of the field "f"."""
    rows = [(n, "text", "", "a", json.dumps({"f": value})) for n, value in enumerate(values)]
    rows += [(n, "text", "", "a", "{}") for n in range(len(rows), documents)]
    table = FacetTable()
    table.add(len(rows), rows, {})
    return table


def _of(table, chosen=slice(None)):
    """Count the rows of a table, all of them or some."""
    live = np.ones(table.rows, np.bool_)
    some = np.zeros(table.rows, np.bool_)
    some[chosen] = True
    return table.facets(live, some)


@pytest.mark.parametrize(
    ("values", "telling"),
    [
        (["draft", "final", "final", "final"], True),
        (["draft", "final", "final"], False),  # fewer than a tenth have it
        (["final"] * 9, False),  # one value
        ([8, 2, 11, 1, 8, 2], False),  # numbers
        (["2026-01-02", "2026-01-03 10:00", "2026-01-02", "2025-04"], False),
        (["v1.0", "v1.1", "v1.0", "v1.1"], True),
        ([f"v{n}" for n in range(30)] + ["v1"], True),
        ([f"v{n}" for n in range(31)] + ["v1"], False),
        ([f"only {n}" for n in range(9)], False),  # no two documents share one
    ],
)
def test_a_field_is_offered_if_few_values_divide_a_tenth_of_the_documents(values, telling):
    whole = _of(_table(values))
    assert ("f" in whole.fields and whole.by_filter["=f"].divides(whole.documents)) is telling


def test_whether_a_facet_divides_is_said_of_the_documents_counted():
    table = _table(["draft", "final", "final", "final"], documents=50)
    assert not _of(table).by_filter["=f"].divides(50)
    found = _of(table, slice(40))
    assert found.by_filter["=f"].divides(found.documents)
    assert not _of(table, slice(1, 10)).by_filter["=f"].divides(9)


def test_facets_of_several_collections_are_added_up():
    both = joined([_of(_table(["a", "b", "b"])), _of(_table(["c", "b", "c"], 20))])
    assert (both.documents, both.by_filter["=f"].documents) == (60, 6)
    assert both.values("f") == (("b", 3), ("c", 2), ("a", 1))
    assert both.values("type") == (("text", 60),)


def test_entries_under_a_heading_or_title(library, shelf):
    under = library.filters.entries_under
    rows = shelf.rows()
    others = rows.entry_ids[rows.document_ids != 5].tolist()
    assert under(shelf.collection_id, ["TOP"]).tolist() == others
    guided = rows.entry_ids[rows.document_ids == 5].tolist()
    assert under(shelf.collection_id, ["guide"]).tolist() == guided[:1]
    assert under(shelf.collection_id, ["guide", "top"]).tolist() == [*others, guided[0]]
    mine = rows.entry_ids[rows.document_ids == 1].tolist()
    assert under(shelf.collection_id, ["größe"]).tolist() == mine
    assert (
        under(shelf.collection_id, ["%"]).tolist()
        == rows.entry_ids[rows.document_ids == 4].tolist()
    )
    assert under(shelf.collection_id, ["nowhere"]).tolist() == []
