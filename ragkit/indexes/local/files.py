"""Files of an index on disk: listed, measured, checked and flushed. Imports no numpy."""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragkit.errors import IndexCorruptError
from ragkit.types import Version

FORMAT_VERSION = 6
"""Changes whenever files of an older version could not be read, or hold other vectors."""

MANIFEST = "manifest.json"
"""The description of a generation, written last."""

PREFIX = "generation-"
"""What precedes its number in the name of a generation's folder."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """How long a file of a generation is, and the CRC-32 of its bytes."""

    size: int
    crc32: int


def record(path: Path, *, flush: bool = False) -> FileRecord:
    """Return the size and checksum of a file, flushed to the disk if asked for."""
    checksum = size = 0
    with path.open("rb+" if flush else "rb") as file:
        while block := file.read(1 << 22):
            checksum = zlib.crc32(block, checksum)
            size += len(block)
        if flush:
            os.fsync(file.fileno())
    return FileRecord(size, checksum)


def fault_of(folder: Path, name: str, expected: FileRecord, *, checksums: bool) -> str:
    """Return how a file differs from its record, or an empty string.

    Its bytes are read with ``checksums`` only.
    """
    path = folder / name
    if not path.is_file():
        return f"{name} is missing"
    size = path.stat().st_size
    if size != expected.size:
        return f"{name} has {size} bytes, not {expected.size}"
    if checksums and record(path).crc32 != expected.crc32:
        return f"the bytes of {name} have changed"
    return ""


def flush_folder(path: Path) -> None:
    """Flush a folder's names to the disk, where the system can do that."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def generations(folder: Path) -> list[Path]:
    """Return the folders of all finished generations, oldest first.

    Raises:
        IndexCorruptError: the folder cannot be looked into.
    """
    try:
        if not folder.is_dir():
            return []
        paths = [path for path in folder.iterdir() if number_of(path.name) is not None]
    except OSError as error:
        raise IndexCorruptError(
            f"the folder {folder} cannot be read ({(error.strerror or 'unknown reason').lower()}).",
            "Give yourself the right to read and write it.",
        ) from error
    return sorted(paths, key=lambda path: number_of(path.name) or 0)


def number_of(name: str) -> int | None:
    """Return the number in the name of a generation's folder."""
    digits = name.removeprefix(PREFIX)
    return int(digits) if name.startswith(PREFIX) and digits.isdecimal() else None


def is_current(folder: Path, *, fingerprint: str, tokenizer_version: str, version: Version) -> bool:
    """True when the newest generation below ``folder`` is of that version and all there.

    Only its manifest is read and the sizes of its files are compared; opening checks the bytes.
    """
    try:
        newest = generations(folder)[-1]
        manifest: dict[str, Any] = json.loads((newest / MANIFEST).read_text("utf-8"))
        return (
            manifest["format_version"] == FORMAT_VERSION
            and manifest["fingerprint"] == fingerprint
            and manifest["tokenizer_version"] == tokenizer_version
            and manifest["collection_version"] == version.number
            and manifest["token"] == version.token
            and all(
                (newest / name).stat().st_size == file["size"]
                for name, file in manifest["files"].items()
            )
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError, IndexCorruptError):
        return False
