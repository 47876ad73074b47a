"""The files that an ONNX file keeps its weights in, read without the packages that run it.

The format is protocol buffers; of their fields only those are followed that lead to tensors.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path

from ragkit.errors import ModelFolderError

_EXTERNAL_DATA, _KEY, _VALUE = 13, 1, 2
_BELOW = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
}
"""Which fields of a message are messages that may hold tensors."""

_DEEPEST = 32


def external_files(file: Path) -> tuple[Path, ...]:
    """Return the files that hold weights of an ONNX file, each once.

    Raises:
        ModelFolderError: it is no ONNX file, or names a file that is not in its own folder.
        OSError: it cannot be read.
    """
    locations: dict[str, None] = {}
    try:
        with (
            file.open("rb") as stream,
            mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            locations = dict.fromkeys(_locations(data, 0, len(data), "model", 0))
    except (ValueError, IndexError) as error:
        raise ModelFolderError(
            f"{file.name} is damaged or no ONNX file.", "Get the file again, whole."
        ) from error
    folder = file.parent.resolve()
    inside = []
    for location in locations:
        place = folder / location
        if "\0" in location or not place.resolve().is_relative_to(folder):
            raise ModelFolderError(
                f"{file.name} keeps weights in a file that is not in its folder.",
                "Put copies of all of the model's files into one folder, not links.",
            )
        if not place.is_file():
            raise ModelFolderError(f"{file.name} lacks its weights, {place.name}.", "Get it too.")
        inside.append(place)
    return tuple(inside)


def _locations(data: mmap.mmap, start: int, end: int, kind: str, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        raise ValueError("nested too deeply")
    for number, first, last in _fields(data, start, end):
        if kind == "tensor":
            if number == _EXTERNAL_DATA:
                entry = {key: bytes(data[a:b]) for key, a, b in _fields(data, first, last)}
                if entry.get(_KEY) == b"location":
                    yield entry.get(_VALUE, b"").decode("utf-8")
        elif below := _BELOW[kind].get(number):
            yield from _locations(data, first, last, below, depth + 1)


def _fields(data: mmap.mmap, start: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield number, start and end of each field of a message that has a length.

    Raises:
        ValueError: these are no fields.
    """
    place = start
    while place < end:
        tag, place = _varint(data, place)
        number, wire = tag >> 3, tag & 7
        if wire == 2:
            length, place = _varint(data, place)
            if place + length > end:
                raise ValueError("cut off")
            yield number, place, place + length
            place += length
        elif wire == 0:
            _, place = _varint(data, place)
        elif wire in (1, 5):
            place += 8 if wire == 1 else 4
        else:
            raise ValueError("no field")
    if place != end:
        raise ValueError("cut off")


def _varint(data: mmap.mmap, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place
    raise ValueError("no number")
