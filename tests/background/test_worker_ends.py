"""A worker ends when its library is taken away, and with the process that it is to end with."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from support import until

from ragkit.background.parent import ENDS_WITH, follow_parent
from ragkit.indexing.writer import lock_is_held


def start(place, **more):
    environment = {
        **os.environ,
        "RAGKIT_LIBRARY": str(place),
        "RAGKIT_MODELS__EMBEDDER": "hash",
        "RAGKIT_MODELS__CONTEXTS": "false",
        **more,
    }
    worker = subprocess.Popen(
        [sys.executable, "-m", "ragkit", "worker"], env=environment, stderr=subprocess.PIPE
    )
    until(lambda: lock_is_held(place / "writer.lock") or worker.poll() is not None, 30.0)
    return worker


def end_of(worker):
    """Wait for a worker to end by itself; what it said."""
    try:
        return worker.communicate(timeout=20)[1].decode()
    finally:
        worker.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be deleted there")
@pytest.mark.parametrize("how", ["deleted", "moved", "replaced"])
def test_a_worker_whose_library_is_gone_ends_by_itself(place, how):
    worker = start(place)
    time.sleep(1)
    if how == "deleted":
        # The worker may be writing into it, or taking a file away, while it goes.
        until(lambda: shutil.rmtree(place, ignore_errors=True) or not place.exists(), 10.0)
    else:
        # What the worker puts in place by a name of its own may go meanwhile.
        passing = shutil.ignore_patterns(".library.json.*")
        shutil.copytree(place, place.with_name("copy"), ignore=passing)
        place.rename(place.with_name("elsewhere"))
        if how == "replaced":
            place.with_name("copy").rename(place)
    said = end_of(worker)
    assert worker.returncode == 3
    assert said.startswith("ragkit: ")
    assert "Traceback" not in said


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_a_worker_ends_with_its_serve_that_was_killed(place):
    serve = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
    worker = start(place, **{ENDS_WITH: str(serve.pid)})
    assert worker.poll() is None
    # Nobody collects it: to the system it is still there, as a zombie.
    serve.send_signal(signal.SIGKILL)
    assert end_of(worker) == ""
    assert worker.returncode == 0
    serve.wait()


def test_nobody_to_end_with_is_no_reason_to_end(monkeypatch):
    stopped = []
    monkeypatch.delenv(ENDS_WITH, raising=False)
    follow_parent(lambda: stopped.append("without"))
    monkeypatch.setenv(ENDS_WITH, "999999999")
    follow_parent(lambda: stopped.append("gone before it was looked for"))
    assert stopped == ["gone before it was looked for"]
