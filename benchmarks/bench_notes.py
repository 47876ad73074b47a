"""What filters by notes of contexts cost, at 100,000 chunks: CPU in milliseconds, the middle of 9.

python benchmarks/bench_notes.py [--chunks 100000] [--json]
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from common import arguments, median, report

from ragkit.catalog import Catalog
from ragkit.catalog.filters import FilterQueries
from ragkit.indexes.rows import Ids
from ragkit.options import Filters

FILTERS = {
    "has:decision": Filters(has=("decision",)),
    "has:action,decision": Filters(has=("action", "decision")),
    "sentiment:negative": Filters(sentiments=("negative",)),
    "sentiment:neutral": Filters(sentiments=("neutral",)),
    "topic:yab": Filters(topics=("yab",)),
    "topic:yab has:decision": Filters(topics=("yab",), has=("decision",)),
}
Ask: TypeAlias = Callable[[FilterQueries, int, Filters], "Ids | None"]
ASKED: dict[str, Ask] = {
    "chunks": FilterQueries.noted_entries,
    "documents": FilterQueries.documents,
    "documents of nothing else": FilterQueries.wholly_noted,
}
SHARES = {"positive": 20, "neutral": 60, "negative": 15, "mixed": 5}
PER_DOCUMENT, ENTRIES = 20, 6
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _topic(draw: random.Random) -> str:
    """Three of the 17,576 words of three letters, as stems are kept."""
    return f" {' '.join(''.join(draw.choices(LETTERS, k=3)) for _ in range(3))} "


def fill(catalog: Catalog, chunks: int) -> int:
    """Write a collection: one chunk in ten has a decision, one in twenty something to do."""
    collection = catalog.collections.ensure("default").id
    source = catalog.collections.ensure_source(collection, "folder", "/files").id
    draw = random.Random(17)
    feelings = draw.choices(list(SHARES), list(SHARES.values()), k=chunks)
    places = [(at // PER_DOCUMENT + 1, at % PER_DOCUMENT) for at in range(chunks)]
    with catalog.connections.write() as connection:
        connection.executemany(
            "INSERT INTO documents (id, source_id, collection_id, path, status, chunks, changed_at)"
            " VALUES (?, ?, ?, ?, 'indexed', ?, 0)",
            [
                (number, source, collection, f"{number}.md", PER_DOCUMENT)
                for number in range(1, chunks // PER_DOCUMENT + 1)
            ],
        )
        connection.executemany(
            "INSERT INTO chunks (document_id, idx, start, stop, section, heading_path, context) "
            "VALUES (?, ?, 0, 1, 0, '[]', '')",
            places,
        )
        connection.executemany(
            "INSERT INTO contexts (document_id, chunk_idx, status, changed_at) "
            "VALUES (?, ?, 'complete', 0)",
            places,
        )
        connection.executemany(
            "INSERT INTO chunk_notes VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', ?)",
            [
                (
                    *place, collection, "", _topic(draw),
                    draw.random() < 0.1, draw.random() < 0.05, feelings[at], at * ENTRIES + 1,
                )
                for at, place in enumerate(places)
            ],
        )  # fmt: skip
    return collection


def timed(ask: Ask, *given: Any) -> tuple[Ids | None, float]:
    """Return what is found, and the CPU time in milliseconds."""
    begun = time.process_time()
    found = ask(*given)
    return found, 1000 * (time.process_time() - begun)


def main() -> None:
    """Measure each filter."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--chunks", type=int, default=100_000)
    given = parser.parse_args()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        catalog = Catalog.open(Path(folder, "catalog.sqlite"), create=True)
        collection = fill(catalog, given.chunks)
        for name, filters in FILTERS.items():
            for what, ask in ASKED.items():
                first, again = [], []
                for _ in range(9):
                    queries = FilterQueries(catalog.connections)
                    queries.documents(collection, Filters())
                    found, milliseconds = timed(ask, queries, collection, filters)
                    first.append(milliseconds)
                    again.append(timed(ask, queries, collection, filters)[1])
                figures[f"{name}, {what}"] = 0 if found is None else len(found)
                figures[f"{name}, ms for {what}"] = median(first)
                figures[f"{name}, ms for {what} again"] = median(again)
        catalog.close()
    report(figures, given.json)


if __name__ == "__main__":
    main()
