"""The process that serves the pages: ``python -m ragkit.surfaces.http.server PORT``.

``ragkit serve`` starts it in the folder of ``app.py``, with the library among the ``RAGKIT_*``
variables.
"""

from __future__ import annotations

import base64
import gc
import hashlib
import logging
import os
import re
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from ragkit.background.parent import follow_parent
from ragkit.errors import LibraryError, RagkitError
from ragkit.paths import LibraryPaths
from ragkit.settings import Settings, load_settings
from ragkit.surfaces.failures import keep_tracebacks_from_the_terminal, log_to
from ragkit.surfaces.http.access import Access
from ragkit.surfaces.http.api_token import ApiToken
from ragkit.surfaces.http.guard import Guard
from ragkit.surfaces.http.page_style import PageStyle, read_scripts, read_styles
from ragkit.surfaces.http.place import Place, place_of
from ragkit.surfaces.http.shared import SharedLibrary
from ragkit.surfaces.mcp.http import McpDoor

_FAREWELL_SECONDS = 3.0


def serve_pages(script: Path, port: int, settings: Settings) -> None:
    """Serve the pages of ``script`` behind the guard, until this process is stopped.

    Raises:
        LibraryError: a locked library's folder cannot be written.
    """
    import streamlit
    from starlette.middleware import Middleware
    from starlette.routing import BaseRoute

    from ragkit.surfaces.http import doors, pdf_pages, suggest, thread_file, writing

    paths = LibraryPaths(settings.library.absolute())
    log_to(paths.logs / "pages.log")
    keep_tracebacks_from_the_terminal()
    if logging.lastResort is not None:
        # Warnings also go to the terminal.
        logging.getLogger().addHandler(logging.lastResort)
    place = place_of(port, settings.server.host, settings.server.names)
    locked = settings.server.locked or place.reach
    access = Access(paths.access)
    with suppress(*(() if locked else (LibraryError,))):
        access.note_server(place, locked=locked)
    look_nothing_up()
    scan_no_packages()
    send_at_once()
    logging.getLogger("uvicorn.error").addFilter(_worth_saying)
    page = Path(streamlit.__file__).parent / "static" / "index.html"
    pages = script.parent / "pages"
    scripts = read_scripts(pages)
    guard = Middleware(
        Guard,
        place=place,
        token=ApiToken(paths.token),
        access=access if locked else None,
        scripts=_scripts_in(page.read_text("utf-8") + scripts),
    )
    style = Middleware(PageStyle, styles=read_styles(pages), scripts=scripts)
    # Streamlit takes the folder of the started script for the app's.
    sys.argv = [str(script)]

    @asynccontextmanager
    async def lifespan(_app: Any) -> AsyncIterator[None]:
        threading.Thread(
            target=warm_up, args=(library, pages), name="ragkit-warm", daemon=True
        ).start()
        async with agents.serving():
            yield

    library = SharedLibrary(settings)
    agents = McpDoor(library)
    routes: list[BaseRoute] = [*suggest.routes(library), *pdf_pages.routes(library)]
    routes += [*writing.routes(), *thread_file.routes(library)]
    routes += [*agents.routes(), *doors.routes(library)]
    app = streamlit.App(str(script), middleware=[guard, style], routes=routes, lifespan=lifespan)
    app.run(config=_config(place))


def warm_up(library: SharedLibrary, pages: Path) -> None:
    """Load what a first search and a first visit of ``pages`` need, so that nobody waits for it.

    Errors are ignored here; the page that needs it will report them.
    """
    with suppress(RagkitError, OSError):
        library.get().warm_up()
    for part in sorted((pages / "parts").rglob("[!_]*.py")):
        import_module(".".join(part.relative_to(pages.parent).with_suffix("").parts))
    # What is loaded by now stays, so later garbage collections may skip it.
    gc.collect()
    gc.freeze()


def _worth_saying(record: logging.LogRecord) -> bool:
    """Drop the warning about each refused socket, with which any web page could fill the log."""
    return "without completing handshake" not in record.getMessage()


def look_nothing_up() -> None:
    """Keep Streamlit from looking up this machine's addresses, one of them at a public server.

    It would accept them as Origins of its own pages.
    """
    from streamlit import net_util

    net_util.get_external_ip = net_util.get_internal_ip = lambda: None


def scan_no_packages() -> None:
    """Keep Streamlit from reading the metadata of every package, half a second of its start.

    It would look for components, of which the pages use none but their own.
    """
    from streamlit.components.v2 import manifest_scanner

    manifest_scanner.scan_component_manifests = lambda *_, **__: []


def send_at_once() -> None:
    """Turn Nagle's algorithm off, which delays responses on reused connections by 40 ms.

    asyncio does so only for sockets that name their protocol, and Streamlit's does not.
    """
    from streamlit.web.server.starlette import starlette_server

    bind = starlette_server._bind_socket

    def bound(address: str, port: int, backlog: int) -> socket.socket:
        # Accepted connections inherit the option.
        listening = bind(address, port, backlog)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening

    starlette_server._bind_socket = bound


def _config(place: Place) -> dict[str, Any]:
    """Return the settings of Streamlit that none of its files or variables may change."""
    return {
        "browser.gatherUsageStats": False,
        "global.developmentMode": False,
        # The page's address sets the first value of widgets that have a default as well.
        "global.disableWidgetStateDuplicationWarning": True,
        "logger.hideWelcomeMessage": True,
        # Pages do not rely on it, and Python can fail to parse in two threads at once.
        "runner.magicEnabled": False,
        # A full collection after every run takes longer than the run; Python's own suffices.
        "runner.postScriptGC": False,
        "server.address": place.host,
        # The guard checks hosts and origins.
        "server.allowedHosts": [],
        "server.baseUrlPath": "",
        "server.corsAllowedOrigins": [],
        "server.enableAgentApi": False,
        "server.enableCORS": True,
        "server.enableStaticServing": False,
        "server.enableXsrfProtection": True,
        "server.headless": True,
        "server.port": place.port,
    }


def _scripts_in(page: str) -> list[str]:
    """Return the CSP hashes of the inline scripts of a page."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


def _stop() -> None:
    """End this process, if necessary while pages are still connected."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_FAREWELL_SECONDS)
    os._exit(0)


if __name__ == "__main__":
    follow_parent(_stop)
    serve_pages(Path("app.py").resolve(), int(sys.argv[1]), load_settings())
