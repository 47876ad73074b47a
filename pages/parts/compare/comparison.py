"""The Compare page: controls of a column, results side by side as HTML, the tally of votes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import streamlit as st

from pages.parts.common import markup
from pages.parts.common.judging import buttons, span_of
from pages.parts.common.markup import action, attributes, document_url, excerpt, name, plural, text
from pages.parts.common.option_controls import control, search_controls
from pages.parts.library.embedder_choice import label
from pages.parts.search import summary
from ragkit.evaluation.comparison import Column, Comparison, RankChange, RankedResult
from ragkit.evaluation.judging import Grades
from ragkit.evaluation.search_config import CONFIG_OPTIONS, SearchConfig, as_text
from ragkit.results import MatchedChunk, Result, Trace

PRESETS: Mapping[str, tuple[str, ...]] = {
    "Keyword vs. semantic": ("mode:keyword", "mode:vector"),
    "Keyword, semantic and hybrid": ("mode:keyword", "mode:vector", "mode:hybrid"),
    "With and without context": ("mode:hybrid", "mode:hybrid,contexts:structural"),
    "With and without deduplication": (
        "mode:hybrid,near_duplicates:true",
        "mode:hybrid,per_document:0",
    ),
    "Chunks vs. sections": ("mode:hybrid", "mode:hybrid,granularity:section"),
    "Weighted sum vs. RRF": ("mode:hybrid", "mode:hybrid,fusion:rrf"),
}
"""Columns to begin with, as an address writes them."""

LETTERS = "ABCD"
_HUES = 8
_SNIPPET = 170
_GONE = 5
_HEADINGS = re.compile(r"\s*(?:#{1,6} [^\n]*\n\s*)+")


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown besides the comparison: the grades of what it shows, by collection.

    ``blind`` hides which settings a column has; ``order`` is then how columns are shuffled.
    ``usable`` says that the settings may be written to the collection.
    """

    grades: Mapping[str, Grades] = field(default_factory=dict)
    blind: bool = False
    order: Sequence[int] = ()
    usable: bool = True


def table(comparison: Comparison, shown: Shown) -> str:
    """Build all columns, aligned by document."""
    hues = {document: number % _HUES for number, document in enumerate(comparison.shared)}
    order = shown.order or range(len(comparison.columns))
    columns = [_column(comparison, place, index, hues, shown) for place, index in enumerate(order)]
    return f'<div class="rk-compare" style="--columns:{len(columns)}">{"".join(columns)}</div>'


def _column(
    comparison: Comparison, place: int, index: int, hues: Mapping[int, int], shown: Shown
) -> str:
    column = comparison.columns[index]
    letter = LETTERS[place]
    label = f"Column {letter}" if shown.blind else f"{letter}: {column.name}"
    head = (
        _blind_head(letter, place)
        if shown.blind
        else _head(column, index, letter, comparison.depth, shown.usable)
    )
    if column.problem:
        body = f'<p class="rk-notice rk-warn">{text(column.problem)}</p>'
    elif not column.results:
        body = '<p class="rk-soft">Nothing found.</p>'
    else:
        items = "".join(
            f"<li>{_item(comparison, index, ranked, hues, shown)}</li>" for ranked in column.results
        )
        body = f'<ol class="rk-items">{items}</ol>'
    gone = "" if shown.blind else _gone(column)
    return (
        f'<section class="rk-column" aria-label="{text(label)}" data-column="{index}">'
        f'{head}<div class="rk-column-body">{body}{gone}</div></section>'
    )


def _blind_head(letter: str, place: int) -> str:
    button = action("vote", "This one is better", style="rk-offer", data_place=place)
    return (
        f'<header class="rk-column-head"><h2><span class="rk-letter">{letter}</span>?</h2>'
        f'<p class="rk-soft">Which settings these are is shown after your vote.</p>'
        f'<div class="rk-foot">{button}</div></header>'
    )


