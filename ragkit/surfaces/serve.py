"""Run the page server and the worker."""

from __future__ import annotations

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
from functools import cache
from pathlib import Path

from ragkit.errors import RagkitError
from ragkit.library import Library
from ragkit.paths import write_private
from ragkit.surfaces.cli import console
from ragkit.surfaces.cli.options import wait_for
from ragkit.surfaces.http.access import Access, unwritable
from ragkit.surfaces.http.guard import ENTRANCE
from ragkit.surfaces.worker import keep_worker

_ADDRESS = "127.0.0.1"
_LOCKED = (
    "Open this link within ten minutes. It works once, and this browser then stays signed in.\n"
    "ragkit open makes another. Keep it to yourself:"
)
_PORTS_TO_TRY = 20


def app_folder() -> Path:
    """Return the folder of ``app.py``: in the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_app", package.parent):
        if (folder / "app.py").is_file():
            return folder
    raise RagkitError("The app's files are missing.", "Reinstall ragkit.")


def add_sample(library: Library) -> tuple[int, int]:
    """Make the sample documents a source; return the jobs that read them and their contexts."""
    folder = _sample_folder()
    source = library.sources.add_folder(folder)
    reading = library.sources.sync(source)
    return reading, library.contexts.import_file(source.id, folder.with_name("contexts.jsonl"))


def sample_questions(library: Library) -> Sequence[tuple[str, str]]:
    """Return questions about the sample with paths of documents that answer them.

    None when the sample is not in the library.
    """
    with suppress(RagkitError):
        folder = _sample_folder()
        if any(Path(source.root) == folder.resolve() for source in library.sources.list()):
            return _questions_about(folder)
    return ()


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


def run_app(library: Library, *, port: int, sample: bool, browser: bool, locked: bool) -> int:
    """Serve the pages on this machine until stopped; return the server's exit code."""
    if sample and not library.sources.list():
        console.say("Indexing the sample library ...")
        reading, contexts = add_sample(library)
        wait_for(library, reading)
        library.jobs.wait(contexts)
    free = _free_port(port)
    if free != port:
        console.say(f"Port {port} is taken; using {free}.")
    url, opens = way_in(library, free, locked=locked)
    with keep_worker(library):
        server = _start_server(library, free, locked=locked)
        if browser and _has_screen():
            threading.Thread(target=_open_when_up, args=(opens, free), daemon=True).start()
        say_way_in(url, locked=locked)
        console.say("Press Ctrl+C to stop.")
        # As Ctrl+C does, so that the pages and the worker stop as well.
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            return server.wait()
        except KeyboardInterrupt:
            return 0
        finally:
            _stop(server)


def _start_server(library: Library, port: int, *, locked: bool) -> subprocess.Popen[bytes]:
    environment = {
        **os.environ,
        "RAGKIT_LIBRARY": str(library.paths.root),
        "RAGKIT_COLLECTION": library.settings.collection,
        "RAGKIT_SERVER__LOCKED": str(locked).lower(),
    }
    command = [sys.executable, "-m", "ragkit.surfaces.http.server", str(port)]
    return subprocess.Popen(command, cwd=app_folder(), env=environment, stdout=subprocess.DEVNULL)


def way_in(library: Library, port: int, *, locked: bool) -> tuple[str, str]:
    """Return the address to tell a person, and the one to give to their browser.

    When locked, the first is a one-time link. Every user of a machine sees what programs are
    started with, so a browser is given a private file that leads on to it.

    Raises:
        LibraryError: no link can be made, since the library's folder cannot be written.
    """
    if not locked:
        return f"http://localhost:{port}", f"http://localhost:{port}"
    # By number: another user of the machine could listen where else "localhost" leads.
    secret = Access(library.paths.access).mint()
    link = f"http://{_ADDRESS}:{port}{ENTRANCE}?token={secret}"
    lead = f'<meta http-equiv="refresh" content="0; url={link}">'
    try:
        write_private(library.paths.way_in, f"<!doctype html><title>ragkit</title>{lead}\n")
    except OSError as error:
        raise unwritable(library.paths.way_in, error) from error
    return link, library.paths.way_in.as_uri()


def say_way_in(url: str, *, locked: bool) -> None:
    """Tell the person where ragkit is, or the one-time link to it."""
    console.say(*((_LOCKED, url) if locked else (f"ragkit is at {url}",)))


def open_app(library: Library) -> None:
    """Open the pages of the server that shows this library; when locked, by a new link.

    Raises:
        RagkitError: no server shows it.
    """
    server = Access(library.paths.access).server()
    if server is None:
        raise RagkitError("No server is running for this library.", "Start one with ragkit serve.")
    url, opens = way_in(library, server.port, locked=server.locked)
    say_way_in(url, locked=server.locked)
    if _has_screen():
        webbrowser.open(opens)


def _stop(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(timeout=5)
        except subprocess.TimeoutExpired:
            server.kill()


def _free_port(first: int) -> int:
    for port in range(first, min(first + _PORTS_TO_TRY, 65536)):
        try:
            socket.create_server((_ADDRESS, port)).close()
        except OSError:
            continue
        return port
    raise RagkitError(f"No free port from {first} on.", "Choose another with --port.")


def _open_when_up(url: str, port: int) -> None:
    for _ in range(100):
        try:
            with socket.create_connection((_ADDRESS, port), timeout=1):
                break
        except OSError:
            time.sleep(0.2)
    webbrowser.open(url)


def _has_screen() -> bool:
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
