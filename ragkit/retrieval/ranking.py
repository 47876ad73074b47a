"""Ranking: what the indexes found becomes one list, and every score explains itself.

Everything here is a function of columns over a batch of queries; one query is a batch of one, and
gets the same scores to the last bit in any batch. Each step that adds a part shrinks the others
by the same factor, so that scores stay between 0 and 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ragkit.indexes.protocol import Candidates, IndexKind, IndexSearch
from ragkit.indexes.rows import Ids, distinct
from ragkit.indexes.tokenizer import query_tokens
from ragkit.options import Fusion, QuestionMerge, SearchOptions
from ragkit.retrieval.candidates import exact_scores, places_of, ranks_of, take_rows
from ragkit.retrieval.hits import Part, Ranking, with_part, with_part_of_some
from ragkit.retrieval.index_weights import index_weights
from ragkit.retrieval.proximity import (
    Scores,
    may_be_quoted,
    phrase_shares,
    shares_in,
    title_shares,
    verbatim_shares,
    whole_phrases,
    whole_title_shares,
)
from ragkit.retrieval.query.encoding import Query
from ragkit.types import Field, Level

FOLDER_SHARE = 0.5
"""How much a word of a folder counts, for one of a title."""

TITLE_FLOOR = 0.2
"""From which share of a query on a title that holds it counts in full."""

WHOLE_TITLE = 3.0
"""How many times as much it counts where the query is the whole title."""


@dataclass(frozen=True, slots=True)
class Within:
    """What the rest of a question finds in the documents that it names.

    ``query`` is the number of the question in its batch, ``ranking`` that of its rest alone.
    ``documents`` (n,) ascend, ``shares`` (n,) say how well each is named, from 0 to 1.
    """

    query: int
    ranking: Ranking
    documents: Ids
    shares: Scores


def rank(
    candidates: Mapping[IndexKind, Candidates],
    searches: Sequence[IndexSearch],
    queries: Sequence[Query],
    options: SearchOptions,
    level: Level,
    within: Sequence[Within] = (),
    full_words: Scores | None = None,
) -> Ranking:
    """Join what each kind of index found for a batch of queries.

    When two are joined by weights, each scores every candidate exactly, and titles, neighbouring
    words and the rest of the document count too. ``within`` has what is found in the documents that
    some of the queries name. Scores by words are shares of the best one, or of ``full_words`` (q,)
    where that is more.
    """
    by_kind = np.array([index_weights(query, options) for query in queries]).reshape(-1, 2)
    weights = dict(zip((IndexKind.VECTOR, IndexKind.KEYWORD), by_kind.T, strict=True))
    if len(candidates) < 2 or options.fusion is not Fusion.WEIGHTED:
        return fuse(candidates, weights, options, full_words=full_words)
    ranking = fuse(candidates, weights, options, searches, within, full_words)
    if level is Level.CHUNK:
        ranking = with_titles(ranking, searches, queries, options)
        ranking = with_phrases(ranking, searches, queries, options)
    ranking = with_named(ranking, within, options.name_weight)
    return with_documents(ranking, options.document_weight)


def with_places(ranking: Ranking, in_order: Callable[[Ids], Sequence[int]]) -> Ranking:
    """Have scores that tie ordered by their documents, so that the order of reading never counts.

    ``in_order`` returns ids of documents in their order; it is asked only where scores tie.
    """
    best = ranking.order
    scores, documents = ranking.scores[best], ranking.document_ids[best]
    same = (scores[1:] == scores[:-1]) & (documents[1:] != documents[:-1])
    same &= ranking.queries[1:] == ranking.queries[:-1]
    if not same.any():
        return ranking
    tied = np.unique(np.concatenate([documents[:-1][same], documents[1:][same]]))
    place_of = {document: place for place, document in enumerate(in_order(tied))}
    places = [place_of.get(document, -1) for document in ranking.document_ids.tolist()]
    return replace(ranking, places=np.array(places, np.int64))


def best_half(ranking: Ranking, most: int) -> Ids:
    """Return the ``most`` best rows of each query, and all that tie with the last of these."""
    scores, nth = ranking.scores[ranking.order], places_of(ranking.queries)
    last = np.full(ranking.count, -np.inf)
    last[ranking.queries[nth == most - 1]] = scores[nth == most - 1]
    rows: Ids = ranking.order[scores >= last[ranking.queries]]
    return rows


def fuse(
    candidates: Mapping[IndexKind, Candidates],
    weights: Mapping[IndexKind, Scores],
    options: SearchOptions,
    searches: Sequence[IndexSearch] = (),
    within: Sequence[Within] = (),
    full_words: Scores | None = None,
) -> Ranking:
    """Join the candidates of each query of a batch into one list.

    ``weights`` have one number a query, (q,), and count in proportion to each other; an index of
    weight 0 is left out, and if all are 0 they count the same. By reciprocal rank, being first
    everywhere gives 1; by weighted scores, being best everywhere does. ``searches`` have each index
    score the entries that only others found; without them they get nothing from that index.
    """
    positive = [np.maximum(weights[kind], 0.0) for kind in candidates]
    total = sum(positive, np.zeros(()))
    used = {}
    for (kind, columns), weight in zip(candidates.items(), positive, strict=True):
        share = np.where(total > 0.0, weight / np.where(total > 0.0, total, 1.0), 1 / len(positive))
        if share.all():
            used[kind] = share, columns
        elif share.any():
            used[kind] = share, take_rows(columns, np.flatnonzero(share[columns.queries] > 0.0))
    entries = [columns.entry_ids for _, columns in used.values()]
    entries += [narrowed.ranking.entry_ids for narrowed in within]
    width = 1 + max((int(ids.max(initial=0)) for ids in entries), default=0)
    keyed = [columns.queries * width + columns.entry_ids for _, columns in used.values()]
    brought = [narrowed.query * width + narrowed.ranking.entry_ids for narrowed in within]
    keys = distinct(np.concatenate([np.zeros(0, np.int64), *keyed, *brought]))
    queries, entry_ids = np.divmod(keys, width)
    count = max(map(len, weights.values()), default=0)
    documents, chunks, levels = np.zeros((3, len(keys)), np.int64)
    for narrowed, of_one in zip(within, brought, strict=True):
        rows = np.searchsorted(keys, of_one)
        documents[rows] = narrowed.ranking.document_ids
        chunks[rows] = narrowed.ranking.chunk_indexes
        levels[rows] = narrowed.ranking.levels
    parts = []
    for (kind, (share, columns)), of_kind in zip(used.items(), keyed, strict=True):
        # Backwards, so that of an entry that is twice in a list the first place counts.
        rows = np.searchsorted(keys, of_kind)[::-1]
        documents[rows] = columns.document_ids[::-1]
        chunks[rows] = columns.chunk_indexes[::-1]
        levels[rows] = columns.levels[::-1]
        ranks = np.zeros(len(keys), np.int64)
        ranks[rows] = ranks_of(columns)[::-1]
        raw = np.zeros(len(keys))
        raw[rows] = columns.scores[::-1]
        by_sum = kind is IndexKind.VECTOR and options.question_merge is QuestionMerge.SUM
        # A sum of inverse ranks is known only of what was found.
        if searches and not by_sum:
            missing = np.flatnonzero((ranks == 0) & (share[queries] > 0.0))
            raw[missing] = exact_scores(searches, kind, entry_ids[missing], queries[missing])
        if options.fusion is Fusion.RRF:
            inverse = (options.rrf_k + 1) / (options.rrf_k + ranks)
            normalised = np.where(ranks > 0, inverse, 0.0)
        elif kind is IndexKind.VECTOR and not by_sum:
            normalised = np.clip(raw, 0.0, 1.0)
        else:
            least = full_words if kind is IndexKind.KEYWORD and full_words is not None else 0.0
            normalised = shares_of_best(raw, queries, count, least)
        parts.append(Part(kind.value, share, ranks, raw, normalised))
    return Ranking(count, queries, entry_ids, documents, chunks, levels, tuple(parts))


def with_titles(
    ranking: Ranking,
    searches: Sequence[IndexSearch],
    queries: Sequence[Query],
    options: SearchOptions,
) -> Ranking:
    """Add what titles hold of their query, and more where one is little else.

    The latter not where all that come near the best are listed by date.
    """
    if options.title_weight <= 0:
        return ranking
    asking = ranking.entry_ids, ranking.queries
    in_titles, in_folders = (
        shares_in(title_shares, field, searches, queries, *asking)
        for field in (Field.TITLE, Field.FOLDERS)
    )
    raw = np.minimum(in_titles + FOLDER_SHARE * in_folders, 1.0)
    shares = shares_of_best(raw, ranking.queries, ranking.count, TITLE_FLOOR)
    ranking = with_part(ranking, "title", raw, shares, options.title_weight)
    if options.sort.by_date:
        return ranking
    # What is left of a question without the words that make it one is no title that was typed.
    as_typed = np.array([
        [query.known.get(token) for token in query_tokens(query.text)] == [*query.token_ids]
        for query in queries
    ])  # fmt: skip
    held = np.where(as_typed[ranking.queries], in_titles, 0.0)
    raw = whole_title_shares(held, searches, queries, *asking)
    shares = shares_of_best(raw, ranking.queries, ranking.count, TITLE_FLOOR)
    weight = WHOLE_TITLE * options.title_weight
    return with_part_of_some(ranking, "whole title", raw, shares, weight)


def with_phrases(
    ranking: Ranking,
    searches: Sequence[IndexSearch],
    queries: Sequence[Query],
    options: SearchOptions,
) -> Ranking:
    """Add what is side by side as in the query, and more where all of it is."""
    if options.phrase_weight <= 0 and options.verbatim_weight <= 0:
        return ranking
    rows = best_half(ranking, max(options.candidates // 2, 1))
    if by_words := ranking.part(IndexKind.KEYWORD):
        # Where no word of the query occurs, no two do.
        rows = rows[by_words.raw[rows] > 0.0]
    asked = ranking.entry_ids[rows], ranking.queries[rows]
    shares = np.zeros(len(ranking.entry_ids))
    shares[rows] = shares_in(phrase_shares, Field.TEXT, searches, queries, *asked)
    if options.phrase_weight > 0:
        ranking = with_part(ranking, "phrase", shares, shares, options.phrase_weight)
    quotable = np.array([may_be_quoted(query.text) for query in queries])
    if options.verbatim_weight <= 0 or not quotable.any() or not shares.any():
        return ranking
    wholes = np.where(quotable, whole_phrases(searches, queries), 0.0)
    verbatim = verbatim_shares(shares, wholes, ranking.queries)
    return with_part_of_some(ranking, "verbatim", verbatim, verbatim, options.verbatim_weight)


def shares_of_best(raw: Scores, queries: Ids, count: int, least: float | Scores) -> Scores:
    """Divide each score by the best of its query, of ``count``, or by ``least`` if that is more.

    That is one number, or one for each query, (q,).
    """
    if count == 1:
        best_of_all = max(float(np.max(least)), float(raw.max(initial=0.0)))
        return np.maximum(raw, 0.0) / (best_of_all or 1.0)
    best = np.array(np.broadcast_to(least, count), np.float64)
    np.maximum.at(best, queries, raw)
    shares: Scores = np.maximum(raw, 0.0) / np.where(best > 0.0, best, 1.0)[queries]
    return shares


def with_named(ranking: Ranking, within: Sequence[Within], weight: float) -> Ranking:
    """Add what the rest of a question finds in the documents that it names."""
    if weight <= 0 or not within:
        return ranking
    raw, shares = np.zeros((2, len(ranking.entry_ids)))
    weights = np.zeros(ranking.count)
    bounds = np.searchsorted(ranking.queries, np.arange(ranking.count + 1))
    for narrowed in within:
        weights[narrowed.query] = weight
        start, end = bounds[narrowed.query], bounds[narrowed.query + 1]
        rows = start + np.searchsorted(ranking.entry_ids[start:end], narrowed.ranking.entry_ids)
        raw[rows] = narrowed.ranking.scores
        places = np.searchsorted(narrowed.documents, narrowed.ranking.document_ids)
        shares[rows] = narrowed.ranking.scores * narrowed.shares[places]
    return with_part(ranking, "name", raw, shares, weights)


def with_documents(ranking: Ranking, weight: float) -> Ranking:
    """Add the score of the best entry of the same document; one alone keeps its own score."""
    if weight <= 0 or not len(ranking.entry_ids):
        return ranking
    wide = ranking.queries * (int(ranking.document_ids.max()) + 1) + ranking.document_ids
    documents = distinct(wide)
    group = documents.searchsorted(wide)
    best = np.zeros(len(documents))
    np.maximum.at(best, group, ranking.scores)
    return with_part(ranking, "document", best[group], best[group], weight)
