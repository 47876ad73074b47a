"""Merging the lists of several topics."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType, SimpleNamespace

import numpy as np
import pytest

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


def test_rows_of_any_program_are_deduplicated_and_returned_as_they_are():
    rows = [
        {"document_id": "a", "similarity": 0.5, "chunk_index": 0},
        {"document_id": "b", "similarity": np.float32(0.75), "score": 0.1},
        {"document_id": "a", "score": 0.9},
        {"document_id": "a", "similarity": 0.9, "content": "a tie: the first stays first"},
    ]
    assert deduplicate_by_document(rows) == [rows[2], rows[1]]
    assert deduplicate_by_document(iter(rows), 2) == [rows[2], rows[3], rows[1]]
    assert deduplicate_by_document(rows)[0] is rows[2]
    assert deduplicate_by_document([MappingProxyType(one) for one in rows]) == [rows[2], rows[1]]
    assert deduplicate_by_document([SimpleNamespace(**one) for one in rows], 0)[3].similarity == 0.5
    assert deduplicate_by_document([]) == []


@pytest.mark.parametrize(
    ("row", "lacks"),
    [({"document_id": 1}, "similarity or score"), ({"similarity": 0.5}, "document_id"),
     ("text", "similarity or score"), ({"document_id": 1, "similarity": None}, "similarity")],
)  # fmt: skip
def test_a_row_without_a_score_or_a_document_is_refused(row, lacks):
    with pytest.raises(TypeError, match=f"A row needs {lacks}"):
        deduplicate_by_document([row])


def test_a_fair_merge_gives_each_topic_its_share():
    loud = [Found(f"loud-{number}", 0.9 - number / 100) for number in range(10)]
    quiet = [Found("quiet-0", 0.2), Found("loud-0", 0.1)]
    merged = merge_topics([loud, quiet], Merge.FAIR, 4)
    assert [one.document_id for one in merged] == ["loud-0", "quiet-0", "loud-1", "loud-2"]
    assert merged[0].topics == (0, 1)
    assert merged[0].score == 0.9


@pytest.mark.parametrize(
    ("scores", "others", "order"),
    [
        ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5), "aAbBcC"),
        ((0.52, 0.51, 0.5), (0.47, 0.46, 0.45), "aAbBcC"),
        ((0.9, 0.2, 0.19), (0.8, 0.7, 0.65), "aABCbc"),
        ((0.016, 0.0159, 0.0157), (0.014, 0.013, 0.012), "aAbBcC"),
    ],
)
def test_topics_take_turns_in_a_fair_merge_unless_nothing_more_fits_one(scores, others, order):
    lists = [
        [Found(name, score) for name, score in zip(names, of_topic, strict=True)]
        for names, of_topic in (("abc", scores), ("ABC", others))
    ]
    assert "".join(str(one.document_id) for one in merge_topics(lists, Merge.FAIR, 6)) == order


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
