"""The Compare page: controls of a column, results side by side as HTML, the tally of votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import streamlit as st

from pages.parts.common import markup
from pages.parts.common.judging import buttons
from pages.parts.common.markup import action, attributes, document_link, name, text
from pages.parts.common.option_controls import control, search_controls
from pages.parts.library.embedder_choice import label
from pages.parts.search import summary
from pages.parts.search.passages import excerpt_html
from pages.parts.search.trace_view import trace_view
from ragkit.answering.excerpts import Excerpt
from ragkit.catalog.judgments import VoteRecord
from ragkit.evaluation.comparison import Column, Comparison, Movement, RankChange, RankedResult
from ragkit.evaluation.judging import Grades
from ragkit.evaluation.search_config import CONFIG_OPTIONS, SearchConfig, as_text
from ragkit.formatting import plural

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
_GONE = 5


@dataclass(frozen=True, slots=True)
class Shown:
    """How a comparison is shown, with the ``grades`` of its results.

    ``blind`` hides the settings of each column; ``order`` are the columns in the order in which
    they stand, by default as they are. ``excerpts`` are those of each column's results.
    """

    grades: Grades = field(default_factory=Grades)
    blind: bool = False
    order: Sequence[int] = ()
    excerpts: Sequence[Sequence[Excerpt | None]] = ()

    def excerpt(self, column: int, rank: int) -> Excerpt | None:
        """Return the excerpt chosen for a result, if there is one."""
        return self.excerpts[column][rank - 1] if self.excerpts else None

    def letter(self, column: int) -> str:
        """Return the letter of a column."""
        return LETTERS[self.order.index(column) if self.order else column]


def table(comparison: Comparison, shown: Shown) -> str:
    """Build all columns, aligned by document."""
    order = shown.order or range(len(comparison.columns))
    columns = [_column(comparison, place, index, shown) for place, index in enumerate(order)]
    return f'<div class="rk-compare" style="--columns:{len(columns)}">{"".join(columns)}</div>'


def _column(comparison: Comparison, place: int, index: int, shown: Shown) -> str:
    column = comparison.columns[index]
    letter = LETTERS[place]
    if shown.blind:
        label, gone = f"Column {letter}", ""
        heading = "?"
        about = '<p class="rk-soft">Settings are revealed after you vote.</p>'
        button = action("vote", "This one is better", style="rk-offer", data_place=place)
    else:
        label, gone = f"{letter}: {column.name}", _gone(column, shown.letter(0))
        heading = text(column.name)
        about = _about(column, index, comparison.depth, shown.letter(0))
        button = "" if column.problem else action(
            "use", "Use these settings", data_column=index,
            title="Search this collection with these settings from now on.",
        )  # fmt: skip
    if column.problem:
        body = f'<p class="rk-notice rk-warn">{text(column.problem)}</p>'
    elif not column.results:
        body = '<p class="rk-soft">No results.</p>'
    else:
        items = (f"<li>{_item(comparison, index, ranked, shown)}</li>" for ranked in column.results)
        body = f'<ol class="rk-items">{"".join(items)}</ol>'
    return (
        f'<section class="rk-column" aria-label="{text(label)}" data-column="{index}">'
        f'<header class="rk-column-head"><h2><span class="rk-letter">{letter}</span>{heading}</h2>'
        f'{about}<div class="rk-foot">{button}</div></header>'
        f'<div class="rk-column-body">{body}{gone}</div></section>'
    )


def _about(column: Column, index: int, depth: int, baseline: str) -> str:
    """Return the column's agreement with the baseline, its times, and its notices."""
    agreement = "" if index else (
        '<span title="The other columns are compared with this one.">Baseline</span>'
    )  # fmt: skip
    if index and not column.problem:
        agreement = (
            f'<span title="The share of the first {depth} that both have, in any order.">'
            f"{100 * column.overlap:.0f}\u202f% overlap with {baseline}</span> · "
            '<span title="Rank-biased overlap (p = 0.9): 1 when both rank alike; '
            f'the first ranks count most.">rank correlation {column.rbo:.2f}</span>'
        )
    took = ""
    if column.trace.stages:
        took = (
            f'<details class="rk-trace"><summary>{markup.took(column.ms)} · '
            f'<span class="rk-ask">Details</span></summary>'
            f"{trace_view(column.trace)}</details>"
        )
    notices = "".join(f'<p class="rk-soft">{text(notice)}</p>' for notice in column.notices)
    titles = {ranked.result.document.id: ranked.result.document.title for ranked in column.results}
    phrasings = summary.phrasings(column.phrasings, titles)
    return f'<p class="rk-soft">{agreement}</p>{took}{notices}{phrasings}'


