"""Measure the indexes: building, searching against bare FAISS and bm25s, and small changes.

    .venv/bin/python benchmarks/bench_indexes.py [--chunks 100000] [--json]

Chunks hold 60 to 200 words drawn by Zipf's law from 60,000; vectors of 256 numbers come in
clusters. Both sides of a ratio run in turn, question by question, in the same process.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np

from ragkit.indexes.local.collection import CollectionIndex
from ragkit.indexes.local.generation import open_newest, write_generation
from ragkit.indexes.protocol import EntryFilter, IndexKind, IndexQuery
from ragkit.indexes.rows import EntryRows, RowSlices, TokenColumn
from ragkit.types import LEVEL_CODES, Field, Level, Version

WORDS, DIMENSIONS, DEPTH, FILE_CHUNKS = 60_000, 256, 50, 10
FIELDS = {Field.TEXT: 1.0}


def make_rows(chunks: int, first_id: int, random: np.random.Generator) -> EntryRows:
    """Chunks like those of prose, ten a document."""
    lengths = random.integers(60, 201, chunks)
    offsets = np.r_[0, np.cumsum(lengths)].astype(np.int64)
    flat = ((random.zipf(1.1, int(offsets[-1])) - 1) % WORDS).astype(np.uint32)
    centres = random.standard_normal((200, DIMENSIONS), dtype=np.float32)
    vectors = centres[random.integers(0, 200, chunks)]
    vectors = vectors + 0.8 * random.standard_normal((chunks, DIMENSIONS), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = np.arange(first_id, first_id + chunks, dtype=np.int64)
    return EntryRows(
        ids,
        ids // FILE_CHUNKS,
        np.full(chunks, LEVEL_CODES[Level.CHUNK], np.int8),
        (ids % FILE_CHUNKS).astype(np.int32),
        ids.astype(np.uint64),
        vectors.astype(np.float16),
        np.ones(chunks, np.bool_),
        {Field.TEXT: TokenColumn(flat, offsets)},
    )


def make_questions(rows: EntryRows, count: int, random: np.random.Generator):
    """Four words that stand together in some chunk, and a vector near that chunk's."""
    column = rows.tokens[Field.TEXT]
    for row in random.integers(0, len(rows), count):
        tokens = np.unique(column.flat[column.offsets[row] : column.offsets[row + 1]])
        vector = rows.vectors[row].astype(np.float32)
        vector += 0.05 * random.standard_normal(DIMENSIONS, dtype=np.float32)
        yield random.choice(tokens, 4, replace=False).astype(np.int64), vector


def bare_top(scores, depth):
    rows = np.flatnonzero(scores)
    if len(rows) > depth:
        rows = rows[np.argpartition(scores[rows], len(rows) - depth)[-depth:]]
    return rows[np.argsort(-scores[rows], kind="stable")]


def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    result = work()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def measure(chunks: int, questions: int) -> dict[str, float]:
    import faiss

    faiss.omp_set_num_threads(1)
    random = np.random.default_rng(20260101)
    rows = make_rows(chunks, 1, random)
    bare_vectors = faiss.IndexScalarQuantizer(
        DIMENSIONS, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT
    )
    bare_vectors.add(rows.vectors.astype(np.float32))
    index, build_wall, build_cpu = timed(lambda: CollectionIndex.build(rows, 1))
    keyword = index.base.keywords[Field.TEXT]
    bare_words, known = keyword.bm25, keyword.token_ids
    figures: dict[str, float] = {"chunks": chunks, "build_s": build_wall, "build_cpu_s": build_cpu}

    def bare(tokens, vector):
        bare_vectors.search(vector[None, :], DEPTH)
        bare_top(bare_words.get_scores_from_ids(tokens), DEPTH)

    def put(which, kinds, tokens=(), vector=None, entry_filter=None):
        search = which.search([IndexQuery(tokens, vector)], entry_filter, FIELDS)
        for kind in kinds:
            search.candidates(kind, DEPTH)

    def ours(which, tokens, vector, entry_filter=None):
        put(which, IndexKind, tokens.tolist(), vector, entry_filter)

    file_size = min(FILE_CHUNKS, chunks)
    changed = index
    delta_cpu = []
    for change in range(100):
        added = make_rows(file_size, chunks + 1 + change * file_size, random)
        first = change * file_size % max(1, chunks - file_size) + 1
        removed = range(first, first + file_size)
        before, (changed, _, cpu) = (
            changed,
            timed(
                lambda b=changed, a=added, r=removed, v=change: b.remove(r, v + 2).upsert(a, v + 2)
            ),
        )
        assert before is not changed
        delta_cpu.append(cpu)
    allowed = np.arange(0, chunks // FILE_CHUNKS + 1, 100)
    mask = EntryFilter(allowed)
    cases = {
        "bare": lambda t, v: bare(np.searchsorted(known, t), v),
        "candidates": lambda t, v: ours(index, t, v),
        "with_delta": lambda t, v: ours(changed, t, v),
        "one_percent": lambda t, v: ours(index, t, v, mask),
        "bare_vector": lambda _, v: bare_vectors.search(v[None, :], DEPTH),
        "vector": lambda _, v: put(index, [IndexKind.VECTOR], vector=v),
        "bare_keyword": lambda t, _: bare_top(
            bare_words.get_scores_from_ids(np.searchsorted(known, t)), DEPTH
        ),
        "keyword": lambda t, _: put(index, [IndexKind.KEYWORD], t.tolist()),
    }
    times: dict[str, list[float]] = {name: [] for name in cases}
    for tokens, vector in make_questions(rows, questions, random):
        for name, run in cases.items():
            times[name].append(timed(lambda r=run, t=tokens, v=vector: r(t, v))[1])
    for name, taken in times.items():
        figures[f"{name}_p50_ms"] = float(np.median(taken[5:])) * 1000
    figures["overhead_ratio"] = figures["candidates_p50_ms"] / figures["bare_p50_ms"]
    figures["delta_overhead_ratio"] = figures["with_delta_p50_ms"] / figures["bare_p50_ms"]
    figures["delta_cpu_ms"] = float(np.median(delta_cpu)) * 1000
    figures["delta_cpu_last_ms"] = float(np.median(delta_cpu[-10:])) * 1000
    figures["delta_to_rebuild_ratio"] = figures["delta_cpu_ms"] / 1000 / build_cpu
    _, figures["merge_s"], _ = timed(lambda: CollectionIndex.build(changed.scan()))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        names = {"fingerprint": "f", "tokenizer_version": "1", "version": Version(1)}
        written, figures["write_s"], _ = timed(
            lambda: write_generation(path, RowSlices.of(rows), **names)
        )
        _, figures["open_s"], _ = timed(lambda: open_newest(path))
        _, figures["open_unchecked_s"], _ = timed(lambda: open_newest(path, checksums=False))
        size = sum(file.stat().st_size for file in written.rglob("*") if file.is_file())
        figures["disk_mb"] = size / 1e6
    return {name: round(value, 4) for name, value in figures.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    figures = measure(options.chunks, options.questions)
    if options.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:24} {value:>12,.4f}")


if __name__ == "__main__":
    main()
