"""Small real libraries: real files, the real pipeline, a real embedder that needs no model."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragkit.catalog.records import JobRecord
from ragkit.library import Library
from ragkit.models.hashing import HashEmbedder
from ragkit.options import Expansion, Fusion, Granularity, Mode
from ragkit.results import Answer, Result
from ragkit.settings import load_settings
from ragkit.surfaces.render import answer_as_json

SHARED = Path(__file__).resolve().parents[1].parent / "shared" / "data"

HANDBOOK = {
    "handbook/refunds.md": (
        "---\ntags: [support, money]\nlanguage: en\nframework: legal\ndate: 2025-03-01\n---\n"
        "# Refunds\n\nA customer may ask for a refund within thirty days.\n\n"
        "## Exceptions\n\nGift cards are never paid back. See `refund_policy_id` v2.0.1.\n"
    ),
    "handbook/login.md": (
        "# Logging in\n\n## OAuth\n\nThe OAuth token expires after an hour; refresh it.\n\n"
        "## Passwords\n\nA password has at least twelve characters. Written in C++ once.\n"
    ),
    "notes/garten.txt": "Die Tomaten brauchen im Sommer jeden Tag Wasser und viel Sonne.\n",
    "notes/memo.md": "# 検索システム\n\n検索システムの評価は月曜日に始まります。\n",
    "data/prices.csv": "item,price\napple,3\nbuoy,1200\n",
}
"""Five files of different kinds, which nobody takes for each other."""


class CountingEmbedder:
    """The hash embedder, keeping count of what it was asked for."""

    name = "hash"

    def __init__(self, dimensions: int = 256) -> None:
        self._inner = HashEmbedder(dimensions)
        self.dimensions = dimensions
        self.fingerprint = self._inner.fingerprint
        self.passages: list[str] = []
        self.queries: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.passages.extend(texts)
        return self._inner.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.queries.extend(texts)
        return self._inner.embed_queries(texts)


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder, and give the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def make_older(folder: Path, seconds: float = 60) -> None:
    """Make all files look as if nobody had written them just now."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            status = path.stat()
            os.utime(path, (status.st_atime - seconds, status.st_mtime - seconds))


_CHOICES = {"mode": Mode, "fusion": Fusion, "expansion": Expansion, "granularity": Granularity}


def open_library(place: Path, *, create: bool = True, **settings: Any) -> Library:
    """A library with the counting embedder."""
    # One process reads a few small files sooner than two have started.
    chosen = {
        "models": {"embedder": "hash"},
        "reading": {"processes": 1},
        "library": place,
        **settings,
    }
    library = Library.open(load_settings(**chosen), create=create)
    library.embedders.pin(CountingEmbedder())
    return library


def add(library: Library, folder: Path, collection: str | None = None) -> JobRecord:
    """Add a folder and index it, here and now."""
    return library.jobs.wait(library.sources.sync(library.sources.add_folder(folder, collection)))


def sync(library: Library, **arguments: Any) -> JobRecord:
    """Bring everything up to date, here and now."""
    return library.jobs.wait(library.jobs.add("sync", **arguments))


def do(library: Library, kind: str, **arguments: Any) -> JobRecord:
    """Have any job done, here and now."""
    return library.jobs.wait(library.jobs.add(kind, **arguments))


def find(library: Library, question: str, **options: Any) -> Answer:
    """Search; options may be given as the words that a person would write."""
    for name, kind in _CHOICES.items():
        if name in options:
            options[name] = kind(options[name])
    return library.search(question, library.options(**options))


def paths(answer: Answer | Sequence[Result]) -> list[str]:
    """The paths of the documents found, in order."""
    results = answer.results if isinstance(answer, Answer) else answer
    return [one.document.path for one in results]


def statuses(library: Library, collection: str | None = None) -> dict[str, str]:
    """How each document stands."""
    return {one.path: one.status.value for one in library.documents.list(collection)}


def without_times(answer: Answer) -> dict[str, Any]:
    """An answer as JSON, without what differs from run to run."""
    value = answer_as_json(answer)
    value["trace"] = [
        {key: one[key] for key in ("name", "in", "out", "note")} for one in value["trace"]["stages"]
    ]
    del value["notices"]
    return value


def comparable(answer: Answer, *, ranks: bool = True) -> str:
    """An answer as bytes that another library of the same files gives as well.

    Ranks number equal scores by the ids of their entries, so by the order of reading.
    """
    value = without_times(answer)
    for result in value["results"]:
        del result["document"]["id"]
        del result["document"]["file"]
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if ranks else re.sub(r'"rank": \d+, ', "", text)
