"""Ranking: what a question's form and a candidate's surroundings say beyond the two indexes.

Everything here is a function of values. Each step adds a part of its own to the scores and
shrinks the others by the same factor, so that scores stay between 0 and 1.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ragkit.options import SearchOptions
from ragkit.retrieval.fusion import Fused, Part, Scores

IDENTIFIER_SHARE = 0.4
"""What is left of the vectors' weight when a question holds an identifier."""

TITLE_FLOOR = 0.2
"""From which share of a question on a title that holds it counts in full."""

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


def phrase_top(options: SearchOptions) -> int:
    """How many of the best candidates are looked at for the question's neighbouring words."""
    return max(options.candidates // 2, 1)


def with_titles(fused: Fused, raw: Scores, shares: Scores, weight: float) -> Fused:
    """Add how much of the question stands in each entry's title and headings, (n,)."""
    if weight <= 0:
        return fused
    return _with_part(fused, "title", raw, shares, weight)


def with_phrases(fused: Fused, places: NDArray[np.int64], shares: Scores, weight: float) -> Fused:
    """Add the share of the question's phrases that the entries at some places hold."""
    if weight <= 0:
        return fused
    column = np.zeros(len(fused))
    column[places] = shares
    return _with_part(fused, "phrase", column, column, weight)


def with_documents(fused: Fused, weight: float) -> Fused:
    """Add the score of the best entry of the same document; one alone keeps its own score."""
    if weight <= 0 or not len(fused):
        return fused
    scores = fused.scores
    _documents, group = np.unique(fused.document_ids, return_inverse=True)
    group = group.reshape(-1)
    best = np.zeros(int(group.max()) + 1)
    np.maximum.at(best, group, scores)
    return _with_part(fused, "document", best[group], best[group], weight)


def _with_part(fused: Fused, name: str, raw: Scores, normalised: Scores, weight: float) -> Fused:
    """Add a part that no index ranks; all weights are divided by their sum, which was 1."""
    scaled = tuple(replace(one, weight=one.weight * (1 / (1 + weight))) for one in fused.parts)
    unranked = np.zeros(len(fused), np.int64)
    part = Part(name, weight / (1 + weight), unranked, raw, normalised)
    return replace(fused, parts=(*scaled, part))
