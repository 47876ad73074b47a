"""Decisions and actions that contexts note are found in the text that says them."""

from __future__ import annotations

import pytest

from ragkit.answering.outcomes import Outcome, outcomes_of
from ragkit.catalog.context_records import ContextAnswer
from ragkit.catalog.records import ChunkRecord
from ragkit.types import Chunk, Span

TEXT = (
    "**Ines Lima** · 2026-01-02 10:00\n"
    "Shall we raise the prices in May? Everybody asks about the prices.\n\n"
    "**Rui** · 2026-01-02 10:05\n"
    "We keep the prices until autumn. Could you tell the shops by Friday?\n\n"
    "**Ines Lima** · 2026-01-02 10:06\n"
    "The boat is green."
)
HALF = TEXT.index("**Ines Lima** · 2026-01-02 10:06")
CHUNKS = [
    ChunkRecord(Chunk(0, 0, HALF, 0, ()), ""),
    ChunkRecord(Chunk(1, HALF, len(TEXT), 0, ()), ""),
]


def found(details: dict, chunk: int = 0, context: str = "") -> list[Outcome]:
    answers = {chunk: ContextAnswer(context, details=details)}
    return outcomes_of(TEXT, CHUNKS, answers, code=False)


def sentence(text: str) -> tuple[str, Span]:
    start = TEXT.index(text)
    return text, Span(start, start + len(text))


KEPT = "We keep the prices until autumn."
TOLD = "Could you tell the shops by Friday?"


@pytest.mark.parametrize(
    ("details", "kind", "text", "said"),
    [
        ({"decisions": ["Prices stay until autumn"]}, "decision", "Prices stay until autumn", KEPT),
        ({"decisions": ["Keep prices"]}, "decision", "Keep prices", KEPT),
        ({"action_items": ["Ines tells the shops"]}, "action", "Ines tells the shops", TOLD),
        ({"has_decision": True}, "decision", "", KEPT),
        ({"has_action_item": True}, "action", "", TOLD),
    ],
)
def test_each_stands_with_the_sentence_that_supports_it(details, kind, text, said):
    assert found(details, context="About prices, shops and Friday") == [
        Outcome(kind, 0, text, *sentence(said))
    ]


@pytest.mark.parametrize(
    ("details", "kind", "text"),
    [
        ({"decisions": ["The harbour closes early"]}, "decision", "The harbour closes early"),
        ({"has_action_item": True}, "action", ""),
    ],
)
def test_without_such_a_sentence_there_is_only_the_chunk(details, kind, text):
    assert found(details, chunk=1) == [Outcome(kind, 1, text)]


def test_who_speaks_counts_and_a_question_supports_less():
    (outcome,) = found({"decisions": ["Rui: prices in autumn"]})
    assert outcome.sentence == KEPT
    (asked,) = found({"decisions": ["Ines asks about the prices"]})
    assert asked.sentence == "Everybody asks about the prices."


def test_nothing_is_found_where_contexts_note_nothing():
    assert found({"topic_summary": "Prices", "has_decision": False}) == []
    assert outcomes_of(TEXT, CHUNKS, {}, code=False) == []


def test_what_two_chunks_share_is_found_once():
    overlapping = [CHUNKS[0], ChunkRecord(Chunk(1, 0, len(TEXT), 0, ()), "")]
    answers = {index: ContextAnswer("", details={"decisions": ["Keep prices"]}) for index in (0, 1)}
    assert [one.chunk for one in outcomes_of(TEXT, overlapping, answers, code=False)] == [0]
