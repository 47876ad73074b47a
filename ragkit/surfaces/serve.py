"""Run the page server and the worker."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from pathlib import Path
from types import FrameType

from ragkit.errors import LibraryBusyError, RagkitError
from ragkit.library import Library
from ragkit.surfaces.cli import console

_ADDRESS = "127.0.0.1"
_PORTS_TO_TRY = 20


def app_folder() -> Path:
    """Return the folder of ``app.py``: in the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_app", package.parent):
        if (folder / "app.py").is_file():
            return folder
    raise RagkitError("The app's files are missing.", "Install ragkit again.")


def sample_folder() -> Path:
    """Return the folder of the sample documents."""
    return app_folder() / "sample_data" / "library"


def sample_contexts() -> Path:
    """Return the file of the sample documents' recorded contexts."""
    return sample_folder().with_name("contexts.jsonl")


def run_app(library: Library, *, port: int, sample: bool, browser: bool) -> int:
    """Serve the pages on this machine until stopped; return the server's exit code."""
    if sample and not library.sources.list():
        _index_sample(library)
    free = _free_port(port)
    if free != port:
        console.say(f"Port {port} is taken; using {free}.")
    url = f"http://localhost:{free}"
    library.worker.ensure_running()
    folder = app_folder()
    command = [sys.executable, "-m", "streamlit", "run", str(folder / "app.py")]
    environment = {
        **os.environ,
        "RAGKIT_LIBRARY": str(library.paths.root),
        "RAGKIT_COLLECTION": library.settings.collection,
        "STREAMLIT_SERVER_PORT": str(free),
        "STREAMLIT_SERVER_ADDRESS": _ADDRESS,
    }
    server = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    if browser and _has_screen():
        threading.Thread(target=_open_when_up, args=(url, free), daemon=True).start()
    console.say(f"ragkit is at {url} - press Ctrl+C to stop.")
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        return server.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        _stop(server)
        stop_worker(library)


def _index_sample(library: Library) -> None:
    console.say("Indexing the sample library ...")
    source = library.sources.add_folder(sample_folder())
    with console.progress_bar() as watch:
        job = library.jobs.wait(library.sources.sync(source), watch)
        library.jobs.wait(library.contexts.import_file(source.id, sample_contexts()))
    console.say(job.message)


def run_worker(library: Library) -> None:
    """Run the worker until stopped; return at once when there is one already."""
    from ragkit.background.worker import Worker

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("faiss").setLevel(logging.WARNING)
    worker = Worker(library.writer())

    def stop(_signal: int, _frame: FrameType | None) -> None:
        worker.stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    try:
        worker.run()
    except LibraryBusyError as error:
        console.say(str(error))


def stop_worker(library: Library) -> None:
    """Ask the library's worker, if one is running, to finish what it writes and stop."""
    state = library.worker.state()
    if state.running and state.record is not None and state.record.notes.get("role") == "worker":
        try:
            os.kill(state.record.pid, signal.SIGTERM)
        except OSError:
            return


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    """End like Ctrl+C does, so that the pages and the worker stop as well."""
    raise KeyboardInterrupt


def _stop(server: subprocess.Popen[bytes]) -> None:
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(timeout=5)
        except subprocess.TimeoutExpired:
            server.kill()


def _free_port(first: int) -> int:
    for port in range(first, min(first + _PORTS_TO_TRY, 65536)):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((_ADDRESS, port))
            except OSError:
                continue
            return port
    raise RagkitError(f"No free port from {first} on.", "Name another with --port.")


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
