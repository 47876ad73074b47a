"""Exact figures of a question, and the texts that have them.

"payments of 39,90" asks for what has 39,90. That is often in a text of many figures, where BM25
gives it no more than a common word that other texts repeat, and vectors know no figures at all. So
what has an amount, a day, a number or a code is looked for by it alone as well, and gains by it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ragkit.indexes.protocol import EntryIndex, IndexSearch
from ragkit.indexes.rows import Ids
from ragkit.options import SearchOptions
from ragkit.retrieval.hits import Ranking, with_part_of_some
from ragkit.retrieval.proximity import Scores
from ragkit.retrieval.query.date_forms import date_forms, with_date_forms
from ragkit.retrieval.query.encoding import Query
from ragkit.types import Field

_FEWEST_DIGITS = 3
"""Fewer count things, or are part of a name: "5 days", "Q2", "IL-6"."""

_LEAST_SHARE = 0.25
"""Of a question that asks for more than figures, less of it, by the rarity of words, is chance."""

_LONG = 4
"""As many digits are of a figure what the whole is, without letters or a year before them."""

_OTHERWISE = re.compile(r"[/@]|^\d{4}([-.])\d\d?\1\d\d?$|^\d\d?([-.])\d\d?\2\d{4}$")
# Much is of a year or a month.
_PERIOD = re.compile(r"(?:19|20)\d\d(?:[-/.]\d\d?)?|\d\d?[-/.](?:19|20)\d\d")


def is_figure(token: str) -> bool:
    """Return whether a token is a figure: it has too many digits to count things, and no period."""
    return sum(map(str.isdigit, token)) >= _FEWEST_DIGITS and not _PERIOD.fullmatch(token)


def exact_tokens(tokens: Sequence[str]) -> Sequence[str]:
    """Return which tokens of a word, the whole first, say that it is there: of a figure not all.

    Half of a number of an invoice is in many others. A day may be written otherwise, and the last
    part of a path or an address names it, too.
    """
    if not tokens or not is_figure(tokens[0]) or _OTHERWISE.search(tokens[0]):
        return tokens
    numbers = (part for part in tokens[1:] if part.isdigit() and len(part) >= _LONG)
    return [tokens[0], *filter(is_figure, numbers)]


def figures_of(query: Query) -> list[list[int]]:
    """Return the ids of each figure of a query that the library knows, in all notations of a day.

    A day in words is none: texts that have it in words as well would come last.
    """
    forms = date_forms(query.text)
    figures = []
    for token in _own(query):
        if is_figure(token):
            written = (token, *(form for form, own in forms.items() if token in own))
            figures.append([query.known[each] for each in written if each in query.known])
    return [ids for ids in figures if ids]


def of_figures(queries: Sequence[Query], options: SearchOptions) -> list[Query]:
    """Return queries for the figures of each alone; none if no query has any, or none count."""
    if options.figure_weight <= 0:
        return []
    ids = [[id_ for written in figures_of(query) for id_ in written] for query in queries]
    if not any(ids):
        return []
    pairs = zip(queries, ids, strict=True)
    return [replace(query, token_ids=own, weights={}, vector=None) for query, own in pairs]


def with_figures(
    ranking: Ranking,
    searches: Sequence[IndexSearch],
    queries: Sequence[Query],
    options: SearchOptions,
) -> Ranking:
    """Add the share of its query, by the rarity of words, that is figures which an entry has."""
    shares = np.zeros(len(ranking.entry_ids))
    bounds = np.searchsorted(ranking.queries, np.arange(ranking.count + 1)).tolist()
    for number, query in enumerate(queries if options.figure_weight > 0 else ()):
        figures = figures_of(query)
        rows = slice(bounds[number], bounds[number + 1])
        for search in searches if figures else ():
            shares[rows] += _shares(search.index, query, figures, ranking.entry_ids[rows])
    return with_part_of_some(ranking, "figure", shares, shares, options.figure_weight)


def _shares(
    index: EntryIndex, query: Query, figures: Sequence[Sequence[int]], entry_ids: Ids
) -> Scores:
    """Return the share of a query that is figures which each entry has, (n,)."""
    words = [query.known[token] for token in _own(query) if token in query.known]
    others = [id_ for id_ in words if not any(id_ in written for written in figures)]
    # A figure is as rare as the notation that most have.
    rarities = [float(index.idf(written, Field.TEXT).min()) for written in figures]
    total = sum(rarities) + float(index.idf(others, Field.TEXT).sum() if others else 0.0)
    shares = np.zeros(len(entry_ids))
    texts = index.get(entry_ids, Field.TEXT)
    row_of = np.repeat(np.arange(len(entry_ids)), texts.lengths)
    for rarity, written in zip(rarities, figures, strict=True):
        held = np.zeros(len(entry_ids), np.bool_)
        held[row_of[np.isin(texts.flat, written)]] = True
        shares += held * (rarity / total)
    return np.where(shares >= _LEAST_SHARE, shares, 0.0)


def _own(query: Query) -> list[str]:
    """Return the distinct tokens of a query without other forms of its words and dates."""
    forms = with_date_forms(query.forms, query.text)
    return [token for token in dict.fromkeys(query.tokens) if token not in forms]
