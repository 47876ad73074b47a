"""``ragkit serve``: runs the page server and the worker."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

from ragkit.errors import LibraryError, RagkitError, SettingsError
from ragkit.library import Library
from ragkit.paths import write_private
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import wait_for
from ragkit.surfaces.http.access import Access, unwritable
from ragkit.surfaces.http.api_token import ApiToken
from ragkit.surfaces.http.place import LOOPBACK, Place
from ragkit.surfaces.http.refusals import ENTRANCE
from ragkit.surfaces.worker import keep_worker

_LOCKED = (
    "Open this link within ten minutes. It works once, and this browser then stays signed in.\n"
    "ragkit open makes another. Keep it to yourself:"
)
_REACH = (
    "Other machines of your network reach it: {addresses}\n"
    "There, sign in within ten minutes with this code, which works once: {code}\n"
    "Whoever signs in, or has the token, can read and change this library, and add any folder of\n"
    "yours to it. The connection is not encrypted; use it only in a network that you trust."
)
_PORTS_TO_TRY = 20


def app_folder() -> Path:
    """Return the folder of ``app.py``: in the installed package, or above it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_app", package.parent):
        if (folder / "app.py").is_file():
            return folder
    raise RagkitError("The app's files are missing.", "Reinstall ragkit.")


def add_sample(library: Library) -> tuple[int, int]:
    """Add the sample documents; return the numbers of the jobs for them and their contexts."""
    folder = _sample_folder()
    source = library.sources.add_folder(folder)
    reading = library.sources.sync(source)
    return reading, library.contexts.import_file(source.id, folder.with_name("contexts.jsonl"))


def has_sample(library: Library) -> bool:
    """Return whether the sample documents are a source of the library."""
    with suppress(RagkitError):
        return library.sources.any(_sample_folder())
    return False


def sample_questions(library: Library) -> Sequence[tuple[str, str]]:
    """Return questions about the sample, each with the path of a document that answers it.

    Empty if the sample is not in the library.
    """
    return _questions_about(_sample_folder()) if has_sample(library) else ()


@cache
def _questions_about(folder: Path) -> Sequence[tuple[str, str]]:
    lines = folder.with_name("questions.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [json.loads(line) for line in lines]
    return [
        (question["text"], judgment["path"])
        for question in asked
        if question["kind"] == "paraphrase" and question["text"].endswith("?")
        for judgment in question["relevant"]
        if judgment["grade"] > 1
    ]


def _sample_folder() -> Path:
    return app_folder() / "sample_data" / "library"


def run_app(
    library: Library, *, place: Place, sample: bool, browser: bool, locked: bool, readers: int
) -> int:
    """Serve the pages until stopped; return the server's exit code.

    ``readers`` is how many processes answer searches; 0: the server itself does.

    Raises:
        SettingsError: other machines would reach them without signing in.
    """
    if place.reach and not locked:
        raise SettingsError(
            f"On {place.host} other machines reach the library, so it cannot be unlocked.",
            "Leave out --unlocked, or --host.",
        )
    # Without a place for secrets, the library can only be served to this machine.
    with suppress(*(() if place.reach else (LibraryError,))):
        ApiToken(library.paths.token).ensure()
    if sample and not library.sources.any():
        console.say("Indexing the sample library ...")
        reading, contexts = add_sample(library)
        wait_for(library, reading)
        library.jobs.wait(contexts)
    free = replace(place, port=_free_port(place))
    if free.port != place.port:
        console.say(f"Port {place.port} is taken; using {free.port}.")
    url, opens = way_in(library, free, locked=locked)
    with keep_worker(library):
        server = _start_server(library, free, locked=locked, readers=readers)
        if browser and _has_screen():
            threading.Thread(target=_open_when_up, args=(opens, free), daemon=True).start()
        say_way_in(url, locked=locked)
        if free.reach:
            say_reach(library, free)
        console.say("Press Ctrl+C to stop.")
        # Treat it like Ctrl+C, so that the pages and the worker stop as well.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            return server.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            _stop(server)


def _start_server(
    library: Library, place: Place, *, locked: bool, readers: int
) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "RAGKIT_LIBRARY": str(library.paths.root),
        "RAGKIT_COLLECTION": library.settings.collection,
        "RAGKIT_SERVER__LOCKED": str(locked).lower(),
        "RAGKIT_SERVER__HOST": place.host,
        "RAGKIT_SERVER__READERS": str(readers),
    }
    command = [sys.executable, "-m", "ragkit.surfaces.http.server", str(place.port)]
    return subprocess.Popen(command, cwd=app_folder(), env=environment, stdout=subprocess.DEVNULL)


