"""Files of Office from before 2007, which are compound files: folders and streams in one file."""

from __future__ import annotations

import io
import struct
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from ragkit.reading.decode import clean, code_page
from ragkit.reading.limits import damaged
from ragkit.reading.markdown import metadata_from
from ragkit.reading.reading_parts import one_line

if TYPE_CHECKING:
    from olefile import OleFileIO

    from ragkit.types import Metadata

_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SECTION = 44
"""Where in a property set its start is noted."""

_INTEGER, _STRING, _TIME = 2, 30, 64
_EPOCH = datetime(1601, 1, 1)
_CODE_PAGE = 1
_PROPERTIES = {
    2: "title", 3: "subject", 4: "author", 5: "keywords", 12: "date", 13: "modified",
}  # fmt: skip
"""What a file says of itself, by the numbers of its properties."""


def is_compound(data: bytes) -> bool:
    """Return whether bytes are those of a compound file."""
    return data.startswith(_MAGIC)


def opened(data: bytes, label: str) -> OleFileIO:
    """Open a compound file.

    Raises:
        ReadingError: it is damaged.
    """
    import olefile

    try:
        return olefile.OleFileIO(io.BytesIO(data))
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # a damaged one may raise anything
        raise damaged(label) from error


def properties_of(file: OleFileIO) -> tuple[Metadata, str]:
    """Return the metadata and the title of a compound file; nothing where they are damaged."""
    values: dict[str, Any] = {}
    # olefile raises anything on damaged streams. Damaged properties it reads for minutes, so that
    # they are not left to it.
    with suppress(Exception):
        noted = _summary(file.openstream("\x05SummaryInformation").read())
        page = noted.get(_CODE_PAGE, 1252)
        for number, name in _PROPERTIES.items():
            value = noted.get(number)
            values[name] = _decoded(value, page) if isinstance(value, bytes) else value
    return metadata_from(values), one_line(str(values.get("title") or ""))


def _summary(stream: bytes) -> dict[int, Any]:
    """Return the texts, times and whole numbers of a property set by their own numbers."""
    (start,) = struct.unpack_from("<I", stream, _SECTION)
    _, count = struct.unpack_from("<II", stream, start)
    noted: dict[int, Any] = {}
    for at in range(min(count, len(stream) // 8)):
        number, place = struct.unpack_from("<II", stream, start + 8 + 8 * at)
        with suppress(struct.error, OverflowError):
            (kind,) = struct.unpack_from("<I", stream, start + place)
            begin = start + place + 4
            if kind == _INTEGER:
                (noted[number],) = struct.unpack_from("<h", stream, begin)
            elif kind == _STRING:
                (length,) = struct.unpack_from("<I", stream, begin)
                noted[number] = stream[begin + 4 : begin + 4 + length]
            elif kind == _TIME and (ticks := struct.unpack_from("<Q", stream, begin)[0]):
                noted[number] = _EPOCH + timedelta(microseconds=ticks // 10)
    return noted


def _decoded(value: bytes, page: int) -> str:
    """Return a text in a code page of Windows."""
    return one_line(clean(value.decode(code_page(page % 65536), "replace").rstrip("\0")))
