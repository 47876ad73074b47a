"""Keeping up: one changed file among 100,000 chunks, searching while indexing, idling, looking.

python benchmarks/bench_changes.py [--chunks 100000] [--files 20000] [--idle 60] [--json]
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
from common import arguments, median, percentile, process_seconds, python, report
from large_library import library_of, questions

from ragkit.library import Library
from ragkit.options import Mode
from ragkit.settings import load_settings

CHANGES = 10
LETTERS = "abcdfghjkm"
PATIENCE_SECONDS = 30.0


def cpu_seconds(process: psutil.Process) -> float:
    """What a process and the children that it has waited for have used."""
    used = process.cpu_times()
    return used.user + used.system + used.children_user + used.children_system


def start_worker(place: Path) -> psutil.Popen:
    worker = psutil.Popen(
        [python(), "-m", "ragkit", "worker", "--library", str(place)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "RAGKIT_MODELS__CONTEXTS": "false"},
    )
    library = Library.open(load_settings(library=place))
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        state = library.worker.state()
        if state.running and state.record and state.record.state == "idle":
            break
        time.sleep(0.2)
    library.close()
    time.sleep(6)
    return worker


def seconds_until(found) -> float:
    started = time.monotonic()
    while not found():
        if time.monotonic() - started > PATIENCE_SECONDS:
            raise RuntimeError("the change did not become visible")
        time.sleep(0.02)
    return time.monotonic() - started


def measure_changes(library: Library, folder: Path, worker: psutil.Popen) -> dict[str, float]:
    """Save a file, find it; delete it, find it no more."""
    seen, gone = [], []
    before = cpu_seconds(worker)
    for number in range(CHANGES):
        word = f"quokkazephyr{LETTERS[number]}"
        body = f"# Change {number}\n\nThe word is {word}. " + "Some more text follows. " * 40
        (folder / "changing.md").write_text(body, "utf-8")
        seen.append(seconds_until(lambda w=word: library.search(w, options(library)).results))
    changed = cpu_seconds(worker)
    for number in range(CHANGES):
        word = f"vanishingword{LETTERS[number]}"
        place = folder / f"gone{number}.md"
        place.write_text(f"# Gone\n\nThe word is {word}.", "utf-8")
        seconds_until(lambda w=word: library.search(w, options(library)).results)
        place.unlink()
        gone.append(seconds_until(lambda w=word: not library.search(w, options(library)).results))
    return {
        "changed_visible_p50_seconds": median(seen),
        "changed_visible_worst_seconds": max(seen),
        "deleted_gone_p50_seconds": median(gone),
        "deleted_gone_worst_seconds": max(gone),
        "changed_cpu_seconds": (changed - before) / CHANGES,
        "deleted_cpu_seconds": (cpu_seconds(worker) - changed) / CHANGES,
    }


def options(library: Library):
    return library.options(mode=Mode.KEYWORD, limit=1)


def search_times(library: Library, asked: list[str]) -> list[float]:
    times = []
    for question in asked:
        started = time.perf_counter()
        library.search(question, library.options())
        times.append((time.perf_counter() - started) * 1000)
    return times


def measure_beside(library: Library, folder: Path) -> dict[str, float]:
    """Search while nothing happens, then while 2,000 files are indexed."""
    import random

    asked = questions(600, random.Random(11))
    search_times(library, asked[:20])
    idle = search_times(library, asked[20:220])
    for number in range(2000):
        text = f"# File {number}\n\n" + f"Sentence {number} of some length. " * 60
        (folder / f"bulk{number}.md").write_text(text, "utf-8")
    seconds_until(lambda: library.jobs.progress() is not None)
    busy = []
    for question in asked[220:]:
        if library.jobs.progress() is None and len(busy) > 50:
            break
        busy += search_times(library, [question])
    seconds_until(lambda: library.jobs.progress() is None)
    return {
        "idle_p95_ms": percentile(idle, 0.95),
        "beside_indexing_p95_ms": percentile(busy, 0.95),
        "searches_beside_indexing": len(busy),
        "beside_to_idle_p95": percentile(busy, 0.95) / percentile(idle, 0.95),
    }


def rebuild_cpu_seconds(library: Library) -> float:
    """What making the index files anew from the catalog costs; reading and embedding left out."""
    collection = library.catalog.collections.get("default")
    shutil.rmtree(library.paths.collection_indexes(collection.id), ignore_errors=True)
    fresh = Library.open(load_settings(library=library.paths.root))
    started = time.process_time()
    fresh.indexes.current(collection)
    used = time.process_time() - started
    fresh.close()
    return used


def measure_looking(place: Path, files: int, idle_seconds: float) -> dict[str, float]:
    """A folder of many files: a look that finds nothing new, and watching it idly."""
    folder = place / "many"
    for number in range(files):
        parent = folder / f"d{number % 200}"
        parent.mkdir(parents=True, exist_ok=True)
        (parent / f"f{number}.md").write_text(f"# {number}\n\nword{number}", "utf-8")
    library = str(place / "library")
    command = [python(), "-m", "ragkit"]
    first = process_seconds([*command, "add", "--library", library, str(folder)])
    again = process_seconds([*command, "sync", "--library", library])
    worker = start_worker(Path(library))
    try:
        before, started = cpu_seconds(worker), time.monotonic()
        time.sleep(idle_seconds)
        share = (cpu_seconds(worker) - before) / (time.monotonic() - started)
    finally:
        stop(worker)
    return {
        "files": files,
        "first_index_seconds": first,
        "look_with_nothing_new_seconds": again,
        "idle_seconds": idle_seconds,
        "idle_share_of_a_core": share,
    }


def stop(worker: psutil.Popen) -> None:
    worker.terminate()
    worker.wait(timeout=30)


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--idle", type=float, default=60.0)
    options = parser.parse_args()
    made, making_seconds = library_of(options.chunks)
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch, "library")
        shutil.copytree(made, place)
        folder = Path(scratch, "changing")
        folder.mkdir()
        (folder / "anchor.md").write_text("# Anchor\n\nalways here", "utf-8")
        library = Library.open(load_settings(library=place))
        library.jobs.wait(library.sources.sync(library.sources.add_folder(folder)))
        figures: dict[str, float] = {"chunks": options.chunks, "making_seconds": making_seconds}
        worker = start_worker(place)
        try:
            figures |= measure_changes(library, folder, worker)
            figures |= measure_beside(library, folder)
        finally:
            stop(worker)
        rebuild = rebuild_cpu_seconds(library)
        library.close()
    figures["index_rebuild_cpu_seconds"] = rebuild
    figures["change_to_index_rebuild_cpu"] = figures["changed_cpu_seconds"] / rebuild
    with tempfile.TemporaryDirectory() as scratch:
        figures |= measure_looking(Path(scratch), options.files, options.idle)
    report(figures, options.json)


if __name__ == "__main__":
    main()
