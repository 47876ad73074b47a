"""The HTTP API of a small library, behind the guard, asked without a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from small_library import HANDBOOK, add, write_files
from starlette.applications import Starlette
from starlette.testclient import TestClient

from ragkit.library import Library
from ragkit.paths import LibraryPaths
from ragkit.settings import Settings
from ragkit.surfaces.http.api_token import ApiToken
from ragkit.surfaces.http.doors import routes
from ragkit.surfaces.http.guard import Guard
from ragkit.surfaces.http.place import Place
from ragkit.surfaces.http.shared import SharedLibrary

PORT = 8597


def make_library(folder: Path, **models: Any) -> Settings:
    """Index the handbook in a new library; its settings."""
    settings = Settings(library=folder / "library", models={"embedder": "hash", **models})
    with Library.open(settings, create=True) as library:
        add(library, write_files(folder / "documents", HANDBOOK))
    return settings


def served(settings: Settings) -> Guard:
    """What answers programs, behind the guard, as the server has it."""
    doors = Starlette(routes=routes(SharedLibrary(settings)))
    token = ApiToken(LibraryPaths(settings.library).token)
    return Guard(doors, place=Place(PORT), token=token)


def bearer(settings: Settings) -> dict[str, str]:
    """The header that admits a program."""
    return {"Authorization": f"Bearer {ApiToken(LibraryPaths(settings.library).token).ensure()}"}


@contextmanager
def api_of(settings: Settings) -> Iterator[TestClient]:
    """A client of the API, which finds ``library`` on itself."""
    address, headers = f"http://localhost:{PORT}/api/", bearer(settings)
    with (
        Library.open(settings) as library,
        TestClient(served(settings), address, headers=headers) as client,
    ):
        client.library, client.token = library, headers
        yield client
