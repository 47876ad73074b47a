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
def test_worker_and_page_server_end_when_their_serve_was_killed(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    serve = subprocess.Popen(
        [sys.executable, "-m", "ragkit", "serve", "--no-browser", "--port", str(port),
         "--library", str(tmp_path / "library")],
        env={**os.environ, "RAGKIT_MODELS__EMBEDDER": "hash", "RAGKIT_MODELS__CONTEXTS": "false"},
        stderr=subprocess.DEVNULL,
    )  # fmt: skip

    def answers():
        with socket.socket() as asking:
            return asking.connect_ex(("127.0.0.1", port)) == 0

    started = []
    try:
        until(answers, 60.0)
        started = psutil.Process(serve.pid).children()
        assert len(started) == 2
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
