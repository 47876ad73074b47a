"""What inotify can watch, and what the watcher says of folders that it cannot."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragkit.sources import inotify

pytestmark = pytest.mark.usefixtures("quick_checks")

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is watched")


@linux
def test_what_is_watched_is_counted(watcher, root):
    for number in range(10):
        (root / "a" / str(number)).mkdir(parents=True)
    (root / ".git" / "objects").mkdir(parents=True)
    assert inotify.coverage(root, gitignore=True).folders == 12
    assert len(inotify.coverage(root, gitignore=True).unwatched) == 12
    watcher.watch({1: root})
    assert inotify.coverage(root, gitignore=True) == inotify.Coverage(12)


def test_silent_file_systems_are_known_by_their_mount(monkeypatch):
    import psutil

    mounts = [
        SimpleNamespace(mountpoint="/", fstype="ext4"),
        SimpleNamespace(mountpoint="/mnt/share", fstype="nfs4"),
        SimpleNamespace(mountpoint="/mnt/share/local", fstype="xfs"),
        # How Docker Desktop shows a container a folder of macOS or Windows.
        SimpleNamespace(mountpoint="/documents", fstype="fakeowner"),
        SimpleNamespace(mountpoint="/other", fstype="virtiofs"),
    ]
    monkeypatch.setattr(psutil, "disk_partitions", lambda **_: mounts)
    found = [
        inotify.silent_file_system(Path(path))
        for path in ("/", "/mnt/share", "/mnt/share/a", "/mnt/shared", "/mnt/share/local/a",
                     "/documents/a", "/other")
    ]  # fmt: skip
    assert found == ["", "nfs4", "nfs4", "", "", "fakeowner", "virtiofs"]
