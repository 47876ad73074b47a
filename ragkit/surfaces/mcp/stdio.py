"""MCP over standard input and output, for the client that started this process."""

from __future__ import annotations

import logging
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server

from ragkit.errors import RagkitError
from ragkit.paths import LibraryPaths
from ragkit.surfaces.failures import keep_tracebacks_from_the_terminal, log_to
from ragkit.surfaces.http.shared import SharedLibrary
from ragkit.surfaces.mcp.server import mcp_server

if TYPE_CHECKING:
    from ragkit.settings import Settings


def serve(settings: Settings) -> None:
    """Answer the client until it closes standard input."""
    log_to(LibraryPaths(settings.library.expanduser().absolute()).logs / "mcp.log")
    keep_tracebacks_from_the_terminal()
    # No processes for searches: an agent asks one question after another.
    alone = settings.server.model_copy(update={"readers": 0})
    library = SharedLibrary(settings.model_copy(update={"server": alone}))
    warmed = threading.Event()

    def warm_up_once() -> None:
        if not warmed.is_set():
            warmed.set()
            threading.Thread(target=_warm_up, args=(library,), daemon=True).start()

    server = mcp_server(settings, library.get, warm_up_once)

    async def run() -> None:
        async with stdio_server() as (read, write):
            try:
                await server.run(read, write, server.create_initialization_options())
            finally:
                # Until here, whatever was printed goes to standard error instead of the client.
                sys.stdout.flush()

    try:
        anyio.run(run)
    except* BrokenPipeError:
        logging.getLogger(__name__).info("the client left during a call")
    finally:
        library.close()


def _warm_up(library: SharedLibrary) -> None:
    with suppress(RagkitError, OSError):
        library.get().warm_up()
