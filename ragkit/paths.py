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


@dataclass(frozen=True, slots=True)
class LibraryPaths:
    """The files of one library, below ``root``.

    ``machine`` is the id of the folder's machine where the catalog lies on a server; else empty.
    """

    root: Path
    machine: str = ""

    @property
    def catalog(self) -> Path:
        """The SQLite database: the only truth."""
        return self.root / "catalog.sqlite"

    @property
    def marker(self) -> Path:
        """What the library held when it was last written."""
        return self.root / "library.json"

    @property
    def server(self) -> Path:
        """Of a library on a server: which library this folder serves, and as which machine."""
        return self.root / "server.json"

    @property
    def backups(self) -> Path:
        """Copies of the catalog that the worker keeps."""
        return self.root / "backups"

    @property
    def lock(self) -> Path:
        """Held by the one process that writes."""
        return self.root / "writer.lock"

    @property
    def uploads(self) -> Path:
        """Files that people dropped in, one folder a collection."""
        return self.root / "uploads"

    @property
    def indexes(self) -> Path:
        """Generations of the indexes; caches, safe to delete."""
        return self.root / "indexes"

    @property
    def logs(self) -> Path:
        """Logs of the worker and of searches."""
        return self.root / "logs"

    @property
    def temporary(self) -> Path:
        """Half-written uploads and scratch files; emptied by the writer."""
        return self.root / "tmp"

    @property
    def access(self) -> Path:
        """Who is let into the pages, by hashes, and which server shows them."""
        return self.root / "access.json"

    @property
    def token(self) -> Path:
        """What a program must show to use the library over HTTP."""
        return self.root / "token"

    @property
    def searches(self) -> Path:
        """The pinned searches of the person whose library it is."""
        return self.root / "searches.json"

    @property
    def search_log(self) -> Path:
        """The log of that person's searches, a few files a day."""
        return self.root / "searches"

    @property
    def way_in(self) -> Path:
        """A page that leads a browser to a one-time link."""
        return self.root / "open.html"

    def collection_uploads(self, collection_id: int) -> Path:
        """Return the folder of one collection's uploads."""
        # On a server, a source is known by its folder: no two machines may have the same.
        return self.uploads / f"{collection_id}{self.machine and '-'}{self.machine[:12]}"

    def collection_indexes(self, collection_id: int) -> Path:
        """Return the folder of one collection's index generations."""
        return self.indexes / str(collection_id)

    def index(self, collection_id: int, level: str, fingerprint: str) -> Path:
        """Return the folder of one index's generations, with the vectors of that embedder."""
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
        """Return the paths that other users of the machine can open; none if the root is closed."""
        return self._loose() if _mode(self.root.resolve()) & _OTHERS else []

    def make_private(self) -> int:
        """Close the library to other users; returns how many files and folders they could open."""
        if not (_mode(self.root.resolve()) | _mode(self.catalog)) & _OTHERS:
            return 0
        count = len(self.open_to_others())
        for path in self._loose():
            with suppress(OSError):
                _take_from_others(path)
        return count

    def _loose(self) -> list[Path]:
        """Return the library's files and folders with rights for others; links have none."""
        if os.name == "nt":
            return []
        own = {self.lock.with_suffix(".json")}
        own |= {
            getattr(self, name) for name, it in vars(type(self)).items() if type(it) is property
        }
        own |= set(self.root.glob(f"{self.catalog.name}*"))
        paths = [self.root.resolve()] if self._is_its_own() else []
        for path in sorted(own):
            paths.append(path)
            if not path.is_symlink():
                for folder, folders, files in os.walk(path):
                    paths += [Path(folder, name) for name in (*folders, *files)]
        return [path for path in paths if _mode(path) & _OTHERS]

    def _is_its_own(self) -> bool:
        """Return whether the root is the library's alone, and not a folder like /tmp or a home."""
        status = self.root.stat()
        shared = status.st_mode & stat.S_ISVTX or status.st_uid != os.getuid()
        return not shared and not Path.home().is_relative_to(self.root.resolve())


def write_private(file: Path, text: str) -> None:
    """Write a file that only its owner can read, in one step, once it is on the disk.

    Raises:
        OSError: it cannot be written; the file that was there stays.
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
    """Return a file's permissions; none where it is a link or not there."""
    try:
        status = path.lstat()
    except OSError:
        return 0
    return 0 if stat.S_ISLNK(status.st_mode) else stat.S_IMODE(status.st_mode)


def _take_from_others(path: Path) -> None:
    """Take the rights of others from a file or folder; a link is left alone.

    The file is not opened for reading: closing a descriptor of it would drop the locks that SQLite
    holds for this process, and another could cut off what is mapped here.
    """
    if not hasattr(os, "O_PATH"):
        if not path.is_symlink():
            path.chmod(_mode(path) & 0o700)
        return
    # By its descriptor, so that no link can take its place meanwhile.
    descriptor = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISLNK(mode):
            Path(f"/proc/self/fd/{descriptor}").chmod(stat.S_IMODE(mode) & 0o700)
    finally:
        os.close(descriptor)