def _head(column: Column, index: int, letter: str, depth: int, usable: bool) -> str:
    notices = "".join(f'<p class="rk-soft">{text(notice)}</p>' for notice in column.notices)
    agreement = "" if index else "The others are compared with this one."
    if index and not column.problem:
        agreement = (
            f'<span title="The share of the first {depth} that both have, in any order.">'
            f"{column.overlap:.0%} as in A</span> · "
            '<span title="Rank-biased overlap, p = 0.9: 1 when both rank alike; '
            f'the first ranks count most.">order agrees {column.rbo:.2f}</span>'
        )
    stages = summary.trace_table(Trace(column.stages)) if column.stages else ""
    took = (
        f'<details><summary>{markup.took(column.ms)} · <span class="rk-ask">stages</span>'
        f"</summary>{stages}</details>"
        if column.stages
        else ""
    )
    use = ""
    if usable and not column.problem:
        use = action(
            "use", "Use these settings", data_column=index,
            title="Searches of this collection are made like this from now on.",
        )  # fmt: skip
    return (
        f'<header class="rk-column-head"><h2><span class="rk-letter">{letter}</span>'
        f'{text(column.name)}</h2><p class="rk-soft">{agreement}</p>{took}{notices}'
        f'<div class="rk-foot">{use}</div></header>'
    )


def _item(
    comparison: Comparison, column: int, ranked: RankedResult, hues: Mapping[int, int], shown: Shown
) -> str:
    result, document = ranked.result, ranked.result.document
    span = span_of(result)
    grades = shown.grades.get(document.collection)
    grade = grades.of(document.id, span) if grades else None
    joined = document.id in hues
    hue = f"--hue:var(--hue-{hues[document.id]})" if joined else None
    best = result.matched_chunks[0].index if result.matched_chunks else 0
    link = attributes(
        href=document_url(document.id, best, comparison.question),
        data_id=document.id,
        data_chunk=best + 1,
    )
    label = f"rk-item-{column}-{ranked.rank}-title"
    return (
        '<article class="rk-item"'
        + attributes(
            id=f"rk-item-{column}-{ranked.rank}", tabindex=0, aria_labelledby=label, style=hue,
            data_doc=document.id, data_path=document.path,
            title=None if shown.blind else _elsewhere(comparison, column, ranked),
            data_joined="" if joined and ranked.movement.change is not RankChange.AGAIN else None,
        )
        + f'><div class="rk-item-head"><span class="rk-place">{ranked.rank}</span>'
        f'<a class="rk-link" id="{label}" target="_self" data-rk="open"{link}>'
        f"<bdi>{name(document.title or document.path)}</bdi></a>{_move(ranked, shown.blind)}</div>"
        f'<p class="rk-item-where"><bdi>{name(document.path)}</bdi>'
        f"{_score(ranked, shown.blind)}</p>"
        f'<p class="rk-snippet" dir="auto">{snippet(result)}</p>'
        f"{buttons(result, span, grade)}</article>"
    )  # fmt: skip


def _score(ranked: RankedResult, blind: bool) -> str:
    """The score, and whether no other column has the document; either would tell columns apart."""
    if blind:
        return ""
    score = f'<span title="How well the best passage fits">{ranked.result.score:.2f}</span>'
    only = ' <span class="rk-only">only here</span>' if ranked.only else ""
    return f" · {score}{only}"


def _move(ranked: RankedResult, blind: bool) -> str:
    """``▲3``, ``▼1``, ``new``: how the document stands against column A."""
    move = ranked.movement
    words = {
        RankChange.UP: (f"▲{move.steps}", f"{plural(move.steps, 'rank')} higher than in A"),
        RankChange.DOWN: (f"▼{move.steps}", f"{plural(move.steps, 'rank')} lower than in A"),
        RankChange.NEW: ("new", "Not among the results of A"),
        RankChange.SAME: ("=", "At the same rank as in A"),
        RankChange.AGAIN: ("again", "A further result of a document above"),
    }.get(move.change)
    if words is None or (blind and move.change is not RankChange.AGAIN):
        return ""
    shown, title = words
    return (
        f'<span class="rk-move" data-change="{move.change.value}" role="note" '
        f'title="{title}" aria-label="{title}">{shown}</span>'
    )


