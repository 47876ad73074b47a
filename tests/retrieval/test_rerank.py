"""Reranking: grades decide before scores, and whatever lacks leaves the usual order."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from ragkit.errors import ModelError, RagkitError
from ragkit.options import Granularity, SearchOptions
from ragkit.results import MatchedChunk, RerankOutcome
from ragkit.retrieval.grouping import group
from ragkit.retrieval.hits import Hit
from ragkit.retrieval.passages import _choose
from ragkit.retrieval.rerank import NOT_RERANKED, in_order, rerank, rerank_candidates, usable
from ragkit.types import Level


def hit(entry, score, document=1, level=Level.CHUNK):
    return Hit(entry, document, entry, level, score, ())


HITS = [hit(entry, 1 - entry / 10) for entry in range(1, 7)]


class Texts:
    def __init__(self, same=()):
        self.same = same

    def situated(self, hits):
        return {
            one.entry_id: "same" if one.entry_id in self.same else f"text {one.entry_id}"
            for one in hits
        }


class Table:
    """Gives the grades that it was made with, by passage."""

    name = "table"

    def __init__(self, grades=None, error=None):
        self.grades, self.error, self.asked = grades or {}, error, []

    def __call__(self):
        return self

    def grade(self, question, passages):
        self.asked.append((question, list(passages)))
        if self.error:
            raise self.error
        return [self.grades.get(one) for one in passages]


@dataclass
class Found:
    hits: list[Hit]
    outcome: RerankOutcome


def ask(table, hits=HITS, texts=None, **options):
    return Found(*rerank("what?", hits, SearchOptions(**options), texts or Texts(), table))


def entries(found):
    return [one.entry_id for one in found.hits]


def test_the_best_grade_comes_first_and_equal_ones_keep_their_order():
    grades = {"text 1": 3, "text 2": 9, "text 3": 3, "text 4": 10, "text 5": 0, "text 6": 9}
    found = ask(Table(grades))
    assert entries(found) == [4, 2, 6, 1, 3, 5]
    assert [one.grade for one in found.hits] == [10, 9, 9, 3, 3, 0]
    assert [one.score for one in found.hits] == pytest.approx([0.6, 0.8, 0.4, 0.9, 0.7, 0.5])
    assert found.outcome.graded == 6
    assert (found.outcome.failure, found.outcome.notice) == ("", "")
    assert found.outcome.note == "table: 6 of 6 graded"


def test_what_is_not_graded_follows_in_the_usual_order():
    found = ask(Table({"text 2": 0, "text 4": 5, "text 6": 5}))
    assert entries(found) == [4, 6, 2, 1, 3, 5]
    assert (
        found.outcome.notice == "table did not grade 3 of 6 passages: they come after the others."
    )


def test_with_too_few_grades_the_order_is_the_usual_one():
    found = ask(Table({"text 6": 10, "text 5": 10}))
    assert found.hits == HITS
    assert found.outcome.failure == (
        "table graded only 2 of 6 passages. Search again, or choose another model."
    )
    assert found.outcome.notice == (
        f"{NOT_RERANKED} table graded only 2 of 6 passages. Search again, or choose another model."
    )


def test_only_the_first_chunks_that_may_be_shown_are_looked_at():
    table = Table({f"text {entry}": entry for entry in range(1, 7)})
    assert entries(ask(table, rerank_depth=3)) == [3, 2, 1, 4, 5, 6]
    assert table.asked == [("what?", ["text 1", "text 2", "text 3"])]
    assert rerank_candidates(HITS, SearchOptions(min_score=0.65)) == [0, 1, 2]
    assert rerank_candidates([hit(1, 0.5), hit(2, 0.0)], SearchOptions()) == [0]


def test_sections_and_documents_keep_their_places():
    hits = [hit(1, 0.9, level=Level.SECTION), hit(2, 0.8), hit(3, 0.7, level=Level.DOCUMENT),
            hit(4, 0.6, level=Level.QUESTION)]  # fmt: skip
    assert entries(ask(Table({"text 2": 1, "text 4": 2}), hits)) == [1, 4, 3, 2]
    table = Table()
    alone = ask(table, hits[:1], granularity=Granularity.SECTION)
    assert (alone.outcome.notice, table.asked) == (
        f"{NOT_RERANKED} only chunks are. Search in chunks.", [],
    )  # fmt: skip
    assert ask(table, []).outcome.notice == ""


def test_equal_passages_are_graded_once():
    table = Table({"same": 8, "text 1": 2, "text 3": 9})
    found = ask(table, HITS[:4], Texts(same=(2, 4)))
    assert entries(found) == [3, 2, 4, 1]
    assert table.asked[0][1] == ["text 1", "same", "text 3"]


@pytest.mark.parametrize("kind", [ModelError, RagkitError])
def test_a_failure_leaves_everything_as_it_is_and_says_why(kind):
    found = ask(Table(error=kind("It is away.", "Start it.")))
    assert (found.hits, found.outcome.graded) == (HITS, 0)
    assert found.outcome.failure == "It is away. Start it."
    assert found.outcome.notice == f"{NOT_RERANKED} It is away. Start it."
    assert ask(None).outcome.notice == f"{NOT_RERANKED} there is no model for it."


def test_a_grader_that_miscounts_is_not_believed():
    table = Table()
    table.grade = lambda question, passages: [10.0]
    assert ask(table).outcome.notice == f"{NOT_RERANKED} table gave 1 grades for 6."


@pytest.mark.parametrize("grade", [None, -0.1, 10.1, float("nan"), float("inf")])
def test_what_is_no_grade(grade):
    assert usable(grade) is None
    assert (usable(0), usable(10)) == (0.0, 10.0)


def test_any_grades_give_a_stable_order_of_the_same_hits():
    chance = random.Random(7)
    for _ in range(200):
        count = chance.randint(1, 12)
        hits = [hit(entry, 1 - entry / 100) for entry in range(count)]
        places = sorted(chance.sample(range(count), chance.randint(1, count)))
        grades = [chance.choice([None, 0.0, 3.0, 3.0, 10.0]) for _ in places]
        found = in_order(hits, places, grades)
        assert sorted(one.entry_id for one in found) == list(range(count))
        rest = set(range(count)).difference(places)
        assert all(found[place] is hits[place] for place in rest)
        moved = [found[place] for place in places]
        keys = [(-1.0 if one.grade is None else one.grade, -one.entry_id) for one in moved]
        assert keys == sorted(keys, reverse=True)


def test_the_best_graded_chunk_leads_its_document():
    matched = [MatchedChunk(1, 0.9, grade=2.0), MatchedChunk(2, 0.8), MatchedChunk(3, 0.5, grade=7)]
    kept, more = _choose(matched, SearchOptions(chunks_per_doc=2))
    assert ([one.index for one in kept], [one.index for one in more]) == ([3, 1], [2])


class Lookups(Texts):
    def files(self, hits):
        return {}

    def vectors(self, hits):
        return {}


@pytest.mark.parametrize("lambda_", [None, 1.0, 0.5])
def test_variety_does_not_undo_the_order(lambda_):
    hits = [hit(entry, 1 - entry / 10, document=entry) for entry in range(1, 5)]
    graded = in_order(hits, range(4), [1.0, 5.0, 3.0, 9.0])
    chosen = group(graded, SearchOptions(mmr_lambda=lambda_), Lookups())
    assert [one.document_id for one in chosen.groups] == [4, 2, 3, 1]
    assert [one.hits[0].score for one in chosen.groups] == pytest.approx([0.6, 0.8, 0.7, 0.9])
