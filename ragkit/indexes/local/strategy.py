"""Whether vectors are searched exactly or by the graph. Functions of values."""

from __future__ import annotations

import math

from ragkit.indexes.protocol import SearchStrategy, VectorSearch
from ragkit.options import IndexMode

WIDTH_PER_PROBE = 32
"""How much wider each ``nprobe`` makes the search of a graph (HNSW's efSearch)."""

ROWS_PER_WIDTH = 200
"""So many vectors are scored exactly in the time that the graph takes for one more of width."""

LEAST_SHARE = 0.85
"""Where a filter leaves a smaller share of the vectors, the graph misses too many of them."""


def choose_strategy(
    rows: int, passing: int, depth: int, search: VectorSearch, *, has_graph: bool
) -> SearchStrategy:
    """Choose for ``depth`` hits among the ``passing`` of ``rows`` vectors that may be found.

    A filter that leaves most of the vectors makes the search of the graph that much wider.
    """
    if search.mode is IndexMode.EXACT:
        return SearchStrategy(0, "exact: asked for")
    there = f"{rows} vectors"
    if passing < rows:
        there = f"{passing} of {rows} vectors pass the filter"
    if not has_graph:
        asked = search.mode is IndexMode.ANN
        return SearchStrategy(
            0, "exact: there is no approximate index" if asked else f"exact: {there}", asked
        )
    if passing < LEAST_SHARE * rows:
        return SearchStrategy(0, f"exact: {there}")
    width = max(WIDTH_PER_PROBE * search.nprobe, search.overfetch * depth)
    width = max(width, math.ceil(width * rows / max(1, passing)))
    least = ROWS_PER_WIDTH * width if search.mode is IndexMode.AUTO else width
    if passing <= least:
        return SearchStrategy(0, f"exact: {there}, quicker than {width} wide")
    return SearchStrategy(width, f"ann: {there}, {width} wide")
