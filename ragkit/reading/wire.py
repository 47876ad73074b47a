"""The protocol between the pool and a reading process: frames over pipes.

A frame is three little-endian lengths, a JSON header, a text in UTF-8, and bytes. It is not a
pickle, because a hostile file may have taken over the process that sends it.
"""

from __future__ import annotations

import json
import struct
from typing import IO, TYPE_CHECKING, Any

from ragkit.errors import PassingError, ReadingError, SkippedError
from ragkit.reading.limits import MEGABYTE
from ragkit.types import Markup, MessageSpan, OutlineEntry, Page, Reading

if TYPE_CHECKING:
    from ragkit.reading.limits import Limits

_LENGTHS = struct.Struct("<IQQ")
_LONGEST_HEADER = 256_000_000
_CHARACTERS_AT_ONCE = 4_000_000


class BrokenFrameError(Exception):
    """The other process has ended, or sent something that is not a frame."""


def cutting_seconds(characters: int, timeout_seconds: float) -> float:
    """Return the seconds that chunking may take: as long as reading, longer for a long text."""
    return timeout_seconds * max(1.0, characters / _CHARACTERS_AT_ONCE)


def longest_text(limits: Limits) -> int:
    """Return the most bytes that one file's text may have in UTF-8."""
    return int(limits.max_text_mb * MEGABYTE * 4) + 1000


def longest_pages(limits: Limits) -> int:
    """Return the most bytes that one file's packed pages, or its post-processed data, may have."""
    return 4 * longest_text(limits)


def send(stream: IO[bytes], header: dict[str, Any], text: str = "", data: bytes = b"") -> None:
    """Write one frame."""
    head = json.dumps(header, separators=(",", ":")).encode()
    body = text.encode("utf-8", "replace")
    stream.write(_LENGTHS.pack(len(head), len(body), len(data)) + head)
    stream.write(body)
    stream.write(data)
    stream.flush()


def receive(
    stream: IO[bytes], longest_text: int, longest_data: int = 0
) -> tuple[dict[str, Any], str, bytes]:
    """Read one frame.

    Raises:
        BrokenFrameError: at the end of the stream, or when the frame is malformed.
    """
    head_length, text_length, data_length = _LENGTHS.unpack(_exactly(stream, _LENGTHS.size))
    if head_length > _LONGEST_HEADER or text_length > longest_text or data_length > longest_data:
        raise BrokenFrameError
    try:
        header = json.loads(_exactly(stream, head_length))
        text = _exactly(stream, text_length).decode()
        data = _exactly(stream, data_length)
    except ValueError as error:
        raise BrokenFrameError from error
    if not isinstance(header, dict):
        raise BrokenFrameError
    return header, text, data


def pack_reading(reading: Reading) -> dict[str, Any]:
    """Return all of a reading except its text as JSON values."""
    return {
        "title": reading.title,
        "format": reading.format,
        "markup": reading.markup.value,
        "language": reading.language,
        "pages": [(page.number, page.label, page.start, page.end) for page in reading.pages],
        "outline": [(entry.offset, entry.level, entry.title) for entry in reading.outline],
        "metadata": reading.metadata,
        "warnings": reading.warnings,
        "messages": [
            (message.start, message.end, message.author, message.at) for message in reading.messages
        ],
    }


def unpack_reading(header: dict[str, Any], text: str) -> Reading:
    """Build a reading from its JSON values and its text.

    Raises:
        BrokenFrameError: when parts are missing.
    """
    try:
        return Reading(
            text=text,
            title=header["title"],
            format=header["format"],
            markup=Markup(header["markup"]),
            language=header["language"],
            pages=tuple(Page(*page) for page in header["pages"]),
            outline=tuple(OutlineEntry(*entry) for entry in header["outline"]),
            metadata=header["metadata"],
            warnings=tuple(header["warnings"]),
            messages=tuple(MessageSpan(*message) for message in header["messages"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise BrokenFrameError from error


def pack_error(error: ReadingError) -> dict[str, Any]:
    """Return an error as JSON values."""
    return {
        "message": error.message,
        "cure": error.cure,
        "kind": type(error).__name__,
    }


def unpack_error(header: dict[str, Any]) -> ReadingError:
    """Return an error from its JSON values."""
    kinds = {kind.__name__: kind for kind in (SkippedError, PassingError)}
    kind = kinds.get(str(header.get("kind")), ReadingError)
    return kind(str(header.get("message", "")), str(header.get("cure", "")))


def _exactly(stream: IO[bytes], length: int) -> bytes:
    """Read exactly ``length`` bytes."""
    data = stream.read(length) if length else b""
    if len(data) != length:
        raise BrokenFrameError
    return data
