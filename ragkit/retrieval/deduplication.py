"""Deduplication: hits that would show the same thing twice are folded into the best of them.

Every function takes hits best first and returns clusters in the order of the ranking: the first
hit of a cluster is kept, the others were folded into it, so that a page can say where else a text
stands, or open what a cap held back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import QueryError
from ragkit.retrieval.ranking import Hit

Clusters: TypeAlias = list[list[Hit]]
"""The kept hits, each followed by those that were folded into it, best first."""

Vectors: TypeAlias = Mapping[int, NDArray[np.floating]]
"""Entry ids with their vectors, each of the same shape ``(dimensions,)``."""

_Twin: TypeAlias = Callable[[int, Sequence[int]], int | None]
"""Given the row of a hit and those kept so far, names the kept one that it repeats, if any."""

_COMPARED = 20_000
_CLOSE = 0.9


def kept_hits(clusters: Clusters) -> list[Hit]:
    """Return the hits that stand for their clusters."""
    return [cluster[0] for cluster in clusters]


def fold_identical(hits: Sequence[Hit], keys: Mapping[int, Hashable]) -> Clusters:
    """Fold hits of different documents whose ``keys`` (by entry id) are equal.

    A text that a document repeats is kept each time, and so are hits without a key, or with an
    empty one (see ``content_key``).
    """
    if len(set(keys.values())) == len(keys):
        return [[hit] for hit in hits]
    same: dict[Hashable, list[int]] = {}

    def twin(row: int, _kept: Sequence[int]) -> int | None:
        key = keys.get(hits[row].entry_id)
        if key is None or key == b"":
            return None
        rows = same.setdefault(key, [])
        first = next((other for other in rows if _apart(hits[other], hits[row])), None)
        if first is None:
            rows.append(row)
        return first

    return _at_home(hits, _fold(hits, twin))


def fold_near(hits: Sequence[Hit], texts: Mapping[int, str], threshold: float = 95.0) -> Clusters:
    """Fold hits of different documents whose texts are alike by ``threshold`` per cent or more.

    ``texts`` are by entry id. Case and white space make no difference, and only the first 20,000
    characters are compared.
    """
    from rapidfuzz import fuzz, process

    plain = [" ".join(texts.get(hit.entry_id, "")[:_COMPARED].casefold().split()) for hit in hits]

    def twin(row: int, rows: Sequence[int]) -> int | None:
        if not plain[row]:
            return None
        choices = {other: plain[other] for other in rows if _apart(hits[other], hits[row])}
        best = process.extractOne(plain[row], choices, scorer=fuzz.ratio, score_cutoff=threshold)
        return best[2] if best else None

    return _at_home(hits, _fold(hits, twin))


def fold_semantic(hits: Sequence[Hit], vectors: Vectors, threshold: float) -> Clusters:
    """Fold hits of different documents whose vectors' cosine reaches ``threshold``.

    Hits without a vector are kept.
    """
    cosines = _cosines(hits, vectors)

    def twin(row: int, rows: Sequence[int]) -> int | None:
        if hits[row].entry_id not in vectors:
            return None
        near = [
            other
            for other in rows
            if cosines[row, other] >= threshold and _apart(hits[other], hits[row])
        ]
        return max(near, key=lambda other: float(cosines[row, other]), default=None)

    return _at_home(hits, _fold(hits, twin))


def best_per_section(hits: Sequence[Hit], sections: Mapping[int, Hashable]) -> Clusters:
    """Keep the best hit of each section, or other part, of each document.

    ``sections`` names the part by entry id; hits without one are kept.
    """
    best: dict[Hashable, int] = {}

    def twin(row: int, _kept: Sequence[int]) -> int | None:
        hit = hits[row]
        if hit.entry_id not in sections:
            return None
        first = best.setdefault((hit.document_id, sections[hit.entry_id]), row)
        return None if first == row else first

    return _clusters(hits, _fold(hits, twin))


def cap_per_document(hits: Sequence[Hit], most: int) -> Clusters:
    """Keep at most ``most`` hits of each document (0: all).

    The others of a document are folded into its best hit. Pass more hits than a page needs, so
    that it fills up from further down.
    """
    best: dict[int, int] = {}
    counts: Counter[int] = Counter()

    def twin(row: int, _kept: Sequence[int]) -> int | None:
        document = hits[row].document_id
        if 0 < most <= counts[document]:
            return best[document]
        counts[document] += 1
        best.setdefault(document, row)
        return None

    return _clusters(hits, _fold(hits, twin))


def mmr(hits: Sequence[Hit], vectors: Vectors, lambda_: float, limit: int) -> list[Hit]:
    """Choose up to ``limit`` hits by maximal marginal relevance, in the order of choosing.

    Each choice weighs a hit's score by ``lambda_`` against its likeness to what is already
    chosen; 1 keeps the ranking, 0 looks at variety alone. A hit without a vector is like none.

    Raises:
        QueryError: ``lambda_`` is not from 0 to 1.
    """
    if not 0.0 <= lambda_ <= 1.0:
        raise QueryError(
            f"The balance of relevance and variety is {lambda_}.", "Choose a number from 0 to 1."
        )
    if not hits or limit <= 0:
        return []
    cosines = _cosines(hits, vectors)
    relevance = lambda_ * np.array([hit.score for hit in hits], dtype=np.float64)
    nearest = np.zeros(len(hits), dtype=np.float64)
    open_ = np.ones(len(hits), dtype=np.bool_)
    chosen: list[Hit] = []
    while len(chosen) < min(limit, len(hits)):
        gain = np.where(open_, relevance - (1.0 - lambda_) * nearest, -np.inf)
        row = int(np.argmax(gain))
        chosen.append(hits[row])
        open_[row] = False
        nearest = np.maximum(nearest, cosines[row])
    return chosen


def _fold(hits: Sequence[Hit], twin: _Twin) -> list[list[int]]:
    """Go down the ranking and fold every hit that has a twin among those kept; gives rows."""
    rows: dict[int, list[int]] = {}
    order: list[int] = []
    for row in range(len(hits)):
        first = twin(row, order)
        if first is None:
            order.append(row)
            rows[row] = [row]
        else:
            rows[first].append(row)
    return [rows[row] for row in order]


def _clusters(hits: Sequence[Hit], folded: Sequence[Sequence[int]]) -> Clusters:
    return [[hits[row] for row in rows] for rows in folded]


def _at_home(hits: Sequence[Hit], folded: Sequence[Sequence[int]]) -> Clusters:
    """Let the copy in the best ranked document stand for its cluster if its score is close.

    Otherwise two copies of a file would share out their matched chunks between them, and both
    would be shown.
    """
    first: dict[int, int] = {}
    for rows in folded:
        first.setdefault(hits[rows[0]].document_id, rows[0])
    far = len(hits)

    def home(rows: Sequence[int]) -> list[int]:
        close = [row for row in rows if hits[row].score >= _CLOSE * hits[rows[0]].score]
        leading = min(close, key=lambda row: (first.get(hits[row].document_id, far), row))
        return [leading, *(row for row in rows if row != leading)]

    return _clusters(hits, sorted(map(home, folded), key=lambda rows: rows[0]))


def _apart(hit: Hit, other: Hit) -> bool:
    """Return whether two hits are of different documents."""
    return hit.document_id != other.document_id


def _cosines(hits: Sequence[Hit], vectors: Vectors) -> NDArray[np.float64]:
    """Return the cosines of all pairs, shape ``(n, n)``; 0 where there is no vector."""
    rows = [row for row, hit in enumerate(hits) if hit.entry_id in vectors]
    cosines = np.zeros((len(hits), len(hits)), dtype=np.float64)
    if rows:
        matrix = np.stack([vectors[hits[row].entry_id] for row in rows]).astype(np.float64)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        matrix = matrix / np.where(lengths > 0.0, lengths, 1.0)
        cosines[np.ix_(rows, rows)] = matrix @ matrix.T
    return cosines
