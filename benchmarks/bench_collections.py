"""Libraries of 1,000 to 50,000 collections, of which 2, 5, 10 or 20 % are large: twelve cases.

    python benchmarks/bench_collections.py [--cases I0 I4 ...] [--small 20 50] [--large 1000 2000]
        [--most-chunks 400000] [--sample 40] [--searches 100] [--rounds 3]
        [--json FILE] [--svg FILE]

I0 to I3 have 1,000 collections, I4 to I7 10,000, I8 to I11 50,000. Small and large ones have as
many chunks as the two ranges say. Where all together would be more than ``--most-chunks``, those
that are searched keep their size and the others are made smaller, large ones first; what they
really have is among the figures.

Cases of one number of collections are one library that grows: more of its collections become
large. It is written by the product (``many_collections.py``), and searched by another one that
is opened as a page opens it. Index files are written for the collections that are searched; the
others would get theirs when they are first searched. ``cold``: the first
search in a collection that this process has not opened; ``warm``: ten collections in turn;
``40_in_turn``: all that are searched. Each warm search takes turns with the same one in a library
that has one small and one large collection only (``to_alone``). Times are the least of
``--rounds``, except for cold ones, which happen once. Memory is that of a process of its own that
only searches. No result may be of another collection, and none may hold another one's own word.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, islice, pairwise
from pathlib import Path
from typing import Any

from common import kept_figures, median, percentile, plotted_arguments, python
from many_collections import Filled, Filler, Sizes
from plots import Line, Panel, Point, draw

from ragkit.indexes.local.files import generations
from ragkit.library import Library
from ragkit.options import Mode
from ragkit.retrieval.search import AnswerCache
from ragkit.settings import load_settings
from ragkit.types import INDEXED_LEVELS

COUNTS, SHARES = (1_000, 10_000, 50_000), (0.02, 0.05, 0.10, 0.20)
CASES = {
    f"I{number}": (count, share)
    for number, (count, share) in enumerate((count, share) for count in COUNTS for share in SHARES)
}
WARM, CHANGES = 10, 5


@dataclass(frozen=True)
class Times:
    """Wall and CPU milliseconds of searches."""

    wall: list[float]
    cpu: list[float]

    def figures(self, name: str) -> dict[str, float]:
        """The middle and the tail of them."""
        return {
            f"{name}_p50_ms": median(self.wall),
            f"{name}_p95_ms": percentile(self.wall, 0.95),
            f"{name}_p99_ms": percentile(self.wall, 0.99),
            f"{name}_cpu_p50_ms": median(self.cpu),
            f"{name}_cpu_p95_ms": percentile(self.cpu, 0.95),
            f"{name}_cpu_p99_ms": percentile(self.cpu, 0.99),
        }


def timed(work: Callable[[], Any]) -> tuple[float, float]:
    """Wall and CPU milliseconds of one call."""
    busy, started = time.process_time(), time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000, (time.process_time() - busy) * 1000


class Searcher:
    """Searches in a library as a page does, and looks whose documents come back."""

    def __init__(self, library: Library, filler: Filler) -> None:
        self.library, self._filler = library, filler
        self.results = self.crossed = 0

    def search(self, filled: Filled, turn: int) -> None:
        """Ask a question of a collection; nothing is remembered from before."""
        self.library.engine._answers = AnswerCache()
        options = self.library.options(collections=(filled.record.name,))
        answer = self.library.search(self._filler.question(filled, turn), options)
        found = [result.document.collection for result in answer.results]
        self.results += len(found)
        self.crossed += sum(name != filled.record.name for name in found)

    def holds_word_of(self, filled: Filled, other: Filled) -> int:
        """How many documents of a collection are found by the word that only another one has."""
        options = self.library.options(collections=(filled.record.name,), mode=Mode.KEYWORD)
        return len(self.library.search(f'"{other.word}"', options).results)


def fill(filler: Filler, sizes: Sizes, filled: list[Filled]) -> dict[str, float]:
    """Write all collections, or what those that are there lack, and say what that took."""
    started, before = time.process_time(), sum(one.chunks for one in filled)
    for number in range(sizes.count):
        wanted = sizes.wanted(number)
        if number == len(filled):
            filled.append(filler.fill(number, wanted))
        elif filled[number].chunks < wanted / 2:
            filled[number] = filler.grow(filled[number], wanted)
    chunks = sum(one.chunks for one in filled)
    taken = time.process_time() - started
    figures = {
        "collections": sizes.count,
        "large_collections": len(sizes.large),
        "chunks": chunks,
        "write_cpu_s_per_1000_chunks": taken / max(chunks - before, 1) * 1000,
        "catalog_mb": filler.library.paths.catalog.stat().st_size / 1e6,
    }
    for kind in ("small", "large"):
        of_kind = [one for one in filled if (one.number in sizes.large) == (kind == "large")]
        asked = [one.chunks for one in of_kind if one.number in sizes.searched[kind]]
        figures[f"chunks_of_a_{kind}_one"] = sum(one.chunks for one in of_kind) / len(of_kind)
        figures[f"chunks_of_a_searched_{kind}_one"] = sum(asked) / len(asked)
    return figures


def write_indexes(library: Library, of: Mapping[str, Sequence[Filled]]) -> dict[str, float]:
    """Write the index files of some collections, and say what they cost."""
    figures = {}
    for kind, chosen in of.items():
        started = time.process_time()
        for one in chosen:
            library.indexes.rebuild(one.record)
        taken, chunks = time.process_time() - started, sum(one.chunks for one in chosen)
        folders = [newest for one in chosen for newest in newest_generations(library, one)]
        files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
        stats = [file.stat() for file in files]
        figures |= {
            f"{kind}_index_cpu_s_per_1000_chunks": taken / chunks * 1000,
            f"{kind}_index_files_each": len(files) / len(chosen),
            f"{kind}_index_bytes_a_chunk": sum(one.st_size for one in stats) / chunks,
            f"{kind}_index_disk_bytes_a_chunk": sum(one.st_blocks * 512 for one in stats) / chunks,
        }
    return figures


def newest_generations(library: Library, filled: Filled) -> Iterator[Path]:
    """The folders that answer; one that was there before stays beside each for a while."""
    for level in INDEXED_LEVELS:
        fingerprint = library.embedder.fingerprint
        yield from generations(library.paths.index(filled.record.id, level, fingerprint))[-1:]


def cold(searcher: Searcher, chosen: Iterable[Filled]) -> Times:
    """Search once in each collection that is not open yet."""
    pairs = [timed(lambda one=one: searcher.search(one, 0)) for one in chosen]
    return Times([wall for wall, _ in pairs], [cpu for _, cpu in pairs])


def in_turn(
    searchers: Mapping[str, tuple[Searcher, Sequence[Filled]]], searches: int, rounds: int
) -> dict[str, Times]:
    """Search each collection in turn, in all libraries by turns; the least time of the rounds."""
    least: dict[str, list[tuple[float, float]]] = {name: [] for name in searchers}
    for number in range(searches):
        best = dict.fromkeys(searchers, (float("inf"), float("inf")))
        for _ in range(rounds):
            for name, (searcher, chosen) in searchers.items():
                one = chosen[number % len(chosen)]
                found = timed(lambda s=searcher, one=one, at=number: s.search(one, at))
                best[name] = tuple(map(min, zip(best[name], found, strict=True)))
        for name in searchers:
            least[name].append(best[name])
    return {name: Times(*map(list, zip(*pairs, strict=True))) for name, pairs in least.items()}


def changes(filler: Filler, reader: Searcher, one: Filled, name: str) -> dict[str, float]:
    """Change one document of a collection a few times: writing, saving, and the next search."""
    indexes, collections = filler.library.indexes, filler.library.catalog.collections
    steps: dict[str, list[float]] = {"write": [], "save": [], "next_search": []}
    reader.search(one, 0)
    for turn in range(CHANGES):
        steps["write"].append(timed(lambda at=turn: filler.change(one, at))[1])
        steps["save"].append(timed(lambda: indexes.save(collections.get(one.record.name)))[1])
        steps["next_search"].append(timed(lambda at=turn: reader.search(one, at + 1))[1])
    return {f"{name}_changed_{step}_cpu_ms": median(taken) for step, taken in steps.items()}


def alone(place: Path, sizes: Sizes, other: Filler) -> tuple[Filler, dict[str, Filled]]:
    """A library with one small and one large collection, of middle size."""
    filler = Filler(Library.open(load_settings(library=place), create=True), other)
    found = {
        kind: filler.fill(number, sum(sizes.full[kind]) // 2)
        for number, kind in enumerate(("small", "large"))
    }
    write_indexes(filler.library, {kind: [one] for kind, one in found.items()})
    return filler, found


def measure(
    cases: Sequence[str], options: Any, show: Callable[[str, dict[str, float]], None]
) -> None:
    """All figures of cases of one number of collections, in a library that grows."""
    with tempfile.TemporaryDirectory(prefix="ragkit-bench-collections-") as root:
        filler = Filler(Library.open(load_settings(library=Path(root, "many")), create=True))
        filled: list[Filled] = []
        most = max(CASES[name][1] for name in cases)
        lone = None
        for name in cases:
            sizes = Sizes.of(*CASES[name], most, options)
            figures = fill(filler, sizes, filled)
            of = {kind: [filled[at] for at in found] for kind, found in sizes.searched.items()}
            figures |= write_indexes(filler.library, of)
            lone = lone or alone(Path(root, "alone"), sizes, filler)
            show(name, figures | search(filler, of, lone, options))
        filler.library.close()
        if lone:
            lone[0].library.close()


def search(
    filler: Filler,
    of: Mapping[str, Sequence[Filled]],
    lone: tuple[Filler, Mapping[str, Filled]],
    options: Any,
) -> dict[str, float]:
    """What searching costs, in collections whose index files are there."""
    library = Library.open(filler.library.settings)
    reader, beside = Searcher(library, filler), Searcher(lone[0].library, lone[0])
    # Reading the model is no part of a first search in a collection.
    library.embedder.embed_queries(["first"])
    figures: dict[str, float] = {}
    for kind, found in of.items():
        figures |= cold(reader, found).figures(f"{kind}_cold")
        both = {"many": (reader, found[:WARM]), "alone": (beside, [lone[1][kind]])}
        warm = in_turn(both, options.searches, options.rounds)
        figures |= warm["many"].figures(f"{kind}_warm")
        every = in_turn({"many": (reader, found)}, len(found), options.rounds)
        figures |= every["many"].figures(f"{kind}_40_in_turn")
        for part in ("p50", "p95", "p99"):
            name, other = f"{kind}_warm_{part}", warm["alone"].figures("alone")
            figures[f"{name}_to_alone"] = figures[f"{name}_ms"] / other[f"alone_{part}_ms"]
        figures |= changes(filler, reader, found[0], kind)
    figures |= lists(library, of["small"]) | isolation(reader, [*of["small"], *of["large"]])
    asked = [(one.record.name, filler.question(one, 0)) for found in of.values() for one in found]
    figures |= memory(library.paths.root, asked)
    library.close()
    return figures


def isolation(reader: Searcher, found: Sequence[Filled]) -> dict[str, float]:
    """Whether any result was of another collection, or any holds another one's own word."""
    words = sum(reader.holds_word_of(one, other) for one, other in pairwise(found))
    return {
        "results": reader.results,
        "results_of_others": reader.crossed + words,
        "own_word_found_in": sum(reader.holds_word_of(one, one) > 0 for one in found) / len(found),
    }


