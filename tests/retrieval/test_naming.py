"""Which documents a question names, and the pages of them that answer the rest of it."""

from __future__ import annotations

from itertools import product

import pytest
from small_library import add, find, open_library, write_files

from ragkit.options import Filters, SearchOptions
from ragkit.retrieval.naming import named_documents
from ragkit.retrieval.query.parser import ParsedQuery
from ragkit.retrieval.stages import StageTimer
from ragkit.types import Level

_TOPICS = ("leases", "pensions", "taxes", "goodwill", "staff", "auditors", "patents", "ships")
_FILLER = "The board reviews its plans and the rules that apply to them every year. " * 30


def report(company: str, year: int) -> str:
    """A report of as many sections as it takes, in which the company stands on some pages."""
    parts = [
        f"## Part {number}: {topic}\n\n{_FILLER}\n\n"
        + (f"{company} likes {company}. " * 3 if topic == "ships" else f"Paid for {topic}: {year}.")
        for number, topic in enumerate(_TOPICS * 3)
    ]
    return "# Annual report\n\n" + "\n\n".join(parts)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    place = tmp_path_factory.mktemp("named")
    reports = {
        f"{company.lower()} {year}.md": report(company, year)
        for company, year in product(("Corvane", "Ostrel", "Merrowby", "Quist"), (2019, 2020))
    }
    short = {"zeppelin.md": "# Zeppelin\n\nA zeppelin is moored to the mast.\n"}
    opened = open_library(place / "library")
    add(opened, write_files(place / "files", {**reports, **short}))
    yield opened
    opened.close()


def named(library, text: str):
    """The paths that are named with how well, and what is left."""
    engine, collection = library.engine, library.catalog.collections.get("default")
    (query,) = engine._encoder.encode([ParsedQuery(text)], SearchOptions(), [collection])
    index = library.indexes.current(collection, Level.CHUNK)
    found = named_documents(query, [index], library.catalog.documents.nameable)
    if found is None:
        return None
    paths = [library.catalog.documents.get(one).path for one in found.documents.tolist()]
    return dict(zip(paths, found.shares.tolist(), strict=True)), found.rest


def test_a_name_and_a_year_name_a_document_and_others_of_the_name_less(library):
    shares, rest = named(library, "What did Corvane pay for leases in 2020?")
    assert shares.keys() == {"corvane 2019.md", "corvane 2020.md"}
    assert shares["corvane 2020.md"] == 1.0
    assert 0.5 < shares["corvane 2019.md"] < 0.9
    assert rest == "What did pay for leases in"


def test_in_small_letters_a_name_comes_with_a_number(library):
    shares, rest = named(library, "corvane 2020 leases paid")
    assert shares["corvane 2020.md"] == 1.0
    assert rest == "leases paid"


@pytest.mark.parametrize(
    "text",
    [
        "what did corvane pay for leases?",  # not written as a name, and no number
        "What was paid for leases in 2020?",  # a year alone
        "Corvane 2020",  # nothing is asked
        "Where is the Zeppelin moored?",  # a short document
        "What does `Corvane` return?",  # code
        "Report of the Board on Pensions",  # words of all documents
        "What did Xyzzy pay for leases?",  # unknown
    ],
)
def test_what_is_no_name(library, text):
    assert named(library, text) is None


def test_the_rest_is_asked_in_the_documents_that_are_named(library):
    text = "What did Corvane pay for leases in 2020?"
    (first, *_), (usual, *_) = (
        find(library, text, per_document=0, name_weight=weight).results for weight in (2.0, 0.0)
    )
    assert first.document.path == "corvane 2020.md"
    (chunk,) = first.matched_chunks
    assert "leases" in chunk.heading_path[-1]
    (part,) = (one for one in chunk.contributions if one.index == "name")
    assert part.weight == pytest.approx(2 / 3 / 1.3)
    assert part.value == pytest.approx(part.raw * part.weight)
    assert first.score == pytest.approx(sum(one.value for one in chunk.contributions))
    assert "name" not in {one.index for one in usual.matched_chunks[0].contributions}


def test_documents_that_are_named_are_asked_within_the_filters(library):
    text = "What did Corvane pay for leases in 2020?"
    results = find(library, text, filters=Filters(paths=("corvane 2019.md",))).results
    assert [one.document.path for one in results] == ["corvane 2019.md"]
    assert "leases" in results[0].matched_chunks[0].heading_path[-1]


def test_a_question_that_names_is_the_same_in_a_batch(library):
    texts = ["What did Corvane pay for leases in 2020?", "What was paid for patents?"]
    options = SearchOptions()
    engine, collection = library.engine, library.catalog.collections.get("default")

    def hits(some: list[str]):
        queries = engine._encoder.encode([ParsedQuery(one) for one in some], options, [collection])
        found, _ = engine.batches.ranked(queries, 50, options, StageTimer())
        return [
            [(hit.entry_id, hit.score, tuple(hit.contributions)) for hit in own] for own in found
        ]

    assert hits(texts) == [hits([text])[0] for text in texts]


def test_what_is_left_of_a_question_is_no_quotation(library):
    text = "At Corvane the board reviews its plans 2020"
    scores = [
        [(result.document.path, result.score) for result in find(library, text, **options).results]
        for options in ({}, {"verbatim_weight": 0.0})
    ]
    assert scores[0] == scores[1] != []
