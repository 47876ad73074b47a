"""The worker of ``ragkit serve`` beside that of a service: one works, the other takes over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest
from small_library import open_library
from support import until

from ragkit.background.worker import Worker
from ragkit.errors import LibraryError
from ragkit.indexing.writer import lock_holder, lock_is_held, writer_lock
from ragkit.surfaces import worker

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")

# What serve does beside its pages.
_SERVE = """
import sys
from ragkit.library import Library
from ragkit.settings import load_settings
from ragkit.surfaces.worker import keep_worker
with Library.open(load_settings(), create=True) as library, keep_worker(library):
    sys.stdin.readline()
"""


@pytest.fixture
def place(tmp_path):
    return tmp_path / "library"


@pytest.fixture
def start(place, tmp_path):
    """Start Python with arguments; what still runs in the end is killed.

    It is started in a folder with a file that is called like a module, as a home may be.
    """
    (tmp_path / "json.py").write_text("raise SystemExit('a file of somebody')")
    environment = {
        **os.environ,
        "RAGKIT_LIBRARY": str(place),
        "RAGKIT_MODELS__EMBEDDER": "hash",
        "RAGKIT_MODELS__CONTEXTS": "false",
    }
    started = []

    def run(*arguments):
        started.append(
            subprocess.Popen(
                [sys.executable, "-P", *arguments],
                env=environment,
                cwd=tmp_path,
                stdin=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        )
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate()
    # A worker of serve's ends a moment after it.
    until(lambda: not lock_is_held(place / "writer.lock"), 30.0)


@pytest.fixture
def serve(start):
    return lambda: start("-c", _SERVE)


@pytest.fixture
def service(start):
    return lambda: start("-m", "ragkit", "worker", "--wait")


@pytest.fixture
def writer(place):
    """Return the number of the process that writes, once there is one, and not ``other``."""
    lock = place / "writer.lock"

    def find(other=None):
        def look():
            holder = lock_holder(lock) if lock_is_held(lock) else None
            return holder.pid if holder and holder.pid != other else None

        return until(look, 30.0)

    return find


def test_serve_and_a_service_use_and_leave_alone_and_replace_one_another(serve, service, writer):
    other = service()
    assert writer() == other.pid
    # Serve uses the worker of the service, and leaves it alone when it stops.
    serving = serve()
    time.sleep(1.5)
    assert psutil.Process(serving.pid).children() == []
    serving.communicate(b"\n", timeout=30)
    assert serving.returncode == 0
    with pytest.raises(subprocess.TimeoutExpired):
        other.wait(1)
    assert writer() == other.pid
    # When it is killed, serve begins one of its own.
    serving = serve()
    time.sleep(1)
    other.kill()
    other.wait()
    own = writer(other.pid)
    assert psutil.Process(own).ppid() == serving.pid
    # A service that starts now waits. Serve stops, and its own worker in good order before it.
    other = service()
    serving.communicate(b"\n", timeout=30)
    assert not psutil.pid_exists(own)
    assert writer(own) == other.pid
    other.send_signal(signal.SIGTERM)
    assert other.wait(30) == 0


@pytest.mark.parametrize("how", ["stopped", "taken away"])
def test_one_that_waits_ends_when_it_is_stopped_and_with_its_library(tmp_path, how):
    library = open_library(tmp_path / "library")
    worker, raised = Worker(library.writer()), []

    def run():
        try:
            worker.run(wait=True)
        except LibraryError as error:
            raised.append(str(error))

    waiting = threading.Thread(target=run)
    with writer_lock(library.paths.lock, "test"):
        waiting.start()
        waiting.join(1.5)
        assert waiting.is_alive()
        if how == "stopped":
            worker.stopping.set()
        else:
            library.paths.catalog.rename(tmp_path / "elsewhere.sqlite")
        waiting.join(30)
        assert not waiting.is_alive()
        assert lock_holder(library.paths.lock).role == "test"
    library.close()
    assert len(raised) == (how == "taken away")


# A worker that hears no signal, as in native code, with a child that hears none either.
_DEAF = """
import signal, subprocess, sys, time
from pathlib import Path
from ragkit.indexing.writer import writer_lock
signal.signal(signal.SIGTERM, signal.SIG_IGN)
deaf = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(100)"
subprocess.Popen([sys.executable, "-c", deaf], start_new_session=True)
with writer_lock(Path(sys.argv[1]), "worker", ends_with=int(sys.argv[2])):
    time.sleep(100)
"""


def test_a_worker_that_hears_no_signal_is_killed_with_what_it_started(start, tmp_path, monkeypatch):
    monkeypatch.setattr(worker, "_FAREWELL_SECONDS", 0.5)
    with open_library(tmp_path) as library:
        deaf = start("-c", _DEAF, str(library.paths.lock), str(os.getpid()))
        until(lambda: lock_holder(library.paths.lock) and lock_is_held(library.paths.lock), 30.0)
        started = until(psutil.Process(deaf.pid).children, 10.0)
        worker._stop_own_worker(library)
        deaf.wait(1)
        assert psutil.wait_procs(started, timeout=1)[1] == []
