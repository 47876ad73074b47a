"""Walks a folder for files that should become documents, and finds changes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragkit.errors import SourceError
from ragkit.sources.ignore_patterns import ignore_patterns
from ragkit.sources.opening import Step, open_regular
from ragkit.sources.pending import FOLDER, signature_of
from ragkit.types import FileState

_LARGEST_SIZE = 2**63 - 1
_FURTHEST_NS = (2**63 - 1) // 10**9 * 10**9
"""The largest values that the catalog can store; times reach from 1677 to 2262."""


@dataclass(frozen=True, slots=True)
class Scan:
    """The result of a walk.

    ``unreadable`` folders could not be listed completely. ``unnameable`` files and folders, whose
    names are not valid UTF-8, are left out; their names are escaped here.
    """

    files: dict[str, FileState]
    unreadable: tuple[str, ...] = ()
    unnameable: tuple[str, ...] = ()


def file_state(path: str, status: os.stat_result, device: int) -> FileState:
    """Return a file's state for comparison; ``device`` is that of its folder.

    A size or time that cannot be stored is replaced by the nearest that can.
    """
    mtime_ns = max(-_FURTHEST_NS, min(status.st_mtime_ns, _FURTHEST_NS))
    # On Windows a listing gives no inode, and ctime is the time of creation.
    stamp = "" if os.name == "nt" else f"{device}:{status.st_ino}:{status.st_ctime_ns}"
    return FileState(path, min(status.st_size, _LARGEST_SIZE), mtime_ns, stamp)


def scan_folder(root: Path, *, gitignore: bool = True, step: Step = lambda: None) -> Scan:
    """Walk a folder without following links, and without ignored files and folders.

    ``step`` is called for each folder.

    Raises:
        SourceError: the folder itself is missing or cannot be read.
    """
    try:
        with os.scandir(root):
            pass
    except FileNotFoundError as error:
        raise SourceError(
            f"The folder {root} is not there.", "Connect its drive, or put it back."
        ) from error
    except OSError as error:
        raise SourceError(
            f"The folder {root} cannot be read: {error.strerror or error}.",
            "Check that you may open it.",
        ) from error
    walk = Walk(step)
    files = {file.path: file for file in walk.files(root, Ignores(gitignore))}
    return Scan(files, tuple(sorted(walk.unreadable)), tuple(sorted(walk.unnameable)))


def scan_paths(root: Path, paths: Sequence[str], *, gitignore: bool, step: Step) -> Scan:
    """Scan only some files and folders of a source; missing ones are not in the result.

    Everything that a whole scan leaves out is left out here, too: what is ignored or a link, and
    what is below such a folder.
    """
    walk, rules_of = Walk(step), FolderRules(root, gitignore=gitignore)
    files: dict[str, FileState] = {}
    for path in sorted(set(paths)):
        step()
        rules = rules_of.inside(path.rpartition("/")[0])
        if rules is None:
            continue
        try:
            status = (root / path).lstat()
            device = (root / path).parent.stat().st_dev
        except OSError:
            continue
        if stat.S_ISDIR(status.st_mode) and not rules.excludes(path, is_folder=True):
            files.update((file.path, file) for file in walk.files(root, rules, path))
        elif stat.S_ISREG(status.st_mode) and not rules.excludes(path, is_folder=False):
            files[path] = file_state(path, status, device)
    return Scan(files, tuple(sorted(walk.unreadable)), tuple(sorted(walk.unnameable)))


@dataclass(frozen=True, slots=True)
class Listing:
    """A folder: its path in the source, its device and inode, and all in it but its folders."""

    path: str
    device: int
    inode: int
    rules: Ignores
    entries: Sequence[os.DirEntry[str]]


class Walk:
    """A walk through one folder, and what it could not read."""

    def __init__(self, step: Step = lambda: None) -> None:
        self._step = step
        self.unreadable: set[str] = set()
        self.unnameable: set[str] = set()

    def files(self, root: Path, ignores: Ignores, top: str = "") -> Iterator[FileState]:
        """Yield every file of the folder ``top`` that is not ignored, folder by folder."""
        for folder in self.folders(root, ignores, top):
            for entry in folder.entries:
                path = f"{folder.path}/{entry.name}" if folder.path else entry.name
                try:
                    if not entry.is_file(follow_symlinks=False):
                        continue
                    if folder.rules.excludes(path, is_folder=False) or not self._nameable(path):
                        continue
                    yield file_state(path, entry.stat(follow_symlinks=False), folder.device)
                except FileNotFoundError:
                    continue
                except OSError:
                    self.unreadable.add(folder.path)

    def folders(self, root: Path, ignores: Ignores, top: str = "") -> Iterator[Listing]:
        """Yield the folder ``top`` and every one below it that is not ignored."""
        waiting = [(root / top, top, ignores)]
        while waiting:
            folder, relative, outer = waiting.pop()
            self._step()
            try:
                status = folder.stat()
                with os.scandir(folder) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
                rules = outer.inside(folder, relative, {entry.name for entry in entries})
            except OSError:
                self.unreadable.add(relative)
                continue
            others = []
            for entry in entries:
                path = f"{relative}/{entry.name}" if relative else entry.name
                try:
                    if not entry.is_dir(follow_symlinks=False):
                        others.append(entry)
                    elif not rules.excludes(path, is_folder=True) and self._nameable(path):
                        waiting.append((Path(entry.path), path, rules))
                except FileNotFoundError:
                    continue
                except OSError:
                    self.unreadable.add(relative)
            yield Listing(relative, status.st_dev, status.st_ino, rules, others)

    def _nameable(self, path: str) -> bool:
        try:
            path.encode()
        except UnicodeEncodeError:
            self.unnameable.add(os.fsencode(path).decode("utf-8", "backslashreplace"))
            return False
        return True


@dataclass(frozen=True, slots=True)
class Changes:
    """The differences between a scan and the known files, as sorted paths."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    gone: tuple[str, ...]
    unchanged: int


