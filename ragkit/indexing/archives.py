"""Opens uploaded zip files safely: their members become files of the upload."""

from __future__ import annotations

import io
import re
import stat
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING

from ragkit.errors import ReadingError, SkippedError
from ragkit.formatting import byte_size
from ragkit.indexing.uploads import safe_name
from ragkit.reading.sniffing import sniff, zip_format
from ragkit.reading.zip_container import unpacking
from ragkit.sources.scan import is_skipped

if TYPE_CHECKING:
    from typing_extensions import Buffer

MOST_MEMBERS = 2_000
MOST_BYTES = 1_000_000_000
_START_BYTES = 65_536
_HIGHEST_RATIO, _RATIO_FROM = 100, 100_000_000
_INSTEAD = "Unpack it and add its folder instead."


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive: its path, and its content or the reason why it is left out.

    Reading the content raises a ``ReadingError`` where it is damaged.
    """

    path: str
    content: IO[bytes] | None = None
    problem: ReadingError | None = None


class _Content(io.RawIOBase):
    """The content of a file of an archive, for which damage is a ``ReadingError``."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Buffer) -> int:
        target = memoryview(buffer)
        with unpacking(_damaged()):
            content = self._stream.read(len(target))
        target[: len(content)] = content
        return len(content)


def is_plain_archive(name: str, stream: IO[bytes]) -> bool:
    """Return whether a file is a zip of files, not a document or an export in zip format."""
    if not name.lower().endswith(".zip") or not zipfile.is_zipfile(stream):
        return False
    stream.seek(0)
    start = stream.read(_START_BYTES)
    try:
        if start.startswith(b"PK"):
            zip_format(".zip", stream)
        else:
            sniff(name, start)
    except ReadingError:
        return True
    return False


def members(stream: IO[bytes], most_bytes: int) -> Iterator[Member]:
    """Yield the files of a zip in order; read each one before asking for the next.

    Members larger than ``most_bytes``, links, locked files, other archives, and paths that lead out
    of the archive are yielded with the reason why they are left out. A last member without a path
    counts the files of systems and editors that were ignored.

    Raises:
        ReadingError: the archive is damaged or too large.
    """
    with unpacking(ReadingError("The archive is damaged.", "Make it again from its files.")):
        archive = zipfile.ZipFile(stream)
    with archive:
        files = [info for info in archive.infolist() if not info.is_dir()]
        _weigh(files)
        left_out = 0
        for info in files:
            path = _name(info)
            if _is_clutter(path):
                left_out += 1
                continue
            try:
                _check(info, path, most_bytes)
                with unpacking(_damaged()):
                    content = archive.open(info)
            except ReadingError as error:
                yield Member(path, problem=error)
                continue
            with content:
                yield Member(path, io.BufferedReader(_Content(content)))
        if left_out:
            files_were = "file was" if left_out == 1 else "files were"
            note = SkippedError(f"{left_out} hidden or system {files_were} left out.", "")
            yield Member("", problem=note)


def within(archive: str, paths: list[str]) -> str:
    """Return the folder in which an archive's members are stored, with a trailing slash.

    It is named after the archive, with an underscore if a folder of that name would be skipped;
    ``""`` if all members are in a folder of that name already.
    """
    stem = PurePosixPath(archive.replace("\\", "/")).stem or "archive"
    if paths and all(path.startswith(f"{stem}/") for path in paths):
        return ""
    return f"_{stem}/" if is_skipped(safe_name(stem), is_folder=True) else f"{stem}/"


def paths_in(stream: IO[bytes]) -> list[str]:
    """Return the paths of an archive's files, without files of systems and editors."""
    names: list[str] = []
    with suppress(ReadingError), unpacking(_damaged()), zipfile.ZipFile(stream) as archive:
        names = [_name(info) for info in archive.infolist() if not info.is_dir()]
    return [name for name in names if not _is_clutter(name)]


def _damaged() -> ReadingError:
    return ReadingError("It is damaged in the archive.", "Make the archive again.")


def _weigh(files: list[zipfile.ZipInfo]) -> None:
    if len(files) > MOST_MEMBERS:
        count = f"{len(files):,} files; at most {MOST_MEMBERS:,} are taken from an archive."
        raise ReadingError(f"It holds {count}", _INSTEAD)
    # zipfile yields no more bytes of a member than its header says.
    total, packed = sum(f.file_size for f in files), sum(f.compress_size for f in files)
    if total > MOST_BYTES:
        limit = f"at most {byte_size(MOST_BYTES)} are taken from an archive."
        raise ReadingError(f"It unpacks to {byte_size(total)}; {limit}", _INSTEAD)
    if total > _RATIO_FROM and total > packed * _HIGHEST_RATIO:
        raise ReadingError(
            "It unpacks to far more than its size, as decompression bombs do.",
            "If you trust it, unpack it and add its folder.",
        )


def _name(info: zipfile.ZipInfo) -> str:
    """Return a member's path, decoded as UTF-8 if possible: many programs do not set the flag."""
    name = info.filename
    if not info.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            name = info.filename
    return name.replace("\\", "/")


def _is_clutter(path: str) -> bool:
    *folders, name = path.split("/")
    return is_skipped(name, is_folder=False) or any(
        is_skipped(folder, is_folder=True) for folder in folders if folder not in (".", "..")
    )


def _check(info: zipfile.ZipInfo, path: str, most_bytes: int) -> None:
    """Raise a ``ReadingError`` if a member must be left out."""
    if path.startswith("/") or re.match(r"[A-Za-z]:", path) or ".." in path.split("/"):
        raise SkippedError(
            "Its path leads out of the archive.", "If you trust it, unpack it and add its folder."
        )
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise SkippedError("It is a link, not a file.", "Add the file that it points to.")
    if info.flag_bits & 1:
        raise ReadingError("It is locked with a password.", _INSTEAD)
    if path.lower().endswith(".zip"):
        raise SkippedError("A zip inside a zip is not opened.", "Unpack it and add it by itself.")
    if info.file_size > most_bytes:
        limit = f"the limit is {byte_size(most_bytes)}."
        raise SkippedError(f"It is too large ({byte_size(info.file_size)}); {limit}", _INSTEAD)
