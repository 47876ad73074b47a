"""From groups of hits to results, over a real catalog."""

from __future__ import annotations

import numpy as np
import pytest
from small_library import add, open_library, write_files
from support import vector_bytes

from ragkit.answering.excerpts import by_words
from ragkit.options import Expansion, SearchOptions
from ragkit.results import Contribution
from ragkit.retrieval.assembly import assemble
from ragkit.retrieval.grouping import Group
from ragkit.retrieval.hit_lookups import HitLookups
from ragkit.retrieval.hits import Hit
from ragkit.types import Level

PIECES = tuple(f"piece {number} of the pie" for number in range(10))


def hit(document, position, score=0.5, entry=1):
    part = Contribution("keyword", 1, 3.0, score, 1.0, score)
    return Hit(entry, document, position, Level.CHUNK, score, (part,))


def present(shelf, *groups, **options):
    return assemble(shelf.catalog, groups, SearchOptions(**options), ("pie",), lambda: ("pie",))


@pytest.fixture
def document(shelf):
    return shelf.put("folder/pie.md", *PIECES, title="The pie", date="2025-01-02")


def test_a_result_shows_matched_chunks_and_their_neighbours(shelf, document):
    hits = (hit(document, 2, 0.9), hit(document, 5, 0.8), hit(document, 7, 0.7))
    [result] = present(shelf, Group(document, hits))
    text = shelf.catalog.documents.text(document)
    assert [one.index for one in result.matched_chunks] == [2, 5, 7]
    assert result.context_chunks == (1, 3, 4, 6, 8)
    assert result.chunk_coverage == "chunks 2-9 of 10"
    assert [text[one.start : one.end] for one in result.passages] == [
        one.text for one in result.passages
    ]
    assert (result.score, result.max_score) == (0.9, 0.9)
    assert result.avg_score == pytest.approx(0.8)
    assert result.matched_chunks[0].contributions[0].value == 0.9
    assert result.matched_chunks[0].terms == ("pie",)


def test_results_without_content_say_all_but_the_text(shelf, document, monkeypatch):
    group = Group(document, (hit(document, 2, 0.9), hit(document, 7, 0.7)))
    [whole] = present(shelf, group)
    monkeypatch.setattr(type(shelf.catalog.documents), "slices", None)
    [bare] = present(shelf, group, show_content=False)
    assert [one.text for one in bare.passages] == ["", ""]
    assert [one.terms for one in bare.matched_chunks] == [(), ()]

    def place(result):
        return [(one.start, one.end, one.chunks, one.page) for one in result.passages]

    assert place(bare) == place(whole)
    assert bare.chunk_coverage == whole.chunk_coverage == "chunks 2-4,7-9 of 10"
    assert bare.gaps == whole.gaps
    assert (bare.score, bare.avg_score) == (whole.score, whole.avg_score)
    assert by_words("pie", [bare], 200) == [None]


def test_a_matched_chunk_says_where_it_stands(shelf, document):
    hits = (hit(document, 2, 0.9), hit(document, 7, 0.8))
    [result] = present(shelf, Group(document, hits), chunks_per_doc=1)
    [chunk] = result.matched_chunks
    text = shelf.catalog.documents.text(document)
    assert text[chunk.span.start : chunk.span.end].strip() == PIECES[2]
    assert (chunk.heading_path, chunk.pages) == (("Top",), None)
    assert [(one.index, one.span) for one in result.more] == [(7, None)]


def test_further_matches_that_are_shown_as_neighbours_are_not_more(shelf, document):
    hits = (hit(document, 2, 0.9), hit(document, 3, 0.8), hit(document, 7, 0.7))
    group = Group(document, hits, (hit(document, 1, 0.3), hit(document, 9, 0.2)))
    [result] = present(shelf, group, chunks_per_doc=1)
    assert result.shown_chunks == (1, 2, 3)
    assert [one.index for one in result.more] == [7, 9]
    [whole] = present(shelf, group, chunks_per_doc=1, expansion=Expansion.DOCUMENT)
    assert (whole.chunk_coverage, whole.more) == ("chunks 1-10 of 10", ())


