"""From one laptop on: the places where size is felt, each as a ratio to something of the same run.

python benchmarks/bench_scale.py [--rows 100000] [--only 2 5 6] [--graph-seconds 300] [--json]

1  reading PDFs: pypdf's CPU time for the same pages to that of the product
2  searches of a reader once the writer has merged a delta of a tenth, to those before it
3  searches where every chunk has a context and three questions, to those where none has
   (of 100,000 chunks at most)
4  searches a second of eight clients with two readers and with none, to those of one client
5  making the index files anew: CPU time, and peak memory to the size of the files, ``private``
   without pages of files that are mapped, which the system takes back when it needs them;
   rewriting one document and the next search, to a search
6  searches with filters, and counting facets, to a search without
7  small collections: warm, cold, 200 at once to one; listing many (a tenth of the rows)
8  the vectors alone as the product asks them, to an exact search; a graph is built where the
   settings want one at this size, for so many seconds at most, and is there for the rows after
   it: ``--only 8 6`` measures filters with it
9  whole searches to bare FAISS and bare bm25s

Times are CPU ms of the process, medians of questions that are asked in turn, unless a name says
otherwise; row 4 is by the clock and wants a machine that does nothing else.
The libraries are those of ``large_library.py``, kept in the temporary folder; all is measured on
copies of them, whose index files this version has opened or made.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import bench_doors
import bench_pdf
import numpy as np
from bench_search import bare, highlighted
from common import arguments, median, python, report
from large_library import DOCUMENT_CHUNKS, Maker, library_of, questions
from many_collections import Filler

from ragkit.background.graphs import GraphBuilder
from ragkit.indexes.protocol import EntryFilter, IndexKind, IndexQuery, VectorSearch
from ragkit.library import Library
from ragkit.options import IndexMode, SearchOptions
from ragkit.retrieval.search import AnswerCache
from ragkit.settings import load_settings

Figures = dict[str, float]

WARM_UP, ASKED = 5, 40
MOST_WITH_CONTEXTS = 100_000
DELTA_SHARE, LEAST_DELTA = 0.1, 2_000
PDF_PAGES = 20
CLIENTS, SECONDS = 8, 1.5
CHANGES = 9
SMALL, SMALL_CHUNKS, MOST_LISTED = 200, 20, 50_000
PATIENCE_SECONDS = 120.0


@dataclass(frozen=True)
class Case:
    """What all rows are measured with."""

    rows: int
    place: Path
    asked: list[str]
    graph_seconds: float


def opened(place: Path) -> Library:
    return Library.open(load_settings(library=place))


@contextmanager
def copy_of(place: Path) -> Iterator[Path]:
    """A library that may be changed; index files, which never are, are shared."""
    with tempfile.TemporaryDirectory(prefix="ragkit-bench-scale-") as root:
        copied = Path(root, "library")
        shutil.copytree(place, copied, ignore=shutil.ignore_patterns("indexes", "searches"))
        shutil.copytree(place / "indexes", copied / "indexes", copy_function=os.link)
        with opened(copied) as library:
            library.indexes.current(library.catalog.collections.get("default"))
        yield copied


def cpu_ms(work: Callable[[], Any]) -> float:
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1000


def in_turn(ways: Mapping[str, Callable[[str], Any]], asked: list[str]) -> Figures:
    """Medians of CPU ms of some ways to answer the same questions; the first ones warm up."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for number, question in enumerate(asked[: WARM_UP + ASKED]):
        for name, way in ways.items():
            milliseconds = cpu_ms(lambda w=way, q=question: w(q))
            if number >= WARM_UP:
                taken[name].append(milliseconds)
    return {name: median(found) for name, found in taken.items()}


def search_ms(library: Library, asked: list[str]) -> float:
    """The median of searches, of which none is remembered."""
    library.engine._answers = AnswerCache()
    return in_turn({"": library.search}, asked)[""]


# -- 1: reading ----------------------------------------------------------------------------


def pdfs(_case: Case) -> Figures:
    figures: Figures = {}
    for name, draw in (("lines", bench_pdf.plain), ("words", bench_pdf.kerned)):
        data, _words = bench_pdf.written(draw, "Times-Roman", 480, 7, PDF_PAGES)
        found = bench_pdf.compared(name, data, None)
        figures[f"pdf_{name}_times_pypdf"] = found[f"{name}: to pypdf"]
        figures[f"pdf_{name}_pages_a_cpu_second"] = found[f"{name}: pages a CPU second"]
    return figures


