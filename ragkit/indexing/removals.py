"""Which documents of files that are gone may go, and which wait for a word from the person."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ragkit.catalog.records import KnownFile
from ragkit.sources.scan import Scan
from ragkit.types import FileState, Status

_LARGE_COUNT, _LARGE_SHARE = 20, 1 / 3
"""So many documents at once, that are such a share of their source, are asked for."""


@dataclass(frozen=True, slots=True)
class Removals:
    """Paths whose documents go, and those whose documents are kept; ``reason`` says why."""

    removed: tuple[str, ...]
    held: tuple[str, ...] = ()
    reason: str = ""


def weigh(
    root: Path,
    scan: Scan,
    known: Mapping[str, KnownFile],
    gone: Sequence[str],
    *,
    whole: bool,
) -> Removals:
    """Decide on the files that are gone from a source; ``known`` are all of its files.

    Held is what lay on another device than is there now, whatever goes in a large number at once,
    and all of a ``whole`` source in which nothing is left. Files that are there, but ignored now,
    are removed by the person's own rule.
    """
    absent = [path for path in gone if not os.path.lexists(root / path)]
    indexed = sum(known[path].status is Status.INDEXED for path in absent)
    everything = sum(file.status is Status.INDEXED for file in known.values())
    emptied = whole and not scan.files and len(absent) == len(known)
    if emptied or indexed >= max(_LARGE_COUNT, everything * _LARGE_SHARE):
        held = frozenset(absent)
    else:
        held = frozenset(_on_lost_devices(root, scan, known, absent))
    reason = "The folder is empty: " if emptied else ""
    reason += (
        f"{len(held)} documents of {len(known)} are not there any more; a drive may be missing. "
        "They are kept until it is back, or until you say that they are gone "
        "(ragkit sync --accept-removals)."
    )
    return Removals(
        tuple(path for path in gone if path not in held),
        tuple(sorted(held)),
        reason if held else "",
    )


def _on_lost_devices(
    root: Path, scan: Scan, known: Mapping[str, KnownFile], absent: Sequence[str]
) -> list[str]:
    """Return the files whose folder was on another device than what stands in its place now."""
    devices: dict[str, str] = {}
    suspects = []
    for path in absent:
        device, _, _rest = known[path].state.stamp.partition(":")
        if device and device != _device_at(root, str(PurePosixPath(path).parent), devices):
            suspects.append((path, device))
    if not suspects:
        return []
    renumbered = _renumbered(scan, known)
    return [path for path, device in suspects if device not in renumbered]


def _device_at(root: Path, folder: str, devices: dict[str, str]) -> str:
    """Return the device of a folder, or of the nearest one above it that is there."""
    if folder not in devices:
        try:
            devices[folder] = str((root / folder).stat().st_dev)
        except OSError:
            above = str(PurePosixPath(folder).parent)
            devices[folder] = "" if above == folder else _device_at(root, above, devices)
    return devices[folder]


def _renumbered(scan: Scan, known: Mapping[str, KnownFile]) -> set[str]:
    """Return the devices that have another number now: files on them are otherwise as before.

    Numbers are given out when a drive is connected, and differ after a restart.
    """
    numbers = set()
    for path, file in scan.files.items():
        if path in known and (before := known[path].state) != file:
            device, rest = _parts(before)
            now, same = _parts(file)
            if device != now and rest == same:
                numbers.add(device)
    return numbers


def _parts(file: FileState) -> tuple[str, tuple[int, int, str]]:
    device, _, rest = file.stamp.partition(":")
    return device, (file.size, file.mtime_ns, rest)