def _item(comparison: Comparison, column: int, ranked: RankedResult, shown: Shown) -> str:
    result, document = ranked.result, ranked.result.document
    span = result.best_span
    joined = document.id in comparison.shared
    hue = f"--hue:var(--hue-{comparison.shared.index(document.id) % _HUES})" if joined else None
    best = result.matched_chunks[0].index if result.matched_chunks else 0
    again = ranked.movement.change is RankChange.AGAIN
    # Where else a document is and how it scores would tell the columns of a blind vote apart.
    score = elsewhere = ""
    if not shown.blind:
        score = f' · <span title="How well the best passage fits">{result.score:.2f}</span>'
        score += ' <span class="rk-only">only here</span>' if ranked.only else ""
        elsewhere = _elsewhere(comparison, column, document.id, shown)
    move = _move(ranked.movement, shown.letter(0)) if again or not shown.blind else ""
    place = f"rk-item-{column}-{ranked.rank}"
    title = f"<bdi>{name(document.title or document.path)}</bdi>"
    link = document_link(
        document.id, best, comparison.question, title, class_="rk-link", id=f"{place}-title"
    )
    return (
        '<article class="rk-item"'
        + attributes(
            id=place, tabindex=0, aria_labelledby=f"{place}-title", style=hue,
            data_doc=document.id, data_path=document.path, title=elsewhere or None,
            data_joined="" if joined and not again else None,
        )
        + f'><div class="rk-item-head"><span class="rk-rank">{ranked.rank}</span>'
        f"{link}{move}</div>"
        f'<p class="rk-item-where"><bdi>{name(document.path)}</bdi>{score}</p>'
        f"{excerpt_html(result, comparison.question, shown.excerpt(column, ranked.rank))}"
        f"{buttons(result, span, shown.grades.of(document.id, span))}</article>"
    )  # fmt: skip


def _move(move: Movement, baseline: str) -> str:
    """Return the change of rank against the baseline: ``▲3``, ``▼1``, ``new``."""
    words = {
        RankChange.UP: (
            f"▲{move.steps}",
            f"{plural(move.steps, 'rank')} higher than in {baseline}",
        ),
        RankChange.DOWN: (
            f"▼{move.steps}",
            f"{plural(move.steps, 'rank')} lower than in {baseline}",
        ),
        RankChange.NEW: ("new", f"Not among the results of {baseline}"),
        RankChange.SAME: ("=", f"At the same rank as in {baseline}"),
        RankChange.AGAIN: ("again", "A further result of a document above"),
    }.get(move.change)
    if words is None:
        return ""
    shown, title = words
    return (
        f'<span class="rk-move" data-change="{move.change.value}" role="note" '
        f'title="{title}" aria-label="{title}">{shown}</span>'
    )


def _elsewhere(comparison: Comparison, column: int, document_id: int, shown: Shown) -> str:
    """Return where else the document is: ``Also in B at rank 3``."""
    places = []
    for index, other in enumerate(comparison.columns):
        ranks = (
            ranked.rank for ranked in other.results if ranked.result.document.id == document_id
        )
        rank = next(ranks, None)
        if index != column and rank is not None:
            places.append(f"{shown.letter(index)} at rank {rank}")
    return f"Also in {', '.join(places)}" if places else ""


def _gone(column: Column, baseline: str) -> str:
    if not column.gone:
        return ""
    listed = ", ".join(
        f"<bdi>{name(document.title or document.path)}</bdi>" for document in column.gone[:_GONE]
    )
    rest = len(column.gone) - _GONE
    more = f" and {rest} more" if rest > 0 else ""
    return f'<p class="rk-gone">In {baseline} but not here: {listed}{more}</p>'


def tally(votes: Sequence[VoteRecord], comparison: Comparison) -> str:
    """Return ``2 votes for Keyword; 1 vote for Semantic; 1 undecided`` for these settings."""
    named = {as_text(column.settings): column.name for column in comparison.columns}
    texts = sorted(as_text(column.settings) for column in comparison.columns)
    cast = [vote for vote in votes if sorted(vote.settings) == texts]
    if not cast:
        return ""
    counts = Counter(None if vote.winner is None else vote.settings[vote.winner] for vote in cast)
    parts = [
        f"{plural(counts[settings], 'vote')} for {column}" for settings, column in named.items()
    ]
    return "; ".join([*parts, *([f"{counts[None]} undecided"] if counts[None] else [])])


def edit_column(column: SearchConfig, prefix: str, embedders: list[str]) -> SearchConfig:
    """Draw the controls of one column, and return its settings.

    Their keys begin with ``prefix``; ``embedders`` are those that can be asked, the usual first.
    """
    options = search_controls(column.options, f"{prefix}-")
    chunked = control(CONFIG_OPTIONS["chunked"], column.chunked, f"{prefix}-chunked")
    embedder = column.embedder
    choices = list(dict.fromkeys(["", *embedders[1:], *filter(None, [embedder])]))
    if len(choices) > 1:
        embedder = st.selectbox(
            CONFIG_OPTIONS["embedder"].label, choices, index=choices.index(embedder),
            key=f"{prefix}-embedder", help=CONFIG_OPTIONS["embedder"].help,
            format_func=lambda name: label(name) if name else f"{label(embedders[0])} (current)",
        )  # fmt: skip
    return SearchConfig(options, chunked, embedder)
