"""Memory over many different searches: flat is 0 MB per 1,000 over the last half.

python benchmarks/bench_memory.py [--searches 100000] [--threads 4] [--chunks 5000] [--json]

Each question has words of the library's texts and one that nobody ever asked before. Every answer
is looked at as a page does that draws all passages.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import threading
import time
from pathlib import Path

import numpy as np
from bench_search import highlighted
from common import arguments, report
from large_library import cut, library_of, texts

from ragkit.library import Library
from ragkit.settings import load_settings

_POINTS = 100


def resident_mb() -> float:
    """How much memory this process holds, in MB."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def ask(library: Library, words: list[str], numbers: itertools.count, most: int) -> None:
    """Ask different questions until all threads together have asked so many."""
    while (number := next(numbers)) < most:
        chooser = random.Random(number)
        chosen = chooser.sample(words, chooser.randint(1, 6))
        highlighted(library.search(" ".join([*chosen, f"asked{number:x}"]), library.options()))


def measure(searches: int, threads: int, chunks: int) -> dict[str, float | int]:
    words = sorted({word for piece in cut(texts()) for word in re.findall(r"[a-z]{4,}", piece)})
    library = Library.open(load_settings(library=library_of(chunks)[0]))
    figures: dict[str, float | int] = {"searches": searches, "threads": threads, "chunks": chunks}
    started = time.perf_counter()
    points = []
    numbers = itertools.count()
    for point in range(1, _POINTS + 1):
        until = searches * point // _POINTS
        askers = [
            threading.Thread(target=ask, args=(library, words, numbers, until))
            for _ in range(threads)
        ]
        for asker in askers:
            asker.start()
        for asker in askers:
            asker.join()
        numbers = itertools.count(until)
        points.append((until, resident_mb()))
        if point % (_POINTS // 10) == 0:
            figures[f"resident_mb_after_{until}"] = points[-1][1]
    last_half = np.array(points[len(points) // 2 :])
    slope = np.polyfit(last_half[:, 0], last_half[:, 1], 1)[0]
    figures["mb_per_1000_searches_last_half"] = float(slope * 1000)
    figures["searches_per_second"] = searches / (time.perf_counter() - started)
    library.close()
    return figures


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--searches", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=4)
    parser.add_argument("--chunks", type=int, default=5000)
    options = parser.parse_args()
    report(measure(options.searches, options.threads, options.chunks), options.json)


if __name__ == "__main__":
    main()
