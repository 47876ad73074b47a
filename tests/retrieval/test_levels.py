"""Documents, sections and blocks that are found as such: what is shown of them, and its scores."""

from __future__ import annotations

import pytest
from small_library import add, find, open_library, paths, write_files

from ragkit.types import Level

SUBJECTS = (
    "harbour", "orchard", "archive", "foundry", "quarry", "railway", "theatre", "bakery",
    "vineyard", "library", "dockyard", "brewery",
)  # fmt: skip


def section(subject: str, more: str = "") -> str:
    """A section long enough for a chunk or two of its own."""
    told = " ".join(
        f"The {subject} has keeper number {number}, who looks after {subject} matters daily."
        for number in range(20)
    )
    return f"## The {subject}\n\n{told}\n\n{told}\n\n{more}\n"


FILES = {
    "town.md": "# Town guide\n\n"
    + "\n".join(
        section(one, "The sluice opens at dawn by the brass lever." if one == "bakery" else "")
        for one in SUBJECTS
    ),
    "river.md": "# River guide\n\nThe sluice of the river is painted green.\n",
    "garden.md": "# Garden\n\nTomatoes need sun.\n",
}
QUESTION = "sluice opens dawn brass lever"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    root = tmp_path_factory.mktemp("levels")
    opened = open_library(root / "library")
    add(opened, write_files(root / "files", FILES))
    yield opened
    opened.close()


def result_of(library, path, question=QUESTION, **options):
    answer = find(library, question, limit=50, **options)
    return next(one for one in answer.results if one.document.path == path)


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
@pytest.mark.parametrize("fusion", ["weighted", "rrf"])
def test_a_document_shows_the_part_of_it_that_answers(library, mode, fusion):
    found = result_of(library, "town.md", granularity="document", mode=mode, fusion=fusion)
    best = found.matched_chunks[0]
    assert (best.level, best.part_of) == (Level.CHUNK, Level.DOCUMENT)
    assert best.index == result_of(library, "town.md", mode=mode, fusion=fusion).best_index
    if mode != "vector":  # the vectors of tests know words alone
        assert best.heading_path[-1] == "The bakery"
        assert any("brass lever" in passage.text for passage in found.passages)


def test_a_document_keeps_its_score_and_its_chunks_have_those_of_a_search_in_chunks(library):
    found = result_of(library, "town.md", granularity="document")
    assert [whole.level for whole in found.wholes] == [Level.DOCUMENT]
    assert found.score == found.wholes[0].score == found.lead.score
    assert sum(part.value for part in found.lead.contributions) == pytest.approx(found.score)
    chunks = result_of(library, "town.md")
    assert {one.index: one.score for one in found.matched_chunks} == pytest.approx(
        {one.index: one.score for one in chunks.matched_chunks}
    )
    assert found.score != chunks.score
    for one in found.matched_chunks:
        assert sum(part.value for part in one.contributions) == pytest.approx(one.score)


def test_coverage_of_a_document_names_the_chunks_that_answer(library):
    found = result_of(library, "town.md", granularity="document", neighbours=0, chunks_per_doc=1)
    number = found.matched_chunks[0].index + 1
    assert found.chunk_coverage == f"chunk {number} of {found.document.chunks}"
    assert found.context_chunks == ()


def test_a_section_shows_itself_around_its_best_chunk(library):
    found = result_of(library, "town.md", granularity="section", chunks_per_doc=1)
    assert [whole.level for whole in found.wholes] == [Level.SECTION]
    assert {one.level for one in found.more} == {Level.SECTION}, "the others are not shown"
    best = found.matched_chunks[0]
    assert (best.level, best.part_of) == (Level.CHUNK, Level.SECTION)
    assert best.index > found.wholes[0].index, "it is the second chunk of its section"
    (passage,) = found.passages
    assert "brass lever" in passage.text
    assert {path[-1] for _, path in passage.headings} <= {"The bakery"}


def test_the_best_chunk_of_a_document_is_shown_however_weak(library):
    found = find(library, QUESTION, granularity="document", limit=1)
    score = found.results[0].score
    strict = find(library, QUESTION, granularity="document", limit=1, min_score=score)
    assert paths(strict) == paths(found)
    assert len(strict.results[0].matched_chunks) == 1


def test_filters_hold_for_the_chunks_of_a_document_too(library):
    found = result_of(library, "town.md", f"{QUESTION} in:quarry", granularity="document")
    assert {one.heading_path[-1] for one in found.matched_chunks} == {"The quarry"}


def test_a_long_question_shows_what_answers_of_documents(library):
    options = library.options(granularity="document", limit=5)
    answer = library.search_chunked(f"{QUESTION}\n\nTomatoes and sun", options)
    [town] = [one for one in answer.results if one.result.document.path == "town.md"]
    best = town.result.matched_chunks[0]
    assert best.part_of is Level.DOCUMENT
    assert best.heading_path[-1] == "The bakery"
    assert town.topics
