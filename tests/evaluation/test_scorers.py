"""Scorers: spans are counted by characters."""

from __future__ import annotations

from ragkit.evaluation.scorers import length, overlap


def test_spans_are_counted_once():
    assert length([(0, 5), (3, 8), (10, 12)]) == 10
    assert overlap([(0, 5), (3, 8)], [(4, 11), (4, 6)]) == 4
    assert overlap([], [(0, 1)]) == 0
