"""Looking through this machine's folders, for the folder chooser. Nothing here changes anything."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

MOST_SHOWN = 300


def roots(allowed: Sequence[Path]) -> tuple[Path, ...]:
    """Where the chooser may look: the allowed folders, or the person's home."""
    found = [one.expanduser().resolve() for one in allowed] or [Path.home().resolve()]
    return tuple(one for one in found if one.is_dir())


def inside(folder: Path, allowed: Sequence[Path]) -> bool:
    """Whether a folder, links followed, lies under one of the roots."""
    real = folder.resolve()
    return any(real.is_relative_to(root) for root in allowed)


def subfolders(folder: Path, allowed: Sequence[Path]) -> list[Path]:
    """The folders in a folder that can be looked into, by name, without hidden ones."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or not entry.is_dir():
                    continue
                if inside(Path(entry.path), allowed):
                    found.append(Path(entry.path))
    except OSError:
        return []
    return sorted(found, key=lambda one: (one.name.casefold(), one.name))[:MOST_SHOWN]


def parent(folder: Path, allowed: Sequence[Path]) -> Path | None:
    """The folder above, or ``None`` where the chooser may not look."""
    above = folder.parent
    return above if above != folder and inside(above, allowed) else None


def files_in(folder: Path) -> int:
    """How many files lie directly in a folder, to recognise it by."""
    try:
        with os.scandir(folder) as entries:
            return sum(1 for entry in entries if entry.is_file())
    except OSError:
        return 0
