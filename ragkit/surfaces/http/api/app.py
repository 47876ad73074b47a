"""The app of the API, and its OpenAPI description."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI

from ragkit.surfaces.http.api import (
    ask,
    collections,
    documents,
    jobs,
    judgments,
    search,
    status,
    uploads,
)
from ragkit.surfaces.http.api.answers import PROBLEM_SCHEMA, PROBLEMS
from ragkit.surfaces.http.api.routing import handle_errors
from ragkit.surfaces.http.shared import SharedLibrary
from ragkit.versions import __version__

_ABOUT = (
    "Access to a person's library for programs on their machine. Every request needs the library's "
    "token (`ragkit token`). Values are those that commands print with `--json`; an error says "
    "what happened (`detail`) and what to do about it (`cure`)."
)
_PARTS = (search, documents, collections, uploads, jobs, judgments, status, ask)


class _Api(FastAPI):
    """The app; its description includes the token and the form of errors."""

    def openapi(self) -> dict[str, Any]:
        """Return the description (OpenAPI 3.1)."""
        if self.openapi_schema is None:
            schema = super().openapi()
            parts = schema["components"]
            parts["schemas"]["Problem"] = PROBLEM_SCHEMA
            parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            schema["security"] = [{"token": []}]
            # Errors are the same for all operations, and described once.
            parts["responses"] = {f"Problem{code}": value for code, value in PROBLEMS.items()}
            for operations in schema["paths"].values():
                for operation in operations.values():
                    operation["responses"] |= {
                        str(status): {"$ref": f"#/components/responses/Problem{status}"}
                        for status in PROBLEMS
                    }
        return super().openapi()


def application(library: SharedLibrary) -> FastAPI:
    """Return the API of a library, to be mounted at ``/api`` behind the guard."""
    app = _Api(
        title="ragkit",
        version=__version__,
        description=_ABOUT,
        # These pages would load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        servers=[{"url": "/api"}],
        root_path_in_servers=False,
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.library = library
    app.state.routes = [*app.routes, *(route for part in _PARTS for route in part.router.routes)]
    handle_errors(app)
    for part in _PARTS:
        app.include_router(part.router)
    return app
