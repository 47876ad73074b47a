"""A watcher over a folder of its own, with checks that come quickly."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragkit.sources import watch
from ragkit.sources.watch import FolderWatcher

QUIET = 0.06


@pytest.fixture
def quick_checks(monkeypatch):
    monkeypatch.setattr(watch, "CHECK_SECONDS", 0.1)
    # How long a comparison takes says how busy the machine is.
    for share in ("_POLL_SHARE", "_ALL_SHARE"):
        monkeypatch.setattr(watch, share, 0)
    if sys.platform == "linux":
        from watchdog.observers.inotify_move_event_grouper import InotifyMoveEventGrouper

        monkeypatch.setattr(InotifyMoveEventGrouper, "delay", 0.08)


@pytest.fixture
def root(tmp_path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


@pytest.fixture
def watcher(quick_checks) -> Iterator[FolderWatcher]:
    with FolderWatcher(QUIET) as opened:
        yield opened
