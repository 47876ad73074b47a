"""Walking a folder: every file that should become a document, and the rules that leave one out."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ragkit.errors import SourceError


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


SKIPPED_FOLDERS = frozenset(
    {
        "__pycache__",
        "node_modules",
        "bower_components",
        "site-packages",
        "venv",
        "$RECYCLE.BIN",
        "System Volume Information",
        "lost+found",
    }
)
"""Folders that hold no document of a person's own; hidden ones are skipped as well."""

SKIPPED_FILES = frozenset({"Thumbs.db", "desktop.ini", "ehthumbs.db"})
SKIPPED_PREFIXES = (".", "~$")
SKIPPED_SUFFIXES = ("~", ".swp", ".swx", ".tmp", ".temp", ".part", ".partial", ".crdownload")

IGNORE_FILES = (".gitignore", ".ragkitignore")

_LARGEST_IGNORE_FILE = 1_000_000
_FOLDER_MARK = "ps_d"
"""pathspec's name for the slash behind a folder in the expression that it makes of a pattern."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """One ignore file: expressions and whether they exclude, the last line first."""

    folder: str
    patterns: tuple[tuple[re.Pattern[str], bool], ...]

    def verdict(self, relative: str, *, is_folder: bool) -> bool | None:
        """Return whether the last line that names this very path excludes it, as in git."""
        inner = relative[len(self.folder) + 1 :] if self.folder else relative
        for expression, exclude in self.patterns:
            if _names(expression, inner, is_folder=is_folder):
                return exclude
        return None


@dataclass(frozen=True, slots=True)
class Ignores:
    """The rules in force inside one folder, the outermost first."""

    honour_gitignore: bool
    rules: tuple[_Rules, ...] = ()

    def inside(self, folder: Path, relative: str, names: Collection[str] = IGNORE_FILES) -> Ignores:
        """Return the rules inside ``folder``, where no ignore files have other than these names.

        Links, pipes and devices are not read.
        """
        rules = list(self.rules)
        for name in IGNORE_FILES:
            if name not in names or (name == ".gitignore" and not self.honour_gitignore):
                continue
            try:
                if not stat.S_ISREG((folder / name).lstat().st_mode):
                    continue
                with (folder / name).open(encoding="utf-8-sig", errors="replace") as stream:
                    lines = stream.read(_LARGEST_IGNORE_FILE).splitlines()
            except OSError:
                continue
            rules.append(_Rules(relative, tuple(reversed(list(_patterns(lines))))))
        return self if len(rules) == len(self.rules) else Ignores(self.honour_gitignore, (*rules,))

    def excludes(self, relative: str, *, is_folder: bool) -> bool:
        """Return whether the file or folder at that path of the source is ignored."""
        name = relative.rsplit("/", 1)[-1]
        if is_folder:
            if name.startswith(".") or name in SKIPPED_FOLDERS:
                return True
        elif (
            name in SKIPPED_FILES
            or name.startswith(SKIPPED_PREFIXES)
            or name.endswith(SKIPPED_SUFFIXES)
        ):
            return True
        for rules in reversed(self.rules):
            verdict = rules.verdict(relative, is_folder=is_folder)
            if verdict is not None:
                return verdict
        return False


def _patterns(lines: Iterable[str]) -> Iterator[tuple[re.Pattern[str], bool]]:
    """Yield an expression for each line, and whether it excludes; blank lines have none."""
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    for line in lines:
        try:
            pattern = GitIgnoreSpecPattern(line)
        except ValueError:
            continue
        if pattern.regex is not None and pattern.include is not None:
            yield pattern.regex, pattern.include


def _names(expression: re.Pattern[str], path: str, *, is_folder: bool) -> bool:
    """Return whether a pattern names the path itself, not merely a folder above it.

    pathspec's expressions match whatever lies below a named folder too. That would decide
    again what the walk has decided at that folder, and let ``!*/`` include every file.
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
