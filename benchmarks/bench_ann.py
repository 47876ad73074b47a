"""Measure the approximate vector index against exact search: recall, speed, size, building.

    .venv/bin/python benchmarks/bench_ann.py [--rows 50000 100000] [--json]
        [--links 18] [--construction 200] [--nprobe 4 16 32] [--depth 100]

Vectors are mixtures of real embeddings of the shared texts, neighbours in the corpus being mixed
most, with a little noise, in the order of the corpus; the questions are real. Exact and
approximate search take turns, question by question, in one thread of one process; times are of
the processor. Filters leave a share of the rows, here and there or side by side as a folder does.
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from common import SHARED, arguments, report

from ragkit.indexes.local.files import record
from ragkit.indexes.local.hnsw import GraphParameters, write_graph
from ragkit.indexes.local.vector import WIDTH_PER_PROBE, LateGraph, VectorIndex
from ragkit.indexes.protocol import SearchStrategy
from ragkit.models.wordllama import WordLlamaEmbedder

QUESTIONS, WORDS, NEAR, NOISE = 200, 160, 5, 0.15
SETS = ("scifact", "chroma_chunking", "mtrag_pool", "anthropic_codebase")


def texts_of(name: str, key: str) -> list[str]:
    """One field of each line of a set's file."""
    lines = (SHARED / name / f"{key}.jsonl").read_text(encoding="utf-8").splitlines()
    return [str(json.loads(line)["text"]) for line in lines]


def real_vectors() -> tuple[np.ndarray, np.ndarray]:
    """Embeddings of pieces of all texts, in order, and of questions about them."""
    embedder = WordLlamaEmbedder.open()
    pieces = []
    for name in SETS:
        for text in texts_of(name, "corpus"):
            words = text.split()
            pieces += [" ".join(words[at : at + WORDS]) for at in range(0, len(words), WORDS // 2)]
    questions = [text for name in SETS for text in texts_of(name, "queries")]
    chosen = np.random.default_rng(7).permutation(len(questions))[:QUESTIONS]
    asked = embedder.embed_passages([questions[i] for i in chosen])
    return embedder.embed_passages(pieces), asked


def perturbed(real: np.ndarray, rows: int) -> np.ndarray:
    """That many unit vectors (n, d) in half precision, in the order of the corpus."""
    random = np.random.default_rng(20260101)
    out = np.zeros((rows, real.shape[1]), np.float16)
    firsts = np.sort(random.integers(0, len(real), rows))
    for at in range(0, rows, 50_000):
        first = firsts[at : at + 50_000]
        near = (first + random.integers(-NEAR, NEAR + 1, len(first))) % len(real)
        far = random.integers(0, len(real), len(first))
        other = np.where(random.random(len(first)) < 0.7, near, far)
        share = random.uniform(0.5, 1.0, len(first)).astype(np.float32)[:, None]
        noise = random.standard_normal((len(first), real.shape[1]), dtype=np.float32)
        noise *= NOISE / np.sqrt(real.shape[1])
        mixed = share * real[first] + (1 - share) * real[other] + noise
        out[at : at + 50_000] = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return out


def recalls(wanted: list[np.ndarray], found: list[np.ndarray], depth: int) -> float:
    """Which share of the best rows was found, over all questions."""
    pairs = zip(wanted, found, strict=True)
    return float(np.mean([len(np.intersect1d(a[:depth], b[:depth])) / depth for a, b in pairs]))


def compared(
    index: VectorIndex, asked: np.ndarray, depth: int, width: int, mask: np.ndarray | None = None
) -> dict[str, float]:
    """Ask everything exactly and by the graph, in turn."""
    rows: dict[int, list[np.ndarray]] = {0: [], width: []}
    times: dict[int, list[float]] = {0: [], width: []}
    for question in asked:
        for one in (0, width):
            started = time.thread_time()
            [(found, _scores)] = index.search(question[None], depth, mask, SearchStrategy(one, ""))
            times[one].append((time.thread_time() - started) * 1000)
            rows[one].append(found)
    exact, graph = (statistics.median(times[one]) for one in (0, width))
    return {
        "recall@10": recalls(rows[0], rows[width], 10),
        f"recall@{depth}": recalls(rows[0], rows[width], depth),
        "exact_p50_ms": exact,
        "ann_p50_ms": graph,
        "exact_to_ann": exact / graph,
        "rows_scored_in_the_time_of_one_width": len(index) * graph / exact / width,
    }


def filters(rows: int) -> dict[str, np.ndarray]:
    """Masks that leave a share of the rows."""
    random, numbers = np.random.default_rng(5), np.arange(rows)
    found = {}
    for share in (0.9, 0.7, 0.5, 0.25):
        found[f"scattered {share}"] = random.random(rows) < share
        found[f"one folder {share}"] = (numbers >= 0.1 * rows) & (numbers < (0.1 + share) * rows)
    return found


def measure(
    real: np.ndarray,
    asked: np.ndarray,
    rows: int,
    parameters: GraphParameters,
    probes: list[int],
    depth: int,
) -> dict[str, Any]:
    """All figures of one size."""
    vectors = perturbed(real, rows)
    has_vector = np.ones(rows, np.bool_)
    with tempfile.TemporaryDirectory(prefix="ragkit-") as root:
        folder = Path(root)
        flat = VectorIndex.build(vectors, has_vector)
        flat.save(folder / "vectors.faiss")
        about = record(folder / "vectors.faiss")
        started, busy = time.perf_counter(), time.thread_time()
        write_graph(folder, flat.usable_vectors, about, parameters)
        figures: dict[str, Any] = {
            "build_s": time.perf_counter() - started,
            "build_cpu_s": time.thread_time() - busy,
            "vector_bytes": about.size / rows,
            "graph_bytes": (folder / "graph.faiss").stat().st_size / rows,
        }
        index = VectorIndex.load(folder / "vectors.faiss", has_vector, LateGraph(folder, about))
        compared(index, asked[:50], depth, WIDTH_PER_PROBE)
        for probe in probes:
            width = max(WIDTH_PER_PROBE * probe, depth)
            figures[f"nprobe {probe} (width {width})"] = compared(index, asked, depth, width)
        for name, mask in filters(rows).items():
            width = int(max(512, depth) * rows / mask.sum())
            figures[f"{name} (width {width})"] = compared(index, asked, depth, width, mask)
    return figures


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--rows", type=int, nargs="+", default=[50_000, 100_000])
    parser.add_argument("--links", type=int, default=GraphParameters().links)
    parser.add_argument("--construction", type=int, default=GraphParameters().construction)
    parser.add_argument("--nprobe", type=int, nargs="+", default=[4, 16, 32])
    parser.add_argument("--depth", type=int, default=100)
    given = parser.parse_args()
    parameters = GraphParameters(given.links, given.construction)
    real, asked = real_vectors()
    found = {
        str(rows): measure(real, asked, rows, parameters, given.nprobe, given.depth)
        for rows in given.rows
    }
    if given.json:
        report(found, as_json=True)
        return
    for rows, figures in found.items():
        print(f"{rows} rows")
        for name, value in figures.items():
            if isinstance(value, dict):
                print(f"  {name}")
            report(value if isinstance(value, dict) else {name: value}, as_json=False)


if __name__ == "__main__":
    main()