# -- 2: readers move on --------------------------------------------------------------------


def moving(case: Case) -> Figures:
    with copy_of(case.place) as place, opened(place) as writer, opened(place) as reader:
        record = reader.catalog.collections.get("default")
        before = search_ms(reader, case.asked)
        first = case.rows // DOCUMENT_CHUNKS
        more = max(round(case.rows * DELTA_SHARE), LEAST_DELTA) // DOCUMENT_CHUNKS
        maker = Maker(writer, place / "files")
        writing = cpu_ms(lambda: maker.write(range(first, first + more)))
        in_delta = search_ms(reader, case.asked)
        stood = reader.indexes.generation(record)
        saving = cpu_ms(lambda: writer.indexes.save(record))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while reader.indexes.generation(record) == stood:
            if time.monotonic() > deadline:
                raise SystemExit("the reader did not move to the newer generation")
            time.sleep(0.1)
            reader.indexes.current(record)
        moved = search_ms(reader, case.asked)
    return {
        "before_ms": before,
        "in_delta_ms": in_delta,
        "moved_ms": moved,
        "in_delta_to_before": in_delta / before,
        "moved_to_before": moved / before,
        "write_ms_a_chunk": writing / more / DOCUMENT_CHUNKS,
        "save_cpu_s": saving / 1000,
    }


# -- 3: contexts ---------------------------------------------------------------------------


def contexts(case: Case) -> Figures:
    chunks = min(case.rows, MOST_WITH_CONTEXTS)
    places = [library_of(chunks)[0], library_of(chunks, contexts=True)[0]]
    with ExitStack() as stack:
        copies = [stack.enter_context(copy_of(place)) for place in places]
        plain, full = (stack.enter_context(opened(place)) for place in copies)
        found = in_turn({"plain": plain.search, "contexts": full.search}, case.asked)
        vectors = vector_ways({"plain": plain, "contexts": full}, case.asked)
    return {
        "chunks": chunks,
        "plain_ms": found["plain"],
        "contexts_ms": found["contexts"],
        "contexts_to_plain": found["contexts"] / found["plain"],
        "contexts_to_plain_vectors": vectors["contexts"] / vectors["plain"],
    }


# -- 4: several clients --------------------------------------------------------------------


def clients(case: Case) -> Figures:
    import asyncio

    async def measured() -> Figures:
        waiting = cycle(case.asked)
        figures: Figures = {}
        for readers in (0, 2):
            with ThreadPoolExecutor(CLIENTS) as threads, opened(case.place) as library:
                library.start_readers(readers)
                while readers and len(library._services.readers.processes) < readers:
                    await asyncio.sleep(0.1)
                door = bench_doors.library_door(library, threads)
                await bench_doors.rate(door, waiting, CLIENTS, SECONDS)
                together = await bench_doors.rate(door, waiting, CLIENTS, SECONDS)
                figures[f"8_with_{readers}_readers_per_second"] = together.per_second
                if not readers:
                    alone = await bench_doors.rate(door, waiting, 1, SECONDS)
                    figures["1_per_second"] = alone.per_second
        return figures

    busy, own, started = bench_doors.busy_seconds(), bench_doors.own_seconds(), time.perf_counter()
    figures = asyncio.run(measured())
    others = bench_doors.busy_seconds() - busy - (bench_doors.own_seconds() - own)
    alone = figures["1_per_second"]
    return {
        **figures,
        "8_with_0_readers_to_1": figures["8_with_0_readers_per_second"] / alone,
        "8_with_2_readers_to_1": figures["8_with_2_readers_per_second"] / alone,
        "other_cores": others / (time.perf_counter() - started),
    }


# -- 5: rebuilding and updating ------------------------------------------------------------

_REBUILDS = """
import json, re, sys, threading, time
from pathlib import Path
from ragkit.library import Library
from ragkit.settings import load_settings

def memory(name):
    status = Path("/proc/self/status").read_text()
    return int(re.search(name + r":\\s*(\\d+)", status)[1]) / 1000

def watch():
    while True:
        private.append(memory("RssAnon"))
        time.sleep(0.02)

library = Library.open(load_settings(library=Path(sys.argv[1])))
library.embedder.embed_queries(["first"])
private = []
threading.Thread(target=watch, daemon=True).start()
before, started = memory("VmHWM"), time.process_time()
library.indexes.rebuild(library.catalog.collections.get("default"))
print(json.dumps([time.process_time() - started, before, memory("VmHWM"), max(private)]))
"""


