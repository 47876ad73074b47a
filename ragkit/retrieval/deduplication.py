"""Deduplication: hits that would show the same thing twice are folded into the best of them.

Every folding function takes hits best first and returns clusters in the order of the ranking: the
first hit of a cluster is kept, the others were folded into it, so that a page can say where else a
text occurs, or open what a cap held back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from posixpath import basename, splitext
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragkit.indexes.tokenizer import index_tokens
from ragkit.retrieval.hit_lookups import Vectors
from ragkit.retrieval.hits import Hit
from ragkit.types import Level

Clusters: TypeAlias = list[list[Hit]]
"""The kept hits, each followed by those that were folded into it, best first."""

_Twin: TypeAlias = Callable[[int, Sequence[int]], int | None]
"""Returns the row of the kept hit that a row repeats, from those kept so far, if any."""

_PACKED = re.compile(r"(?<=\.rst)\.txt$|(?<=\.md)\.txt$|\.gz$")
"""Second endings: of packed files, and of sources that Sphinx puts beside its pages."""

_COMPARED = 20_000
_RUN, _SAME_TEXT = 5, 0.5
_CLOSE = 0.9


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
        document: splitext(_PACKED.sub("", basename(path.casefold())))[0]
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
    cosines = cosines_of(hits, vectors)

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


def cosines_of(hits: Sequence[Hit], vectors: Vectors) -> NDArray[np.float64]:
    """Return the cosines of all pairs, shape ``(n, n)``; 0 where there is no vector."""
    rows = [row for row, hit in enumerate(hits) if hit.entry_id in vectors]
    cosines = np.zeros((len(hits), len(hits)), dtype=np.float64)
    if rows:
        matrix = np.stack([vectors[hits[row].entry_id] for row in rows]).astype(np.float64)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        matrix = matrix / np.where(lengths > 0.0, lengths, 1.0)
        cosines[np.ix_(rows, rows)] = matrix @ matrix.T
    return cosines
