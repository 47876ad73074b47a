"""Reading parts of many documents at once."""

from __future__ import annotations

import pytest

PIECES = ("first piece", "zweites Stück 検索 😀", "third piece")


@pytest.fixture
def two(shelf):
    return shelf.put("a.md", *PIECES), shelf.put("b.md", "only piece")


def test_chunks_come_in_order_whatever_the_order_of_asking(shelf, two):
    found = shelf.catalog.documents.chunks_at({two[0]: [2, 0], two[1]: [0]})
    assert [record.chunk.index for record in found[two[0]]] == [0, 2]
    assert found[two[0]] == [shelf.catalog.documents.chunks(two[0])[at] for at in (0, 2)]
    assert found[two[1]] == shelf.catalog.documents.chunks(two[1])


def test_chunks_and_documents_that_are_not_there_are_left_out(shelf, two):
    found = shelf.catalog.documents.chunks_at({two[0]: [1, 7, -1], 99: [0]})
    assert [record.chunk.index for record in found[two[0]]] == [1]
    assert found[99] == []
    assert shelf.catalog.documents.chunks_at({}) == {}


def test_slices_count_characters_and_keep_the_order(shelf, two):
    text = shelf.catalog.documents.text(two[0])
    spans = [(two[0], 13, 34), (two[1], 0, 4), (two[0], 0, 5), (two[0], 13, 34), (99, 0, 5)]
    slices = shelf.catalog.documents.slices(spans)
    assert slices == [text[13:34], "only", "first", text[13:34], ""]
    assert "😀" in slices[0]


@pytest.mark.parametrize(("start", "end"), [(0, 0), (5, 5), (30, 10_000), (500, 600)])
def test_slices_at_the_edges_are_those_of_python(shelf, two, start, end):
    text = shelf.catalog.documents.text(two[0])
    assert shelf.catalog.documents.slices([(two[0], start, end)]) == [text[start:end]]


def test_many_slices_are_one_query(shelf, two):
    spans = [(two[0], at, at + 3) for at in range(40)] * 50
    text = shelf.catalog.documents.text(two[0])
    assert shelf.catalog.documents.slices(spans) == [text[a:b] for _, a, b in spans]
    assert shelf.catalog.documents.slices([]) == []
