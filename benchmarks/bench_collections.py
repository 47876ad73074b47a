"""Libraries of 1,000 to 50,000 collections, of which 2, 5, 10 or 20 % are large: twelve cases.

    python benchmarks/bench_collections.py [--cases I0 I4 ...] [--small 20 50] [--large 1000 2000]
        [--most-chunks 400000] [--indexed 300] [--sample 40] [--json FILE] [--svg FILE]

I0 to I3 have 1,000 collections, I4 to I7 10,000, I8 to I11 50,000. Small and large ones have as
many chunks as the two ranges say. Where all together would be more than ``--most-chunks``, those
that are searched keep their size and the others are made smaller, large ones first; what they
really have is among the figures.

The library is written by the product (``many_collections.py``), and searched by another one that
is opened as a page opens it. Index files are written for ``--indexed`` collections, all that are
searched among them; the others would get theirs when they are first searched. ``cold``: the first
search in a collection that this process has not opened; ``warm``: ten collections in turn;
``40_in_turn``: all that are searched. Each warm search takes turns with the same one in a library
that has one small and one large collection only (``to_alone``). Times are the least of
``--rounds``, except for cold ones, which happen once. Memory is that of a process of its own that
only searches. No result may be of another collection, and none may hold another one's own word.
"""

from __future__ import annotations

import json
import random
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from common import kept_figures, median, percentile, plotted_arguments, python
from many_collections import Filled, Filler

from ragkit.evaluation.plots import Line, Panel, Point, draw
from ragkit.library import Library
from ragkit.options import Mode
from ragkit.retrieval.search import AnswerCache
from ragkit.settings import load_settings

COUNTS, SHARES = (1_000, 10_000, 50_000), (0.02, 0.05, 0.10, 0.20)
CASES = {
    f"I{number}": (count, share)
    for number, (count, share) in enumerate((count, share) for count in COUNTS for share in SHARES)
}
WARM, CHANGES = 10, 5


@dataclass(frozen=True)
class Sizes:
    """How many collections there are, and by kind: which, those that are searched, chunks.

    ``scaled`` are the chunks of those that are not searched.
    """

    count: int
    large: frozenset[int]
    searched: Mapping[str, Sequence[int]]
    full: Mapping[str, tuple[int, int]]
    scaled: Mapping[str, tuple[int, int]]

    @classmethod
    def of(cls, count: int, share: float, options: Any) -> Sizes:
        """Choose sizes that stay about within the most chunks."""
        numbers = random.Random(5).sample(range(count), count)
        many = max(1, round(count * share))
        of_kind = {"large": numbers[:many], "small": numbers[many:]}
        searched = {kind: found[: options.sample] for kind, found in of_kind.items()}
        full = {"large": tuple(options.large), "small": tuple(options.small)}
        left, wished = options.most_chunks, {}
        for kind, found in of_kind.items():
            middle = sum(full[kind]) / 2
            left -= len(searched[kind]) * middle
            wished[kind] = (len(found) - len(searched[kind])) * middle
        # Small ones have what large ones leave, or half of it all.
        given = {"small": min(wished["small"], max(left - wished["large"], left / 2))}
        given["large"] = min(wished["large"], left - given["small"])
        scaled = {}
        for kind, (least, most) in full.items():
            share_of = max(given[kind], 0.0) / wished[kind] if wished[kind] else 1.0
            scaled[kind] = (max(1, int(least * share_of)), max(1, int(most * share_of)))
        return cls(count, frozenset(of_kind["large"]), searched, full, scaled)

    def wanted(self, number: int) -> int:
        """How many chunks a collection is to have."""
        kind = "large" if number in self.large else "small"
        bounds = (self.full if number in self.searched[kind] else self.scaled)[kind]
        return random.Random(f"size {number}").randint(*bounds)


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


def fill(filler: Filler, sizes: Sizes) -> tuple[list[Filled], dict[str, float]]:
    """Write all collections; return them and what that took."""
    started = time.process_time()
    filled = [filler.fill(number, sizes.wanted(number)) for number in range(sizes.count)]
    taken = time.process_time() - started
    figures = {
        "collections": sizes.count,
        "large_collections": len(sizes.large),
        "chunks": sum(one.chunks for one in filled),
        "write_cpu_s_per_1000_chunks": taken / sum(one.chunks for one in filled) * 1000,
    }
    for kind in ("small", "large"):
        of_kind = [one for one in filled if (one.number in sizes.large) == (kind == "large")]
        asked = [one.chunks for one in of_kind if one.number in sizes.searched[kind]]
        figures[f"chunks_of_a_{kind}_one"] = sum(one.chunks for one in of_kind) / len(of_kind)
        figures[f"chunks_of_a_searched_{kind}_one"] = sum(asked) / len(asked)
    return filled, figures