def find_changes(
    scan: Scan, known: Mapping[str, FileState], *, stale: frozenset[str] = frozenset()
) -> Changes:
    """Compare a scan with the known files by path.

    ``stale`` paths always count as changed. Files in a folder that could not be read are neither
    gone nor changed.
    """
    new, changed, unchanged = [], [], 0
    for path, file in scan.files.items():
        before = known.get(path)
        if before is None:
            new.append(path)
        elif before != file or path in stale:
            changed.append(path)
        else:
            unchanged += 1
    hidden = tuple(f"{folder}/" if folder else "" for folder in scan.unreadable)
    gone = [path for path in known if path not in scan.files and not path.startswith(hidden)]
    return Changes(tuple(sorted(new)), tuple(sorted(changed)), tuple(sorted(gone)), unchanged)


SKIPPED_FOLDERS = frozenset((
    "__pycache__", "node_modules", "bower_components", "site-packages", "venv", "$RECYCLE.BIN",
    "System Volume Information", "lost+found", "__MACOSX",
))  # fmt: skip
"""Folders that contain no documents of people; hidden folders are skipped as well."""

SKIPPED_FILES = frozenset({"Thumbs.db", "desktop.ini", "ehthumbs.db"})
SKIPPED_PREFIXES = (".", "~$")
SKIPPED_SUFFIXES = ("~", ".swp", ".swx", ".tmp", ".temp", ".part", ".partial", ".crdownload")


def is_skipped(name: str, *, is_folder: bool) -> bool:
    """Return whether a file or folder of that name belongs to a system or a program."""
    if is_folder:
        return name.startswith(".") or name in SKIPPED_FOLDERS
    return (
        name in SKIPPED_FILES
        or name.startswith(SKIPPED_PREFIXES)
        or name.endswith(SKIPPED_SUFFIXES)
    )


IGNORE_FILES = (".gitignore", ".ragkitignore")

