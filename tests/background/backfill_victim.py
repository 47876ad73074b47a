"""A worker that writes contexts until it is killed: ``python backfill_victim.py LIBRARY URL``."""

from __future__ import annotations

import sys
from pathlib import Path

from ragkit.background.worker import Worker
from ragkit.library import Library
from ragkit.settings import load_settings


def main(place: str, url: str) -> None:
    """Be the worker of a library whose Ollama answers there."""
    models = {"embedder": "hash", "ollama_url": url}
    library = Library.open(load_settings(library=Path(place), models=models))
    Worker(library.writer()).run(watch=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
