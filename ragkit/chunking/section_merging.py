"""Families: sections that are chunked together because one is too small to stand alone."""

from __future__ import annotations

from collections.abc import Sequence

from ragkit.types import Section


def find_families(
    sections: Sequence[Section], weights: Sequence[int], tiny: int
) -> list[list[Section]]:
    """Join tiny sections to a neighbour under the same parent.

    A tiny section goes with the one after it, or else with the one before. So all members of
    a family but at most one are tiny. ``weights`` and ``tiny`` are tenths of a word.
    """
    families: list[list[Section]] = []
    totals: list[int] = []
    for section, weighs in zip(sections, weights, strict=True):
        if families and totals[-1] < tiny and _under_parent(families[-1][-1], section):
            families[-1].append(section)
            totals[-1] += weighs
        else:
            families.append([section])
            totals.append(weighs)
    kept: list[list[Section]] = []
    for family, total in zip(families, totals, strict=True):
        if kept and total < tiny and _under_parent(family[0], kept[-1][-1]):
            kept[-1].extend(family)
        else:
            kept.append(family)
    return kept


def _under_parent(tiny: Section, other: Section) -> bool:
    """Tell whether another section lies under the parent of a tiny one."""
    parent = tiny.path[:-1]
    return other.path[: len(parent)] == parent
