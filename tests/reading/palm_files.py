"""Writes databases of Palm with texts and e-books, for tests of their reader."""

from __future__ import annotations

import struct

AS_IT_IS, PALMDOC, HUFFMAN = 1, 2, 17480


def database(records, kind=b"BOOKMOBI", name=b"A_Book"):
    """A file of records of one kind."""
    starts, at = [], 78 + 8 * len(records) + 2
    for record in records:
        starts.append(at)
        at += len(record)
    head = name.ljust(32, b"\0") + bytes(28) + kind + bytes(8) + struct.pack(">H", len(records))
    listed = b"".join(struct.pack(">II", start, number) for number, start in enumerate(starts))
    return head + listed + bytes(2) + b"".join(records)


def packed(text):
    """A text as PalmDOC packs it: what came up to 2047 bytes before comes again by its place."""
    done, at = bytearray(), 0
    while at < len(text):
        again = next((n for n in range(10, 2, -1) if text.find(text[at : at + n], 0, at) >= 0), 0)
        back = at - text.rfind(text[at : at + again], 0, at) if again else 0
        if again and len(text) - at >= again and 0 < back < 2048:
            done += struct.pack(">H", 0x8000 | back << 3 | again - 3)
            at += again
        elif text[at] == 0x20 and at + 1 < len(text) and 0x40 <= text[at + 1] < 0x80:
            done.append(text[at + 1] ^ 0x80)
            at += 2
        elif text[at] >= 0x80 or text[at] < 9:
            done += bytes((1, text[at]))
            at += 1
        else:
            done.append(text[at])
            at += 1
    return bytes(done)


def huffman(text, *, loops=False):
    """The records of codes and of phrases for a text, and the text in them.

    Each byte has a code of eight bits, but "e" one of four, and "the" is a phrase of codes: its
    own if it ``loops``.
    """
    used = sorted({*text, *b"th"} - {*b"e"})
    phrases = [b"e", *(bytes([byte]) for byte in used)]
    # The code of four bits is 0xF; those of eight count down from 0xEF.
    of = {phrase: (0xEF - number + 1, 8) for number, phrase in enumerate(phrases) if number}
    of[b"e"] = (0xF, 4)
    the = len(phrases)
    of[b"the"] = (0xEF - the + 1, 8)
    inside = _bits([of[b"the"]] if loops else [of[bytes([letter])] for letter in b"the"])
    codes, at = [], 0
    while at < len(text):
        taken = b"the" if text.startswith(b"the", at) else text[at : at + 1]
        codes.append(of[taken])
        at += len(taken)
    first = [(0x0F << 8 | 0x84) if start >= 0xF0 else (0xF0 << 8 | 0x88) for start in range(256)]
    bounds = [0] * 64
    head = b"HUFF" + struct.pack(">III", 24, 24, 24 + 1024) + bytes(8)
    record = head + struct.pack(">256I", *first) + struct.pack(">64I", *bounds)
    stored = [(phrase, 0x8000) for phrase in phrases] + [(inside, 0)]
    places, body = [], b""
    for phrase, flag in stored:
        places.append(2 * len(stored) + len(body))
        body += struct.pack(">H", len(phrase) | flag) + phrase
    listed = struct.pack(f">{len(places)}H", *places)
    dictionary = b"CDIC" + struct.pack(">III", 16, len(stored), 16) + listed + body
    return record, dictionary, _bits(codes)


def _bits(codes):
    text = "".join(f"{code:0{size}b}" for code, size in codes)
    text += "0" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big") if text else b""


def book(text, *, packing=PALMDOC, version=6, encoding=65001, about=(), locked=0, trailing=False,
         codes=(), more=(), flows=0, name="A book"):  # fmt: skip
    """The records of a book: its head, its text in records of 4096 bytes, and more of them."""
    stored = text.encode("utf-8" if encoding == 65001 else "cp1252")
    pieces = [stored[at : at + 4096] for at in range(0, len(stored), 4096)]
    if packing == PALMDOC:
        pieces = [packed(piece) for piece in pieces]
    elif packing == HUFFMAN:
        *codes, whole = huffman(stored)
        pieces = [whole]
    if trailing:
        # An index of two bytes and its size, then no bytes of a letter that goes on.
        pieces = [piece + b"\0" + b"xy\x83" for piece in pieces]
    notes = b"".join(struct.pack(">II", kind, 8 + len(note)) + note for kind, note in about)
    noted = b"EXTH" + struct.pack(">II", 12 + len(notes), len(about)) + notes
    head = bytearray(16 + 232)
    struct.pack_into(">HHIHHH", head, 0, packing, 0, len(stored), len(pieces), 4096, locked)
    struct.pack_into(">4s5I", head, 16, b"MOBI", 232, 2, encoding, 1, version)
    whole = bytes(head) + noted
    called = name.encode()
    head[84:92] = struct.pack(">II", len(whole), len(called))
    struct.pack_into(">II", head, 112, 1 + len(pieces), len(codes))
    struct.pack_into(">I", head, 128, 0x40)
    struct.pack_into(">I", head, 192, flows)
    struct.pack_into(">H", head, 242, 3 if trailing else 0)
    return [bytes(head) + noted + called, *pieces, *codes, *more]