def _elsewhere(comparison: Comparison, column: int, ranked: RankedResult) -> str | None:
    """Return where else the document is: ``Also in B at rank 3``."""
    places = []
    for index, other in enumerate(comparison.columns):
        ranks = [
            same.rank
            for same in other.results
            if same.result.document.id == ranked.result.document.id
        ]
        if index != column and ranks:
            places.append(f"{LETTERS[index]} at rank {ranks[0]}")
    return f"Also in {', '.join(places)}" if places else None


def _gone(column: Column) -> str:
    if not column.gone:
        return ""
    listed = ", ".join(
        f"<bdi>{name(document.title or document.path)}</bdi>" for document in column.gone[:_GONE]
    )
    rest = len(column.gone) - _GONE
    return f'<p class="rk-gone">Gone from A: {listed}{f" and {rest} more" if rest > 0 else ""}</p>'


def snippet(result: Result) -> str:
    """The most telling line of the best matched chunk, as marked HTML."""
    best = result.matched_chunks[0] if result.matched_chunks else MatchedChunk(-1, 0.0)
    inside = [p for p in result.passages if p.chunks[0] <= best.index <= p.chunks[1]]
    passage = next(iter([*inside, *result.passages]), None)
    if passage is None:
        return ""
    start, end = 0, len(passage.text)
    if best.span is not None and inside:
        start = max(0, best.span.start - passage.start)
        end = min(end, best.span.end - passage.start)
    headings = _HEADINGS.match(passage.text, start, end)
    if headings and end - headings.end() > _SNIPPET // 3:
        start = headings.end()
    spans = [(a - start, b - start) for a, b in passage.highlights if b > start and a < end]
    return excerpt(passage.text[start:end], spans, _SNIPPET)


def tally(votes: Sequence[tuple[tuple[str, ...], int | None]], comparison: Comparison) -> str:
    """``2 votes for Keyword, 1 for Semantic, 1 undecided`` for these very settings."""
    texts = [as_text(column.settings) for column in comparison.columns]
    counts = dict.fromkeys(texts, 0)
    undecided = 0
    for settings, winner in votes:
        if sorted(settings) != sorted(texts):
            continue
        if winner is None:
            undecided += 1
        else:
            counts[settings[winner]] += 1
    if not undecided and not any(counts.values()):
        return ""
    named = dict(zip(texts, (column.name for column in comparison.columns), strict=True))
    parts = [f"{plural(count, 'vote')} for {named[one]}" for one, count in counts.items()]
    parts += [f"{undecided} undecided"] if undecided else []
    return "; ".join(parts)


OFFERED = (
    "mode", "contexts", "fusion", "rerank", "index", "granularity", "expansion", "per_document",
    "near_duplicates", "semantic_threshold", "mmr_lambda",
)  # fmt: skip


def edit_column(column: SearchConfig, prefix: str, embedders: list[str]) -> SearchConfig:
    """Draw the controls of one column, and return its settings.

    Their keys begin with ``prefix``; ``embedders`` are those that can be asked, the usual first.
    """
    options = column.options
    changes = search_controls(options, OFFERED, f"{prefix}-")
    chunked = control(CONFIG_OPTIONS["chunked"], column.chunked, f"{prefix}-chunked")
    embedder = column.embedder
    choices = list(dict.fromkeys(["", *embedders[1:], *filter(None, [embedder])]))
    if len(choices) > 1:
        embedder = st.selectbox(
            CONFIG_OPTIONS["embedder"].label, choices, index=choices.index(embedder),
            key=f"{prefix}-embedder", help=CONFIG_OPTIONS["embedder"].help,
            format_func=lambda name: label(name) if name else f"{label(embedders[0])}, as usual",
        )  # fmt: skip
    return SearchConfig(replace(options, **changes), chunked, embedder)