def way_in(library: Library, place: Place, *, locked: bool) -> tuple[str, str]:
    """Return the address to show to the person, and the one to open in the browser.

    When locked, the first is a one-time link. Other users of the machine can see the arguments of
    programs, so the browser opens a private file that redirects to it.

    Raises:
        LibraryError: no link can be made, since the library's folder cannot be written.
    """
    if not locked:
        name = "localhost" if place.here == LOOPBACK else place.here
        return f"http://{name}:{place.port}", f"http://{name}:{place.port}"
    # By number: another user could be listening on the other address of "localhost".
    secret = Access(library.paths.access).mint()
    link = f"http://{place.here}:{place.port}{ENTRANCE}?token={secret}"
    lead = f'<meta http-equiv="refresh" content="0; url={link}">'
    try:
        write_private(library.paths.way_in, f"<!doctype html><title>ragkit</title>{lead}\n")
    except OSError as error:
        raise unwritable(library.paths.way_in, error) from error
    return link, library.paths.way_in.as_uri()


def say_way_in(url: str, *, locked: bool) -> None:
    """Print the address of the app, or the one-time link to it."""
    console.say(*((_LOCKED, url) if locked else (f"ragkit is at {url}",)))


def say_reach(library: Library, place: Place) -> None:
    """Print how other machines sign in, and what that allows.

    Raises:
        LibraryError: no code can be made, since the library's folder cannot be written.
    """
    code = Access(library.paths.access).mint_code()
    half = len(code) // 2
    addresses = ", ".join(place.addresses()) or f"port {place.port}"
    console.say(_REACH.format(addresses=addresses, code=f"{code[:half]}-{code[half:]}"))


def open_app(library: Library) -> None:
    """Open the pages of the running server of this library; when locked, with a new link.

    Raises:
        RagkitError: no server is running.
    """
    server = Access(library.paths.access).server()
    if server is None:
        raise RagkitError("No server is running for this library.", "Start one with ragkit serve.")
    url, opens = way_in(library, server.place, locked=server.locked)
    say_way_in(url, locked=server.locked)
    if server.place.reach:
        say_reach(library, server.place)
    if _has_screen():
        webbrowser.open(opens)


def _stop(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(timeout=5)
        except subprocess.TimeoutExpired:
            server.kill()


def _free_port(place: Place) -> int:
    first, family = place.port, socket.AF_INET6 if ":" in place.host else socket.AF_INET
    for port in range(first, min(first + _PORTS_TO_TRY, 65536)):
        try:
            socket.create_server((place.host, port), family=family).close()
        except OSError as error:
            if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                raise SettingsError(
                    f"{place.host} is no address of this machine.",
                    "Give one of its own, or 0.0.0.0.",
                ) from error
            continue
        return port
    raise RagkitError(f"No free port from {first} on.", "Choose another with --port.")


def _open_when_up(url: str, place: Place) -> None:
    for _ in range(100):
        try:
            with socket.create_connection((place.here.strip("[]"), place.port), timeout=1):
                break
        except OSError:
            time.sleep(0.2)
    webbrowser.open(url)


def _has_screen() -> bool:
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
