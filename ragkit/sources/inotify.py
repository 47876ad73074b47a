"""What the system can announce and does: inotify's watches, its limits, silent file systems.

Of the folders below a root that inotify has no room for, watchdog says nothing. The kernel does:
``/proc/self/fdinfo`` lists the inode of everything that this process watches.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ragkit.sources.ignore import IGNORE_FILES, Ignores

SILENT_FILE_SYSTEMS = frozenset(
    {
        "9p",
        "afpfs",
        "afs",
        "cifs",
        "davfs",
        "drvfs",
        "fuse.davfs2",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.sshfs",
        "fuse.vmhgfs-fuse",
        "nfs",
        "nfs4",
        "prl_fs",
        "smb3",
        "smbfs",
        "vboxsf",
        "vmhgfs",
        "webdav",
    }
)
"""File systems whose content others change without this machine being told."""

_DESCRIPTORS = Path("/proc/self/fd")
_WATCHED = re.compile(rb"^inotify wd:\S+ ino:([0-9a-f]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many folders there are from a root down, and the inodes of those nobody watches."""

    folders: int
    unwatched: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Limits:
    """The most watches and inotify instances that this person's programs may have."""

    watches: int
    instances: int


def watched_inodes() -> list[int] | None:
    """The inode of each inotify watch of this process; None where the system does not tell."""
    if sys.platform != "linux":
        return None
    inodes: list[int] = []
    try:
        descriptors = list(_DESCRIPTORS.iterdir())
    except OSError:
        return None
    for descriptor in descriptors:
        try:
            if "inotify" not in str(descriptor.readlink()):
                continue
            text = Path("/proc/self/fdinfo", descriptor.name).read_bytes()
        except OSError:
            continue
        inodes.extend(int(inode, 16) for inode in _WATCHED.findall(text))
    return inodes


def folders_below(root: Path, *, gitignore: bool) -> Iterator[int]:
    """The inode of each folder that is not left alone and can be listed, the root's first."""
    waiting = [(root, "", Ignores(gitignore))]
    while waiting:
        folder, relative, outer = waiting.pop()
        try:
            inode = folder.stat().st_ino
            with os.scandir(folder) as listing:
                entries = list(listing)
        except OSError:
            continue
        names = {entry.name for entry in entries if entry.name in IGNORE_FILES and _is_file(entry)}
        rules = outer.inside(folder, relative, names)
        for entry in entries:
            path = f"{relative}/{entry.name}" if relative else entry.name
            if _is_folder(entry) and not rules.excludes(path, is_folder=True):
                waiting.append((folder / entry.name, path, rules))
        yield inode


def coverage(root: Path, *, gitignore: bool) -> Coverage:
    """Compare the folders from a root down with what is watched.

    Where the kernel numbers folders otherwise than ``stat`` does (some stacked file systems), only
    the totals are compared; where nobody can tell, all counts as watched.
    """
    watched = watched_inodes()
    if watched is None:
        return Coverage(0)
    folders = list(folders_below(root, gitignore=gitignore))
    known = set(watched)
    if folders and folders[0] not in known:
        return Coverage(len(folders), frozenset(folders[len(watched) :]))
    return Coverage(len(folders), frozenset(folders) - known)


def read_limits() -> Limits:
    """The limits in force now; a limit that cannot be read counts as none."""
    return Limits(
        _smallest("fs/inotify/max_user_watches", "user/max_inotify_watches"),
        _smallest("fs/inotify/max_user_instances", "user/max_inotify_instances"),
    )


def limit_reached(kind: int, limits: Limits) -> tuple[str, str]:
    """Which limit of the system was met, and how it is raised."""
    if kind == errno.EMFILE:
        why, name, least, now = "watchers", "instances", 1024, limits.instances
    else:
        why, name, least, now = "watched folders", "watches", 524_288, limits.watches
    more = least if now < least else 2 * now
    return (
        f"The system allows no more {why}",
        f"To have it watched: sudo sysctl fs.inotify.max_user_{name}={more}",
    )


def are_raised(before: Limits) -> bool:
    """True when more is allowed now than then."""
    limits = read_limits()
    return limits.watches > before.watches or limits.instances > before.instances


def silent_file_system(folder: Path) -> str:
    """The name of the network or shared file system a folder lies on; empty when it is local."""
    import psutil

    path, best, kind = str(folder), "", ""
    try:
        mounts = psutil.disk_partitions(all=True)
    except OSError:
        return ""
    for mount in mounts:
        point = mount.mountpoint
        inside = path == point or path.startswith(point.rstrip(os.sep) + os.sep)
        if inside and len(point) >= len(best):
            best, kind = point, mount.fstype
    return kind if kind.lower() in SILENT_FILE_SYSTEMS else ""


def identity(folder: Path) -> tuple[int, int] | str:
    """What tells this folder from another at the same path, or why it cannot be looked into."""
    try:
        status = folder.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return not_there(folder)
        return f"The folder {folder} cannot be reached: {error.strerror or error}."
    if not stat.S_ISDIR(status.st_mode):
        return f"{folder} is not a folder."
    if not os.access(folder, os.R_OK):
        return f"The folder {folder} may not be opened. Give yourself the right to read it."
    return status.st_dev, status.st_ino


def not_there(folder: Path) -> str:
    """Say that a folder is missing, and what to do."""
    return f"The folder {folder} is not there. Connect its drive, or put it back."


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_file(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_file(follow_symlinks=False)
    except OSError:
        return False


def _smallest(*names: str) -> int:
    values = []
    for name in names:
        try:
            values.append(int(Path("/proc/sys", name).read_text("ascii")))
        except (OSError, ValueError):
            continue
    return min(values, default=sys.maxsize)
