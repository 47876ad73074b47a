"""What the benchmarks share: where data lies, timing, and printing figures."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = ROOT / "sample_data" / "library"
SHARED = ROOT.parent / "shared" / "data"


def arguments(description: str) -> argparse.ArgumentParser:
    """A parser with the option that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def plotted_arguments(description: str) -> argparse.ArgumentParser:
    """A parser of a study whose figures are kept in a file and drawn."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="add the figures to a file")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the figures")
    return parser


def kept_figures(file: Path | None, found: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Add figures to those of earlier runs in a file, if one is named; return all of them."""
    if file is None:
        return found
    kept = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    for name, figures in found.items():
        kept[name] = {**kept.get(name, {}), **figures}
    file.write_text(json.dumps(kept, indent=1), encoding="utf-8")
    return kept


def sets_beside(names: Iterable[str]) -> Iterator[str]:
    """Yield the names of the sets that are there, and say which are left out."""
    for name in names:
        if (SHARED / name).is_dir():
            yield name
        else:
            print(f"{name} is not beside the project: left out")


def report(figures: dict[str, Any], as_json: bool) -> None:
    """Print figures as one JSON object, or a line each."""
    if as_json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:<48}{value:.4g}" if isinstance(value, float) else f"{name:<48}{value}")


def seconds(work: Callable[[], Any]) -> float:
    """How long one call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def process_seconds(command: list[str], **environment: str) -> float:
    """How long a whole process takes; it must succeed."""
    started = time.perf_counter()
    subprocess.run(
        command,
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    return time.perf_counter() - started


def percentile(values: list[float], share: float) -> float:
    """The value below which that share of the values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median(values: list[float]) -> float:
    """The middle value."""
    return statistics.median(values)


def python() -> str:
    """The interpreter that runs this."""
    return sys.executable