_ONLY_SEARCHES = """
import json, sys
from pathlib import Path
import psutil
from ragkit.library import Library
from ragkit.settings import load_settings
asked = json.load(sys.stdin)
library = Library.open(load_settings(library=Path(sys.argv[1])))
figures = {}
for done, (name, question) in enumerate(asked, start=1):
    library.search(question, library.options(collections=(name,)))
    if done in (1, len(asked)):
        key = "first_search" if done == 1 else "all_searches"
        figures[f"rss_after_{key}_mb"] = psutil.Process().memory_info().rss / 1e6
figures["open_files"] = psutil.Process().num_fds()
print(json.dumps(figures))
"""


def memory(place: Path, asked: Sequence[tuple[str, str]]) -> dict[str, float]:
    """Memory and open files of a process that searches each of the collections once."""
    command = [python(), "-c", _ONLY_SEARCHES, str(place)]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout))


def lists(library: Library, found: Sequence[Filled]) -> dict[str, float]:
    """CPU time of what pages list, and of a search that names many collections."""
    figures = {
        "list_collections_cpu_ms": timed(library.collections.list)[1],
        "names_of_collections_cpu_ms": timed(library.collections.names)[1],
        "list_sources_cpu_ms": timed(library.sources.list)[1],
        "counts_cpu_ms": timed(library.documents.counts)[1],
    }
    # Those that are searched, and for many any: a first search writes what index they lack.
    every = dict.fromkeys([*(one.record.name for one in found), *library.collections.names()])
    for count in (10, 30, 200):
        names = tuple(islice(every, count))
        question = f"what is {found[0].word}"
        asked = library.options(collections=names)
        library.search(question, asked)
        library.engine._answers = AnswerCache()
        figures[f"search_of_{count}_cpu_ms"] = timed(
            lambda q=question, o=asked: library.search(q, o)
        )[1]
    return figures


