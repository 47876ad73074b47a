"""What the system watches and can watch: inotify's watches and limits, silent file systems.

watchdog does not report folders for which inotify had no room. The kernel does:
``/proc/self/fdinfo`` lists the inode of everything that this process watches.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

from ragkit.sources.scan import Ignores, Walk

SILENT_FILE_SYSTEMS = frozenset((
    "9p", "afpfs", "afs", "cifs", "davfs", "drvfs", "fakeowner", "fuse.davfs2", "fuse.grpcfuse",
    "fuse.osxfs", "fuse.rclone", "fuse.s3fs", "fuse.sshfs", "fuse.vmhgfs-fuse", "nfs", "nfs4",
    "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs", "webdav",
))  # fmt: skip
"""File systems that others may change without notifying this machine.

Among them are those that show a container on macOS or Windows the folders of its host.
"""

_DESCRIPTORS = Path("/proc/self/fd")
_WATCHED = re.compile(rb"^inotify wd:\S+ ino:([0-9a-f]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Coverage:
    """The number of folders at and below a root, and the inodes of those not watched."""

    folders: int
    unwatched: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class WatchLimits:
    """The maximum of watches and of inotify instances for this user's programs."""

    watches: int
    instances: int

    def exceed(self, before: WatchLimits) -> bool:
        """Return whether these limits allow more than earlier ones."""
        return self.watches > before.watches or self.instances > before.instances


def watched_inodes() -> list[int] | None:
    """Return the inode of each inotify watch of this process; ``None`` on other systems."""
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


def coverage(root: Path, *, gitignore: bool) -> Coverage:
    """Compare the folders at and below a root with those watched.

    If the kernel's inodes differ from those of ``stat``, as on some stacked file systems, only the
    numbers are compared. If the watches cannot be read, every folder counts as watched.
    """
    watched = watched_inodes()
    if watched is None:
        return Coverage(0)
    folders = [folder.inode for folder in Walk().folders(root, Ignores(gitignore))]
    inodes = set(watched)
    if folders and folders[0] not in inodes:
        return Coverage(len(folders), frozenset(folders[len(watched) :]))
    return Coverage(len(folders), frozenset(folders) - inodes)


def read_limits() -> WatchLimits:
    """Return the current limits; a limit that cannot be read counts as infinite."""
    return WatchLimits(
        _smallest("fs/inotify/max_user_watches", "user/max_inotify_watches"),
        _smallest("fs/inotify/max_user_instances", "user/max_inotify_instances"),
    )


def limit_reached(kind: int, limits: WatchLimits) -> tuple[str, str]:
    """Return the reason and the cure after reaching a limit (``kind``: an ``errno``)."""
    if kind == errno.EMFILE:
        why, name, least, now = "watchers", "instances", 1024, limits.instances
    else:
        why, name, least, now = "watched folders", "watches", 524_288, limits.watches
    more = least if now < least else 2 * now
    return (
        f"The system allows no more {why}",
        f"To have it watched: sudo sysctl fs.inotify.max_user_{name}={more}",
    )


def silent_file_system(folder: Path) -> str:
    """Return the type of the silent file system of a folder, or ``""``."""
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
    """Return (device, inode) of a folder, or a sentence on why it cannot be read."""
    try:
        status = folder.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return not_there(folder)
        return f"The folder {folder} cannot be reached: {error.strerror or error}."
    if not stat.S_ISDIR(status.st_mode):
        return f"{folder} is not a folder."
    if not os.access(folder, os.R_OK):
        return f"You have no permission to open the folder {folder}. Change its permissions."
    return status.st_dev, status.st_ino


def not_there(folder: Path) -> str:
    """Return the sentences on a missing folder."""
    return f"The folder {folder} is not there. Connect its drive, or put it back."


def _smallest(*names: str) -> int:
    values = []
    for name in names:
        try:
            values.append(int(Path("/proc/sys", name).read_text("ascii")))
        except (OSError, ValueError):
            continue
    return min(values, default=sys.maxsize)
