"""Rich text of mails of Outlook, which is packed in a way of its own.

After "[MS-OXRTFCP]: Rich Text Format (RTF) Compression Algorithm" of Microsoft.
"""

from __future__ import annotations

import struct

_HEAD = struct.Struct("<3I4x")
_PACKED, _STORED = 0x75465A4C, 0x414C454D
_WINDOW = 4096
_LEAST_COPIED = 2
_KNOWN = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript "
    rb"\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
"""What stands before each text, and may be copied from."""


def unpacked(data: bytes) -> bytes:
    """Return rich text from its packed form; of one that breaks off, what there is of it."""
    if len(data) < _HEAD.size:
        return b""
    _, size, kind = _HEAD.unpack_from(data)
    if kind == _STORED:
        return data[_HEAD.size :][:size]
    text = bytearray(_KNOWN)
    at = _HEAD.size
    while kind == _PACKED and at < len(data):
        controls = data[at]
        at += 1
        for bit in range(8):
            if not controls >> bit & 1:
                text += data[at : at + 1]
                at += 1
                continue
            reference = int.from_bytes(data[at : at + 2], "big")
            at += 2
            # Places are counted in a window that begins anew after so many bytes.
            back = (len(text) - (reference >> 4)) % _WINDOW
            if not back or at > len(data):
                return bytes(text[len(_KNOWN) :])[:size]
            for _ in range((reference & 0xF) + _LEAST_COPIED):
                text.append(text[-back] if back <= len(text) else 0)
    return bytes(text[len(_KNOWN) :])[:size]
