"""Columns as HTML: whatever a document says stays text, and votes are counted."""

from __future__ import annotations

import re

from pages.parts.common.judging import buttons
from pages.parts.compare.comparison import PRESETS, Shown, table, tally
from ragkit.catalog.judgments import VoteRecord
from ragkit.errors import ModelError
from ragkit.evaluation.comparison import aligned
from ragkit.evaluation.search_config import SearchConfig, as_text, from_text
from ragkit.options import Mode, SearchOptions
from ragkit.results import Answer, DocumentRef, MatchedChunk, Passage, Result
from ragkit.traces import Trace
from ragkit.types import Level, Span

WORDS = SearchConfig(SearchOptions(mode=Mode.KEYWORD))
MEANING = SearchConfig(SearchOptions(mode=Mode.VECTOR))
HOSTILE = '<img src=x onerror=alert(1)>"'


def result(identity=1, text="one two three", title="Title", level=Level.CHUNK, span=None):
    return Result(
        DocumentRef(identity, f"{identity}.md", title, "default", "text", 0, 3, ""),
        0.5,
        (Passage(10, 10 + len(text), text, highlights=((4, 7),), chunks=(1, 2)),),
        (MatchedChunk(1, 0.5, level, span=span),),
    )


def answer(*results):
    return Answer("q", results, Trace())


def visible(html):
    return re.sub(r"<[^>]+>", " ", html)


def test_hostile_titles_texts_and_problems_stay_text():
    bad = result(title=HOSTILE, text=HOSTILE * 3)
    found = aligned("q", [WORDS, MEANING], [answer(bad), ModelError(HOSTILE, "")])
    html = table(found, Shown())
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    blind = table(found, Shown(blind=True, order=(1, 0)))
    assert "Keyword" not in blind
    assert "Semantic" not in blind


def test_movement_agreement_and_what_is_gone_are_said():
    one, two, three = (result(number, title=f"Title {number}") for number in (1, 2, 3))
    found = aligned("q", [WORDS, MEANING], [answer(one, two), answer(two, three)])
    said = visible(table(found, Shown()))
    assert "50\u202f% overlap with A" in said
    assert "▲1" in said
    assert "new" in said
    assert "In A but not here: Title 1" in re.sub(r"\s+", " ", said)
    assert said.count("only here") == 2
    assert "Use these settings" in said
    assert "Use these settings" not in table(found, Shown(blind=True))


def test_only_the_first_column_is_what_others_are_compared_with():
    found = aligned("q", [WORDS, MEANING], [answer(result()), ModelError("Away.", "Wait.")])
    assert visible(table(found, Shown())).count("Baseline") == 1


def test_shuffled_columns_keep_their_letters_when_they_are_revealed():
    one, two = (result(number, title=f"Title {number}") for number in (1, 2))
    found = aligned("q", [WORDS, MEANING], [answer(one, two), answer(two)])
    html = table(found, Shown(order=(1, 0)))
    assert re.findall(r'<section class="rk-column" aria-label="([^"]+)"', html) == [
        "A: Semantic",
        "B: Keyword",
    ]
    said = re.sub(r"\s+", " ", visible(html))
    assert "50 % overlap with B" in said
    assert "In B but not here: Title 1" in said
    assert "1 rank higher than in B" in html


def test_what_is_judged_is_the_best_chunk_or_the_whole_document():
    span = Span(14, 20)
    assert result(span=span).best_span == span
    assert result().best_span is None
    assert result(level=Level.DOCUMENT, span=span).best_span is None
    html = buttons(result(), Span(14, 20), 1)
    assert re.findall(r'data-grade="(\d)"', html) == ["2", "1", "0"]
    assert re.findall(r'aria-pressed="(\w+)"', html) == ["false", "true", "false"]
    assert html.count('data-place="14-20"') == 3


def test_votes_of_these_settings_are_counted_in_any_order():
    found = aligned("q", [WORDS, MEANING], [answer(), answer()])
    a, b = as_text(WORDS), as_text(MEANING)
    cast = [((a, b), 0), ((b, a), 0), ((b, a), 1), ((a, b), None), ((a, "mode:hybrid"), 0)]
    votes = [VoteRecord(1, "q", settings, winner, 0.0) for settings, winner in cast]
    assert tally(votes, found) == "2 votes for Keyword; 1 vote for Semantic; 1 undecided"
    assert tally([], found) == ""


def test_presets_are_understood():
    for columns in PRESETS.values():
        assert [from_text(one)[1] for one in columns] == [()] * len(columns)
