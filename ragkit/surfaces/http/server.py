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
from ragkit.surfaces.http.suggest import PATH, SuggestRoute
from ragkit.surfaces.mcp.http import McpDoor

_FAREWELL_SECONDS = 3.0


def serve_pages(script: Path, port: int, settings: Settings) -> None:
    """Serve the pages of ``script`` behind the guard, until this process is stopped.

    Raises:
        LibraryError: a locked library's folder cannot be written.
    """
    import streamlit
    from starlette.middleware import Middleware
    from starlette.routing import BaseRoute, Route

    from ragkit.surfaces.http import doors, pdf_pages, thread_file, writing

    paths = LibraryPaths(settings.library.absolute())
    log_to(paths.logs / "pages.log")
    keep_tracebacks_from_the_terminal()
    if logging.lastResort is not None:
        # What goes wrong is said on the terminal as well.
        logging.getLogger().addHandler(logging.lastResort)
    place = place_of(port, settings.server.host, settings.server.names)
    locked = settings.server.locked or place.reach
    access = Access(paths.access)
    with suppress(*(() if locked else (LibraryError,))):
        access.note_server(place, locked=locked)
    look_nothing_up()
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
    # Streamlit takes the folder of what was started for the app's.
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
    routes: list[BaseRoute] = [Route(PATH, SuggestRoute(library).answer)]
    routes += [*pdf_pages.routes(library), *writing.routes(), *thread_file.routes(library)]
    routes += [*agents.routes(), *doors.routes(library)]
    app = streamlit.App(str(script), middleware=[guard, style], routes=routes, lifespan=lifespan)
    app.run(config=_config(place))


def warm_up(library: SharedLibrary, pages: Path) -> None:
    """Load what a first search and a first visit of ``pages`` need, so that nobody waits for it.

    What fails here, the page that needs it says.
    """
    with suppress(RagkitError, OSError):
        library.get().warm_up()
    for part in sorted((pages / "parts").rglob("[!_]*.py")):
        import_module(".".join(part.relative_to(pages.parent).with_suffix("").parts))
    # What is loaded by now stays: later collections need not look through it.
    gc.collect()
    gc.freeze()


def _worth_saying(record: logging.LogRecord) -> bool:
    """False for a complaint about each refused socket: any web page could fill the terminal."""
    return "without completing handshake" not in record.getMessage()


def look_nothing_up() -> None:
    """Keep Streamlit from asking others for this machine's addresses.

    It would take them for its own pages' (Origins), and one of them from a public web server.
    """
    from streamlit import net_util

    net_util.get_external_ip = net_util.get_internal_ip = lambda: None


def send_at_once() -> None:
    """Have small answers sent without waiting for the receiver to confirm what came before.

    Streamlit's socket has no protocol by name, so that asyncio leaves Nagle's algorithm on: an
    answer on a connection that is used again would come 40 ms late.
    """
    from streamlit.web.server.starlette import starlette_server

    bind = starlette_server._bind_socket

    def bound(address: str, port: int, backlog: int) -> socket.socket:
        # Connections take it over from the socket that accepts them.
        listening = bind(address, port, backlog)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening

    starlette_server._bind_socket = bound


def _config(place: Place) -> dict[str, Any]:
    """Return the settings that no file or variable of Streamlit's may change."""
    return {
        "browser.gatherUsageStats": False,
        "global.developmentMode": False,
        # The address sets what a widget shows at first; that it has a default as well is no fault.
        "global.disableWidgetStateDuplicationWarning": True,
        "logger.hideWelcomeMessage": True,
        # Pages show nothing by themselves, and Python can fail to parse in two threads at once.
        "runner.magicEnabled": False,
        # A full collection after every run takes longer than the run; Python's own suffices.
        "runner.postScriptGC": False,
        "server.address": place.host,
        # The guard looks at them, which knows more of them.
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
    """Return the hashes, as CSP writes them, of the scripts that stand in a page itself."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = [hashlib.sha256(script.encode()).digest() for script in scripts]
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


def _stop() -> None:
    """End this process, if need be while pages are still connected."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_FAREWELL_SECONDS)
    os._exit(0)


if __name__ == "__main__":
    follow_parent(_stop)
    serve_pages(Path("app.py").resolve(), int(sys.argv[1]), load_settings())
