"""``ragkit token``: what programs need to use the library over HTTP."""

from __future__ import annotations

from typing import Annotated

import typer

from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import LibraryOption, open_library


def token(
    library: LibraryOption = None,
    new: Annotated[
        bool, typer.Option("--new", help="Replace it, and sign every browser out.")
    ] = False,
) -> None:
    """Print the token that programs need. They send it with each request over HTTP."""
    from ragkit.surfaces.http.access import Access
    from ragkit.surfaces.http.api_token import ApiToken

    paths = open_library(library, None).paths
    kept = ApiToken(paths.token)
    if new:
        Access(paths.access).forget()
    console.put(kept.renew() if new else kept.ensure())