def test_highlights_are_the_words_of_the_question(shelf, document):
    [result] = present(shelf, Group(document, (hit(document, 3),)), neighbours=0)
    [passage] = result.passages
    assert [passage.text[a:b] for a, b in passage.highlights] == ["pie"]
    assert passage.heading_path == ("Top",)


def test_a_gap_is_named(shelf, document):
    [result] = present(shelf, Group(document, (hit(document, 0), hit(document, 9, 0.4))))
    assert len(result.passages) == 2
    assert result.gaps == ((2, 7),)


def test_a_document_says_where_it_lies_and_whether_its_file_is_there(shelf, document, tmp_path):
    [result] = present(shelf, Group(document, (hit(document, 0),)))
    assert result.document.file == "/files/folder/pie.md"
    assert result.missing
    assert (result.document.title, result.document.date) == ("The pie", "2025-01-02")
    assert (result.document.chunks, result.document.pages) == (10, 0)


def test_documents_that_have_gone_are_left_out(shelf, document):
    other = shelf.put("other.md", "another pie")
    shelf.catalog.documents.remove([document])
    results = present(
        shelf, Group(document, (hit(document, 0),)), Group(other, (hit(other, 0, 0.4),))
    )
    assert [one.document.path for one in results] == ["other.md"]


def test_other_places_are_paths_and_further_hits_are_kept(shelf, document):
    copy = shelf.put("copy.md", *PIECES)
    group = Group(document, (hit(document, 0),), (hit(document, 4, 0.3),), (copy, 999))
    [result] = present(shelf, group)
    assert result.also_at == ("copy.md",)
    assert [one.index for one in result.more] == [4]


def test_a_chunk_that_is_no_longer_there_is_passed_over(shelf, document):
    results = present(shelf, Group(document, (hit(document, 77),)))
    assert results == []
    [some] = present(shelf, Group(document, (hit(document, 77), hit(document, 1, 0.4))))
    assert [one.index for one in some.matched_chunks] == [1]


def test_the_number_of_queries_does_not_grow_with_the_results(shelf, monkeypatch):
    documents = [shelf.put(f"{number}.md", *PIECES) for number in range(12)]
    asked = []
    rows = type(shelf.catalog.connections).rows

    def counted(self, query, parameters=()):
        asked.append(query)
        return rows(self, query, parameters)

    monkeypatch.setattr(type(shelf.catalog.connections), "rows", counted)
    present(shelf, *[Group(one, (hit(one, 3),)) for one in documents])
    assert len(asked) == 4


def test_what_is_shown_of_several_sections_knows_the_headings_of_each(tmp_path):
    text = "# Pier\n\nAbout it.\n\n## Gate\n\nIt opens at 7.\n\n## Crane\n\nIt lifts ten tons.\n"
    with open_library(tmp_path / "library") as library:
        add(library, write_files(tmp_path / "files", {"pier.md": text}))
        [result] = library.search("which crane lifts tons").results
    [passage] = result.passages
    assert passage.chunks == (0, 0)
    assert passage.heading_path == ("Pier",)
    gate, crane = text.index("## Gate"), text.index("## Crane")
    assert passage.headings == (
        (0, ("Pier",)), (gate, ("Pier", "Gate")), (crane, ("Pier", "Crane")),
    )  # fmt: skip
    assert passage.path_at(crane - 1) == ("Pier", "Gate")
    assert passage.path_at(crane) == ("Pier", "Crane")


def test_lookups_tell_of_hits_what_the_catalog_holds(shelf, document):
    lookups = HitLookups(shelf.catalog, "fingerprint")
    ids = shelf.entry_ids()
    hits = [hit(document, position, entry=ids[position]) for position in (1, 3)]
    hits.append(hit(document, 77, entry=9999))
    assert lookups.texts(hits) == {
        ids[1]: shelf.catalog.documents.text(document)[17 * 1 + 5 : 17 * 2 + 10]
    } | lookups.texts(hits)
    assert [text.strip() for text in lookups.texts(hits).values()] == [PIECES[1], PIECES[3]]
    assert lookups.sections(hits) == {ids[1]: 0, ids[3]: 0}
    vectors = lookups.vectors(hits)
    assert np.array_equal(vectors[ids[1]], np.frombuffer(vector_bytes(PIECES[1]), "<f2"))
    assert HitLookups(shelf.catalog, "of another").vectors(hits) == {}
