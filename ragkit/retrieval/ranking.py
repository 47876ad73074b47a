"""Ranking: what a question's form and a candidate's surroundings say beyond the two indexes.

Everything here is a function of values. Each step adds a part of its own to the scores and
shrinks the others by the same factor, so that scores stay between 0 and 1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.rows import TokenColumn
from ragkit.results import SearchOptions
from ragkit.retrieval.fusion import Fused, Part, Scores

IDENTIFIER_SHARE = 0.4
"""What is left of the vectors' weight when a question holds an identifier."""

PHRASE_TOP = 50
"""How many of the best candidates are looked at for the question's neighbouring words."""

_FEW_TOKENS = 60

_IDENTIFIER = re.compile(r"[a-z0-9][A-Z]|\w_\w|[A-Za-z]\d|\d[A-Za-z]|\w\.\w|::")


def holds_identifier(question: str) -> bool:
    """Tell whether a question has ``snake_case``, ``camelCase``, ``os.path``, ``utf8`` or so."""
    return _IDENTIFIER.search(question) is not None


def index_weights(question: str, options: SearchOptions) -> tuple[float, float]:
    """The weights of vectors and keywords for a question.

    Static vectors know little of identifiers: where there is one, ``IDENTIFIER_SHARE`` of their
    weight stays and keywords get the rest, unless one index is switched off.
    """
    vector, keyword = options.vector_weight, options.keyword_weight
    if not options.adaptive or vector <= 0 or keyword <= 0 or not holds_identifier(question):
        return vector, keyword
    left = vector * IDENTIFIER_SHARE
    return left, keyword + vector - left


def phrase_shares(query: Sequence[int], idf: NDArray[np.float32], chunks: TokenColumn) -> Scores:
    """How much of a question stands in chunks as neighbouring words, from 0 to 1, (n,).

    ``query`` holds its m tokens in order and ``idf`` (m,) their weights. A pair of neighbours
    counts its rarer half's smaller weight when the chunk has both in that order with at most one
    token between.
    """
    found = np.zeros(len(chunks))
    total = float(idf.sum())
    known, codes = np.unique(np.array(query, np.int64), return_inverse=True)
    if len(query) < 2 or total <= 0 or not len(chunks.flat):
        return found
    codes = codes.reshape(-1)
    pairs, first = np.unique(codes[:-1] * len(known) + codes[1:], return_index=True)
    weights = np.minimum(idf[:-1], idf[1:])[first].astype(np.float64)
    at, code = _known_tokens(chunks.flat, known)
    row = np.searchsorted(chunks.offsets, at, side="right") - 1
    seen = []
    # Between two of the question's tokens that are at most two places apart stands at most one.
    for step in (1, 2):
        apart = at[step:] - at[:-step] if step < len(at) else at[:0]
        close = (apart <= 2) & (row[step:] == row[: len(row) - step][: len(apart)])
        left, right = code[: len(apart)][close], code[step:][close]
        key = left * len(known) + right
        place = np.minimum(np.searchsorted(pairs, key), len(pairs) - 1)
        among = pairs[place] == key
        seen.append(row[step:][close][among] * len(pairs) + place[among])
    once = np.unique(np.concatenate(seen))
    np.add.at(found, once // len(pairs), weights[once % len(pairs)])
    shares: Scores = found / total
    return shares


def _known_tokens(
    flat: NDArray[np.uint32], known: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where some tokens, ascending, stand in a text, in order, and which of them each is."""
    if len(known) > _FEW_TOKENS:
        near = np.minimum(np.searchsorted(known, flat), len(known) - 1)
        at = np.flatnonzero(known[near] == flat)
        return at, near[at]
    # A comparison with each is quicker than looking each token of the text up.
    which = np.zeros(len(flat), np.uint8)
    for code, token in enumerate(known.tolist()):
        which[flat == token] = code + 1
    at = np.flatnonzero(which)
    return at, which[at].astype(np.int64) - 1


def with_phrases(fused: Fused, places: NDArray[np.int64], shares: Scores, weight: float) -> Fused:
    """Add the share of the question's phrases that the entries at some places hold."""
    if weight <= 0:
        return fused
    column = np.zeros(len(fused))
    column[places] = shares
    nothing = np.zeros(len(fused), np.int64)
    part = Part("phrase", weight / (1 + weight), nothing, column, column)
    return _with_part(fused, part, 1 / (1 + weight))


def with_documents(fused: Fused, weight: float) -> Fused:
    """Add the score of the best entry of the same document; one alone keeps its own score."""
    if weight <= 0 or not len(fused):
        return fused
    scores = fused.scores
    _documents, group = np.unique(fused.document_ids, return_inverse=True)
    group = group.reshape(-1)
    best = np.zeros(int(group.max()) + 1)
    np.maximum.at(best, group, scores)
    nothing = np.zeros(len(fused), np.int64)
    part = Part("document", weight / (1 + weight), nothing, best[group], best[group])
    return _with_part(fused, part, 1 / (1 + weight))


def _with_part(fused: Fused, part: Part, left: float) -> Fused:
    """Scale the parts so far and add one."""
    scaled = tuple(replace(one, weight=one.weight * left) for one in fused.parts)
    return replace(fused, parts=(*scaled, part))
