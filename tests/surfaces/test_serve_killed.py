"""``ragkit serve`` killed at once: what it started ends as well."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import psutil
import pytest
from support import until


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_worker_page_server_and_readers_end_when_their_serve_was_killed(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    serve = subprocess.Popen(
        [sys.executable, "-m", "ragkit", "serve", "--no-browser", "--port", str(port),
         "--readers", "2", "--library", str(tmp_path / "library")],
        env={**os.environ, "RAGKIT_MODELS__EMBEDDER": "hash", "RAGKIT_MODELS__CONTEXTS": "false"},
        stderr=subprocess.DEVNULL,
    )  # fmt: skip

    def answers():
        with socket.socket() as asking:
            return asking.connect_ex(("127.0.0.1", port)) == 0

    def readers():
        below = psutil.Process(serve.pid).children(recursive=True)
        found = [one for one in below if "ragkit.library.search_child" in one.cmdline()]
        return found if len(found) == 2 else None

    started = []
    try:
        until(answers, 60.0)
        started = psutil.Process(serve.pid).children()
        assert len(started) == 2
        started += until(readers, 60.0)
        # Nobody collects it yet: to the system it is still there, as a zombie.
        serve.kill()
        _gone, alive = psutil.wait_procs(started, timeout=30)
        assert alive == []
    finally:
        serve.kill()
        serve.wait()
        for process in started:
            if process.is_running():
                process.kill()