def rebuilding(case: Case) -> Figures:
    with copy_of(case.place) as place:
        done = subprocess.run(
            [python(), "-c", _REBUILDS, str(place)], capture_output=True, text=True, check=True
        )
        rebuilt, before, peak, private = json.loads(done.stdout)
        newest = max(
            (place / "indexes").rglob("manifest.json"), key=lambda one: one.stat().st_mtime
        )
        size = sum(file.stat().st_size for file in newest.parent.rglob("*")) / 1e6
        updates = updating(case, place)
    return {
        "rebuild_cpu_s": rebuilt,
        "rebuild_cpu_us_a_chunk": rebuilt / case.rows * 1e6,
        "rebuild_peak_mb": peak,
        "rebuild_private_peak_mb": private,
        "index_mb": size,
        "rebuild_peak_to_index": (peak - before) / size,
        **updates,
    }


def updating(case: Case, place: Path) -> Figures:
    """Rewrite a document and search; the same search once more is what that is compared to."""
    writing, first, second = [], [], []
    with opened(place) as writer, opened(place) as reader:
        maker = Maker(writer, place / "files")
        for question in case.asked[:WARM_UP]:
            reader.search(question)
        for turn in range(1, CHANGES + 1):
            writing.append(cpu_ms(lambda at=turn: maker.write([at], at)))
            question, other = case.asked[2 * turn : 2 * turn + 2]
            first.append(cpu_ms(lambda q=question: reader.search(q)))
            second.append(cpu_ms(lambda q=other: reader.search(q)))
    return {
        "update_write_ms": median(writing),
        "update_ms": median(writing) + median(first) - median(second),
        "update_to_search": (median(writing) + median(first)) / median(second),
    }


# -- 6: filters and facets -----------------------------------------------------------------

_FILTERS = {"path": "{} path:part7/", "tag": "{} tag:tag1", "topic": '{} topic:"topic 3"',
            "not": "{} -tag:tag1"}  # fmt: skip


def filters(case: Case) -> Figures:
    with opened(case.place) as library:
        record = library.catalog.collections.get("default")
        first = cpu_ms(lambda: library.documents.facets(record.name))
        ways: dict[str, Callable[[str], Any]] = {"plain": library.search}
        for name, form in _FILTERS.items():
            ways[name] = lambda question, form=form: library.search(form.format(question))
        ways["facets"] = lambda _question: library.documents.facets(record.name)
        found = in_turn(ways, case.asked)
    plain = found.pop("plain")
    return {
        "plain_ms": plain,
        **{f"{name}_to_plain": milliseconds / plain for name, milliseconds in found.items()},
        "facets_first_ms": first,
    }


# -- 7: many small collections -------------------------------------------------------------


