"""From how many vectors on is a graph worth it? Exact search, cells, HNSW, IVF at growing sizes.

    python benchmarks/bench_hnsw.py [--sizes 100 300 ... 200000] [--kinds texts clusters]
        [--cells 64 128 256 512] [--links 8 18 32] [--construction 200] [--widths 128 256 512 1024]
        [--probes 1 4 16 64 256] [--filters] [--questions 200] [--rounds 5]
        [--json FILE] [--svg FILE]

``exact`` is the product's own search, with the bytes before it from 20,000 vectors on; ``cells`` is
the product's graph of cells, by how many are looked through; ``hnsw`` is a graph over all vectors
(M is ``--links``, efSearch ``--widths``) and ``ivf`` lists of them, 4 times the root of so many,
both of half-precision numbers by faiss alone. Kinds or ways are left out by giving none of their
numbers. For each: recall@10 and at the depth of a search
against exact, latency as a multiple of exact, CPU time of a search, CPU seconds and bytes of
building beyond the vectors. ``--filters`` adds what filters leave the product's own graph.

All ways take turns question by question, in one thread. A question's time is the least of its
rounds, so that others who use the machine count little; p50, p95 and p99 are over questions. On a
machine that others use, only those of CPU time say something about the slowest.
``--json`` adds to what FILE has of earlier runs, so that large sizes may be runs of their own;
``--svg`` draws all that FILE has then.
How vectors are made is said in ``vectors.py``.
"""

from __future__ import annotations

import itertools
import random
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import faiss
import numpy as np
from common import kept_figures, median, percentile, plotted_arguments
from plots import Line, Panel, Point, draw
from vectors import KINDS, vectors_of

from ragkit.indexes.local.files import record
from ragkit.indexes.local.hnsw import suitable_cells, write_graph
from ragkit.indexes.local.vector import (
    _LARGEST_PREFILTER,
    _WORTH_BYTES,
    _WORTH_NARROWING,
    LateGraph,
    VectorIndex,
)
from ragkit.indexes.protocol import SearchStrategy
from ragkit.options import SearchOptions

SIZES = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 200_000)
CELLS = (64, 128, 256, 512)
LINKS, WIDTHS, PROBES = (8, 18, 32), (128, 256, 512, 1024), (1, 4, 16, 64, 256)
CONSTRUCTION = 200
DEPTH = SearchOptions().candidates
FILTERED = 512
SCORED = SearchOptions().overfetch
DRAWN = (18, 512)
SHOWN = (
    "recall@10",
    "p50_to_exact",
    "p95_to_exact",
    "p99_to_exact",
    "cpu_to_exact",
    "cpu_p50_ms",
    "build_cpu_s",
    "bytes_a_row",
)

Search: TypeAlias = Callable[[np.ndarray], np.ndarray]
"""From a question (1, d) to rows, best first."""


@dataclass(frozen=True)
class Way:
    """One way to search, and what was paid for it beyond the vectors: CPU seconds, bytes a row."""

    search: Search
    build_cpu_s: float = 0.0
    bytes_a_row: float = 0.0
    compared_to: str = "exact"


def exact(index: VectorIndex, depth: int) -> Way:
    """The product's search; the bytes that it makes beside its first searches are there."""
    rows = len(index)
    size = rows * index.dimensions
    started, more = time.thread_time(), 0.0
    if rows >= _WORTH_NARROWING and size <= _LARGEST_PREFILTER:
        index._int8()
        for _ in range(_WORTH_BYTES):
            index._int8_is_made()
        more = index.dimensions
    return Way(searcher(index, depth), time.thread_time() - started, more)


def searcher(
    index: VectorIndex, depth: int, width: int = 0, mask: np.ndarray | None = None
) -> Search:
    strategy = SearchStrategy(width, "", scored=SCORED * depth)
    return lambda question: index.search(question, depth, mask, strategy)[0][0]


def cells_of(
    folder: Path, vectors: Path, flat: VectorIndex, depth: int, cells: list[int]
) -> tuple[VectorIndex, dict[str, Way]]:
    """Build the product's graph: the index with it, and ways by how many cells are looked through.

    As many as there are at most; that is the last way then.
    """
    folder.mkdir()
    about = record(vectors)
    started = time.thread_time()
    write_graph(folder, flat.usable_vectors, about)
    taken = time.thread_time() - started
    # All map the same file of vectors, so that none finds it colder than another.
    has_vector = np.ones(len(flat), np.bool_)
    index = VectorIndex.load(vectors, has_vector, LateGraph(folder, about))
    if index.graph() is None:
        raise RuntimeError("the graph was not opened")
    more = (folder / "graph.faiss").stat().st_size / len(flat)
    used = sorted({min(many, suitable_cells(len(flat))) for many in cells})
    return index, {f"cells {many}": Way(searcher(index, depth, many), taken, more) for many in used}


