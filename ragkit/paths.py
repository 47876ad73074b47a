"""Every path inside a library, named once."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ragkit.errors import LibraryError

FORMAT_VERSION = 1
"""Bump when the layout of a library changes in a way that older code cannot read."""

_OTHERS = 0o077


class _Below:
    """An attribute of ``LibraryPaths``: a fixed name below the root."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, paths: LibraryPaths, _owner: type) -> Path:
        return paths.root / self.name


@dataclass(frozen=True, slots=True)
class LibraryPaths:
    """The files of one library, below ``root``.

    ``machine`` is this machine's id if the catalog lies on a server, or else empty.
    """

    root: Path
    machine: str = ""

    catalog = _Below("catalog.sqlite")
    """The SQLite database: the only truth."""
    marker = _Below("library.json")
    """What the library held when it was last written."""
    server = _Below("server.json")
    """Which library on a server this folder belongs to, and this machine's id in it."""
    backups = _Below("backups")
    """Copies of the catalog that the worker keeps."""
    lock = _Below("writer.lock")
    """Held by the one process that writes."""
    uploads = _Below("uploads")
    """Uploaded files, one folder a collection."""
    indexes = _Below("indexes")
    """Generations of the indexes; caches, safe to delete."""
    ocr = _Below("ocr")
    """The recognised text of scanned pages; a cache, safe to delete."""
    logs = _Below("logs")
    """Logs of the worker and of searches."""
    temporary = _Below("tmp")
    """Unfinished uploads and scratch files; emptied by the writer."""
    access = _Below("access.json")
    """Hashes of the links and sessions that open the pages, and which server shows them."""
    token = _Below("token")
    """What a program must send to use the library over HTTP."""
    searches = _Below("searches.json")
    """The pinned searches."""
    search_log = _Below("searches")
    """The log of searches, a few files a day."""
    way_in = _Below("open.html")
    """A page that leads a browser to a one-time link."""

    def collection_uploads(self, collection_id: int) -> Path:
        """Return the folder of one collection's uploads."""
        # On a server, a source is identified by its folder, so machines need different ones.
        return self.uploads / f"{collection_id}{self.machine and '-'}{self.machine[:12]}"

    def collection_indexes(self, collection_id: int) -> Path:
        """Return the folder of one collection's index generations."""
        return self.indexes / str(collection_id)

    def index(self, collection_id: int, level: str, fingerprint: str) -> Path:
        """Return the folder of an index's generations for one embedder."""
        plain = re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", fingerprint)
        name = fingerprint if plain else hashlib.blake2b(fingerprint.encode()).hexdigest()[:32]
        return self.collection_indexes(collection_id) / level / name

    def create(self) -> None:
        """Create the directories that are missing, private to this user.

        Raises:
            LibraryError: when that is not possible.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
            for folder in (self.uploads, self.indexes, self.logs, self.temporary):
                folder.mkdir(exist_ok=True, mode=0o700)
        except OSError as error:
            raise LibraryError(
                f"The library folder {self.root} cannot be created: {error.strerror or error}.",
                "Check the folder's permissions and the free disk space.",
            ) from error

    def open_to_others(self) -> list[Path]:
        """Return the paths that other users can open; none if they cannot open the root."""
        return self._loose() if _mode(self.root.resolve()) & _OTHERS else []

    def make_private(self) -> int:
        """Close the library to other users; return how many files and folders they could open."""
        if not (_mode(self.root.resolve()) | _mode(self.catalog)) & _OTHERS:
            return 0
        count = len(self.open_to_others())
        for path in self._loose():
            with suppress(OSError):
                _take_from_others(path)
        return count

    def _loose(self) -> list[Path]:
        """Return the library's files and folders that give others any permission, except links."""
        if os.name == "nt":
            return []
        named = [part for part in vars(type(self)).values() if isinstance(part, _Below)]
        own = {self.lock.with_suffix(".json"), *(self.root / part.name for part in named)}
        own |= set(self.root.glob(f"{self.catalog.name}*"))
        paths = [self.root.resolve()] if self._is_its_own() else []
        for path in sorted(own):
            paths.append(path)
            if not path.is_symlink():
                for folder, folders, files in os.walk(path):
                    paths += [Path(folder, name) for name in (*folders, *files)]
        return [path for path in paths if _mode(path) & _OTHERS]

    def _is_its_own(self) -> bool:
        """Return whether the root belongs to the library alone, unlike /tmp or a home."""
        status = self.root.stat()
        shared = status.st_mode & stat.S_ISVTX or status.st_uid != os.getuid()
        return not shared and not Path.home().is_relative_to(self.root.resolve())


def write_private(file: Path, text: str) -> None:
    """Write a file atomically and durably, readable by its owner only.

    Raises:
        OSError: it cannot be written; an existing file is left as it was.
    """
    partial = file.with_name(f".{file.name}.{uuid.uuid4().hex}")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(file)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)


def _mode(path: Path) -> int:
    """Return a file's permission bits; 0 for a link or a missing file."""
    try:
        status = path.lstat()
    except OSError:
        return 0
    return 0 if stat.S_ISLNK(status.st_mode) else stat.S_IMODE(status.st_mode)


def _take_from_others(path: Path) -> None:
    """Remove all permissions of others from a file or folder; a link is left alone.

    The file is not opened for reading: closing that descriptor would drop the locks that SQLite
    holds in this process.
    """
    if not hasattr(os, "O_PATH"):
        if not path.is_symlink():
            path.chmod(_mode(path) & 0o700)
        return
    # By descriptor, so that no link can be put in its place meanwhile.
    descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISLNK(mode):
            Path(f"/proc/self/fd/{descriptor}").chmod(stat.S_IMODE(mode) & 0o700)
    finally:
        os.close(descriptor)