def collections(case: Case) -> Figures:
    listed = min(MOST_LISTED, max(SMALL, case.rows // 10))
    with tempfile.TemporaryDirectory(prefix="ragkit-bench-scale-") as root:
        with Library.open(load_settings(library=Path(root)), create=True) as library:
            filler = Filler(library)
            filled = [filler.fill(number, SMALL_CHUNKS) for number in range(SMALL)]
            for one in filled:
                library.indexes.rebuild(one.record)
            for number in range(SMALL, listed):
                filler.fill(number, 1)
        with opened(Path(root)) as library:
            library.embedder.embed_queries(["first"])

            def search(number: int, turn: int) -> None:
                options = library.options(collections=(filled[number].record.name,))
                library.search(filler.question(filled[number], turn), options)

            search(0, 0)
            cold = [cpu_ms(lambda at=at: search(at, 0)) for at in range(1, 31)]
            warm = [cpu_ms(lambda at=at: search(at % 30, 1 + at)) for at in range(60)]
            every = library.options(collections=tuple(one.record.name for one in filled))
            together = [cpu_ms(lambda q=q: library.search(q, every)) for q in case.asked[:8]]
            everywhere = library.options(collections=tuple(library.collections.names()))
            all_ = [cpu_ms(lambda q=q: library.search(q, everywhere)) for q in case.asked[8:24]]
            listing = [cpu_ms(library.collections.list) for _ in range(5)]
    return {
        "small_cold_ms": median(cold),
        "small_warm_ms": median(warm),
        "200_at_once_first_ms": together[0],
        "200_at_once_ms": median(together[1:]),
        "200_at_once_to_one": median(together[1:]) / median(warm),
        "all_at_once_first_ms": all_[0],
        "all_at_once_ms": median(all_[8:]),
        "listed": listed,
        "list_ms": median(listing),
    }


# -- 8: the vectors alone ------------------------------------------------------------------


def vector_search(library: Library, mode: IndexMode, depth: int) -> Callable[[str], np.ndarray]:
    """Ask the vectors of a library's first collection for the best entries of a question."""
    index = library.indexes.current(library.catalog.collections.get("default"))
    representatives = EntryFilter(representatives=True)

    def ask(vector: np.ndarray) -> np.ndarray:
        queries = [IndexQuery(vector=vector)]
        search = index.search(queries, representatives, None, VectorSearch(mode))
        return search.candidates(IndexKind.VECTOR, depth).entry_ids

    return ask


def vector_ways(libraries: Mapping[str, Library], asked: list[str]) -> Figures:
    """CPU ms of the vectors of libraries alone."""
    depth = SearchOptions().candidates
    ways = {}
    for name, library in libraries.items():
        vectors = dict(zip(asked, library.embedder.embed_queries(asked), strict=True))
        ask = vector_search(library, IndexMode.AUTO, depth)
        ways[name] = lambda question, ask=ask, vectors=vectors: ask(vectors[question])
    return in_turn(ways, asked)


def graphs(case: Case) -> Figures:
    with opened(case.place) as library:
        builder = GraphBuilder(library.writer())
        stop = threading.Timer(case.graph_seconds, builder.stopping.set)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        stop.start()
        built = builder.build_missing()
        stop.cancel()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with opened(case.place) as library:
        depth = SearchOptions().candidates
        vectors = dict(zip(case.asked, library.embedder.embed_queries(case.asked), strict=True))
        asks = {mode: vector_search(library, mode, depth) for mode in
                (IndexMode.EXACT, IndexMode.AUTO)}  # fmt: skip
        found = in_turn(
            {mode: lambda q, ask=ask: ask(vectors[q]) for mode, ask in asks.items()}, case.asked
        )
        pairs = [[ask(vectors[q]) for ask in asks.values()] for q in case.asked[:ASKED]]
        whole_search = in_turn({"": library.search}, case.asked)[""]
    recalls = {
        at: float(np.mean([np.isin(one[:at], other[:at]).mean() for one, other in pairs]))
        for at in (10, depth)
    }
    return {
        "graphs_built": built,
        "graph_cpu_s": max(0.0, took),
        "exact_ms": found[IndexMode.EXACT],
        "auto_ms": found[IndexMode.AUTO],
        "auto_to_exact": found[IndexMode.AUTO] / found[IndexMode.EXACT],
        "search_ms": whole_search,
        **{f"recall@{at}": value for at, value in recalls.items()},
    }


# -- 9: whole searches ---------------------------------------------------------------------


def whole(case: Case) -> Figures:
    with opened(case.place) as library:
        prepare, search = bare(library)
        prepared = {question: prepare(question) for question in case.asked}
        found = in_turn(
            {
                "bare": lambda question: search(*prepared[question]),
                "search": library.search,
            },
            case.asked,
        )
        other = case.asked[WARM_UP + ASKED :]
        looked = in_turn({"": lambda question: highlighted(library.search(question))}, other)[""]
    return {
        "bare_ms": found["bare"],
        "search_to_bare": found["search"] / found["bare"],
        "highlighted_to_bare": looked / found["bare"],
    }


ROWS: Mapping[int, Callable[[Case], Figures]] = {
    1: pdfs, 2: moving, 3: contexts, 4: clients, 5: rebuilding, 6: filters,
    7: collections, 8: graphs, 9: whole,
}  # fmt: skip


def measure(rows: int, only: list[int], graph_seconds: float) -> Figures:
    place, making = library_of(rows)
    asked = questions(400, random.Random(11))
    figures: Figures = {"rows": rows, "making_seconds": making}
    started = time.perf_counter()
    with copy_of(place) as copied:
        case = Case(rows, copied, asked, graph_seconds)
        for number in only:
            begun = time.perf_counter()
            found = ROWS[number](case)
            figures |= {f"{number}_{name}": value for name, value in found.items()}
            figures[f"{number}_seconds"] = time.perf_counter() - begun
    figures["seconds"] = time.perf_counter() - started
    return figures


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--only", type=int, nargs="+", choices=list(ROWS), default=list(ROWS))
    parser.add_argument("--graph-seconds", type=float, default=300.0)
    options = parser.parse_args()
    report(measure(options.rows, options.only, options.graph_seconds), options.json)


if __name__ == "__main__":
    main()
