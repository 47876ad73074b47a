"""Deduplication: hits that would show the same thing twice are folded into the best of them.

Every function takes hits best first and gives what is kept in the same order. What was folded
stays at hand, so that a page can say where else a text stands, or open what a cap held back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import QueryError
from ragkit.retrieval.ranking import Hit

Vectors: TypeAlias = Mapping[int, NDArray[np.floating]]
"""Entry ids with their vectors, each of the same shape ``(dimensions,)``."""

_Twin: TypeAlias = Callable[[int, Sequence[int]], int | None]
"""Given a hit's position and those kept so far, names the kept one that it repeats, if any."""

_COMPARED = 20_000
_CLOSE = 0.9


@dataclass(frozen=True, slots=True)
class Folded:
    """What a step kept, and how many hits it folded.

    ``groups`` maps the entry id of a kept hit to the hits that were folded into it, best first.
    """

    kept: tuple[Hit, ...]
    removed: int
    groups: Mapping[int, tuple[Hit, ...]]

    def others(self, hit: Hit) -> tuple[Hit, ...]:
        """Give the hits that were folded into a kept one."""
        return self.groups.get(hit.entry_id, ())


def fold_identical(
    hits: Sequence[Hit], keys: Mapping[int, Hashable], *, within: bool = False
) -> Folded:
    """Fold hits whose ``keys`` (by entry id, see ``content_key``) are equal.

    Without ``within``, a text that a document repeats is kept each time. Hits without a key, or
    with an empty one, are kept.
    """
    if len(set(keys.values())) == len(keys):
        return Folded(tuple(hits), 0, {})
    groups: dict[Hashable, list[int]] = {}

    def twin(at: int, _kept: Sequence[int]) -> int | None:
        key = keys.get(hits[at].entry_id)
        if key is None or key == b"":
            return None
        same = groups.setdefault(key, [])
        found = next((one for one in same if _may_fold(hits[one], hits[at], within)), None)
        if found is None:
            same.append(at)
        return found

    return _fold(hits, twin, one_home=not within)


def fold_near(
    hits: Sequence[Hit],
    texts: Mapping[int, str],
    threshold: float = 95.0,
    *,
    within: bool = False,
) -> Folded:
    """Fold hits whose texts (by entry id) are alike by ``threshold`` per cent or more.

    Case and white space make no difference, and only the first 20,000 characters are compared.
    """
    from rapidfuzz import fuzz, process

    plain = [" ".join(texts.get(hit.entry_id, "")[:_COMPARED].casefold().split()) for hit in hits]

    def twin(at: int, kept: Sequence[int]) -> int | None:
        if not plain[at]:
            return None
        choices = {one: plain[one] for one in kept if _may_fold(hits[one], hits[at], within)}
        best = process.extractOne(plain[at], choices, scorer=fuzz.ratio, score_cutoff=threshold)
        return best[2] if best else None

    return _fold(hits, twin, one_home=not within)


def fold_semantic(
    hits: Sequence[Hit], vectors: Vectors, threshold: float, *, within: bool = False
) -> Folded:
    """Fold hits whose vectors' cosine reaches ``threshold``; hits without a vector are kept."""
    alike = _cosines(hits, vectors)

    def twin(at: int, kept: Sequence[int]) -> int | None:
        best, found = threshold, None
        for one in kept:
            near = float(alike[at, one])
            if (near > best or (near >= best and found is None)) and _may_fold(
                hits[one], hits[at], within
            ):
                best, found = near, one
        return found if hits[at].entry_id in vectors else None

    return _fold(hits, twin, one_home=not within)


def best_per_section(hits: Sequence[Hit], sections: Mapping[int, Hashable]) -> Folded:
    """Keep the best hit of each section, or other part, of each document.

    ``sections`` names the part by entry id; hits without one are kept.
    """
    keys = {
        hit.entry_id: (hit.document_id, sections[hit.entry_id])
        for hit in hits
        if hit.entry_id in sections
    }
    return fold_identical(hits, keys, within=True)