# -- what is shown -------------------------------------------------------------------------


def panels(found: Mapping[str, Mapping[str, float]]) -> list[Panel]:
    """Latency, building, memory and disk of the cases."""
    names = [name for name in CASES if name in found]

    def panel(title: str, label: str, lines: Mapping[str, str], log: bool = False) -> Panel:
        drawn = [
            Line(name, [Point(at, found[case][key]) for at, case in enumerate(names)])
            for name, key in lines.items()
        ]
        return Panel(title, drawn, "case", label, names, False, log)

    def both(key: str) -> dict[str, str]:
        return {kind: key.format(kind) for kind in ("small", "large")}

    def tail(kind: str) -> dict[str, str]:
        return {part: f"{kind}_warm_{part}_to_alone" for part in ("p50", "p95", "p99")}

    return [
        panel("Warm", "CPU ms", both("{}_warm_cpu_p50_ms")),
        panel("First search in a collection", "CPU ms", both("{}_cold_cpu_p50_ms")),
        panel("Warm, small: to a library of its own", "multiple", tail("small")),
        panel("Warm, large: to a library of its own", "multiple", tail("large"), True),
        panel("One changed document: its index", "CPU ms", both("{}_changed_save_cpu_ms")),
        panel("Building", "CPU s per 1,000 chunks", {
            "catalog": "write_cpu_s_per_1000_chunks",
            "index, small": "small_index_cpu_s_per_1000_chunks",
            "index, large": "large_index_cpu_s_per_1000_chunks"}, True),
        panel("Memory of the process", "MB", {
            "first search": "rss_after_first_search_mb",
            "all searches": "rss_after_all_searches_mb"}),
        panel("Catalog on disk", "MB", {"catalog": "catalog_mb"}),
    ]  # fmt: skip


def main() -> None:
    parser = plotted_arguments(__doc__ or "")
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--small", type=int, nargs=2, default=[20, 50])
    parser.add_argument("--large", type=int, nargs=2, default=[1_000, 2_000])
    parser.add_argument("--most-chunks", type=int, default=400_000)
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--searches", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    found: dict[str, dict[str, float]] = {}

    def show(name: str, figures: dict[str, float]) -> None:
        found[name] = figures
        kept_figures(options.json, found)
        print(name)
        for key, value in figures.items():
            print(f"  {key:<40}{value:.4g}", flush=True)

    for _count, cases in groupby(sorted(options.cases, key=CASES.get), lambda name: CASES[name][0]):
        measure(list(cases), options, show)
    if options.svg:
        title = "Many collections: I0 to I3 1,000, I4 to I7 10,000, I8 to I11 50,000"
        options.svg.write_text(
            draw(title, panels(kept_figures(options.json, found))), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
