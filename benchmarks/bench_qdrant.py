"""What a search costs on Qdrant's core, in process, or on a server, beside the indexes in files.

    python benchmarks/bench_qdrant.py --entries 20000
    python benchmarks/bench_qdrant.py --entries 20000 --server http://127.0.0.1:6333

On the core, it is the CPU time of both sides together: over a network, the requests of a search
wait for it as well. On a server, it is the time by the clock, also of the indexes in files.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from qdrant_edge_client import EdgeClient, index_of

from ragkit.indexes.bm25 import FIELD_WEIGHTS
from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.protocol import EntryFilter, EntryIndex, IndexKind, IndexQuery
from ragkit.indexes.qdrant.server import Server
from ragkit.indexes.rows import EntryRows, TokenColumn
from ragkit.types import LEVEL_CODES, Field, Level

_DIMENSIONS, _WORDS, _DEPTH = 256, 12_000, 100


def made_rows(count: int, random: np.random.Generator) -> EntryRows:
    """Chunks of 80 to 220 words by a law of Zipf, with titles and contexts, 20 a document."""
    texts, titles, contexts = [], [], []
    for _ in range(count):
        title = words(2, random)
        texts.append([*title, *title, *words(int(random.integers(80, 220)), random)])
        titles.append(title)
        contexts.append(words(20, random))
    ids = np.arange(1, count + 1)
    vectors = random.standard_normal((count, _DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return EntryRows(
        ids,
        ids // 20,
        np.full(count, LEVEL_CODES[Level.CHUNK], np.int8),
        (ids % 20).astype(np.int32),
        ids.astype(np.uint64),
        vectors.astype(np.float16),
        np.ones(count, np.bool_),
        {
            Field.TEXT: TokenColumn.of(texts),
            Field.TITLE: TokenColumn.of(titles),
            Field.CONTEXT: TokenColumn.of(contexts),
        },
    )


def words(count: int, random: np.random.Generator) -> list[int]:
    """Token ids, the first ones most often."""
    found: list[int] = (_WORDS ** random.random(count)).astype(np.int64).tolist()
    return found


def ask(
    index: EntryIndex, query: IndexQuery, only: EntryFilter | None, weights: Any
) -> Sequence[list[int]]:
    """Find candidates of both kinds, and have all scored by both, as a search does."""
    search = index.search([query], only, weights)
    found = [search.candidates(kind, _DEPTH).entry_ids for kind in IndexKind]
    together = np.unique(np.concatenate(found))
    for kind in IndexKind:
        search.scores(kind, together)
    return [ids.tolist() for ids in found]


def timed(run: Callable[[], Any], clock: Callable[[], float]) -> tuple[Any, float]:
    """Return what a function returns, and its time in milliseconds."""
    start = clock()
    return run(), 1000 * (clock() - start)


def main() -> None:
    """Build both indexes of the same rows, ask them the same, and print what it costs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=24)
    parser.add_argument("--server", help="address of a Qdrant server, instead of the core")
    options = parser.parse_args()
    random = np.random.default_rng(1)
    rows = made_rows(options.entries, random)
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        client = EdgeClient(Path(folder))
        clock = time.perf_counter if options.server else time.process_time
        server = Server.at(options.server, "") if options.server else Server("", lambda: client)
        where = "server" if options.server else "core"
        local, by_files = timed(lambda: CollectionIndex.build(rows), clock)
        remote, written = timed(lambda: index_of(rows, server), clock)
        each = [1000 * spent / len(rows) for spent in (by_files, written)]
        print(f"1,000 entries: {each[0]:.0f} ms in files, {each[1]:.0f} ms on the {where}")
        vectors = random.standard_normal((options.queries, _DIMENSIONS)).astype(np.float32)
        queries = [
            IndexQuery(words(int(random.integers(3, 9)), random), vector / np.linalg.norm(vector))
            for vector in vectors
        ]
        tenth = EntryFilter(document_ids=np.arange(0, options.entries // 20, 10))
        for name, only in {"everything": None, "a tenth of documents": tenth}.items():
            for fields, weights in {"text": None, "fields": FIELD_WEIGHTS}.items():
                told = compared((local, remote, remote), client, queries, only, weights, clock)
                print(f"{name}, {fields}: {told}")
        client.close()


def compared(
    indexes: Sequence[EntryIndex],
    client: EdgeClient,
    queries: Sequence[IndexQuery],
    only: EntryFilter | None,
    weights: Mapping[Field, float] | None,
    clock: Callable[[], float],
) -> str:
    """Return what the median search costs in one index after the other."""
    told, expected = [], None
    for index in indexes:
        client.requests.clear()
        runs = [timed(partial(ask, index, one, only, weights), clock) for one in queries]
        found = [result for result, _spent in runs]
        expected = expected or found
        same = sum(one == other for one, other in zip(found, expected, strict=True))
        requests = sum(client.requests.values()) / len(queries)
        spent = float(np.median([spent for _result, spent in runs]))
        asked = f"{requests:.1f} requests, " if requests else ""
        told.append(f"{spent:.1f} ms, {asked}{same} of {len(queries)} the same")
    return "; ".join(told)


if __name__ == "__main__":
    main()
