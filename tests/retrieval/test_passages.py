"""Passages: which spans of a document are shown, where they stand, and what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragkit.catalog.records import ChunkRecord
from ragkit.options import Expansion, SearchOptions
from ragkit.results import DocumentRef, MatchedChunk, Result
from ragkit.retrieval.highlight import Highlighter
from ragkit.retrieval.passages import (
    DOCUMENT_SECTIONS,
    PassagePlan,
    plan_document,
    wanted_chunks,
    with_texts,
)
from ragkit.types import Chunk, Level, Page, Section

CHUNK_ONLY = SearchOptions(expansion=Expansion.CHUNK, chunks_per_doc=0)
NEIGHBOURS = SearchOptions(expansion=Expansion.NEIGHBOURS, chunks_per_doc=0)
SECTION = SearchOptions(expansion=Expansion.SECTION, chunks_per_doc=0)
PARENT = SearchOptions(expansion=Expansion.PARENT, chunks_per_doc=0)
AUTO = SearchOptions(expansion=Expansion.AUTO, chunks_per_doc=0)
DOCUMENT = SearchOptions(expansion=Expansion.DOCUMENT, chunks_per_doc=0)


class Paper:
    """A document of equal chunks: "Part 0: ....", each of 100 characters and a blank line.

    ``sizes`` says how many chunks each section has; ``overlap`` how far a chunk reaches into
    the one before, within its section; ``parents`` how many chunks each parent has.
    """

    def __init__(self, *sizes: int, overlap: int = 0, parents: Sequence[int] = ()) -> None:
        self.total = sum(sizes)
        parts = [f"Part {index}: ".ljust(99, "x") + "." for index in range(self.total)]
        self.text = "\n\n".join(parts) + "\n"
        self.sections: list[Section] = []
        self.chunks: list[ChunkRecord] = []
        first = 0
        within = [number for number, size in enumerate(parents) for _ in range(size)]
        for number, size in enumerate(sizes):
            last = first + size
            end = len(self.text) if last == self.total else last * 102
            path = ("Paper", f"Section {number}")
            self.sections.append(Section(number, first * 102, end, 2, path))
            for index in range(first, last):
                start = index * 102 - (overlap if index > first else 0)
                pages = (index // 4 + 1, (index * 102 + 100) // 408 + 1)
                parent = within[index] if within else index // 4
                chunk = Chunk(index, start, index * 102 + 100, number, path, pages, parent)
                self.chunks.append(ChunkRecord(chunk, "Paper"))
            first = last

    def plan(
        self, matched: dict[int, float] | list[MatchedChunk], options: SearchOptions, rank: int = 0
    ) -> PassagePlan:
        if isinstance(matched, dict):
            matched = [MatchedChunk(index, score) for index, score in matched.items()]
        plan = plan_document(matched, self.chunks, self.sections, len(self.text), options, rank)
        assert plan is not None
        return plan


def slices_of(text, plan):
    return [text[one.start : one.end] for one in plan.passages]


def result(plan: PassagePlan, paper: Paper) -> Result:
    document = DocumentRef(1, "a.md", "A", "default", "md", 0, paper.total, "/a.md")
    return Result(
        document,
        plan.matched_chunks[0].score,
        with_texts(plan, slices_of(paper.text, plan), [()] * len(plan.passages)),
        plan.matched_chunks,
        plan.context_chunks,
        plan.gaps,
        plan.more,
    )


def shown(plan: PassagePlan) -> list[tuple[int, int]]:
    return [one.chunks for one in plan.passages]


def spans(plan: PassagePlan) -> list[tuple[int, int]]:
    return [(one.start, one.end) for one in plan.passages]


@pytest.mark.parametrize("expansion", list(Expansion))
def test_a_document_of_one_chunk_is_returned_whole(expansion):
    text = "\n\nOnly this.\n\n"
    record = ChunkRecord(Chunk(0, 2, 12, 0, ("Top",), (3, 3)), "")
    section = Section(0, 0, len(text), 1, ("Top",))
    plan = plan_document(
        [MatchedChunk(0, 0.7)],
        [record],
        [section],
        len(text),
        SearchOptions(expansion=expansion),
        9,
    )
    assert plan is not None
    assert spans(plan) == [(0, 14)]
    assert slices_of(text, plan) == [text]
    assert (plan.gaps, plan.context_chunks, plan.more) == ((), (), ())
    assert plan.passages[0].heading_path == ("Top",)
    assert plan.passages[0].page == 3
    assert plan.passages[0].cut is False


def test_matches_on_2_5_7_of_10_show_their_neighbours_1_3_4_6_8():
    paper = Paper(10)
    plan = paper.plan({1: 0.8, 4: 0.9, 6: 0.7}, NEIGHBOURS)
    assert [one + 1 for one in plan.context_chunks] == [1, 3, 4, 6, 8]
    assert [(one.index + 1, one.score) for one in plan.matched_chunks] == [
        (5, 0.9), (2, 0.8), (7, 0.7),
    ]  # fmt: skip
    assert plan.gaps == ()
    assert spans(plan) == [(0, 7 * 102 + 100)]
    assert result(plan, paper).chunk_coverage == "chunks 1-8 of 10"
    assert plan.matched_chunks[0].score == 0.9


def test_matches_on_1_to_3_and_8_to_10_mark_the_gap_4_to_7():
    paper = Paper(10)
    plan = paper.plan(dict.fromkeys([0, 1, 2, 7, 8, 9], 0.5), CHUNK_ONLY)
    assert shown(plan) == [(0, 2), (7, 9)]
    assert [(first + 1, last + 1) for first, last in plan.gaps] == [(4, 7)]
    assert plan.context_chunks == ()
    assert result(plan, paper).chunk_coverage == "chunks 1-3,8-10 of 10"


def test_the_same_gap_comes_from_neighbours():
    paper = Paper(10)
    plan = paper.plan({1: 0.5, 8: 0.4}, NEIGHBOURS)
    assert shown(plan) == [(0, 2), (7, 9)]
    assert plan.gaps == ((3, 6),)
    assert plan.context_chunks == (0, 2, 7, 9)


def test_weak_matches_go_while_neighbours_without_a_score_stay():
    paper = Paper(10)
    options = replace(NEIGHBOURS, min_score=0.4)
    plan = paper.plan({4: 0.9, 5: 0.1, 9: 0.39, 0: 0.4}, options)
    assert [one.index for one in plan.matched_chunks] == [4, 0]
    assert plan.context_chunks == (1, 3, 5)
    assert plan.more == ()


def test_nothing_good_enough_gives_no_plan():
    paper = Paper(3)
    options = SearchOptions(min_score=0.5)
    found = [MatchedChunk(1, 0.4)]
    assert plan_document(found, paper.chunks, paper.sections, 305, options, 0) is None
    assert plan_document([], paper.chunks, paper.sections, 305, options, 0) is None


def test_three_chunks_are_kept_and_the_others_are_more():
    paper = Paper(20)
    scores = {2: 0.5, 5: 0.9, 9: 0.6, 13: 0.8, 17: 0.6}
    plan = paper.plan(scores, SearchOptions(expansion=Expansion.CHUNK))
    assert [one.index for one in plan.matched_chunks] == [5, 13, 9]
    assert [one.index for one in plan.more] == [17, 2]
    assert shown(plan) == [(5, 5), (9, 9), (13, 13)]
    assert plan.gaps == ((6, 8), (10, 12))


def test_further_matches_are_counted_although_only_the_wanted_chunks_are_read():
    paper = Paper(20)
    matched = [MatchedChunk(index, 1 - index / 100) for index in range(0, 20, 2)]
    options = SearchOptions(expansion=Expansion.NEIGHBOURS, chunks_per_doc=3, neighbours=0)
    wanted = wanted_chunks(matched, 20, options, 0)
    read = [paper.chunks[index] for index in wanted]
    plan = plan_document(matched, read, paper.sections, len(paper.text), options, 0, total=20)
    assert plan is not None
    assert [one.index for one in plan.matched_chunks] == [0, 2, 4]
    assert [one.index for one in plan.more] == [6, 8, 10, 12, 14, 16, 18]


def test_only_the_best_documents_show_neighbours():
    paper = Paper(10)
    options = replace(NEIGHBOURS, adjacent_top_docs=3)
    assert shown(paper.plan({5: 0.9}, options, rank=2)) == [(4, 6)]
    assert shown(paper.plan({5: 0.9}, options, rank=3)) == [(5, 5)]


@pytest.mark.parametrize(
    ("index", "reach", "expected"),
    [(0, 1, (0, 1)), (9, 2, (7, 9)), (5, 0, (5, 5)), (5, 99, (0, 9))],
)
def test_neighbours_end_with_the_document(index, reach, expected):
    plan = Paper(10).plan({index: 0.9}, replace(NEIGHBOURS, neighbours=reach))
    assert shown(plan) == [expected]


def test_overlapping_chunks_do_not_repeat_text():
    paper = Paper(10, overlap=40)
    plan = paper.plan({3: 0.9, 4: 0.8}, CHUNK_ONLY)
    assert spans(plan) == [(3 * 102 - 40, 4 * 102 + 100)]
    assert slices_of(paper.text, plan)[0].count("Part 3") == 1


def test_chunks_apart_by_white_space_touch():
    plan = Paper(10).plan({3: 0.9, 4: 0.8}, CHUNK_ONLY)
    assert spans(plan) == [(3 * 102, 4 * 102 + 100)]


def test_flat_search_shows_the_chunk_alone():
    options = replace(DOCUMENT, chunk_aware=False)
    assert shown(Paper(10).plan({5: 0.9}, options)) == [(5, 5)]


def test_a_section_is_shown_without_its_siblings():
    paper = Paper(3, 4, 3)
    plan = paper.plan({4: 0.9}, SECTION, rank=9)
    assert shown(plan) == [(3, 6)]
    assert spans(plan) == [(3 * 102, 6 * 102 + 100)]
    assert plan.context_chunks == (3, 5, 6)
    assert plan.passages[0].cut is False


def test_a_long_section_is_cut_around_the_match():
    paper = Paper(2, 20, 2)
    plan = paper.plan({10: 0.9}, replace(SECTION, section_characters=520))
    assert shown(plan) == [(8, 12)]
    assert plan.passages[0].end - plan.passages[0].start == 508
    assert plan.passages[0].cut is True


def test_a_cut_section_at_its_edge_goes_further_on_the_other_side():
    plan = Paper(2, 20, 2).plan({3: 0.9}, replace(SECTION, section_characters=520))
    assert shown(plan) == [(2, 6)]


def test_matches_in_one_long_section_share_its_budget():
    plan = Paper(30).plan({5: 0.9, 20: 0.8}, replace(SECTION, section_characters=700))
    assert shown(plan) == [(4, 6), (19, 21)]
    assert plan.gaps == ((7, 18),)


def test_a_matched_chunk_is_shown_whole_even_over_the_budget():
    plan = Paper(10).plan({5: 0.9}, replace(SECTION, section_characters=10))
    assert spans(plan) == [(510, 610)]
    assert plan.passages[0].cut is True


def test_a_chunk_of_merged_sections_shows_all_that_it_touches():
    text = "# A\n\ntiny\n\n# B\n\n" + "word " * 60
    sections = [Section(0, 0, 11, 1, ("A",)), Section(1, 11, len(text), 1, ("B",))]
    end = len(text) - 1
    chunks = [
        ChunkRecord(Chunk(0, 0, 150, 0, ("B",)), ""),
        ChunkRecord(Chunk(1, 130, end, 1, ("B",)), ""),
    ]
    plan = plan_document([MatchedChunk(0, 0.9)], chunks, sections, len(text), SECTION, 0)
    assert plan is not None
    assert spans(plan) == [(0, end)]
    assert plan.context_chunks == (1,)
    other = plan_document([MatchedChunk(1, 0.9)], chunks, sections, len(text), SECTION, 0)
    assert other is not None
    assert spans(other) == [(11, end)]
    assert other.context_chunks == ()


def test_without_sections_the_chunk_is_its_own():
    paper = Paper(5)
    plan = plan_document([MatchedChunk(2, 0.9)], paper.chunks, [], len(paper.text), SECTION, 0)
    assert plan is not None
    assert shown(plan) == [(2, 2)]


def test_a_match_of_a_section_entry_shows_the_section():
    paper = Paper(3, 4, 3)
    plan = paper.plan([MatchedChunk(3, 0.9, Level.SECTION)], NEIGHBOURS, rank=9)
    assert shown(plan) == [(3, 6)]
    assert shown(paper.plan([MatchedChunk(3, 0.9, Level.SECTION)], CHUNK_ONLY)) == [(3, 3)]


def test_a_chunk_found_at_two_levels_counts_once():
    found = [MatchedChunk(3, 0.5, Level.SECTION), MatchedChunk(3, 0.7), MatchedChunk(3, 0.6)]
    plan = Paper(10).plan(found, CHUNK_ONLY)
    assert [(one.index, one.score, one.level) for one in plan.matched_chunks] == [
        (3, 0.7, Level.CHUNK)
    ]
    assert plan.more == ()


def test_a_whole_document_is_shown_within_the_budget():
    paper = Paper(4, 4)
    plan = paper.plan({5: 0.9}, DOCUMENT, rank=9)
    assert spans(plan) == [(0, len(paper.text))]
    assert plan.context_chunks == (0, 1, 2, 3, 4, 6, 7)
    assert result(plan, paper).chunk_coverage == "chunks 1-8 of 8"


def test_a_document_over_the_budget_is_cut_around_its_best_match_and_shows_the_others():
    options = replace(DOCUMENT, section_characters=520 // DOCUMENT_SECTIONS)
    plan = Paper(40).plan({20: 0.9, 2: 0.8}, options)
    assert shown(plan) == [(2, 2), (18, 22)]
    assert [one.cut for one in plan.passages] == [False, True]
    assert plan.gaps == ((3, 17),)


def test_auto_shows_short_documents_whole():
    assert shown(Paper(3).plan({2: 0.9}, AUTO, rank=9)) == [(0, 2)]


def test_auto_shows_short_sections_whole_and_neighbours_otherwise():
    assert shown(Paper(3, 1, 3).plan({3: 0.9}, AUTO)) == [(3, 3)]
    assert shown(Paper(5, 5).plan({4: 0.9}, AUTO)) == [(3, 5)]
    assert shown(Paper(5, 5).plan({4: 0.9}, AUTO, rank=9)) == [(4, 4)]


def test_auto_counts_overlapping_halves_as_a_short_section():
    text = "x" * 150
    chunks = [ChunkRecord(Chunk(index, *span, 0, ()), "") for index, span in enumerate(
        [(0, 100), (60, 140), (150, 250), (250, 350)]
    )]  # fmt: skip
    sections = [Section(0, 0, 150, 1, ("A",)), Section(1, 150, 350, 1, ("B",))]
    plan = plan_document([MatchedChunk(1, 0.9)], chunks, sections, 350, AUTO, 9)
    assert plan is not None
    assert shown(plan) == [(0, 1)]
    assert len(text[plan.passages[0].start : plan.passages[0].end]) == 140


def test_a_passage_is_named_by_its_first_matched_chunk_and_starts_on_its_own_page():
    paper = Paper(4, 4)
    plan = paper.plan({4: 0.9}, NEIGHBOURS)
    assert shown(plan) == [(3, 5)]
    assert plan.passages[0].heading_path == ("Paper", "Section 1")
    assert plan.passages[0].page == 1
    pages = [Page(7, "vii", 0, 306), Page(8, "viii", 306, 500), Page(9, "ix", 500, 900)]
    exact = plan_document(
        [MatchedChunk(4, 0.9)], paper.chunks, paper.sections, 900, NEIGHBOURS, 0, pages=pages
    )
    assert exact is not None
    passage = exact.passages[0]
    assert passage.page == 8
    assert passage.start < 500 < passage.end < 900
    assert passage.later_pages == ((500, 9),)
    assert [passage.page_at(at) for at in (passage.start, 499, 500)] == [8, 8, 9]


def test_a_document_without_pages_has_none():
    records = [
        ChunkRecord(Chunk(index, index * 10, index * 10 + 10, 0, ()), "") for index in (0, 1)
    ]
    plan = plan_document([MatchedChunk(1, 0.9)], records, [], 20, CHUNK_ONLY, 0)
    assert plan is not None
    assert plan.passages[0].page is None


def test_passages_carry_their_text_and_its_marks():
    paper = Paper(10)
    plan = paper.plan({3: 0.9}, CHUNK_ONLY)
    (passage,) = with_texts(plan, slices_of(paper.text, plan), [()], Highlighter({"part"}).spans)
    assert passage.text.startswith("Part 3: xxx")
    assert passage.highlights == ((0, 4),)
    assert (passage.start, passage.end, passage.chunks) == (306, 406, (3, 3))


def test_matches_of_chunks_that_are_gone_are_passed_over():
    plan = Paper(10).plan({3: 0.9, 30: 1.0}, CHUNK_ONLY)
    assert [one.index for one in plan.matched_chunks] == [3]


@pytest.mark.parametrize("options", [CHUNK_ONLY, NEIGHBOURS, PARENT, SECTION, AUTO, DOCUMENT])
def test_the_wanted_chunks_are_enough(options):
    paper = Paper(100, 30, 30)
    matched = [MatchedChunk(3, 0.9), MatchedChunk(110, 0.8), MatchedChunk(111, 0.7)]
    wanted = wanted_chunks(matched, paper.total, options, 0)
    some = [paper.chunks[index] for index in wanted]
    full = paper.plan(matched, options)
    length = len(paper.text)
    part = plan_document(matched, some, paper.sections, length, options, 0, total=paper.total)
    assert part == full


@pytest.mark.parametrize(
    ("matched", "parent"),
    [(0, (0, 2)), (2, (0, 2)), (3, (3, 3)), (4, (4, 9)), (7, (4, 9)), (9, (4, 9))],
)
def test_a_parent_is_the_same_whichever_of_its_chunks_matched(matched, parent):
    paper = Paper(4, 6, parents=(3, 1, 6))
    assert shown(paper.plan({matched: 0.9}, PARENT)) == [parent]
    assert shown(paper.plan({matched: 0.9, 3: 0.8}, PARENT)) == [
        (min(parent[0], 3), max(parent[1], 3))
    ]


def test_few_chunks_are_wanted():
    matched = [MatchedChunk(3, 0.9), MatchedChunk(50, 0.8), MatchedChunk(9, 0.1)]
    options = SearchOptions(chunks_per_doc=2)
    assert wanted_chunks(matched, 52, options, 0) == [2, 3, 4, 49, 50, 51]
    assert wanted_chunks(matched, 52, options, 3) == [3, 50]
    assert wanted_chunks(matched, 51, replace(options, expansion=Expansion.CHUNK), 0) == [3, 50]


def test_one_read_chunk_of_many_is_not_taken_for_the_whole_document():
    paper = Paper(10)
    plan = plan_document(
        [MatchedChunk(4, 0.9)], paper.chunks[4:5], [], len(paper.text), CHUNK_ONLY, 0, total=10
    )
    assert plan is not None
    assert spans(plan) == [(408, 508)]


@st.composite
def papers(draw) -> Paper:
    sizes = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    return Paper(*sizes, overlap=draw(st.sampled_from([0, 1, 30, 60])))


@given(
    papers(),
    st.lists(st.tuples(st.integers(0, 35), st.floats(0, 1)), min_size=1, max_size=8),
    st.builds(
        SearchOptions,
        expansion=st.sampled_from(Expansion),
        neighbours=st.integers(0, 3),
        chunks_per_doc=st.integers(0, 5),
        section_characters=st.sampled_from([0, 50, 300, 450, 6000]),
        min_score=st.sampled_from([0.0, 0.5]),
        chunk_aware=st.booleans(),
    ),
    st.integers(0, 4),
)
def test_passages_are_slices_in_order_that_hold_every_match(paper, found, options, rank):
    matched = [MatchedChunk(index % paper.total, score) for index, score in found]
    text = paper.text
    plan = plan_document(matched, paper.chunks, paper.sections, len(text), options, rank)
    if plan is None:
        assert all(score < options.min_score for _, score in found)
        return
    answer = result(plan, paper)
    for passage in answer.passages:
        assert text[passage.start : passage.end] == passage.text
    for before, after in pairwise(answer.passages):
        assert before.end < after.start
        assert text[before.end : after.start].strip()
        assert before.chunks[1] < after.chunks[0]
    whole = [
        record.chunk.index
        for record in paper.chunks
        if any(one.start <= record.chunk.start and record.chunk.end <= one.end
               for one in answer.passages)
    ]  # fmt: skip
    assert list(answer.shown_chunks) == whole
    assert {one.index for one in answer.matched_chunks} <= set(whole)
    assert not {one.index for one in answer.matched_chunks} & set(answer.context_chunks)
    omitted = [index for first, last in answer.gaps for index in range(first, last + 1)]
    between = range(whole[0], whole[-1] + 1)
    assert sorted(omitted + whole) == list(between)
    scores = [one.score for one in answer.matched_chunks]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= options.min_score
    assert answer.score == answer.max_score
    again = plan_document(matched[::-1], paper.chunks, paper.sections, len(text), options, rank)
    assert again is not None
    assert spans(again) == spans(plan)


def test_a_section_that_was_not_read_to_its_end_counts_as_cut():
    paper = Paper(50)
    options = replace(SECTION, section_characters=10_000)
    plan = plan_document(
        [MatchedChunk(20, 0.9)], paper.chunks[10:30], paper.sections, len(paper.text), options, 0,
        total=50,
    )  # fmt: skip
    assert plan is not None
    assert shown(plan) == [(10, 29)]
    assert plan.passages[0].cut is True
