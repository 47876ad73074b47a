"""The HTTP API of a small library, mounted as the server mounts it, asked without a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from small_library import HANDBOOK, add, write_files
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from ragkit.library import Library
from ragkit.settings import Settings
from ragkit.surfaces.http.api import application
from ragkit.surfaces.http.shared import SharedLibrary

PORT = 8597


def make_library(folder: Path, **models: Any) -> Settings:
    """Index the handbook in a new library; its settings."""
    settings = Settings(library=folder / "library", models={"embedder": "hash", **models})
    with Library.open(settings, create=True) as library:
        add(library, write_files(folder / "documents", HANDBOOK))
    return settings


def served(settings: Settings) -> Starlette:
    """The app that answers below ``/api``, and nothing else."""
    return Starlette(routes=[Mount("/api", application(SharedLibrary(settings)))])


@contextmanager
def api_of(settings: Settings) -> Iterator[TestClient]:
    """A client of the API, which finds ``library`` on itself."""
    address = f"http://localhost:{PORT}/api/"
    with Library.open(settings) as library, TestClient(served(settings), address) as client:
        client.library = library
        yield client