def graphs_of(
    vectors: np.ndarray, depth: int, links: int, construction: int, widths: list[int]
) -> dict[str, Way]:
    """HNSW over all vectors in half precision, by how widely it is searched."""
    faiss.omp_set_num_threads(1)
    count, dimensions = vectors.shape
    started = time.thread_time()
    index = faiss.IndexHNSWSQ(
        dimensions, faiss.ScalarQuantizer.QT_fp16, links, faiss.METRIC_INNER_PRODUCT
    )
    # Half precision has nothing to learn.
    index.is_trained = True
    index.hnsw.efConstruction = construction
    index.add(vectors.astype(np.float32))
    taken = time.thread_time() - started
    more = len(faiss.serialize_index(index)) / count - 2 * dimensions

    def search_of(width: int) -> Search:
        parameters = faiss.SearchParametersHNSW(efSearch=max(width, depth))
        return lambda question: index.search(question, min(depth, count), params=parameters)[1][0]

    return {f"hnsw M {links} ef {width}": Way(search_of(width), taken, more) for width in widths}


def lists_of(vectors: np.ndarray, depth: int, probes: list[int]) -> dict[str, Way]:
    """IVF over half-precision numbers, by how many lists are looked through."""
    faiss.omp_set_num_threads(1)
    count, dimensions = vectors.shape
    lists = max(1, min(4 * round(count**0.5), count // 39))
    started = time.thread_time()
    coarse = faiss.IndexFlatIP(dimensions)
    index = faiss.IndexIVFScalarQuantizer(
        coarse, dimensions, lists, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT, False
    )
    wide = vectors.astype(np.float32)
    index.train(wide)
    index.add(wide)
    taken = time.thread_time() - started
    more = len(faiss.serialize_index(index)) / count - 2 * dimensions

    def search_of(probe: int) -> Search:
        parameters = faiss.SearchParametersIVF(nprobe=probe)
        return lambda question: index.search(question, min(depth, count), params=parameters)[1][0]

    used = sorted({min(probe, lists) for probe in probes})
    return {f"ivf nprobe {probe}": Way(search_of(probe), taken, more) for probe in used}


def filters(index: VectorIndex, depth: int) -> dict[str, Way]:
    """Filters that leave a share of the rows, here and there or side by side as a folder does.

    Each is asked exactly and of the graph, which is searched that much more widely.
    """
    rows, most = len(index), suitable_cells(len(index))
    chance, numbers = np.random.default_rng(5).random(rows), np.arange(rows)
    ways = {}
    for share in (0.9, 0.7, 0.5, 0.25):
        masks = {
            "scattered": chance < share,
            "a folder": (numbers >= 0.1 * rows) & (numbers < (0.1 + share) * rows),
        }
        for name, mask in masks.items():
            width = min(int(FILTERED * rows / mask.sum()), most)
            name = f"{name} with {share} of the rows"
            ways[f"{name}, exact"] = Way(searcher(index, depth, 0, mask), compared_to="")
            graph = searcher(index, depth, width, mask)
            ways[f"{name}, {width} cells"] = Way(graph, compared_to=f"{name}, exact")
    return ways


def compare(
    ways: Mapping[str, Way], asked: np.ndarray, rounds: int, depth: int
) -> dict[str, dict[str, float]]:
    """Ask everything in every way, in turn; figures by the name of the way."""
    rows: dict[str, list[np.ndarray]] = {name: [] for name in ways}
    wall = {name: np.zeros((rounds, len(asked))) for name in ways}
    cpu = {name: np.zeros((rounds, len(asked))) for name in ways}
    faiss.omp_set_num_threads(1)
    names, chooser = list(ways), random.Random(3)
    for question in asked[:10]:
        for way in ways.values():
            way.search(question[None])
    for turn, number in itertools.product(range(rounds), range(len(asked))):
        # In another order each time: who comes after whom decides what the processor still holds.
        chooser.shuffle(names)
        for name in names:
            busy, started = time.thread_time(), time.perf_counter()
            found = ways[name].search(asked[number][None])
            wall[name][turn, number] = time.perf_counter() - started
            cpu[name][turn, number] = time.thread_time() - busy
            if turn == 0:
                rows[name].append(found)
    times = {name: wall[name].min(axis=0).tolist() for name in ways}
    used = {name: cpu[name].min(axis=0).tolist() for name in ways}
    figures = {}
    for name, way in ways.items():
        other = way.compared_to or name
        of_exact, figures[name] = times[other], {}
        figures[name]["recall@10"] = recall(rows[other], rows[name], 10)
        figures[name][f"recall@{depth}"] = recall(rows[other], rows[name], depth)
        for share, label in ((0.5, "p50"), (0.95, "p95"), (0.99, "p99")):
            ratio = percentile(times[name], share) / percentile(of_exact, share)
            figures[name][f"{label}_to_exact"] = ratio
            figures[name][f"cpu_{label}_ms"] = percentile(used[name], share) * 1000
        figures[name] |= {
            "p50_ms": median(times[name]) * 1000,
            "p99_ms": percentile(times[name], 0.99) * 1000,
            "cpu_to_exact": median(used[name]) / median(used[other]),
            "build_cpu_s": way.build_cpu_s,
            "bytes_a_row": way.bytes_a_row,
        }
    return figures


def recall(wanted: list[np.ndarray], found: list[np.ndarray], depth: int) -> float:
    """Which share of the best rows was found, over all questions."""
    pairs = zip(wanted, found, strict=True)
    kept = [np.isin(a[:depth], b[:depth]).mean() for a, b in pairs if len(a)]
    return float(np.mean(kept))


def measure(kind: str, size: int, options: Any) -> dict[str, dict[str, float]]:
    """All figures of one size."""
    vectors, asked = vectors_of(kind, size, options.questions)
    depth = min(DEPTH, size)
    with tempfile.TemporaryDirectory(prefix="ragkit-") as root:
        flat = VectorIndex.build(np.ascontiguousarray(vectors), np.ones(size, np.bool_))
        file = Path(root, "vectors.faiss")
        flat.save(file)
        index = VectorIndex.load(file, np.ones(size, np.bool_))
        ways = {"exact": exact(index, depth)}
        own = None
        if options.cells:
            folder = Path(root, "cells")
            own, of_cells = cells_of(folder, file, flat, depth, options.cells)
            ways |= of_cells
        for links in options.links:
            ways |= graphs_of(vectors, depth, links, options.construction, options.widths)
        ways |= lists_of(vectors, depth, options.probes) if options.probes else {}
        if options.filters and own is not None:
            ways |= filters(own, depth)
        return compare(ways, asked, options.rounds, depth)


# -- what is shown -------------------------------------------------------------------------


def is_drawn(name: str) -> bool:
    """Whether a way is drawn: all parameters at once would be too many lines."""
    kind, *rest = name.split()
    if kind == "hnsw":
        return int(rest[1]) == DRAWN[0] or int(rest[3]) == DRAWN[1]
    if kind == "cells":
        return True
    return name == "exact" or (kind == "ivf" and int(rest[1]) in (16, 64, 256))


def panels(found: Mapping[str, Mapping[str, Any]], kind: str) -> list[Panel]:
    """Recall, latency and building over sizes, of the ways without filters."""
    sizes = sorted(int(key.split()[1]) for key in found if key.startswith(kind))
    ways = {size: found[f"{kind} {size}"] for size in sizes}
    names = dict.fromkeys(name for size in sizes for name in ways[size] if is_drawn(name))

    def panel(value: str, title: str, label: str, *, log: bool = True) -> Panel:
        drawn = [
            Line(
                name, [Point(size, ways[size][name][value]) for size in sizes if name in ways[size]]
            )
            for name in names
        ]
        return Panel(f"{kind}: {title}", drawn, "vectors", label, (), True, log)

    return [
        panel("recall@10", "recall@10 against exact", "recall", log=False),
        panel("cpu_p50_ms", "CPU time of a search", "ms"),
        panel("cpu_to_exact", "CPU time of a search", "multiple of exact"),
        panel("build_cpu_s", "building", "CPU seconds"),
    ]


def main() -> None:
    parser = plotted_arguments(__doc__ or "")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--kinds", choices=KINDS, nargs="+", default=["texts", "clusters"])
    parser.add_argument("--cells", type=int, nargs="*", default=list(CELLS))
    parser.add_argument("--links", type=int, nargs="*", default=list(LINKS))
    parser.add_argument("--construction", type=int, default=CONSTRUCTION)
    parser.add_argument("--widths", type=int, nargs="+", default=list(WIDTHS))
    parser.add_argument("--probes", type=int, nargs="*", default=list(PROBES))
    parser.add_argument("--filters", action="store_true")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    found = {}
    for kind, size in itertools.product(options.kinds, options.sizes):
        key = f"{kind} {size}"
        found[key] = measure(kind, size, options)
        print(f"{key:<44}" + "  ".join(f"{one.removesuffix('_to_exact')[:8]:>8}" for one in SHOWN))
        for name, of_way in found[key].items():
            values = "  ".join(f"{of_way[one]:8.3f}" for one in SHOWN)
            print(f"  {name:<42}{values}", flush=True)
        drawn = kept_figures(options.json, found)
    if options.svg:
        shown = [panel for kind in KINDS if any(key.startswith(kind) for key in drawn)
                 for panel in panels(drawn, kind)]  # fmt: skip
        title = "Exact search, cells, HNSW and IVF at growing sizes"
        options.svg.write_text(draw(title, shown), encoding="utf-8")


if __name__ == "__main__":
    main()
