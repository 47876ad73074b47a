"""The worker that a library starts: one at a time, and another when it has ended."""

from __future__ import annotations

import os

import psutil
import pytest
from small_library import open_library
from support import until

from ragkit.background.parent import ENDS_WITH


def workers():
    return [one for one in psutil.Process().children() if "worker" in one.cmdline()]


# The worker outlives the library that started it, which is intended.
@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_no_second_worker_is_started_while_the_first_is_on_its_way(tmp_path, monkeypatch):
    monkeypatch.setenv(ENDS_WITH, str(os.getpid()))
    with open_library(tmp_path) as library:
        try:
            assert library.worker.ensure_running()
            assert not library.worker.ensure_running()
            (first,) = workers()
            until(lambda: library.worker.state().running, 30.0)
            assert not library.worker.ensure_running()

            first.kill()
            until(lambda: not library.worker.state().running, 30.0)
            assert library.worker.ensure_running()
            (second,) = workers()
            assert second.pid != first.pid
        finally:
            for worker in workers():
                worker.kill()
                worker.wait()
