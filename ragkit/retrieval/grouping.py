"""Grouping: from ranked hits to the groups that make the results.

Hits that would show the same thing twice are folded into the best of them. Every folding function
takes hits best first and returns clusters in the order of the ranking: the first hit of a cluster
is kept, the others were folded into it, so that a page can say where else a text occurs, or open
what a cap held back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from posixpath import basename, splitext
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.errors import QueryError
from ragkit.indexes.tokenizer import index_tokens
from ragkit.options import Aggregation, Expansion, Granularity, SearchOptions
from ragkit.retrieval.hit_lookups import HitLookups, Vectors
from ragkit.retrieval.ranking import Hit
from ragkit.types import Level

Clusters: TypeAlias = list[list[Hit]]
"""The kept hits, each followed by those that were folded into it, best first."""

_Twin: TypeAlias = Callable[[int, Sequence[int]], int | None]
"""Returns the row of the kept hit that a row repeats, from those kept so far, if any."""

_COMPARED = 20_000
_RUN, _SAME_TEXT = 5, 0.5
_CLOSE = 0.9


@dataclass(frozen=True, slots=True)
class Part:
    """A chunk of what was found as a whole, at level ``of``, that answers the query."""

    hit: Hit
    of: Level


@dataclass(frozen=True, slots=True)
class Group:
    """The hits that make one result, best first, and documents that hold the same text.

    ``others`` are further hits of the document that are in results of their own or in none.
    ``wholes`` are those of ``hits``, sections or the document, for which ``parts`` are shown.
    ``aggregated`` is the score that orders it where that is not the best hit's.
    """

    document_id: int
    hits: tuple[Hit, ...]
    others: tuple[Hit, ...] = ()
    also_in: tuple[int, ...] = ()
    wholes: tuple[Hit, ...] = ()
    parts: tuple[Part, ...] = ()
    aggregated: float | None = None

    @property
    def score(self) -> float:
        """The score that orders it."""
        return self.hits[0].score if self.aggregated is None else self.aggregated


@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups of the answer in order; ``hits`` are all that were kept, ``note`` says how."""

    groups: tuple[Group, ...]
    hits: tuple[Hit, ...]
    note: str = ""


def group(hits: Sequence[Hit], options: SearchOptions, lookups: HitLookups) -> Grouping:
    """Drop weak hits, fold duplicates, and gather what is left into results.

    ``hits`` are best first; ``lookups`` is asked only for what the steps that are on need.
    """
    # A vector index finds something for every query; what adds nothing is no hit.
    related = [hit for hit in hits if hit.score > 0.0]
    strong = [hit for hit in related if hit.score >= options.min_score]
    removed = {"unrelated": len(hits) - len(related), "weak": len(related) - len(strong)}
    folded = fold_duplicates(strong, options, lookups)
    removed |= folded.removed
    notes = [f"{count} {name} removed" for name, count in removed.items() if count]
    groups = _gather(folded.left, options, folded.also)
    if options.mmr_lambda is not None and len(groups) > 1:
        leads = _by_place([replace(own.hits[0], score=own.score) for own in groups])
        order = mmr(leads, lookups.vectors(leads), options.mmr_lambda, options.limit)
        by_entry = {own.hits[0].entry_id: own for own in groups}
        groups = [by_entry[hit.entry_id] for hit in order]
        notes.append("reordered for variety")
    return Grouping(tuple(groups[: options.limit]), tuple(folded.left), ", ".join(notes))


@dataclass(frozen=True, slots=True)
class Folded:
    """What is left of hits, in order, and what became of the others.

    ``into`` has for the entry of each that was folded the hit into which it was, ``also`` for a
    document the others that hold the same, ``removed`` how many each step folded.
    """

    left: Sequence[Hit]
    into: Mapping[int, Hit]
    also: Mapping[int, Sequence[int]]
    removed: Mapping[str, int]

    def lead(self, hit: Hit) -> Hit:
        """Return the hit that a hit was folded into, itself if it is left."""
        while hit.entry_id in self.into:
            hit = self.into[hit.entry_id]
        return hit


def fold_duplicates(hits: Sequence[Hit], options: SearchOptions, lookups: HitLookups) -> Folded:
    """Fold what the options call duplicates, one step after another; ``hits`` are best first."""
    left = list(hits)
    into: dict[int, Hit] = {}
    also: dict[int, list[int]] = {}
    removed: dict[str, int] = {}
    for name, fold in _folds(hits, options, lookups) if left else ():
        clusters = fold(left)
        removed[name] = len(left) - len(clusters)
        for lead, *folded in clusters if removed[name] else ():
            into |= {hit.entry_id: lead for hit in folded}
            homes = {hit.document_id for hit in folded} - {lead.document_id}
            for home in sorted(homes):
                # What an earlier step folded into that document goes along with it.
                also.setdefault(lead.document_id, []).extend([home, *also.get(home, ())])
        left = [lead for lead, *_folded in clusters]
    return Folded(left, into, also, removed)


