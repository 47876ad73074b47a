"""Merging the lists of several topics."""

from __future__ import annotations

from dataclasses import dataclass

from ragkit.options import Merge
from ragkit.retrieval.merge import deduplicate_by_document, merge_topics


@dataclass(frozen=True)
class Found:
    document_id: str
    score: float
    text: str = ""


def test_each_document_keeps_its_best():
    found = [
        Found("post-123", 0.85, "a"),
        Found("post-456", 0.88, "b"),
        Found("post-123", 0.90, "c"),
        Found("post-456", 0.70, "d"),
        Found("post-123", 0.60, "e"),
    ]
    assert [(one.document_id, one.score) for one in deduplicate_by_document(found)] == [
        ("post-123", 0.90),
        ("post-456", 0.88),
    ]
    assert [one.text for one in deduplicate_by_document(found, 2)] == ["c", "b", "a", "d"]
    assert len(deduplicate_by_document(found, 0)) == 5


def test_a_fair_merge_gives_each_topic_its_share():
    loud = [Found(f"loud-{number}", 0.9 - number / 100) for number in range(10)]
    quiet = [Found("quiet-0", 0.2), Found("loud-0", 0.1)]
    merged = merge_topics([loud, quiet], Merge.FAIR, 4)
    assert [one.document_id for one in merged] == ["loud-0", "quiet-0", "loud-1", "loud-2"]
    assert merged[0].topics == (0, 1)
    assert merged[0].score == 0.9


def test_a_merge_by_score_takes_the_best_whoever_found_them():
    lists = [[Found("a", 0.5), Found("b", 0.4)], [Found("c", 0.45), Found("a", 0.6)]]
    merged = merge_topics(lists, Merge.SCORE, 2)
    assert [(one.document_id, one.score, one.topics) for one in merged] == [
        ("a", 0.6, (0, 1)),
        ("c", 0.45, (1,)),
    ]


def test_no_lists_merge_into_nothing():
    assert merge_topics([], Merge.FAIR, 5) == []
    assert merge_topics([[], []], Merge.SCORE, 5) == []
