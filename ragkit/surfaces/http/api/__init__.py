"""The HTTP API: what the library can do, for programs, as the values that ``--json`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

    from ragkit.surfaces.http.shared import SharedLibrary


def application(library: SharedLibrary) -> FastAPI:
    """Return the API as an app to be mounted at ``/api``, behind the guard that checks the token.

    FastAPI is imported by this call, and by nothing else.
    """
    from ragkit.surfaces.http.api.app import application as make

    return make(library)