def _folds(
    hits: Sequence[Hit], options: SearchOptions, lookups: HitLookups
) -> Iterator[tuple[str, Callable[[list[Hit]], Clusters]]]:
    """Yield the folding steps that the options turn on, each with a name for what it folds."""
    if len({hit.content_key for hit in hits}) < len(hits):
        yield "duplicates", fold_identical
    if in_formats(lookups.files(_first_of_documents(hits, options.limit))):
        yield (
            "in another format",
            lambda hits: fold_formats(hits, lookups.files(hits), lookups.texts),
        )
    if options.near_duplicates:
        yield "near duplicates", lambda hits: fold_near(hits, lookups.texts(hits))
    threshold = options.semantic_threshold
    if threshold is not None:
        yield (
            "alike in meaning",
            lambda hits: fold_semantic(hits, lookups.vectors(hits), threshold),
        )
    by_section = options.chunk_aware and options.expansion is Expansion.SECTION
    if by_section or options.granularity is Granularity.SECTION:
        yield "in the same section", lambda hits: best_per_section(hits, lookups.sections(hits))
    elif options.chunk_aware and options.expansion is Expansion.PARENT:
        yield "in the same parent", lambda hits: best_per_section(hits, lookups.parents(hits))


def _first_of_documents(hits: Sequence[Hit], most: int) -> list[Hit]:
    """Return the best hits of the first documents: of more, nothing is read for most searches."""
    first: dict[int, Hit] = {}
    for hit in hits:
        first.setdefault(hit.document_id, hit)
    return list(islice(first.values(), most))


def _by_place(leads: list[Hit]) -> list[Hit]:
    """Replace the scores of reranked hits by falling ones, so that their order counts."""
    if all(hit.grade is None for hit in leads):
        return leads
    scores = sorted((hit.score for hit in leads), reverse=True)
    return [replace(hit, score=score) for hit, score in zip(leads, scores, strict=True)]


def _gather(
    hits: Sequence[Hit], options: SearchOptions, also: Mapping[int, Sequence[int]]
) -> list[Group]:
    by_document: dict[int, list[Hit]] = {}
    for hit in hits:
        by_document.setdefault(hit.document_id, []).append(hit)

    also_in = {
        document: tuple(sorted(set(others).difference(by_document)))
        for document, others in also.items()
    }
    if options.per_document == 1 and options.chunk_aware:
        # Reordering looks at all; else what is beyond the page is not put together.
        by_best = options.mmr_lambda is None and options.aggregation is Aggregation.MAX
        most = options.limit if by_best else len(by_document)
        groups = [
            Group(document, tuple(own), (), also_in.get(document, ()))
            for document, own in islice(by_document.items(), most)
        ]
        return groups if options.aggregation is Aggregation.MAX else aggregated(groups, options)
    return [
        Group(
            hit.document_id,
            (hit,),
            tuple(other for other in by_document[hit.document_id] if other is not hit),
            also_in.get(hit.document_id, ()),
        )
        for hit, *_folded in cap_per_document(hits, options.per_document)
    ]


def aggregated(groups: Sequence[Group], options: SearchOptions) -> list[Group]:
    """Order groups by the mean of their best scores, as many as ``chunks_per_doc``.

    Each score has itself as its weight: ``sum(s * s) / sum(s)``. Grades of a reranker come before.
    """
    scored = []
    for own in groups:
        scores = [hit.score for hit in own.hits[: options.chunks_per_doc]]
        mean = sum(score * score for score in scores) / sum(scores)
        scored.append(replace(own, aggregated=mean))
    scored.sort(key=lambda own: -own.score)
    # Python's sort is stable.
    return sorted(scored, key=lambda own: 1.0 if (grade := own.hits[0].grade) is None else -grade)


def fold_identical(hits: Sequence[Hit]) -> Clusters:
    """Fold hits of different documents whose ``content_key`` is equal.

    A text that a document repeats is kept each time, and so are hits without a key.
    """
    documents = [hit.document_id for hit in hits]
    same: dict[int, list[int]] = {}

    def twin(row: int, _kept: Sequence[int]) -> int | None:
        key = hits[row].content_key
        if not key:
            return None
        rows = same.setdefault(key, [])
        first = next((other for other in rows if documents[other] != documents[row]), None)
        if first is None:
            rows.append(row)
        return first

    return _fold(hits, twin, at_home=True)


