"""A worker that makes vectors until it is killed: ``python embedder_victim.py LIBRARY URL``."""

from __future__ import annotations

import sys
from pathlib import Path

from ragkit.background.worker import Worker
from ragkit.library import Library
from ragkit.settings import load_settings


def main(place: str, url: str) -> None:
    """Be the worker of a library whose Ollama answers there, in small batches."""
    models = {"embedder": "hash", "ollama_url": url, "embed_texts": 4, "contexts": False}
    library = Library.open(load_settings(library=Path(place), models=models))
    Worker(library.writer()).run(watch=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
