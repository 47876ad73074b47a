"""Parts: what of a section or document that was found as a whole answers the query.

The chunks of what was found are scored by the same query as in a search of chunks, and the best
of them are shown. A whole keeps the score by which it was found, and they have their own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from ragkit.options import SearchOptions
from ragkit.retrieval.grouping import Group, Part
from ragkit.retrieval.levels import COARSE
from ragkit.retrieval.ranking import Hit
from ragkit.types import Level


def with_parts(
    groups: Iterable[Group],
    chunks: Iterable[Hit],
    sections: Mapping[int, Sequence[int]],
    options: SearchOptions,
) -> tuple[Group, ...]:
    """Give each group the best chunks of its wholes, up to ``chunks_per_doc``.

    No more wholes are shown than that either. ``chunks`` are hits on all chunks of their documents,
    best first; ``sections`` the first chunks of each document's sections, ascending. The best chunk
    of a whole is always among them, however weak; others must have ``min_score``. Groups that
    would show nothing but what better ones do are left out.
    """
    of_document: dict[int, list[Hit]] = {}
    for hit in chunks:
        of_document.setdefault(hit.document_id, []).append(hit)
    shown: list[Group] = []
    told: set[int] = set()
    for own in groups:
        inside = of_document.get(own.document_id, ())
        wholes = [hit for hit in own.hits if hit.level in COARSE][: options.chunks_per_doc]
        parts = _parts(wholes, inside, sections.get(own.document_id, ()), options)
        entries = {part.hit.entry_id for part in parts}
        entries |= {hit.entry_id for hit in own.hits if hit.level not in COARSE}
        # A document may have several results: what a better one shows is not shown again.
        if not entries or not entries <= told:
            shown.append(replace(own, wholes=tuple(wholes), parts=parts) if parts else own)
        told |= entries
    return tuple(shown)


def _parts(
    wholes: Sequence[Hit], chunks: Sequence[Hit], sections: Sequence[int], options: SearchOptions
) -> tuple[Part, ...]:
    """Return the best chunk of each whole, then what else is good in any, each once."""
    best: dict[int, Part] = {}
    others: list[Part] = []
    for whole in wholes:
        inside = [
            Part(hit, whole.level)
            for hit in chunks
            if whole.level is Level.DOCUMENT
            or _section(hit.chunk_index, sections) == whole.chunk_index
        ]
        for part in inside[:1]:
            best.setdefault(part.hit.entry_id, part)
        others += [part for part in inside[1:] if part.hit.score >= options.min_score]
    others.sort(key=lambda part: -part.hit.score)
    for part in others:
        best.setdefault(part.hit.entry_id, part)
    return tuple(best.values())[: options.chunks_per_doc]


def _section(chunk: int, sections: Sequence[int]) -> int:
    """Return the first chunk of the section that a chunk is in."""
    at = bisect_right(sections, chunk) - 1
    return sections[at] if at >= 0 else -1
