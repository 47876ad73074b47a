"""Running a real server over a library of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

import psutil
import pytest
from network_watch import strangers, watching
from support import free_port, until

from ragkit.catalog.records import JobState
from ragkit.library import Library
from ragkit.settings import load_settings
from ragkit.types import Status

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Served:
    """A running server. ``folder`` is a watched folder of its library.

    ``watched`` has notes of what its processes ask the network for, ``log`` what it says.
    """

    url: str
    library: Path
    folder: Path
    environment: dict[str, str]
    watched: Path
    log: Path

    def ragkit(self, *arguments: str) -> str:
        """Run the command line on the same library."""
        return run(self.environment, *arguments)

    def opened(self) -> Library:
        """Open the library in this process, which takes less than the command line."""
        return Library.open(load_settings(library=self.library))

    def wait_for_job(self, job: int) -> None:
        """Wait for the worker: this process would have to load what the worker has loaded."""
        with self.opened() as library:
            until(lambda: library.jobs.get(job).state is JobState.DONE, seconds=60.0)

    def wait_until_read(self, *paths: str) -> None:
        """Wait until the worker has read files with these paths."""
        with self.opened() as library:
            read = partial(library.documents.list, status=Status.INDEXED)
            until(lambda: {*paths} <= {document.path for document in read()}, seconds=60.0)


class Shared:
    """A server that one test after the other uses, until one wants a new one.

    ``start`` starts a server with a library of its own.
    """

    def __init__(self, start: Callable[[], AbstractContextManager[Served]]) -> None:
        self._start = start
        self._running = ExitStack()
        self._served: Served | None = None

    def get(self, *, new: bool) -> Served:
        if new:
            self._end()
        if self._served is None:
            self._served = self._running.enter_context(self._start())
        return self._served

    def _end(self) -> None:
        self._served = None
        self._running.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()


def run(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ragkit", *arguments],
        env=environment, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def serving(places: pytest.TempPathFactory, folder: Path, **settings: str) -> Iterator[Served]:
    """Serve a new library of a folder, which its worker reads; ``settings`` are further variables.

    Afterwards, neither the server nor the worker may have asked any other machine for anything.
    """
    home, library = places.mktemp("home"), places.mktemp("library") / "here"
    watched = home / "watched"
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("RAGKIT_", "STREAMLIT_"))}
    given = {
        **kept,
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "RAGKIT_LIBRARY": str(library),
        **settings,
    }
    environment = watching(given, watched)
    with Library.open(load_settings(library=library), create=True) as opened:
        reading = opened.sources.sync(opened.sources.add_folder(folder))
    port = free_port()
    log = (home / "server.log").open("wb")
    server = subprocess.Popen(
        [sys.executable, "-m", "ragkit", "serve", "--no-browser", "--port", str(port)],
        env=environment, cwd=ROOT, stdout=log, stderr=log, start_new_session=True,
    )  # fmt: skip
    try:
        url = f"http://localhost:{port}"
        _wait_for(url, server, home / "server.log")
        served = Served(url, library, folder, environment, watched, home / "server.log")
        served.wait_for_job(reading)
        yield served
    finally:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(timeout=15)
        except subprocess.TimeoutExpired:
            os.killpg(server.pid, signal.SIGKILL)
            server.wait(timeout=5)
        log.close()
        _end_workers(library)
    assert strangers(watched) == []


def _end_workers(library: Path) -> None:
    """End what still works on a library: a server that had to be killed ends no worker."""
    for process in psutil.process_iter():
        try:
            if process.environ().get("RAGKIT_LIBRARY") == str(library):
                process.kill()
        except psutil.Error:
            continue


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(240):
        assert server.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except urllib.error.HTTPError as locked:
            locked.close()
            if locked.code == 401:
                return
        except OSError:
            time.sleep(0.25)
    pytest.fail(f"the server did not start: {log.read_text()}")