def write_indexes(library: Library, chosen: Sequence[Filled]) -> dict[str, float]:
    """Write the first generation of some collections."""
    started = time.process_time()
    for one in chosen:
        library.indexes.save(library.catalog.collections.get(one.record.name))
    taken, chunks = time.process_time() - started, sum(one.chunks for one in chosen)
    files = [file for file in library.paths.indexes.rglob("*") if file.is_file()]
    return {
        "indexed_collections": len(chosen),
        "index_cpu_s_per_1000_chunks": taken / chunks * 1000,
        "index_files_a_collection": len(files) / len(chosen),
        "index_bytes_a_chunk": sum(file.stat().st_size for file in files) / chunks,
        "index_disk_bytes_a_chunk": sum(file.stat().st_blocks * 512 for file in files) / chunks,
        "catalog_mb": library.paths.catalog.stat().st_size / 1e6,
    }


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


def alone(place: Path, sizes: Sizes) -> tuple[Filler, dict[str, Filled]]:
    """A library with one small and one large collection, of middle size."""
    filler = Filler(Library.open(load_settings(library=place), create=True))
    found = {
        kind: filler.fill(number, sum(sizes.full[kind]) // 2)
        for number, kind in enumerate(("small", "large"))
    }
    write_indexes(filler.library, list(found.values()))
    return filler, found


def measure(count: int, share: float, options: Any) -> dict[str, float]:
    """All figures of one case."""
    sizes = Sizes.of(count, share, options)
    with tempfile.TemporaryDirectory(prefix="ragkit-bench-collections-") as root:
        filler = Filler(Library.open(load_settings(library=Path(root, "many")), create=True))
        filled, figures = fill(filler, sizes)
        of = {kind: [filled[number] for number in found] for kind, found in sizes.searched.items()}
        searched = {one.number for found in of.values() for one in found}
        others = [one for one in filled if one.number not in searched]
        more = max(0, options.indexed - len(searched))
        figures |= write_indexes(filler.library, [*of["small"], *of["large"], *others[:more]])
        figures |= search(Path(root), filler, of, alone(Path(root, "alone"), sizes), options)
        filler.library.close()
    return figures


def search(
    root: Path,
    filler: Filler,
    of: Mapping[str, Sequence[Filled]],
    lone: tuple[Filler, Mapping[str, Filled]],
    options: Any,
) -> dict[str, float]:
    """What searching costs, in collections whose index files are there."""
    library = Library.open(load_settings(library=root / "many"))
    reader, beside = Searcher(library, filler), Searcher(lone[0].library, lone[0])
    reader.search(of["small"].pop(), 0)  # The embedder is read.
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
    lone[0].library.close()
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
        "list_sources_cpu_ms": timed(library.sources.list)[1],
        "counts_cpu_ms": timed(library.documents.counts)[1],
    }
    for count in (10, 30):
        names = tuple(one.record.name for one in found[:count])
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

    def tail(kind: str, when: str) -> dict[str, str]:
        return {part: f"{kind}_{when}_{part}_ms" for part in ("p50", "p95", "p99")}

    both = {
        "small": "small_changed_{}_cpu_ms",
        "large": "large_changed_{}_cpu_ms",
    }
    return [
        panel("Warm, small collections", "ms", tail("small", "warm")),
        panel("Warm, large collections", "ms", tail("large", "warm")),
        panel("Cold, small collections", "ms", tail("small", "cold"), True),
        panel("Cold, large collections", "ms", tail("large", "cold"), True),
        panel("40 in turn, small collections", "ms", tail("small", "40_in_turn"), True),
        panel("One changed document: the index", "CPU ms",
              {kind: name.format("save") for kind, name in both.items()}, True),
        panel("Building", "CPU s per 1,000 chunks", {
            "catalog": "write_cpu_s_per_1000_chunks", "index": "index_cpu_s_per_1000_chunks"}),
        panel("Memory of the process", "MB", {
            "first search": "rss_after_first_search_mb",
            "all searches": "rss_after_all_searches_mb"}),
    ]  # fmt: skip


def main() -> None:
    parser = plotted_arguments(__doc__ or "")
    parser.add_argument("--cases", nargs="+", choices=list(CASES), default=list(CASES))
    parser.add_argument("--small", type=int, nargs=2, default=[20, 50])
    parser.add_argument("--large", type=int, nargs=2, default=[1_000, 2_000])
    parser.add_argument("--most-chunks", type=int, default=400_000)
    parser.add_argument("--indexed", type=int, default=300)
    parser.add_argument("--sample", type=int, default=40)
    parser.add_argument("--searches", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    found, drawn = {}, {}
    for name in options.cases:
        found[name] = measure(*CASES[name], options)
        print(name)
        for key, value in found[name].items():
            print(f"  {key:<40}{value:.4g}", flush=True)
        drawn = kept_figures(options.json, found)
    if options.svg:
        title = "Many collections: I0 to I3 1,000, I4 to I7 10,000, I8 to I11 50,000"
        options.svg.write_text(draw(title, panels(drawn)), encoding="utf-8")


if __name__ == "__main__":
    main()
