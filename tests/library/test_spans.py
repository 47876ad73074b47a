"""Parts of documents by their place, and filters by how they are typed."""

from __future__ import annotations

import pytest
from small_library import HANDBOOK, add, write_files

from ragkit.errors import NotFoundError, QueryError
from ragkit.library import Library
from ragkit.options import Filters
from ragkit.settings import load_settings

_WORDS = "The harbour master notes each buoy that drifts beyond the outer marker at dusk. "
_LONG = "# Log\n\n" + "\n\n".join(
    f"## Day {day}\n\n{f'On day {day}: ' + _WORDS * 16}" for day in range(1, 9)
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("spans")
    write_files(root / "files", {**HANDBOOK, "log.md": _LONG})
    settings = load_settings(library=root / "library", models={"embedder": "hash"})
    with Library.open(settings, create=True) as opened:
        add(opened, root / "files")
        yield opened


@pytest.fixture(scope="module")
def log(library):
    (record,) = library.documents.list(containing="log.md")
    return library.documents.get(record.id)


def test_a_span_is_the_slice_of_the_stored_text(library, log):
    text, number = log.text, log.record.id
    start = text.index("## Day 3")
    end = text.index("## Day 5")
    passage = library.documents.passage(number, start, end)
    assert (passage.start, passage.end, passage.cut) == (start, end, False)
    assert passage.text == text[start:end]
    assert passage.path_at(start) == ("Log", "Day 3")
    assert passage.path_at(end - 1) == ("Log", "Day 4")
    touched = [one.chunk.index for one in log.chunks
               if one.chunk.start < end and one.chunk.end > start]  # fmt: skip
    assert passage.chunks == (touched[0], touched[-1])


def test_a_span_without_an_end_is_the_rest_and_at_the_end_it_is_empty(library, log):
    number, length = log.record.id, len(log.text)
    assert library.documents.passage(number).text == log.text
    assert library.documents.passage(number, 10).text == log.text[10:]
    assert library.documents.passage(number, 10, 10**12).text == log.text[10:]
    last = library.documents.passage(number, length)
    assert (last.text, last.start, last.end, last.cut) == ("", length, length, False)
    for end in (None, length + 9):
        with pytest.raises(QueryError, match=f"no text from {length + 1}") as beyond:
            library.documents.passage(number, length + 1, end)
        assert beyond.value.cure == f"Ask for a part of 0 to {length}."


def test_a_long_span_is_cut_and_says_so(library, log, monkeypatch):
    monkeypatch.setattr("ragkit.retrieval.spans.LONGEST_PASSAGE", 1000)
    passage = library.documents.passage(log.record.id, 50)
    assert (passage.text, passage.end, passage.cut) == (log.text[50:1050], 1050, True)
    assert library.documents.passage(log.record.id, 50, 1050).cut is False


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (5, 4), (5, -1)])
def test_a_span_that_is_none_is_an_error_that_names_the_length(library, log, start, end):
    with pytest.raises(QueryError, match=f"0 to {len(log.text)}"):
        library.documents.passage(log.record.id, start, end)


def test_neighbours_are_one_passage_around_a_chunk(library, log):
    number, chunks = log.record.id, [one.chunk for one in log.chunks]
    assert len(chunks) > 5
    for chunk, reach, first, last in (
        (3, 1, 2, 4), (3, 2, 1, 5), (0, 1, 0, 1), (3, 0, 3, 3),
        (len(chunks) - 1, 1, len(chunks) - 2, len(chunks) - 1), (2, 10**9, 0, len(chunks) - 1),
    ):  # fmt: skip
        passage = library.documents.neighbours(number, chunk, reach)
        assert passage.text == log.text[chunks[first].start : chunks[last].end]
        assert passage.chunks[0] <= first <= last <= passage.chunks[1]


def test_neighbours_of_no_chunk_are_an_error_with_how_many_there_are(library, log):
    number, total = log.record.id, len(log.chunks)
    for chunk in (-1, total):
        with pytest.raises(NotFoundError, match=f"no chunk {chunk}") as none:
            library.documents.neighbours(number, chunk)
        assert none.value.cure == f"It has {total} chunks, counted from 0."
    with pytest.raises(QueryError):
        library.documents.neighbours(number, 0, -1)
    for of_document in (library.documents.passage, library.documents.neighbours):
        with pytest.raises(NotFoundError):
            of_document(10**6, 0)


def test_filters_are_taken_as_they_are_typed(library):
    options = library.options(filters='type:md,csv after:2025-01 framework:legal path:"hand book/"')
    assert options.filters == Filters(
        types=("md", "csv"),
        after="2025-01",
        fields=(("framework", "legal"),),
        paths=("hand book/",),
    )
    assert library.options(filters="").filters == Filters()
    assert library.options(filters=Filters(types=("md",))).filters == Filters(types=("md",))
    found = library.search("oauth refund tomatoes", filters="type:csv")
    assert {result.document.format for result in found.results} <= {"csv"}
    typed = library.search("buoy", filters="type:csv")
    assert [one.document.path for one in typed.results] == ["data/prices.csv"]


@pytest.mark.parametrize(
    "wrong",
    ["refund", "type:md refund", "-type:md", '"gift cards"', "type:md OR path:notes",
     "typ:md", "after:yesterday", "collection:other"],
)  # fmt: skip
def test_what_is_no_filter_is_an_error(library, wrong):
    with pytest.raises(QueryError):
        library.options(filters=wrong)
