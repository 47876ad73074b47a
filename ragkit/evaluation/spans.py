"""Judging what is shown: how much of the right places the passages hold, and how much else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias

from ragkit.catalog import Catalog
from ragkit.evaluation.corpus import Excerpt
from ragkit.reading.decode import clean
from ragkit.results import Answer
from ragkit.types import Status

Spans: TypeAlias = Mapping[str, Sequence[tuple[int, int]]]
"""For each document's path, slices of its text."""


@dataclass(frozen=True, slots=True)
class GoldSpans:
    """The right places of each question, as offsets into the texts that were indexed."""

    places: Mapping[str, Spans]
    notices: tuple[str, ...]

    @classmethod
    def of(
        cls, catalog: Catalog, collection_id: int, excerpts: Mapping[str, Sequence[Excerpt]]
    ) -> GoldSpans:
        """Find excerpts in the documents of a collection, by their offsets or by their text.

        A place that is not there any more keeps its offsets and counts as missed where they lie.
        """
        texts: dict[str, tuple[str, str]] = {}
        for record in catalog.documents.list(collection_id, status=Status.INDEXED):
            name = PurePosixPath(record.path)
            texts[name.stem] = (record.path, catalog.documents.text(record.id))
        places: dict[str, dict[str, list[tuple[int, int]]]] = {}
        lost = 0
        for question, found in excerpts.items():
            for one in found:
                path, text = texts.get(one.document, (f"{one.document} (not indexed)", ""))
                span = _found(text, one)
                lost += span is None
                inside = places.setdefault(question, {}).setdefault(path, [])
                inside.append(span or (one.start, one.end))
        notices = (f"{lost} excerpts do not stand in the text as it was read.",) if lost else ()
        return cls(places, notices)

    def of_question(self, question: str) -> Spans:
        """The right places of one question."""
        return self.places[question]


def _found(text: str, one: Excerpt) -> tuple[int, int] | None:
    """Where an excerpt stands: at its offsets, or at the nearest place with its text."""
    wanted = clean(one.text) if one.text else text[one.start : one.end]
    if text[one.start : one.end] == wanted and wanted:
        return one.start, one.end
    best = None
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        if best is None or abs(at - one.start) < abs(best - one.start):
            best = at
        at = text.find(wanted, at + 1)
    return None if best is None else (best, best + len(wanted))


def score_spans(answer: Answer, right: Spans) -> dict[str, float]:
    """Compare the passages of an answer with the right places, by characters."""
    shown: dict[str, list[tuple[int, int]]] = {}
    for result in answer.results:
        for passage in result.passages:
            shown.setdefault(result.document.path, []).append((passage.start, passage.end))
    both = sum(overlap(shown.get(path, ()), places) for path, places in right.items())
    wanted = sum(length(places) for places in right.values())
    given = sum(length(places) for places in shown.values())
    whole = wanted + given - both
    return {
        "token_recall": both / wanted if wanted else 0.0,
        "token_precision": both / given if given else 0.0,
        "token_iou": both / whole if whole else 0.0,
    }


def length(spans: Sequence[tuple[int, int]]) -> int:
    """How many characters lie in any of the spans."""
    return sum(end - start for start, end in _apart(spans))


def overlap(left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]]) -> int:
    """How many characters lie in spans of both."""
    return sum(
        max(0, min(a_end, b_end) - max(a_start, b_start))
        for a_start, a_end in _apart(left)
        for b_start, b_end in _apart(right)
    )


def _apart(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join spans that overlap."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined
