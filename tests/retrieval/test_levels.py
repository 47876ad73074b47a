"""Documents, sections and blocks that are found as such: what is shown of them, and its scores."""

from __future__ import annotations

import pytest
from small_library import add, find, open_library, paths, sync, write_files

from ragkit.health.consistency import fault_of
from ragkit.types import BlockKind, Level

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


TABLE = """| fruit | sugar per kilo | minutes |
|---|---|---|
| quince | 800 grams | 45 |
| medlar | 750 grams | 50 |
| sloe | 900 grams | 30 |
| damson | 850 grams | 35 |"""

FILES = {
    "town.md": "# Town guide\n\n"
    + "\n".join(
        section(one, "The sluice opens at dawn by the brass lever." if one == "bakery" else "")
        for one in SUBJECTS
    ),
    "river.md": "# River guide\n\nThe sluice of the river is painted green.\n",
    "garden.md": "# Garden\n\nTomatoes need sun.\n",
    "kitchen.md": "# Kitchen\n\n## Preserves\n\n"
    + " ".join(f"Jam number {n} is boiled with sugar in a copper pan." for n in range(16))
    + "\n\n"
    + TABLE
    + "\n\n"
    + " ".join(f"Pickle number {n} rests in brine in a stone jar." for n in range(9))
    + "\n\n## Tools\n\n"
    + " ".join(f"Ladle number {n} hangs on a hook by the window." for n in range(30))
    + "\n\n- a ladle\n- a sieve\n",
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


# -- blocks --------------------------------------------------------------------------------

OF_TABLE = "medlar sugar per kilo minutes"


@pytest.mark.parametrize("granularity", ["block", "auto"])
def test_a_table_is_found_by_itself_and_shown_in_its_section(library, granularity):
    found = find(library, OF_TABLE, granularity=granularity, chunks_per_doc=1).results[0]
    assert found.document.path == "kitchen.md"
    best = found.matched_chunks[0]
    assert (best.level, best.block) == (Level.BLOCK, BlockKind.TABLE)
    text = library.documents.get(found.document.id).text
    assert text[best.span.start : best.span.end] == TABLE
    (passage,) = found.passages
    assert "## Preserves" in passage.text
    assert "copper pan" in passage.text
    assert "stone jar" in passage.text
    assert "Ladle" not in passage.text
    assert found.score == best.score
    assert sum(part.value for part in best.contributions) == pytest.approx(found.score)


def test_only_blocks_are_found_where_only_they_are_searched(library):
    answer = find(library, "sluice opens dawn", granularity="block", mode="keyword")
    assert answer.results == (), "no table, list or code has a word of it"
    assert [stage.name for stage in answer.trace.stages if "block" in stage.name]
    lacking = find(library, "medlar sluice copper", granularity="block", mode="keyword")
    assert lacking.missing_terms == (), "other documents have it"
    assert lacking.results[0].missing_terms == ("sluice",), "its document has the others"


def test_nothing_is_shown_both_as_a_block_and_as_its_chunk(library):
    answer = find(library, OF_TABLE, granularity="auto", per_document=0, limit=50)
    places = [
        (result.document.id, chunk.index)
        for result in answer.results
        for chunk in result.matched_chunks
    ]
    assert len(places) == len(set(places))
    levels = [chunk.level for result in answer.results for chunk in result.matched_chunks]
    assert levels.count(Level.BLOCK) == 1
    assert Level.CHUNK in levels


def opened_levels(library):
    return {level for (_, level), place in library.indexes._open.items() if place.index is not None}


def test_a_search_in_chunks_never_opens_the_index_of_blocks(tmp_path):
    library = open_library(tmp_path / "library")
    add(library, write_files(tmp_path / "files", {"kitchen.md": FILES["kitchen.md"]}))
    library.close()
    with open_library(tmp_path / "library", create=False) as again:
        answer = find(again, OF_TABLE)
        assert answer.results[0].matched_chunks[0].level is Level.CHUNK
        assert opened_levels(again) == {Level.CHUNK}
        find(again, OF_TABLE, granularity="block")
        assert opened_levels(again) == {Level.CHUNK, Level.BLOCK}


def test_blocks_stay_what_they_are_when_their_file_is_moved(tmp_path):
    files = write_files(tmp_path / "files", {"a/kitchen.md": FILES["kitchen.md"]})
    with open_library(tmp_path / "library") as library:
        add(library, files)
        (files / "b").mkdir()
        (files / "a/kitchen.md").rename(files / "b/kitchen.md")
        sync(library)
        (found,) = find(library, OF_TABLE, granularity="block").results
        assert found.document.path == "b/kitchen.md"
        assert found.matched_chunks[0].block is BlockKind.TABLE
        stored = library.catalog.integrity.stored(found.document.id)
        assert [block.kind for block in stored.blocks] == [BlockKind.TABLE]
        assert fault_of(stored, stored.pipeline_fingerprint) == ""


def test_the_same_table_in_another_text_is_shown_once(tmp_path):
    other = FILES["kitchen.md"].replace("copper pan", "tin pot").replace("stone jar", "glass")
    files = write_files(tmp_path / "files", {"a.md": FILES["kitchen.md"], "b.md": other})
    with open_library(tmp_path / "library") as library:
        add(library, files)
        found = find(library, OF_TABLE, granularity="block")
        assert len(found.results) == 1
        assert found.results[0].also_at == ("b.md",)


def test_a_phrase_restricts_blocks_by_their_chunks(library):
    def asked(words):
        return paths(find(library, f"{OF_TABLE} {words}", granularity="block"))

    assert asked('"copper pan"') == ["kitchen.md"]
    assert asked('"brass lever"') == []
    assert asked("in:preserves") == ["kitchen.md"]
    assert asked("in:tools") == []
