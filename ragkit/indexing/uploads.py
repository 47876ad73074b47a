"""Stores uploaded files atomically under safe names."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO

from ragkit.errors import SourceError
from ragkit.indexing.writer import hash_file

_LONGEST_NAME, _LONGEST_SUFFIX = 200, 40
# Names of devices on Windows, with any suffix.
_RESERVED = {"con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))}


@dataclass(frozen=True, slots=True)
class StoredUpload:
    """A stored file: its path below the folder, ``""`` if it was not stored, and its hash."""

    path: str
    hash: str


def store_upload(
    folder: Path,
    temporary: Path,
    name: str,
    stream: IO[bytes],
    is_known: Callable[[str], bool] = lambda _hash: False,
) -> StoredUpload:
    """Write a stream to disk atomically, under a safe path that no other file has.

    Nothing is stored if ``is_known`` is true of the hash of its bytes.

    Raises:
        SourceError: the file cannot be written.
    """
    parts = [safe_name(part) for part in re.split(r"[\\/]+", name) if part not in ("", ".", "..")]
    relative = Path(*(parts or ["unnamed"]))
    scratch = temporary / f"upload-{os.getpid()}-{time.monotonic_ns()}"
    try:
        temporary.mkdir(parents=True, exist_ok=True)
        with scratch.open("wb") as target:
            shutil.copyfileobj(stream, target, 1 << 20)
            target.flush()
            os.fsync(target.fileno())
        size, content = scratch.stat().st_size, hash_file(scratch)
        if is_known(content):
            return StoredUpload("", content)
        inside = _folder_inside(folder, relative.parent.parts)
        number = 1
        while True:
            stem = relative.stem if number == 1 else f"{relative.stem} ({number})"
            place = inside / f"{stem}{relative.suffix}"
            if _take_place(scratch, place):
                break
            if place.is_file() and place.stat().st_size == size and hash_file(place) == content:
                break
            number += 1
        return StoredUpload(place.relative_to(folder).as_posix(), content)
    except OSError as error:
        raise SourceError(
            f"{name} could not be stored: {(error.strerror or str(error)).lower()}.",
            "Check the disk's free space, and that ragkit may write there.",
        ) from error
    finally:
        with suppress(OSError):
            scratch.unlink()


def _folder_inside(folder: Path, names: Iterable[str]) -> Path:
    """Make a folder below another; where a file has one of its names, it is numbered."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        for number in count(1):
            inside = folder / (name if number == 1 else f"{name} ({number})")
            with suppress(FileExistsError):
                inside.mkdir(exist_ok=True)
                break
        folder = inside
    return folder


def _take_place(scratch: Path, place: Path) -> bool:
    """Give a file its name without a race; return False if another file has the name."""
    try:
        os.link(scratch, place)
    except FileExistsError:
        return False
    except OSError:
        # A file system without links: reserve the name first.
        try:
            place.open("xb").close()
        except FileExistsError:
            return False
        scratch.replace(place)
    return True


def safe_name(name: str) -> str:
    """Return a file name that every file system accepts."""
    text = name.encode("utf-8", "replace").decode("utf-8")
    cleaned = re.sub(r'[\x00-\x1f\x7f<>:"|?*\\/]', "_", text).strip(" .\u3000") or "unnamed"
    base, dot, suffix = cleaned.rpartition(".")
    if not dot or len(suffix.encode()) > _LONGEST_SUFFIX:
        base, suffix = cleaned, ""
    room = _LONGEST_NAME - len(suffix.encode()) - 1
    base = base.encode()[:room].decode("utf-8", "ignore").strip(" .") or "unnamed"
    if base.partition(".")[0].lower() in _RESERVED:
        base = f"_{base}"
    return f"{base}.{suffix}" if suffix else base
