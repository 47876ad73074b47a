"""The databases of Palm, in which e-books of Mobipocket and Kindle lie, and how these are packed.

After the descriptions of PDB, PalmDOC and MOBI that the MobileRead wiki has.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ragkit.reading.formats import Format
from ragkit.reading.limits import damaged

if TYPE_CHECKING:
    from collections.abc import Sequence

_COUNT, _ENTRIES, _ENTRY = 76, 78, 8
_DEEPEST = 32
_WORD = 1 << 32


def records_of(data: bytes) -> list[bytes]:
    """Return the records of a database.

    Raises:
        struct.error: it breaks off before its list of records ends.
    """
    (count,) = struct.unpack_from(">H", data, _COUNT)
    starts = [
        struct.unpack_from(">I", data, _ENTRIES + _ENTRY * number)[0] for number in range(count)
    ]
    return [data[start:end] for start, end in pairwise([*starts, len(data)])]


def unpacked(packed: bytes) -> bytes:
    """Return the text of a record that is packed as PalmDOC does it.

    A byte stands for itself, for how many follow as they are, for a space and a letter, or begins
    two that say how far back and how long the text is that comes again.
    """
    text = bytearray()
    at = 0
    while at < len(packed):
        code = packed[at]
        at += 1
        if 1 <= code <= 8:
            text += packed[at : at + code]
            at += code
        elif code < 0x80:
            text.append(code)
        elif code >= 0xC0:
            text += bytes((0x20, code ^ 0x80))
        elif at < len(packed):
            pair = (code << 8 | packed[at]) & 0x3FFF
            at += 1
            start = len(text) - (pair >> 3)
            if start < 0:
                raise damaged(Format.MOBI.label)
            for place in range(start, start + (pair & 7) + 3):
                text.append(text[place])
    return bytes(text)


class _Phrase(NamedTuple):
    """What a code stands for; ``packed`` if that consists of codes as well."""

    stored: bytes
    packed: bool


class HuffmanCodes:
    """Codes of one to 32 bits, each of which stands for a phrase of a dictionary."""

    def __init__(self, codes: bytes, dictionaries: Sequence[bytes], most: int) -> None:
        """Take the record of the codes and those of the phrases.

        ``most`` is how many bytes one text may have.

        Raises:
            struct.error: a record breaks off.
        """
        first, second = struct.unpack_from(">II", codes, 8)
        self._by_start = struct.unpack_from(">256I", codes, first)
        bounds = struct.unpack_from(">64I", codes, second)
        self._least = (0, *(bounds[2 * n] << 31 - n for n in range(32)))
        self._most = (0, *((bounds[2 * n + 1] + 1 << 31 - n) - 1 for n in range(32)))
        self._phrases: list[_Phrase] = []
        for dictionary in dictionaries:
            self._add(dictionary)
        self._allowed = most

    def _add(self, dictionary: bytes) -> None:
        whole, bits = struct.unpack_from(">II", dictionary, 8)
        count = min(1 << min(bits, 16), whole - len(self._phrases))
        for place in struct.unpack_from(f">{max(count, 0)}H", dictionary, 16):
            (size,) = struct.unpack_from(">H", dictionary, 16 + place)
            stored = dictionary[18 + place :][: size & 0x7FFF]
            self._phrases.append(_Phrase(stored, not size & 0x8000))

    def unpacked(self, packed: bytes, depth: int = 0) -> bytes:
        """Return the text that codes stand for.

        Raises:
            ReadingError: it is nested too deeply, or longer than a record may be.
        """
        if depth > _DEEPEST:
            raise damaged(Format.MOBI.label)
        text = bytearray()
        whole, left = int.from_bytes(packed, "big"), 8 * len(packed)
        while left > 0:
            # Codes are looked at in 32 bits; after the last ones, there are zeros.
            window = (whole >> left - 32 if left >= 32 else whole << 32 - left) % _WORD
            size, phrase = self._code(window)
            left -= size
            if left < 0 or phrase is None:
                break
            text += self.unpacked(phrase.stored, depth + 1) if phrase.packed else phrase.stored
            if len(text) > self._allowed:
                raise damaged(Format.MOBI.label)
        return bytes(text)

    def _code(self, window: int) -> tuple[int, _Phrase | None]:
        """Return how long the code is with which bits begin, and its phrase."""
        entry = self._by_start[window >> 24]
        size, last = entry & 0x1F, (((entry >> 8) + 1) << 32 - (entry & 0x1F)) - 1
        if not entry & 0x80:
            while size < 32 and window < self._least[size]:
                size += 1
            last = self._most[size]
        number = (last - window) >> 32 - size
        known = size > 0 and 0 <= number < len(self._phrases)
        return max(size, 1), self._phrases[number] if known else None