_LARGEST_IGNORE_FILE = 1_000_000
_MOST_FOLDERS = 20_000
_FOLDER_MARK = "ps_d"
"""The name of the group in pathspec's expressions that matches the slash after a folder."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of one ignore file, last line first: (expression, whether it excludes)."""

    folder: str
    patterns: tuple[tuple[re.Pattern[str], bool], ...]

    def verdict(self, relative: str, *, is_folder: bool) -> bool | None:
        """Return whether the last rule for exactly this path excludes it; ``None``: no rule."""
        inner = relative[len(self.folder) + 1 :] if self.folder else relative
        for expression, exclude in self.patterns:
            if _names(expression, inner, is_folder=is_folder):
                return exclude
        return None


@dataclass(frozen=True, slots=True)
class Ignores:
    """The ignore rules that apply inside one folder, outermost first."""

    honour_gitignore: bool
    rules: tuple[_Rules, ...] = ()

    def inside(self, folder: Path, relative: str, names: Collection[str] = IGNORE_FILES) -> Ignores:
        """Return the rules inside ``folder``, extended by its ignore files among ``names``.

        Links, pipes and devices are not read.
        """
        rules = list(self.rules)
        for name in IGNORE_FILES:
            if name not in names or (name == ".gitignore" and not self.honour_gitignore):
                continue
            try:
                if not stat.S_ISREG((folder / name).lstat().st_mode):
                    continue
                with open_regular(folder / name) as stream:
                    text = stream.read(_LARGEST_IGNORE_FILE)
                lines = text.decode("utf-8-sig", "replace").splitlines()
            except OSError:
                continue
            rules.append(_Rules(relative, tuple(reversed(list(ignore_patterns(lines))))))
        return self if len(rules) == len(self.rules) else Ignores(self.honour_gitignore, (*rules,))

    def excludes(self, relative: str, *, is_folder: bool) -> bool:
        """Return whether the file or folder at that path of the source is ignored."""
        if is_skipped(relative.rpartition("/")[2], is_folder=is_folder):
            return True
        for rules in reversed(self.rules):
            verdict = rules.verdict(relative, is_folder=is_folder)
            if verdict is not None:
                return verdict
        return False


class FolderRules:
    """The rules inside each folder of a source, which are read when they are first needed."""

    def __init__(self, root: Path, *, gitignore: bool) -> None:
        self._root = root
        self._gitignore = gitignore
        self._known: dict[str, Ignores | None] = {}

    def inside(self, folder: str) -> Ignores | None:
        """Return the rules inside a folder; ``None`` if it is ignored, a link, or not there."""
        known = self._known
        if folder in known:
            return known[folder]
        if len(known) >= _MOST_FOLDERS:
            known = self._known = {}
        if "" not in known:
            known[""] = Ignores(self._gitignore).inside(self._root, "")
        rules, path = known[""], ""
        for name in folder.split("/") if folder else ():
            path = f"{path}/{name}" if path else name
            if path not in known:
                place = self._root / path
                if rules is None or rules.excludes(path, is_folder=True):
                    known[path] = None
                elif signature_of(place) != FOLDER:
                    return None
                else:
                    known[path] = rules.inside(place, path)
            rules = known[path]
        return rules

    def forget(self, folder: str = "") -> None:
        """Read the rules in a folder and below it again when they are next needed.

        Any thread may call it.
        """
        if not folder:
            self._known = {}
        elif folder in self._known:
            below = f"{folder}/"
            self._known = {
                path: rules
                for path, rules in self._known.items()
                if path != folder and not path.startswith(below)
            }


def _names(expression: re.Pattern[str], path: str, *, is_folder: bool) -> bool:
    """Return whether a pattern matches the path itself, not merely a folder above it.

    pathspec's expressions also match everything below a matching folder. The walk has decided about
    that folder already, and ``!*/`` would include every file.
    """
    match = expression.search(path)
    if match is not None and match.groupdict().get(_FOLDER_MARK) is None:
        return True
    if not is_folder:
        return False
    return any(
        match.groupdict().get(_FOLDER_MARK) and match.end(_FOLDER_MARK) == len(path) + 1
        for match in expression.finditer(f"{path}/")
    )
