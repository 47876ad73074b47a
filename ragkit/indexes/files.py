"""Files of an index on disk: measured, checked, and made sure of."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FileRecord:
    """How long a file of a generation is, and the CRC-32 of its bytes."""

    size: int
    crc32: int


def record(path: Path, *, flush: bool = False) -> FileRecord:
    """Measure a file, and make sure that it is on the disk if asked to."""
    checksum = size = 0
    with path.open("rb+" if flush else "rb") as file:
        while block := file.read(1 << 22):
            checksum = zlib.crc32(block, checksum)
            size += len(block)
        if flush:
            os.fsync(file.fileno())
    return FileRecord(size, checksum)


def fault_of(folder: Path, name: str, wanted: FileRecord, *, checksums: bool) -> str:
    """Say how a file differs from its record, or nothing; the bytes are read if asked to."""
    path = folder / name
    if not path.is_file():
        return f"{name} is missing"
    size = path.stat().st_size
    if size != wanted.size:
        return f"{name} has {size} bytes, not {wanted.size}"
    if checksums and record(path).crc32 != wanted.crc32:
        return f"the bytes of {name} have changed"
    return ""


def flush_folder(path: Path) -> None:
    """Make sure that a folder's names are on the disk, where the system can do that."""
    if os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
