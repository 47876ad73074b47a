"""Which files and folders of a source are ignored."""

from __future__ import annotations

import re
import stat
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

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
