"""ragkit as a model of an OpenAI server: chat front ends ask it as they ask any other."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from ragkit.surfaces.http.shared import SharedLibrary


def application(library: SharedLibrary) -> ASGIApp:
    """Return the app to be mounted at ``/v1``, behind the guard that checks the token."""
    from ragkit.surfaces.http.openai.app import application as make

    return make(library)