def in_formats(files: Mapping[int, tuple[str, str]]) -> dict[int, str]:
    """Return the documents of which another has the same name and another format, by that name.

    ``files`` has paths and formats by document id.
    """
    names = {
        document: splitext(basename(path.casefold().removesuffix(".gz")))[0]
        for document, (path, _format) in files.items()
    }
    formats: dict[str, set[str]] = {}
    for document, (_path, file_format) in files.items():
        formats.setdefault(names[document], set()).add(file_format)
    return {document: name for document, name in names.items() if len(formats[name]) > 1}


def fold_formats(
    hits: Sequence[Hit],
    files: Mapping[int, tuple[str, str]],
    texts: Callable[[Sequence[Hit]], Mapping[int, str]],
) -> Clusters:
    """Fold hits into those of the same text in another format, as "plan.pdf" beside "plan.docx".

    ``files`` has paths and formats by document id, ``texts`` returns texts by entry id. Formats are
    cut into chunks at different places: a hit is folded if better hits of the other file have half
    of its runs of five words.
    """
    names = in_formats(files)
    read = [hit for hit in hits if hit.document_id in names and hit.level is Level.CHUNK]
    runs = {entry: _runs(text) for entry, text in texts(read).items()}

    def twin(row: int, kept: Sequence[int]) -> int | None:
        mine, own = hits[row].document_id, runs.get(hits[row].entry_id)
        if not own:
            return None
        shared: dict[int, set[tuple[str, ...]]] = {}
        first: dict[int, int] = {}
        for other in kept:
            document = hits[other].document_id
            if names.get(document) == names[mine] and files[document][1] != files[mine][1]:
                first.setdefault(document, other)
                both = own & runs.get(hits[other].entry_id, set())
                shared.setdefault(document, set()).update(both)
        best = max(shared, key=lambda document: len(shared[document]), default=None)
        alike = best is not None and len(shared[best]) >= _SAME_TEXT * len(own)
        return first[best] if best is not None and alike else None

    return _fold(hits, twin, at_home=True)


def _runs(text: str) -> set[tuple[str, ...]]:
    """Return the runs of five neighbouring words of a text."""
    words = index_tokens(text)
    return set(zip(*(words[at:] for at in range(_RUN)), strict=False))


def fold_near(hits: Sequence[Hit], texts: Mapping[int, str], threshold: float = 95.0) -> Clusters:
    """Fold hits of different documents whose texts are alike by ``threshold`` per cent or more.

    ``texts`` are by entry id. Case and white space make no difference, and only the first 20,000
    characters are compared.
    """
    from rapidfuzz import fuzz, process

    documents = [hit.document_id for hit in hits]
    plain = [" ".join(texts.get(hit.entry_id, "")[:_COMPARED].casefold().split()) for hit in hits]

    def twin(row: int, rows: Sequence[int]) -> int | None:
        if not plain[row]:
            return None
        choices = {other: plain[other] for other in rows if documents[other] != documents[row]}
        best = process.extractOne(plain[row], choices, scorer=fuzz.ratio, score_cutoff=threshold)
        return best[2] if best else None

    return _fold(hits, twin, at_home=True)


def fold_semantic(hits: Sequence[Hit], vectors: Vectors, threshold: float) -> Clusters:
    """Fold hits of different documents whose vectors' cosine reaches ``threshold``.

    Hits without a vector are kept.
    """
    documents = [hit.document_id for hit in hits]
    cosines = _cosines(hits, vectors)

    def twin(row: int, rows: Sequence[int]) -> int | None:
        if hits[row].entry_id not in vectors:
            return None
        near = [
            other
            for other in rows
            if cosines[row, other] >= threshold and documents[other] != documents[row]
        ]
        return max(near, key=lambda other: float(cosines[row, other]), default=None)

    return _fold(hits, twin, at_home=True)


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

    return _fold(hits, twin)


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

    return _fold(hits, twin)


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


def _fold(hits: Sequence[Hit], twin: _Twin, *, at_home: bool = False) -> Clusters:
    """Go down the ranking and fold every hit that has a twin among those kept.

    With ``at_home`` the copy in the best ranked document stands for its cluster if its score is
    close. Otherwise two copies of a file would share out their matched chunks between them, and
    both would be shown.
    """
    folded: dict[int, list[int]] = {}
    order: list[int] = []
    for row in range(len(hits)):
        first = twin(row, order)
        if first is None:
            order.append(row)
            folded[row] = [row]
        else:
            folded[first].append(row)
    clusters = list(folded.values())
    if at_home:
        best: dict[int, int] = {}
        for row in order:
            best.setdefault(hits[row].document_id, row)
        for rows in clusters:
            least = _CLOSE * hits[rows[0]].score
            close = [row for row in rows if hits[row].score >= least]
            lead = min(close, key=lambda row: (best.get(hits[row].document_id, len(hits)), row))
            rows.sort(key=lambda row: (row != lead, row))
        clusters.sort()
    return [[hits[row] for row in rows] for rows in clusters]


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