def cap_per_document(hits: Sequence[Hit], most: int, limit: int | None = None) -> Folded:
    """Keep at most ``most`` hits of each document (0: all), filling up from further down.

    Give more hits than a page needs: the first ``limit`` that are kept make the page. The
    others of a document are folded into its best hit.
    """
    best: dict[int, int] = {}
    counts: Counter[int] = Counter()

    def twin(at: int, _kept: Sequence[int]) -> int | None:
        document = hits[at].document_id
        if 0 < most <= counts[document]:
            return best[document]
        counts[document] += 1
        best.setdefault(document, at)
        return None

    folded = _fold(hits, twin)
    return folded if limit is None else Folded(folded.kept[:limit], folded.removed, folded.groups)


def mmr(hits: Sequence[Hit], vectors: Vectors, lambda_: float, limit: int) -> tuple[Hit, ...]:
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
        return ()
    alike = _cosines(hits, vectors)
    relevance = lambda_ * np.array([hit.score for hit in hits], dtype=np.float64)
    nearest = np.zeros(len(hits), dtype=np.float64)
    open_ = np.ones(len(hits), dtype=np.bool_)
    chosen: list[Hit] = []
    while len(chosen) < min(limit, len(hits)):
        gain = np.where(open_, relevance - (1.0 - lambda_) * nearest, -np.inf)
        at = int(np.argmax(gain))
        chosen.append(hits[at])
        open_[at] = False
        nearest = np.maximum(nearest, alike[at])
    return tuple(chosen)


def _fold(hits: Sequence[Hit], twin: _Twin, *, one_home: bool = False) -> Folded:
    """Go down the ranking and fold every hit that has a twin among those kept."""
    kept: list[int] = []
    groups: dict[int, list[int]] = {}
    for at in range(len(hits)):
        found = twin(at, kept)
        if found is None:
            kept.append(at)
        else:
            groups.setdefault(found, []).append(at)
    removed = len(hits) - len(kept)
    if one_home and groups:
        kept, groups = _at_home(hits, kept, groups)
    return Folded(
        tuple(hits[at] for at in kept),
        removed,
        {hits[at].entry_id: tuple(hits[one] for one in groups[at]) for at in kept if at in groups},
    )


def _at_home(
    hits: Sequence[Hit], kept: Sequence[int], groups: Mapping[int, Sequence[int]]
) -> tuple[list[int], dict[int, list[int]]]:
    """Let the copy in the best ranked document stand for its group if its score is close.

    Otherwise two copies of a file would share out their matched chunks between them, and both
    would be shown.
    """
    first: dict[int, int] = {}
    for at in kept:
        first.setdefault(hits[at].document_id, at)
    far = len(hits)
    standing: dict[int, list[int]] = {}
    for at in kept:
        group = [at, *groups.get(at, ())]
        close = [one for one in group if hits[one].score >= _CLOSE * hits[at].score]
        home = min(close, key=lambda one: (first.get(hits[one].document_id, far), one))
        standing[home] = [one for one in group if one != home]
    return sorted(standing), {at: others for at, others in standing.items() if others}


def _may_fold(kept: Hit, hit: Hit, within: bool) -> bool:
    """Tell whether two hits are far enough apart to be duplicates of each other."""
    return within or kept.document_id != hit.document_id


def _cosines(hits: Sequence[Hit], vectors: Vectors) -> NDArray[np.float64]:
    """Give the cosines of all pairs, shape ``(n, n)``; 0 where a vector lacks."""
    known = [at for at, hit in enumerate(hits) if hit.entry_id in vectors]
    alike = np.zeros((len(hits), len(hits)), dtype=np.float64)
    if known:
        rows = np.stack([vectors[hits[at].entry_id] for at in known]).astype(np.float64)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows = rows / np.where(lengths > 0.0, lengths, 1.0)
        alike[np.ix_(known, known)] = rows @ rows.T
    return alike
