"""The protocol between the pool and a reading process: frames over pipes.

A frame is three little-endian lengths, a JSON header, a text in UTF-8, and bytes. It is not a
pickle, because a hostile file may have taken over the process that sends it.
"""

from __future__ import annotations

import json
import re
import struct
from typing import IO, TYPE_CHECKING, Any, TypeVar

from ragkit.errors import PassingError, ReadingError, SkippedError
from ragkit.reading.limits import MEGABYTE
from ragkit.types import Markup, MessageSpan, OutlineEntry, Page, Reading

if TYPE_CHECKING:
    from ragkit.reading.limits import Limits

_Kind = TypeVar("_Kind")

_LENGTHS = struct.Struct("<IQQ")
_LONGEST_HEADER = 256_000_000
_CHARACTERS_AT_ONCE = 4_000_000
_LARGEST_NUMBER = 2**53
_LONGEST_SENTENCE = 1000
_HALVES = re.compile("[\ud800-\udfff]")


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
    """Write one frame; replace lone surrogates, which UTF-8 does not have."""
    head = _encoded(json.dumps(header, separators=(",", ":"), ensure_ascii=False))
    body = _encoded(text)
    stream.write(_LENGTHS.pack(len(head), len(body), len(data)) + head)
    stream.write(body)
    stream.write(data)
    stream.flush()


def receive(
    stream: IO[bytes],
    longest_text: int,
    longest_data: int = 0,
    longest_header: int = _LONGEST_HEADER,
) -> tuple[dict[str, Any], str, bytes]:
    """Read one frame whose parts are no longer than that, in bytes.

    Raises:
        BrokenFrameError: at the end of the stream, or when the frame is malformed.
    """
    head_length, text_length, data_length = _LENGTHS.unpack(_exactly(stream, _LENGTHS.size))
    if head_length > longest_header or text_length > longest_text or data_length > longest_data:
        raise BrokenFrameError
    try:
        head = _exactly(stream, head_length)
        header = json.loads(head)
        if b"\\ud" in head.lower():
            # It may have lone surrogates, which nothing can store.
            json.dumps(header, ensure_ascii=False).encode()
        text = _exactly(stream, text_length).decode()
        data = _exactly(stream, data_length)
    except (ValueError, RecursionError) as error:
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
        BrokenFrameError: when parts are missing, of another type, or outside the text.
    """
    length = len(text)
    try:
        return Reading(
            text=text,
            title=_of(str, header["title"]),
            format=_of(str, header["format"]),
            markup=Markup(header["markup"]),
            language=_of(str, header["language"]),
            pages=tuple(
                Page(_number(number), _of(str, label), *_span(start, end, length))
                for number, label, start, end in header["pages"]
            ),
            outline=tuple(
                OutlineEntry(_number(offset, length), _number(level), _of(str, title))
                for offset, level, title in header["outline"]
            ),
            metadata=_of(dict, header["metadata"]),
            warnings=tuple(_of(str, warning) for warning in header["warnings"]),
            messages=tuple(
                MessageSpan(*_span(start, end, length), _of(str, author), _of(str, at))
                for start, end, author, at in header["messages"]
            ),
        )
    except (LookupError, TypeError, ValueError) as error:
        raise BrokenFrameError from error


def unpack_count(header: dict[str, Any]) -> int:
    """Return the number of pages in the answer to a request for pages.

    Raises:
        BrokenFrameError: when there is none.
    """
    try:
        return _number(header["count"])
    except (LookupError, ValueError) as error:
        raise BrokenFrameError from error


def pack_error(error: ReadingError) -> dict[str, Any]:
    """Return an error as JSON values."""
    return {
        "message": error.message,
        "cure": error.cure,
        "kind": type(error).__name__,
    }


def unpack_error(header: dict[str, Any]) -> ReadingError:
    """Return an error from its JSON values.

    Raises:
        BrokenFrameError: when it does not say what happened.
    """
    kinds = {kind.__name__: kind for kind in (SkippedError, PassingError)}
    try:
        kind = kinds.get(str(header["kind"]), ReadingError)
        message, cure = _sentence(header["message"]), _sentence(header["cure"])
    except (LookupError, TypeError, ValueError) as error:
        raise BrokenFrameError from error
    if not message:
        raise BrokenFrameError
    return kind(message, cure)


def _of(kind: type[_Kind], value: Any) -> _Kind:
    """Return a value; raise ``ValueError`` if it is of another type."""
    if not isinstance(value, kind):
        raise ValueError
    return value


def _sentence(value: Any) -> str:
    """Return a string without control characters, cut to a length that people read."""
    return "".join(filter(str.isprintable, _of(str, value)[:_LONGEST_SENTENCE]))


def _number(value: Any, most: int = _LARGEST_NUMBER) -> int:
    """Return an integer from 0 to ``most``; raise ``ValueError`` if it is none."""
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError
    return value


def _span(start: Any, end: Any, length: int) -> tuple[int, int]:
    """Return the start and end of a span; raise ``ValueError`` if they are not in a text."""
    return _number(start, _number(end, length)), end


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text).encode()


def _exactly(stream: IO[bytes], length: int) -> bytes:
    """Read exactly ``length`` bytes."""
    data = stream.read(length) if length else b""
    if len(data) != length:
        raise BrokenFrameError
    return data
