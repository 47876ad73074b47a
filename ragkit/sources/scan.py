"""Walking a folder: every file that should become a document, with its size and time."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragkit.errors import SourceError
from ragkit.sources.ignore import Ignores


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file below a source's root. ``path`` is relative, with forward slashes."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Scan:
    """The result of a walk.

    ``unreadable`` folders could not be listed, or not completely. ``unnameable`` files and
    folders have names that are not valid UTF-8: they are left out, and given here escaped.
    """

    files: dict[str, FoundFile]
    unreadable: tuple[str, ...] = ()
    unnameable: tuple[str, ...] = ()


def scan_folder(root: Path, *, gitignore: bool = True) -> Scan:
    """Walk a folder, links not followed, ignored files and folders left out.

    Raises:
        SourceError: when the folder itself is not there or cannot be read.
    """
    try:
        with os.scandir(root):
            pass
    except OSError as error:
        raise SourceError(
            f"The folder {root} cannot be read: {error.strerror or error}.",
            "Check that it is there and that you may open it.",
        ) from error
    walk = _Walk()
    files = {file.path: file for file in walk.below(root, Ignores(gitignore))}
    return Scan(files, tuple(sorted(walk.unreadable)), tuple(sorted(walk.unnameable)))


def scan_paths(root: Path, paths: Sequence[str], *, gitignore: bool = True) -> Scan:
    """Scan some files and folders of a source only; those that are gone are not in the result.

    Left out is what a whole scan leaves out: ignored, linked, or below such a folder.
    """
    walk = _Walk()
    files: dict[str, FoundFile] = {}
    for path in sorted(set(paths)):
        rules = _rules_above(root, path, Ignores(gitignore))
        if rules is None:
            continue
        try:
            status = (root / path).lstat()
        except OSError:
            continue
        if stat.S_ISDIR(status.st_mode) and not rules.excludes(path, is_folder=True):
            files.update((file.path, file) for file in walk.below(root, rules, path))
        elif stat.S_ISREG(status.st_mode) and not rules.excludes(path, is_folder=False):
            files[path] = FoundFile(path, status.st_size, status.st_mtime_ns)
    return Scan(files, tuple(sorted(walk.unreadable)), tuple(sorted(walk.unnameable)))


def _rules_above(root: Path, path: str, ignores: Ignores) -> Ignores | None:
    """Return the rules for a path from the folders above it; ``None`` if one of them is ignored."""
    rules, relative = ignores, ""
    for part in ["", *path.split("/")[:-1]]:
        if part:
            relative = f"{relative}/{part}" if relative else part
            if rules.excludes(relative, is_folder=True):
                return None
        folder = root / relative
        try:
            if relative and not stat.S_ISDIR(folder.lstat().st_mode):
                return None
        except OSError:
            return None
        rules = rules.inside(folder, relative)
    return rules


class _Walk:
    """A walk through one folder, and what it could not read."""

    def __init__(self) -> None:
        self.unreadable: set[str] = set()
        self.unnameable: set[str] = set()

    def below(self, root: Path, ignores: Ignores, top: str = "") -> Iterator[FoundFile]:
        """Yield every file of the folder ``top`` that is not ignored, folder by folder."""
        waiting = [(root / top, top, ignores)]
        while waiting:
            folder, relative, outer = waiting.pop()
            try:
                with os.scandir(folder) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
                rules = outer.inside(folder, relative, {entry.name for entry in entries})
            except OSError:
                self.unreadable.add(relative)
                continue
            for entry in entries:
                path = f"{relative}/{entry.name}" if relative else entry.name
                try:
                    if self._is_folder(entry, path, rules):
                        waiting.append((Path(entry.path), path, rules))
                    elif self._is_file(entry, path, rules):
                        status = entry.stat(follow_symlinks=False)
                        yield FoundFile(path, status.st_size, status.st_mtime_ns)
                except FileNotFoundError:
                    continue
                except OSError:
                    self.unreadable.add(relative)

    def _is_folder(self, entry: os.DirEntry[str], path: str, rules: Ignores) -> bool:
        if not entry.is_dir(follow_symlinks=False) or rules.excludes(path, is_folder=True):
            return False
        return self._nameable(path)

    def _is_file(self, entry: os.DirEntry[str], path: str, rules: Ignores) -> bool:
        if not entry.is_file(follow_symlinks=False) or rules.excludes(path, is_folder=False):
            return False
        return self._nameable(path)

    def _nameable(self, path: str) -> bool:
        try:
            path.encode()
        except UnicodeEncodeError:
            self.unnameable.add(os.fsencode(path).decode("utf-8", "backslashreplace"))
            return False
        return True


@dataclass(frozen=True, slots=True)
class Changes:
    """The difference between a scan and the known files: paths, each list sorted."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    unchanged: int

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to do."""
        return not (self.new or self.changed or self.gone)


def find_changes(
    scan: Scan, known: Mapping[str, tuple[int, int]], *, stale: frozenset[str] = frozenset()
) -> Changes:
    """Compare a scan with the known (size, mtime_ns) of each path.

    ``stale`` paths count as changed whatever their size and time. Files in a folder
    that could not be read are neither gone nor changed.
    """
    new, changed, unchanged = [], [], 0
    for path, file in scan.files.items():
        before = known.get(path)
        if before is None:
            new.append(path)
        elif before != (file.size, file.mtime_ns) or path in stale:
            changed.append(path)
        else:
            unchanged += 1
    hidden = tuple(f"{folder}/" if folder else "" for folder in scan.unreadable)
    gone = [path for path in known if path not in scan.files and not path.startswith(hidden)]
    return Changes(tuple(sorted(new)), tuple(sorted(changed)), tuple(sorted(gone)), unchanged)
