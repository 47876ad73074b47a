from __future__ import annotations

import numpy as np
import pytest

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
    ({"languages": ("fr",)}, "c"),
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


def test_filters_see_one_collection_and_only_what_is_indexed(library, shelf):
    from support import Shelf

    from ragkit.types import FileState, Status

    other = Shelf(library, "other")
    theirs = other.put("notes/x.md")
    library.documents.set_outcome(
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
    facets = catalog.filters.facets(catalog.collections.all()[0])
    assert facets.values("from") == (("Ann", 2),)
    assert facets.values("to") == (("Bob", 1),)
    assert facets.values("cc") == (("Cy", 1), ("Zoë", 1))
    assert facets.values("bcc") == (("Cy", 1), ("d@x.org", 1))
    assert facets.fields == ()


def test_facets_count_indexed_documents(library, shelf):
    facets = library.filters.facets(library.collections.all()[0])
    assert facets.types == (("markdown", 4), ("text", 1))
    assert facets.languages == (("en", 4), ("de", 1))
    assert facets.folders == (("notes/", 2), ("deep/", 1), ("mynotes/", 1))
    assert facets.tags == (("a", 1), ("single", 1), ("Été", 1))
    assert facets.fields == (("n", (("7", 2),)),)
    some = library.filters.facets(library.collections.all()[0], np.array([1, 2, 99]))
    assert some.types == (("markdown", 1), ("text", 1))
    assert some.folders == (("notes/", 2), ("deep/", 0), ("mynotes/", 0))
    assert 'odd "key"' in library.filters.field_names(library.collections.all()[0])


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
