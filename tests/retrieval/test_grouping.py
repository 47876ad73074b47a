"""Grouping of hits whose texts, sections and vectors are given."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from ragkit.options import Aggregation, Expansion, Granularity, SearchOptions
from ragkit.retrieval.grouping import group
from ragkit.retrieval.hits import Hit
from ragkit.types import Level


@dataclass
class Facts:
    """What is known of hits, by entry id, and which of it was asked for."""

    in_files: dict[int, tuple[str, str]] = field(default_factory=dict)
    in_sections: dict[int, int] = field(default_factory=dict)
    in_parents: dict[int, int] = field(default_factory=dict)
    own_texts: dict[int, str] = field(default_factory=dict)
    own_vectors: dict[int, np.ndarray] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def files(self, hits):
        return self.in_files

    def sections(self, hits):
        self.asked.append("sections")
        return self.in_sections

    def parents(self, hits):
        self.asked.append("parents")
        return self.in_parents

    def texts(self, hits):
        self.asked.append("texts")
        return self.own_texts

    def vectors(self, hits):
        self.asked.append("vectors")
        return self.own_vectors


def hits(*documents_and_scores, same=()):
    """Hits with ids from 1; the texts of those in ``same`` are equal."""
    return [
        Hit(
            number, document, number, Level.CHUNK, score, (),
            content_key=7 if number in same else 100 + number,
        )
        for number, (document, score) in enumerate(documents_and_scores, 1)
    ]  # fmt: skip


def shape(grouping):
    """Document and entries of each group."""
    return [(one.document_id, [one.entry_id for one in one.hits]) for one in grouping.groups]


def test_hits_are_gathered_by_document_best_first():
    found = hits((7, 0.9), (8, 0.8), (7, 0.7), (9, 0.6), (8, 0.5))
    grouping = group(found, SearchOptions(), Facts())
    assert shape(grouping) == [(7, [1, 3]), (8, [2, 5]), (9, [4])]
    assert len(grouping.hits) == 5
    assert grouping.note == ""


def test_the_limit_counts_groups_and_only_what_is_on_is_asked_for():
    facts = Facts()
    grouping = group(hits((1, 0.9), (2, 0.8), (3, 0.7)), SearchOptions(limit=2), facts)
    assert [one.document_id for one in grouping.groups] == [1, 2]
    assert facts.asked == []
    assert group([], SearchOptions(), facts).groups == ()


def test_weak_hits_are_dropped_and_counted():
    grouping = group(hits((1, 0.9), (2, 0.4), (1, 0.3)), SearchOptions(min_score=0.4), Facts())
    assert shape(grouping) == [(1, [1]), (2, [2])]
    assert grouping.note == "1 weak removed"


def test_hits_that_add_nothing_are_no_results():
    grouping = group(hits((1, 0.9), (2, 0.0), (3, 0.0)), SearchOptions(), Facts())
    assert shape(grouping) == [(1, [1])]
    assert grouping.note == "2 unrelated removed"


def test_the_same_text_elsewhere_is_folded_and_named():
    found = hits((5, 0.9), (6, 0.8), (7, 0.7), same={1, 3})
    grouping = group(found, SearchOptions(), Facts())
    assert shape(grouping) == [(5, [1]), (6, [2])]
    assert grouping.groups[0].also_in == (7,)
    assert grouping.groups[1].also_in == ()
    assert grouping.note == "1 duplicates removed"


def test_a_document_with_a_result_of_its_own_is_not_named_as_another_place():
    found = hits((5, 0.9), (7, 0.8), (7, 0.7), same={1, 3})
    grouping = group(found, SearchOptions(), Facts())
    assert [one.document_id for one in grouping.groups] == [5, 7]
    assert grouping.groups[0].also_in == ()


def test_what_was_folded_earlier_is_still_named_after_a_later_step():
    """Entry 3 repeats 2, and 2 is nearly 1: both places are named beside 1."""
    long = "the ferry leaves at nine from the second pier every day but sunday"
    facts = Facts(own_texts={1: f"{long}.", 2: long, 3: long})
    options = SearchOptions(near_duplicates=True)
    grouping = group(hits((1, 0.9), (2, 0.8), (3, 0.7), same={2, 3}), options, facts)
    assert [one.document_id for one in grouping.groups] == [1]
    assert grouping.groups[0].also_in == (2, 3)
    assert grouping.note == "1 duplicates removed, 1 near duplicates removed"


def test_alike_in_meaning_is_folded_from_its_threshold_on():
    near = np.array([1.0, 0.1])
    facts = Facts(own_vectors={1: np.array([1.0, 0.0]), 2: near, 3: np.array([0.0, 1.0])})
    found = hits((1, 0.9), (2, 0.8), (3, 0.7))
    folded = group(found, SearchOptions(semantic_threshold=0.99), facts)
    assert [one.document_id for one in folded.groups] == [1, 3]
    kept = group(found, SearchOptions(semantic_threshold=0.999), facts)
    assert len(kept.groups) == 3


@pytest.mark.parametrize(
    "options",
    [SearchOptions(expansion=Expansion.SECTION), SearchOptions(granularity=Granularity.SECTION)],
)
def test_sections_are_shown_once(options):
    facts = Facts(in_sections={1: 0, 2: 0, 3: 1})
    grouping = group(hits((1, 0.9), (1, 0.8), (1, 0.7)), options, facts)
    assert shape(grouping) == [(1, [1, 3])]
    assert grouping.note == "1 in the same section removed"


def test_folding_within_a_document_does_not_make_it_a_copy_of_itself():
    # Each fold once doubled what the document was said to be a copy of: 2 ** 60 in the end.
    found = hits(*[(1, 1.0 - number / 1000) for number in range(120)])
    facts = Facts(in_sections={one.entry_id: one.entry_id // 2 for one in found})
    options = SearchOptions(expansion=Expansion.SECTION, per_document=0, limit=100)
    grouping = group(found, options, facts)
    assert len(grouping.groups) == 61
    assert {one.also_in for one in grouping.groups} == {()}


def test_a_parent_ranks_by_the_best_of_its_chunks():
    facts = Facts(in_parents={1: 0, 2: 1, 3: 1, 4: 2})
    options = SearchOptions(expansion=Expansion.PARENT, per_document=0)
    found = hits((1, 0.9), (1, 0.8), (1, 0.7), (1, 0.6))
    grouping = group(found, options, facts)
    assert shape(grouping) == [(1, [1]), (1, [2]), (1, [4])]
    assert grouping.note == "1 in the same parent removed"


def test_several_results_a_document_are_capped_and_filled_up():
    found = hits((1, 0.9), (1, 0.8), (1, 0.7), (2, 0.6), (3, 0.5))
    two = group(found, SearchOptions(per_document=2, limit=4), Facts())
    assert shape(two) == [(1, [1]), (1, [2]), (2, [4]), (3, [5])]
    assert [one.entry_id for one in two.groups[0].others] == [2, 3]
    every = group(found, SearchOptions(per_document=0), Facts())
    assert shape(every) == [(1, [1]), (1, [2]), (1, [3]), (2, [4]), (3, [5])]
    flat = group(found, SearchOptions(chunk_aware=False), Facts())
    assert shape(flat) == [(1, [1]), (2, [4]), (3, [5])]


def test_variety_reorders_results_and_says_so():
    facts = Facts(own_vectors={1: np.array([1.0, 0]), 2: np.array([1.0, 0]), 3: np.array([0, 1.0])})
    found = hits((1, 0.9), (2, 0.85), (3, 0.5))
    grouping = group(found, SearchOptions(mmr_lambda=0.5, limit=2), facts)
    assert [one.document_id for one in grouping.groups] == [1, 3]
    assert "variety" in grouping.note
    plain = group(found, SearchOptions(mmr_lambda=1.0), facts)
    assert [one.document_id for one in plain.groups] == [1, 2, 3]


@pytest.mark.parametrize(
    ("aggregation", "order", "scores"),
    [
        (Aggregation.MAX, [1, 2, 3], [0.8, 0.7, 0.6]),
        (Aggregation.MEAN, [2, 1, 3], [0.7, 0.68, 0.6]),
    ],
)
def test_all_good_chunks_of_a_document_may_decide_its_place(aggregation, order, scores):
    found = hits((1, 0.8), (2, 0.7), (2, 0.7), (3, 0.6), (1, 0.2), (2, 0.1))
    options = SearchOptions(aggregation=aggregation, chunks_per_doc=2)
    groups = group(found, options, Facts()).groups
    assert [one.document_id for one in groups] == order
    assert [one.score for one in groups] == pytest.approx(scores)


def test_variety_starts_from_the_scores_of_results():
    found = hits((1, 0.8), (2, 0.7), (2, 0.7), (1, 0.2))
    vectors = {number: np.eye(4)[number - 1] for number in range(1, 5)}
    options = SearchOptions(aggregation=Aggregation.MEAN, mmr_lambda=1.0)
    groups = group(found, options, Facts(own_vectors=vectors)).groups
    assert [one.document_id for one in groups] == [2, 1]


def test_beyond_the_page_a_document_may_be_better_by_all_its_chunks():
    found = hits((1, 0.8), (2, 0.7), (2, 0.7), (1, 0.2))
    options = SearchOptions(aggregation=Aggregation.MEAN, limit=1)
    assert [one.document_id for one in group(found, options, Facts()).groups] == [2]


def test_grades_come_before_all_scores_of_a_document():
    first, *others = hits((1, 0.3), (2, 0.7), (2, 0.7))
    found = [replace(first, grade=9.0), *others]
    options = SearchOptions(aggregation=Aggregation.MEAN)
    assert [one.document_id for one in group(found, options, Facts()).groups] == [1, 2]


RIVER = (
    "The river rises in the hills above the mill and runs past three villages to the sea. "
    "Boats were towed as far as the second lock until the railway came in the year of the flood. "
)
OTHER = "Nobody has counted the herons of the marsh since the old keeper moved to the town. "


def formats(texts, files):
    """Group hits with falling scores, of a document each, by their texts and files."""
    found = hits(*((number, 1 - number / 10) for number in texts))
    facts = Facts(in_files=files, own_texts=texts)
    return [
        (one.document_id, one.also_in) for one in group(found, SearchOptions(), facts).groups
    ], facts


def test_the_same_text_in_another_format_is_folded():
    texts = {1: RIVER, 2: RIVER[40:] + OTHER[:30], 3: RIVER + OTHER, 4: OTHER}
    files = {
        1: ("a/plan.docx", "docx"), 2: ("b/Plan.PDF", "pdf"), 3: ("plan.txt.gz", "text"),
        4: ("plan.html", "html"),
    }  # fmt: skip
    groups, _ = formats(texts, files)
    assert groups == [(1, (2, 3)), (4, ())]


def test_the_source_of_a_page_is_folded_into_it():
    texts = {1: RIVER, 2: RIVER[40:] + OTHER[:30]}
    files = {1: ("html/plan.html", "html"), 2: ("html/_sources/plan.rst.txt", "rst")}
    groups, _ = formats(texts, files)
    assert groups == [(1, (2,))]


@pytest.mark.parametrize(
    "files",
    [
        # The same format may be another year's report; another name is another document.
        {1: ("2023/plan.pdf", "pdf"), 2: ("2024/plan.pdf", "pdf")},
        {1: ("plan.pdf", "pdf"), 2: ("plan-2.docx", "docx")},
        {},
    ],
)
def test_texts_of_other_files_are_not_folded_by_their_likeness(files):
    groups, facts = formats({1: RIVER, 2: RIVER[:-20]}, files)
    assert groups == [(1, ()), (2, ())]
    assert facts.asked == []


def test_a_form_that_two_formats_share_is_not_the_same_text():
    first = "Invoice of the harbour office. Pay within thirty days to the account below. " + RIVER
    second = "Invoice of the harbour office. Pay within thirty days to the account below. " + OTHER
    groups, _ = formats(
        {1: first, 2: second}, {1: ("3/bill.pdf", "pdf"), 2: ("4/bill.docx", "docx")}
    )
    assert groups == [(1, ()), (2, ())]


def test_a_chunk_that_lies_across_two_of_another_format_is_folded():
    found = hits((1, 0.9), (1, 0.8), (2, 0.7))
    own_texts = {1: RIVER, 2: OTHER, 3: RIVER[90:] + OTHER[:60]}
    facts = Facts(in_files={1: ("a.epub", "epub"), 2: ("a.pdf", "pdf")}, own_texts=own_texts)
    grouping = group(found, SearchOptions(), facts)
    assert [(one.document_id, one.also_in) for one in grouping.groups] == [(1, (2,))]
    assert "1 in another format removed" in grouping.note
