"""Watching 20,000 files in 2,000 folders: what starting and idling cost, and how fast it tells.

    .venv/bin/python benchmarks/bench_watch.py [--seconds 20] [--json]

Runs twice: as it is, and as it must do where the system announces nothing (polling). An idle
poller only looks from time to time: its share is that of one look in the time between two.
"""

from __future__ import annotations

import logging
import re
import sys
import tempfile
import time
from pathlib import Path

from common import arguments, median, report, seconds

from ragkit.settings import load_settings
from ragkit.sources import inotify
from ragkit.sources.watch import FolderWatcher


def make_tree(root: Path, files: int, folders: int) -> None:
    """Files of a few bytes, spread evenly over folders two deep."""
    for number in range(folders):
        (root / str(number % 40) / str(number)).mkdir(parents=True)
    for number in range(files):
        folder = number % folders
        (root / str(folder % 40) / str(folder) / f"{number}.md").write_text(f"text {number}")


def idle_share(watcher: FolderWatcher, length: float) -> float:
    """CPU time, as a share of one core, of waiting as the worker does."""
    while watcher.changes(3.0):
        pass
    cpu, clock = time.process_time(), time.monotonic()
    while time.monotonic() < clock + length:
        watcher.changes(0.5)
    return (time.process_time() - cpu) / (time.monotonic() - clock)


def latency(watcher: FolderWatcher, file: Path) -> float:
    """Seconds from a save until it is told, the quiet time included."""
    file.write_text(f"changed at {time.time()}")
    began = time.perf_counter()
    while not watcher.changes(5.0):
        pass
    return time.perf_counter() - began


def memory() -> float:
    """Megabytes that this process holds."""
    import psutil

    return psutil.Process().memory_info().rss / 1e6


def main() -> None:
    parser = arguments(__doc__ or "")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long each idle run takes")
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--folders", type=int, default=2_000)
    options = parser.parse_args()
    quiet = load_settings().sources.debounce_seconds
    figures: dict[str, float | int | str] = {"files": options.files, "folders": options.folders}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_tree(root, options.files, options.folders)
        before = memory()
        with FolderWatcher(quiet) as watcher:
            figures["watch: start seconds"] = seconds(lambda: watcher.watch({1: root}))
            figures["watch: mode"] = next(iter(watcher.states())).mode
            figures["watch: idle share of a core"] = idle_share(watcher, options.seconds)
            figures["watch: megabytes"] = memory() - before
            saves = [latency(watcher, root / "1" / "1" / "1.md") for _ in range(5)]
            figures["watch: quiet time asked for"] = quiet
            figures["watch: median seconds from save to told"] = median(saves)
            figures["watch: seconds of one check of the watches"] = seconds(
                lambda: inotify.coverage(root, gitignore=True)
            )
            (root / "1").rename(root / "renamed")
            began = time.perf_counter()
            told = watcher.changes(10)
            figures["watch: seconds to tell a renamed folder"] = time.perf_counter() - began
            figures["watch: paths told of it"] = sum(len(change.paths) for change in told)
        inotify.silent_file_system = lambda _: "nfs4"
        logging.disable()
        with FolderWatcher(quiet) as watcher:
            cpu = time.process_time()
            watcher.watch({1: root})
            figures["poll: CPU seconds of one look"] = time.process_time() - cpu
            state = next(iter(watcher.states()))
            between = int(re.search(r"every (\d+) seconds", state.reason)[1])
            figures["poll: mode"] = state.mode
            figures["poll: seconds between two looks"] = between
            figures["poll: idle share of a core"] = (
                figures["poll: CPU seconds of one look"] / between
            )
    report(figures, options.json)


if __name__ == "__main__":
    sys.exit(main())
