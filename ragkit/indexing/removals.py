"""Decides which documents of missing files are removed, and which need a confirmation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ragkit.catalog.records import KnownFile
from ragkit.sources.scan import Scan
from ragkit.types import FileState, Status

_LARGE_COUNT, _LARGE_SHARE = 20, 1 / 3
"""Removing this many documents at once, and this share of their source, needs confirmation."""


@dataclass(frozen=True, slots=True)
class Removals:
    """Paths of documents to remove, and of those held back; ``reason`` says why."""

    removed: tuple[str, ...]
    held: tuple[str, ...] = ()
    reason: str = ""


def weigh(
    root: Path,
    scan: Scan,
    files: Mapping[str, KnownFile],
    gone: Sequence[str],
    *,
    whole: bool,
) -> Removals:
    """Decide on the files that are ``gone`` from a source; ``files`` are all that it had.

    Held back are files whose folder was on another device before, any large number of files, and
    all files of a ``whole`` source in which nothing is left. Files that still exist but are ignored
    now are removed: a person made that rule.
    """
    absent = [path for path in gone if not os.path.lexists(root / path)]
    indexed = sum(files[path].status is Status.INDEXED for path in absent)
    indexed_before = sum(file.status is Status.INDEXED for file in files.values())
    emptied = whole and not scan.files and len(absent) == len(files)
    if emptied or indexed >= max(_LARGE_COUNT, indexed_before * _LARGE_SHARE):
        held = frozenset(absent)
    else:
        held = frozenset(_on_lost_devices(root, scan, files, absent))
    reason = "The folder is empty: " if emptied else ""
    reason += (
        f"{len(held)} of {len(files)} files are missing; a drive may be disconnected. "
        "Their documents are kept until the files are back, or until you confirm the removal "
        "(ragkit sync --accept-removals)."
    )
    return Removals(
        tuple(path for path in gone if path not in held),
        tuple(sorted(held)),
        reason if held else "",
    )


def _on_lost_devices(
    root: Path, scan: Scan, files: Mapping[str, KnownFile], absent: Sequence[str]
) -> list[str]:
    """Return the files whose folder was on another device than the one there now."""
    devices: dict[str, str] = {}
    suspects = []
    for path in absent:
        device, _, _rest = files[path].state.stamp.partition(":")
        if device and device != _device_at(root, str(PurePosixPath(path).parent), devices):
            suspects.append((path, device))
    if not suspects:
        return []
    renumbered = _renumbered(scan, files)
    return [path for path, device in suspects if device not in renumbered]


def _device_at(root: Path, folder: str, devices: dict[str, str]) -> str:
    """Return the device of a folder, or of the nearest folder above it that exists."""
    if folder not in devices:
        try:
            devices[folder] = str((root / folder).stat().st_dev)
        except OSError:
            above = str(PurePosixPath(folder).parent)
            devices[folder] = "" if above == folder else _device_at(root, above, devices)
    return devices[folder]


def _renumbered(scan: Scan, files: Mapping[str, KnownFile]) -> set[str]:
    """Return the devices whose number has changed: files on them differ in nothing else.

    A drive may get another number whenever it is connected, or after a restart.
    """
    numbers = set()
    for path, file in scan.files.items():
        if path in files and (before := files[path].state) != file:
            device, rest = _parts(before)
            now, same = _parts(file)
            if device != now and rest == same:
                numbers.add(device)
    return numbers


def _parts(file: FileState) -> tuple[str, tuple[int, int, str]]:
    device, _, rest = file.stamp.partition(":")
    return device, (file.size, file.mtime_ns, rest)
